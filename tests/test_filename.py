from __future__ import annotations

import pytest

from tfevents.filename import EventFileName, build, is_event_file, parse

PRODUCERS = [
    # TensorFlow 2.21, tf.summary.create_file_writer
    (
        "events.out.tfevents.1700000000.node-7.4711.0.v2",
        EventFileName(1700000000, "node-7", 4711, 0, ".v2"),
    ),
    # PyTorch 2.13 and TensorBoard's own writer
    (
        "events.out.tfevents.1700000000.gpu.cluster.org.4711.12",
        EventFileName(1700000000, "gpu.cluster.org", 4711, 12, ""),
    ),
    ("events.out.tfevents.1700000000.h.1.2_x", EventFileName(1700000000, "h", 1, 2, "_x")),
    # tensorboardX 2.6.5 and TensorFlow 1
    (
        "events.out.tfevents.1700000000.gpu.cluster.org",
        EventFileName(1700000000, "gpu.cluster.org", None, None, ""),
    ),
    (
        "events.out.tfevents.1700000000.host.v2",
        EventFileName(1700000000, "host", None, None, ".v2"),
    ),
    ("events.out.tfevents.0000000007.a", EventFileName(7, "a", None, None, "")),
]


@pytest.mark.parametrize(("name", "parts"), PRODUCERS)
def test_parse_knows_the_names_of_all_producers(name: str, parts: EventFileName) -> None:
    assert parse(name) == parts


@pytest.mark.parametrize(
    "name",
    ["", "model.ckpt", "events.out.tfevents", "events.out.tfevents.x.host", "a/" + PRODUCERS[0][0]],
)
def test_parse_refuses_other_names(name: str) -> None:
    assert parse(name) is None


def test_build_makes_pytorchs_name() -> None:
    name = build(7, "host", 12, 3, ".sfx")
    assert name == "events.out.tfevents.0000000007.host.12.0003.sfx"


@pytest.mark.parametrize(
    ("host", "safe"),
    [
        ("my host", "my_host"),
        ("a/b\\c\0d:e", "a_b_c_d_e"),
        ("..", "localhost"),
        ("../../etc", "_.._etc"),
        (".hidden", "hidden"),
        ("", "localhost"),
        ("büro-計算機", "büro-計算機"),
        ("half\ud800pair", "half_pair"),
        ("a\nb", "a_b"),
        ("x" * 300, "x" * 100),
        ("é" * 60, "é" * 50),
        ("計" * 60, "計" * 33),
    ],
)
def test_odd_host_names_are_made_safe(host: str, safe: str) -> None:
    name = build(1700000000, host, 1, 0)
    assert name == f"events.out.tfevents.1700000000.{safe}.1.0000"
    assert len(name.encode()) < 255
    assert parse(name) == EventFileName(1700000000, safe, 1, 0, "")


@pytest.mark.parametrize("suffix", ["/x", "a\\b", "\0"])
def test_a_suffix_cannot_lead_elsewhere(suffix: str) -> None:
    with pytest.raises(ValueError, match="suffix"):
        build(1, "h", 1, 0, suffix)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/logs/run/events.out.tfevents.1700000000.h", True),
        ("my.tfevents", True),
        ("tfevents/other.txt", False),
        ("run.tfrecord", False),
        ("events.out.tfevents.1700000000.h.profile-empty", False),
        ("C:\\logs\\events.out.tfevents.1", True),
        ("", False),
    ],
)
def test_is_event_file_decides_as_tensorboard_does(path: str, expected: bool) -> None:
    assert is_event_file(path) is expected
    wrapper = pytest.importorskip("tensorboard.backend.event_processing.io_wrapper")
    if path and "\\" not in path:
        assert wrapper.IsSummaryEventsFile(path) is expected

"""The message builders, and the helpers beside them: what torch's own return for the same call."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import decoded
from tfevents import proto
from tfevents.compat import torch_summary, torch_utils

RNG = np.random.default_rng(3)
NORMAL = RNG.normal(0, 1, 300)
LEVELS = RNG.integers(0, 256, (3, 6, 8), np.uint8)
POINTS = RNG.normal(0, 1, (1, 5, 3))
ROWS = [RNG.random(5) for _ in range(6)]
LAYOUT = {"a": {"b": ["Multiline", ["c", "d"]], "e": ["Margin", ["f", "g", "h"]]}}

Call = Callable[[Any], Any]
CALLS: dict[str, Call] = {
    "scalar": lambda s: s.scalar("a", 0.1),
    "scalar, new style": lambda s: s.scalar("a", 0.1, new_style=True),
    "histogram": lambda s: s.histogram("h", NORMAL, [-9.0, -1.0, 0.0, 2.0, 9.0]),
    "histogram, bins": lambda s: s.histogram("h", NORMAL, "auto", max_bins=5),
    "histogram_raw": lambda s: s.histogram_raw("h", 0, 1, 2, 3, 4, [1.0, 2.0], [1, 2]),
    "image": lambda s: s.image("i", LEVELS, dataformats="CHW"),
    "image, batch": lambda s: s.image("i", LEVELS[None] / 255),
    "image_boxes": lambda s: s.image_boxes("i", LEVELS, np.array([[1, 1, 4, 4]])),
    "audio": lambda s: s.audio("s", NORMAL / 9, 8000),
    "text": lambda s: s.text("t", "猫"),
    "custom_scalars": lambda s: s.custom_scalars(LAYOUT),
    "pr_curve": lambda s: s.pr_curve("p", np.array([0, 1, 1]), np.array([0.1, 0.5, 0.9]), 9),
    "pr_curve_raw": lambda s: s.pr_curve_raw("p", *ROWS, 5),
    "mesh": lambda s: s.mesh("m", POINTS, POINTS * 9, None, {"a": 1}, "name", "text"),
    "hparams": lambda s: s.hparams({"lr": 0.1}, {"m": 1}, {"lr": [0.1, 0.2]}),
}


def plain(result: Any) -> list[Any]:
    """The values of one or several summaries, in our own message class."""
    summaries = result if isinstance(result, tuple) else (result,)
    found = [
        decoded.value(value)
        for summary in summaries
        for value in proto.Summary.FromString(summary.SerializeToString()).value
    ]
    for value in found:
        if "histo" in value:  # sums depend on the order in which they are made
            for name in ("sum", "sum_squares"):
                value["histo"][name] = pytest.approx(value["histo"][name])
    return found


@pytest.mark.parametrize("name", CALLS)
def test_messages_are_torchs(name: str) -> None:
    theirs = pytest.importorskip("torch.utils.tensorboard.summary")
    assert plain(CALLS[name](torch_summary)) == plain(CALLS[name](theirs))


def test_every_builder_has_torchs_arguments() -> None:
    theirs = pytest.importorskip("torch.utils.tensorboard.summary")
    assert set(theirs.__all__) == set(torch_summary.__all__)
    for name in theirs.__all__:
        expected = inspect.signature(getattr(theirs, name)).parameters
        found = inspect.signature(getattr(torch_summary, name)).parameters
        assert list(found) == list(expected), name
        for each in expected:
            if expected[each].default is not inspect.Parameter.empty:
                assert found[each].default == expected[each].default, (name, each)


def test_parts_of_messages() -> None:
    histogram = torch_summary.make_histogram(np.array([5.0, 5, 5]), "tensorflow")
    assert (list(histogram.bucket), histogram.num) == ([0, 3], 3)
    curve = torch_summary.compute_curve(np.array([0, 1]), np.array([0.2, 0.9]), 3)
    assert curve[:2].tolist() == [[1, 1, 0], [1, 0, 0]]
    picture = torch_summary.make_image(LEVELS.transpose(1, 2, 0), rescale=2)
    assert (picture.width, picture.height) == (16, 12)
    video = torch_summary.make_video(np.zeros((3, 4, 6, 3), np.uint8), 4)
    assert (video.width, video.height, video.encoded_image_string[:6]) == (6, 4, b"GIF89a")
    boxed = torch_summary.draw_boxes(np.zeros((9, 9, 3), np.uint8), np.array([[2, 2, 6, 6]]))
    assert boxed[2, 2].tolist() == [255, 0, 0]
    assert torch_summary.half_to_int(1.0) == 0x3C00
    assert torch_summary.int_to_half(0x3C00) == 1.0


def test_a_picture_without_a_batch_is_taken_by_the_default_too() -> None:
    found = torch_summary.image("i", LEVELS).value[0].image
    assert (found.width, found.height, found.colorspace) == (8, 6, 3)


@pytest.mark.parametrize("arguments", [([], {}), ({}, []), (None, {}), ({}, {}, [])])
def test_hparams_of_a_wrong_type(arguments: Any) -> None:
    with pytest.raises(TypeError):
        torch_summary.hparams(*arguments)


# Helpers


@pytest.mark.parametrize(
    ("data", "expected"),
    [(1.5, [1.5]), (np.float16(2), [2.0]), (2**63, [2**63]), (np.arange(3), [0, 1, 2]),
     (np.array(3), 3)],
)  # fmt: skip
def test_make_np(data: Any, expected: Any) -> None:
    assert torch_utils.make_np(data).tolist() == expected


def test_make_np_of_tensors_and_of_nothing_of_that_kind() -> None:
    for data in ({"a": 1}, None, object()):
        with pytest.raises(NotImplementedError):
            torch_utils.make_np(data)
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torch.utils.tensorboard._convert_np")
    for tensor in (torch.arange(3), torch.rand(2, 2), torch.rand(3).requires_grad_()):
        assert np.array_equal(torch_utils.make_np(tensor), theirs.make_np(tensor))
    assert torch_utils.make_np(torch.tensor(1e38).bfloat16()).item() == 9.969209968386869e37


@pytest.mark.parametrize("shape", [(1, 2, 3, 4, 5), (3, 1, 1, 2, 2), (5, 2, 3, 1, 1)])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_prepare_video(shape: Any, kind: Any) -> None:
    theirs = pytest.importorskip("torch.utils.tensorboard._utils")
    clips = (RNG.random(shape) * 200).astype(kind)
    expected = theirs._prepare_video(clips)
    assert np.array_equal(torch_utils.prepare_video(clips), expected)


@pytest.mark.parametrize("formats", ["NCHW", "nhwc", "CHW", "HWC", "WCH", "HW", "WH"])
def test_convert_to_hwc(formats: str) -> None:
    theirs = pytest.importorskip("torch.utils.tensorboard._utils")
    sizes = {"N": 5, "C": 3, "H": 4, "W": 6}
    data = RNG.random([sizes[axis] for axis in formats.upper()])
    expected = theirs.convert_to_HWC(data, formats)
    assert np.array_equal(torch_utils.convert_to_HWC(data, formats), expected)


def test_graph() -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph, metadata = torch_utils.graph(torch.nn.Linear(3, 2), torch.zeros(1, 3))
    assert {node.op for node in graph.node} >= {"IO Node"}
    assert metadata.step_stats.dev_stats[0].device.startswith("/device:CPU")

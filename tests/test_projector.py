from __future__ import annotations

import io
import json
import os
import signal
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import projector, proto
from tfevents.store import MemoryStore, redirect

CONFIG = projector.CONFIG_NAME
POINTS = np.array([[0.5, -2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def files_in(directory: Path) -> list[str]:
    return sorted(str(p.relative_to(directory)) for p in directory.rglob("*") if p.is_file())


def lines(path: str, name: str) -> list[str]:
    return Path(path, name).read_bytes().decode("utf-8").split("\n")


def sprite(path: str) -> Any:
    from PIL import Image

    return np.asarray(Image.open(os.path.join(path, "sprite.png")).convert("RGB"))


# What is written


def test_files_and_config_are_those_torch_writes(tmp_path: Path) -> None:
    path = projector.write_embedding(
        tmp_path,
        POINTS,
        metadata=["a", "b", "c"],
        label_img=np.zeros((3, 3, 2, 2), np.uint8),
        global_step=7,
        tag="emb/x",
    )
    assert path == str(tmp_path / "00007" / "emb%2fx")
    assert files_in(tmp_path) == [
        "00007/emb%2fx/metadata.tsv",
        "00007/emb%2fx/sprite.png",
        "00007/emb%2fx/tensors.tsv",
        CONFIG,
    ]
    assert (tmp_path / CONFIG).read_text() == (
        "embeddings {\n"
        '  tensor_name: "emb/x:00007"\n'
        '  metadata_path: "00007/emb%2fx/metadata.tsv"\n'
        "  sprite {\n"
        '    image_path: "00007/emb%2fx/sprite.png"\n'
        "    single_image_dim: 2\n"
        "    single_image_dim: 2\n"
        "  }\n"
        '  tensor_path: "00007/emb%2fx/tensors.tsv"\n'
        "}\n"
    )
    assert lines(path, "tensors.tsv") == ["0.5\t-2", "3\t4", "5\t6", ""]
    assert lines(path, "metadata.tsv") == ["a", "b", "c", ""]


def test_step_and_tag_have_defaults(tmp_path: Path) -> None:
    projector.write_embedding(tmp_path, POINTS)
    assert files_in(tmp_path) == ["00000/default/tensors.tsv", CONFIG]


def test_the_directory_is_for_everyone_the_umask_allows(tmp_path: Path) -> None:
    path = projector.write_embedding(tmp_path, POINTS)
    (tmp_path / "other").mkdir()
    assert os.stat(path).st_mode == os.stat(tmp_path / "other").st_mode


def test_torch_writes_the_same(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from PIL import Image
    from torch.utils import tensorboard

    images = torch.rand(5, 3, 6, 6)
    calls: list[dict[str, Any]] = [
        {"mat": torch.randn(5, 4), "metadata": list("abcde"), "label_img": images, "tag": "t/%x"},
        {"mat": torch.randn(5, 4), "metadata": [(1, "b")] * 5, "metadata_header": ["q", "r"]},
    ]
    with tensorboard.SummaryWriter(str(tmp_path / "torch")) as writer:
        for step, call in enumerate(calls):
            writer.add_embedding(**call, global_step=step)
            projector.write_embedding(tmp_path / "ours", **call, global_step=step)
    names = files_in(tmp_path / "ours")
    assert names == [n for n in files_in(tmp_path / "torch") if "events.out" not in n]
    for name in names:
        theirs, ours = tmp_path / "torch" / name, tmp_path / "ours" / name
        if name.endswith("tensors.tsv"):  # ours are shorter, and the same numbers
            found = [np.loadtxt(path, np.float32) for path in (ours, theirs)]
            np.testing.assert_array_equal(found[0], found[1])
        elif name.endswith("png"):
            pixels = [np.asarray(Image.open(path).convert("RGB")) for path in (ours, theirs)]
            np.testing.assert_array_equal(pixels[0], pixels[1])
        else:
            assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_is_not_stopped_by_its_parents_thread(tmp_path: Path) -> None:
    with projector._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                projector.write_embedding(tmp_path, POINTS)
            finally:
                os._exit(len(files_in(tmp_path)))
        status = os.waitpid(child, 0)[1]
    assert os.waitstatus_to_exitcode(status) == 2


# Numbers


def test_every_number_reads_back_as_the_same_float32(tmp_path: Path) -> None:
    from tensorboard.plugins.projector import projector_plugin

    bits = np.random.default_rng(1).integers(0, 1 << 32, 60_000, dtype=np.uint32)
    numbers = bits.view(np.float32)
    numbers = numbers[np.isfinite(numbers)][:50_000]
    normal = np.random.default_rng(2).standard_normal(50_000, dtype=np.float32)
    extremes = np.array([0, -0.0, 1e-45, 3.4028235e38, 1e-14, 1e5, 99999.99], np.float32)
    points = np.concatenate([numbers, normal, np.tile(extremes, 1000)]).reshape(-1, 10)
    path = projector.write_embedding(tmp_path, points)
    # Column by column in TensorBoard's own reader.
    found = projector_plugin._read_tensor_tsv_file(os.path.join(path, "tensors.tsv"))
    np.testing.assert_array_equal(found.view(np.uint32), points.view(np.uint32))


def test_numbers_are_as_short_as_numpy_makes_them(tmp_path: Path) -> None:
    scale = 10.0 ** np.random.default_rng(3).integers(-9, 4, 3000)
    numbers = (np.random.default_rng(4).standard_normal(3000) * scale).astype(np.float32)
    numbers[:6] = [0.1, 0.3, 1 / 3, 1e-7, 2.5, 1234.567]
    path = projector.write_embedding(tmp_path, numbers[:, np.newaxis])
    for text, number in zip(lines(path, "tensors.tsv"), numbers, strict=False):
        assert len(digits(text)) <= len(digits(np.format_float_scientific(number, unique=True)))
    assert lines(path, "tensors.tsv")[:2] == ["0.1", "0.3"]


def digits(text: str) -> str:
    return text.partition("e")[0].replace(".", "").replace("-", "").strip("0")


@pytest.mark.parametrize(
    "points",
    [
        POINTS.astype(np.float64),
        POINTS.astype(np.float16),
        POINTS.tolist(),
        POINTS.astype(">f4"),
        np.asfortranarray(POINTS),
    ],
)
def test_any_array_like(tmp_path: Path, points: object) -> None:
    path = projector.write_embedding(tmp_path, points)
    assert lines(path, "tensors.tsv") == ["0.5\t-2", "3\t4", "5\t6", ""]


def test_non_finite_points_are_written_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r"'default'.*not finite"):
        path = projector.write_embedding(tmp_path, [[np.nan, np.inf, -np.inf, 1e300]])
    assert [float(x) for x in lines(path, "tensors.tsv")[0].split("\t")[1:]] == [
        np.inf,
        -np.inf,
        np.inf,
    ]


def test_the_text_is_never_held_as_a_whole(tmp_path: Path) -> None:
    points = np.random.default_rng(0).standard_normal((30_000, 16), dtype=np.float32)
    tracemalloc.start()
    try:
        path = projector.write_embedding(tmp_path, points)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert os.path.getsize(os.path.join(path, "tensors.tsv")) > 5_000_000
    assert peak < 3_000_000


# Labels


@pytest.mark.parametrize(
    ("metadata", "header", "expected"),
    [
        ([1, 2.5, "x"], None, ["1", "2.5", "x"]),
        (("a\tb", "c\nd", "e\r\nf"), None, ["a b", "c d", "e f"]),
        (["a\u2028b", "c\x0bd", "e\x85f"], None, ["a b", "c d", "e f"]),
        (["", "  ", None], None, ["(empty)", "(empty)  ", "None"]),
        ([b"\xc3\xa9", "é", "\ud800"], None, ["é", "é", "?"]),
        (np.array([3, 4, 5]), None, ["3", "4", "5"]),
        ([np.float32(1.5), np.int64(3), np.bool_(True)], None, ["1.5", "3", "True"]),
        ([(1, "a"), (2, "b"), (3, "c")], ["n", "s"], ["n\ts", "1\ta", "2\tb", "3\tc"]),
        ([[1, "a\tb"], [2, ""], ["", ""]], ["n\t1", "s"], ["n 1\ts", "1\ta b", "2\t", "(empty)\t"]),
        (np.array([[1, 2], [3, 4], [5, 6]]), ["a", "b"], ["a\tb", "1\t2", "3\t4", "5\t6"]),
        # A single column has no header: the page would count it as a label.
        (["a", "b", "c"], ["name"], ["a", "b", "c"]),
        ([["a"], ["b"], ["c"]], ["name"], ["a", "b", "c"]),
        ((x for x in "abc"), None, ["a", "b", "c"]),
    ],
)
def test_metadata(tmp_path: Path, metadata: Any, header: Any, expected: list[str]) -> None:
    path = projector.write_embedding(tmp_path, POINTS, metadata=metadata, metadata_header=header)
    assert lines(path, "metadata.tsv") == [*expected, ""]


def test_many_labels_keep_their_order(tmp_path: Path) -> None:
    labels = [str(i) for i in range(9000)]
    path = projector.write_embedding(tmp_path, np.zeros((9000, 1)), metadata=labels)
    assert lines(path, "metadata.tsv") == [*labels, ""]


# Thumbnails


def test_sprite_has_as_many_rows_as_columns_and_keeps_uint8(tmp_path: Path) -> None:
    images = np.arange(5 * 3 * 2 * 4, dtype=np.uint8).reshape(5, 3, 2, 4)  # height 2, width 4
    path = projector.write_embedding(tmp_path, np.zeros((5, 2)), label_img=images)
    found = sprite(path)
    assert found.shape == (6, 12, 3)
    for index in range(5):
        row, column = divmod(index, 3)
        cell = found[row * 2 : row * 2 + 2, column * 4 : column * 4 + 4]
        np.testing.assert_array_equal(cell, images[index].transpose(1, 2, 0))
    assert not found[2:, 8:].any()
    assert not found[4:].any()
    config = (tmp_path / CONFIG).read_text()
    assert "single_image_dim: 4\n    single_image_dim: 2\n" in config


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.uint8(100), 100),
        (np.float32(0.5), 127),
        (np.float64(1.0), 255),
        (np.float32(7.0), 255),
        (np.float32(-1.0), 0),
        (np.int64(100), 100),
        (np.bool_(True), 255),
    ],
)
def test_levels(tmp_path: Path, value: Any, expected: int) -> None:
    images = np.full((1, 1, 2, 2), value)
    path = projector.write_embedding(tmp_path, np.zeros((1, 2)), label_img=images)
    assert (sprite(path) == expected).all()


def test_large_images_are_shrunk_to_what_tensorboard_shows(tmp_path: Path) -> None:
    images = np.empty((4, 1, 3, 5000), np.uint8)
    images[:] = np.array([10, 250, 90, 170]).reshape(4, 1, 1, 1)
    with pytest.warns(UserWarning, match="3x5000 pixels exceed the 8192"):
        path = projector.write_embedding(tmp_path, np.zeros((4, 2)), label_img=images)
    found = sprite(path)[:, :, 0]
    assert found.shape == (4, 8192)
    expected = np.repeat(np.repeat([[10, 250], [90, 170]], 2, axis=0), 4096, axis=1)
    np.testing.assert_array_equal(found, expected)  # no neighbour shows through
    assert "single_image_dim: 4096\n    single_image_dim: 2\n" in (tmp_path / CONFIG).read_text()


# What is refused


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"mat": [1.0, 2.0, 3.0]}, ValueError, r"'t'.*\[points, dimensions\].*\(3,\)"),
        ({"mat": np.zeros((0, 2))}, ValueError, r"'t'.*\(0, 2\)"),
        ({"mat": np.zeros((2, 0))}, ValueError, r"'t'.*\(2, 0\)"),
        ({"mat": None}, TypeError, "'t'.*None"),
        ({"mat": "abc"}, TypeError, "'t'.*str"),
        ({"mat": np.zeros((3, 2), complex)}, TypeError, "'t'.*complex128"),
        ({"metadata": ["a", "b"]}, ValueError, "'t'.*2 labels.*3 points"),
        ({"metadata": "abc"}, TypeError, "'t'.*list of labels.*str"),
        ({"metadata": 3}, TypeError, "'t'.*int"),
        ({"metadata_header": ["a", "b"]}, ValueError, "'t'.*no metadata"),
        (
            {"metadata": [(1, 2), (3,), (4, 5)], "metadata_header": ["a", "b"]},
            ValueError,
            "'t': row 1 of metadata has 1 values for 2 columns",
        ),
        ({"label_img": np.zeros((2, 3, 4, 4))}, ValueError, "'t'.*2 images.*3 points"),
        ({"label_img": np.zeros((3, 4, 4))}, ValueError, r"'t'.*\(3, 4, 4\)"),
        ({"label_img": np.zeros((3, 5, 4, 4))}, ValueError, r"'t'.*\(3, 5, 4, 4\)"),
        ({"label_img": np.zeros((3, 1, 0, 4))}, ValueError, r"'t'.*\(3, 1, 0, 4\)"),
        ({"label_img": np.zeros((3, 1, 2, 2), complex)}, TypeError, "'t'.*complex"),
        ({"global_step": 1.5}, ValueError, "tag 't': step"),
        ({"global_step": "x"}, TypeError, "tag 't': step"),
        ({"tag": None}, TypeError, "tag"),
        ({"tag": "\ud800"}, ValueError, "surrogate"),
    ],
)
def test_bad_arguments_write_nothing(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        projector.write_embedding(tmp_path / "log", **{"mat": POINTS, "tag": "t", **arguments})
    assert files_in(tmp_path) == []


def test_a_failure_midway_leaves_what_was_there(tmp_path: Path) -> None:
    class Bad:
        def __str__(self) -> str:
            raise OSError(28, "No space left on device")

    projector.write_embedding(tmp_path, POINTS, metadata=["a", "b", "c"])
    before = {name: (tmp_path / name).read_bytes() for name in files_in(tmp_path)}
    for tag in ("default", "other"):
        with pytest.raises(OSError, match="No space"):
            projector.write_embedding(tmp_path, POINTS * 2, metadata=["a", "b", Bad()], tag=tag)
    assert {name: (tmp_path / name).read_bytes() for name in files_in(tmp_path)} == before
    assert [p.name for p in (tmp_path / "00000").iterdir()] == ["default"]


def test_a_config_that_cannot_be_replaced_leaves_no_embedding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        projector.write_embedding(tmp_path, POINTS)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "00000").mkdir()
    (tmp_path / "00000" / "default").write_text("")
    with pytest.raises(NotADirectoryError):
        projector.write_embedding(tmp_path, POINTS)
    assert files_in(tmp_path) == ["00000/default"]


# Names


TAGS = [
    "..",
    ".",
    "",
    "...",
    "/",
    "../../x",
    "..\\x",
    "a/b",
    "a\\b",
    "a%2fb",
    "%2e%2e",
    "%",
    "nul\0",
    "new\nline",
    "é" * 300,
    "x" * 300,
    "x" * 299 + "y",
    "~root/x",
    'quote"s',
]


def test_no_tag_leaves_the_log_directory_or_meets_another(tmp_path: Path) -> None:
    from google.protobuf import text_format
    from tensorboard.plugins.projector import projector_plugin
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    logs = tmp_path / "a" / "b"
    for index, tag in enumerate(TAGS):
        projector.write_embedding(logs, POINTS + index, tag=tag)
    outside = [name for name in files_in(tmp_path) if not name.startswith("a/b/")]
    assert outside == []
    assert len(list((logs / "00000").iterdir())) == len(TAGS)
    config = ProjectorConfig()
    text_format.Parse((logs / CONFIG).read_text(), config)
    assert [entry.tensor_name for entry in config.embeddings] == [f"{t}:00000" for t in TAGS]
    for index, entry in enumerate(config.embeddings):
        found = projector_plugin._rel_to_abs_asset_path(entry.tensor_path, str(logs / CONFIG))
        tensor = projector_plugin._read_tensor_tsv_file(found)
        np.testing.assert_array_equal(tensor, POINTS + index)


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_any_path(tmp_path: Path, kind: Any) -> None:
    projector.write_embedding(kind(tmp_path / "log"), POINTS)
    assert files_in(tmp_path) == ["log/00000/default/tensors.tsv", f"log/{CONFIG}"]


def test_other_stores_are_refused_and_memory_takes_all() -> None:
    bucket: Any = object()
    with redirect(bucket), pytest.raises(ValueError, match="local directories only"):
        projector.write_embedding("bucket/x", POINTS)
    store = MemoryStore()
    with redirect(store):
        projector.write_embedding("x", POINTS, label_img=np.zeros((3, 1, 2, 2)))
        projector.write_embedding("x", POINTS, tag="b")
    assert sorted(store.files) == [
        "x/00000/b/tensors.tsv",
        "x/00000/default/sprite.png",
        "x/00000/default/tensors.tsv",
        f"x/{CONFIG}",
    ]
    assert store.files[f"x/{CONFIG}"].count(b"tensor_name") == 2


# Several embeddings


def names_in(directory: Path) -> list[str]:
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    config = ProjectorConfig()
    text_format.Parse((directory / CONFIG).read_text(), config)
    return [entry.tensor_name for entry in config.embeddings]


def test_earlier_entries_stay_whoever_wrote_them(tmp_path: Path) -> None:
    # As keras.callbacks.TensorBoard and, without indentation, tensorboardX write it.
    (tmp_path / CONFIG).write_text(
        'model_checkpoint_path: "model.ckpt"\n'
        'embeddings {\n  tensor_name: "layer"\n  metadata_path: "labels.tsv"\n}\n'
        'embeddings {\ntensor_name: "old:00001"\ntensor_path: "00001/old/tensors.tsv"\n}\n'
    )
    projector.write_embedding(tmp_path, POINTS, tag="new", global_step=2)
    projector.write_embedding(tmp_path, POINTS, tag="old", global_step=1, metadata=[1, 2, 3])
    assert names_in(tmp_path) == ["layer", "old:00001", "new:00002"]
    text = (tmp_path / CONFIG).read_text()
    assert 'model_checkpoint_path: "model.ckpt"' in text
    assert 'metadata_path: "00001/old/metadata.tsv"' in text


def test_the_same_tag_and_step_replace_with_a_warning(tmp_path: Path) -> None:
    projector.write_embedding(tmp_path, POINTS, metadata=[1, 2, 3])
    with pytest.warns(UserWarning, match=r"'default:00000'.*was replaced; was global_step"):
        path = projector.write_embedding(tmp_path, POINTS[:1])
    assert files_in(tmp_path) == ["00000/default/tensors.tsv", CONFIG]
    assert lines(path, "tensors.tsv") == ["0.5\t-2", ""]
    assert "metadata_path" not in (tmp_path / CONFIG).read_text()


def test_a_damaged_config_is_put_aside(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text("embeddings {{{")
    with pytest.warns(UserWarning, match=r"cannot be read.*\.damaged"):
        projector.write_embedding(tmp_path, POINTS)
    assert (tmp_path / (CONFIG + ".damaged")).read_text() == "embeddings {{{"
    assert names_in(tmp_path) == ["default:00000"]


def test_visualize_embeddings_takes_either_message_and_a_writer(tmp_path: Path) -> None:
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    class Writer:
        def get_logdir(self) -> str:
            return str(tmp_path / "w")

    theirs = ProjectorConfig(model_checkpoint_path="test")
    theirs.embeddings.add(tensor_name="tensor1", metadata_path="metadata1")
    projector.visualize_embeddings(str(tmp_path), theirs)
    assert (tmp_path / CONFIG).read_text() == (
        'model_checkpoint_path: "test"\n'
        'embeddings {\n  tensor_name: "tensor1"\n  metadata_path: "metadata1"\n}\n'
    )
    ours = projector.ProjectorConfig(model_checkpoint_path="ours")
    assert isinstance(ours, proto.ProjectorConfig)
    projector.visualize_embeddings(Writer(), ours)
    assert (tmp_path / "w" / CONFIG).read_text() == 'model_checkpoint_path: "ours"\n'
    with pytest.raises(ValueError, match="Expected logdir to be a path, but got None"):
        projector.visualize_embeddings(None, ours)


# TensorBoard's own plugin serves it all


def test_tensorboard_serves_every_file(tmp_path: Path) -> None:
    from PIL import Image
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.projector import projector_plugin
    from werkzeug.test import Client

    points = np.random.default_rng(0).standard_normal((6, 3), dtype=np.float32)
    images = np.random.default_rng(1).integers(0, 256, (6, 3, 5, 4), dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        projector.write_embedding(
            tmp_path,
            points,
            tag="layer/1",
            global_step=3,
            label_img=images,
            metadata=[(i, "\t") for i in range(6)],
            metadata_header=["index", "blank"],
        )
    plugin = projector_plugin.ProjectorPlugin(base_plugin.TBContext(logdir=str(tmp_path)))

    def get(route: str, **query: str) -> bytes:
        app = plugin.get_plugin_apps()[route]
        response = Client(app).get(route, query_string={"run": ".", **query})
        assert response.status_code == 200, response.data
        return bytes(response.data)

    assert json.loads(get("/runs")) == ["."]
    (entry,) = json.loads(get("/info"))["embeddings"]
    assert entry["tensorName"] == "layer/1:00003"
    assert entry["tensorShape"] == [6, 3]
    assert entry["sprite"]["singleImageDim"] == [4, 5]
    found = np.frombuffer(get("/tensor", name="layer/1:00003"), np.float32)
    np.testing.assert_array_equal(found.reshape(6, 3), points)
    table = get("/metadata", name="layer/1:00003").decode().splitlines()
    assert table == ["index\tblank", *(f"{i}\t " for i in range(6))]
    picture = np.asarray(Image.open(io.BytesIO(get("/sprite_image", name="layer/1:00003"))))
    np.testing.assert_array_equal(picture[:5, 4:8], images[1].transpose(1, 2, 0))
    assert picture.shape == (15, 12, 3)

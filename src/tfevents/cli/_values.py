"""Values of every kind: in a few words, as JSON, and as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfevents.logdir import Run
    from tfevents.series import Series

__all__ = ["as_data", "as_files", "brief", "number", "series_of"]

_LONGEST_TEXT = 60
_SIGNATURES = (
    (b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"GIF8", ".gif"), (b"RIFF", ".wav"),
    (b"OggS", ".ogg"), (b"fLaC", ".flac"), (b"ID3", ".mp3"),
)


def number(value: float) -> str:
    """A number for people, six digits."""
    return f"{value:.6g}"


def series_of(run: Run, kind: str, tag: str, **options: str) -> Series:
    """The points of a tag of any kind; a run's graph is one point at step 0."""
    if kind != "graphs":
        series: Series = getattr(run, kind)(tag, **options)
        return series
    import numpy as np

    from tfevents.series import Series

    try:
        graphs = [run.graph()]
    except KeyError:  # it cannot be decoded
        graphs = []
    return Series(tag, np.zeros(len(graphs), np.int64), np.zeros(len(graphs)), graphs)


def brief(kind: str, value: Any) -> str:
    """One line about a value, not escaped."""
    return _BRIEF[kind](value)


def as_data(kind: str, value: Any) -> Any:
    """A value as numbers, strings, lists and dicts; pictures and sound by their sizes only."""
    return _DATA[kind](value)


def as_files(kind: str, value: Any) -> Iterator[tuple[str, bytes]]:
    """A value as files, each with the end of its name; only kinds that are files have any."""
    if kind == "images":
        parts = value.images()
    elif kind == "audio":
        parts = value.files()
    elif kind in ("graphs", "run_metadata"):
        yield ".pb", value.SerializeToString()
        return
    else:
        return
    for data in parts:
        yield next((end for start, end in _SIGNATURES if data.startswith(start)), ".bin"), data


def _texts(value: Any) -> list[str]:
    return [each.decode("utf-8", "backslashreplace") for each in value.strings]


def _brief_text(value: Any) -> str:
    lines = " | ".join(_texts(value)).split("\n")
    return _shortened(lines[0] + (" …" if len(lines) > 1 else ""))


def _brief_image(value: Any) -> str:
    count = f"{len(value)} × " if len(value) != 1 else ""
    return f"{count}{value.width}×{value.height} image"


def _brief_audio(value: Any) -> str:
    count = f"{len(value)} clips" if len(value) != 1 else "1 clip"
    return f"{count}, {value.sample_rate} Hz"


def _brief_histogram(value: Any) -> str:
    rows = value.buckets
    if not len(rows):
        return "empty histogram"
    low, high = number(rows[0, 0]), number(rows[-1, 1])
    return f"{number(rows[:, 2].sum())} values in {low} … {high}, mean {number(value.mean)}"


def _brief_tensor(value: Any) -> str:
    array = value.array
    if array.size == 1:
        return _shortened(str(_tensor_data(value)["values"]))
    return f"{_dtype(array)} {list(array.shape)}"


def _brief_hparams(value: Any) -> str:
    data = _hparams_data(value)
    if "hparams" in data:
        return _shortened(", ".join(f"{name}={each}" for name, each in data["hparams"].items()))
    return ", ".join(data) or "empty"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _dtype(array: Any) -> str:
    return "string" if array.dtype.kind == "O" else str(array.dtype)


def _text_data(value: Any) -> Any:
    if value.shape == ():
        return _texts(value)[0]
    return _nested(_texts(value), value.shape)


def _nested(flat: list[Any], shape: tuple[int, ...]) -> list[Any]:
    if len(shape) < 2:
        return flat
    size = len(flat) // shape[0] if shape[0] else 0
    return [
        _nested(flat[place * size : (place + 1) * size], shape[1:]) for place in range(shape[0])
    ]


def _tensor_data(value: Any) -> dict[str, Any]:
    array = value.array
    values = array.tolist()
    if array.dtype.kind == "c":
        values = array.astype(complex).view(float).reshape(*array.shape, 2).tolist()
    return {"dtype": _dtype(array), "shape": list(array.shape), "values": values}


def _histogram_data(value: Any) -> dict[str, Any]:
    rows = value.buckets
    return {"left": rows[:, 0], "right": rows[:, 1], "count": rows[:, 2]}


def _hparams_data(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if value.start is not None:
        found["hparams"] = dict(sorted(value.start.hparams.items()))
        found["group_name"] = value.start.group_name
    if value.end is not None:
        found["status"] = value.end.status
    if value.experiment is not None:
        found["experiment"] = {
            "hparams": [each.name for each in value.experiment.hparams],
            "metrics": [each.tag for each in value.experiment.metrics],
        }
    return found


def _curve_data(value: Any) -> dict[str, Any]:
    names = ("true_positives", "false_positives", "true_negatives", "false_negatives")
    return dict(zip((*names, "precision", "recall"), value.rows, strict=False))


def _mesh_data(value: Any) -> dict[str, Any]:
    parts = {name: getattr(value, name) for name in ("vertices", "faces", "colors")}
    return {name: array for name, array in parts.items() if array is not None}


def _mesh_brief(value: Any) -> str:
    return ", ".join(f"{name} {list(each.shape)}" for name, each in _mesh_data(value).items())


def _graph_data(value: Any) -> dict[str, Any]:
    return {"nodes": len(value.node)}


def _metadata_data(value: Any) -> dict[str, Any]:
    return {"devices": [each.device for each in value.step_stats.dev_stats]}


def _image_data(value: Any) -> dict[str, Any]:
    return {"width": value.width, "height": value.height, "images": len(value)}


def _audio_data(value: Any) -> dict[str, Any]:
    return {"sample_rate": value.sample_rate, "clips": len(value)}


_BRIEF: dict[str, Callable[[Any], str]] = {
    "scalars": number,
    "images": _brief_image,
    "audio": _brief_audio,
    "histograms": _brief_histogram,
    "texts": _brief_text,
    "tensors": _brief_tensor,
    "hparams": _brief_hparams,
    "pr_curves": lambda value: f"{value.rows.shape[1]} thresholds",
    "meshes": _mesh_brief,
    "custom_scalars": lambda value: f"{len(value.categories)} categories",
    "graphs": lambda value: f"{len(value.node)} nodes",
    "run_metadata": lambda value: f"{len(value.step_stats.dev_stats)} devices",
}
_DATA: dict[str, Callable[[Any], Any]] = {
    "scalars": float,
    "images": _image_data,
    "audio": _audio_data,
    "histograms": _histogram_data,
    "texts": _text_data,
    "tensors": _tensor_data,
    "hparams": _hparams_data,
    "pr_curves": _curve_data,
    "meshes": _mesh_data,
    "custom_scalars": asdict,
    "graphs": _graph_data,
    "run_metadata": _metadata_data,
}

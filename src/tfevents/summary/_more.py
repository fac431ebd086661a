"""Summaries that tf.summary lacks, in its manner: a name, data, a step, and whether it was written.

Names, scopes, steps and conditions work as for `scalar`. Only `hparams` and `custom_scalars` have
fixed tags, which TensorBoard looks for, and step 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tfevents import _context, plugin
from tfevents.summary._ops import gate, text_of, warned_once, write_kind
from tfevents.summary._state import full_tag

if TYPE_CHECKING:
    from tfevents._types import ToValue
    from tfevents.summary._writers import SummaryWriter

__all__ = [
    "custom_scalars",
    "embedding",
    "figure",
    "hparams",
    "mesh",
    "pr_curve",
    "run_metadata",
    "video",
]


def _emit(
    writer: SummaryWriter, values: Sequence[tuple[str, ToValue]], step: int, nbytes: int
) -> bool:
    """Queues one event of several values."""
    writer.run.add_values(values, step, nbytes=nbytes)
    if writer.policy is not None:
        writer.policy.written(writer.run)
    return True


def hparams(
    hparams: Mapping[str, Any],
    metrics: Mapping[str, Any] | None = None,
    step: Any = None,
    domain: Mapping[str, Sequence[Any]] | None = None,
) -> bool:
    """Writes the hyperparameters of a run, and the metrics they led to.

    Args:
        hparams: name to value: numbers, bool, str, or anything that has a text form.
        metrics: name to number, at the end of a run; each is written as a scalar of that tag,
            too, and the run counts as finished.
        step: step of the metrics; by default the one set before, or 0.
        domain: for some of the hyperparameters, all values they may take.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: a name or value does not fit; nothing is written.
    """
    from tfevents import proto
    from tfevents.values.hparams import HParams
    from tfevents.values.scalar import Scalar

    tag = plugin.HPARAMS_SESSION_START_TAG
    context = _context.state()
    last = 0 if step is None and context.step is None else step
    passed = gate(last, context, tag)
    if passed is None:
        return False
    writer, last = passed
    with warned_once(writer):
        session = HParams.from_data(hparams, metrics, domain=domain)

    def with_tensor(to_value: ToValue, tag: str) -> proto.Summary.Value:
        # TensorBoard's own helper has an empty tensor beside the metadata.
        value = to_value(tag)
        value.tensor.dtype = proto.DT_FLOAT
        value.tensor.tensor_shape.dim.add(size=0)
        return value

    parts: list[tuple[str, ToValue]] = [
        (name, partial(with_tensor, to_value))
        for name, to_value in session.parts()
        if metrics is not None or name != plugin.HPARAMS_SESSION_END_TAG
    ]
    _emit(writer, parts, 0, session.nbytes)
    scalars: list[tuple[str, ToValue]] = [
        (name, Scalar.from_data(number, tag=name).to_tensor_value)
        for name, number in session.metrics.items()
    ]
    if scalars:
        _emit(writer, scalars, last, 8 * len(scalars))
    return True


def pr_curve(
    name: str,
    labels: Any,
    predictions: Any,
    step: Any = None,
    num_thresholds: int = 201,
    weights: Any = None,
    description: str | None = None,
) -> bool:
    """Writes a precision-recall curve.

    Args:
        name: name of the summary.
        labels: truth, bools or numbers in [0, 1], of any shape.
        predictions: scores in [0, 1], as many.
        step: monotonic step; by default the one set before.
        num_thresholds: at how many thresholds, evenly spaced in [0, 1], the curve is known.
        weights: of each prediction; 1 by default.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the shapes or types do not fit, or there is no step.
    """
    from tfevents.values.pr_curve import PrCurve

    def make(tag: str) -> PrCurve:
        return PrCurve.from_data(
            labels, predictions, tag=tag, num_thresholds=num_thresholds, weights=weights
        )

    return write_kind(name, "pr_curve_summary", make, step, description)


def mesh(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    config_dict: Mapping[str, Any] | None = None,
    step: Any = None,
    description: str | None = None,
) -> bool:
    """Writes 3D meshes or point clouds, as one event.

    Args:
        name: name of the summary; the tags are `<name>_VERTEX`, `<name>_FACE`, `<name>_COLOR`.
        vertices: [b, n, 3] coordinates.
        faces: [b, m, 3] triangles, as indices of vertices.
        colors: [b, n, 3] of each vertex, 0 to 255.
        config_dict: camera, material and lights of the three.js scene.
        step: monotonic step; by default the one set before.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the shapes or types do not fit, or there is no step; nothing is
            written then.
    """
    from tfevents.values.mesh import Mesh

    context = _context.state()
    tag = full_tag(name, "mesh_summary", context)
    text = text_of(description, tag)
    passed = gate(step, context, tag)
    if passed is None:
        return False
    writer, number = passed
    with warned_once(writer):
        value = Mesh.from_data(
            vertices, colors, faces, tag=tag, config_dict=config_dict, dtypes="own"
        )
    return _emit(writer, value.parts(tag, description=text, packed=True), number, value.nbytes)


def custom_scalars(layout: Any) -> bool:
    """Arranges charts of the CUSTOM SCALARS dashboard.

    Args:
        layout: {category: {chart: ["Multiline" or "Margin", [tag, …]]}}, or a Layout message.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the layout is none.
    """
    from tfevents.values.custom_scalars import CustomScalars

    passed = gate(0, _context.state(), plugin.CUSTOM_SCALARS_TAG)
    if passed is None:
        return False
    with warned_once(passed[0]):
        value = CustomScalars.from_data(layout)
    parts: list[tuple[str, ToValue]] = [(plugin.CUSTOM_SCALARS_TAG, value.to_tensor_value)]
    return _emit(passed[0], parts, 0, value.nbytes)


def embedding(
    name: str,
    data: Any,
    metadata: Any = None,
    images: Any = None,
    step: Any = None,
    metadata_header: Sequence[str] | None = None,
) -> bool:
    """Writes vectors for the projector, to files beside the events.

    Args:
        name: name of the embedding.
        data: [n, d] vectors.
        metadata: n labels, or n rows of labels with `metadata_header`.
        images: [n, h, w, c] pictures of the vectors, c in 1, 3 and 4.
        step: monotonic step; by default the one set before.
        metadata_header: names of the columns of `metadata`.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the shapes or types do not fit, or there is no step; nothing is
            written then.
        OSError: the files cannot be written.
    """
    from tfevents import arrays, projector

    context = _context.state()
    tag = full_tag(name, "embedding_summary", context)
    passed = gate(step, context, tag)
    if passed is None:
        return False
    writer, number = passed
    if images is not None:
        images = arrays.to_numpy(images, tag=tag)
        if images.ndim != 4:
            raise ValueError(f"tag {tag!r}: images must be [n, h, w, c]; got shape {images.shape}")
        images = images.transpose(0, 3, 1, 2)
    with warned_once(writer):
        projector.write_embedding(
            writer.run.directory, data, metadata=metadata, label_img=images, global_step=number,
            tag=tag, metadata_header=metadata_header,
        )
    return True


def figure(
    name: str, figure: Any, step: Any = None, close: bool = True, description: str | None = None
) -> bool:
    """Writes a matplotlib figure as an image, or a list of figures as one grid.

    Args:
        name: name of the summary.
        figure: the figure or figures; drawn now, encoded later.
        step: monotonic step; by default the one set before.
        close: close the figures when they are written.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError: no figure.
        ValueError: figures of several sizes, or no step.
    """
    from tfevents.values import figure as figures

    def make(tag: str) -> Any:
        return figures.render(figure, tag=tag, close=close)

    return write_kind(name, "figure_summary", make, step, description)


def video(
    name: str,
    data: Any,
    step: Any = None,
    fps: float = 4,
    dataformats: str = "NTHWC",
    description: str | None = None,
) -> bool:
    """Writes a video as animated GIF, which the IMAGES dashboard plays.

    Args:
        name: name of the summary.
        data: [n, t, h, w, c] or as `dataformats` says, c in 1, 3 and 4; several clips become a
            grid. Floating point in [0, 1], integers in [0, 255].
        step: monotonic step; by default the one set before.
        fps: frames per second.
        dataformats: what each axis is.
        description: Markdown, shown with the summary.

    Returns:
        Whether it was written.

    Raises:
        TypeError, ValueError: the shape or type does not fit, or there is no step.
    """
    from tfevents.values.video import Video

    def make(tag: str) -> Video:
        return Video.from_data(data, tag=tag, fps=fps, dataformats=dataformats)

    return write_kind(name, "video_summary", make, step, description)


def run_metadata(name: str, data: Any, step: Any = None) -> bool:
    """Writes what a step cost, for the GRAPHS dashboard.

    Args:
        name: name of the step in the dashboard.
        data: a RunMetadata message of any origin, or its bytes.
        step: monotonic step; by default the one set before.

    Returns:
        Whether it was written.

    Raises:
        TypeError: no RunMetadata.
        ValueError: bytes that are none, or no step.
    """
    from tfevents import proto
    from tfevents.values.tensor import Tensor

    def make(tag: str) -> Tensor:
        content = proto.coerce(proto.RunMetadata, data).SerializeToString()
        metadata = plugin.metadata(plugin.GRAPH_RUN_METADATA, b"1")
        return Tensor.from_data(content, tag=tag, metadata=metadata)

    return write_kind(name, "run_metadata_summary", make, step, None)

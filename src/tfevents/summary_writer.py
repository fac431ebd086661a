"""SummaryWriter, in place of those of torch.utils.tensorboard and tensorboardX.

Names, argument orders and defaults are theirs; where the two differ, both spellings are taken. The
work is done elsewhere: each kind's conversion in `values`, the writing in `run_writer`.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from tfevents import _warn, arrays
from tfevents.async_writer import OnError
from tfevents.run_files import RunFiles, default_directory
from tfevents.run_writer import check_tag, checked_step
from tfevents.torch_file_writer import ADD_EVENT, ADD_SUMMARY, FileWriter

if TYPE_CHECKING:
    from tfevents._types import PathLike, ToValue

__all__ = ["FileWriter", "SummaryWriter"]

_Method = TypeVar("_Method", bound=Callable[..., None])


def _telling_once(method: _Method) -> _Method:
    """Makes a method warn once per tag and reason in the life of its writer."""

    @functools.wraps(method)
    def telling_once(self: SummaryWriter, *args: Any, **kwargs: Any) -> None:
        with _warn.once(self._told):
            method(self, *args, **kwargs)

    return cast("_Method", telling_once)


class SummaryWriter(RunFiles):
    """Logs to an event file of a directory; safe from many threads.

    Args:
        log_dir: directory of the run. By default `runs/<date>_<host><comment>`.
        comment: ends the default directory; without effect if `log_dir` is given.
        purge_step: tells readers that events of earlier files at this step or later are void.
        max_queue: images, histograms, texts and other large values that may be queued before a
            call waits; by default as many as fit 64 MiB.
        flush_secs: at most so many seconds pass between a write and its fsync.
        filename_suffix: appended to the name of the event file.
        write_to_disk: False makes nothing at all.
        logdir: tensorboardX's spelling of `log_dir`.
        comet_config: accepted as in tensorboardX; anything but disabled is refused.
        on_error: "raise", or "warn" to keep a training alive whose disk is full.
        max_file_bytes: go on in a new file when one holds this much.
        keep_images: remove old images, so that about the last so many of a tag stay on disk.

    Raises:
        OSError: the directory or file cannot be made.
    """

    def __init__(
        self,
        log_dir: PathLike | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int | None = None,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        *,
        logdir: PathLike | None = None,
        comet_config: Mapping[str, Any] | None = None,
        on_error: OnError = "raise",
        max_file_bytes: int | None = None,
        keep_images: int | None = None,
    ) -> None:
        if comet_config is not None and not isinstance(comet_config, Mapping):
            raise TypeError(f"comet_config must be a dict, got {type(comet_config).__name__}")
        if comet_config is not None and not comet_config.get("disabled", True):
            raise ValueError("comet_config: logging to Comet is not offered here")
        log_dir = logdir if log_dir is None else log_dir
        if log_dir is None or log_dir in ("", b""):
            log_dir = default_directory(comment)
        super().__init__(
            log_dir, max_queue=max_queue, flush_secs=flush_secs, filename_suffix=filename_suffix,
            write_to_disk=write_to_disk, on_error=on_error, max_file_bytes=max_file_bytes,
            keep_images=keep_images, purge_step=purge_step,
        )

    # -- scalars

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool | str = False,
        double_precision: bool | str = False,
        *,
        display_name: str = "",
        summary_description: str = "",
    ) -> None:
        """Logs a number.

        Args:
            tag: name of the series, kept as it is.
            scalar_value: a number, or an array or tensor of one element; stored as float32.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
            new_style: store a tensor, as tf.summary does, and not a `simple_value`.
                tensorboardX has `display_name` at this place, and a str is taken as that.
            double_precision: with `new_style`, store 64 bits. A str is tensorboardX's
                `summary_description`.
            display_name: shown instead of the tag.
            summary_description: Markdown, shown with the series.

        Raises:
            TypeError, ValueError: the tag, value or step is none; nothing is logged.
            OSError: an earlier event could not be written.
        """
        file = self.file_writer
        if (
            new_style or double_precision or display_name or summary_description
            or global_step is None or file is None
            or (walltime is None and self._defaults.walltime is not None)
            # file.patched(), written out for speed
            or FileWriter.add_summary is not ADD_SUMMARY
            or FileWriter.add_event is not ADD_EVENT
            or file.__dict__
        ):
            self._add_scalar_of_kind(
                tag, scalar_value, global_step, walltime, new_style, double_precision,
                display_name, summary_description,
            )
        else:
            file._run.add_scalar(tag, scalar_value, global_step, walltime)

    @_telling_once
    def _add_scalar_of_kind(
        self, tag: str, data: Any, step: Any, walltime: float | None, new_style: bool | str,
        double: bool | str, display_name: str, description: str,
    ) -> None:
        from tfevents.values.scalar import Scalar

        if isinstance(new_style, str):  # tensorboardX's order
            display_name = new_style
        if isinstance(double, str):
            description = double
        as_tensor = new_style is True
        value = Scalar.from_data(data, tag=str(tag), double=as_tensor and double is True)
        if as_tensor:
            to_value: ToValue = partial(
                value.to_torch_value, display_name=display_name, description=description
            )
        else:
            to_value = partial(_described_field, value, display_name, description)
        self._emit([(tag, to_value)], step, walltime, 8)

    @_telling_once
    def log(
        self, values: Mapping[str, Any], step: Any = None, walltime: float | None = None
    ) -> None:
        """Logs several numbers of one step as one event.

        Args:
            values: tag to number.
            step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.

        Raises:
            TypeError, ValueError: a tag, value or the step is none; nothing is logged.
        """
        self._emit(_scalar_fields("", values), step, walltime, 8 * len(values))

    @_telling_once
    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: Any = None,
        walltime: float | None = None,
        *,
        layout: Literal["runs", "tags"] = "runs",
    ) -> None:
        """Logs several numbers that belong together.

        Args:
            main_tag: what they have in common.
            tag_scalar_dict: name of each series to its number.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
            layout: "runs" gives each series a run of its own, `<main_tag>_<name>` below this
                directory, so that TensorBoard draws them into one chart, as the peers do; "tags"
                logs them here as `<main_tag>/<name>`, in one event.

        Raises:
            TypeError, ValueError: a name or value is none, or a name would leave the directory.
        """
        check_tag(main_tag)
        if layout == "tags":
            values = _scalar_fields(main_tag + "/", tag_scalar_dict)
            self._emit(values, global_step, walltime, 8 * len(values))
            return
        if layout != "runs":
            raise ValueError(f"layout must be 'runs' or 'tags', got {layout!r}")
        walltime = time.time() if self._walltime(walltime) is None else walltime
        global_step = checked_step(self._step(global_step), main_tag)
        fields = _scalar_fields(main_tag + "/", tag_scalar_dict)
        prefix = main_tag.replace("/", "_") + "_"
        writers = self._sub_writers([prefix + key for key in tag_scalar_dict])
        for writer, (_, to_value) in zip(writers, fields, strict=True):
            self._emit([(main_tag, to_value)], global_step, walltime, 8, writer)

    def export_scalars_to_json(self, path: PathLike) -> None:
        """Writes what `add_scalars` has logged to a JSON file: {series: [[time, step, value]]}."""
        from tfevents.logdir import read

        self.flush()
        main = self._get_file_writer()
        table = {}
        for directory, writer in sorted((self.all_writers or {}).items()):
            if writer is main:
                continue
            name = os.path.relpath(directory, self.get_logdir())
            run = read(os.path.join(self._directory, name))["."]
            for tag in run.tags().get("scalars", []):
                series = run.scalars(tag)
                rows = zip(
                    series.wall_times.tolist(), series.steps.tolist(), series.values.tolist(),
                    strict=True,
                )
                table[f"{directory}/{tag}"] = [list(row) for row in rows]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(table, file)

    # -- distributions

    @_telling_once
    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:
        """Logs the distribution of numbers.

        Args:
            tag: name of the series.
            values: real numbers of any shape. Non-finite ones are left out, with a warning.
            global_step: an integer, 0 by default.
            bins: "tensorflow" (bounds that grow by 10 %), or what numpy.histogram takes.
            walltime: seconds since the epoch, now by default.
            max_bins: neighbours are merged until at most about so many bins are left.

        Raises:
            TypeError: not real numbers.
            ValueError: no finite number at all, or bad bins.
        """
        from tfevents.values.histogram import Histogram

        value = Histogram.from_data(values, tag=str(tag), bins=bins, max_bins=max_bins)
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_histogram_raw(
        self, tag: str, min: float, max: float, num: float, sum: float,
        sum_squares: float, bucket_limits: Any, bucket_counts: Any, global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Logs a histogram that is computed already.

        Args:
            tag: name of the series.
            min: least of the numbers.
            max: greatest of the numbers.
            num: how many they are.
            sum: their sum.
            sum_squares: sum of their squares.
            bucket_limits: upper bounds of the buckets, increasing.
            bucket_counts: how many numbers fall in each.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.

        Raises:
            ValueError: limits and counts are not equally many.
        """
        from tfevents.values.histogram import Histogram

        value = Histogram.from_raw(
            min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
            bucket_limits=bucket_limits, bucket_counts=bucket_counts, tag=str(tag),
        )
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_pr_curve(
        self, tag: str, labels: Any, predictions: Any, global_step: Any = None,
        num_thresholds: int = 127, weights: Any = None, walltime: float | None = None,
    ) -> None:
        """Logs a precision-recall curve.

        Args:
            tag: name of the series.
            labels: truth, bool or 0 and 1, of any shape.
            predictions: probabilities in [0, 1], of the same shape.
            global_step: an integer, 0 by default.
            num_thresholds: at how many thresholds, evenly spaced in [0, 1], the curve is known.
            weights: of each sample, 1 by default.
            walltime: seconds since the epoch, now by default.

        Raises:
            TypeError, ValueError: the shapes or types do not fit.
        """
        from tfevents.values.pr_curve import PrCurve

        value = PrCurve.from_data(
            labels, predictions, tag=str(tag), num_thresholds=num_thresholds, weights=weights
        )
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_pr_curve_raw(
        self, tag: str, true_positive_counts: Any, false_positive_counts: Any,
        true_negative_counts: Any, false_negative_counts: Any, precision: Any, recall: Any,
        global_step: Any = None, num_thresholds: int = 127, weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Logs a precision-recall curve that is computed already, from six arrays [n].

        `num_thresholds` and `weights` are accepted as in the peers, but the file says what is true:
        as many thresholds as there are.
        """
        from tfevents.values.pr_curve import PrCurve

        value = PrCurve.from_raw(
            true_positive_counts, false_positive_counts, true_negative_counts,
            false_negative_counts, precision, recall, tag=str(tag),
        )
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    # -- pictures, sound, text

    @_telling_once
    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Logs an image as PNG.

        Args:
            tag: name of the series.
            img_tensor: [c, h, w] or as `dataformats` says; c in 1 to 4. Floating point in
                [0, 1], integers in [0, 255].
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
            dataformats: what each axis is: "CHW", "HWC", "HW", "NCHW", …

        Raises:
            TypeError, ValueError: the shape or type does not fit.
        """
        from tfevents.values.image import Image

        value = Image.from_data(img_tensor, tag=str(tag), dataformats=dataformats)
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Logs a batch of images as one picture, a grid of at most 8 columns.

        Args:
            tag: name of the series.
            img_tensor: [n, c, h, w] or as `dataformats` says, or a list of images that
                `dataformats` ("CHW", "HWC") describes.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
            dataformats: what each axis is.

        Raises:
            TypeError, ValueError: the shape or type does not fit.
        """
        if isinstance(img_tensor, (list, tuple)) and "N" not in dataformats.upper():
            dataformats = "N" + dataformats
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    @_telling_once
    def add_image_with_boxes(
        self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Any = None,
        walltime: float | None = None, rescale: Any = 1, dataformats: Any = "CHW",
        labels: Any = None,
    ) -> None:
        """Logs an image with boxes drawn on it.

        Args:
            tag: name of the series.
            img_tensor: see `add_image`.
            box_tensor: [n, 4]: left, top, right, bottom in pixels.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
            rescale: factor of the picture's size.
            dataformats: see `add_image`; tensorboardX has it before `rescale`, and both orders
                are taken.
            labels: a str for each box.

        Raises:
            TypeError, ValueError: the shapes or types do not fit.
        """
        from tfevents.values.boxes import ImageWithBoxes

        if isinstance(rescale, str):  # tensorboardX's order: dataformats, labels
            given = None if isinstance(dataformats, str) else dataformats
            rescale, dataformats, labels = 1, rescale, given if labels is None else labels
        value = ImageWithBoxes.from_data(
            img_tensor, box_tensor, tag=str(tag), rescale=rescale, dataformats=dataformats,
            labels=labels,
        )
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Logs a matplotlib figure, or a list of them as one grid.

        Args:
            tag: name of the series.
            figure: the figure or figures; drawn now, encoded later.
            global_step: an integer, 0 by default.
            close: close the figures.
            walltime: seconds since the epoch, now by default.

        Raises:
            TypeError: no figure.
        """
        from tfevents.values import figure as figures

        value = figures.render(figure, tag=str(tag), close=close)
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
        walltime: float | None = None, dataformats: str = "NTCHW",
    ) -> None:
        """Logs a video as animated GIF.

        Args:
            tag: name of the series.
            vid_tensor: [n, t, c, h, w] or as `dataformats` says; several clips become a grid.
                Floating point in [0, 1], integers in [0, 255].
            global_step: an integer, 0 by default.
            fps: frames per second.
            walltime: seconds since the epoch, now by default.
            dataformats: what each axis is.

        Raises:
            TypeError, ValueError: the shape or type does not fit.
        """
        from tfevents.values.video import Video

        value = Video.from_data(vid_tensor, tag=str(tag), fps=fps, dataformats=dataformats)
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_audio(
        self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Logs a sound as 16-bit WAV.

        Args:
            tag: name of the series.
            snd_tensor: [t], or [t, c] with c in 1 and 2. Floating point in [-1, 1], or integer
                PCM.
            global_step: an integer, 0 by default.
            sample_rate: frames per second.
            walltime: seconds since the epoch, now by default.

        Raises:
            TypeError, ValueError: the shape or type does not fit.
        """
        from tfevents.values.audio import Audio

        data = arrays.to_numpy(snd_tensor, tag=str(tag))
        stereo = data.ndim == 2 and data.shape[1] == 2 and data.shape[0] != 1
        value = Audio.from_data(
            data, sample_rate, tag=str(tag), layout="TC" if stereo else "T",
            scale=32767, rounding="trunc",
        )
        self._emit([(tag, value.to_field_value)], global_step, walltime, value.nbytes)

    @_telling_once
    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Logs text, which TensorBoard shows as Markdown; its tag is `<tag>/text_summary`.

        Raises:
            TypeError: not a str.
        """
        from tfevents.values.text import Text

        check_tag(tag)
        value = Text.from_str(text_string, tag=tag)
        self._emit(
            [(f"{tag}/text_summary", value.to_tensor_value)], global_step, walltime, value.nbytes
        )

    @_telling_once
    def add_tensor(
        self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Logs a tensor of any type and shape. No dashboard shows it; readers get it back."""
        from tfevents import plugin
        from tfevents.values.tensor import Tensor

        metadata = plugin.metadata(plugin.TENSOR)
        value = Tensor.from_data(tensor, tag=str(tag), metadata=metadata)
        self._emit([(tag, value.to_tensor_value)], global_step, walltime, value.nbytes)

    # -- shapes and spaces

    @_telling_once
    def add_mesh(
        self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
        config_dict: Mapping[str, Any] | None = None, global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Logs 3D meshes or point clouds, as one event.

        Args:
            tag: name of the series.
            vertices: [b, n, 3] coordinates.
            colors: [b, n, 3] of each vertex, 0 to 255.
            faces: [b, m, 3] indices of the vertices of triangles.
            config_dict: camera, material and lights of the three.js scene.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.

        Raises:
            TypeError, ValueError: the shapes or types do not fit; nothing is logged.
        """
        from tfevents.values.mesh import Mesh

        check_tag(tag)
        value = Mesh.from_data(
            vertices, colors=colors, faces=faces, config_dict=config_dict, tag=tag,
            dtypes="float32",
        )
        self._emit(value.parts(tag), global_step, walltime, value.nbytes)

    @_telling_once
    def add_embedding(
        self, mat: Any, metadata: Any = None, label_img: Any = None, global_step: Any = None,
        tag: str = "default", metadata_header: Any = None,
    ) -> None:
        """Writes vectors for the projector, to files beside the events.

        Args:
            mat: [n, d] vectors.
            metadata: n labels, or n rows of labels with `metadata_header`.
            label_img: [n, c, h, w] pictures of the vectors.
            global_step: an integer, 0 by default.
            tag: name of the embedding.
            metadata_header: names of the columns of `metadata`.

        Raises:
            TypeError, ValueError: the shapes or types do not fit; nothing is written.
            OSError: the files cannot be written.
        """
        from tfevents import projector

        if self.write_to_disk:
            projector.write_embedding(
                self._directory, mat, metadata=metadata, label_img=label_img,
                global_step=self._step(global_step), tag=tag,
                metadata_header=metadata_header,
            )

    # -- graphs

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Logs the graph of a model.

        Args:
            model: a torch module; or a GraphDef message of any origin.
            input_to_model: example inputs of a module, a tensor or a tuple.
            verbose: print the graph that torch found.
            use_strict_trace: passed to torch's tracing, where that is used.

        Raises:
            TypeError: `model` is none of these.
            ImportError: torch is not installed.
            RuntimeError: torch cannot follow the model.
        """
        from tfevents.graph import to_graph_def

        if getattr(getattr(model, "DESCRIPTOR", None), "name", None) == "GraphDef":
            self._get_file_writer().add_onnx_graph(to_graph_def(model))
            return
        from tfevents.integrations.torch import torch_graph

        self._get_file_writer().add_graph(
            torch_graph(model, input_to_model, verbose, use_strict_trace)
        )

    def add_onnx_graph(self, prototxt: Any = None, *, onnx_model_file: Any = None) -> None:
        """Logs the graph of an ONNX model, given as a file or a ModelProto.

        Raises:
            ImportError: onnx is not installed.
        """
        from tfevents.integrations.onnx import onnx_graph

        model = onnx_model_file if prototxt is None else prototxt
        self._get_file_writer().add_onnx_graph(onnx_graph(model))

    def add_openvino_graph(self, xmlname: PathLike) -> None:
        """Logs the graph of an OpenVINO model, given as its .xml file.

        Raises:
            OSError, ValueError: the file cannot be read, or is none.
        """
        from tfevents.integrations.openvino import openvino_graph

        self._get_file_writer().add_onnx_graph(openvino_graph(xmlname))

    def add_run_metadata(
        self, run_metadata: Any, tag: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Logs what a step cost, for the GRAPHS dashboard.

        Args:
            run_metadata: a RunMetadata message of any origin, or its bytes.
            tag: name of the step in the dashboard.
            global_step: an integer, 0 by default.
            walltime: seconds since the epoch, now by default.
        """
        from tfevents import proto

        check_tag(tag)
        data = proto.coerce(proto.RunMetadata, run_metadata).SerializeToString()
        tagged = proto.TaggedRunMetadata(tag=tag, run_metadata=data)
        step = checked_step(self._step(global_step), tag)
        event = proto.Event(tagged_run_metadata=tagged)
        self._get_file_writer().add_event(event, step, self._walltime(walltime))

    # -- what a run is

    @_telling_once
    def add_hparams(
        self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any] | None = None,
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | str | None = None,
        run_name: Any = None, global_step: Any = None, *, name: str | None = None,
    ) -> None:
        """Logs hyperparameters, and the metrics they led to.

        Args:
            hparam_dict: name to value: numbers, bool, str, or anything that has a text form.
            metric_dict: name to number. None, or a None in it, is left out (with a warning).
            hparam_domain_discrete: name to all values it may take. tensorboardX has `name` and
                `global_step` at this place and the next; a str and a number are taken as those.
            run_name: the sub-run this is logged to, by default the time of the call. "." logs
                to this run and file.
            global_step: step of the metrics, 0 by default.
            name: tensorboardX's spelling of `run_name`.

        Raises:
            TypeError, ValueError: a name or value does not fit; nothing is logged.
        """
        from tfevents.values.hparams import HParams

        if isinstance(hparam_domain_discrete, str):  # tensorboardX's order
            name, hparam_domain_discrete = hparam_domain_discrete, None
            if not isinstance(run_name, str):
                run_name, global_step = None, run_name if global_step is None else global_step
        run_name = run_name or name or str(time.time())
        session = HParams.from_data(hparam_dict, metric_dict, domain=hparam_domain_discrete)
        scalars = _scalar_fields("", session.metrics)
        global_step = checked_step(self._step(global_step), "hparams")
        writer = None if run_name == "." else self._sub_writers([run_name])[0]
        for part in session.parts():
            self._emit([part], global_step, None, session.nbytes, writer)
        for field in scalars:
            self._emit([field], global_step, None, 8, writer)

    @_telling_once
    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Arranges charts of the CUSTOM SCALARS dashboard.

        Args:
            layout: category to {chart: ["Multiline" or "Margin", [tags]]}. A margin chart has
                three tags: value, lower and upper bound.

        Raises:
            TypeError, ValueError: the layout is none.
        """
        from tfevents.values.custom_scalars import CustomScalars

        value = CustomScalars.from_data(layout)
        self._emit(
            [("custom_scalars__config__", value.to_tensor_value)], None, None, value.nbytes
        )

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Arranges one chart with a line for each tag."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Arranges one chart of a value between two bounds: three tags."""
        if len(tags) != 3:
            raise ValueError(f"a margin chart has three tags, got {len(tags)}: {tags!r:.80}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def _new_file(self, *arguments: Any, **options: Any) -> FileWriter:
        # Trackers replace the class in this module.
        return FileWriter(*arguments, **options)


def _scalar_fields(prefix: str, values: object) -> list[tuple[str, ToValue]]:
    """Checked scalars in the field form, one for each name."""
    from tfevents.values.scalar import Scalar

    if not isinstance(values, Mapping):
        about = f"tag {prefix.rstrip('/')!r}: " if prefix else ""
        raise TypeError(f"{about}a dict of names and numbers is needed; got {values!r:.80}")
    fields: list[tuple[str, ToValue]] = []
    for name, data in values.items():
        check_tag(name)
        tag = prefix + name
        fields.append((tag, Scalar.from_data(data, tag=tag).to_field_value))
    return fields


def _described_field(value: Any, display_name: str, description: str, tag: str) -> Any:
    """A `simple_value` with metadata, if there is something to say."""
    message = value.to_field_value(tag)
    if display_name or description:
        message.metadata.display_name = display_name
        message.metadata.summary_description = description
    return message

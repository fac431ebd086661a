"""A user's program, checked by `mypy --strict` and never run: the public API is typed.

`assert_type` makes the checker compare; a name that became `Any` fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import tfevents as tf
from tfevents.errors import BadChecksumError, RecordError, WriteError
from tfevents.values.histogram import Histogram
from tfevents.values.image import Image


def train(logdir: Path, pictures: npt.NDArray[np.uint8]) -> bool:
    writer = tf.summary.create_file_writer(str(logdir), filename_suffix=".train")
    with writer.as_default(step=1), tf.name_scope("model") as scope:
        assert_type(scope, str)
        assert_type(tf.summary.scalar("loss", np.float32(0.5), step=2), bool)
        tf.summary.image("input", pictures, max_outputs=2, description="what it sees")
        tf.summary.histogram("weights", [1.0, 2.0], buckets=10)
        tf.summary.audio("tone", np.zeros((1, 10, 1), np.float32), 8000)
        tf.summary.text("note", [["a", "b"]])
        tf.summary.experimental.set_step(3)
    with tf.summary.record_if(lambda: True):
        assert_type(tf.summary.should_record_summaries(), bool)
    noop: tf.summary.SummaryWriter = tf.summary.create_noop_writer()
    noop.close()
    tf.summary.flush(writer)
    return tf.summary.graph(tf.proto.GraphDef())


def plain(logdir: Path) -> str | None:
    with tf.RunWriter(logdir, purge_step=3, on_error="warn") as writer:
        writer.add_scalar("loss", 1, 2)
        writer.add_value("image", Image.from_data(np.zeros((1, 2, 2, 3))).to_field_value, 0)
        return assert_type(writer.path, "str | None")


def like_torch(logdir: Path) -> None:
    with tf.SummaryWriter(str(logdir), flush_secs=10) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalar("loss", 0.5, global_step=1, walltime=1.0)
        writer.add_histogram("weights", np.zeros(3), 1)
        assert_type(writer.get_logdir(), str)


def read_back(logdir: Path) -> dict[str, float]:
    log = assert_type(tf.read(logdir), tf.LogDir)
    last: dict[str, float] = {}
    for name, run in log.items():
        assert_type(run, tf.Run)
        for tag in run.tags()["scalars"]:
            series = run.scalars(tag, order="step", keep="last")
            assert_type(series.steps, "npt.NDArray[np.int64]")
            last[f"{name}/{tag}"] = float(series.values[-1])
    return last


def events(path: str) -> list[bytes]:
    for event in tf.read_events(path):
        step = assert_type(event.step, int)
        for value in event.summary.value:
            message = f"{step} {assert_type(value.tag, str)} {value.simple_value}"
            Histogram.from_value(value)
            if not message:
                raise BadChecksumError("reason", 0, path)
    try:
        with tf.RecordWriter(path) as out:
            out.write(b"data")
    except WriteError as error:
        assert_type(error.written, int)
    except RecordError as error:
        assert_type(error.offset, int)
    with tf.EventFileWriter("logs") as file:
        file.write([tf.proto.Event(step=1, summary=tf.proto.Summary())])
    records: Any = tf.RecordReader(path)
    return list(records)

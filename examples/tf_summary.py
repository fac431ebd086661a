"""The listings one meets in TensorFlow's guides to tf.summary, without TensorFlow.

    python examples/tf_summary.py --logdir logs/tf_summary
    tensorboard --logdir logs/tf_summary

Only the import line differs from code for TensorFlow. Write `import tensorflow as tf` there and
this file still runs, but for two things that TensorFlow does not have; each is marked where it
stands: integers of 2**63 and more, and a reader for the files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

import tfevents as tf

# TensorFlow has no tf.read: False says that the import line above was changed back.
HAS_TFEVENTS = hasattr(tf, "read")


def default_writer(logdir: str) -> None:
    """A writer is made the default for a block; the calls in it need no further address."""
    writer = tf.summary.create_file_writer(logdir)
    with writer.as_default():
        for step in range(100):
            tf.summary.scalar("distance", 0.9**step, step=step)
    writer.close()
    # Without a default writer a call does nothing, and says so.
    if tf.summary.scalar("distance", 0.0, step=100):
        raise RuntimeError("a summary was written without a writer")


def image_batches(logdir: str) -> None:
    """Images are batches [k, height, width, channels]; max_outputs says how many are kept."""
    rows, columns = np.mgrid[0:48, 0:64]
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(5):
            radius = np.hypot(rows - 24, columns - 32)
            waves = [np.cos(radius / width - step) / 2 + 0.5 for width in (1.5, 2.5, 4, 8)]
            batch = np.stack(waves)[..., np.newaxis]  # [4, 48, 64, 1], floats from 0 to 1
            tf.summary.image("rings", batch, step=step, max_outputs=4)
            colour = np.stack([rows * 5, columns * 4, 50 * step + 0 * rows], axis=-1)
            tf.summary.image("colours", colour[np.newaxis].astype(np.uint8), step=step)


def summarize(values: np.ndarray, step: int) -> None:
    """What a chart of one variable usually holds."""
    tf.summary.scalar("mean", np.mean(values), step=step)
    tf.summary.scalar("stddev", np.std(values), step=step)
    tf.summary.histogram("values", values, step=step)


def custom_loop(logdir: str) -> None:
    """Gradient descent by hand on a linear model; name scopes tell the variables apart."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=16)
    weights, bias = np.zeros(16), np.zeros(1)
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(60):
            inputs = rng.normal(size=(32, 16))
            error = inputs @ weights + bias - (inputs @ truth + 3)
            tf.summary.scalar("loss", np.mean(error**2), step=step)
            weights -= 0.05 * inputs.T @ error / 32
            bias -= 0.05 * error.mean()
            with tf.name_scope("dense"):
                with tf.name_scope("kernel"):  # tags dense/kernel/mean, dense/kernel/stddev, ...
                    summarize(weights, step)
                with tf.name_scope("bias"):
                    summarize(bias, step)


def every_tenth(logdir: str) -> None:
    """A condition, or a callable that is asked at each call, decides what is recorded."""
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(100):
            with tf.summary.record_if(step % 10 == 0):
                tf.summary.scalar("every_tenth", np.sqrt(step), step=step)

        clock = {"step": 0}
        with tf.summary.record_if(lambda: clock["step"] >= 90):
            for clock["step"] in range(100):
                tf.summary.scalar("last_ten", np.sqrt(clock["step"]), step=clock["step"])


def step_set_once(logdir: str) -> None:
    """set_step() gives every later call its step, so that helpers need not pass it on."""
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(0, 50, 5):
            tf.summary.experimental.set_step(step)
            tf.summary.scalar("sine", np.sin(step / 8))
            tf.summary.scalar("cosine", np.cos(step / 8))
            tf.summary.scalar("first", 1.0, step=0)  # an explicit step still wins
    tf.summary.experimental.set_step(None)


def shifting_normal(logdir: str) -> None:
    """The classic of the histogram dashboard: a normal whose mean moves and spread narrows."""
    rng = np.random.default_rng(2)
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(40):
            drawn = rng.normal(loc=step / 8, scale=1.5 - step / 40, size=1000)
            tf.summary.histogram("normal/shifting", drawn, step=step)
            mixed = np.concatenate([drawn, rng.normal(loc=-step / 8, size=1000)])
            tf.summary.histogram("normal/bimodal", mixed, step=step, buckets=50)


def texts(logdir: str) -> None:
    """Text is Markdown; an array of strings with two axes is shown as a table."""
    with tf.summary.create_file_writer(logdir).as_default():
        tf.summary.text("note", "Started with a **large** learning rate; see `schedule`.", step=0)
        tf.summary.text("note", "Restarted with a *small* one.", step=1)
        table = np.array([["optimizer", "learning rate"], ["momentum", "0.1"], ["Adam", "0.001"]])
        tf.summary.text("optimizers", table, step=0, description="Rows as they were tried.")


def chords(logdir: str) -> None:
    """Audio is float32 [k, samples, channels] from -1 to 1."""
    rate = 16_000
    time = np.arange(rate) / rate
    with tf.summary.create_file_writer(logdir).as_default():
        for step, ratios in enumerate([(4, 5, 6), (10, 12, 15)]):  # a major, a minor chord
            tones = [np.sin(2 * np.pi * 220 * ratio / ratios[0] * time) for ratio in ratios]
            left, right = tones[0] + tones[1], tones[1] + tones[2]
            clip = np.stack([left, right], axis=-1) / 4 * np.exp(-2 * time)[:, np.newaxis]
            clips = clip[np.newaxis].astype(np.float32)  # [1, 16000, 2]
            tf.summary.audio("chord", clips, sample_rate=rate, step=step)


def fibonacci(logdir: str) -> None:
    """A hundred Fibonacci numbers. Scalars are stored as float32, so large ones are rounded."""
    # Only tfevents takes Python integers of 2**63 and more; TensorFlow raises ValueError for
    # them, so there the series ends with the 92nd number, the last one below.
    terms = 101 if HAS_TFEVENTS else 93
    current, following = 0, 1
    with tf.summary.create_file_writer(logdir).as_default():
        for step in range(terms):
            tf.summary.scalar("fibonacci", current, step=step)
            current, following = following, current + following
        tf.summary.flush()  # leaving the block does the same


def any_tensor(logdir: str) -> None:
    """tf.summary.write() stores any tensor; a callable is called only if the result is recorded."""
    with tf.summary.create_file_writer(logdir).as_default():
        # Without metadata no dashboard claims it: data for programs that read the file.
        tf.summary.write("identity", np.eye(3, dtype=np.float32), step=0)
        with tf.summary.record_if(False):
            tf.summary.write("costly", lambda: 1 / 0, step=0)  # never computed


LISTINGS: tuple[Callable[[str], None], ...] = (
    default_writer,
    image_batches,
    custom_loop,
    every_tenth,
    step_set_once,
    shifting_normal,
    texts,
    chords,
    fibonacci,
    any_tensor,
)


def show(logdir: str) -> None:
    """Every tag with its number of points; scalars with their last step and value."""
    for name, run in sorted(tf.read(logdir).items()):
        print(name)
        for kind, tags in run.tags().items():
            for tag in tags:
                line = f"  {kind:11} {tag}"
                if kind == "scalars":
                    series = run.scalars(tag)
                    line = f"{line:36} {len(series.steps):4} points, "
                    line += f"step {series.steps[-1]}: {series.values[-1]:.7g}"
                print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the usual tf.summary listings.")
    parser.add_argument("--logdir", default="logs/tf_summary")
    logdir: str = parser.parse_args().logdir
    for listing in LISTINGS:
        listing(f"{logdir}/{listing.__name__}")
    if HAS_TFEVENTS:  # TensorFlow cannot read summaries back
        show(logdir)
    print(f"tensorboard --logdir {logdir}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None

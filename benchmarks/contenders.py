"""Who is measured: one function a contender opens its writer and names its calls.

Adding a contender is one function and one entry of WRITERS (and of IMPORTS). A scalar call is the
contender's own bound method wherever its first three arguments are (tag, value, step), so that
nothing of ours is inside the timed call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Call = Callable[[str, Any, int], Any]


class AbsentError(Exception):
    """The contender cannot be measured here; the text is the reason that the table shows."""


def found(module: str, name: str) -> Any:
    """The attribute of the module; AbsentError where one of them does not exist.

    Any other failure is left alone: a contender that breaks is not one that is missing.
    """
    try:
        holder = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise AbsentError("not installed") from error
    if not hasattr(holder, name):
        raise AbsentError("no such call")
    return getattr(holder, name)


@dataclass(frozen=True, slots=True)
class Session:
    """An open writer: its calls, each taking (tag, data, step); None where it has no such call."""

    scalar: Call
    close: Callable[[], Any]
    histogram: Call | None = None
    image: Call | None = None  # data is height x width x 3


def _torch_api(writer: Any) -> Session:
    def image(tag: str, data: Any, step: int) -> None:
        writer.add_image(tag, data, step, dataformats="HWC")

    return Session(writer.add_scalar, writer.close, writer.add_histogram, image)


def _tensorflow_api(summary: Any, logdir: str) -> Session:
    writer = summary.create_file_writer(logdir)
    default = writer.as_default()
    default.__enter__()

    def image(tag: str, data: Any, step: int) -> None:
        summary.image(tag, data[None], step)

    def close() -> None:
        default.__exit__(None, None, None)
        writer.close()

    return Session(summary.scalar, close, summary.histogram, image)


def our_summary_writer(logdir: str) -> Session:
    return _torch_api(found("tfevents", "SummaryWriter")(logdir))


def our_summary(logdir: str) -> Session:
    found("tfevents.summary", "create_file_writer")
    return _tensorflow_api(import_module("tfevents.summary"), logdir)


def our_run_writer(logdir: str) -> Session:
    writer = found("tfevents.run_writer", "RunWriter")(logdir)
    return Session(writer.add_scalar, writer.close)


def torch(logdir: str) -> Session:
    return _torch_api(found("torch.utils.tensorboard", "SummaryWriter")(logdir))


def tensorboardx(logdir: str) -> Session:
    return _torch_api(found("tensorboardX", "SummaryWriter")(logdir))


def tensorflow(logdir: str) -> Session:
    return _tensorflow_api(found("tensorflow", "summary"), logdir)


def vibetrack(logdir: str) -> Session:
    # Its data base is one for the user unless a project folder is named.
    return _torch_api(found("vibetrack", "SummaryWriter")(logdir, project_folder=logdir))


def tuffbird(logdir: str) -> Session:
    writer = found("tuffbird", "SummaryWriter")(logdir, board=False)
    return Session(writer.add_scalar, writer.close)


WRITERS: dict[str, Callable[[str], Session]] = {
    "tfevents.SummaryWriter": our_summary_writer,
    "tfevents.summary": our_summary,
    "tfevents.RunWriter": our_run_writer,
    "torch": torch,
    "tensorboardX": tensorboardx,
    "tf.summary": tensorflow,
    "vibetrack": vibetrack,
    "tuff-bird": tuffbird,
}

IMPORTS: dict[str, str] = {
    "tfevents": "import tfevents",
    "tfevents.SummaryWriter": "from tfevents import SummaryWriter",
    "tfevents.summary": "import tfevents.summary",
    "numpy": "import numpy",
    "torch": "import torch.utils.tensorboard",
    "tensorboardX": "import tensorboardX",
    "tf.summary": "import tensorflow",
    "vibetrack": "import vibetrack",
    "tuff-bird": "import tuffbird",
}

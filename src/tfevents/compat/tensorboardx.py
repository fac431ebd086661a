"""tensorboardX's names: `from tfevents.compat import tensorboardx as tensorboardX`.

`SummaryWriter` takes both its argument orders and torch's. `GlobalSummaryWriter` counts steps by
itself, across threads and processes.
"""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tfevents import arrays
from tfevents._closing import Closing
from tfevents.compat import torch_summary as summary
from tfevents.compat.torch_utils import (
    _prepare_video,
    convert_to_HWC,
    figure_to_image,
    make_grid,
)
from tfevents.event_file import RecordWriter
from tfevents.run_writer import RunWriter
from tfevents.summary_writer import FileWriter, SummaryWriter

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = [
    "EventFileWriter",
    "FileWriter",
    "GlobalSummaryWriter",
    "RecordWriter",
    "SummaryWriter",
    "_prepare_video",
    "convert_to_HWC",
    "figure_to_image",
    "make_grid",
    "make_np",
    "summary",
]


def make_np(x: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """An array of anything array-like; a single number has rank 0.

    Raises:
        NotImplementedError: `x` is nothing of that kind.
    """
    try:
        return arrays.to_numpy(x)
    except TypeError as error:
        raise NotImplementedError(
            f"Got {type(x)}, but expected numpy array or torch tensor."
        ) from error


class EventFileWriter:
    """Writes Event messages to a file, in a thread; TensorBoard has a class of this name, too.

    Args:
        logdir: directory of the file; made if missing.
        max_queue_size: large events that may be queued before a call waits.
        flush_secs: at most so many seconds pass between a write and its fsync.
        filename_suffix: appended to the name of the file.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(
        self,
        logdir: PathLike,
        max_queue_size: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self._writer = FileWriter(logdir, max_queue_size, flush_secs, filename_suffix)

    @property
    def run(self) -> RunWriter:
        """The run writer beneath."""
        return self._writer.run

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self._writer.get_logdir()

    def add_event(self, event: proto.Event | Any) -> None:
        """Adds an Event message of any origin, or its bytes, with the time and step it has.

        Raises:
            TypeError: no Event.
            OSError: the writer is closed, or an earlier event could not be written.
        """
        if self.run.closed:
            raise OSError("Writer is closed")
        self.run.add_event(event)

    def flush(self) -> None:
        """Returns when everything added before is visible to other processes."""
        self._writer.flush()

    def close(self) -> None:
        """Writes everything and closes the file; a second call does nothing."""
        self._writer.close()

    def reopen(self) -> None:
        """Opens a new file in the same directory; does nothing unless the writer is closed."""
        self._writer.reopen()


class GlobalSummaryWriter(Closing):
    """Logs without steps: it counts the calls of each tag, from 0.

    The counts are shared by all threads, and by all processes that get the writer from the one
    that made it. Each process has a file of its own in the run's directory.

    Args:
        logdir: directory of the run.
        comment, purge_step, max_queue, flush_secs, filename_suffix, write_to_disk: see
            `SummaryWriter`.
        log_dir: torch's spelling of `logdir`.
        coalesce_process: without effect, as in tensorboardX.
        options: further options of `SummaryWriter`.
    """

    _shared: ClassVar[GlobalSummaryWriter | None] = None

    def __init__(
        self,
        logdir: PathLike | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int | None = None,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        log_dir: PathLike | None = None,
        coalesce_process: bool = True,
        **options: Any,
    ) -> None:
        self.smw = SummaryWriter(
            logdir or log_dir, comment, purge_step, max_queue, flush_secs, filename_suffix,
            write_to_disk, **options,
        )
        self._lock = multiprocessing.Lock()
        self._manager: Any = multiprocessing.Manager()
        self._counts: Any = self._manager.dict()

    @staticmethod
    def getSummaryWriter() -> GlobalSummaryWriter:  # noqa: N802 - tensorboardX's name
        """The one writer of the program; made at the first call."""
        if GlobalSummaryWriter._shared is None:
            GlobalSummaryWriter._shared = GlobalSummaryWriter()
        return GlobalSummaryWriter._shared

    @property
    def file_writer(self) -> FileWriter:
        """The file writer of the run."""
        return self.smw._get_file_writer()

    def _next_step(self, kind: str, tag: str) -> int:
        with self._lock:
            step: int = self._counts.get((kind, tag), -1) + 1
            self._counts[kind, tag] = step
        return step

    def add_scalar(self, tag: str, scalar_value: Any, walltime: float | None = None) -> None:
        """Logs a number, see `SummaryWriter.add_scalar`."""
        number = arrays.scalar(scalar_value, tag=tag)  # what is refused shall not count
        self.smw.add_scalar(tag, number, self._next_step("scalar", tag), walltime)

    def add_image(
        self, tag: str, img_tensor: Any, walltime: float | None = None, dataformats: str = "CHW"
    ) -> None:
        """Logs an image, see `SummaryWriter.add_image`."""
        self.smw.add_image(tag, img_tensor, self._next_step("image", tag), walltime, dataformats)

    def add_text(
        self, tag: str, text_string: str, walltime: float | None = None
    ) -> None:
        """Logs text, see `SummaryWriter.add_text`."""
        self.smw.add_text(tag, text_string, self._next_step("text", tag), walltime)

    def flush(self) -> None:
        """Returns when everything logged before by this process is visible to others."""
        self.smw.flush()

    def close(self) -> None:
        """Writes everything and closes the file."""
        self.smw.close()

    def __getstate__(self) -> dict[str, Any]:
        # A manager stays where it was started; its dict and the lock find the way to it.
        return {**self.__dict__, "_manager": None}

"""The files of one run and of the runs below it: opened when needed, found again, closed.

`file_writer` and `all_writers` are there by the names that experiment trackers patch.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tfevents import _warn
from tfevents._closing import Closing, call_all
from tfevents._fork import ForkLock
from tfevents.async_writer import OnError
from tfevents.run_writer import check_tag, checked_number, checked_step, child_path
from tfevents.store import pinned
from tfevents.torch_file_writer import Defaults, FileWriter

if TYPE_CHECKING:
    from tfevents._types import EventWriter, PathLike, ToValue
    from tfevents.event_file import EventFileWriter

__all__ = ["RunFiles", "default_directory"]

_MAX_NAME = 255  # bytes; what file systems allow

_Values = Sequence["tuple[str, ToValue]"]


class RunFiles(Closing):
    """What `SummaryWriter` does with files; its arguments are described there."""

    def __init__(
        self,
        log_dir: PathLike,
        *,
        max_queue: int | None,
        flush_secs: float,
        filename_suffix: str,
        write_to_disk: bool,
        on_error: OnError,
        max_file_bytes: int | None,
        keep_images: int | None,
        purge_step: int | None = None,
    ) -> None:
        of_subclass = set(vars(self))  # set before this constructor was called
        self.log_dir = self.logdir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.write_to_disk = write_to_disk
        for option, count in (("max_file_bytes", max_file_bytes), ("keep_images", keep_images)):
            if count is not None and checked_number(count, option) < 1:
                raise ValueError(f"{option} must be positive, got {count}")
        # Sub-runs and files that are opened later lie where the first file does, whatever the
        # current directory is by then.
        self._directory = pinned(log_dir)
        self._on_error: OnError = on_error
        self._max_file_bytes, self._keep_images = max_file_bytes, keep_images
        self._lock = ForkLock()
        self._defaults = Defaults()
        self._told: _warn.Told = set()
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._own = {*vars(self), "_own"} - of_subclass
        self._get_file_writer()

    def get_logdir(self) -> str:
        """The directory of the run."""
        return os.fsdecode(self.log_dir)

    def use_metadata(
        self, *, global_step: Any = None, walltime: float | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Sets step and wall time for calls in the block that give none."""
        return self._defaults.use(global_step, walltime)

    def flush(self) -> None:
        """Returns when everything logged before is visible to other processes.

        Raises:
            OSError: the system refuses to take it.
        """
        call_all([writer.flush for writer in (self.all_writers or {}).values()])

    def close(self) -> None:
        """Writes everything and closes all files; logging again opens new ones."""
        with self._lock:
            writers, self.all_writers, self.file_writer = self.all_writers, None, None
        call_all(writer.close for writer in (writers or {}).values())

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process logs to a new file of the same directory.
        options = {
            "log_dir": self._directory, "max_queue": self.max_queue, "flush_secs": self.flush_secs,
            "filename_suffix": self.filename_suffix, "write_to_disk": self.write_to_disk,
            "on_error": self._on_error, "max_file_bytes": self._max_file_bytes,
            "keep_images": self._keep_images,
        }
        added = {name: value for name, value in vars(self).items() if name not in self._own}
        return _copy, (type(self), options, added)

    def _emit(
        self, values: _Values, step: Any, walltime: float | None, nbytes: int,
        writer: FileWriter | None = None,
    ) -> None:
        """Logs one event, past the message-based methods of the file writer if it may."""
        file = writer or self._get_file_writer()
        for tag, _ in values:
            check_tag(tag)
        number = checked_step(self._step(step), values[0][0] if values else "")
        now = self._walltime(walltime)
        if file.patched():
            from tfevents import proto

            file.add_summary(proto.Summary(value=[make(tag) for tag, make in values]), number, now)
        else:
            file.run.add_values(values, number, now, nbytes=nbytes)

    def _step(self, step: Any) -> Any:
        return self._defaults.global_step if step is None else step

    def _walltime(self, walltime: float | None) -> float | None:
        return self._defaults.walltime if walltime is None else walltime

    def _get_file_writer(self) -> FileWriter:
        """The file writer of the run, opened again after a close."""
        file = self.file_writer
        if file is not None:
            return file
        with self._lock:
            if self.file_writer is None:
                self.file_writer = self._open(self._directory, self.purge_step)
                self.all_writers = {self.get_logdir(): self.file_writer}
                self.purge_step = None
            return self.file_writer

    def _sub_writers(self, names: Sequence[str]) -> list[FileWriter]:
        """The file writers of runs below this one, made on first use: all of them, or none."""
        places = [_sub_run(self._directory, name) for name in names]
        with self._lock:
            self._get_file_writer()
            known = cast("dict[str, FileWriter]", self.all_writers)  # there is a main one now
            keys = [child_path(self.get_logdir(), name) for name in names]
            for key, place in zip(keys, places, strict=True):
                if key not in known:
                    known[key] = self._open(place, None)
            return [known[key] for key in keys]

    def _open(self, directory: PathLike, purge_step: int | None) -> FileWriter:
        from tfevents.store import NullStore

        store = None if self.write_to_disk else NullStore()
        return self._new_file(
            directory, self.max_queue, self.flush_secs, self.filename_suffix,
            purge_step=purge_step, on_error=self._on_error, store=store,
            wrap=self._wrap(),
        )

    def _new_file(self, *arguments: Any, **options: Any) -> FileWriter:
        return FileWriter(*arguments, **options)

    def _wrap(self) -> Callable[[EventWriter], EventWriter] | None:
        if self._max_file_bytes is None and self._keep_images is None:
            return None
        return partial(_in_several_files, self._max_file_bytes, self._keep_images)


def default_directory(comment: str) -> str:
    """`runs/<date>_<host><comment>`."""
    started = time.strftime("%b%d_%H-%M-%S")
    return child_path("runs", f"{started}_{socket.gethostname()}{comment}")


def _sub_run(log_dir: str, name: str) -> str:
    """The directory of a sub-run; a name that no file system takes is no fault of the disk."""
    directory = child_path(log_dir, name)
    if any(len(part.encode()) > _MAX_NAME for part in name.split("/")):
        raise ValueError(
            f"a run is a directory, whose name has at most {_MAX_NAME} bytes; got {name!r:.80}"
        )
    return directory


def _copy(cls: type[RunFiles], options: dict[str, Any], added: dict[str, Any]) -> RunFiles:
    """A copy, with what a subclass has added; its constructor may take other arguments."""
    writer = cls.__new__(cls)
    RunFiles.__init__(writer, **options)
    vars(writer).update(added)
    return writer


def _in_several_files(
    max_bytes: int | None, keep_images: int | None, file: EventWriter
) -> EventWriter:
    """Wraps a file so that it is continued in others beside it."""
    from tfevents.rotation import KeepLastImages, RotatingWriter

    first, writer = cast("EventFileWriter", file), file
    if max_bytes is not None:
        writer = RotatingWriter(writer, first.another, max_bytes)
    if keep_images is not None:
        writer = KeepLastImages(writer, first.another, keep_images)
    return writer

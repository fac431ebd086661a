"""One run: (tag, value, step) to an event. The only place that asks what time it is.

The scalar calls are written for speed, since a training loop waits for them. A call checks, looks
up the encoder of its tag and appends to a queue; all else is done by the thread that writes.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tfevents import _warn, arrays, event, steps
from tfevents._closing import Closing
from tfevents.async_writer import AsyncWriter, OnError
from tfevents.event_file import EventFileWriter
from tfevents.store import LocalStore, open_store
from tfevents.values.scalar import FLOAT32_LIMIT, Scalar

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import Encode, EventWriter, PathLike, Store, ToValue

__all__ = [
    "RunWriter", "check_tag", "checked_number", "checked_step", "checked_time", "child_path",
]

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
# Encoders are kept for so many tags; a program that invents tags for ever must not fill the memory.
_MAX_TAGS = 1 << 16

_clock = time.time


class RunWriter(Closing):
    """Writes the events of one run to one file; safe from many threads.

    The file is there, with its header, when the constructor returns.

    Args:
        logdir: directory of the run; made if missing. A path or a URL.
        filename_suffix: appended to the file name as it is.
        max_queue: large values (images, histograms, texts, …) that may be queued before a call
            waits. Scalars have a queue of their own size.
        flush_secs: at most so many seconds pass between a write and its fsync. Events are handed
            to the operating system about every second in any case.
        purge_step: tells readers that events of an earlier file at this step or later are void.
        on_error: "raise" or "warn", see `AsyncWriter`.
        store: where the directory lives; by default what the scheme of `logdir` says.
        wrap: makes the event writer that is really used from the file writer, e.g. to filter.

    A pickled or copied writer opens a new file in the same directory. Then `store` and `wrap` must
    pickle too.

    Attributes:
        logdir: the directory, as it was given.
        told: what the user was warned of, for `_warn.once`.

    Raises:
        OSError: the directory or file cannot be made.
        TypeError, ValueError: an argument is none of these; no file is made.
    """

    def __init__(
        self,
        logdir: PathLike,
        *,
        filename_suffix: str = "",
        max_queue: int | None = None,
        flush_secs: float = 120.0,
        purge_step: int | None = None,
        on_error: OnError = "raise",
        store: Store | None = None,
        wrap: Callable[[EventWriter], EventWriter] | None = None,
    ) -> None:
        self.logdir = os.fsdecode(logdir)
        self._options: dict[str, Any] = {
            "filename_suffix": filename_suffix, "max_queue": max_queue, "flush_secs": flush_secs,
            "on_error": on_error, "store": store, "wrap": wrap,
        }
        flush_secs = checked_number(flush_secs, "flush_secs")
        large = {}
        if max_queue is not None:
            most = max(checked_number(max_queue, "max_queue"), 1)
            large["max_large"] = int(min(most, sys.maxsize))
        first_step = None if purge_step is None else checked_step(purge_step, "purge_step")
        # Decided once: a file that is opened later, in a child or after a loss, must go to the same
        # place, whatever the current directory is by then.
        place, directory = open_store(logdir, store)
        if isinstance(place, LocalStore):
            directory = os.path.abspath(directory)
        self._directory = directory

        def open_writer(*, fresh: bool = True) -> EventWriter:
            file: EventWriter = EventFileWriter(
                directory, filename_suffix=filename_suffix, store=place, parents=fresh
            )
            return wrap(file) if wrap is not None else file

        self._events = AsyncWriter(open_writer, flush_secs=flush_secs, on_error=on_error, **large)
        self._events.closes_with(self)
        self._add = self._events.add
        self._simple: dict[str, Encode] = {}
        self._tensor: dict[str, Encode] = {}
        self.told: _warn.Told = set()
        if first_step is not None:
            self._purge(first_step)

    # -- scalars

    def add_scalar(
        self, tag: str, value: Any, step: Any = 0, wall_time: float | None = None
    ) -> None:
        """Adds a scalar in the field form, `simple_value`.

        Args:
            tag: any string, kept as it is.
            value: one number: anything with one element or `__float__`. Stored as float32; a
                finite number beyond float32 becomes infinite, with a warning.
            step: an integer of 64 bits; None is 0.
            wall_time: seconds since the epoch; by default now.

        Raises:
            TypeError, ValueError: tag, value, step or time is none. Nothing is written.
            WriteError: an earlier event could not be written.
            WriterClosedError: the writer is closed.
        """
        try:
            encode = self._simple[tag]
        except (KeyError, TypeError):
            encode = self._new_scalar(tag)
        if type(value) is not float or not -FLOAT32_LIMIT < value < FLOAT32_LIMIT:
            value = self._float32(value, tag)
        if type(step) is not int or not _INT64_MIN <= step <= _INT64_MAX:
            step = checked_step(step, tag)
        self._add(
            encode, _clock() if wall_time is None else checked_time(wall_time, tag), step, value
        )

    def add_tensor_scalar(
        self, tag: str, value: float, step: int, wall_time: float | None = None,
    ) -> None:
        """Adds a scalar in the tensor form of tf.summary, DT_FLOAT of rank 0.

        The caller has converted: `value` is a float that fits float32, an infinity or a NaN, and
        `step` an int of 64 bits.
        """
        try:
            encode = self._tensor[tag]
        except (KeyError, TypeError):
            encode = self._new_scalar(tag, tensor=True)
        self._add(encode, _clock() if wall_time is None else wall_time, step, value)

    def _new_scalar(self, tag: str, *, tensor: bool = False) -> Encode:
        check_tag(tag)
        known = self._tensor if tensor else self._simple
        if len(known) >= _MAX_TAGS:
            known.clear()
        encode = event.tensor_scalar_encoder(tag) if tensor else event.simple_scalar_encoder(tag)
        known[tag] = encode
        return encode

    def _float32(self, data: Any, tag: str) -> float:
        """The slow way to a scalar: other types, non-finite and very large numbers."""
        value = arrays.scalar(data, tag=tag)
        if abs(value) >= FLOAT32_LIMIT:
            with _warn.once(self.told):
                return Scalar.from_data(value, tag=tag).value
        return value

    # -- everything else

    def add_value(
        self, tag: str, to_value: ToValue, step: int, wall_time: float | None = None,
        *, nbytes: int = 0,
    ) -> None:
        """Adds an event of one value, which `to_value(tag)` will make in the writing thread.

        `nbytes` is the memory that `to_value` holds; the queue is bounded by it.
        """
        self.add_values([(tag, to_value)], step, wall_time, nbytes=nbytes)

    def add_values(
        self, values: Sequence[tuple[str, ToValue]], step: int, wall_time: float | None = None,
        *, nbytes: int = 0,
    ) -> None:
        """Adds one event of several values, see `add_value`."""
        for tag, _ in values:
            check_tag(tag)
        about = values[0][0] if values else ""
        self.add_encoded(
            event.encode_values, step, tuple(values), wall_time, nbytes=nbytes, about=about
        )

    def add_field(
        self, what: str, payload: bytes, step: int, wall_time: float | None = None
    ) -> None:
        """Adds an event whose field `what` ("graph_def", "session_log", …) is serialized."""
        size = len(payload)
        self.add_encoded(event.encoder(what), step, payload, wall_time, nbytes=size, about=what)

    def add_event(self, message: proto.Event | bytes) -> None:
        """Adds a whole Event, with the time and step it has; a message is copied now.

        Raises:
            TypeError, ValueError: no Event, or its time is NaN.
        """
        from tfevents import proto

        found = proto.coerce(proto.Event, message)
        checked_time(found.wall_time, found.WhichOneof("what") or "")
        data = found.SerializeToString()
        self._events.add_large(event.encode_message, 0.0, 0, data, len(data))

    def add_encoded(
        self, encode: Encode, step: int, payload: Any, wall_time: float | None,
        *, nbytes: int, about: str = "",
    ) -> None:
        """Adds an event by its encoder; `about` is the tag that errors name."""
        now = _clock() if wall_time is None else checked_time(wall_time, about)
        self._events.add_large(encode, now, checked_step(step, about), payload, nbytes)

    def _purge(self, step: int) -> None:
        from tfevents import proto

        now = _clock()
        version = proto.Event(wall_time=now, step=step, file_version=event.FILE_VERSION)
        self.add_event(version)
        start = proto.SessionLog(status=proto.SessionLog.START)
        self.add_event(proto.Event(wall_time=now, step=step, session_log=start))

    # -- life

    def flush(self) -> None:
        """Returns when everything added before is visible to other processes.

        Raises:
            WriteError: the system refuses; the events stay queued.
        """
        self._events.flush()

    def close(self) -> None:
        """Writes everything and closes the file; a second call does nothing."""
        self._events.close()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._events.closed

    @property
    def directory(self) -> str:
        """Where the files are, whatever the current directory is by now."""
        return self._directory

    @property
    def path(self) -> str | None:
        """The event file, where one is open in this process."""
        return getattr(self._events.writer, "path", None)

    def __reduce__(self) -> tuple[Any, ...]:
        for name in ("store", "wrap"):
            part = self._options[name]
            try:
                pickle.dumps(part)
            except Exception as error:
                raise TypeError(
                    f"a {type(self).__name__} cannot be pickled or copied with its {name} "
                    f"{part!r}: {error}; make the writer where it is used"
                ) from error
        return _reopen, (type(self), self._directory, self._options)


def _reopen(cls: type[RunWriter], logdir: str, options: dict[str, Any]) -> RunWriter:
    return cls(logdir, **options)


def checked_number(value: Any, name: str) -> float:
    """A number, as a float; infinite ones too.

    Raises:
        TypeError, ValueError: it is none; the text says `name`.
    """
    kind: type[Exception] = TypeError
    if hasattr(value, "__float__") and not isinstance(value, (str, bytes)):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            kind = ValueError
        except TypeError:
            pass
        else:
            if not math.isnan(number):
                return number
            kind = ValueError
    raise kind(f"{name} must be a number, got {type(value).__name__}: {value!r:.80}")


def checked_step(step: Any, tag: str) -> int:
    """A step as `steps.lenient` takes it; its errors, with the tag."""
    return steps.named(steps.lenient, step, tag)


def checked_time(wall_time: Any, tag: str) -> float:
    """Seconds since the epoch, as a float; its errors name the tag.

    NaN is refused: behind one, TensorBoard's data server reads nothing more of a file.
    """
    if type(wall_time) is float and not math.isnan(wall_time):
        return wall_time
    return checked_number(wall_time, f"tag {tag!r}: the wall time")


def check_tag(tag: object) -> None:
    """Refuses what cannot be a tag.

    Raises:
        TypeError: not a str.
        ValueError: a str that UTF-8 cannot carry (lone surrogates).
    """
    if not isinstance(tag, str):
        raise TypeError(f"a tag must be a str, got {type(tag).__name__}: {tag!r:.80}")
    try:
        tag.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a tag must be valid Unicode, got {tag!r:.80}: {error.reason}") from None


_DRIVE = re.compile(r"[A-Za-z]:([/\\]|$)" if os.name != "nt" else "[A-Za-z]:")


def child_path(logdir: str, name: str) -> str:
    """The directory of a sub-run, which lies inside `logdir` whatever the name is.

    Slashes in the name make directories; "." and "" are `logdir` itself.

    Raises:
        TypeError: the name is no str.
        ValueError: it would lead elsewhere: absolute, with a drive, with a part "..", or with NUL.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a run must be a str, got {type(name).__name__}: {name!r:.80}")
    parts = re.split(r"[/\\]", name)
    outside = any(part.rstrip(" ") == ".." for part in parts) or _DRIVE.match(name)
    if outside or "\0" in name or name.startswith(("/", "\\")):
        raise ValueError(f"the name of a run must stay inside its log directory, got {name!r}")
    kept = [part for part in name.split("/") if part not in ("", ".")]
    if "://" in logdir:
        return "/".join([logdir.rstrip("/"), *kept])
    return os.path.join(logdir, *kept)

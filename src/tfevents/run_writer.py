"""One run: (tag, value, step) to an event. The only place that asks what time it is.

The scalar calls are written for speed, since a training loop waits for them. A call checks, looks
up the encoder of its tag and appends to a queue; all else is done by the thread that writes.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tfevents import arrays, event
from tfevents.async_writer import AsyncWriter, OnError
from tfevents.event_file import EventFileWriter

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from tfevents import proto
    from tfevents._types import Encode, EventWriter, PathLike, Store, ToValue

__all__ = ["RunWriter", "check_tag"]

_FLOAT32_MAX = 3.4028234663852886e38
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
# Encoders are kept for so many tags; a program that invents tags for ever must not fill the memory.
_MAX_TAGS = 1 << 16

_clock = time.time


class RunWriter:
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
        wrap: makes the event writer that is really used from the file writer, e.g. to filter.

    Raises:
        OSError: the directory or file cannot be made.
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

        def open_writer(*, fresh: bool = True) -> EventWriter:
            file: EventWriter = EventFileWriter(
                logdir, filename_suffix=filename_suffix, store=store, parents=fresh
            )
            return wrap(file) if wrap is not None else file

        large = {} if max_queue is None else {"max_large": max(int(max_queue), 1)}
        self._events = AsyncWriter(
            open_writer, flush_secs=flush_secs, on_error=on_error, **large
        )
        self._events.closes_with(self)
        self._add = self._events.add
        self._simple: dict[str, Encode] = {}
        self._tensor: dict[str, Encode] = {}
        self._warned: set[tuple[str, str]] = set()
        if purge_step is not None:
            self._purge(purge_step)

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
            TypeError, ValueError: tag, value or step is none. Nothing is written.
            WriteError: an earlier event could not be written.
            WriterClosedError: the writer is closed.
        """
        try:
            encode = self._simple[tag]
        except (KeyError, TypeError):
            encode = self._new_scalar(tag)
        if type(value) is not float or not -_FLOAT32_MAX <= value <= _FLOAT32_MAX:
            value = self._float32(value, tag)
        if type(step) is not int or not _INT64_MIN <= step <= _INT64_MAX:
            step = arrays.lenient_step(step)
        self._add(encode, _clock() if wall_time is None else float(wall_time), step, value)

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
        make = event.tensor_scalar_encoder if tensor else event.simple_scalar_encoder
        known[tag] = make(tag)
        return known[tag]

    def _float32(self, data: Any, tag: str) -> float:
        """The slow way to a scalar: other types, non-finite and very large numbers."""
        value = arrays.scalar(data, tag=tag)
        if abs(value) > _FLOAT32_MAX and value - value == 0:  # finite
            self.warn(
                tag, "overflow",
                f"the value {value!r} of tag {tag!r} is beyond float32 and is stored as infinite",
            )
            value = float("inf") if value > 0 else float("-inf")
        return value

    # -- everything else

    def add_value(
        self, tag: str, to_value: ToValue, step: int, wall_time: float | None = None,
        *, nbytes: int = 0,
    ) -> None:
        """Adds an event of one value, which `to_value(tag)` will make in the writing thread.

        Args:
            nbytes: memory that `to_value` holds; the queue is bounded by it.
        """
        self.add_values([(tag, to_value)], step, wall_time, nbytes=nbytes)

    def add_values(
        self, values: Sequence[tuple[str, ToValue]], step: int, wall_time: float | None = None,
        *, nbytes: int = 0,
    ) -> None:
        """Adds one event of several values, see `add_value`."""
        for tag, _ in values:
            check_tag(tag)
        self.add_encoded(event.encode_values, step, values, wall_time, nbytes=max(nbytes, 1))

    def add_field(
        self, what: str, payload: bytes, step: int, wall_time: float | None = None
    ) -> None:
        """Adds an event whose field `what` ("graph_def", "session_log", …) is serialized."""
        self.add_encoded(event.encoder(what), step, payload, wall_time, nbytes=len(payload))

    def add_event(self, message: proto.Event | bytes) -> None:
        """Adds a whole Event, with the time and step it has; a message is copied now."""
        from tfevents import proto

        data = proto.coerce(proto.Event, message).SerializeToString()
        self.add_encoded(event.encode_message, 0, data, 0.0, nbytes=len(data))

    def add_encoded(
        self, encode: Encode, step: int, payload: Any, wall_time: float | None, *, nbytes: int
    ) -> None:
        """Adds an event by its encoder."""
        now = _clock() if wall_time is None else float(wall_time)
        self._events.add_large(encode, now, step, payload, nbytes)

    def _purge(self, step: int) -> None:
        from tfevents import proto

        step = arrays.lenient_step(step)
        now = _clock()
        version = proto.Event(wall_time=now, step=step, file_version=event.FILE_VERSION)
        self.add_event(version)
        start = proto.SessionLog(status=proto.SessionLog.START)
        self.add_event(proto.Event(wall_time=now, step=step, session_log=start))

    # -- life

    def warn(self, tag: str, reason: str, message: str, *, stacklevel: int = 4) -> None:
        """Warns the caller, once per tag and reason."""
        if (tag, reason) not in self._warned:
            self._warned.add((tag, reason))
            warnings.warn(message, UserWarning, stacklevel=stacklevel)

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
    def path(self) -> str | None:
        """The event file, where one is open in this process."""
        return getattr(self._events.writer, "path", None)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process is a new file in the same directory.
        return _reopen, (type(self), self.logdir, self._options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _reopen(cls: type[RunWriter], logdir: str, options: dict[str, Any]) -> RunWriter:
    return cls(logdir, **options)


def check_tag(tag: object) -> None:
    """Refuses what cannot be a tag.

    Raises:
        TypeError: not a str.
        ValueError: a str that UTF-8 cannot carry (lone surrogates).
    """
    if not isinstance(tag, str):
        raise TypeError(f"a tag must be a str, got {type(tag).__name__}: {tag!r:.80}")
    tag.encode()  # UnicodeEncodeError is a ValueError

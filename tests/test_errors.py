from __future__ import annotations

import errno
import pickle

import pytest

from tfevents import errors


@pytest.mark.parametrize(
    ("name", "bases"),
    [
        ("RecordError", (ValueError,)), ("TruncatedRecordError", (errors.RecordError,)),
        ("BadLengthError", (errors.RecordError,)), ("BadDataError", (errors.RecordError,)),
        ("BadChecksumError", (errors.BadDataError,)), ("BadMessageError", (errors.BadDataError,)),
        ("WriteError", (OSError,)), ("WriterClosedError", (RuntimeError,)),
    ],
)
def test_the_tree_of_the_docstring(name: str, bases: tuple[type, ...]) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, (errors.TfEventsError, *bases))
    assert all(issubclass(kind, base) for base in bases)
    assert name in str(errors.__doc__)


def test_all_names_every_error() -> None:
    made = {name for name, each in vars(errors).items() if isinstance(each, type)}
    assert set(errors.__all__) == made


def test_record_errors_carry_reason_offset_and_path() -> None:
    error = errors.BadChecksumError("bad", 12)
    assert str(error) == "bad (record at byte 12)"
    placed = error.at("/logs/x")
    assert type(placed) is errors.BadChecksumError
    assert str(placed) == "/logs/x: bad (record at byte 12)"
    assert (placed.reason, placed.offset, placed.path) == ("bad", 12, "/logs/x")


@pytest.mark.parametrize(
    "error",
    [errors.BadLengthError("bad", 3, "/x"), errors.WriteError(errno.ENOSPC, "full", "/x"),
     errors.WriterClosedError("closed")],
)
def test_errors_pickle(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (OSError(errno.ENOSPC, "full", "own"), (errno.ENOSPC, "full", "/file")),
        (OSError("no number"), (None, "no number", "/file")),
        (LookupError("503"), (errno.EIO, "LookupError: 503", "/file")),
    ],
)
def test_write_errors_of_any_class(error: Exception, shown: tuple[int | None, str, str]) -> None:
    told = errors.WriteError.of(error, "/file")
    assert (told.errno, told.strerror, told.filename) == shown
    assert told.written == 0


def test_write_errors_name_the_file_that_the_error_names() -> None:
    assert errors.WriteError.of(OSError(errno.EIO, "down", "own")).filename == "own"


def test_write_errors_are_os_errors_with_number_and_file() -> None:
    error = errors.WriteError(errno.ENOSPC, "full", "/x")
    assert (error.errno, error.strerror, error.filename) == (errno.ENOSPC, "full", "/x")
    assert error.written == 0

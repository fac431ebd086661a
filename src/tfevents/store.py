"""Where event files live: a local directory tree, memory, or whatever fsspec reaches.

A store is three functions (`_types.Store`). `open_store` picks one by the scheme of a path; a
scheme's package is imported on first use.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfevents.errors import WriteError

if TYPE_CHECKING:
    from tfevents._types import PathLike, Sink, Source, Store

__all__ = ["LocalStore", "MemoryStore", "NullStore", "open_store", "pinned", "redirect"]

# Two letters at least, so that C:\logs and C:/logs are local paths.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(/?)")
_LOCALHOST = "localhost/"


def open_store(path: PathLike, store: Store | None = None) -> tuple[Store, str]:
    """The store that serves `path`, and the path inside it.

    Args:
        path: a path or URL.
        store: the store, if it is not the scheme of `path` that says which.

    Raises:
        TypeError: `path` is no path, or `store` no store.
        ValueError, ImportError: no store serves the scheme of `path`; the text names the extra.
            Also for "gs:/bucket", which is what pathlib makes of a URL.
    """
    name = os.fsdecode(path)
    if "\0" in name:
        raise ValueError(f"a path cannot contain a NUL character: {name!r}")
    if store is not None:
        if not callable(getattr(store, "create", None)):
            raise TypeError(f"a store has create, open and list; got {type(store).__name__}")
        return store, name
    if _redirects:
        return _redirects[-1], name
    match = _SCHEME.match(name)
    if match is None:
        return _LOCAL, name
    scheme, slash = match.groups()
    if not slash:
        raise ValueError(
            f"{name!r} is neither a URL ({scheme}://…) nor a usual local path; a path object "
            "swallows a slash of a URL, so pass a str, or write ./ before a local path"
        )
    if scheme.lower() == "file":
        return _LOCAL, _local_path(name[match.end() :])
    from tfevents._fsspec_store import FsspecStore

    return FsspecStore(name), name


def pinned(path: PathLike) -> str:
    """A local path made independent of the current directory; of other stores as it is."""
    name = os.fsdecode(path)
    if "://" in name:
        return name
    place, name = open_store(name)
    return os.path.abspath(name) if isinstance(place, LocalStore) else name


def _local_path(rest: str) -> str:
    """What follows file:// as a path; as in TensorFlow and fsspec nothing is unquoted."""
    if rest.startswith(_LOCALHOST):
        rest = rest[len(_LOCALHOST) - 1 :]
    return rest[1:] if re.match("/[A-Za-z]:", rest) else rest  # file:///C:/logs


class LocalStore:
    """Files of the local file system."""

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Makes a file that did not exist, and its directories."""
        if parents:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        return LocalSink(path)

    def open(self, path: str) -> Source:
        """Opens a file for reading."""
        return LocalSource(path)

    def remove(self, path: str) -> None:
        """Removes a file, if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def list(self, path: str) -> Iterator[str]:
        """All files below a directory, or the file itself; links to directories are followed."""
        if os.path.isfile(path):
            yield path
            return
        yield from _walk(path, frozenset())


def _walk(directory: str, above: frozenset[tuple[int, int]]) -> Iterator[str]:
    """Files below a directory, except through links back to one of those `above`."""
    try:
        status = os.stat(directory)
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:  # removed meanwhile, or not ours to read
        return
    identity = (status.st_dev, status.st_ino)
    if identity in above:
        return
    for entry in entries:
        if entry.is_dir():
            yield from _walk(entry.path, above | {identity})
        else:
            yield entry.path


class LocalSink:
    """A new local file. Unbuffered: what `write` took, the operating system has."""

    def __init__(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self._fd = -1
        self._fd = os.open(path, flags, 0o666)
        self._path = path
        self._size = 0
        self._torn = False
        self._counts_links = os.fstat(self._fd).st_nlink > 0  # some network file systems do not

    def write(self, data: bytes) -> None:
        """Appends all of `data`; if that fails, the file is as it was."""
        self._check_linked()
        if self._torn:
            self._cut_back()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except BaseException as error:
            self._torn = True
            with contextlib.suppress(OSError):
                self._cut_back()
            if isinstance(error, OSError):
                raise WriteError.of(error, self._path) from error
            raise
        self._size += len(data)

    def flush(self) -> None:
        """Waits until the disk has the file."""
        self._check_linked()
        try:
            os.fsync(self._fd)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOTSUP):  # a pipe or a special file
                return
            raise WriteError.of(error, self._path) from error

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        # A forked child drops its parent's sink; nothing is buffered, so this writes nothing.
        # When Python ends, what this module has imported may be gone: contextlib, and even os.
        try:  # noqa: SIM105
            self.close()
        except (OSError, AttributeError):
            pass

    def _check_linked(self) -> None:
        # A removed file takes bytes for ever and keeps none of them; only its link count tells.
        if self._counts_links and os.fstat(self._fd).st_nlink == 0:
            raise WriteError(errno.ENOENT, "the event file was removed while open", self._path)

    def _cut_back(self) -> None:
        """Removes what a failed write left behind, so that nothing whole follows a torn record."""
        try:
            os.ftruncate(self._fd, self._size)
            os.lseek(self._fd, self._size, os.SEEK_SET)
        except OSError as error:
            raise WriteError.of(error, self._path) from error
        self._torn = False


class LocalSource:
    """A local file that may grow while it is read."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()

    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._file.fileno()).st_size

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`; fewer only at the end."""
        self._file.seek(offset)
        return self._file.read(count)

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        self._file.close()


class MemoryStore:
    """Files in memory, for tests. `files` maps each path to its bytes."""

    def __init__(self) -> None:
        self.files: dict[str, bytearray] = {}
        self._lock = threading.Lock()

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Makes a file that did not exist."""
        with self._lock:
            if path in self.files:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            content = self.files[path] = bytearray()
        return _MemoryFile(content)

    def open(self, path: str) -> Source:
        """Opens a file for reading."""
        try:
            return _MemoryFile(self.files[path])
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None

    def remove(self, path: str) -> None:
        """Removes a file, if it is still there."""
        self.files.pop(path, None)

    def list(self, path: str) -> Iterator[str]:
        """All files below a directory, or the file itself."""
        prefix = path.rstrip("/") + "/"
        for name in sorted(self.files):
            if name == path or name.startswith(prefix):
                yield name


class NullStore:
    """A store that keeps nothing, for writers that shall not write."""

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """A file that forgets what it takes."""
        return _NullSink()

    def open(self, path: str) -> Source:
        """Nothing can be opened."""
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    def remove(self, path: str) -> None:
        """There is nothing to remove."""

    def list(self, path: str) -> Iterator[str]:
        """There are no files."""
        return iter(())


class _NullSink:
    def write(self, data: bytes) -> None:
        """Forgets the data."""

    def flush(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to release."""


class _MemoryFile:
    """Both ends of a file in memory."""

    def __init__(self, content: bytearray) -> None:
        self._content = content

    def write(self, data: bytes) -> None:
        self._content += data

    def flush(self) -> None:
        """Memory is as durable as it gets."""

    def size(self) -> int:
        return len(self._content)

    def read(self, offset: int, count: int) -> bytes:
        return bytes(self._content[offset : offset + count])

    def close(self) -> None:
        """Nothing to release."""


_LOCAL = LocalStore()
_redirects: list[Store] = []


@contextlib.contextmanager
def redirect(store: Store) -> Iterator[None]:
    """Sends every path that is opened meanwhile, in any thread, to one store."""
    _redirects.append(store)
    try:
        yield
    finally:
        _redirects.remove(store)

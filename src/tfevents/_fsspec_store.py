"""Event files wherever fsspec reaches: buckets, HDFS, SFTP, its memory file system.

fsspec and the package of a scheme are imported when a URL with that scheme is opened.

A file system that appends gets every batch at once. An object store cannot append: there the file
is kept in a local temporary file and uploaded whole at each flush and at the end, so that other
processes see what `flush` covered. Nothing can be cut back after a failed append, so a torn record
may stand before a retried one there; readers report it.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from tfevents._types import Sink, Source
from tfevents.errors import WriteError

__all__ = ["FsspecStore"]

# File systems with directories, whose files can grow in place.
_APPENDING = frozenset({"hdfs", "memory", "sftp", "smb", "ssh", "webhdfs"})


class FsspecStore:
    """The file system of a URL; paths are URLs of it.

    Raises:
        ImportError: fsspec, or what it needs for this scheme, is not installed.
        ValueError: fsspec does not know the scheme.
    """

    def __init__(self, url: str) -> None:
        scheme = url.partition("://")[0]
        try:
            core: Any = importlib.import_module("fsspec.core")
            self._fs: Any = core.url_to_fs(url)[0]
        except ImportError as error:
            raise ImportError(
                f"{scheme}:// needs fsspec and its package for that scheme ({error}): "
                f"pip install 'tfevents[fsspec]'; opening {url!r}"
            ) from error
        except ValueError as error:
            raise ValueError(f"cannot open {url!r}, scheme {scheme}://: {error}") from error
        self._appends = scheme in _APPENDING

    def create(self, path: str, *, parents: bool = True) -> Sink:
        """Makes a file that did not exist, and its directories."""
        above = path.rpartition("/")[0]
        if parents:
            self._fs.makedirs(above, exist_ok=True)
        elif self._appends and not self._fs.isdir(above):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), above)
        if self._fs.exists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        sink = _AppendingSink if self._appends else _UploadingSink
        return sink(self._fs, path)

    def open(self, path: str) -> Source:
        """Opens a file for reading."""
        if not self._fs.isfile(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return _RemoteSource(self._fs, path)

    def remove(self, path: str) -> None:
        """Removes a file, if it is still there."""
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm(path)

    def list(self, path: str) -> Iterator[str]:
        """All files below a directory, or the file itself, as URLs that begin with `path`."""
        self._fs.invalidate_cache()
        root: str = self._fs._strip_protocol(path)
        for name in sorted(self._fs.find(path)):
            yield path.rstrip("/") + name[len(root.rstrip("/")) :]


class _AppendingSink:
    """Opens and closes the file for every batch, which is what makes it visible."""

    buffered = False

    def __init__(self, fs: Any, path: str) -> None:
        self._fs, self._path = fs, path
        self._append("wb", b"")

    def write(self, data: bytes) -> None:
        """Appends `data`; a file that was removed is not made again."""
        if not self._fs.exists(self._path):
            raise WriteError(errno.ENOENT, "the event file was removed while open", self._path)
        if data:
            self._append("ab", data)

    def _append(self, mode: str, data: bytes) -> None:
        try:
            with self._fs.open(self._path, mode) as file:
                file.write(data)
        except Exception as error:
            raise WriteError.of(error, self._path) from error

    def flush(self) -> None:
        """Closing the file has done what can be done."""

    def close(self) -> None:
        """Nothing is open between two writes."""


class _UploadingSink:
    """Collects in a temporary file, which a forked child drops without a trace."""

    buffered = True

    def __init__(self, fs: Any, path: str) -> None:
        self._fs, self._path = fs, path
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._size = self._uploaded = 0

    def write(self, data: bytes) -> None:
        """Collects all of `data`, or nothing."""
        try:
            self._file.seek(self._size)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise WriteError.of(error, self._path) from error
        self._size += len(data)

    def flush(self) -> None:
        """Uploads the whole file, if it has grown."""
        if self._uploaded == self._size:
            return
        self._file.truncate(self._size)
        self._file.seek(0)
        try:
            with self._fs.open(self._path, "wb") as remote:
                shutil.copyfileobj(self._file, remote, 1 << 20)
        except Exception as error:
            raise WriteError.of(error, self._path) from error
        self._uploaded = self._size

    def close(self) -> None:
        """Uploads what is left; a second call does nothing."""
        if not self._file.closed:
            try:
                self.flush()
            finally:
                self._file.close()


class _RemoteSource:
    """Reads by ranges; asks for the size each time, since the file may grow."""

    def __init__(self, fs: Any, path: str) -> None:
        self._fs, self._path = fs, path

    def size(self) -> int:
        """Bytes in the file now."""
        self._fs.invalidate_cache(self._path.rpartition("/")[0])
        return int(self._fs.size(self._path))

    def read(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`; fewer only at the end."""
        data: bytes = self._fs.cat_file(self._path, start=offset, end=offset + count)
        return data

    def close(self) -> None:
        """Nothing is open between two reads."""

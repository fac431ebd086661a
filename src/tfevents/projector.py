"""The embedding projector's files, beside the events of a log directory.

    <log_dir>/projector_config.pbtxt          which embeddings there are
    <log_dir>/<step>/<tag>/tensors.tsv        a point a line
    <log_dir>/<step>/<tag>/metadata.tsv       a label a line, or columns below a header
    <log_dir>/<step>/<tag>/sprite.png         thumbnails, k rows of k

Nothing goes through the event file. An embedding appears whole or not at all: its files are made
in a directory with a temporary name, which is renamed when all are complete; only then does the
config, itself replaced by renaming, point to them. Entries of earlier processes are kept.

What is in the files, `values.embedding` says.

Format: tensorboard/plugins/projector/projector_config.proto, in protobuf's text format.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shutil
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tfevents import _lazy, steps
from tfevents._fork import ForkLock
from tfevents.store import LocalStore, MemoryStore, open_store
from tfevents.values.embedding import (
    MAX_SPRITE_SIDE,
    Sprite,
    checked_points,
    metadata_lines,
    tensor_lines,
)

if TYPE_CHECKING:
    from tfevents import proto
    from tfevents._types import PathLike

__all__ = ["CONFIG_NAME", "MAX_SPRITE_SIDE", "visualize_embeddings", "write_embedding"]

_Files: TypeAlias = "dict[str, Iterable[bytes]]"

CONFIG_NAME = "projector_config.pbtxt"
_TENSORS, _METADATA, _SPRITE = "tensors.tsv", "metadata.tsv", "sprite.png"
_MESSAGES = ("EmbeddingInfo", "ProjectorConfig", "SpriteMetadata")

_MAX_NAME = 200  # bytes of a directory name; file systems allow 255


# The messages of tensorboard.plugins.projector, under its names.
__getattr__, __dir__ = _lazy.exports(__name__, dict.fromkeys(_MESSAGES, "tfevents.proto"))


def write_embedding(
    log_dir: PathLike,
    mat: object,
    *,
    metadata: Iterable[object] | None = None,
    label_img: object = None,
    global_step: object = None,
    tag: str = "default",
    metadata_header: Sequence[object] | None = None,
) -> str:
    """Writes one embedding, replacing that of the same tag and step, with a warning.

    Args:
        log_dir: a local directory; made if it does not exist.
        mat: [n, d] real numbers, n and d at least 1, written as float32. A million points take
            no more memory than their array.
        metadata: n labels; with `metadata_header`, n rows of as many values as the header has.
            Tabs and line breaks become spaces, a blank line becomes "(empty)".
        label_img: [n, c, h, w] thumbnails, c 1, 3 or 4 (2: gray and alpha); uint8 is kept, other
            integers are levels 0 to 255, floats are multiplied by 255, all clipped. They are
            shrunk, with a warning, if their sprite would exceed 8192 pixels a side.
        global_step: None is 0.
        tag: names the embedding together with the step: `<tag>:<step, 5 digits>`.
        metadata_header: names of the columns. A single name is not written: the page would take
            it for a label.

    Returns:
        The directory that holds the files.

    Raises:
        TypeError: no real numbers, a tag that is no str, or metadata that are no list.
        ValueError: a wrong rank or length, rows that do not fit the header, or a log directory
            that is not local; nothing is written then.
        OSError: the system refused; what was begun is removed.
    """
    step = steps.named(steps.lenient, global_step, tag)
    points = checked_points(mat, tag)
    files: _Files = {_TENSORS: tensor_lines(points, tag)}
    if metadata is not None:
        files[_METADATA] = metadata_lines(metadata, metadata_header, len(points), tag)
    elif metadata_header:
        raise ValueError(f"embedding {tag!r}: metadata_header is given, but no metadata")
    sprite = None
    if label_img is not None:
        sprite = Sprite.from_data(label_img, len(points), tag)
        files[_SPRITE] = sprite.png()
    place = f"{str(step).zfill(5)}/{_directory_name(tag)}"
    target = _target(log_dir)
    with _lock:
        target.publish(place, files, _entry(f"{tag}:{str(step).zfill(5)}", place, files, sprite))
    return os.path.join(target.root, *place.split("/"))


def visualize_embeddings(logdir: Any, config: Any) -> None:
    """Stores a projector config, replacing the one there is, as tensorboard.plugins.projector does.

    Args:
        logdir: a local directory, or a writer that has `get_logdir()`.
        config: a ProjectorConfig, ours or TensorBoard's; its paths are relative to `logdir`.

    Raises:
        ValueError: `logdir` is None, or not local.
        TypeError: `config` is no ProjectorConfig.
    """
    from tfevents import proto

    logdir = getattr(logdir, "get_logdir", lambda: logdir)()
    if logdir is None:
        raise ValueError("Expected logdir to be a path, but got None")
    message = proto.coerce("ProjectorConfig", config)
    with _lock:
        _target(logdir).write_config(message)


# Names and entries


def _directory_name(tag: str) -> str:
    """A single file name, whatever the tag is: no separator, no "..", not too long."""
    if not tag.strip("."):
        return "%2e" * len(tag) or "%"
    name = tag.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")
    name = re.sub(r"[\x00-\x1f\x7f]", lambda found: f"%{ord(found[0]):02x}", name)
    data = name.encode("utf-8", "surrogatepass")
    if len(data) > _MAX_NAME:
        digest = hashlib.sha256(data).hexdigest()[:16]
        name = data[: _MAX_NAME - 17].decode("utf-8", "ignore") + "-" + digest
    return name


def _entry(name: str, place: str, files: _Files, sprite: Sprite | None) -> proto.EmbeddingInfo:
    from tfevents import proto

    entry = proto.EmbeddingInfo(tensor_name=name, tensor_path=f"{place}/{_TENSORS}")
    if _METADATA in files:
        entry.metadata_path = f"{place}/{_METADATA}"
    if sprite is not None:
        entry.sprite.image_path = f"{place}/{_SPRITE}"
        entry.sprite.single_image_dim.extend([sprite.width, sprite.height])
    return entry


def _parse_config(text: str) -> proto.ProjectorConfig:
    from google.protobuf import text_format

    from tfevents import proto

    config = proto.ProjectorConfig()
    text_format.Parse(text, config, allow_unknown_field=True)
    return config


def _config_text(config: proto.ProjectorConfig) -> bytes:
    from google.protobuf import text_format

    return text_format.MessageToString(config).encode("utf-8")


def _put(config: proto.ProjectorConfig, entry: proto.EmbeddingInfo) -> None:
    """Adds the entry, in the place of those that have its name."""
    found = [i for i, old in enumerate(config.embeddings) if old.tensor_name == entry.tensor_name]
    if not found:
        config.embeddings.add().CopyFrom(entry)
        return
    config.embeddings[found[0]].CopyFrom(entry)
    for index in reversed(found[1:]):
        del config.embeddings[index]


# Places

# A config is read, changed and replaced; two threads must not do that at once.
_lock = ForkLock()


def _target(log_dir: PathLike) -> _LocalTarget | _MemoryTarget:
    store, root = open_store(log_dir)
    if isinstance(store, MemoryStore):
        return _MemoryTarget(root, store)
    if isinstance(store, LocalStore):
        return _LocalTarget(root)
    raise ValueError(f"embeddings are written to local directories only, not to {root!r}")


@dataclass(frozen=True, slots=True)
class _MemoryTarget:
    """The files of a MemoryStore, where whatever is assigned is whole."""

    root: str
    store: MemoryStore

    def publish(self, place: str, files: _Files, entry: proto.EmbeddingInfo) -> None:
        complete = {name: bytearray(b"".join(pieces)) for name, pieces in files.items()}
        old = self.store.files.get(os.path.join(self.root, CONFIG_NAME), b"")
        config = _parse_config(old.decode("utf-8"))
        _put(config, entry)
        for name, data in complete.items():
            self.store.files[os.path.join(self.root, place, name)] = data
        self.write_config(config)

    def write_config(self, config: proto.ProjectorConfig) -> None:
        self.store.files[os.path.join(self.root, CONFIG_NAME)] = bytearray(_config_text(config))


@dataclass(frozen=True, slots=True)
class _LocalTarget:
    """A local directory; everything in it gets its name by renaming."""

    root: str

    def publish(self, place: str, files: _Files, entry: proto.EmbeddingInfo) -> None:
        config = self._read_config()
        _put(config, entry)
        directory = os.path.join(self.root, *place.split("/"))
        if os.path.lexists(directory) and not os.path.isdir(directory):
            raise NotADirectoryError(20, "a file is where an embedding's directory goes", directory)
        os.makedirs(os.path.dirname(directory), exist_ok=True)
        fresh = _temporary_name(directory)
        try:
            os.mkdir(fresh)
            for name, pieces in files.items():
                _write_file(os.path.join(fresh, name), pieces)
            self.write_config(config, before=lambda: _replace_directory(fresh, directory, entry))
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(directory))  # succeeds only if it is empty
            raise

    def write_config(self, config: proto.ProjectorConfig, before: Any = None) -> None:
        """Replaces the config; `before` is called when nothing but the renaming is left."""
        os.makedirs(self.root, exist_ok=True)
        path = os.path.join(self.root, CONFIG_NAME)
        fresh = _temporary_name(path)
        try:
            _write_file(fresh, [_config_text(config)], durable=True)
            if before is not None:
                before()
            os.replace(fresh, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.remove(fresh)
            raise

    def _read_config(self) -> proto.ProjectorConfig:
        """The config there is; a damaged one is put aside, so that nobody's entries are lost."""
        from google.protobuf import text_format

        path = os.path.join(self.root, CONFIG_NAME)
        try:
            with open(path, "rb") as file:
                return _parse_config(file.read().decode("utf-8"))
        except FileNotFoundError:
            return _parse_config("")
        except (text_format.ParseError, UnicodeDecodeError) as error:
            aside = path + ".damaged"
            os.replace(path, aside)
            warnings.warn(f"{path} cannot be read ({error}); it is now {aside}", stacklevel=4)
            return _parse_config("")


_serial = itertools.count()


def _temporary_name(path: str) -> str:
    """A name beside `path` that no other writer uses."""
    head, _ = os.path.split(path)
    return os.path.join(head, f".{os.getpid()}-{next(_serial)}-{os.urandom(4).hex()}.tmp")


def _write_file(path: str, pieces: Iterable[bytes], *, durable: bool = False) -> None:
    with open(path, "xb") as file:
        for piece in pieces:
            file.write(piece)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _replace_directory(fresh: str, directory: str, entry: proto.EmbeddingInfo) -> None:
    if not os.path.lexists(directory):
        os.rename(fresh, directory)
        return
    warnings.warn(
        f"embedding {entry.tensor_name!r} exists in {directory} and was replaced; was global_step "
        f"forgotten?",
        stacklevel=6,
    )
    old = _temporary_name(directory)
    os.rename(directory, old)
    os.rename(fresh, directory)
    shutil.rmtree(old, ignore_errors=True)

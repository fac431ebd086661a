"""The private descriptor pool and the classes made from it, all built when this is imported.

Building at import makes the import lock the guard: one build, whichever threads ask first, and no
lock of ours that a fork could leave taken.
"""

from __future__ import annotations

import copyreg
from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import DecodeError, Message

from tfevents import proto
from tfevents.proto import _names

_HOME = "tfevents.proto"


def _load_pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    compiled = resources.files(_HOME).joinpath("descriptors.binpb").read_bytes()
    for file in descriptor_pb2.FileDescriptorSet.FromString(compiled).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _class_maker(pool: descriptor_pool.DescriptorPool) -> Any:
    """Return the function from descriptor to class; it was a factory's method before 4.22."""
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass
    factory: Any = message_factory.MessageFactory(pool)
    return factory.GetPrototype


def _build() -> tuple[dict[str, type[Message]], dict[str, EnumTypeWrapper]]:
    """Return {path: class} of all messages, nested ones too, and {name: wrapper} of enums."""
    pool = _load_pool()
    make = _class_maker(pool)
    classes: dict[str, type[Message]] = {}
    for name, full_name in _names.MESSAGES.items():
        _add_class(classes, name, pool.FindMessageTypeByName(full_name), make)
    enums = {
        name: EnumTypeWrapper(pool.FindEnumTypeByName(full_name))
        for name, full_name in _names.ENUMS.items()
    }
    return classes, enums


def _add_class(classes: dict[str, type[Message]], path: str, of: Descriptor, make: Any) -> None:
    """Make a class and its nested ones; pickle finds them by module and path."""
    cls: type[Message] = make(of)
    cls.__module__ = _HOME
    cls.__qualname__ = path
    copyreg.pickle(cls, _reduce)
    classes[path] = cls
    for nested in of.nested_types:
        if nested.GetOptions().map_entry:
            continue
        inner = f"{path}.{nested.name}"
        _add_class(classes, inner, nested, make)
        if not hasattr(cls, nested.name):  # the pure Python implementation leaves them out
            setattr(cls, nested.name, classes[inner])


def _reduce(message: Message) -> tuple[Any, tuple[str, bytes]]:
    # Protobuf's own reduce looks nested classes up in the default pool, where ours are not.
    return proto.coerce, (type(message).__qualname__, message.SerializePartialToString())


_CLASSES, _ENUMS = _build()
PUBLIC: dict[str, Any] = {name: _CLASSES[name] for name in _names.MESSAGES} | _ENUMS


def _find_class(kind: Any) -> type[Message]:
    if isinstance(kind, type) and issubclass(kind, Message):
        return kind
    if not isinstance(kind, str):
        raise TypeError(f"kind must be a message class or its name, got {kind!r}")
    found = _CLASSES.get(kind)
    if found is None:
        raise ValueError(f"no message is named {kind!r}")
    return found


def coerce(kind: Any, message: Any) -> Message:
    """See `tfevents.proto.coerce`."""
    cls = _find_class(kind)
    if isinstance(message, cls):
        return message
    try:
        return cls.FromString(_serialized(cls, message))
    except DecodeError as error:
        raise ValueError(f"not a serialized {cls.DESCRIPTOR.full_name}: {error}") from error


def _serialized(cls: type[Message], message: Any) -> bytes:
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    wanted = cls.DESCRIPTOR
    got = getattr(getattr(message, "DESCRIPTOR", None), "name", wanted.name)
    # Packages differ between copies of one schema (TensorBoard's is `tensorboard`), names do not.
    if isinstance(message, type) or not hasattr(message, "SerializeToString") or got != wanted.name:
        raise TypeError(
            f"expected a {wanted.full_name} message or its bytes, got {_describe(message)}"
        )
    data: bytes = message.SerializeToString()
    return data


def _describe(thing: Any) -> str:
    cls = thing if isinstance(thing, type) else type(thing)
    name = f"{cls.__module__}.{cls.__qualname__}"
    return f"the class {name}" if cls is thing else name

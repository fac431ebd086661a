"""Write the type stub of `tfevents.proto` from its descriptors.

What the stub promises: keyword-only constructors, scalar fields as attributes, message fields and
containers as read-only properties, HasField / ClearField / WhichOneof over the real names, nested
classes, enum wrappers and enum numbers.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
)

HEADER = '''"""Types of `tfevents.proto`. Written by scripts/build_descriptors.py."""

# fmt: off
# ruff: noqa
from collections.abc import Iterable, Mapping
from typing import Any as _Any
from typing import Final, Literal, TypeVar, overload

from google.protobuf.internal import well_known_types as _wkt
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

_M = TypeVar("_M", bound=Message)

@overload
def coerce(kind: type[_M], message: object) -> _M: ...
@overload
def coerce(kind: str, message: object) -> _Any: ...
'''

_F = FieldDescriptorProto
SCALARS = {
    **dict.fromkeys((_F.TYPE_DOUBLE, _F.TYPE_FLOAT), "float"),
    _F.TYPE_BOOL: "bool",
    _F.TYPE_STRING: "str",
    _F.TYPE_BYTES: "bytes",
}
WITH_METHODS = {"google.protobuf." + name for name in ("Any", "Struct", "ListValue")}


def module(files: FileDescriptorSet, public: dict[str, str], numbers: dict[str, int]) -> str:
    """Return the text of `__init__.pyi`; `public` maps full names to public ones."""
    parts = [HEADER]
    for file in files.file:
        for message in file.message_type:
            full = f"{file.package}.{message.name}"
            proto2 = file.syntax != "proto3"
            parts.append("\n".join(_Class(message, full, public, proto2).lines()) + "\n")
        enums = [public[f"{file.package}.{enum.name}"] for enum in file.enum_type]
        parts.extend(f"{name}: EnumTypeWrapper\n" for name in enums)
    parts.append("\n".join(f"{name}: Final = {number}" for name, number in numbers.items()) + "\n")
    exported = "\n".join(f'    "{name}",' for name in ["coerce", *public.values(), *numbers])
    parts.append(f"__all__ = [\n{exported}\n]\n")
    return "\n".join(parts)


class _Class:
    """One message class; `public` maps full names to public ones.

    No message of the schema has two oneofs, so WhichOneof needs no overloads.
    """

    def __init__(
        self, message: DescriptorProto, full: str, public: dict[str, str], proto2: bool
    ) -> None:
        self.message = message
        self.full = full
        self.public = public
        self.proto2 = proto2
        self.maps = {
            f".{full}.{nested.name}": nested
            for nested in message.nested_type
            if nested.options.map_entry
        }

    def lines(self) -> Iterator[str]:
        name = self.public.get(self.full, self.message.name)
        methods = f"_wkt.{self.message.name}, " if self.full in WITH_METHODS else ""
        yield f"class {name}({methods}Message):"
        for line in self._body():
            yield textwrap.indent(line, "    ")

    def _body(self) -> Iterator[str]:
        for nested in self.message.nested_type:
            if not nested.options.map_entry:
                full = f"{self.full}.{nested.name}"
                yield from _Class(nested, full, self.public, self.proto2).lines()
        for enum in self.message.enum_type:
            yield from _enum(enum)
        for field in self.message.field:
            if self._is_plain(field):
                yield f"{field.name}: {self._type(field)}"
            else:
                yield f"@property\ndef {field.name}(self) -> {self._held(field)}: ..."
        yield from self._methods()

    def _methods(self) -> Iterator[str]:
        fields = self.message.field
        if not fields:
            yield "def __init__(self) -> None: ..."
            return
        arguments = "".join(f"    {f.name}: {self._taken(f)} = ...,\n" for f in fields)
        yield f"def __init__(\n    self,\n    *,\n{arguments}) -> None: ..."
        oneofs = [one.name for one in self.message.oneof_decl]
        present = [f.name for f in fields if self._has_presence(f)] + oneofs
        if present:
            yield f"def HasField(self, field_name: {_literal(present)}) -> bool: ..."
        cleared = [f.name for f in fields] + oneofs
        yield f"def ClearField(self, field_name: {_literal(cleared)}) -> None: ..."
        for index, name in enumerate(oneofs):
            members = [f.name for f in fields if _in_oneof(f, index)]
            returned = f"{_literal(members)} | None"
            yield f"def WhichOneof(self, oneof_group: {_literal([name])}) -> {returned}: ..."

    def _is_plain(self, field: FieldDescriptorProto) -> bool:
        return field.label != _F.LABEL_REPEATED and field.type != _F.TYPE_MESSAGE

    def _has_presence(self, field: FieldDescriptorProto) -> bool:
        if field.label == _F.LABEL_REPEATED:
            return False
        return self.proto2 or field.type == _F.TYPE_MESSAGE or field.HasField("oneof_index")

    def _type(self, field: FieldDescriptorProto) -> str:
        """Return the type of one value."""
        if field.type != _F.TYPE_MESSAGE:
            return SCALARS.get(field.type, "int")
        outer = field.type_name.lstrip(".")
        inner: list[str] = []
        while outer not in self.public:
            outer, _, name = outer.rpartition(".")
            inner.insert(0, name)
        return ".".join([self.public[outer], *inner])

    def _held(self, field: FieldDescriptorProto) -> str:
        """Return the type that reading the field gives."""
        if field.type_name in self.maps:
            key, value = self.maps[field.type_name].field
            kind = "MessageMap" if value.type == _F.TYPE_MESSAGE else "ScalarMap"
            return f"{kind}[{self._type(key)}, {self._type(value)}]"
        if field.label != _F.LABEL_REPEATED:
            return self._type(field)
        kind = "Composite" if field.type == _F.TYPE_MESSAGE else "Scalar"
        return f"Repeated{kind}FieldContainer[{self._type(field)}]"

    def _taken(self, field: FieldDescriptorProto) -> str:
        """Return the type that the constructor takes."""
        if field.type_name in self.maps:
            key, value = self.maps[field.type_name].field
            return f"Mapping[{self._type(key)}, {self._type(value)}] | None"
        one = self._type(field) + (" | str" if field.type == _F.TYPE_ENUM else "")
        return f"{one} | None" if field.label != _F.LABEL_REPEATED else f"Iterable[{one}] | None"


def _enum(enum: EnumDescriptorProto) -> Iterator[str]:
    yield f"{enum.name}: EnumTypeWrapper"
    for value in enum.value:
        yield f"{value.name}: Final = {value.number}"


def _in_oneof(field: FieldDescriptorProto, index: int) -> bool:
    return field.HasField("oneof_index") and field.oneof_index == index


def _literal(names: list[str]) -> str:
    return "Literal[" + ", ".join(f'"{name}"' for name in names) + "]"

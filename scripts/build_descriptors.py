"""Build what `tfevents.proto` is made of, from the schema text in proto/tfevents.

    python scripts/build_descriptors.py           # compile, then write all three files
    python scripts/build_descriptors.py --derive  # only what follows from descriptors.binpb

Compiling needs grpcio-tools (extra `proto`). Written to src/tfevents/proto: `descriptors.binpb`
(a FileDescriptorSet, dependencies first, well-known types included), `_names.py` (public name ->
full name) and `__init__.pyi`. Every output depends on the schema alone, never on the compiler's
version.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

sys.path.insert(0, str(Path(__file__).parent))
import proto_stub

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "proto"
PACKAGE = ROOT / "src" / "tfevents" / "proto"

# Where the short name is taken or says too little.
RENAMED = {
    "tensorboard.hparams.DataType": "HParamsDataType",
    "tensorboard.hparams.Status": "HParamsStatus",
    "google.protobuf.Value": "StructValue",
}


def compile_schema(schema: Path = SCHEMA) -> bytes:
    """Return the serialized FileDescriptorSet of every file below `schema`."""
    from importlib.resources import files

    from grpc_tools import protoc  # type: ignore[import-untyped,unused-ignore]

    sources = sorted(str(p.relative_to(schema)) for p in schema.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "set.binpb"
        arguments = [
            "protoc",
            f"--proto_path={schema}",
            f"--proto_path={files('grpc_tools') / '_proto'}",
            f"--descriptor_set_out={out}",
            "--include_imports",
            *sources,
        ]
        if protoc.main(arguments) != 0:
            raise SystemExit("protoc refused the schema")
        compiled = FileDescriptorSet.FromString(out.read_bytes())
    for file in compiled.file:
        _strip_file(file)
    return compiled.SerializeToString(deterministic=True)


def _strip_file(file: FileDescriptorProto) -> None:
    """Drop what differs between compilers and what Python never reads."""
    file.ClearField("options")
    file.ClearField("source_code_info")
    for message in file.message_type:
        _strip_message(message)


def _strip_message(message: DescriptorProto) -> None:
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        _strip_message(nested)


def public_names(
    files: FileDescriptorSet,
) -> tuple[dict[str, str], dict[str, str], dict[str, int]]:
    """Return {public name: full name} of messages and of enums, and {value name: number}."""
    messages: dict[str, str] = {}
    enums: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for file in files.file:
        for message in file.message_type:
            _add(messages, file, message.name)
        for enum in file.enum_type:
            _add(enums, file, enum.name)
            numbers.update({value.name: value.number for value in enum.value})
    names = [*messages, *enums, *numbers]
    declared = sum(len(enum.value) for file in files.file for enum in file.enum_type)
    if len(set(names)) != len(messages) + len(enums) + declared:
        raise SystemExit("a public name is used twice: see RENAMED")
    return messages, enums, numbers


def _add(table: dict[str, str], file: FileDescriptorProto, name: str) -> None:
    full = f"{file.package}.{name}"
    public = RENAMED.get(full, name)
    if public in table:
        raise SystemExit(f"{table[public]} and {full} are both named {public}: see RENAMED")
    table[public] = full


def names_module(files: FileDescriptorSet) -> str:
    """Return the text of `_names.py`."""
    messages, enums, numbers = public_names(files)
    lines = ['"""Public names of `tfevents.proto`. Written by scripts/build_descriptors.py."""', ""]
    lines += ["from __future__ import annotations"]
    for table, kind, entries in (
        ("MESSAGES", "str", messages),
        ("ENUMS", "str", enums),
        ("NUMBERS", "int", numbers),
    ):
        lines += ["", f"{table}: dict[str, {kind}] = {{"]
        lines += [f'    "{name}": {json.dumps(entry)},' for name, entry in entries.items()]
        lines += ["}"]
    return "\n".join(lines) + "\n"


def derive(descriptors: bytes) -> dict[str, str]:
    """Return {file name: text} of the Python files that follow from the descriptors."""
    files = FileDescriptorSet.FromString(descriptors)
    messages, enums, numbers = public_names(files)
    public = {full: name for name, full in (messages | enums).items()}
    return {
        "_names.py": names_module(files),
        "__init__.pyi": proto_stub.module(files, public, numbers),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--derive", action="store_true", help="keep descriptors.binpb as it is")
    target = PACKAGE / "descriptors.binpb"
    if not parser.parse_args().derive:
        target.write_bytes(compile_schema())
    for name, text in derive(target.read_bytes()).items():
        (PACKAGE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

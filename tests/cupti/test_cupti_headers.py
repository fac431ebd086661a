"""The fake's structs and our tables against NVIDIA's headers, from a toolkit or a wheel."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cupti_fake import HERE, compiler

from tfevents.profiler.cupti import _lib, _records, session, trace

WHEELS = "TFEVENTS_CUPTI_WHEELS"
"""Folder of installed nvidia-cuda-cupti wheels, one or more."""

EMITTED = {
    "fake_memcpy_record": {17: "Memcpy5", 26: "Memcpy6", 130400: "Memcpy7"},
    "fake_memset_record": {17: "Memset4", 130400: "Memset5"},
    "fake_kernel": {
        17: "Kernel7",
        18: "Kernel8",
        20: "Kernel9",
        130000: "Kernel10",
        130100: "Kernel11",
        130300: "Kernel12",
        130400: "Kernel13",
    },
    "fake_device": {17: "Device4", 20: "Device5", 130200: "Device6"},
    "fake_context": {17: "Context", 22: "Context2", 23: "Context3", 130100: "Context4"},
    "fake_overhead": {17: "Overhead", 21: "Overhead2", 22: "Overhead3"},
    "fake_sync": {17: "Synchronization", 26: "Synchronization2"},
    "fake_memory": {17: "Memory3", 24: "Memory4"},
    "fake_graph": {17: "GraphTrace", 21: "GraphTrace2"},
    "fake_peer_record": {17: "MemcpyPtoP4"},
    "fake_api": {17: "API"},
    "fake_external": {17: "ExternalCorrelation"},
    "fake_marker": {17: "Marker2"},
}
"""Our struct -> first CUPTI_API_VERSION -> CUpti_Activity... that is emitted from there on."""

COLUMNS = {
    f"fake_{name}": name.removesuffix("_record")
    for name in ("memcpy_record", "memset_record", "kernel", "device", "context")
} | {f"fake_{name}": name for name in ("overhead", "sync", "memory", "graph")}
"""Our struct -> column of SIZES in fakecupti.h."""

IGNORED = re.compile(r"pad|reserved|unused|appended|Low|objectId|uuid|migUuid|memoryPoolConfig")

STUB = """
#pragma once
typedef int CUresult, CUdevice, CUdevice_attribute, CUgraphNodeType, CUstreamAttrID;
typedef void *CUcontext, *CUstream, *CUgraph, *CUgraphNode, *CUgraphExec, *CUfunction, *CUmodule;
typedef void *CUevent, CUaccessPolicyWindow, *CUstreamAttrValue;
typedef struct { char bytes[16]; } CUuuid;
"""
"""What the headers of a wheel want of cuda.h, which is not in the same wheel."""


def include_folders() -> list[Path]:
    roots = [Path(entry) for entry in sys.path]
    if os.environ.get(WHEELS):
        roots.append(Path(os.environ[WHEELS]))
    headers = {
        header.parent.resolve()
        for root in roots
        if root.is_dir()
        for pattern in ("nvidia/*/include", "*/nvidia/*/include", "*/nvidia/*/extras/CUPTI/include")
        for header in root.glob(f"{pattern}/cupti_activity.h")
    }
    toolkits = Path("/usr/local").glob("cuda*/include/cupti_activity.h")
    extras = Path("/usr/local").glob("cuda*/extras/CUPTI/include/cupti_activity.h")
    return sorted(headers | {header.parent.resolve() for header in (*toolkits, *extras)})


FOLDERS = include_folders()

each_folder = pytest.mark.parametrize(
    "folder", FOLDERS, ids=lambda folder: "-".join(folder.parts[-4:-1])
)
pytestmark = pytest.mark.skipif(
    not FOLDERS and not os.environ.get(WHEELS),
    reason=f"no cupti_activity.h (a toolkit, a wheel or ${WHEELS})",
)


def test_the_wheels_that_are_named_have_headers() -> None:
    assert FOLDERS


def members(text: str, struct: str) -> set[str]:
    """Field names of `typedef struct {...} struct;`, those of nested unions left out."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    end = re.search(r"\}\s*" + struct + r"\s*;", text)
    assert end, struct
    depth, start = 1, end.start()
    while depth:
        start -= 1
        depth += {"}": 1, "{": -1}.get(text[start], 0)
    body, before = text[start + 1 : end.start()], ""
    while body != before:
        before, body = body, re.sub(r"\{[^{}]*\}", "", body)
    return set(re.findall(r"(\w+)\s*(?:\[\w+\])?\s*;", body))


def stub_of_cuda_h(folder: Path, tmp_path: Path) -> list[str]:
    if (folder / "cuda.h").exists():
        return []
    (tmp_path / "cuda.h").write_text(STUB)
    (tmp_path / "builtin_types.h").write_text("")
    return [f"-I{tmp_path}"]


@each_folder
def test_offsets_and_sizes_are_those_of_the_header(folder: Path, tmp_path: Path) -> None:
    gcc = compiler()
    version_text = (folder / "cupti_version.h").read_text()
    found = re.search(r"define CUPTI_API_VERSION (\d+)", version_text)
    assert found
    version = int(found[1])
    files = ("cupti_activity.h", "cupti_activity_deprecated.h")
    header = "".join((folder / file).read_text() for file in files if (folder / file).exists())
    ours = (HERE / "fakecupti.h").read_text()
    lines = []
    for struct, names in EMITTED.items():
        first = max(first for first in names if first <= version)
        real = f"CUpti_Activity{names[first]}"
        both = members(header, real) & members(ours, struct)
        both = {field for field in both if not IGNORED.search(field)}
        assert {"kind"} < both
        lines += [
            f'say("{real}.{field}", offsetof({struct}, {field}), offsetof({real}, {field}));'
            for field in sorted(both)
        ]
        lines.append(f'size("{real}", "{struct}", sizeof({real}));')
    said = compile_and_run(gcc, folder, tmp_path, lines)
    assert [line for line in said["offsets"] if line[1] != line[2]] == []
    assert len(said["offsets"]) > 120
    wanted = {struct: size for _, struct, size in said["sizes"]}
    candidates = [row for row in said["rows"] if row["version"] <= version]
    row = max(candidates, key=lambda row: (row["version"], row["release"]))
    if version == 18:  # three releases say so, one of them with a smaller kernel
        row["kernel"] = wanted["fake_kernel"]
        assert row["kernel"] in {200, 208}
    for struct, column in COLUMNS.items():
        assert (struct, row[column]) == (struct, wanted[struct])
    for struct in EMITTED.keys() - COLUMNS.keys():
        assert (struct, said["fixed"][struct]) == (struct, wanted[struct])


def compile_and_run(gcc: str, folder: Path, tmp_path: Path, lines: list[str]) -> dict[str, Any]:
    source = tmp_path / "compare.c"
    fixed = sorted(EMITTED.keys() - COLUMNS.keys())
    columns = [*dict.fromkeys(COLUMNS.values())]
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <cupti_activity.h>\n"
        f'#include "{HERE / "fakecupti.h"}"\n'
        "static void say(const char *n, size_t a, size_t b) "
        '{ printf("o %s %zu %zu\\n", n, a, b); }\n'
        "static void size(const char *n, const char *s, size_t a) "
        '{ printf("s %s %s %zu\\n", n, s, a); }\n'
        "int main(void) {\n"
        + "\n".join(lines)
        + "\nfor (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {"
        + 'printf("r %d %u", SIZES[i].release, SIZES[i].version);'
        + "".join(f'printf(" %u", SIZES[i].{column});' for column in columns)
        + 'printf("\\n"); }'
        + "".join(f'printf("f {struct} %zu\\n", sizeof({struct}));' for struct in fixed)
        + "return 0; }\n"
    )
    program = tmp_path / "compare"
    build = [gcc, f"-I{folder}", *stub_of_cuda_h(folder, tmp_path), str(source), "-o", str(program)]
    subprocess.run(build, check=True, timeout=120)
    ran = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    said: dict[str, Any] = {"offsets": [], "sizes": [], "rows": [], "fixed": {}}
    for tag, *words in (line.split() for line in ran.stdout.splitlines()):
        if tag == "o":
            said["offsets"].append((words[0], int(words[1]), int(words[2])))
        elif tag == "s":
            said["sizes"].append((words[0], words[1], int(words[2])))
        elif tag == "r":
            said["rows"].append(
                dict(zip(("release", "version", *columns), map(int, words), strict=True))
            )
        else:
            said["fixed"][words[0]] = int(words[1])
    return said


KINDS = {
    1: "MEMCPY",
    2: "MEMSET",
    3: "KERNEL",
    4: "DRIVER",
    5: "RUNTIME",
    8: "DEVICE",
    9: "CONTEXT",
    10: "CONCURRENT_KERNEL",
    12: "MARKER",
    17: "OVERHEAD",
    22: "MEMCPY2",
    38: "SYNCHRONIZATION",
    39: "EXTERNAL_CORRELATION",
    49: "MEMORY2",
    51: "GRAPH_TRACE",
}

TABLES: list[tuple[str, dict[int, str]]] = [
    ("ACTIVITY_KIND", KINDS),
    ("ACTIVITY_MEMCPY_KIND", trace.COPY_KINDS),
    ("ACTIVITY_MEMORY_KIND", trace.MEMORY_KINDS),
    ("ACTIVITY_OVERHEAD", trace.OVERHEADS),
    ("ACTIVITY_SYNCHRONIZATION_TYPE", trace.SYNCS),
    ("ACTIVITY_MEMORY_OPERATION_TYPE", trace.MEMORY_OPERATIONS),
    ("EXTERNAL_CORRELATION_KIND", {_records.EXTERNAL_KIND: "CUSTOM2"}),
    ("ACTIVITY_FLAG", {session.FORCED: "FLUSH_FORCED"}),
    ("CB_DOMAIN", {trace.DRIVER: "DRIVER API", trace.RUNTIME: "RUNTIME API"}),
]
"""Prefix of the header's constants without CUPTI_, and what we take them for."""


def code_of(folder: Path) -> str:
    """All of CUPTI's headers, without comments."""
    text = "".join(file.read_text(errors="replace") for file in sorted(folder.glob("cupti*.h")))
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def constants(code: str, prefix: str) -> set[tuple[int, str]]:
    found = re.findall(rf"\bCUPTI_{prefix}_(\w+)\s*=\s*(0x\w+|\d+)\s*(?:<<\s*(\d+))?", code)
    return {(int(value, 0) << int(shift or 0), name) for name, value, shift in found}


@each_folder
def test_our_names_of_values_are_those_of_the_header(folder: Path) -> None:
    code = code_of(folder)
    assert set(KINDS) == set(_records.LAYOUTS)
    for prefix, table in TABLES:
        theirs = constants(code, prefix)
        assert {value for value, _ in theirs} & table.keys(), prefix
        for value, name in table.items():
            ours = name.upper().replace(" ", "_")  # we may write out what they cut short
            known = {name.removeprefix("CUPTI_") for at, name in theirs if at == value}
            # the oldest headers lack the newest values
            assert not known or ours.startswith(tuple(known)), (prefix, value, known)


@each_folder
def test_every_result_has_its_name(folder: Path) -> None:
    theirs = constants(code_of(folder), "ERROR") - {(0x7FFFFFFF, "FORCE_INT")}
    assert len(theirs) > 40
    assert theirs <= set(_lib.RESULTS.items())


POINTERS = re.compile(r".*\*|CUcontext|CUpti_SubscriberHandle|CUpti_\w*Func")


def passed_as(kind: str) -> str:
    """How an argument of a declared type is passed."""
    if POINTERS.fullmatch(kind):
        return "pointer"
    return "8 bytes" if kind in {"size_t", "uint64_t"} else "4 bytes"


def ours_passed_as(kind: Any) -> str:
    if kind is ctypes.c_void_p or issubclass(kind, ctypes._Pointer):
        return "pointer"
    return f"{ctypes.sizeof(kind)} bytes"


@each_folder
def test_signatures_are_those_of_the_header(folder: Path) -> None:
    code = code_of(folder)
    for name, arguments in _lib.SIGNATURES.items():
        found = re.search(rf"CUptiResult\s+CUPTIAPI\s+{name}\s*\(([^)]*)\)", code)
        assert found, name
        declared = [re.sub(r"\w+\s*$", "", one).strip() for one in found[1].split(",")]
        theirs = [passed_as(kind) for kind in declared]
        assert (name, [ours_passed_as(kind) for kind in arguments]) == (name, theirs)

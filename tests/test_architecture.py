"""The rooms of the package and the way imports point; the picture is in CONTRIBUTING.md.

A new module gets a line in `ROOMS`. If it then imports upwards, it is in the wrong room, or the
thing it wants is.
"""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "tfevents"

# Level -> its rooms. Imports go to lower levels, or within a level; within level 4, where order
# matters, only to rooms listed before. A name without a star stands for a package's modules too.
ROOMS: dict[int, list[str]] = {
    0: ["errors", "_types", "_closing", "_lazy", "_near", "_version", "_warn", "proto"],
    1: ["wire", "record", "gunzip", "filename", "tensor", "plugin", "arrays", "steps"],
    2: ["values", "graph"],
    3: ["event", "layout", "table", "columns", "kinds", "series", "frames", "_display"],
    4: [
        "_fsspec_store", "store", "event_file", "rotation", "_fork", "_scheduler",
        "async_writer", "run_writer", "reader", "_whole_file", "_rewrite", "log_file", "run",
        "logdir", "projector",
    ],
    5: [
        "_context", "torch_file_writer", "run_files", "summary_writer", "summary", "compat",
        "profiler", "testing",
    ],
    6: ["integrations", "pytest_plugin", "cli", "__main__"],
    7: ["__init__"],
}
PURE = 3  # up to this level: no files, clocks, threads, environment, logging
ORDERED = 4
# Rooms with a limit of their own: a profiler is of use without any writer.
SIDE_ROOMS = {"profiler": 2}
# Imports upwards, each inside a function, and why.
LAZY_DOORS = {
    ("summary_writer", "integrations.*"): "add_graph, add_onnx_graph: a framework's model",
    ("cli", "__init__"): "`tfevents --version` says what the door says",
    ("compat.*", "integrations.*"): "the same, by the names of torch.utils.tensorboard",
    ("profiler.*", "run_writer"): "a trace is written where a writer or a directory is given",
    ("profiler.*", "event_file"): "a trace is written where a writer or a directory is given",
    ("profiler.*", "store"): "the same, for the files beside the event files",
    ("profiler.*", "_whole_file"): "the same; no file of another process is replaced",
}

IMPURE = {
    "asyncio", "concurrent", "datetime", "logging", "multiprocessing", "pathlib", "queue",
    "shutil", "socket", "subprocess", "tempfile", "threading", "time",
}
# Files may be named there, but not touched.
IMPURE_USE = re.compile(
    r"open\(|os\.(?!PathLike|fspath|fsdecode|fsencode|sep|path)"
    r"|os\.path\.(?:exists|lexists|is|get|real|abs|same)"
)
CORE = {"numpy", "crc32c"}  # what a module may import at its top, besides the standard library
# Modules that are themselves loaded on first use, and what they may therefore import.
LOADED_LATE = {
    "proto._pool": {"google"},
    "_fsspec_store": {"fsspec"},
    "integrations.*": {"*"},
    "pytest_plugin": {"pytest"},
}
HEAVY = [
    "PIL", "fsspec", "google.protobuf", "jax", "keras", "matplotlib", "pandas", "tensorboard",
    "tensorflow", "torch",
]  # fmt: skip


@dataclass(frozen=True)
class Import:
    """An import statement as it runs: `target` is absolute, e.g. "tfevents.values.image"."""

    target: str
    line: int
    at_top: bool


@cache
def modules() -> dict[str, ast.Module]:
    """Module name below tfevents -> syntax tree; a package has the name of its directory."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def nodes(tree: ast.AST, *, at_top: bool = True) -> Iterator[tuple[ast.AST, bool]]:
    """Every node that can run, and whether it runs when the module is imported."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and is_type_checking(child):
            for other in child.orelse:
                yield other, at_top
                yield from nodes(other, at_top=at_top)
            continue
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield child, at_top
        yield from nodes(child, at_top=at_top and not is_function)


def imports(name: str) -> Iterator[Import]:
    for node, at_top in nodes(modules()[name]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, at_top)
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            assert node.level == 0, f"{name}:{node.lineno}: imports are written in full"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                inner = full.removeprefix("tfevents.")
                is_module = full.startswith("tfevents.") and inner in modules()
                yield Import(full if is_module else str(node.module), node.lineno, at_top)


def inner_imports(name: str) -> Iterator[tuple[str, Import]]:
    """Imports of this package: the module's name below tfevents, "__init__" for the door."""
    for found in imports(name):
        if found.target == "tfevents":
            yield "__init__", found
        elif found.target.startswith("tfevents."):
            yield found.target.removeprefix("tfevents."), found


NOWHERE = (99, 0)


def top_of(name: str) -> str:
    return name.partition(".")[0]


def room(name: str) -> tuple[int, int]:
    """Level and place of a module's room."""
    top = top_of(name)
    for level, rooms in ROOMS.items():
        if top in rooms:
            return level, rooms.index(top)
    return NOWHERE


def is_lazy_door(name: str, target: str) -> bool:
    return any(
        (fnmatchcase(name, importer) or fnmatchcase(f"{name}.", importer))
        and (fnmatchcase(target, imported) or fnmatchcase(f"{target}.", imported))
        for importer, imported in LAZY_DOORS
    )


def points_down(name: str, target: str) -> bool:
    (level, place), (target_level, target_place) = room(name), room(target)
    if top_of(name) == top_of(target):
        return True
    if top_of(name) in SIDE_ROOMS:
        return target_level <= SIDE_ROOMS[top_of(name)]
    if level == target_level == ORDERED:
        return target_place < place
    return target_level <= level


@pytest.mark.parametrize("name", modules())
def test_every_module_has_a_room(name: str) -> None:
    assert room(name) != NOWHERE, "give it a line in ROOMS, and in CONTRIBUTING.md"


@pytest.mark.parametrize("name", modules())
def test_imports_point_down(name: str) -> None:
    wrong = [
        f"line {found.line}: {target}"
        for target, found in inner_imports(name)
        if not points_down(name, target) and not (not found.at_top and is_lazy_door(name, target))
    ]
    assert not wrong, f"{name} imports upwards: {wrong}"


def test_no_cycles() -> None:
    graph = {
        name: {target for target, found in inner_imports(name) if found.at_top} - {name}
        for name in modules()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, with the cycle


def test_the_door_imports_nothing_but_what_loads_the_rest() -> None:
    assert [target for target, found in inner_imports("__init__") if found.at_top] == ["_lazy"]


@pytest.mark.parametrize("name", [name for name in modules() if room(name)[0] <= PURE])
def test_pure_rooms(name: str) -> None:
    wrong = [found for found in imports(name) if top_of(found.target) in IMPURE]
    assert not wrong, f"{name} is pure: time, files and threads belong to level 4"
    for node, _ in nodes(modules()[name]):
        text = ast.unparse(node) if isinstance(node, (ast.Call, ast.Attribute)) else ""
        assert not IMPURE_USE.match(text), f"{name}: {text}"


@pytest.mark.parametrize("name", modules())
def test_optional_packages_are_imported_on_first_use(name: str) -> None:
    allowed = {"tfevents", *CORE, *sys.stdlib_module_names}
    for pattern, packages in LOADED_LATE.items():
        if fnmatchcase(name, pattern):
            allowed |= packages
    wrong = [
        found
        for found in imports(name)
        if found.at_top and "*" not in allowed and top_of(found.target) not in allowed
    ]
    assert not wrong


@pytest.mark.parametrize("name", modules())
def test_style(name: str) -> None:
    path = SOURCE.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"\b(?:TODO|FIXME|XXX)\b", text)
    kinds = [node for node, _ in nodes(modules()[name])]
    assert not [node.lineno for node in kinds if isinstance(node, ast.Assert)], "python -O drops it"
    prints = [
        node.lineno
        for node in kinds
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"print", "breakpoint", "input"}
    ]
    assert not prints or room(name)[0] == 6, f"only the command line prints: lines {prints}"


# The import budget -------------------------------------------------------------------------------

WRITER = "import tfevents as tf; w = tf.summary.create_file_writer('log'); w.set_as_default()"


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import tfevents", []),
        ("import tfevents; dir(tfevents)", []),
        ("from tfevents import proto; proto.DT_FLOAT", []),
        ("import tfevents.summary", []),
        (WRITER, []),
        ("import tfevents; tfevents.RunWriter('log').add_scalar('a', 1.0, 0)", []),
        ("import tfevents; tfevents.SummaryWriter('log').add_scalar('a', 1.0, 0)", []),
        ("import tfevents; tfevents.EventFileReader; tfevents.RecordWriter", []),
        (f"{WRITER}; tf.summary.scalar('a', 1.0, 0); w.close()", ["google.protobuf"]),
        (f"{WRITER}; tf.summary.text('a', 'b', 0); w.close()", ["google.protobuf"]),
        (f"{WRITER}; tf.summary.histogram('a', [1.0], 0); w.close()", ["google.protobuf"]),
    ],
)
def test_import_budget(code: str, loaded: list[str], tmp_path: Path) -> None:
    program = f"{code}\nimport sys\nprint([n for n in {HEAVY!r} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == repr(loaded)


def test_importing_loads_only_what_loads_the_rest() -> None:
    program = (
        "import sys, tfevents; print(*[n for n in sys.modules if n.startswith('tfevents.')]);"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["tfevents._lazy", "False"]

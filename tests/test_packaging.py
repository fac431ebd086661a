"""What is said and shipped: the README's programs run, links lead somewhere, types check."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PROGRAMS = [text for language, text in BLOCKS if language == "python"]
COMMANDS = [text for language, text in BLOCKS if not language]
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]
)


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs_of_the_readme(program: str, tmp_path: Path) -> None:
    # A block that defines tests is run as such.
    name = "test_readme.py" if "def test_" in program else "readme.py"
    (tmp_path / name).write_text(program, encoding="utf-8")
    pytest_options = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command = [sys.executable, *(pytest_options if name.startswith("test_") else []), name]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


def test_the_readme_has_programs() -> None:
    assert len(PROGRAMS) >= 5
    assert any("def test_" in program for program in PROGRAMS)


def test_the_first_program_is_seen_by_tensorboard(tmp_path: Path) -> None:
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    subprocess.run([sys.executable, "-c", PROGRAMS[0]], cwd=tmp_path, timeout=240, check=True)
    log = reader.EventAccumulator(str(tmp_path / "logs" / "run"), {"tensors": 0}).Reload()
    assert sorted(log.Tags()["tensors"]) == ["loss", "noise", "note", "weights"]
    assert [event.step for event in log.Tensors("loss")] == list(range(100))


@pytest.mark.parametrize(
    ("install", "run"), [(".", "examples/quickstart.py"), ("-e '.[test]'", "-m pytest")]
)
def test_commands_of_the_readme(install: str, run: str) -> None:
    python = ".venv/bin/python"
    command = f"python3 -m venv .venv && .venv/bin/pip install {install} && {python} {run}\n"
    assert command in COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_dependencies() -> None:
    required = [line for line in metadata.requires("tfevents") or [] if "extra ==" not in line]
    names = sorted(re.split(r"[<>=!~ ;]", line)[0] for line in required)
    assert names == ["crc32c", "numpy", "pillow", "protobuf"]


def test_extras_that_are_named_exist() -> None:
    sources = [*PAGES, *ROOT.glob("src/**/*.py")]
    named = {
        (extra, path.name)
        for path in sources
        for extra in re.findall(r"tfevents\[(\w+)\]", path.read_text(encoding="utf-8"))
    }
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    known = re.findall(r"^(\w+) = \[", extras, re.MULTILINE)
    assert {name for name, _ in named} >= {"cli", "gpu", "arrow"}
    assert sorted(each for each in named if each[0] not in known) == []


def test_licence() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert re.match(r"\s+Apache License\s+Version 2\.0, January 2004\n", text)
    assert "END OF TERMS AND CONDITIONS" in text
    found = metadata.metadata("tfevents")
    assert "Apache-2.0" in (found["License"] or found["License-Expression"])


def test_changelog_knows_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{metadata.version('tfevents')}]" in changes


@pytest.mark.parametrize("name", ["py.typed", "proto/descriptors.binpb", "proto/__init__.pyi"])
def test_data_files_are_installed(name: str) -> None:
    assert resources.files("tfevents").joinpath(name).is_file()


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is in the extra 'lint'")
def test_a_users_program_is_typed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}"]
    program = ROOT / "tests" / "typing" / "api.py"
    done = subprocess.run(
        # away from the repository, so that what counts is the installed package with its marker
        [*command, "--config-file=", str(program)], cwd=tmp_path, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr

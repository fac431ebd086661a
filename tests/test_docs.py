"""The programs of the pages in docs/ run, each page as one program from its top to its end.

The README's are run in test_packaging, those of docs/testing.md in test_pytest_plugin.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_architecture import ROOMS

DOCS = Path(__file__).parents[1] / "docs"
# Page to what its programs take for granted.
PAGES = {
    "reading.md": "",
    "profiling.md": "import numpy as np\nx = kernel = np.eye(8)\n",
}
# These need a GPU, and a data set beside polars.
NOT_RUN = {"cupti.md", "cli.md", "testing.md"}
OPTIONAL = ("pandas",)


def programs(page: str) -> list[str]:
    text = (DOCS / page).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_the_pages(page: str, tmp_path: Path) -> None:
    missing = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
    parts = [text for text in programs(page) if not any(name in text for name in missing)]
    (tmp_path / "page.py").write_text("\n".join([PAGES[page], *parts]), "utf-8")
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_page_is_known() -> None:
    with_programs = {path.name for path in DOCS.glob("*.md") if programs(path.name)}
    assert with_programs == {*PAGES, *NOT_RUN}


def test_the_imports_of_the_readme_work() -> None:
    """Each row of the table for those who come from another library."""
    readme = (DOCS.parent / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| `.*import .*\| `(.*import .*)` \|$", readme, re.MULTILINE)
    assert len(rows) >= 10
    for row in rows:
        exec(row, {})


def test_the_picture_of_the_rooms() -> None:
    text = (DOCS.parent / "CONTRIBUTING.md").read_text("utf-8")
    levels = re.split(r"^level \d", text.split("```")[1], flags=re.MULTILINE)[1:]
    missing = [
        name
        for level, rooms in ROOMS.items()
        for name in rooms
        if name not in re.findall(r"\w+", levels[level])
    ]
    assert missing == []

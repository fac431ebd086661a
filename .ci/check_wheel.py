"""Checks a built wheel, from an environment in which it is installed and nothing else of ours."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

NEEDED = {
    "tfevents/__init__.py",
    "tfevents/py.typed",
    "tfevents/proto/__init__.pyi",
    "tfevents/proto/descriptors.binpb",
}
SMOKE = """
import pathlib, tfevents as tf
assert "site-packages" in tf.__file__, tf.__file__
with tf.summary.create_file_writer("run").as_default() as writer:
    tf.summary.scalar("loss", 0.5, step=3)
series = tf.read("run")["."].scalars("loss")
assert (series.steps.tolist(), series.values.tolist()) == ([3], [0.5])
print("tfevents", tf.__version__, "works from", pathlib.Path(tf.__file__).parent)
"""


def main(wheel: Path) -> int:
    """Prints what is wrong; returns the exit status."""
    names = set(zipfile.ZipFile(wheel).namelist())
    source = Path(__file__).resolve().parents[1] / "src"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    ours = ("tfevents/", f"tfevents-{wheel.name.split('-')[1]}.")
    foreign = {name for name in names if not name.startswith(ours)}
    problems = [f"missing: {name}" for name in sorted((NEEDED | modules) - names)]
    problems += [f"does not belong: {name}" for name in sorted(foreign)]
    if not any(name.endswith("/LICENSE") for name in names):
        problems.append("missing: the licence")
    print(*problems, f"{wheel.name}: {len(names)} files", sep="\n")
    smoke = subprocess.run([sys.executable, "-c", SMOKE], cwd=wheel.parent, check=False)
    return bool(problems) or smoke.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

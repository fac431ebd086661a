"""Runs a row: a fresh process for each measurement, contenders taking turns over the repeats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Row
from benchmarks.stats import Spread
from benchmarks.table import Outcome

ROOT = Path(__file__).resolve().parent.parent
CHILD_SECONDS = 900

# One thread for the matrix product, which stands for a training step; no start-up chatter.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
}

# (task, contender, settings) -> {"metrics": ...} or {"absent": why}.
Ask = Callable[[str, str, Mapping[str, Any]], dict[str, Any]]


def ask_child(task: str, contender: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Measures in a process of its own, below a directory that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="tfevents-bench-") as scratch:
        order = {"task": task, "contender": contender, "settings": settings, "scratch": scratch}
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.child", json.dumps(order)]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=CHILD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"absent": f"gave no answer in {CHILD_SECONDS} s"}
        answer = Path(scratch) / "answer.json"
        if answer.exists():
            return dict(json.loads(answer.read_text()))
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"absent": f"failed ({done.returncode}): {last}", "detail": done.stderr[-2000:]}


def run_row(
    row: Row,
    contenders: Sequence[str],
    settings: Mapping[str, Any],
    repeats: int,
    ask: Ask = ask_child,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[dict[str, Outcome], dict[str, dict[str, Any]]]:
    """Outcomes by contender, and the raw values; who is absent once is not asked again."""
    raw: dict[str, dict[str, Any]] = {name: {} for name in contenders}
    for repeat in range(min(repeats, row.most)):
        for name in contenders:
            if "absent" in raw[name]:
                continue
            progress(f"{row.name} {repeat + 1}/{min(repeats, row.most)} {name}")
            answer = ask(row.name, name, settings)
            if "metrics" not in answer:
                raw[name] = answer
                continue
            for key, value in answer["metrics"].items():
                raw[name].setdefault(key, []).append(value)
    outcomes: dict[str, Outcome] = {
        name: values["absent"]
        if "absent" in values
        else {key: Spread.of(numbers) for key, numbers in values.items()}
        for name, values in raw.items()
    }
    return outcomes, raw

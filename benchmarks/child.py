"""One measurement in one process: `python -m benchmarks.child '{"task": ...}'`, started by runner.

The answer goes to a file and not to standard output, where a contender may print.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.contenders import AbsentError
from benchmarks.tasks import TASKS


def main(order: str) -> None:
    asked = json.loads(order)
    scratch = Path(asked["scratch"])
    answer: dict[str, object]
    try:
        metrics = TASKS[asked["task"]](asked["contender"], asked["settings"], scratch / "work")
        answer = {"metrics": metrics}
    except AbsentError as error:
        answer = {"absent": str(error)}
    (scratch / "answer.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1])

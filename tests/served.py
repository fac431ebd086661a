"""A real TensorBoard in a process of its own, to ask over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

START_TIMEOUT = 120.0  # the Python loader of a busy machine takes its time
DATA_TIMEOUT = 60.0


class Server:
    """A TensorBoard process on a free port."""

    def __init__(self, logdir: Path, folder: Path, *, load_fast: bool) -> None:
        self.load_fast = load_fast
        self._output = folder / "tensorboard.log"
        command = [
            sys.executable, "-m", "tensorboard.main", f"--logdir={logdir}", "--host=127.0.0.1",
            "--port=0", f"--load_fast={str(load_fast).lower()}", "--reload_interval=1",
            "--samples_per_plugin=scalars=1000,images=50,audio=50,histograms=50,text=50",
        ]
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                command, stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=environment,
                start_new_session=True,
            )
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self.url = self._ready_url()

    def output(self) -> str:
        return self._output.read_text(errors="replace")

    def _ready_url(self) -> str:
        """TensorBoard announces its address when it listens."""
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline and self._process.poll() is None:
            if found := re.search(r"TensorBoard \S+ at (http://\S+?)/? ", self.output()):
                return found[1]
            time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"TensorBoard did not start:\n{self.output()}")

    def fetch(self, route: str, **query: Any) -> bytes:
        url = f"{self.url}/data/{route}?{urllib.parse.urlencode(query)}"
        with self._open(url, timeout=60) as response:
            data: bytes = response.read()
        return data

    def json(self, route: str, **query: Any) -> Any:
        return json.loads(self.fetch(route, **query))

    def wait_for(self, ask: Callable[[], Any], accept: Callable[[Any], bool]) -> Any:
        """Asks until the answer is acceptable: the server looks at its files once a second."""
        deadline = time.monotonic() + DATA_TIMEOUT
        answer: Any = None
        while time.monotonic() < deadline:
            try:
                answer = ask()
            except urllib.error.HTTPError as error:  # nothing loaded yet
                answer = error
            if not isinstance(answer, Exception) and accept(answer):
                return answer
            time.sleep(0.2)
        raise AssertionError(f"last answer: {answer!r:.2000}\n{self.output()}")

    def scalars(self, run: str, tag: str) -> list[tuple[int, Any]]:
        points = self.json("plugin/scalars/scalars", run=run, tag=tag)
        return [(step, value) for _, step, value in points]

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # the data server is a child
        self._process.wait(timeout=30)

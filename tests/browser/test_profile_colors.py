"""The host example in a real TensorBoard: its nodes are coloured by what the spans measured."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from served import Server
from tfevents.profiler import annotate, profile

sync_api = pytest.importorskip("playwright.sync_api", reason="drives the browser")
text_format = pytest.importorskip("google.protobuf.text_format")

EXAMPLES = Path(__file__).parents[2] / "examples"
STEP = "step 1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("profiled")
    command = [sys.executable, os.fspath(EXAMPLES / "profile_host.py"), "--steps", "2"]
    subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)
    made = Server(folder / "logs", tmp_path_factory.mktemp("server"), load_fast=False)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def stats(server: Server) -> dict[str, Any]:
    """What TensorBoard's graph plugin serves of the host, by name of the node."""
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    tags = server.wait_for(
        lambda: server.json("plugin/graphs/info"),
        lambda info: STEP in info.get("profile_host", {}).get("tags", {}),
    )["profile_host"]["tags"]
    assert {name: entry["profile"] for name, entry in tags.items()} == {
        "step 0": True, STEP: True,
    }
    answer = server.fetch("plugin/graphs/run_metadata", run="profile_host", tag=STEP)
    device = text_format.Parse(answer.decode(), RunMetadata()).step_stats.dev_stats[0]
    assert device.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    return {node.node_name: node for node in device.node_stats}


@pytest.fixture
def page(server: Server, browser: Any) -> Iterator[Any]:
    # tall enough that the legend leaves the choice of colours uncovered
    page = browser.new_page(viewport={"width": 1400, "height": 1500})
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/#graphs")
    yield page
    if folder := os.environ.get("TFEVENTS_SCREENSHOTS"):
        page.screenshot(path=os.path.join(folder, "profile.png"))
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("quantity", ["Compute time", "Memory"])
def test_the_more_the_redder(quantity: str, page: Any, stats: dict[str, Any]) -> None:
    def amount(layer: str) -> int:
        own = [node for name, node in stats.items() if name.startswith(f"{layer}/")]
        if quantity == "Memory":
            return sum(node.memory[0].total_bytes for node in own)
        return sum(node.all_end_rel_micros for node in own)

    assert amount("dense_1") > 3 * amount("dense_3")
    controls = page.locator("tf-graph-controls")
    controls.locator(".tags-row paper-dropdown-menu").click()
    controls.locator("paper-item").filter(has_text=STEP).click()
    # only when the stats are there does the page take up a choice of colours
    profile = controls.locator("paper-radio-button[name=profile]")
    sync_api.expect(profile).to_have_attribute("aria-checked", "true")
    scene = page.locator("tf-graph-scene")

    def shape(name: str) -> Any:
        node = scene.locator("g.node").filter(has_text=name).first
        return node.locator(".nodecolortarget").first

    def fill(name: str) -> str:
        color: str = shape(name).evaluate("shape => getComputedStyle(shape).fill")
        return color

    def settled(unlike: tuple[str, str]) -> tuple[str, str]:
        """The colours of both layers, once they are plain and fade no more."""
        before = unlike
        for _ in range(120):
            now = fill("dense_1"), fill("dense_3")
            if now == before != unlike and all(color.startswith("rgb(") for color in now):
                return now
            before = now
            page.wait_for_timeout(250)
        raise AssertionError(f"the colours are {before} after {unlike}")

    sync_api.expect(shape("dense_3")).to_be_visible()
    by_structure = settled(unlike=("", ""))
    controls.locator("paper-radio-button").filter(has_text=quantity).click()
    found = settled(unlike=by_structure)
    strong, weak = (tuple(map(int, re.findall(r"\d+", color))) for color in found)
    # from nearly white to red, by the amount
    assert strong[0] > 240
    assert strong[1] < 150
    assert weak[0] - weak[1] < 60


@pytest.mark.browser
def test_a_run_without_a_graph_shows_that_of_its_spans(tmp_path: Path, browser: Any) -> None:
    with profile(tmp_path / "logs" / "spans", gpu=False, graph="spans"):
        for name in ("load data", "/odd", "dense/MatMul"):
            with annotate(name):
                time.sleep(0.01)
    (tmp_path / "server").mkdir()
    server = Server(tmp_path / "logs", tmp_path / "server", load_fast=False)
    page = browser.new_page(viewport={"width": 1400, "height": 1500})
    try:
        server.wait_for(lambda: server.json("plugin/graphs/info"), lambda info: "spans" in info)
        page.goto(f"{server.url}/#graphs")
        page.locator("tf-graph-controls paper-radio-button[name=profile]").click()
        nodes = page.locator("tf-graph-scene g.node")
        sync_api.expect(nodes).to_have_count(2)
        shown = [node.get_attribute("data-name") for node in nodes.all()]
        assert sorted(shown) == ["dense", "load data"]
    finally:
        page.close()
        server.stop()

"""A TensorBoard on a log with every kind of data, and a browser to look at it.

The browser is Debian's chromium (or what TFEVENTS_CHROMIUM names), driven by playwright. With
TFEVENTS_SCREENSHOTS set to a folder, each dashboard is also saved there as a picture.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from served import Server
from tfevents import SummaryWriter, proto
from tfevents.graph import GraphBuilder

CHROMIUM = os.environ.get("TFEVENTS_CHROMIUM") or shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    # the mesh and projector pages want WebGL, which a machine without a screen does in software
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]
TETRAHEDRON = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]], np.float32)
TETRAHEDRON_COLORS = np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]]], np.uint8)
TETRAHEDRON_FACES = np.array([[[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]], np.int32)


def graph() -> proto.GraphDef:
    builder = GraphBuilder()
    pixels = builder.node("pixels", "Placeholder", shapes=[[None, 64]])
    with builder.scope("dense"):
        kernel = builder.node("kernel", "VariableV2", shapes=[[64, 10]])
        product = builder.node("MatMul", "MatMul", [pixels, kernel], shapes=[[None, 10]])
    builder.node("softmax", "Softmax", [product], shapes=[[None, 10]])
    return builder.build()


def run_metadata() -> proto.RunMetadata:
    """The product takes a hundred times as long as anything else."""
    made = proto.RunMetadata()
    device = made.step_stats.dev_stats.add(
        device="/job:localhost/replica:0/task:0/device:CPU:0"
    )
    for name, micros in (("pixels", 10), ("dense/kernel", 10), ("dense/MatMul", 1000),
                         ("softmax", 10)):
        stats = device.node_stats.add(
            node_name=name, all_start_micros=1, op_end_rel_micros=micros,
            all_end_rel_micros=micros,
        )
        stats.memory.add(allocator_name="cpu", total_bytes=micros * 1024)
    return made


def write_run(logdir: Path, offset: float) -> None:
    rng = np.random.default_rng(0)
    with SummaryWriter(logdir) as writer:
        for step in range(50):
            decay = np.exp(-step / 20)
            writer.log(
                {"loss": decay + offset, "accuracy/top1": 1 - decay - offset,
                 "low": decay - 0.1, "high": decay + 0.2},
                step,
            )
            if step % 10 == 0:
                writer.add_histogram("weights", rng.normal(step / 10, 1, 1000), step)
        red = np.zeros((3, 32, 32), np.uint8)
        red[0], red[1] = 255, 17
        writer.add_image("red", red, 1)
        tone = 0.5 * np.sin(np.arange(8000) * 2 * np.pi * 440 / 8000)
        writer.add_audio("tone", tone, 1, sample_rate=8000)
        writer.add_text("note", f"# Heading of {logdir.name}\n\n* an item, **bold**", 1)
        labels = rng.integers(0, 2, 200)
        writer.add_pr_curve("quality", labels, labels * 0.4 + rng.random(200) * 0.6, 1)
        writer.add_custom_scalars(
            {"Margins": {"lines": ["Multiline", ["loss", "low"]],
                         "band": ["Margin", ["loss", "low", "high"]]}}
        )
        writer.add_mesh(
            "tetrahedron", TETRAHEDRON, TETRAHEDRON_COLORS, TETRAHEDRON_FACES, global_step=1
        )
        writer.add_graph(graph())
        writer.add_run_metadata(run_metadata(), "measured step", 1)


def write_sweep(logdir: Path) -> None:
    rng = np.random.default_rng(1)
    with SummaryWriter(logdir) as writer:
        for index, rate in enumerate((0.1, 0.01, 0.001)):
            writer.add_hparams(
                {"lr": rate, "optimizer": "adam" if index else "sgd", "nesterov": index == 1},
                {"hparam/accuracy": 0.5 + 0.125 * index}, run_name=f"sweep{index}",
            )
        vectors = rng.normal(size=(60, 8))
        vectors[30:] += 4
        writer.add_embedding(
            vectors, metadata=[f"label{index // 30}" for index in range(60)],
            label_img=rng.random((60, 3, 8, 8)), global_step=1, tag="points",
        )


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where TensorBoard serves the log."""
    logdir = tmp_path_factory.mktemp("log")
    for name, offset in (("train", 0.0), ("validation", 0.1)):
        write_run(logdir / name, offset)
    write_sweep(logdir)
    server = Server(logdir, tmp_path_factory.mktemp("server"), load_fast=False)
    server.wait_for(
        lambda: server.json("runs"), lambda runs: {"train", "validation", "sweep2"} <= set(runs)
    )
    server.wait_for(
        lambda: server.json("plugins_listing"),
        lambda plugins: all(plugins[name]["enabled"] for name in ("mesh", "hparams", "projector")),
    )
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    assert CHROMIUM, "no chromium: install Debian's package, or set TFEVENTS_CHROMIUM"
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def dashboard(address: str, browser: Any) -> Iterator[Callable[[str], Any]]:
    """Opens the page of a plugin; it is photographed when the test is done with it."""
    opened: list[tuple[str, Any]] = []

    def open_page(name: str) -> Any:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(60_000)
        opened.append((name, page))
        page.goto(f"{address}/#{name}")
        return page

    yield open_page
    folder = os.environ.get("TFEVENTS_SCREENSHOTS")
    for name, page in opened:
        if folder:
            page.screenshot(path=os.path.join(folder, f"{name}.png"))
        page.close()

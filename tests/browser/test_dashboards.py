"""Every dashboard of TensorBoard shows what was logged: its text, its pixels, its drawing."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytestmark = pytest.mark.browser

sync_api = pytest.importorskip("playwright.sync_api", reason="drives the browser")
expect = sync_api.expect
Dashboard = Callable[[str], Any]


def pixels(locator: Any) -> np.ndarray[Any, Any]:
    """What the browser draws of an element, [h, w, 3]."""
    with Image.open(io.BytesIO(locator.screenshot())) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


def test_time_series(dashboard: Dashboard) -> None:
    page = dashboard("timeseries")
    card = page.locator("scalar-card").filter(has_text="accuracy/top1").first
    expect(card).to_contain_text("train")
    # the table below the chart gives the value of the last step, with four digits
    expect(card).to_contain_text(f"{1 - math.exp(-49 / 20):.4g}")
    expect(card).to_contain_text(f"{0.9 - math.exp(-49 / 20):.4g}")
    for name in ("train", "validation", "sweep0"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible()


def test_scalars(dashboard: Dashboard) -> None:
    page = dashboard("scalars")
    chart = page.locator("tf-scalar-card").filter(has_text="accuracy/top1").first
    expect(chart.locator("path.line, .plottable path").first).to_be_attached()
    lengths = chart.locator(".plottable path").evaluate_all(
        "paths => paths.map(path => path.getTotalLength())"
    )
    # of each run one line, and its smoothed twin, from corner to corner of the chart
    assert sum(length > 100 for length in lengths) >= 2


def test_custom_scalars(dashboard: Dashboard) -> None:
    page = dashboard("custom_scalars")
    for title in ("Margins", "lines", "band"):
        expect(page.get_by_text(title, exact=True).first).to_be_visible()
    expect(page.get_by_text("Matches (4)").first).to_be_visible()  # two tags of two runs
    expect(page.get_by_text("Matches (2)").first).to_be_visible()  # one band of two runs


def test_images(dashboard: Dashboard) -> None:
    page = dashboard("images")
    image = page.locator("img[src*='individualImage']").first
    expect(image).to_be_visible()
    color = image.evaluate(
        """image => image.decode().then(() => {
            const canvas = document.createElement('canvas');
            canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;
            const context = canvas.getContext('2d');
            context.drawImage(image, 0, 0);
            return [canvas.width, canvas.height, ...context.getImageData(31, 31, 1, 1).data];
        })"""
    )
    assert color == [32, 32, 255, 17, 0, 255]


def test_audio(dashboard: Dashboard) -> None:
    page = dashboard("audio")
    player = page.locator("audio").first
    expect(player).to_be_attached()
    seconds = player.evaluate(
        """player => new Promise((resolve, reject) => {
            if (player.readyState > 0) resolve(player.duration);
            player.onloadedmetadata = () => resolve(player.duration);
            player.onerror = () => reject(new Error('no audio'));
            player.preload = 'metadata'; player.load();
        })"""
    )
    assert seconds == pytest.approx(1.0)


def test_text(dashboard: Dashboard) -> None:
    page = dashboard("text")
    for run in ("train", "validation"):
        expect(page.get_by_role("heading", name=f"Heading of {run}")).to_be_visible()
    expect(page.locator("li strong").first).to_have_text("bold")


def test_graph_shows_scopes_and_operations(dashboard: Dashboard) -> None:
    page = dashboard("graphs")
    scene = page.locator("tf-graph-scene")
    for name in ("pixels", "dense", "softmax"):
        expect(scene.locator("text").filter(has_text=name).first).to_be_attached()
    scene.locator("g.node").filter(has_text="dense").first.dblclick()
    expect(scene.locator("text").filter(has_text="MatMul").first).to_be_attached()


def test_distributions(dashboard: Dashboard) -> None:
    page = dashboard("distributions")
    chart = page.locator("vz-distribution-chart").first
    expect(chart).to_be_visible()
    expect(chart.locator(".area").first).to_be_attached()
    drawn = pixels(chart)
    colored = (drawn.max(axis=2) - drawn.min(axis=2)) > 40
    assert colored.mean() > 0.02


def test_histograms(dashboard: Dashboard) -> None:
    page = dashboard("histograms")
    chart = page.locator("vz-histogram-timeseries").first
    expect(chart).to_be_visible()
    expect(chart.locator(".histogram path").first).to_be_attached()
    assert chart.locator(".histogram").count() == 5  # one of every tenth step


def test_hparams(dashboard: Dashboard) -> None:
    page = dashboard("hparams")
    for cell in ("sweep0", "0.10000", "0.010000", "0.0010000", "sgd", "true", "0.62500"):
        expect(page.get_by_text(cell, exact=True).first).to_be_visible()


def test_pr_curves(dashboard: Dashboard) -> None:
    page = dashboard("pr_curves")
    for run in ("train", "validation"):
        expect(page.get_by_text(f"{run} is at").first).to_be_visible()
    chart = page.locator("tf-pr-curve-card").first
    expect(chart.locator(".plottable path").first).to_be_attached()


def test_mesh(dashboard: Dashboard) -> None:
    page = dashboard("mesh")
    canvas = page.locator("tf-mesh-loader canvas").first
    expect(canvas).to_be_visible()

    def strongest() -> set[int]:
        drawn = pixels(canvas)
        strong = drawn[(drawn.max(axis=2) - drawn.min(axis=2)) > 60]
        return set(strong.argmax(axis=1).tolist())

    for _ in range(60):  # the first frames are empty
        if {1, 2} <= strongest():
            return
        page.wait_for_timeout(500)
    raise AssertionError(f"no green and blue corner is drawn, only {strongest()}")


def test_projector(dashboard: Dashboard) -> None:
    page = dashboard("projector")
    frame = page.frame_locator("iframe").frame_locator("iframe")
    expect(frame.get_by_text("points:00001").first).to_be_attached()
    expect(frame.get_by_text("60x8").first).to_be_attached()
    expect(frame.get_by_text("2 colors").first).to_be_attached()  # what the metadata tell apart
    canvas = frame.locator("#scatter canvas").first
    expect(canvas).to_be_visible()
    for _ in range(60):  # the sprites are noise, so no pixel of theirs is white or gray
        drawn = pixels(canvas)
        if ((drawn.max(axis=2) - drawn.min(axis=2)) > 30).sum() > 200:
            return
        page.wait_for_timeout(500)
    raise AssertionError("no sprite is drawn")

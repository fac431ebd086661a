"""`ls`, `show` and `tail`: what they print of logs whose content is known."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_logs import (
    NAME,
    TIME,
    command,
    environment,
    event_pb2,
    header,
    on_terminal,
    scalar,
    summary_pb2,
    tensor_scalar,
    write,
)
from PIL import Image

from tfevents.cli import main
from tfevents.cli._output import escape, plain, size_text
from tfevents.cli._picture import half_blocks
from tfevents.cli._plot import curves


@pytest.fixture
def log(tmp_path: Path) -> Path:
    events = [header(), scalar("loss", 0, 2.0), scalar("loss", 1, 1.0), scalar("acc", 1, 0.25)]
    write(tmp_path / "log" / "a" / NAME, events)
    write(tmp_path / "log" / "b" / NAME, [header(), scalar("loss", 0, 3.0)])
    return tmp_path / "log"


def test_ls(log: Path) -> None:
    done = command("ls", log)
    size_a, size_b = ((log / run / NAME).stat().st_size for run in "ab")
    assert done.stdout == (
        f"a  1 file, {size_a} B, last written 1970-01-02 00:00:01\n"
        "  tag   kind     points  last step  last value\n"
        "  acc   scalars       1          1  0.25\n"
        "  loss  scalars       2          1  1\n"
        "\n"
        f"b  1 file, {size_b} B, last written 1970-01-02 00:00:00\n"
        "  tag   kind     points  last step  last value\n"
        "  loss  scalars       1          0  3\n"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ls_runs(log: Path) -> None:
    done = command("ls", "--runs", "--run", "a", log)
    size = (log / "a" / NAME).stat().st_size
    assert done.stdout == (
        "  run  files   size  tags  points  last step  last written\n"
        f"  a        1  {size} B     2       3          1  1970-01-02 00:00:01\n"
    )


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ls_json(log: Path, jobs: str) -> None:
    found = json.loads(command("ls", "--json", "--jobs", jobs, log).stdout)["runs"]
    assert [each["run"] for each in found] == ["a", "b"]
    assert found[0]["tags"][1] == {
        "tag": "loss", "kind": "scalars", "points": 2, "last_step": 1, "last_wall_time": TIME + 1,
        "last_value": 1.0,
    }


def test_nothing_found(log: Path, tmp_path: Path) -> None:
    assert command("ls", tmp_path / "absent").returncode == 2
    done = command("show", log, "los")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "did you mean 'loss'?" in done.stderr
    (tmp_path / "empty").mkdir()
    assert "no event files in" in command("ls", tmp_path / "empty").stderr


@pytest.mark.parametrize("name", ["ls", "tail", "export"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tag", "x*"], "tfevents: no tag 'x*' in {}\n"),
        (["--tag", "los"], "tfevents: no tag 'los' in {}; did you mean 'loss'?\n"),
        (["--run", "aa"], "tfevents: no run 'aa' in {}; did you mean 'a'?\n"),
        (["--tag", "p", "--tag", "q"], "tfevents: no tag 'p' or 'q' in {}\n"),
    ],
)
def test_what_matches_nothing_names_what_is_near(
    log: Path, name: str, arguments: list[str], said: str
) -> None:
    done = command(name, *arguments, log)
    assert (done.returncode, done.stderr) == (1, said.format(log))


def test_show_asks_for_the_tag_if_only_a_directory_is_named(log: Path) -> None:
    done = command("show", log.name, cwd=log.parent)
    assert done.returncode == 1
    assert f"{log.name!r} is a directory: which TAG of it?" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ls", "--jobs", "-1"], "-j/--jobs: must be a whole number, 0 or more, not '-1'"),
        (["ls", "--jobs", "two"], "-j/--jobs: must be a whole number, 0 or more, not 'two'"),
        (["show", "loss", "--last", "-3"], "must be a whole number, 0 or more, not '-3'"),
        (["show", "loss", "--smooth", "1.5"], "must be a number from 0 to 1, not '1.5'"),
        (["tail", "--last", "-3"], "must be a whole number, 0 or more, not '-3'"),
        (["tail", "-f", "--interval", "nan"], "must be a number from 0.01 to 3600, not 'nan'"),
        (["tail", "-f", "--timeout", "soon"], "must be a number from 0 to 1e+09, not 'soon'"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(
    log: Path, arguments: list[str], said: str
) -> None:
    done = command(*arguments, cwd=log)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_command_started_without_output_does_its_work(log: Path, tmp_path: Path) -> None:
    base = f"{sys.executable} -m tfevents"
    for line, code in [
        (f"{base} ls {log} >&-", 0),
        (f"{base} ls {tmp_path}/absent 2>&-", 2),
        (f"{base} export {log} -o {tmp_path}/out.csv >&- 2>&-", 0),
    ]:
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False,
                              timeout=60, env=environment())  # fmt: skip
        assert (done.returncode, done.stderr) == (code, "")
    assert (tmp_path / "out.csv").exists()


def test_show(log: Path) -> None:
    expected = (
        "a  loss  2 points, the last 1\n"
        "  step  time                 value\n"
        "     1  1970-01-02 00:00:01      1\n"
    )
    assert command("show", log, "loss", "--run", "a", "-n", "1").stdout == expected
    assert command("show", "loss", log, "--run", "a", "-n", "1").stdout == expected
    assert command("show", "loss", "--run", "a", "-n", "1", cwd=log).stdout == expected


def test_show_json_of_non_finite(tmp_path: Path) -> None:
    write(tmp_path / NAME, [header(), scalar("x", 0, float("nan")), scalar("x", 1, float("-inf"))])
    (found,) = json.loads(command("show", tmp_path, "x", "--json").stdout)
    assert found["steps"] == [0, 1]
    assert found["values"] == ["NaN", "-Infinity"]


def test_nothing_in_a_tag_reaches_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\u202e\r[red]"
    write(tmp_path / NAME, [header(), scalar(evil, 0, 1.0)])
    for args in (["ls"], ["show"], ["tail"]):
        place = [tmp_path, "*"] if args == ["show"] else [tmp_path]
        shown, code = on_terminal([*args, *place], columns=100)
        assert code == 0
        assert "\x1b]" not in shown
        assert "\x07" not in shown
        assert "\u202e" not in shown
        assert r"\x1b]0;owned\x07\u202e\x0d[red]" in shown
    assert "\x1b" not in command("show", tmp_path, "*").stdout


def test_escape() -> None:
    assert escape("é\n\x00\u2028\U000e0001 ") == r"é\x0a\x00\u2028\U000e0001 "
    assert escape("a\nb", keep="\n") == "a\nb"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_949, "99.9 kB"), (123_456, "123 kB"),
     (999_600, "1.0 MB"), (5_000_000_000_000_000, "5000 TB")],
)
def test_size_text(size: int, text: str) -> None:
    assert size_text(size) == text


def test_plain() -> None:
    assert plain({"a": np.array([1.5, np.inf]), "b": (b"\xff", None)}) == {
        "a": [1.5, "Infinity"], "b": ["\\xff", None]
    }


# Terminals ---------------------------------------------------------------------------------------


def test_curve_on_a_terminal_only(log: Path) -> None:
    shown, _ = on_terminal(["show", log, "loss"])
    assert re.search("[\u2801-\u28ff]", shown)
    assert "\x1b[36m" in shown
    assert "━━ a" in shown
    uncoloured, _ = on_terminal(["show", log, "loss"], NO_COLOR="1")
    assert re.search("[\u2801-\u28ff]", uncoloured)
    piped = command("show", log, "loss").stdout
    assert not re.search("[\u2800-\u28ff\x1b]", piped)


def test_dumb_terminal_gets_plain_text(log: Path) -> None:
    shown, code = on_terminal(["ls", log], TERM="dumb")
    assert shown == command("ls", log).stdout
    assert code == 0


def test_bar_leaves_stdout_alone(log: Path) -> None:
    """With stderr a terminal and stdout a pipe, all output is in the pipe."""
    shown, _ = on_terminal(["check", log], columns=60)
    assert "2 files, 6 events" in shown
    script = f"{sys.executable} -m tfevents check {log} > {log}/out; cat {log}/out"
    main_end, terminal = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", script], stderr=terminal, stdout=subprocess.PIPE, env=environment()
    ) as child:
        os.close(terminal)
        assert child.stdout is not None
        assert b"no damage" in child.stdout.read()
    os.close(main_end)


def test_curves_of_a_line() -> None:
    lines = curves([(np.array([0, 10]), np.array([0.0, 1.0]))], width=14, height=3)
    # 9 characters are 18 dots wide and 8 high: y of dot x is round(x * 7 / 17).
    assert lines[-1] == "   0        10"
    assert lines[0].startswith("1 ┤")
    assert lines[1].startswith("0 ┤")
    dots = {
        (2 * column + x, 4 * row + y)
        for row, line in enumerate(lines[:2]) for column, character in enumerate(line[3:])
        for bit, (x, y) in enumerate(
            [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
        )
        if ord(character) - 0x2800 >> bit & 1
    }
    columns = {x for x, _ in dots}
    assert columns == set(range(max(columns) + 1))
    assert {(0, 7), (max(columns), 0)} <= dots
    assert len(dots) == len(columns)


def test_curves_of_odd_numbers() -> None:
    assert curves([(np.array([0, 1]), np.array([np.nan, np.inf]))], width=20, height=4) == []
    assert curves([], width=20, height=4) == []
    huge = np.array([-1.7e308, 1.7e308])
    assert len(curves([(np.array([0, 1]), huge)], width=20, height=4)) == 4
    assert len(curves([(np.array([5]), np.array([2.0]))], width=20, height=4)) == 4


def test_half_blocks() -> None:
    pixels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [128, 128, 128]]], np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    data = buffer.getvalue()
    assert half_blocks(data, width=80, height=30, true_colour=True) == [
        "\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[38;2;0;255;0;48;2;128;128;128m▀\x1b[0m"
    ]
    # 6 x 6 x 6 cube from 16 on; gray ramp from 232 (8) in steps of 10
    assert half_blocks(data, width=80, height=30, true_colour=False) == [
        "\x1b[38;5;196;48;5;21m▀\x1b[38;5;46;48;5;244m▀\x1b[0m"
    ]
    with pytest.raises(ValueError, match="cannot be shown"):
        half_blocks(b"\x89PNG nothing", width=80, height=30, true_colour=True)


def image_event() -> Any:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), (255, 0, 0)).save(buffer, "PNG")
    picture = summary_pb2.Summary.Image(height=4, width=4, encoded_image_string=buffer.getvalue())
    value = summary_pb2.Summary.Value(tag="picture", image=picture)
    return event_pb2.Event(step=7, summary=summary_pb2.Summary(value=[value]))


def test_image_on_a_terminal(tmp_path: Path) -> None:
    write(tmp_path / NAME, [header(), image_event()])
    shown, _ = on_terminal(["show", tmp_path, "picture"])
    assert shown.count("\x1b[38;2;255;0;0;48;2;255;0;0m▀") == 8
    piped = command("show", tmp_path, "picture").stdout
    assert "4×4 image" in piped
    assert "▀" not in piped


# tail --------------------------------------------------------------------------------------------


def test_tail(log: Path) -> None:
    done = command("tail", log, "-n", "2")
    assert done.stdout == (
        "00:00:01  a         1  loss  1\n"
        "00:00:01  a         1  acc  0.25\n"
    )


def test_tail_knows_tensors_by_the_first_metadata(tmp_path: Path) -> None:
    events = [header(), tensor_scalar("x", 0, 0.5, "scalars"), tensor_scalar("x", 1, 0.75)]
    write(tmp_path / NAME, events)
    rows = [json.loads(line) for line in command("tail", tmp_path, "--json").stdout.splitlines()]
    assert [(row["kind"], row["step"], row["value"]) for row in rows] == [
        ("scalars", 0, 0.5), ("scalars", 1, 0.75)
    ]


def test_tail_follows_old_and_new_files(log: Path) -> None:
    args = ["tail", "-f", str(log), "-n", "0", "--interval", "0.05", "--json"]
    child = subprocess.Popen(
        [sys.executable, "-m", "tfevents", *args], stdout=subprocess.PIPE, text=True,
        env=environment(),
    )
    assert child.stdout is not None
    lines: list[str] = []
    stdout = child.stdout
    thread = threading.Thread(target=lambda: lines.extend(iter(stdout.readline, "")))
    thread.start()
    try:
        deadline = time.monotonic() + 60
        number = 0
        # Whatever was there before it looked first is not printed, so log until it has seen both.
        while len({json.loads(line)["run"] for line in lines}) < 2:
            assert time.monotonic() < deadline
            write(log / "new" / f"{NAME}.{number}", [header(), scalar("loss", number, 1.0)])
            fresh = log / "fresh"
            write(fresh, [scalar("loss", 100 + number, 1.0)])
            with (log / "a" / NAME).open("ab") as file:
                file.write(fresh.read_bytes())
            number += 1
            time.sleep(0.1)
    finally:
        child.terminate()
        child.wait(60)
        thread.join(60)
        stdout.close()
    rows = [json.loads(line) for line in list(lines)]
    steps = [row["step"] for row in rows if row["run"] == "a"]
    assert steps == list(range(steps[0], steps[0] + len(steps)))  # each once


def test_interrupted_tail_is_quiet(log: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tfevents", "tail", "-f", str(log)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=environment(),
    )
    assert child.stdout is not None
    for _ in range(4):  # it has printed what there is, so it is at work
        child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert (child.returncode, errors) == (130, "")


def test_logs_of_torch(tmp_path: Path) -> None:
    torch_writer = pytest.importorskip("torch.utils.tensorboard")
    with torch_writer.SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", 0.5, 3)
        writer.add_text("note", "hello", 4)
        writer.add_histogram("weights", np.arange(10.0), 5)
    (found,) = json.loads(command("ls", tmp_path, "--json").stdout)["runs"]
    rows = {row["tag"]: (row["kind"], row["last_step"], row["last_value"]) for row in found["tags"]}
    assert rows["loss"] == ("scalars", 3, 0.5)
    assert rows["note/text_summary"] == ("texts", 4, "hello")
    assert rows["weights"][:2] == ("histograms", 5)
    assert command("check", tmp_path, "--values").returncode == 0


def test_logs_of_tensorflow(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow")
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(3):
            tf.summary.scalar("loss", 0.5 * step, step)
    shown = json.loads(command("show", tmp_path, "loss", "--json").stdout)
    assert [(each["steps"], each["values"]) for each in shown] == [([0, 1, 2], [0.0, 0.5, 1.0])]


def test_in_process(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tail", str(log), "-n", "1", "--tag", "acc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == 0.25
    with pytest.raises(SystemExit) as stopped:
        main(["ls", "--jobs", "-1"])
    assert stopped.value.code == 2


def test_show_names_tags_that_contain_the_one_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "run" / NAME, [header(), scalar("note/text_summary", 0, 1.0)])
    done = command("show", tmp_path, "note")
    assert done.returncode == 1
    assert "did you mean 'note/text_summary'?" in done.stderr

"""The command as a citizen of the shell: pipes, exit codes, completions, start-up."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_logs import NAME, command, environment, header, scalar, write

from tfevents import __version__
from tfevents.cli import COMMANDS, build_parser


def test_pipe_that_closes_early(tmp_path: Path) -> None:
    write(tmp_path / NAME, [header(), *(scalar(f"tag{n:05}", n, 1.0) for n in range(20_000))])
    script = f"{sys.executable} -m tfevents export {tmp_path} | head -n 1; echo ${{PIPESTATUS[@]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, check=True,
        env=environment(),
    )
    assert done.stdout == "run,kind,tag,step,wall_time,value\n141 0\n"
    assert done.stderr == ""


def test_ascii_output(tmp_path: Path) -> None:
    write(tmp_path / NAME, [header(), scalar("größe", 0, 1.0)])
    done = subprocess.run(
        [sys.executable, "-m", "tfevents", "ls", str(tmp_path)], capture_output=True, timeout=120,
        check=True, env={**environment(), "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
    )
    assert rb"gr\xf6\xdfe" in done.stdout


def test_help_is_quick() -> None:
    program = (
        "import sys\nfrom tfevents.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as stop: code = stop.code\n"
        "heavy = [n for n in ('numpy', 'google.protobuf', 'PIL', 'rich', 'pyarrow') "
        "if n in sys.modules]\n"
        "sys.exit(f'{code} {heavy}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stderr.strip() == "0 []"
    for name in COMMANDS:
        assert name in done.stdout


def test_version() -> None:
    assert command("--version").stdout == f"tfevents {__version__}\n"


def test_wrong_arguments() -> None:
    assert command("absent").returncode == 2
    assert command().returncode == 2


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "completion"])
def test_every_subcommand_has_json(name: str) -> None:
    places = {"show": ["x", "y"], "repair": ["x", "-o", "y"], "merge": ["x", "-o", "y"]}
    args = build_parser().parse_args([name, *places.get(name, []), "--json"])
    assert args.json is True


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["tfevents", "re"], ["repair"]),
        (["tfevents", "repair", "--re"], ["--resync"]),
        (["tfevents", "export", "--format", ""], ["csv", "jsonl", "parquet"]),
        (["tfevents", "merge", "--keep", "l"], ["last"]),
        (["tfevents", "completion", "f"], ["fish"]),
    ],
)
def test_bash_completes(words: list[str], expected: list[str]) -> None:
    typed = " ".join(f"'{word}'" for word in words)
    script = (
        f'eval "$({sys.executable} -m tfevents completion bash)"\n'
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _tfevents\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_the_script(shell: str, tmp_path: Path) -> None:
    text = command("completion", shell).stdout
    for name in COMMANDS:
        assert name in text
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed; only the words were looked at")
    script = tmp_path / "completion"
    script.write_text(text, encoding="utf-8")
    subprocess.run([shell, "-n", str(script)], check=True, timeout=60)

"""`check`, `repair` and `merge`, on files damaged at known places."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cli_logs import NAME, command, event_pb2, header, read, scalar, scalars, tensor_scalar, write

from tfevents import _rewrite
from tfevents.cli.merge import renamer

EVENTS = [header(), *(scalar("loss", step, float(step)) for step in range(5))]


def damaged(tmp_path: Path, record: int, byte: int) -> tuple[Path, list[int]]:
    """A file in which one byte of a record is wrong: 0 to 7 are its length, from 12 on its data."""
    path = tmp_path / "log" / "run" / NAME
    offsets = write(path, EVENTS)
    data = bytearray(path.read_bytes())
    data[offsets[record] + byte] ^= 0x55
    path.write_bytes(data)
    return path, offsets


def test_check_of_a_sound_file(tmp_path: Path) -> None:
    write(tmp_path / NAME, EVENTS)
    size = (tmp_path / NAME).stat().st_size
    done = command("check", tmp_path)
    assert (done.returncode, done.stdout) == (0, f"1 file, 6 events, {size} B: no damage\n")


@pytest.mark.parametrize(("byte", "kind"), [(14, "bad-checksum"), (2, "bad-length")])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_check_tells_path_and_offset(tmp_path: Path, byte: int, kind: str, jobs: str) -> None:
    path, offsets = damaged(tmp_path, 3, byte)
    write(path.with_name(NAME + ".2"), EVENTS)
    done = command("check", tmp_path, "--jobs", jobs)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith(f"{path}: byte {offsets[3]}: {kind}: ")
    assert "2 files, 11 events" in done.stdout  # only the bad record is missing
    found = json.loads(command("check", path, "--json").stdout)
    assert found["files"][0]["faults"][0]["offset"] == offsets[3]
    assert found["files"][0]["faults"][0]["kind"] == kind


def test_check_of_a_torn_record(tmp_path: Path) -> None:
    path = tmp_path / NAME
    offsets = write(path, EVENTS)
    path.write_bytes(path.read_bytes()[:-3])
    done = command("check", path)
    assert done.returncode == 1
    assert f"byte {offsets[5]}: truncated" in done.stdout
    assert command("check", path, "--growing").returncode == 0


def test_check_of_messages_and_values(tmp_path: Path) -> None:
    class Garbage:
        def SerializeToString(self) -> bytes:  # noqa: N802 - a message's
            return b"\xff\xff\xff"

    offsets = write(tmp_path / "a" / NAME, [header(), Garbage()])
    done = command("check", tmp_path / "a")
    assert done.returncode == 1
    assert f"byte {offsets[1]}: bad-message" in done.stdout
    wrong = tensor_scalar("x", 0, 1.0, "histograms")  # a histogram of rank 0
    offsets = write(tmp_path / "b" / NAME, [header(), wrong])
    assert command("check", tmp_path / "b").returncode == 0
    done = command("check", "--values", tmp_path / "b")
    assert done.returncode == 1
    assert f"byte {offsets[1]}: bad-message: histograms 'x'" in done.stdout


def test_check_of_nothing(tmp_path: Path) -> None:
    assert command("check", tmp_path).returncode == 1
    assert command("check", tmp_path / "absent").returncode == 2


# repair ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("byte", [14, 2])
def test_repair_drops_one_record(tmp_path: Path, byte: int) -> None:
    path, offsets = damaged(tmp_path, 3, byte)
    before = path.read_bytes()
    done = command("repair", tmp_path / "log", "-o", tmp_path / "clean")
    copy = tmp_path / "clean" / "run" / NAME
    assert done.returncode == 0
    assert copy.read_bytes() == before[: offsets[3]] + before[offsets[4] :]
    assert path.read_bytes() == before
    assert f"byte {offsets[3]}: " in done.stdout
    assert f"5 events kept, {offsets[4] - offsets[3]} B of {len(before)} B dropped" in done.stdout
    assert [step for _, step, _ in scalars(copy)] == [0, 1, 3, 4]
    assert [file.name for file in copy.parent.iterdir()] == [NAME]


def test_repair_without_resync(tmp_path: Path) -> None:
    path, offsets = damaged(tmp_path, 3, 2)
    command("repair", path, "-o", tmp_path / "clean", "--no-resync")
    assert (tmp_path / "clean" / NAME).read_bytes() == path.read_bytes()[: offsets[3]]


def test_repair_never_overwrites(tmp_path: Path) -> None:
    path, _ = damaged(tmp_path, 3, 14)
    before = path.read_bytes()
    assert command("repair", tmp_path / "log", "-o", tmp_path / "log").returncode == 2
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_repair_gives_a_header(tmp_path: Path) -> None:
    path, _ = damaged(tmp_path, 0, 20)
    done = command("repair", path, "-o", tmp_path / "clean", "--json")
    assert json.loads(done.stdout)[0]["header_added"] is True
    first, *rest = read(tmp_path / "clean" / NAME)
    assert first.file_version == "brain.Event:2"
    assert [event.step for event in rest] == [0, 1, 2, 3, 4]


def test_repair_of_no_event_file(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"not an event file at all")
    done = command("repair", path, "-o", tmp_path / "clean")
    assert "nothing written" in done.stdout
    assert not (tmp_path / "clean").exists()


def test_repair_of_a_compressed_file(tmp_path: Path) -> None:
    whole = tmp_path / NAME
    write(whole, EVENTS)
    packed = tmp_path / f"{NAME}.gz"
    packed.write_bytes(gzip.compress(whole.read_bytes()))
    command("repair", packed, "-o", tmp_path / "clean")
    assert (tmp_path / "clean" / NAME).read_bytes() == whole.read_bytes()


# merge -------------------------------------------------------------------------------------------


def two_files(tmp_path: Path) -> list[Path]:
    """A run that was restarted at step 2."""
    paths = [tmp_path / "log" / "run" / f"{NAME}.{number}" for number in (1, 2)]
    write(paths[0], [header(), *(scalar("loss", step, 1.0 + step) for step in range(3))])
    write(paths[1], [header(), *(scalar("loss", step, 10.0 + step) for step in (2, 3))])
    return paths


@pytest.mark.parametrize(
    ("keep", "values"),
    [
        ("all", [(0, 1), (1, 2), (2, 3), (2, 12), (3, 13)]),
        ("last", [(0, 1), (1, 2), (2, 12), (3, 13)]),
        ("first", [(0, 1), (1, 2), (2, 3), (3, 13)]),
    ],
)
def test_merge_keeps(tmp_path: Path, keep: str, values: list[tuple[int, float]]) -> None:
    first, _ = two_files(tmp_path)
    done = command("merge", tmp_path / "log", "-o", tmp_path / "out", "--keep", keep)
    assert done.returncode == 0
    merged = tmp_path / "out" / "run" / first.name
    assert [(step, value) for _, step, value in scalars(merged)] == values
    assert [event.file_version for event in read(merged)].count("brain.Event:2") == 1
    assert list(merged.parent.iterdir()) == [merged]


def test_merge_copies_bytes(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    command("merge", first, second, "-o", tmp_path / "out")
    size = header().ByteSize() + 16
    merged = (tmp_path / "out" / first.name).read_bytes()
    assert merged == first.read_bytes() + second.read_bytes()[size:]


def test_merge_renames_and_deletes(tmp_path: Path) -> None:
    event = scalar("a/x", 1, 1.0)
    event.summary.value.add(tag="b/x", simple_value=2.0)
    event.summary.value.add(tag="c", simple_value=3.0)
    write(tmp_path / NAME, [header(), event, scalar("b/y", 2, 4.0)])
    done = command(
        "merge", tmp_path / NAME, "-o", tmp_path / "out", "--rename", r"^a/(\w)=z/\1", "--regex",
        "--delete", "b/*", "--json",
    )
    merged = tmp_path / "out" / NAME
    assert scalars(merged) == [("z/x", 1, 1.0), ("c", 1, 3.0)]
    (result,) = json.loads(done.stdout)
    assert (result["deleted"], result["renamed"], result["events"]) == (2, 1, 1)


def test_merge_moves_metadata_to_the_value_that_stays(tmp_path: Path) -> None:
    points = [tensor_scalar("x", 0, 0.5, "scalars"), tensor_scalar("x", 0, 0.75)]
    write(tmp_path / NAME, [header(), *points, tensor_scalar("x", 1, 1.0)])
    command("merge", tmp_path / NAME, "-o", tmp_path / "out", "--keep", "last")
    _, first, second = read(tmp_path / "out" / NAME)
    (value,) = first.summary.value
    assert value.tensor.float_val == [0.75]
    assert value.metadata.plugin_data.plugin_name == "scalars"
    assert not second.summary.value[0].HasField("metadata")


def test_merge_keeps_what_is_no_summary(tmp_path: Path) -> None:
    graph = event_pb2.Event(graph_def=b"\x22\x02\x08\x01", wall_time=1.0)
    start = event_pb2.Event(step=3, session_log=event_pb2.SessionLog(status=1))
    events: list[Any] = [header(), graph, start]
    write(tmp_path / NAME, events)
    command("merge", tmp_path / NAME, "-o", tmp_path / "out", "--keep", "last")
    assert read(tmp_path / "out" / NAME) == events


def test_merge_refuses(tmp_path: Path) -> None:
    first, _ = two_files(tmp_path)
    assert command("merge", first.parent, "-o", first.parent).returncode == 2
    done = command("merge", first, "-o", tmp_path / "out", "--rename", "(=x", "--regex")
    assert done.returncode == 2
    assert "--rename" in done.stderr
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match="keep must be"):
        _rewrite.merge([first], tmp_path / "out" / NAME, keep="none")


def test_renamer() -> None:
    rename = renamer([("a", "b"), ("b", "c")], regex=False)
    assert [rename(tag) for tag in ("a", "b", "ab")] == ["b", "c", "ab"]
    with pytest.raises(ValueError, match="invalid group reference"):
        renamer([("a", r"\1")], regex=True)


def test_nothing_is_left_of_a_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / NAME, EVENTS)

    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(PermissionError):
        _rewrite.repair(tmp_path / NAME, tmp_path / "out" / NAME)
    assert list((tmp_path / "out").iterdir()) == []

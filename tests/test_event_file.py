from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from readback import event_files, events, loader, records
from tfevents import filename, proto
from tfevents.errors import WriteError, WriterClosedError
from tfevents.event_file import EventFileWriter, RecordWriter
from tfevents.store import LocalStore, MemoryStore


def test_the_file_and_its_header_are_there_at_once(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path / "a" / "b", filename_suffix=".v2", clock=lambda: 12.5)
    (path,) = event_files(tmp_path)
    assert str(path) == writer.path
    parts = filename.parse(path.name)
    assert parts is not None
    assert (parts.timestamp, parts.pid, parts.suffix) == (12, os.getpid(), ".v2")
    (head,) = map(proto.Event.FromString, records(path))
    assert (head.wall_time, head.file_version) == (12.5, "brain.Event:2")
    assert head.source_metadata.writer
    writer.close()


def test_events_of_any_protobuf_and_bytes_are_written(tmp_path: Path) -> None:
    pb: Any = pytest.importorskip("tensorboard.compat.proto.event_pb2")
    with EventFileWriter(tmp_path) as writer:
        writer.write([proto.Event(step=1), pb.Event(step=2)])
        writer.write(iter([proto.Event(step=3).SerializeToString()]))
        assert [event.step for event in events(tmp_path)] == [1, 2, 3]
    assert writer.closed


@pytest.mark.parametrize("wrong", ["text", {"step": 1}, None, 5, proto.Summary()])
def test_events_that_are_none_are_type_errors_and_nothing_is_written(
    tmp_path: Path, wrong: Any
) -> None:
    with EventFileWriter(tmp_path) as writer, pytest.raises(TypeError):
        writer.write([proto.Event(step=1), wrong])
    assert events(tmp_path) == []


def test_a_closed_writer_says_which(tmp_path: Path) -> None:
    writer = EventFileWriter(tmp_path)
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(WriterClosedError, match=os.path.basename(writer.path)):
        writer.write([])


def test_names_that_are_taken_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfevents.event_file._counter", iter(range(100)))
    monkeypatch.setattr("socket.gethostname", lambda: "host")
    taken = tmp_path / f"events.out.tfevents.0000000007.host.{os.getpid()}.0000"
    taken.write_bytes(b"mine")
    with EventFileWriter(tmp_path, clock=lambda: 7.0) as writer:
        assert writer.path.endswith(".0001")
    assert taken.read_bytes() == b"mine"


def test_a_directory_that_is_a_file_is_told_after_some_attempts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        EventFileWriter(tmp_path / "file")


def test_missing_directories_are_made_only_if_wished(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        EventFileWriter(tmp_path / "a", parents=False)
    assert not list(tmp_path.iterdir())


def test_a_store_takes_the_directory_as_a_path_of_its_own() -> None:
    store = MemoryStore()
    with EventFileWriter("own://bucket/run", store=store) as writer:
        writer.write([proto.Event(step=1)])
    (path,) = store.files
    assert path.startswith("own://bucket/run/events.out.tfevents.")


def test_a_refused_batch_is_written_as_far_as_it_fits(tmp_path: Path) -> None:
    class Small(LocalStore):
        def create(self, path: str, *, parents: bool = True) -> Any:
            sink = super().create(path, parents=parents)
            write = sink.write

            def small(data: bytes) -> None:
                if os.path.getsize(path) + len(data) > 300:
                    raise WriteError(errno.ENOSPC, "full", path)
                write(data)

            sink.write = small  # type: ignore[method-assign]
            return sink

    writer = EventFileWriter(tmp_path, store=Small())
    batch = [proto.Event(step=step) for step in range(1, 40)]
    with pytest.raises(WriteError) as caught:
        writer.write(batch)
    assert 0 < caught.value.written < 39
    assert [event.step for event in events(tmp_path)] == list(range(1, caught.value.written + 1))
    writer.close()


# -- raw records


def test_records_go_to_a_path(tmp_path: Path) -> None:
    path = tmp_path / "file.tfrecord"
    with RecordWriter(path) as writer:
        for data in (b"one", b"", bytearray(b"three"), memoryview(b"four")):
            writer.write(data)  # type: ignore[arg-type]
    assert writer.closed
    assert list(loader.RawEventFileLoader(str(path)).Load()) == [b"one", b"", b"three", b"four"]


def test_records_go_to_an_open_file_which_stays_open() -> None:
    file = io.BytesIO()
    with RecordWriter(file) as writer:
        writer.write(b"data")
    assert not file.closed
    # length, its masked CRC, data, their masked CRC, as TensorFlow writes them
    assert file.getvalue()[:8] == (4).to_bytes(8, "little")
    assert file.getvalue()[12:16] == b"data"
    assert len(file.getvalue()) == 20


def test_records_are_whole_in_files_that_take_little(tmp_path: Path) -> None:
    class Little(io.BytesIO):
        def write(self, data: Any) -> int:
            return super().write(bytes(data)[:3])

    file = Little()
    RecordWriter(file).write(b"some data")
    (tmp_path / "f").write_bytes(file.getvalue())
    assert list(loader.RawEventFileLoader(str(tmp_path / "f")).Load()) == [b"some data"]


@pytest.mark.parametrize("wrong", ["text", None, 5])
def test_records_that_are_no_bytes_are_type_errors(wrong: Any) -> None:
    with pytest.raises(TypeError):
        RecordWriter(io.BytesIO()).write(wrong)


@pytest.mark.parametrize("wrong", [None, 5, True, 1.5])
def test_a_record_file_is_no_number(wrong: Any) -> None:
    """An int would be taken for an open file of the process."""
    with pytest.raises(TypeError):
        RecordWriter(wrong)


@pytest.mark.parametrize("wrong", [5, None, b"one event", proto.Event(step=1)])
def test_what_is_no_list_of_events_is_refused(tmp_path: Path, wrong: Any) -> None:
    with EventFileWriter(tmp_path) as writer:
        with pytest.raises(TypeError, match="a list of events"):
            writer.write(wrong)
        writer.write([proto.Event(step=2)])
    (event,) = [each for each in events(tmp_path) if not each.file_version]
    assert event.step == 2


def test_one_event_by_the_name_that_tensorboards_class_has(tmp_path: Path) -> None:
    with EventFileWriter(tmp_path) as writer:
        assert writer.get_logdir() == str(tmp_path)
        writer.add_event(proto.Event(step=3))
        with pytest.raises(TypeError, match="Event"):
            writer.add_event(5)  # type: ignore[arg-type]
    assert [each.step for each in events(tmp_path) if not each.file_version] == [3]
    with pytest.raises(WriterClosedError):
        writer.add_event(proto.Event(step=4))

"""`profile`: where it writes, what happens without a GPU, with errors, twice, in a fork."""

from __future__ import annotations

import contextlib
import gzip
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import synthetic

import tfevents as tf
from tfevents import proto, store
from tfevents.compat import tensorboardx
from tfevents.compat.v1 import RunOptions
from tfevents.compat.v1.summary import FileWriter
from tfevents.graph import GraphBuilder
from tfevents.profiler import _output, _session, annotate, host, profile, start, stop
from tfevents.profiler.cupti import GpuUnavailableError
from tfevents.profiler.cupti.trace import GpuTrace

event_file_writer = pytest.importorskip("tensorboard.summary.writer.event_file_writer")


class Gpu:
    """A GPU session that is always the same."""

    def __init__(self, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.running = False
        self.depth = 0

    def start(self) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.running = True

    def stop(self) -> GpuTrace:
        self.running = False
        return synthetic.gpu()

    def push(self, external_id: int) -> bool:
        self.depth += 1
        return True

    def pop(self) -> None:
        self.depth -= 1


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    yield
    left = _session._current
    with contextlib.suppress(RuntimeError):
        stop()
    assert left is None
    assert host._recorder is None
    assert not tracemalloc.is_tracing()


def events(directory: Path) -> list[proto.Event]:
    files = sorted(directory.glob("*tfevents*"))
    return [event for path in files for event in tf.read_events(path)]


def tagged(directory: Path) -> dict[str, tuple[int, proto.RunMetadata]]:
    found = {}
    for event in events(directory):
        if event.HasField("tagged_run_metadata"):
            payload = event.tagged_run_metadata
            found[payload.tag] = event.step, proto.RunMetadata.FromString(payload.run_metadata)
    return found


def ops(metadata: proto.RunMetadata) -> list[str]:
    return [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats]


def spaces(directory: Path) -> list[proto.XSpace]:
    files = sorted(directory.glob("plugins/profile/*/*.xplane.pb"))
    return [proto.XSpace.FromString(path.read_bytes()) for path in files]


# Where it goes -----------------------------------------------------------------------------------

WRITERS: list[Callable[[str], Any]] = [
    tf.SummaryWriter, tf.RunWriter, FileWriter, tf.FileWriter, tf.summary.create_file_writer,
    event_file_writer.EventFileWriter,
]


@pytest.mark.parametrize("make", WRITERS, ids=lambda make: make.__qualname__)
def test_writers(make: Callable[[str], Any], tmp_path: Path) -> None:
    writer = make(os.fspath(tmp_path))
    with profile(writer, step=10), annotate("dense/MatMul"):
        pass
    assert {tag: step for tag, (step, _) in tagged(tmp_path).items()} == {"step 10": 10}
    assert ops(tagged(tmp_path)["step 10"][1]) == ["dense/MatMul"]
    (space,) = spaces(tmp_path)
    assert space.planes[0].name == "/host:CPU"
    writer.close()


@pytest.mark.parametrize("name", ["torch.utils.tensorboard", "tensorboardX"])
@pytest.mark.parametrize("kind", ["SummaryWriter", "FileWriter"])
def test_writers_of_other_libraries(name: str, kind: str, tmp_path: Path) -> None:
    module = pytest.importorskip(name)
    writer = getattr(module, kind)(os.fspath(tmp_path))
    with profile(writer, step=10), annotate("dense/MatMul"):
        pass
    with profile(writer, step=11, graph="spans"), annotate("dense/MatMul"):
        pass
    writer.close()
    assert {tag: step for tag, (step, _) in tagged(tmp_path).items()} == {"step 10": 10}
    (event,) = [event for event in events(tmp_path) if event.HasField("summary")]
    metadata = proto.RunMetadata.FromString(event.summary.value[0].tensor.string_val[0])
    assert (event.step, ops(metadata)) == (11, ["dense/MatMul"])


@pytest.mark.parametrize(
    "make",
    [
        lambda place: tf.SummaryWriter(place, write_to_disk=False),
        lambda place: tensorboardx.SummaryWriter(place, write_to_disk=False),
        lambda place: tf.summary.create_noop_writer(),
    ],
)
def test_writers_that_write_nothing(make: Callable[[str], Any], tmp_path: Path) -> None:
    with profile(make(os.fspath(tmp_path)), step=10) as profiled, annotate("a"):
        pass
    assert profiled.recording is not None
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_paths(kind: Callable[[str], Any], tmp_path: Path) -> None:
    with profile(kind(os.fspath(tmp_path / "new")), tag="mine"), annotate("a"):
        pass
    assert list(tagged(tmp_path / "new")) == ["mine"]
    assert len(spaces(tmp_path / "new")) == 1


def test_each_step_has_its_own(tmp_path: Path) -> None:
    with profile(tmp_path, tag="train"):
        for number in (4, 5):
            with profile.step(number), annotate(f"op{number}"):
                pass
    found = tagged(tmp_path)
    assert {tag: step for tag, (step, _) in found.items()} == {"train 4": 4, "train 5": 5}
    assert [ops(metadata) for _, metadata in found.values()] == [["op4"], ["op5"]]


def test_a_graph_goes_along_in_the_form_of_tf_summary(tmp_path: Path) -> None:
    graph = GraphBuilder()
    graph.node("x", "Placeholder")
    writer = tf.SummaryWriter(os.fspath(tmp_path))
    with writer, profile(writer, step=3, graph=graph), annotate("x"):
        pass
    (event,) = [e for e in events(tmp_path) if e.HasField("summary")]
    (value,) = event.summary.value
    assert (event.step, value.tag) == (3, "step 3")
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata"
    assert value.metadata.plugin_data.content == b"1"
    metadata = proto.RunMetadata.FromString(value.tensor.string_val[0])
    (function,) = metadata.function_graphs
    assert [node.name for node in function.pre_optimization_graph.node] == ["x"]
    assert ops(metadata) == ["x"]


def test_a_graph_of_the_spans(tmp_path: Path) -> None:
    names = "load data", "dense/MatMul", "dense", "/no/node", "no//node", "no/", "dense/MatMul"
    with profile(tmp_path, graph="spans") as profiled:
        for name in names:
            with annotate(name):
                pass
    recording = profiled.recording
    assert recording is not None
    recording.save_run_metadata(tmp_path, "again", "spans")
    values = [value for event in events(tmp_path) for value in event.summary.value]
    assert [value.tag for value in values] == ["step 0", "again"]
    for value in values:
        metadata = proto.RunMetadata.FromString(value.tensor.string_val[0])
        (function,) = metadata.function_graphs
        nodes = [(node.name, node.op) for node in function.pre_optimization_graph.node]
        assert nodes == [("load data", "load data"), ("dense/MatMul", "MatMul"), ("dense", "dense")]
        assert ops(metadata) == list(dict.fromkeys(names))


def test_profiles_of_one_second_have_directories_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tfevents.profiler._output.session_name", lambda: "now")
    for _ in range(3):
        with profile(tmp_path):
            pass
    names = sorted(path.name for path in (tmp_path / "plugins" / "profile").iterdir())
    assert names == ["now", "now_1", "now_2"]
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_where_directories_should_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "profile").write_text("not a directory")
    with pytest.raises(NotADirectoryError), profile(tmp_path, step=1):
        pass
    assert list(tagged(tmp_path)) == ["step 1"]


def test_processes_that_name_one_session_keep_their_files(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with profile(tmp_path, session="mine"), annotate(name):
            pass
    (session,) = (tmp_path / "plugins" / "profile").iterdir()
    assert session.name == "mine"
    files = sorted(session.iterdir(), key=lambda path: len(path.name))
    host = _output.host_name()
    assert [file.name for file in files] == [f"{host}.xplane.pb", f"{host}_1.xplane.pb"]
    for file, name in zip(files, ("first", "second"), strict=True):
        (plane,) = proto.XSpace.FromString(file.read_bytes()).planes[:1]
        assert name in [entry.name for entry in plane.event_metadata.values()]


def test_a_name_that_another_process_takes_meanwhile(tmp_path: Path) -> None:
    session, host = tmp_path / "plugins" / "profile" / "s", _output.host_name()

    def parts() -> Iterator[bytes]:
        yield b"ours"
        (session / f"{host}.xplane.pb").write_bytes(b"theirs")

    path = _output.write_xspace(tmp_path, parts, "s")
    assert Path(path).read_bytes() == b"ours"
    found = {file.name: file.read_bytes() for file in session.iterdir()}
    assert found == {f"{host}.xplane.pb": b"theirs", f"{host}_1.xplane.pb": b"ours"}


def test_a_store_in_which_everything_exists_is_given_up(tmp_path: Path) -> None:
    class Full(store.MemoryStore):
        def create(self, path: str, *, parents: bool = True) -> Any:
            raise FileExistsError(path)

    for session in (None, "mine"):
        with store.redirect(Full()), pytest.raises(FileExistsError):
            _output.write_xspace("log", lambda: [b""], session)


def test_another_store_gets_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    memory = store.MemoryStore()
    with store.redirect(memory), profile("log", chrome="trace.json", session="s"), annotate("a"):
        pass
    assert list(tmp_path.iterdir()) == []
    names = sorted(os.path.basename(name) for name in memory.files)
    assert len(names) == 3
    assert [name.split(".")[0] for name in names if "tfevents" in name] == ["events"]
    space = next(data for name, data in memory.files.items() if name.endswith(".xplane.pb"))
    assert proto.XSpace.FromString(bytes(space)).planes[0].name == "/host:CPU"


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_chrome(name: str, tmp_path: Path) -> None:
    with profile(tmp_path / "log", chrome=tmp_path / name, xspace=False), annotate("a"):
        pass
    data = (tmp_path / name).read_bytes()
    trace = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    assert [e["name"] for e in trace["traceEvents"] if e["ph"] == "X"] == ["step", "a"]
    assert spaces(tmp_path / "log") == []


# GPUs --------------------------------------------------------------------------------------------


def test_gpu_work_is_in_everything(tmp_path: Path) -> None:
    gpu = Gpu()
    with profile(tmp_path, step=1, gpu=gpu) as profiled, annotate("a"):
        assert (gpu.running, gpu.depth) == (True, 1)
    assert (gpu.running, gpu.depth) == (False, 0)
    devices = [d.device for d in tagged(tmp_path)["step 1"][1].step_stats.dev_stats]
    assert "/job:localhost/replica:0/task:0/device:GPU:0" in devices
    assert "/device:GPU:0" in [plane.name for plane in spaces(tmp_path)[0].planes]
    assert profiled.recording is not None
    assert profiled.recording.gpu_reason == ""


def test_without_a_gpu_one_warning_says_why(tmp_path: Path) -> None:
    gpu = Gpu(GpuUnavailableError("no library was found"))
    profiled = profile(tmp_path, step=1, gpu=gpu)
    with pytest.warns(UserWarning, match="no library was found") as caught, profiled, annotate("a"):
        pass
    assert [warning.filename for warning in caught] == [__file__]
    assert ops(tagged(tmp_path)["step 1"][1]) == ["a"]
    assert profiled.recording is not None
    assert profiled.recording.gpu_reason == "no library was found"


@pytest.mark.skipif(_session.driver_seems_there(), reason="this machine has a driver")
def test_auto_is_quiet_without_a_driver_and_true_is_not(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profile(tmp_path), annotate("a"):
            pass
    with pytest.warns(UserWarning, match="without GPU activity"), profile(tmp_path, gpu=True):
        pass


def test_a_gpu_that_fails_oddly_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), profile(tmp_path, gpu=Gpu(ZeroDivisionError())):
        raise AssertionError("not reached")
    with profile(tmp_path):
        pass


def test_a_gpu_that_fails_at_the_end_costs_its_part_only(tmp_path: Path) -> None:
    class Failing(Gpu):
        def stop(self) -> GpuTrace:
            raise MemoryError("too many records")

    warned = pytest.warns(UserWarning, match="MemoryError: too many records")
    with warned, profile(tmp_path, step=1, gpu=Failing()), annotate("a"):
        pass
    assert ops(tagged(tmp_path)["step 1"][1]) == ["a"]


def test_the_options_of_tensorflow_1() -> None:
    options = RunOptions(trace_level=RunOptions.FULL_TRACE)
    assert options.SerializeToString() == b"\x08\x03"


# Faults ------------------------------------------------------------------------------------------


def test_an_exception_in_the_block_passes_and_all_is_written(tmp_path: Path) -> None:
    gpu = Gpu()
    profiled = profile(tmp_path, step=2, gpu=gpu, memory=True)
    with pytest.raises(KeyError), profiled, annotate("a"):
        raise KeyError("training")
    assert not gpu.running
    assert ops(tagged(tmp_path)["step 2"][1]) == ["a"]
    assert len(spaces(tmp_path)) == 1


def test_two_at_once(tmp_path: Path) -> None:
    with profile(tmp_path, step=1):
        with pytest.raises(RuntimeError, match="running already"), profile(tmp_path):
            raise AssertionError("not reached")
        with pytest.raises(RuntimeError, match="running already"):
            start()
        with annotate("a"):
            pass
    assert ops(tagged(tmp_path)["step 1"][1]) == ["a"]


def test_one_object_twice(tmp_path: Path) -> None:
    made = profile(tmp_path)
    with made:
        pass
    with pytest.raises(RuntimeError, match="twice"), made:
        raise AssertionError("not reached")


def test_what_cannot_be_written_is_raised_after_the_rest_was_written(tmp_path: Path) -> None:
    (tmp_path / "plugins").write_text("a file where a directory should be")
    with pytest.raises(OSError, match="plugins"), profile(tmp_path, step=1):
        pass
    assert list(tagged(tmp_path)) == ["step 1"]


def test_the_error_of_the_block_wins(tmp_path: Path) -> None:
    (tmp_path / "plugins").write_text("a file where a directory should be")
    warned = pytest.warns(UserWarning, match="was not written")
    with warned, pytest.raises(KeyError), profile(tmp_path):
        raise KeyError("training")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((3,), {}, TypeError, "got int"),
        (("log",), {"gpu": "yes"}, ValueError, "'yes'"),
        (("log",), {"gpu": 3}, TypeError, "got int"),
        (("log",), {"step": -1}, ValueError, "got -1"),
        (("log",), {"step": 1.5}, TypeError, "a step must be an integer, got float"),
        (("log",), {"tag": 3}, TypeError, "got int"),
        (("log",), {"tag": "\ud800"}, ValueError, "surrogates"),
        (("log",), {"session": 3}, TypeError, "session's name must be a str, got int"),
        (("log",), {"session": "\ud800"}, ValueError, "surrogates"),
        (("log",), {"session": "../up"}, ValueError, "one part of a path"),
        (("log",), {"session": ".."}, ValueError, "one part of a path"),
        (("log",), {"graph": 3}, TypeError, "GraphDef"),
        (("log",), {"graph": "nodes"}, ValueError, "'spans', got 'nodes'"),
        (("log",), {"chrome": 3}, TypeError, "int"),
        (("log",), {"max_spans": 0}, ValueError, "got 0"),
    ],
)
def test_bad_arguments(
    arguments: Any, options: Any, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        profile(*arguments, **options)


def test_annotations_of_other_threads_may_outlive_the_profile(tmp_path: Path) -> None:
    opened, over = threading.Event(), threading.Event()

    def work() -> None:
        with annotate("long"):
            opened.set()
            over.wait(10)
        with annotate("after"):
            pass

    thread = threading.Thread(target=work)
    with profile(tmp_path, step=1):
        thread.start()
        opened.wait(10)
    over.set()
    thread.join()
    assert ops(tagged(tmp_path)["step 1"][1]) == ["long"]


def test_start_and_stop(tmp_path: Path) -> None:
    start(gpu=False)
    with annotate("a"):
        pass
    recording = stop(step=8)
    assert recording is not None
    assert recording.timeline.steps() == [8]
    recording.save_run_metadata(tmp_path)
    assert list(tagged(tmp_path)) == ["step 8"]
    assert recording.save_xspace(tmp_path, "s").endswith(".xplane.pb")
    with pytest.raises(RuntimeError, match="no profile"):
        stop()


def _in_child(queue: Any) -> None:
    with annotate("child"):
        pass
    try:
        start()
        queue.put("started")
        stop()
    except RuntimeError as error:
        queue.put(str(error))


@pytest.mark.parametrize(("step", "error"), [("ten", TypeError), (-1, ValueError)])
def test_a_bad_step_does_not_end_the_recording(step: Any, error: type[Exception]) -> None:
    start(gpu=False)
    with pytest.raises(error):
        stop(step)
    recording = stop(3)
    assert recording is not None
    assert recording.timeline.steps() == [3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_no_profile_and_may_begin_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with profile(tmp_path, step=1, gpu=Gpu()):
        child = context.Process(target=_in_child, args=(queue,))
        child.start()
        assert queue.get(timeout=30) == "started"
        child.join(30)
        with annotate("parent"):
            pass
    assert ops(tagged(tmp_path)["step 1"][1]) == ["parent"]


def test_a_fork_inside_the_block_writes_nothing_in_the_child(tmp_path: Path) -> None:
    program = (
        "import os, sys; from tfevents.profiler import profile\n"
        "with profile(sys.argv[1], step=1): pid = os.fork()\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, os.fspath(tmp_path)], check=True, timeout=60
    )
    assert len(list(tmp_path.glob("*tfevents*"))) == 1
    assert len(spaces(tmp_path)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_memory_is_sampled_goes_on_without(tmp_path: Path) -> None:
    program = (
        "import os, sys, tracemalloc\n"
        "from tfevents.profiler import annotate, host, profile\n"
        "with profile(sys.argv[1], memory=True), annotate('across'):\n"
        "    lock = host._recorder._memory._lock\n"
        "    lock.acquire()\n"  # as another thread may have done
        "    pid = os.fork()\n"
        "    if pid: lock.release()\n"
        "    else: print('traced in the child:', tracemalloc.is_tracing(), flush=True)\n"
        "if pid: os.waitpid(pid, 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, os.fspath(tmp_path)],
        check=True, timeout=60, capture_output=True, text=True,
    )
    assert done.stdout == "traced in the child: False\n"


def test_names_that_utf_8_cannot_carry_cost_no_profile(tmp_path: Path) -> None:
    def work() -> None:
        with annotate("file \udcff.bin"):
            pass

    with profile(tmp_path, step=1, chrome=tmp_path / "trace.json"):
        thread = threading.Thread(target=work, name="worker \udc80")
        thread.start()
        thread.join()
    assert ops(tagged(tmp_path)["step 1"][1]) == ["file ?.bin"]
    host = spaces(tmp_path)[0].planes[0]
    assert "worker ?" in [line.name for line in host.lines]


def test_importing_it_loads_nothing_heavy() -> None:
    program = (
        "import sys, tfevents.profiler as p; p.annotate('a')\n"
        "print([n for n in ('google.protobuf', 'PIL', 'pynvml') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from cupti_fake import RELEASES, run

from tfevents.profiler.cupti import GpuSession, GpuUnavailableError, session

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake library is for Linux")

ALL_KINDS = 1 + 2 * 13
"""fake_state() while subscribed with every kind enabled that a session asks for by default."""


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_gives_the_same_trace(release: int) -> None:
    said = run(
        """
session = GpuSession(whole_graphs=True)
session.start()
fake.fake_launch(20)
fake.fake_emit_each(10**18)
trace = session.stop()
name = lambda row, column="name": trace.names[row[column]]
t = trace
say(
    durations=(t.kernels["end"] - t.kernels["start"]).tolist(),
    correlations=t.kernels["correlation"].tolist(),
    kernels=[name(row) for row in t.kernels],
    kernel=t.kernels[0][["device", "context", "stream", "grid", "block", "registers",
        "static_shared", "dynamic_shared", "local_per_thread", "graph", "graph_node"]].tolist(),
    memcpys=[list(map(int, row)) for row in t.memcpys.tolist()],
    memsets=[list(map(int, row)) for row in t.memsets.tolist()],
    calls=sorted({(int(row["domain"]), name(row)) for row in t.api}),
    marker=[name(t.markers[0]), name(t.markers[0], "domain"), *t.markers[0].tolist()],
    overhead=t.overheads[0].tolist(),
    sync=t.syncs[0].tolist(),
    memory=[name(t.memory[0]), *t.memory[0].tolist()],
    graph=t.graphs[0].tolist(),
    device=[name(t.devices[0]), *t.devices[0].tolist()],
    contexts=t.contexts.tolist(),
    dropped=t.dropped, notes=t.notes, state=fake.fake_state(), rows=len(t.api),
)
""",
        FAKE_RELEASE=str(release),
    )
    t = 10**18
    correlations = list(range(1, 21))
    assert said["correlations"] == correlations
    assert said["durations"] == [500 + c % 7 for c in correlations]
    readable = [
        "void kernel<0>(float*, int)",
        "at::native::gemm(float const*, float const*, float*)",
        "plain",
    ]
    assert said["kernels"] == [readable[c % 3] for c in correlations]
    assert said["kernel"] == [0, 1, 7, [128, 2, 1], [256, 1, 4], 32, 1024, 2048, 16, 6, 5]
    assert said["memcpys"] == [
        [t + 10, t + 20, 1, 2, 3, 4, 6, 5, 4096, 1, 1, 3, 1, 0, 1],
        [t + 50, t + 62, 0, 2, 3, 6, 10, 9, 8192, 10, 3, 3, 0, 1, 1],
    ]
    assert said["memsets"] == [[t + 30, t + 41, 1, 2, 3, 5, 8, 7, 64, 0xAB, 3, 1]]
    assert said["calls"] == [[1, "cuLaunchKernel"], [2, "cudaLaunchKernel"]]
    assert said["rows"] == 40
    assert said["marker"][:5] == ["step", "mine", t + 70, 2, 11]
    assert said["marker"][-3:] == [2, 12, 13]
    assert said["overhead"] == [t + 80, t + 93, 5 << 16, 2, 14, 15]
    assert said["sync"] == [t + 100, t + 114, 3, 16, 2, 3]
    assert said["memory"][:-1] == [
        *("weights", t + 120, 1, 2, 3, 18),
        *(1, 3, 0x7F0000001000, 1 << 20, 19),
    ]
    assert said["graph"] == [t + 130, t + 145, 1, 2, 3, 20, 21]
    assert said["device"][0] == "Fake H100"
    assert said["device"][3:] == [85520809984, 3352320000, 1980000, 132, 9, 1]
    assert said["contexts"] == [[1, 3]]
    assert (said["dropped"], said["notes"], said["state"]) == (0, [], 0)


def test_spans_are_tied_to_what_they_launch() -> None:
    said = run("""
session = GpuSession()
session.start()
fake.fake_launch(1)
outer = session.push(2**64 - 1)
fake.fake_launch(2)
inner = session.push(5)
fake.fake_launch(1)
session.pop()
fake.fake_launch(1)
session.pop()
fake.fake_launch(1)
trace = session.stop()
say(pairs=trace.external.tolist(), pushed=[outer, inner], after=session.push(1))
""")
    big = 2**64 - 1
    assert said["pairs"] == [[2, big], [3, big], [4, 5], [5, big]]
    assert said["pushed"] == [True, True]
    assert said["after"] is False


def test_a_push_that_fails_wants_no_pop_and_is_told() -> None:
    said = run("""
session = GpuSession()
session.start()
pushed = [session.push(number) for number in range(66)]
fake.fake_launch(1)
for _ in range(64):
    session.pop()
fake.fake_launch(1)
trace = session.stop()
say(pushed=sum(pushed), pairs=trace.external.tolist(), notes=trace.notes)
""")
    assert said["pushed"] == 64
    assert said["pairs"] == [[1, 63]]
    assert said["notes"] == ["2 spans could not be tied to their work"]


def test_spans_belong_to_threads() -> None:
    said = run("""
session = GpuSession()
session.start()
def work(number):
    for _ in range(50):
        session.push(number)
        fake.fake_launch(1)
        session.pop()
threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
trace = session.stop()
owner = {int(row["correlation"]): int(row["thread"]) for row in trace.api}
by = {}
for correlation, external in trace.external.tolist():
    by.setdefault(external, set()).add(owner[correlation])
say(count=len(trace.external), threads={k: len(v) for k, v in by.items()},
    distinct=len(set.union(*by.values())),
    known={t.ident & 0xFFFFFFFF for t in threads} == set.union(*by.values()))
""")
    assert said["count"] == 200
    assert said["threads"] == {"1": 1, "2": 1, "3": 1, "4": 1}
    assert said["known"] is True


def test_times_are_the_systems_whatever_the_librarys_clock() -> None:
    script = """
session = GpuSession()
session.start()
before = time.time_ns()
fake.fake_launch(1)
after = time.time_ns()
trace = session.stop()
say(start=int(trace.api["start"][0]), before=before, after=after)
"""
    for skew in ("0", "-3600000000000", "2000000"):
        said = run(script, FAKE_SKEW=skew)
        assert said["before"] - 1_000_000 <= said["start"] <= said["after"] + 1_000_000


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        ("cuInit=100", "no CUDA device is visible (CUDA error 100)"),
        ("cuInit=803", "driver and kernel module do not match"),
        ("cuDeviceGetCount=100", "there is no GPU"),
        ("cuptiSubscribe=39", "another profiler"),
        ("cuptiSubscribe=12", "another profiler"),
        ("cuptiSubscribe=15", "newer than the driver"),
        ("cuptiActivityEnable=35", "restricted to administrators"),
        ("kind10=21", "cuptiActivityEnable returned 21 (INVALID_KIND)"),
        ("kind39=999", "cuptiActivityEnable returned 999 (UNKNOWN)"),
        ("cuptiActivityRegisterCallbacks=14", "newer API family"),
        ("cuptiGetTimestamp=15", "newer than the driver"),
        ("cuptiSubscribe=14", "newer API family"),
        ("cuptiActivityGetNextRecord=999,cuptiGetVersion=999", "no known layout of kernels"),
    ],
)
def test_what_fails_is_said_and_nothing_stays_enabled(fail: str, reason: str) -> None:
    said = run(
        """
found = status()
try:
    GpuSession().start()
except GpuUnavailableError as error:
    say(available=found.available, reason=found.reason, error=str(error), state=fake.fake_state())
""",
        FAKE_FAIL=fail,
    )
    assert said["available"] is False
    assert reason in said["reason"]
    assert said["reason"] == f"GPU activity cannot be recorded: {said['error']}"
    assert said["state"] == 0


def test_status_of_a_working_gpu() -> None:
    said = run("""
first = status()
session = GpuSession()
session.start()
second = status()
busy = fake.fake_state()
session.stop()
say(first=[bool(first), first.reason], second=[bool(second), second.reason], busy=busy,
    state=fake.fake_state())
""")
    assert said["first"][0] is True
    assert "libcupti.so (TFEVENTS_CUPTI_PATH)" in said["first"][1]
    assert said["second"] == [True, "GPU activity is being recorded at this moment"]
    assert said["busy"] == ALL_KINDS
    assert said["state"] == 0


def test_kinds_that_are_not_essential_are_left_out_with_a_note() -> None:
    said = run(
        """
session = GpuSession()
session.start()
busy = fake.fake_state()
fake.fake_launch(3)
trace = session.stop()
say(kernels=len(trace.kernels), notes=trace.notes, busy=busy, state=fake.fake_state())
""",
        FAKE_FAIL="kind49=21,kind8=21,dump9=999",
    )
    assert said["kernels"] == 3
    assert any(note.startswith("no memory operations were recorded") for note in said["notes"])
    assert any(note.startswith("no devices were recorded") for note in said["notes"])
    assert any(note.startswith("no contexts were recorded") for note in said["notes"])
    assert said["busy"] == ALL_KINDS - 3 * 2  # the one that was enabled all the same is off again
    assert said["state"] == 0


def test_sizes_come_from_the_version_where_the_walk_does_not_answer() -> None:
    said = run(
        """
session = GpuSession()
session.start()
fake.fake_launch(3)
trace = session.stop()
say(kernels=len(trace.kernels), dropped=trace.dropped)
""",
        FAKE_FAIL="cuptiActivityGetNextRecord=999",
        FAKE_RELEASE="1301",
    )
    assert said == {"kernels": 3, "dropped": 0}


def test_without_any_known_sizes_nothing_is_recorded() -> None:
    said = run(
        "say(reason=status().reason, state=fake.fake_state())",
        FAKE_FAIL="cuptiActivityGetNextRecord=999",
        FAKE_RELEASE="1108",
    )
    assert "no known layout of kernels" in said["reason"]
    assert said["state"] == 0


def test_failures_while_stopping_are_notes() -> None:
    said = run("""
session = GpuSession()
session.start()
fake.fake_launch(3)
fake.fake_fail(b"cuCtxSynchronize=719,cuptiActivityGetNumDroppedRecords=15,cuptiUnsubscribe=19")
trace = session.stop()
say(kernels=len(trace.kernels), notes=trace.notes)
""")
    assert said["kernels"] == 3
    notes = "\n".join(said["notes"])
    assert "waiting for the GPU failed: an error (CUDA error 719)" in notes
    assert "cuptiUnsubscribe returned 19 (INVALID_HANDLE): the subscription is gone" in notes
    assert "how many records the library dropped is unknown" in notes


def test_room_is_bounded_and_what_did_not_fit_is_counted() -> None:
    said = run("""
session = GpuSession(limit_bytes=4 << 20, buffer_bytes=1 << 20)
session.start()
fake.fake_launch(100_000)
trace = session.stop()
got = sum(len(getattr(trace, table)) for table in ("kernels", "api", "devices", "contexts"))
emitted = fake.fake_emitted()
again = GpuSession(limit_bytes=4 << 20, buffer_bytes=1 << 20)
again.start()
fake.fake_launch(10)
trace2 = again.stop()
say(got=got, dropped=trace.dropped, emitted=emitted, notes=trace.notes,
    bytes=len(trace.kernels) * 248 + len(trace.api) * 40,
    later=[len(trace2.kernels), trace2.dropped])
""")
    assert said["got"] + said["dropped"] == said["emitted"]
    assert 3 << 20 < said["bytes"] <= 4 << 20
    assert said["dropped"] > 0
    assert "did not fit into 4194304 bytes" in said["notes"][0]
    assert said["later"] == [10, 0]


def test_python_callbacks_do_the_same_where_nobody_holds_the_gil() -> None:
    said = run("""
session = GpuSession(
    python_callbacks=True, buffer_bytes=1 << 16, limit_bytes=1 << 18, driver_calls=False
)
session.start()
session.push(5)
fake.fake_launch(1)
session.pop()
fake.fake_launch_threads(2, 2000)
trace = session.stop()
got = sum(len(getattr(trace, t)) for t in ("kernels", "api", "devices", "contexts", "external"))
say(got=got, dropped=trace.dropped, emitted=fake.fake_emitted(), notes=trace.notes,
    external=trace.external.tolist(), state=fake.fake_state())
""")
    assert said["got"] + said["dropped"] == said["emitted"]
    assert said["dropped"] > 0
    assert "dropped by the library" in said["notes"][0]
    assert said["external"] == [[1, 5]]
    assert said["state"] == 0


def test_two_at_once_are_refused() -> None:
    said = run("""
first, second = GpuSession(), GpuSession()
first.start()
try:
    second.start()
except GpuUnavailableError as error:
    refused = str(error)
fake.fake_launch(2)
trace = first.stop()
try:
    first.stop()
except RuntimeError as error:
    twice = str(error)
second.start()
fake.fake_launch(3)
say(refused=refused, twice=twice, counts=[len(trace.kernels), len(second.stop().kernels)],
    state=fake.fake_state())
""")
    assert said["refused"] == "another GPU session of this process is running"
    assert said["twice"] == "this GPU session is not running"
    assert said["counts"] == [2, 3]
    assert said["state"] == 0


def test_another_subscriber_is_left_alone() -> None:
    """Whatever the library leaves in the handle, the other's hold and buffers are its own."""
    said = run("""
flushed = []
taken = ctypes.c_void_p()
ignore = ctypes.CFUNCTYPE(None)(lambda: None)
complete = ctypes.CFUNCTYPE(None)(lambda: flushed.append(1))
request = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_size_t)] * 3)(lambda *_: None)
fake.cuptiSubscribe(ctypes.byref(taken), ignore, None)
fake.cuptiActivityRegisterCallbacks(request, complete)
fake.cuptiActivityEnable(10)
fake.fake_launch(1)
fake.fake_drop(4)
reason, state = status().reason, fake.fake_state()
dropped = ctypes.c_size_t()
fake.cuptiActivityGetNumDroppedRecords(None, 0, ctypes.byref(dropped))
say(reason=reason, state=state, flushed=len(flushed), dropped=dropped.value)
""")
    assert "another profiler" in said["reason"]
    assert (said["state"], said["flushed"]) == (3, 0)
    assert said["dropped"] >= 4


def test_what_the_library_dropped_before_is_not_ours() -> None:
    said = run("""
fake.fake_drop(7)
session = GpuSession()
session.start()
fake.fake_launch(1)
first = session.stop()
session.start()
fake.fake_drop(2)
second = session.stop()
say(dropped=[first.dropped, second.dropped], notes=[first.notes, second.notes])
""")
    assert said["dropped"] == [0, 2]
    assert said["notes"][0] == []
    assert "2 records were dropped by the library" in said["notes"][1][0]


def test_failures_of_one_session_are_not_told_of_the_next() -> None:
    said = run("""
session = GpuSession()
notes = []
for code in 1, 0:
    session.start()
    fake.fake_fail(b"cuptiActivityPushExternalCorrelationId=%d" % code)
    session.push(1)
    fake.fake_fail(b"cuptiActivityPopExternalCorrelationId=%d" % code)
    session.push(2)
    session.pop()
    fake.fake_fail(b"")
    notes.append(session.stop().notes)
say(notes=notes)
""")
    first = ["1 spans could not be tied to their work", "later work may be tied to 1 earlier spans"]
    assert said["notes"] == [first, []]


def test_what_was_launched_before_is_not_recorded() -> None:
    said = run("""
fake.fake_launch(5)
session = GpuSession()
session.start()
fake.fake_launch(3)
trace = session.stop()
fake.fake_launch(4)
say(correlations=trace.kernels["correlation"].tolist())
""")
    assert said["correlations"][-3:] == [6, 7, 8]


def test_a_running_torch_profiler_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    profiling = SimpleNamespace(autograd=SimpleNamespace(_profiler_enabled=lambda: True))
    monkeypatch.setitem(sys.modules, "torch", profiling)
    with pytest.raises(GpuUnavailableError, match="profiler is running"):
        GpuSession().start()
    profiling.autograd._profiler_enabled = lambda: False
    assert session.torch_is_profiling() is False


def test_the_real_torch_has_the_flag_we_read() -> None:
    torch = pytest.importorskip("torch")
    assert session.torch_is_profiling() is False
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert session.torch_is_profiling() is True
    assert session.torch_is_profiling() is False


@pytest.mark.parametrize(
    "arguments",
    [{"buffer_bytes": 4095}, {"buffer_bytes": 4100}, {"limit_bytes": 4096, "buffer_bytes": 8192}],
)
def test_bad_sizes(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="_bytes is"):
        GpuSession(**arguments)  # type: ignore[arg-type]


def test_the_broken_release_is_told_without_a_call() -> None:
    said = run("say(reason=status().reason)", library="broken.so", driver=True)
    assert "CUPTI 13.2, which can crash" in said["reason"]


def test_without_a_driver_nothing_is_called() -> None:
    """broken.so aborts on any call; so does this if the library is touched before the driver."""
    said = run(
        """
from tfevents.profiler.cupti import _lib
_lib.is_broken = lambda library: False
say(reason=status().reason)
""",
        library="broken.so",
        driver=False,
    )
    if "no CUDA driver" not in said["reason"]:
        pytest.skip("this machine has a driver")


def test_import_touches_nothing() -> None:
    said = run("""
maps = open("/proc/self/maps").read()
say(driver="libcuda.so" in maps, executable="rwx" in maps)
""")
    assert said == {"driver": False, "executable": False}

"""What hangs or crashes naive users of CUPTI, each in a process of its own with a deadline."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cupti_fake import run, start

from tfevents.profiler.cupti import _driver, _lib

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake library is for Linux")


def test_a_million_launches_from_four_threads_lose_and_double_nothing() -> None:
    said = run(
        """
import numpy as np
session = GpuSession(driver_calls=False, limit_bytes=1 << 30)
session.start()
fake.fake_launch_threads(4, 250_000)
trace = session.stop()
per_thread = np.unique(trace.api["thread"], return_counts=True)[1].tolist()
once = all(
    np.array_equal(np.sort(table["correlation"]), np.arange(1, 1_000_001))
    for table in (trace.kernels, trace.api)
)
exact = np.array_equal(
    trace.kernels["end"] - trace.kernels["start"], 500 + trace.kernels["correlation"] % 7
)
say(once=once, exact=exact, per_thread=per_thread, dropped=trace.dropped, notes=trace.notes,
    emitted=fake.fake_emitted())
""",
        timeout=120,
    )
    assert said["once"] is True
    assert said["exact"] is True
    assert said["per_thread"] == [250_000] * 4
    assert said["emitted"] == 2_000_002  # and one device, one context
    assert (said["dropped"], said["notes"]) == (0, [])


LAUNCH_WITH_THE_GIL = """
session = GpuSession(buffer_bytes=4096, python_callbacks={python})
session.start()
done = []
launched = 0
def with_the_gil():
    global launched
    while len(done) < 2:
        held.fake_launch(10)
        launched += 10
def without():
    for _ in range(200):
        fake.fake_launch(10)
    done.append(True)
threads = [threading.Thread(target=t, daemon=True) for t in (with_the_gil, without, without)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
trace = session.stop()
say(done=len(done), lacking=4000 + launched - len(trace.kernels), dropped=trace.dropped)
"""


def test_launching_with_the_gil_while_buffers_are_requested() -> None:
    """The lock inversion: CUPTI's lock held by one thread, the GIL by another."""
    script = LAUNCH_WITH_THE_GIL.format(python=False)
    said = run(script, FAKE_HOLD_US="200")
    assert said == {"done": 2, "lacking": 0, "dropped": 0}


def test_python_callbacks_do_hang_there() -> None:
    """Else the test above would prove nothing."""
    process = start(LAUNCH_WITH_THE_GIL.format(python=True), FAKE_HOLD_US="200")
    try:
        said = process.communicate(timeout=4)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    else:
        pytest.fail(f"it ended with {process.returncode}: {said}")


def test_a_flush_with_the_gil_held() -> None:
    said = run("""
session = GpuSession(buffer_bytes=4096)
session.start()
fake.fake_launch(1000)
code = held.cuptiActivityFlushAll(0)
trace = session.stop()
say(code=code, kernels=len(trace.kernels))
""")
    assert said == {"code": 0, "kernels": 1000}


@pytest.mark.parametrize(
    "ending",
    ["sys.exit(0)", "os.kill(os.getpid(), 15)", "raise KeyboardInterrupt", "os._exit(0)", "pass"],
)
def test_exit_while_records_are_being_made(ending: str) -> None:
    script = f"""
import signal
signal.signal(15, lambda *_: sys.exit(0))
session = GpuSession(buffer_bytes=65536, limit_bytes=1 << 20)
session.start()
fake.fake_never_stop(3)
time.sleep(0.2)
print("emitting", flush=True)
{ending}
"""
    process = start(script)
    out, err = process.communicate(timeout=30)
    assert "emitting" in out
    expected = 130 if "Keyboard" in ending else 0
    assert process.returncode in {expected, -2 if expected else 0}, err


def test_exit_leaves_nothing_enabled() -> None:
    said = run("""
import atexit
atexit.register(lambda: say(state=fake.fake_state()))  # runs after what is registered later
session = GpuSession()
session.start()
say(state=fake.fake_state())
""")
    assert said == {"state": 0}


def test_buffers_that_another_tool_left_go_back_to_it() -> None:
    """To our callbacks they would be memory that nobody allocated."""
    said = run("""
made, back = [], []
@ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_size_t)] * 3)
def request(buffer, size, most):
    made.append(ctypes.create_string_buffer(1 << 16))
    buffer[0], size[0], most[0] = ctypes.addressof(made[-1]), 1 << 16, 0
@ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * 5)
def complete(context, stream, buffer, size, valid):
    back.append(buffer)
handle = ctypes.c_void_p()
fake.cuptiSubscribe(ctypes.byref(handle), request, None)
fake.cuptiActivityRegisterCallbacks(request, complete)
fake.cuptiActivityEnable(10)
fake.cuptiActivityEnable(5)
fake.fake_launch(3)
fake.cuCtxSynchronize()
fake.cuptiActivityDisable(10)
fake.cuptiActivityDisable(5)
fake.cuptiUnsubscribe(handle)
early = len(back)
session = GpuSession()
session.start()
fake.fake_launch(2)
trace = session.stop()
say(early=early, own=back == [ctypes.addressof(one) for one in made], count=len(back),
    kernels=trace.kernels["correlation"], dropped=trace.dropped)
""")
    assert (said["early"], said["own"], said["count"]) == (0, True, 2)
    assert (said["kernels"], said["dropped"]) == ([4, 5], 0)


def test_a_session_that_is_dropped_is_closed() -> None:
    said = run("""
session = GpuSession()
session.start()
fake.fake_launch(10)
before = fake.fake_state()
del session
gc.collect()
after = fake.fake_state()
another = GpuSession()
another.start()
fake.fake_launch(4)
say(before=before, after=after, kernels=len(another.stop().kernels))
""")
    assert said["before"] > 0
    assert said["after"] == 0
    assert said["kernels"] == 4


def test_collecting_garbage_while_recording() -> None:
    said = run("""
session = GpuSession(buffer_bytes=4096)
session.start()
worker = threading.Thread(target=fake.fake_launch_threads, args=(2, 20_000))
worker.start()
while worker.is_alive():
    gc.collect()
worker.join()
trace = session.stop()
say(kernels=len(trace.kernels), dropped=trace.dropped)
""")
    assert said == {"kernels": 40_000, "dropped": 0}


def test_a_forked_child_does_nothing_and_the_parent_goes_on() -> None:
    """The child has no worker thread: a flush there would wait for ever."""
    said = run("""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of forking with threads
session = GpuSession()
session.start()
fake.fake_launch(5)
read, write = os.pipe()
child = os.fork()
if child == 0:
    pushed = session.push(1)
    session.pop()
    trace = session.stop()
    reason = status().reason
    try:
        GpuSession().start()
    except GpuUnavailableError as error:
        refused = str(error)
    text = json.dumps([pushed, len(trace.kernels), trace.notes, reason, refused])
    os.write(write, text.encode())
    del session
    gc.collect()
    sys.exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
in_child = json.loads(os.read(read, 4096))
fake.fake_launch(5)
trace = session.stop()
say(code=code, child=in_child, kernels=len(trace.kernels), state=fake.fake_state())
""")
    assert said["code"] == 0
    pushed, kernels, notes, reason, refused = said["child"]
    assert (pushed, kernels) == (False, 0)
    assert "by the parent process" in notes[0]
    assert "forked" in reason
    assert "forked" in refused
    assert (said["kernels"], said["state"]) == (10, 0)


def test_a_child_forked_after_a_session_is_refused() -> None:
    said = run("""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
session = GpuSession()
session.start()
session.stop()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, status().reason.encode())
    os._exit(0)
say(reason=os.read(read, 4096).decode())
""")
    assert "forked" in said["reason"]


def test_many_sessions_in_a_row_hold_no_memory() -> None:
    said = run("""
from tfevents.profiler.cupti import _trampoline
counts = []
for _ in range(50):
    session = GpuSession(buffer_bytes=65536)
    session.start()
    fake.fake_launch(200)
    counts.append(len(session.stop().kernels))
say(counts=sorted(set(counts)), held=_trampoline.buffers().counters().held)
""")
    assert said == {"counts": [200], "held": 0}


def test_an_interrupt_while_starting_leaves_nothing_enabled() -> None:
    said = run("""
from tfevents.profiler.cupti._lib import Cupti
real = Cupti.call
def call(self, name, *arguments):
    real(self, name, *arguments)
    if name == "cuptiActivityEnable" and arguments == (2,):
        raise KeyboardInterrupt
Cupti.call = call
session = GpuSession()
try:
    session.start()
except KeyboardInterrupt:
    stopped = fake.fake_state()
Cupti.call = real
session.start()
fake.fake_launch(2)
say(stopped=stopped, kernels=len(session.stop().kernels))
""")
    assert said == {"stopped": 0, "kernels": 2}


EACH_CALL_FAILS = """
import tempfile, warnings
from tfevents.profiler import annotate, profile
fake.fake_failed.restype = ctypes.c_char_p
status()  # proves the driver, which is done once a process
rows = []
while not rows or rows[-1]["failed"]:
    fake.fake_fail_call(len(rows) + 1)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with profile(folder, gpu=True, step=3) as profiled:
            with annotate("dense"):
                fake.fake_launch(2)
        written = sum(len(names) for *_, names in os.walk(folder))
    timeline, reason = profiled.recording.timeline, profiled.recording.gpu_reason
    rows.append(dict(
        failed=fake.fake_failed().decode(), state=fake.fake_state(), written=written,
        host=[timeline.names[row["name"]] for row in timeline.spans], reason=reason,
        notes=timeline.notes, warnings=[str(one.message) for one in seen], work=len(timeline.work),
    ))
    fake.fake_reset()
say(rows=rows)
"""

STAYS_ON = {
    "cuptiActivityDisable": (2, "are recorded still"),
    "cuptiUnsubscribe": (1, "the library is held still"),
}
"""What cannot be undone when that very call fails: fake_state() then, and what is said of it."""

MAY_BE_SILENT = {
    "cuptiActivityGetNextRecord",  # of a kind that no table holds
    "cuptiGetCallbackName",  # the call keeps its number for a name
    "cuptiActivityFlushAll",  # of what another tool had left, where there was any
    "cuptiActivityGetNumDroppedRecords",  # of what was dropped before
}


def test_whichever_call_fails_nothing_stays_on_and_the_host_is_written() -> None:
    rows = run(EACH_CALL_FAILS, timeout=120)["rows"]
    once_a_process = {"cuInit", "cuDeviceGetCount", "cuptiGetVersion"}
    functions = {*_lib.SIGNATURES, *_driver.SIGNATURES} - once_a_process
    assert {row["failed"] for row in rows} == functions | {""}
    for row in rows:
        failed = row["failed"]
        state, said = STAYS_ON.get(failed, (0, ""))
        assert (failed, row["state"]) == (failed, state)
        assert (row["host"], row["written"]) == (["step", "dense"], 2)
        assert row["work"] == (0 if row["reason"] else 2)
        assert len(row["warnings"]) == bool(row["reason"])
        texts = [text for text in (row["reason"], *row["notes"]) if text]
        assert all(said in text for text in texts)
        assert failed in MAY_BE_SILENT or len(texts) == bool(failed), row


@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_interrupt_at_any_call_leaves_nothing_on(moment: str) -> None:
    said = run(
        f"""
from tfevents.profiler.cupti._lib import Cupti
real, left, count, interrupted = Cupti.call, [], 0, True
def call(self, name, *arguments):
    global calls
    calls += 1
    if calls == count and {moment!r} == "before":
        raise KeyboardInterrupt
    try:
        real(self, name, *arguments)
    finally:
        if calls == count and {moment!r} == "after":
            raise KeyboardInterrupt
while interrupted:
    count, calls, interrupted = count + 1, 0, False
    session = GpuSession()
    Cupti.call = call
    try:
        session.start()
        fake.fake_launch(1)
        session.stop()
    except KeyboardInterrupt:
        interrupted = True
    Cupti.call = real
    del session
    gc.collect()
    left.append(fake.fake_state())
session = GpuSession()
session.start()
fake.fake_launch(2)
say(left=left, kernels=len(session.stop().kernels), reason=status().reason)
""",
        timeout=120,
    )
    assert len(said["left"]) > 100
    assert set(said["left"]) == {0}
    assert said["kernels"] == 2
    assert "can be recorded" in said["reason"]

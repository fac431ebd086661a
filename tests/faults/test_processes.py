"""What processes do to writers: they end, fork, spawn and are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path

import pytest

import decoded
from readback import event_files, event_pb2, events, run_script, scalars, steps

HANG = 60.0
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


# -- exit


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("1 / 0", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT if os.name == "posix" else 1),
        ("import gc; w.me = w; del w; gc.collect()", 0),
        ("def last(): 1 / 0\nimport atexit; atexit.register(last)", 0),
        ("t = threading.Thread(target=sys.exit); t.start(); t.join()", 0),
        ("threading.Thread(target=lambda: (time.sleep(1), w.add_scalar('b', 0, 0))).start()", 0),
    ],
)
def test_exit_writes_everything_without_close(run: Path, end: str, status: int) -> None:
    run_script(
        run, "w = RunWriter(d)\nfor i in range(5000): w.add_scalar('a', i, i)\n" + end,
        status=status,
    )
    assert steps(run, "a") == list(range(5000))
    assert steps(run, "b") == ([0] if "'b'" in end else [])


def test_exit_writes_large_values(run: Path) -> None:
    run_script(run, """
        from tfevents.values.text import Text
        w = RunWriter(d)
        for i in range(9):
            text = Text.from_data('x' * 500_000)
            w.add_value('t', text.to_tensor_value, i, nbytes=text.nbytes)
    """)
    assert steps(run, "t") == list(range(9))


def test_exit_handlers_that_log_before_and_after_ours(run: Path) -> None:
    run_script(run, """
        import atexit
        atexit.register(lambda: [w.add_scalar('first', i, i) for i in range(50)])
        w = RunWriter(d)
        w.add_scalar('a', 0, 0)
        atexit.register(lambda: [w.add_scalar('last', i, i) for i in range(50)])
    """)
    assert Counter(tag for tag, *_ in scalars(run)) == {"a": 1, "first": 50, "last": 50}


def test_exit_handlers_may_open_flush_and_close(run: Path) -> None:
    run_script(run, """
        import atexit
        def late():
            other = RunWriter(d + '/late')
            other.add_scalar('b', 0, 0)
            other.flush()
            other.add_scalar('b', 1, 1)
            w.add_scalar('b', 2, 2)
            w.close()
        atexit.register(late)
        w = RunWriter(d)
        w.add_scalar('a', 0, 0)
    """)
    assert sorted(scalars(run)) == [("a", 0, 0), ("b", 0, 0), ("b", 1, 1), ("b", 2, 2)]


def test_exit_of_a_daemon_thread_that_logs_all_the_time(run: Path) -> None:
    """What it logged before the end is there, in order, and the end comes."""
    run_script(run, """
        w = RunWriter(d)
        def log():
            i = 0
            while True:
                w.add_scalar('a', i, i)
                i += 1
                if i % 100 == 0: time.sleep(0.001)
        threading.Thread(target=log, daemon=True).start()
        time.sleep(0.3)
    """, timeout=HANG)
    found = steps(run, "a")
    assert found == list(range(len(found)))
    assert len(found) > 100


def test_exit_gives_up_a_store_that_blocks_and_says_so(run: Path) -> None:
    stderr = run_script(run, """
        from tfevents import _scheduler
        from tfevents.store import LocalStore
        _scheduler.EXIT_TIMEOUT = 2.0
        class Stuck:
            def __init__(self, sink): self.sink, self.first = sink, True
            def write(self, data):
                if self.first: self.first = False; self.sink.write(data)
                else: time.sleep(1000)
            def flush(self): pass
            def close(self): pass
        class Slow(LocalStore):
            def create(self, path, **options): return Stuck(super().create(path, **options))
        w = RunWriter(d, store=Slow())
        for i in range(7): w.add_scalar('a', i, i)
    """, timeout=HANG)
    assert "gave up writing 7 events" in stderr
    assert "within 2 s" in stderr


def test_exit_that_comes_twice_waits_once(run: Path) -> None:
    # A child of multiprocessing ends by a finalizer and by atexit, and the thread of the first
    # time may not be gone yet at the second.
    stderr = run_script(run, """
        from tfevents import _scheduler
        _scheduler.EXIT_TIMEOUT = 1000.0
        serve = _scheduler.Scheduler._serve
        def lingering(self, clients):
            serve(self, clients)
            time.sleep(1000)
        _scheduler.Scheduler._serve = lingering
        w = RunWriter(d)
        for i in range(7): w.add_scalar('a', i, i)
        _scheduler._at_exit()
        _scheduler._at_exit()
    """, timeout=HANG)
    assert stderr == ""
    assert len(events(run)) == 7


def test_exit_says_what_a_fault_kept_from_being_written(run: Path) -> None:
    stderr = run_script(run, """
        import shutil
        w = RunWriter(d)
        w.add_scalar('a', 0, 0)
        w.flush()
        shutil.rmtree(d)
        w.add_scalar('a', 1, 1)
    """)
    assert "lost: 1 event" in stderr
    assert str(run) in stderr


def test_exit_without_any_warning_about_resources(run: Path) -> None:
    stderr = run_script(run, """
        writers = [RunWriter(d) for _ in range(5)]
        for w in writers: w.add_scalar('a', 0, 0)
        writers[0].close()
        del writers[1], w
    """, options=("-X", "dev", "-W", "error::ResourceWarning"))
    assert stderr == ""
    assert steps(run, "a") == [0] * 5


# -- flush


def test_flush_is_a_barrier_even_for_os_exit_and_kill(run: Path) -> None:
    for number, end in enumerate(("os._exit(0)", "os.kill(os.getpid(), 9)")):
        place = run.with_name(f"run{number}")
        run_script(place, """
            w = RunWriter(d, flush_secs=3600)
            for i in range(300): w.add_scalar('a', i, i)
            w.flush()
            """ + end, status=0 if "_exit" in end else -9)
        assert steps(place, "a") == list(range(300))


def test_flush_is_not_needed_a_second_before_a_kill(run: Path) -> None:
    run_script(run, """
        w = RunWriter(d, flush_secs=3600)
        for i in range(5):
            w.add_scalar('a', i, i)
            time.sleep(0.1)
        time.sleep(1.4)
        os.kill(os.getpid(), 9)
    """, status=-9)
    assert steps(run, "a") == list(range(5))


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("call", ["w.flush()", "w.close()"])
def test_exit_ctrl_c_while_flushing_or_closing(run: Path, call: str) -> None:
    """Nothing is lost or written twice, whenever the signals come."""
    run_script(run, f"""
        import signal
        main = threading.main_thread().ident
        w = None
        def interrupt():
            while not done:
                time.sleep(0.002)
                signal.pthread_kill(main, signal.SIGINT)
        added, done = [], False
        thread = threading.Thread(target=interrupt)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        w = RunWriter(d)
        for i in range(20000): w.add_scalar('a', i, i)
        thread.start()
        interrupts = 0
        while interrupts < 20 and not done:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for _ in range(100): {call}
                done = {call == "w.close()"}
            except KeyboardInterrupt:
                interrupts += 1
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        done = True
        thread.join()
    """)
    assert steps(run, "a") == list(range(20000))


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_exit_a_signal_handler_that_flushes_and_logs_at_any_moment(run: Path) -> None:
    run_script(run, """
        import signal
        w = RunWriter(d, max_queue=2)
        import itertools
        numbers = itertools.count()  # a handler may be interrupted by the next one
        def handler(number, frame):
            count = next(numbers)
            w.add_scalar('handler', count, count)
            w.add_field('graph_def', b'', count)
            w.flush()
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        for i in range(20000): w.add_scalar('a', i, i)
        for i in range(200): w.add_field('graph_def', b'x', i)
        signal.setitimer(signal.ITIMER_REAL, 0)
        w.close()
        open(d + '/count', 'w').write(str(next(numbers)))
    """, timeout=HANG)
    assert steps(run, "a") == list(range(20000))
    count = int((run / "count").read_text())
    assert count
    assert sorted(steps(run, "handler")) == list(range(count))


# -- fork and spawn


@forks
def test_fork_and_spawn_the_child_has_a_file_of_its_own(run: Path) -> None:
    run_script(run, """
        w = RunWriter(d)
        w.add_scalar('parent', 0, 0)  # still queued
        pid = os.fork()
        if pid == 0:
            for i in range(50): w.add_scalar('child', i, i)
            w.flush()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        w.add_scalar('parent', 1, 1)
    """, timeout=HANG)
    assert len(event_files(run)) == 2
    assert steps(run, "child") == list(range(50))
    assert steps(run, "parent") == [0, 1]


@forks
def test_fork_and_spawn_children_that_do_not_log_leave_no_file(run: Path) -> None:
    run_script(run, """
        w = RunWriter(d)
        closed = RunWriter(d)
        for each in (w, closed): each.add_scalar('a', 0, 0)
        os.chdir('/')
        for end in ('w.flush(); os._exit(0)', 'w.close(); sys.exit()', 'sys.exit()'):
            pid = os.fork()
            if pid == 0:
                exec(end)
            assert os.waitpid(pid, 0)[1] == 0
        closed.close()
    """, timeout=HANG)
    assert len(event_files(run)) == 2
    assert scalars(run) == [("a", 0, 0), ("a", 0, 0)]


@forks
def test_fork_and_spawn_the_child_does_not_keep_files_open(run: Path) -> None:
    run_script(run, """
        def is_open(fd): return os.path.exists(f'/proc/self/fd/{fd}')
        def count(): return sum(is_open(each) for each in range(3, 300))
        if os.path.exists('/proc/self/fd'):
            before = count()
            writers = [RunWriter(d) for _ in range(20)]
            for each in writers: each.add_scalar('a', 0, 0); each.flush()
            pid = os.fork()
            if pid == 0:
                os._exit(count() - before)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        else:
            RunWriter(d).close()
    """, timeout=HANG)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("in_parent", ["w.add_scalar('parent', 0, 0)", ""])
def test_fork_and_spawn_by_multiprocessing_without_close(
    run: Path, method: str, in_parent: str
) -> None:
    if method != "spawn" and not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    run_script(run, f"""
        import multiprocessing
        def log(w, number):
            for i in range(30): w.add_scalar(f'child{{number}}', i, i)
        if __name__ == '__main__':
            context = multiprocessing.get_context({method!r})
            w = RunWriter(d)
            {in_parent or "pass"}
            children = [context.Process(target=log, args=(w, n)) for n in range(3)]
            for each in children: each.start()
            for each in children: each.join(60)
            assert [each.exitcode for each in children] == [0, 0, 0]
            w.add_scalar('parent', 1, 1)
    """, timeout=2 * HANG)
    for number in range(3):
        assert steps(run, f"child{number}") == list(range(30))
    assert steps(run, "parent") == ([0, 1] if in_parent else [1])
    assert len(event_files(run)) == 4


@forks
def test_fork_and_spawn_by_a_pool(run: Path) -> None:
    run_script(run, """
        import multiprocessing
        def log(number):
            w.add_scalar('child', number, number)
            return number
        w = RunWriter(d)
        w.add_scalar('parent', 0, 0)
        if __name__ == '__main__':
            pool = multiprocessing.get_context('fork').Pool(2)
            assert pool.map(log, range(100)) == list(range(100))
            pool.close()
            pool.join()
    """, timeout=HANG)
    assert sorted(steps(run, "child")) == list(range(100))
    assert steps(run, "parent") == [0]


@forks
@pytest.mark.parametrize("waits", [True, False])
def test_fork_and_spawn_while_another_thread_imports(run: Path, waits: bool) -> None:
    """What is imported on first use can be used in the child, though a thread was at it."""
    errors = run_script(run, f"""
        import importlib.abc, signal, warnings
        warnings.simplefilter('ignore', DeprecationWarning)  # of forks beside threads
        from tfevents import SummaryWriter, _scheduler
        if not {waits}: _scheduler._IMPORT_ROUNDS = 0  # as if the import began just after
        begun = threading.Event()
        class Slow(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == 'tfevents.values.text':
                    begun.set()
                    time.sleep(1)
        sys.meta_path.insert(0, Slow())
        w = SummaryWriter(d)
        thread = threading.Thread(target=w.add_text, args=('parent', 'x', 0))
        thread.start()
        begun.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(30)
            w.add_text('child', 'x', 0)
            w.flush()
            os._exit(7)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status == 7, status
        thread.join()
        w.close()
    """, timeout=HANG)
    assert not errors
    assert len(event_files(run)) == 2
    tags = [value.tag for event in events(run) for value in event.summary.value]
    assert sorted(tags) == ["child/text_summary", "parent/text_summary"]


@forks
@pytest.mark.parametrize(
    ("held", "used"),
    [
        ("w.add_scalars('x', {'a': 1}, 0)", "w.add_text('child', 'x', 0)"),
        ("w.file_writer.close(); w.file_writer.reopen()", "w.file_writer.reopen()"),
        ("FileWriterCache.get(d + '/x')", "FileWriterCache.get(d + '/y')"),
        ("tf.trace_on(SlowGraph())", "tf.trace_on(True)"),
    ],
)
def test_fork_and_spawn_while_another_thread_opens_a_file(run: Path, held: str, used: str) -> None:
    """No lock that a thread of the parent holds keeps the child waiting."""
    run_script(run, f"""
        import signal, warnings
        warnings.simplefilter('ignore')
        from tfevents import SummaryWriter, summary as tf, event_file
        from tfevents.compat.v1.summary import FileWriterCache
        from tfevents.summary import _trace
        w = SummaryWriter(d)
        w.add_text('x', 'x', 0)
        holds, goes_on = threading.Event(), threading.Event()
        create = event_file._create
        def slowly(*arguments):
            if threading.current_thread() is thread: holds.set(); goes_on.wait()
            return create(*arguments)
        event_file._create = slowly
        class SlowGraph:  # not within the lock, so that it is taken by hand
            def as_graph_def(self):
                with _trace._lock: holds.set(); goes_on.wait()
                from tfevents import proto
                return proto.GraphDef()
        def hold(): {held}
        thread = threading.Thread(target=hold)
        thread.start()
        holds.wait()
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            {used}
            w.flush()
            os._exit(7)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        goes_on.set()
        thread.join()
        w.close()
        assert status == 7, status
    """, timeout=HANG)


@forks
def test_fork_and_spawn_while_other_threads_add_and_flush(run: Path) -> None:
    """Children neither hang nor repeat what the parent logged."""
    run_script(run, """
        import warnings
        warnings.simplefilter('ignore', DeprecationWarning)  # of forks beside threads
        w = RunWriter(d, max_queue=4)
        stop = False
        counts = [0, 0, 0]
        def scalars():
            while not stop:
                w.add_scalar('scalar', counts[0], counts[0])
                counts[0] += 1
                if counts[0] % 5000 == 0: time.sleep(0.001)
        def fields():
            while not stop:
                w.add_field('graph_def', b'x' * 1000, counts[1])
                counts[1] += 1
        def flushes():
            while not stop: w.flush()
        threads = [threading.Thread(target=each) for each in (scalars, fields, flushes)]
        for each in threads: each.start()
        for child in range(25):
            pid = os.fork()
            if pid == 0:
                w.add_scalar(f'child{child}', 1, 1)
                w.add_field('graph_def', b'child', 0)
                if child % 2: w.flush()
                else: w.close()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        stop = True
        for each in threads: each.join()
        w.close()
        open(d + '/count', 'w').write(str(counts[0]))
    """, timeout=HANG)
    found = Counter(tag for tag, *_ in scalars(run))
    count = int((run / "count").read_text())
    assert steps(run, "scalar") == list(range(count))
    assert {tag: number for tag, number in found.items() if tag != "scalar"} == {
        f"child{child}": 1 for child in range(25)
    }


# -- threads and descriptors


def test_threads_and_files_of_200_writers(run: Path) -> None:
    run_script(run, """
        def fds(): return len(os.listdir('/proc/self/fd')) if os.path.exists('/proc/self/fd') else 0
        threads, files = threading.active_count(), fds()
        writers = [RunWriter(f'{d}/{i}') for i in range(200)]
        for each in writers: each.add_scalar('a', 1, 1)
        assert threading.active_count() <= threads + 2, threading.enumerate()
        assert fds() <= files + 200
        for each in writers: each.close()
        assert threading.active_count() <= threads + 1
        assert fds() <= files
    """)
    assert len(scalars(run)) == 200


def test_threads_each_keep_their_order(run: Path) -> None:
    run_script(run, """
        w = RunWriter(d)
        def log(n):
            for i in range(1000): w.add_scalar(f't{n}', i, i)
        threads = [threading.Thread(target=log, args=(n,)) for n in range(8)]
        for each in threads: each.start()
        for each in threads: each.join()
        w.close()
    """)
    for number in range(8):
        assert steps(run, f"t{number}") == list(range(1000))


def test_errors_reach_the_caller_under_optimization_too(run: Path) -> None:
    run_script(run, """
        import numpy as np
        w = RunWriter(d)
        for tag, value, step in [('t', '1.5', 0), ('t', None, 0), ('t', {}, 0), ('t', 1j, 0),
                ('t', np.zeros(2), 0), ('t', [], 0), ('t', 1.0, '5'), ('t', 1.0, 1.7),
                (None, 1.0, 0), (5, 1.0, 0), ('\\ud800', 1.0, 0)]:
            try: w.add_scalar(tag, value, step)
            except (TypeError, ValueError) as error: pass
            else: raise SystemExit(f'accepted {value!r} {step!r}')
        w.add_scalar('ok', 1, 1)
    """, options=("-O",))
    assert scalars(run) == [("ok", 1, 1.0)]


def test_memory_is_bounded_for_texts_of_a_megabyte(run: Path) -> None:
    pytest.importorskip("resource")
    run_script(run, """
        import resource
        from tfevents.values.text import Text
        w = RunWriter(d, max_queue=10)
        w.add_field('graph_def', b'', 0)
        w.flush()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(200):
            text = Text.from_data(chr(97 + i % 26) * 1_000_000)
            w.add_value('t', text.to_tensor_value, i, nbytes=text.nbytes)
        w.close()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert sys.platform == 'darwin' or grown < 80_000, grown  # kilobytes on Linux
    """)
    # TensorBoard's checksums in Python would take a minute for so much
    (path,) = event_files(run)
    found = [event_pb2.Event.FromString(data) for data in decoded.records(str(path))]
    assert [event.step for event in found[2:]] == list(range(200))


def test_killed_children_of_a_shell_are_no_special_case(run: Path) -> None:
    """SIGTERM has no handler by default: what was added a second before is there."""
    if os.name != "posix":
        pytest.skip("signals of POSIX")
    code = textwrap.dedent("""
        import sys, time
        from tfevents.run_writer import RunWriter
        w = RunWriter(sys.argv[1])
        w.add_scalar('a', 1, 1)
        time.sleep(1.4)
        print('ready', flush=True)
        time.sleep(100)
    """)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(run)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
        process.terminate()
        assert process.wait(HANG) == -signal.SIGTERM
    assert steps(run, "a") == [1]

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cupti_fake import compiler

from tfevents.profiler.cupti import GpuUnavailableError, _trampoline
from tfevents.profiler.cupti._trampoline import CODE, HEADER, NativeBuffers, PythonBuffers

HERE = Path(__file__).parent
SOURCES = Path(_trampoline.__file__).parent
NATIVE = platform.machine() in CODE and sys.platform == "linux"

needs_native = pytest.mark.skipif(not NATIVE, reason="no native callbacks for this machine")


def tool_prefix(machine: str) -> str:
    return "" if machine == platform.machine() else f"{machine}-linux-gnu-"


@pytest.mark.parametrize("machine", sorted(CODE))
def test_the_bytes_are_the_assembled_source(machine: str, tmp_path: Path) -> None:
    prefix = tool_prefix(machine)
    compiler(f"{prefix}as")
    source, assembled = SOURCES / f"trampoline_{machine}.s", tmp_path / "t.o"
    subprocess.run([f"{prefix}as", str(source), "-o", str(assembled)], check=True, timeout=60)
    text = tmp_path / "t.bin"
    copy = [f"{prefix}objcopy", "-O", "binary", "-j", ".text", str(assembled), str(text)]
    subprocess.run(copy, check=True, timeout=60)
    assert text.read_bytes() == CODE[machine].text

    nm = [f"{prefix}nm", str(assembled)]
    symbols = subprocess.run(nm, check=True, capture_output=True, text=True, timeout=60).stdout
    entries = {name: int(at, 16) for at, name in re.findall(r"^(\w+) T (\w+)$", symbols, re.M)}
    assert entries == {name: getattr(CODE[machine], name) for name in entries}
    assert set(entries) == {"request", "complete", "drain", "release", "ignore"}


@pytest.mark.parametrize("machine", sorted(CODE))
def test_the_machine_code_loses_and_doubles_nothing(machine: str, tmp_path: Path) -> None:
    """Four native threads against one that drains, on this processor or under qemu."""
    gcc = compiler(f"{tool_prefix(machine)}gcc")
    runner: list[str] = []
    if machine != platform.machine():
        emulator = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
        if emulator is None:
            pytest.skip(f"needs qemu-user to run {machine}")
        runner = [emulator]
    program = tmp_path / "harness"
    build = [gcc, "-O1", "-static", "-pthread", str(HERE / "harness.c"), "-o", str(program)]
    subprocess.run(build, check=True, timeout=120)
    code = CODE[machine]
    (tmp_path / "code.bin").write_bytes(code.text)
    entries = [str(at) for at in (code.request, code.complete, code.drain, code.release)]
    command = [*runner, str(program), str(tmp_path / "code.bin"), *entries]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    said = json.loads(ran.stdout)
    assert (said["requested"], said["completed"], said["in_vain"]) == (20_002, 20_000, 2)
    assert said["records"] + said["lost"] == 60_000
    assert said["records"] > 0
    assert (said["held"], said["refused"], said["over"]) == (0, 0, 0)


def ask(buffers: NativeBuffers | PythonBuffers) -> tuple[int, int, int]:
    request = _trampoline._REQUEST(buffers.request)
    address, size, most = ctypes.c_void_p(1), ctypes.c_size_t(1), ctypes.c_size_t(1)
    request(ctypes.byref(address), ctypes.byref(size), ctypes.byref(most))
    return address.value or 0, size.value, most.value


def give(buffers: NativeBuffers | PythonBuffers, address: int, size: int, valid: int) -> None:
    _trampoline._COMPLETE(buffers.complete)(None, 0, address, size, valid)


@needs_native
def test_buffers_come_back_in_order_and_room_is_bounded() -> None:
    buffers = NativeBuffers()
    buffers.configure(1 << 20, 3 << 20, {10: 248})
    asked = [ask(buffers) for _ in range(5)]
    assert [size for _, size, _ in asked] == [1 << 20] * 3 + [_trampoline.SMALL_BYTES] * 2
    assert all(address % 8 == 0 and most == 0 for address, _, most in asked)
    for number, (address, size, _) in enumerate(asked):
        ctypes.memset(address, 0, size)
        for record in range(number + 1):
            ctypes.c_uint32.from_address(address + record * 248).value = 10
        give(buffers, address, size, (number + 1) * 248)
    filled = buffers.drain()
    assert [one.address for one in filled] == [address for address, _, _ in asked[:3]]
    assert [one.valid for one in filled] == [248, 496, 744]
    assert buffers.counters() == _trampoline.Counters(5, 5, 0, 4 + 5, 3 << 20)
    for one in filled:
        assert one.address == one.node + HEADER
        buffers.release(one.node)
    assert buffers.counters().held == 0
    assert buffers.drain() == []


@needs_native
def test_thrown_away_records_of_unknown_kind_count_as_one() -> None:
    buffers = NativeBuffers()
    buffers.configure(4096, 0, {10: 8})
    for kinds, valid in (((10, 10, 63, 10), 32), ((10, 4096, 10, 10), 32), ((10,), 8), ((10,), 0)):
        address, size, _ = ask(buffers)
        for number, kind in enumerate(kinds):
            ctypes.c_uint64.from_address(address + number * 8).value = kind
        give(buffers, address, size, valid)
    assert buffers.counters().lost == 3 + 2 + 1 + 0


@needs_native
def test_many_threads_push_while_one_drains() -> None:
    buffers = NativeBuffers()
    buffers.configure(4096, 1 << 30, {})
    seen: list[int] = []

    def produce(number: int) -> None:
        for turn in range(2000):
            address, size, _ = ask(buffers)
            give(buffers, address, size, number * 2000 + turn)

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads) or len(seen) < 8000:
        for one in buffers.drain():
            seen.append(one.valid)
            buffers.release(one.node)
        if not any(thread.is_alive() for thread in threads) and not buffers.counters().held:
            break
    assert sorted(seen) == list(range(8000))


@needs_native
def test_no_page_is_writable_and_executable() -> None:
    buffers = NativeBuffers()
    page = buffers.request & ~0xFFF
    lines = Path("/proc/self/maps").read_text().splitlines()
    ranges = [re.match(r"(\w+)-(\w+) (\S+)", line) for line in lines]
    rights = {
        at: found[3]
        for found in ranges
        for at in (page, page + _trampoline.STATE)
        if found and int(found[1], 16) <= at < int(found[2], 16)
    }
    assert rights == {page: "r-xp", page + _trampoline.STATE: "rw-p"}


@needs_native
def test_refused_executable_memory_is_named() -> None:
    """PR_SET_MDWE makes the kernel refuse what hardened systems refuse."""
    script = """
import ctypes
from tfevents.profiler.cupti import GpuUnavailableError, _trampoline
if ctypes.CDLL(None, use_errno=True).prctl(65, 1, 0, 0, 0):
    print("unsupported")
else:
    try:
        _trampoline.NativeBuffers()
    except GpuUnavailableError as error:
        print(error)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    if "unsupported" in ran.stdout:
        pytest.skip("needs Linux 6.3")
    assert "refuses executable memory" in ran.stdout
    assert "python_callbacks=True" in ran.stdout


@pytest.mark.parametrize(("machine", "system"), [("riscv64", "Linux"), ("AMD64", "Windows")])
def test_an_unsupported_machine_is_named(
    machine: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(platform, "system", lambda: system)
    with pytest.raises(GpuUnavailableError, match=f"{system} on {machine}"):
        NativeBuffers()


@pytest.mark.skipif(os.name != "posix", reason="needs a System V calling convention")
def test_python_callbacks_do_the_same_within_their_bounds() -> None:
    buffers = PythonBuffers()
    buffers.configure(4096, 8192, {})
    asked = [ask(buffers) for _ in range(3)]
    assert [size for _, size, _ in asked] == [4096, 4096, 0]
    assert asked[2][0] == 0
    for address, size, _ in asked[:2]:
        assert address % 8 == 0
        give(buffers, address, size, 40)
    filled = buffers.drain()
    assert [(one.address, one.valid) for one in filled] == [(asked[0][0], 40), (asked[1][0], 40)]
    for one in filled:
        buffers.release(one.node)
    assert buffers.counters() == _trampoline.Counters(3, 2, 1, 0, 0)

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfevents.profiler.cupti import _names
from tfevents.profiler.cupti._names import Names, demangle
from tfevents.profiler.cupti._records import LAYOUTS, Parser, walk
from tfevents.profiler.cupti._sizes import from_version
from tfevents.profiler.cupti.trace import DTYPES, GpuTrace

SIZES = {5: 40, 10: 216, 11: 32, 39: 24}


def api(correlation: int, start: int = 1000, end: int = 1200, cbid: int = 211) -> bytes:
    return struct.pack("<IIQQIIII", 5, cbid, start, end, 100, 7, correlation, 0)


def external(correlation: int, external_id: int, kind: int = 5) -> bytes:
    return struct.pack("<IIQII", 39, kind, external_id, correlation, 0)


def kernel(correlation: int, start: int, end: int, name: int = 0) -> bytes:
    head = struct.pack("<IBBHIIQQQ", 10, 0, 0, 32, 0, 0, start, end, 0)
    grid = struct.pack("<III3i3iiiIII", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, correlation)
    tail = struct.pack("<qQQQQBBBBIQII", -1, name, 0, 0, 0, 0, 0, 0, 0, 0, 14, 0, 15)
    record = head + grid + tail
    return record + b"\xee" * (216 - len(record))


KERNEL_ROW = {
    "start": 2000,
    "end": 2600,
    "device": 1,
    "context": 2,
    "stream": 3,
    "correlation": 9,
    "graph": 15,
    "graph_node": 14,
    "name": 1,
    "registers": 32,
    "static_shared": 10,
    "dynamic_shared": 11,
    "local_per_thread": 12,
}


def as_array(data: bytes) -> npt.NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)


def parse(*buffers: bytes, names: Names | None = None, shift: int = 0) -> GpuTrace:
    parser = Parser(SIZES, names or Names(lambda pointer: b"name%d" % pointer))
    for buffer in buffers:
        parser.feed(as_array(buffer))
    return parser.trace(shift=shift)


def test_fields_come_from_their_offsets() -> None:
    trace = parse(api(9), external(9, 2**63 + 1), kernel(9, 2000, 2600, name=5))
    (row,) = trace.kernels
    assert row["grid"].tolist() == [4, 5, 6]
    assert row["block"].tolist() == [7, 8, 9]
    assert {column: row[column].item() for column in KERNEL_ROW} == KERNEL_ROW
    assert trace.names == ("", "name5")
    assert trace.external.tolist() == [(9, 2**63 + 1)]
    assert trace.api.tolist() == [(1000, 1200, 2, 211, 0, 100, 7, 9, 0)]
    assert trace.dropped == 0
    assert trace.notes == ()


def test_ids_that_other_tools_pushed_are_not_ours() -> None:
    trace = parse(external(1, 7, kind=3) + external(1, 8) + external(2, 9, kind=4))
    assert trace.external.tolist() == [(1, 8)]
    assert trace.dropped == 0


def test_a_kind_we_do_not_read_is_stepped_over() -> None:
    name_record = struct.pack("<I", 11) + bytes(28)
    assert parse(name_record + external(1, 2) + name_record).external.tolist() == [(1, 2)]


def test_an_unknown_kind_ends_its_buffer_and_is_counted() -> None:
    bad = external(1, 2) + struct.pack("<II", 60, 0) + external(3, 4)
    trace = parse(bad, external(5, 6))
    assert trace.external.tolist() == [(1, 2), (5, 6)]
    assert trace.dropped == 1
    assert "1 buffers ended in 32 bytes" in trace.notes[0]


@pytest.mark.parametrize("cut", [1, 8, 20])
def test_a_record_cut_by_the_end_is_counted(cut: int) -> None:
    trace = parse(external(1, 2) + external(3, 4)[:-cut])
    assert trace.external.tolist() == [(1, 2)]
    assert trace.dropped == 1


def test_where_walking_stops() -> None:
    offsets, stop = walk(as_array(api(1) + external(1, 1) + bytes(8)), SIZES)
    assert (offsets.tolist(), stop) == ([0, 10], 64)
    offsets, stop = walk(as_array(b""), SIZES)
    assert (offsets.tolist(), stop) == ([], 0)


def test_untimed_records_are_left_out_and_counted() -> None:
    trace = parse(kernel(1, 0, 0) + kernel(2, 5, 9) + kernel(3, 5, 0))
    assert trace.kernels["correlation"].tolist() == [2]
    assert trace.dropped == 2
    assert "2 records had no times" in trace.notes[0]


def test_rows_are_sorted_by_time_and_shifted() -> None:
    trace = parse(kernel(1, 30, 40), kernel(2, 10, 20) + api(1, 7, 8), shift=1000)
    assert trace.kernels["correlation"].tolist() == [2, 1]
    assert trace.kernels["start"].tolist() == [1010, 1030]
    assert trace.kernels["end"].tolist() == [1020, 1040]
    assert trace.api["start"].tolist() == [1007]


def test_each_pointer_is_read_once() -> None:
    read: list[int] = []

    def name_at(pointer: int) -> bytes:
        read.append(pointer)
        return b"_Z1fi" if pointer == 8 else b"caf\xc3\xa9\xff"

    names = Names(name_at, demangle)
    records = b"".join(kernel(i, i + 1, i + 2, name=8 * (1 + i % 2)) for i in range(10))
    trace = parse(records, records, names=names)
    assert sorted(read) == [8, 16]
    assert [trace.names[i] for i in trace.kernels["name"][0:4:2]] == ["f(int)", "café\ufffd"]


def test_calls_are_named_once_each() -> None:
    asked: list[tuple[int, int]] = []

    def call_name(domain: int, cbid: int) -> str:
        asked.append((domain, cbid))
        return f"{domain}/{cbid}"

    parser = Parser(SIZES, Names(lambda _: b""))
    parser.feed(as_array(api(1, cbid=211) + api(2, cbid=3) + api(3, cbid=211)))
    trace = parser.trace(api_name=call_name, dropped=3, notes=("said before",))
    assert [trace.names[i] for i in trace.api["name"]] == ["2/211", "2/3", "2/211"]
    assert sorted(asked) == [(2, 3), (2, 211)]
    assert (trace.dropped, trace.notes) == (3, ("said before",))


@pytest.mark.parametrize(
    ("mangled", "readable"),
    [
        (b"_ZN2at6native4gemmEPKfS2_Pf", "at::native::gemm(float const*, float const*, float*)"),
        (b"_Z6kernelILi0EEvPfi", "void kernel<0>(float*, int)"),
        (b"sgemm_128x64_nn", "sgemm_128x64_nn"),
        (b"_Znot mangled", "_Znot mangled"),
        (b"", ""),
    ],
)
def test_demangling(mangled: bytes, readable: str) -> None:
    if _names._demangler() is None:
        pytest.skip("needs libstdc++")
    assert demangle(mangled).decode() == readable


def test_without_a_demangler_names_stay_raw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_names, "_demangler", lambda: None)
    assert demangle(b"_Z1fi") == b"_Z1fi"


@pytest.mark.parametrize(
    ("version", "kernel_size", "memcpy_size", "overhead_size"),
    [
        (17, 176, 88, 40),  # 11.7
        (20, 208, 88, 40),  # 12.2
        (22, 208, 88, 56),  # 12.4
        (26, 208, 96, 56),  # 12.8
        (130001, 216, 96, 56),
        (130202, 224, 96, 56),
        (130300, 232, 96, 56),
        (130500, 248, 112, 56),
    ],
)
def test_sizes_by_version(
    version: int, kernel_size: int, memcpy_size: int, overhead_size: int
) -> None:
    sizes = from_version(version)
    assert (sizes[10], sizes[1], sizes[17]) == (kernel_size, memcpy_size, overhead_size)


def test_the_version_that_does_not_tell_gives_no_sizes() -> None:
    assert from_version(18) == {}
    assert from_version(3) == {}


def test_every_layout_fits_its_table_and_the_oldest_record() -> None:
    oldest = from_version(17)
    for kind, layout in LAYOUTS.items():
        columns = set(DTYPES[layout.table].names or ())
        assert {*layout.fields, *layout.constants, *layout.pointers} <= columns
        assert layout.prefix <= oldest[kind]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*SIZES, 60, 2**32 - 1]), max_size=30), st.binary(max_size=300))
def test_no_bytes_can_hurt(kinds: list[int], noise: bytes) -> None:
    records = b"".join(struct.pack("<I", kind) + noise[:200] for kind in kinds)
    trace = parse(records, noise)
    assert trace.dropped >= 0
    assert len(trace.names) >= 1

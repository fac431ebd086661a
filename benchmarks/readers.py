"""Readers under test, and the log they read: each returns how many points it put into arrays.

The log is written by hand, so that it is the same whoever is installed: one file, scalars as
`simple_value` (the form torch and tensorboardX write), steps counting up, tags taking turns.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.contenders import found

FILE_NAME = "events.out.tfevents.1700000000.bench.1.0"


@dataclass(frozen=True, slots=True)
class Log:
    """A log directory with one file of `tags` series, each of `steps` points."""

    directory: str
    tags: int
    steps: int


def write_log(log: Log) -> None:
    """Writes the event file; the directory is made where it is missing."""
    crc32c: Callable[[bytes], int] = import_module("crc32c").crc32c

    def masked(data: bytes) -> bytes:
        crc = crc32c(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    def record(data: bytes) -> bytes:
        length = struct.pack("<Q", len(data))
        return length + masked(length) + data + masked(data)

    def scalar(index: int) -> bytes:
        tag = b"train/metric%02d" % (index % log.tags)
        value = b"\x0a%c%b\x15" % (len(tag), tag) + struct.pack("<f", 1 / (1 + index))
        summary = b"\x0a%c%b" % (len(value), value)
        wall_time = struct.pack("<d", 1.7e9 + index * 1e-3)
        head = b"\x09" + wall_time + b"\x10" + _varint(index // log.tags)
        return head + b"\x2a%c%b" % (len(summary), summary)

    directory = Path(log.directory)
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE_NAME).open("wb") as file:
        file.write(record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"))
        file.writelines(record(scalar(index)) for index in range(log.tags * log.steps))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _to_arrays(points: Iterable[tuple[int, float, float]]) -> int:
    steps, times, values = zip(*points, strict=True)
    arrays = np.array(steps, np.int64), np.array(times, np.float64), np.array(values, np.float64)
    return len(arrays[0])


def ours(log: Log) -> int:
    run = found("tfevents", "read")(log.directory)["."]
    return sum(len(run.scalars(tag).values) for tag in run.tags()["scalars"])


def event_file_loader(log: Log) -> int:
    loader = found("tensorboard.backend.event_processing.event_file_loader", "EventFileLoader")
    make_ndarray = import_module("tensorboard.util.tensor_util").make_ndarray
    series: dict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for event in loader(f"{log.directory}/{FILE_NAME}").Load():
        for value in event.summary.value:
            point = event.step, event.wall_time, make_ndarray(value.tensor).item()
            series[value.tag].append(point)
    return sum(map(_to_arrays, series.values()))


def event_accumulator(log: Log) -> int:
    module = "tensorboard.backend.event_processing.event_accumulator"
    unlimited = {"scalars": 0, "tensors": 0}
    events = found(module, "EventAccumulator")(log.directory, size_guidance=unlimited)
    events.Reload()
    return sum(
        _to_arrays((p.step, p.wall_time, p.value) for p in events.Scalars(tag))
        for tag in events.Tags()["scalars"]
    )


def data_server(log: Log) -> int:
    """Starts TensorBoard's Rust server on the log, waits for the load, reads all points back."""
    binary = found("tensorboard_data_server", "server_binary")()
    with tempfile.TemporaryDirectory() as scratch:
        port_file = Path(scratch) / "port"
        flags = ["--checksum", "--reload=once", "--samples-per-plugin=scalars=all", "--port=0"]
        server = subprocess.Popen(
            [binary, f"--logdir={log.directory}", *flags, f"--port-file={port_file}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            while not (port_file.exists() and port_file.read_text().endswith("\n")):
                if server.poll() is not None:
                    raise RuntimeError(f"the data server ended with {server.returncode}")
                time.sleep(0.001)
            return _read_server(f"localhost:{int(port_file.read_text())}", log)
        finally:
            server.kill()
            server.wait()


def _read_server(address: str, log: Log) -> int:
    """Polls the list of series until the last step of each is there, then fetches them all."""
    grpc = import_module("grpc")
    messages = import_module("tensorboard.data.proto.data_provider_pb2")
    options = [("grpc.max_receive_message_length", -1)]
    credentials = grpc.local_channel_credentials()
    with grpc.secure_channel(address, credentials, options=options) as channel:
        stub = import_module("tensorboard.data.grpc_provider").make_stub(channel)
        listing = messages.ListScalarsRequest()
        listing.plugin_filter.plugin_name = "scalars"
        while True:
            runs = stub.ListScalars(listing, wait_for_ready=True).runs
            loaded = [t.metadata.max_step for run in runs for t in run.tags]
            if len(loaded) == log.tags and min(loaded) == log.steps - 1:
                break
            time.sleep(0.005)
        reading = messages.ReadScalarsRequest()
        reading.plugin_filter.plugin_name = "scalars"
        reading.downsample.num_points = log.steps
        return sum(
            _to_arrays(zip(tag.data.step, tag.data.wall_time, tag.data.value, strict=True))
            for run in stub.ReadScalars(reading).runs
            for tag in run.tags
        )


READERS: dict[str, Callable[[Log], int]] = {
    "tfevents.read": ours,
    "EventFileLoader": event_file_loader,
    "EventAccumulator": event_accumulator,
    "data server (Rust)": data_server,
}

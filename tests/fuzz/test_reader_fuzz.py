"""Damaged files never make the reader raise, hang or grow; what is left of them is read.

The files are real ones of every kind. `TFEVENTS_FUZZ=1000000` makes the run longer than in CI, and
`TFEVENTS_FUZZ_SEED` another one.
"""

from __future__ import annotations

import gzip
import os
import random
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tfevents
from tfevents import logdir, proto, record
from tfevents.errors import RecordError
from tfevents.reader import EventFileReader
from tfevents.store import MemoryStore, redirect

MUTATIONS = int(os.environ.get("TFEVENTS_FUZZ", "3000"))
SEED = int(os.environ.get("TFEVENTS_FUZZ_SEED", "0"))
NOTICES = {
    "truncated", "bad-checksum", "bad-message", "bad-length", "not-event-file", "bad-gzip",
}  # fmt: skip
HANG = 300  # seconds for one small file, which takes milliseconds
GROWTH = 256 << 20


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Event files of both forms with every kind: those of other producers, and of our facades."""
    root = tmp_path_factory.mktemp("real")
    rng = np.random.default_rng(0)
    with tfevents.SummaryWriter(root / "field", purge_step=3) as writer:
        for step in range(12):
            writer.add_scalar("loss", rng.normal(), step)
            writer.add_scalar("exact", rng.normal(), step, new_style=True, double_precision=True)
        writer.add_image("image", rng.integers(0, 255, (3, 4, 4), dtype=np.uint8))
        writer.add_audio("clip", rng.uniform(-1, 1, 20), sample_rate=8000)
        writer.add_histogram("histogram", rng.normal(size=30))
        writer.add_text("note", "words")
        writer.add_pr_curve("pr", rng.integers(0, 2, 20), rng.uniform(size=20), num_thresholds=5)
        writer.add_mesh("mesh", rng.normal(size=(1, 3, 3)))
        writer.add_custom_scalars({"c": {"d": ["Multiline", ["loss"]]}})
        writer.add_hparams({"lr": 0.1, "net": "x"}, {"m": 1.0}, run_name=".")
    with tfevents.summary.create_file_writer(str(root / "tensor")).as_default():
        for step in range(12):
            tfevents.summary.scalar("loss", rng.normal(), step)
        tfevents.summary.image("image", rng.uniform(size=(2, 4, 4, 3)), 1)
        tfevents.summary.audio("clip", rng.uniform(-1, 1, (1, 20, 1)), 8000, 1)
        tfevents.summary.histogram("histogram", rng.normal(size=30), 1)
        tfevents.summary.text("note", ["a", "b"], 1)
        tfevents.summary.write("tensor", rng.integers(0, 9, (2, 3)), 1)
    graph = proto.GraphDef(node=[proto.NodeDef(name="x", op="Const")]).SerializeToString()
    meta = proto.MetaGraphDef(graph_def=proto.GraphDef()).SerializeToString()
    run = proto.TaggedRunMetadata(tag="t", run_metadata=b"")
    events = [
        proto.Event(wall_time=1, graph_def=graph),
        proto.Event(wall_time=1, meta_graph_def=meta),
        proto.Event(wall_time=1, tagged_run_metadata=run),
    ]
    golden = Path(__file__).parents[1] / "golden"
    paths = [*sorted(golden.glob("*.tfevents")), *sorted(root.rglob("*tfevents*"))]
    found = [path.read_bytes() for path in paths]
    found.append(record.encode_all([event.SerializeToString() for event in events]))
    found.append(gzip.compress(found[-2]))
    return found


def mutated(rng: random.Random, files: list[bytes]) -> bytes:
    """A file with some damage; half of the time in the payloads only, with right checksums."""
    data = rng.choice(files)
    if rng.random() < 0.5 and not data.startswith(b"\x1f\x8b"):
        payloads = list(payloads_of(data))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(payloads))
            payloads[place] = damaged(rng, payloads[place], payloads)
        return record.encode_all(payloads)
    for _ in range(rng.randint(1, 4)):
        data = damaged(rng, data, files)
    return data


def damaged(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = rng.randrange(len(data) + 1)
    size = min(rng.choice([1, 1, 2, 4, 8, 12, 64]), len(data) - at)
    how = rng.randrange(7)
    if how == 0:  # flip a bit
        flip = bytes([data[at] ^ 1 << rng.randrange(8)]) if at < len(data) else b""
        return data[:at] + flip + data[at + 1 :]
    if how == 1:  # cut
        return data[:at]
    if how == 2:  # remove
        return data[:at] + data[at + size :]
    if how == 3:  # double
        return data[: at + size] + data[at:]
    if how == 4:  # noise
        return data[:at] + rng.randbytes(size) + data[at + size :]
    if how == 5:  # extreme numbers
        edge = rng.choice([b"\x00", b"\xff", b"\x7f", b"\x80"])
        return data[:at] + edge * size + data[at + size :]
    other = rng.choice(others)  # splice
    return data[:at] + other[rng.randrange(len(other) + 1) :]


def payloads_of(data: bytes) -> Iterator[bytes]:
    for batch in record.RecordParser().feed(data):
        for item in batch.items():
            if isinstance(item, record.Record):
                yield item.data


def read_all(data: bytes) -> None:
    """Reads a file by every way there is."""
    store = MemoryStore()
    store.files["logs/tfevents"] = bytearray(data)
    with redirect(store):
        run = logdir.read("logs", purge=bool(len(data) % 2))["."]
        for kind, tags in run.tags().items():
            for tag in tags if kind != "graphs" else ():
                series = getattr(run, kind)(tag)
                assert len(series.steps) == len(series.wall_times) == len(series.values)
        if run.tags()["graphs"]:
            try:
                run.graph()
            except KeyError as error:
                assert "cannot be decoded" in str(error)  # noqa: PT017
        assert {notice.kind for notice in run.notices} <= NOTICES
        reader = EventFileReader("logs/tfevents", resync=bool(len(data) % 3))
        for event in reader:
            assert isinstance(event, proto.Event)
        assert {notice.kind for notice in reader.notices} <= NOTICES
        try:
            for _ in EventFileReader("logs/tfevents", strict=True):
                pass
        except RecordError as error:
            assert error.path == "logs/tfevents"  # noqa: PT017
            assert 0 <= error.offset <= max(len(data), 1 << 24)  # noqa: PT017


def peak_memory() -> int:
    """Bytes at most so far; always 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@pytest.mark.filterwarnings("ignore")
def test_mutated_files_are_read_or_reported(files: list[bytes]) -> None:
    rng = random.Random(SEED)
    for data in files:
        read_all(data)
    before = peak_memory()
    for count in range(MUTATIONS):
        data = mutated(rng, files)
        begun = time.perf_counter()
        try:
            read_all(data)
        except BaseException:
            warnings.warn(f"mutation {count} of seed {SEED}: {data.hex()}", stacklevel=1)
            Path(os.environ.get("TFEVENTS_FUZZ_KEEP", os.devnull)).write_bytes(data)
            raise
        assert time.perf_counter() - begun < HANG, data.hex()
    assert peak_memory() - before < GROWTH

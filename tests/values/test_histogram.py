"""Histograms against TensorFlow, torch, tensorboardX, TensorBoard and hand-worked numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfevents import proto, tensor
from tfevents.values import _buckets
from tfevents.values.histogram import MAX_BUCKETS, Histogram

GOLDEN = Path(__file__).parents[1] / "golden" / "golden.jsonl"
GREATEST = sys.float_info.max
# Where we keep the finite values and TensorFlow loses them, or drops an imaginary part.
DIFFERENT = {"nan", "all_nan", "inf", "neginf", "inf_inf", "both_inf", "big_range"}
DIFFERENT_TYPE = {"dtype_complex64"}


def golden(call: str) -> list[Any]:
    with GOLDEN.open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["call"] == call and "ctx" not in row]
    return [pytest.param(row["args"], row["result"], id=row["id"].split("/")[1]) for row in rows]


def plain(encoded: Any) -> Any:
    """Undoes the encoding of the golden file's arguments."""
    if isinstance(encoded, list):
        return [plain(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if "float" in encoded:
        return float(encoded["float"])
    if "np" in encoded:
        return np.dtype(encoded["np"]["dtype"]).type(encoded["np"]["data"])
    nd = encoded["nd"]
    if nd["dtype"].startswith("str"):
        return np.array(nd["data"])
    if nd["dtype"].startswith("complex"):
        return np.array([complex(*pair) for pair in nd["data"]], nd["dtype"])
    return np.array(
        [float(x) if isinstance(x, str) else x for x in nd["data"]], nd["dtype"]
    ).reshape(nd["shape"])


def field(histogram: Histogram) -> Any:
    return histogram.to_field_value("h").histo


def torch_form(data: object, **options: Any) -> Histogram:
    return Histogram.from_data(data, tag="h", **{"bins": "tensorflow", **options})


# TensorFlow 2


@pytest.mark.parametrize(("args", "result"), golden("histogram"))
def test_tensor_form_is_tensorflows(
    args: dict[str, Any], result: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id
    data, buckets = plain(args["data"]), plain(args.get("buckets"))
    if "exception" in result or name in DIFFERENT_TYPE:
        with pytest.raises((TypeError, ValueError), match="h"):
            Histogram.from_data(data, tag="h", buckets=buckets)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name in DIFFERENT else "error")
        value = Histogram.from_data(data, tag="h", buckets=buckets).to_tensor_value(
            "h", description=args.get("description", "")
        )
    expected = result["events"][0]["values"][0]
    assert value.metadata.plugin_data.plugin_name == "histograms"
    assert value.metadata.plugin_data.content == b""
    assert value.metadata.summary_description == expected["description"]
    assert [item.name for item, _ in value.tensor.ListFields()][2:] == expected["tensor"]["field"]
    rows = tensor.from_proto(value.tensor)
    assert rows.dtype == np.float64
    assert list(rows.shape) == expected["tensor"]["shape"]
    if name not in DIFFERENT:
        assert rows.ravel().tolist() == expected["tensor"]["values"]


@pytest.mark.parametrize(
    ("buckets", "error", "text"),
    [
        (2.5, TypeError, "int32.*float64"),
        (True, TypeError, "int32.*bool"),
        (np.int64(2), TypeError, "int32.*int64"),
        ("3", TypeError, "str"),
        ([2], ValueError, r"Expected scalar shape, saw shape: \(1,\)"),
        (2**31, ValueError, str(MAX_BUCKETS)),
    ],
)
def test_a_bad_bucket_count_is_refused(buckets: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        Histogram.from_data([1.0], tag="some/tag", buckets=buckets)
    assert "some/tag" in str(caught.value)


def test_linear_reference_counts() -> None:
    thousand = Histogram.from_data(np.arange(1001), buckets=10)
    assert thousand.counts.tolist() == [100.0] * 9 + [101.0]
    # TensorFlow divides by the rounded width, so values on inner edges may fall to their left.
    rounded = Histogram.from_data(np.linspace(0, 1, 1001), buckets=10)
    assert rounded.counts.tolist() == [100, 100, 101, 99, 100, 101, 99, 100, 100, 101]
    assert Histogram.from_data(np.arange(10), buckets=1).buckets.tolist() == [[0, 9, 10]]


def test_linear_buckets_are_tensorflows_for_many_values() -> None:
    tf = pytest.importorskip("tensorflow")
    summary = pytest.importorskip("tensorboard.plugins.histogram.summary_v2")
    rng = np.random.default_rng(7)
    for data in (
        rng.normal(size=70_000).astype(np.float32),
        rng.exponential(size=70_000) * 1e-20,
        rng.integers(-50, 50, size=70_000),
        rng.normal(size=70_000).astype(np.float16),
    ):
        theirs = summary._buckets(tf.constant(data), 30).numpy()
        assert np.array_equal(Histogram.from_data(data).buckets, theirs)


def test_a_range_beyond_float64_has_finite_edges() -> None:
    histogram = Histogram.from_data([-1e308, 0.0, 1e308], buckets=4)
    assert histogram.edges.tolist() == [-1e308, -5e307, 0.0, 5e307, 1e308]
    assert histogram.counts.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_a_range_of_denormals_keeps_every_value() -> None:
    histogram = Histogram.from_data([0.0, 5e-324, 1e-323], buckets=2)
    assert histogram.edges.tolist() == [0.0, 5e-324, 1e-323]
    assert histogram.counts.tolist() == [1.0, 2.0]


# TensorFlow 1


@pytest.mark.parametrize(("args", "result"), golden("v1_histogram"))
def test_version_1_is_tensorflows(args: dict[str, Any], result: dict[str, Any]) -> None:
    data = plain(args["values"])
    if "exception" in result:
        with pytest.raises(ValueError, match=r"'h'.*1 of 1 values"):
            Histogram.from_data_v1(data, tag="h")
        return
    histo = field(Histogram.from_data_v1(data, tag="h"))
    expected = result["values"][0]["histo"]
    assert list(histo.bucket_limit) == expected["bucket_limit"]
    assert list(histo.bucket) == expected["bucket"]
    assert (histo.min, histo.max, histo.num) == (expected["min"], expected["max"], expected["num"])
    assert histo.sum == pytest.approx(expected["sum"], rel=1e-12)
    assert histo.sum_squares == pytest.approx(expected["sum_squares"], rel=1e-12)


def test_version_1_may_leave_out_what_is_not_finite() -> None:
    with pytest.warns(UserWarning, match="'h': 2 of 3 values"):
        histo = field(Histogram.from_data_v1([1.0, math.nan, math.inf], tag="h", strict=False))
    assert (histo.num, sum(histo.bucket), histo.max) == (1.0, 1.0, 1.0)


def test_version_1_keeps_the_greatest_float() -> None:
    histo = field(Histogram.from_data_v1([GREATEST, -GREATEST]))
    assert sum(histo.bucket) == 2
    assert Histogram.from_data_v1([GREATEST, -GREATEST]).edges.tolist()[:1] == [-GREATEST]


# torch and tensorboardX


def test_edges_are_1549() -> None:
    edges = _buckets.exponential_edges()
    assert edges.size == 1549
    assert (edges[774], edges[775], edges[776]) == (0.0, 1e-12, 1.1000000000000002e-12)
    assert edges[-1] == 9.920775621859783e19
    assert np.array_equal(edges, -edges[::-1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_on_and_beside_every_edge(dtype: Any) -> None:
    edges = _buckets.exponential_edges()
    at = edges.astype(dtype)
    data = np.concatenate([at, np.nextafter(at, dtype(1e30)), np.nextafter(at, dtype(-1e30))])
    counts = _buckets.exponential_counts(data, closed=True)
    assert np.array_equal(counts[1:-1], np.histogram(data.astype(np.float64), edges)[0])
    assert counts.sum() == data.size


def test_the_last_bucket_is_closed() -> None:
    histo = field(torch_form([9.920775621859783e19]))
    assert list(histo.bucket_limit) == [9.018886928963438e19, 9.920775621859783e19]
    assert list(histo.bucket) == [0.0, 1.0]


def test_field_form_is_trimmed_behind_an_empty_bucket() -> None:
    histo = field(torch_form([5, 5, 5]))
    assert list(histo.bucket_limit) == [4.636194617418625, 5.099814079160488]
    assert list(histo.bucket) == [0.0, 3.0]
    value = torch_form([5, 5, 5]).to_field_value("h")
    assert not value.HasField("metadata")


def test_constant_data() -> None:
    histo = field(torch_form(np.full(100, 3.0)))
    assert (histo.min, histo.max, histo.num) == (3.0, 3.0, 100.0)
    assert (histo.sum, histo.sum_squares, sum(histo.bucket)) == (300.0, 900.0, 100.0)


PEERS = ["torch.utils.tensorboard.summary", "tensorboardX.summary"]
NORMAL = np.random.default_rng(3).normal(size=3_000)
SAMPLES = {
    "float32": NORMAL.astype(np.float32),
    "float64": NORMAL,
    "float16": NORMAL.astype(np.float16),
    "int": np.arange(-500, 900),
    "uint8": np.array([0, 255, 3, 3], np.uint8),
    "int8": np.array([-128, 127, 0], np.int8),
    "uint64": np.array([2**63, 2**64 - 1], np.uint64),
    "bool": np.array([True, False, True]),
    "zeros": np.array([0.0, -0.0, 1e-300, -1e-300]),
    "on edges": _buckets.exponential_edges()[::31],
    "matrix": NORMAL.reshape(30, 100).T,
}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize(
    "options",
    [
        {"bins": "tensorflow"},
        {"bins": "tensorflow", "max_bins": 100},
        {"bins": 10},
        {"bins": 7, "max_bins": 3},
        {"bins": "auto"},
        {"bins": [-1e30, -1.0, 0.0, 0.5, 2.0, 1e30]},
    ],
    ids=str,
)
def test_field_form_is_the_peers(peer: str, data: Any, options: dict[str, Any]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    module = pytest.importorskip(peer)
    # The writer replaces the name by its edges; the test below holds them equal to ours.
    edges = {"bins": _buckets.exponential_edges()} if options["bins"] == "tensorflow" else {}
    theirs = module.histogram("h", data.astype(np.float64), **{**options, **edges}).value[0].histo
    ours = field(torch_form(data, **options))
    assert list(ours.bucket_limit) == list(theirs.bucket_limit)
    assert list(ours.bucket) == list(theirs.bucket)
    assert (ours.min, ours.max, ours.num) == (theirs.min, theirs.max, theirs.num)
    assert ours.sum == pytest.approx(theirs.sum, rel=1e-12, abs=1e-9)
    assert ours.sum_squares == pytest.approx(theirs.sum_squares, rel=1e-12)


@pytest.mark.parametrize("peer", ["torch.utils.tensorboard", "tensorboardX"])
def test_edges_are_the_peers(peer: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("tensorboard")
    writer = pytest.importorskip(peer).SummaryWriter(str(tmp_path))
    writer.close()
    assert _buckets.exponential_edges().tolist() == writer.default_bins


def test_values_beyond_the_edges_have_their_own_buckets() -> None:
    histo = field(torch_form([-1e30, 1.0, 3e33, 2e25]))
    assert list(histo.bucket_limit)[:2] == [-1e30, -9.920775621859783e19]
    assert list(histo.bucket_limit)[-2:] == [9.920775621859783e19, 3e33]
    assert list(histo.bucket)[:2] == [0.0, 1.0]
    assert list(histo.bucket)[-1] == 2.0
    assert sum(histo.bucket) == histo.num == 4.0


def test_explicit_edges_lose_no_value() -> None:
    histogram = torch_form([-3.0, 0.5, 1.0, 7.0], bins=[0.0, 1.0])
    assert histogram.buckets.tolist() == [[-3, 0, 1], [0, 1, 2], [1, 7, 1]]
    unbounded = torch_form([-3.0, 0.5, 7.0], bins=[-math.inf, 0.0, math.inf])
    assert unbounded.buckets.tolist() == [[-3, 0, 1], [0, 7, 2]]
    assert torch_form([2.0, 2.0], bins=[2.0]).buckets.tolist() == [[2, 2, 2]]


def test_bins_as_the_peers_in_an_int_range_beyond_float64() -> None:
    histogram = torch_form([-1e308, 1e308], bins=2)
    assert list(field(histogram).bucket_limit) == [-1e308, 0.0, 1e308]


@pytest.mark.parametrize(
    ("bins", "error"),
    [
        ("no such rule", ValueError),
        (0, ValueError),
        (-3, ValueError),
        (2.5, TypeError),
        ([], ValueError),
        ([2.0, 1.0], ValueError),
        ([0.0, math.nan], ValueError),
        ([-math.inf, math.inf], ValueError),
        ([[0.0, 1.0]], ValueError),
        (["a", "b"], ValueError),
    ],
)
def test_bad_bins_are_refused_in_the_caller(bins: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="some/tag"):
        Histogram.from_data([1.0, 2.0], tag="some/tag", bins=bins)


@pytest.mark.parametrize("bins", ["fd", "doane", "auto"])
def test_bins_that_fail_for_these_data_fail_in_the_caller(bins: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            histogram = torch_form([*range(100), 1e300, -1e308, 1e308], bins=bins)
        except ValueError as error:
            assert "'h'" in str(error)  # noqa: PT017 - whether it fails depends on numpy
        else:
            assert histogram.counts.sum() == 103


@pytest.mark.parametrize("limit", [0, -1])
def test_max_bins_is_checked(limit: int) -> None:
    with pytest.raises(ValueError, match="'h': max_bins"):
        torch_form([1.0], max_bins=limit)


def test_max_bins_is_an_integer() -> None:
    with pytest.raises(TypeError, match=r"'h': max_bins must be an integer, got 2\.5"):
        torch_form([1.0], max_bins=2.5)


def test_raw_is_kept_as_given() -> None:
    histogram = Histogram.from_raw(
        min=-1.0,
        max=np.float32(2.5),
        num=3,
        sum=2.0,
        sum_squares=9.0,
        bucket_limits=(0.0, 3.0),
        bucket_counts=np.array([1, 2]),
        tag="h",
    )
    histo = field(histogram)
    assert (histo.min, histo.max, histo.num) == (-1.0, 2.5, 3.0)
    assert (histo.sum, histo.sum_squares) == (2.0, 9.0)
    assert list(histo.bucket_limit) == [0.0, 3.0]
    assert list(histo.bucket) == [1.0, 2.0]


def test_raw_of_different_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'h'.*len\(bucket_limits\) != len\(bucket_counts\)"):
        Histogram.from_raw(
            min=0, max=1, num=1, sum=1, sum_squares=1, bucket_limits=[1], bucket_counts=[], tag="h"
        )


# What may be logged


@pytest.mark.parametrize("data", [[], np.zeros((0, 4), np.float32)])
def test_empty(data: object) -> None:
    assert np.array_equal(Histogram.from_data(data).buckets, np.zeros((30, 3)))
    with pytest.raises(ValueError, match=r"'h'.*no element"):
        torch_form(data)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_the_finite_part_is_counted(dtype: Any, bad: float) -> None:
    data = np.array([1, bad, 2], dtype)
    with pytest.warns(UserWarning, match="'h': 1 of 3 values") as caught:
        histogram = torch_form(data)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    histo = field(histogram)
    assert (histo.min, histo.max, histo.sum, histo.num) == (1.0, 2.0, 3.0, 2.0)
    assert sum(histo.bucket) == 2.0
    with pytest.warns(UserWarning, match="'h': 1 of 3 values"):
        rows = Histogram.from_data(data, tag="h", buckets=2).buckets
    assert rows.tolist() == [[1.0, 1.5, 1.0], [1.5, 2.0, 1.0]]


def test_nothing_finite() -> None:
    data = [math.nan, math.inf]
    with pytest.warns(UserWarning, match="'h': 2 of 2 values"):
        histogram = Histogram.from_data(data, tag="h", buckets=3)
    assert np.array_equal(histogram.buckets, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="'h': none of its 2 values is finite"):
        torch_form(data)


@pytest.mark.parametrize("bins", [None, "tensorflow"])
def test_strict(bins: str | None) -> None:
    with pytest.raises(ValueError, match="'h': 1 of 2 values are not finite"):
        Histogram.from_data([1.0, math.nan], tag="h", bins=bins, strict=True)


def test_great_floats_are_finite_though_their_sum_is_not() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        histo = field(torch_form(np.full(4, 3e38, np.float32)))
        doubles = field(torch_form(np.full(40_000, GREATEST)))
    assert histo.num == sum(histo.bucket) == 4.0
    assert math.isfinite(histo.sum_squares)
    assert doubles.num == sum(doubles.bucket) == 40_000.0
    assert doubles.sum == math.inf


def test_sums_survive_overflow_on_the_way() -> None:
    data = [GREATEST, GREATEST, 1.0, -GREATEST, -GREATEST]
    histogram = torch_form(data * 3)
    assert histogram.moments.sum == 0.0
    assert histogram.moments.sum_squares == math.inf
    assert torch_form([-GREATEST, -GREATEST]).moments.sum == -math.inf
    assert abs(histogram.mean) < 1e307


@pytest.mark.parametrize(
    ("data", "low", "high"),
    [
        ([0, 255], 0.0, 255.0),
        ([True, False], 0.0, 1.0),
        ([-(2**63), 2**63 - 1], -(2.0**63), 2.0**63),
        (np.array([0, 2**64 - 1], np.uint64), 0.0, 2.0**64),
        ([2**70, 0], 0.0, 2.0**70),
        ([Fraction(1, 2), Decimal("0.25")], 0.25, 0.5),
        (np.array([1.5, -2.5], ">f4"), -2.5, 1.5),
        (np.array([1.5, -2.5], np.longdouble), -2.5, 1.5),
        (range(5), 0.0, 4.0),
        (7, 7.0, 7.0),
    ],
)
def test_kinds_of_input(data: object, low: float, high: float) -> None:
    for histogram in (torch_form(data), Histogram.from_data(data, buckets=3)):
        histo = field(histogram)
        assert (histo.min, histo.max) == (low, high)
        assert sum(histo.bucket) == histo.num == np.size(np.array(data, object))


@pytest.mark.parametrize("name", ["bfloat16", "float32", "int64"])
def test_torch_tensors(name: str) -> None:
    torch = pytest.importorskip("torch")
    data = torch.tensor([1.0, 1e30, 2.0] if name != "int64" else [1, 10**18, 2])
    data = data.to(getattr(torch, name))
    histo = field(torch_form(data))
    assert (histo.min, histo.max) == (1.0, data.double().max().item())
    assert sum(histo.bucket) == histo.num == 3.0
    assert field(torch_form(torch.ones(3, requires_grad=True))).sum == 3.0


@pytest.mark.parametrize("data", [None, "abc", {"a": 1}, ["a"], [b"x"], [1j], np.array([object()])])
@pytest.mark.parametrize("bins", [None, "tensorflow"])
def test_what_is_no_number_is_refused(data: object, bins: str | None) -> None:
    with pytest.raises(TypeError, match="some/tag"):
        Histogram.from_data(data, tag="some/tag", bins=bins)


@pytest.mark.parametrize("bins", [None, "tensorflow", 3, [0.0, 9.0]])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8", "u1"])
def test_later_changes_are_not_seen(bins: Any, dtype: str) -> None:
    data = np.arange(4, dtype=dtype)
    edges = np.array(bins) if isinstance(bins, list) else bins
    histogram = Histogram.from_data(data, bins=edges)
    before = histogram.to_field_value("h").SerializeToString(deterministic=True)
    data[:] = 7
    if isinstance(edges, np.ndarray):
        edges[:] = 5.0
    assert histogram.to_field_value("h").SerializeToString(deterministic=True) == before
    assert (histogram.moments.max, histogram.moments.sum) == (3.0, 6.0)


# Cost


def test_counts_are_exact_beyond_float32() -> None:
    size = 2**24 + 3
    histogram = torch_form(np.ones(size, np.bool_))
    assert histogram.counts.tolist() == [float(size)]
    assert Histogram.from_data(np.ones(size, np.int8), buckets=1).counts.tolist() == [float(size)]


MEMORY = """
import sys, tracemalloc
import numpy as np
from tfevents.values.histogram import Histogram
data = np.random.default_rng(0).normal(size=5_000_000).astype(sys.argv[1])
bins = None if sys.argv[2] == "linear" else sys.argv[2]
Histogram.from_data(data[:9], bins=bins).to_field_value("h")
tracemalloc.start()
histogram = Histogram.from_data(data, bins=bins)
value = histogram.to_tensor_value("h") if bins is None else histogram.to_field_value("h")
assert histogram.counts.sum() == 5_000_000
sys.stdout.write(str(tracemalloc.get_traced_memory()[1]))
"""


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("bins", ["linear", "tensorflow"])
def test_five_million_values_need_little_memory(dtype: str, bins: str) -> None:
    command = [sys.executable, "-c", MEMORY, dtype, bins]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert int(result.stdout) < 100_000_000


# Reading


def test_field_form_reads_as_tensorboard_converts_it() -> None:
    compat = pytest.importorskip("tensorboard.data_compat")
    summary = pytest.importorskip("tensorboard.compat.proto.summary_pb2")
    util = pytest.importorskip("tensorboard.util.tensor_util")
    for histogram in (
        torch_form(NORMAL),
        torch_form([-1e30, 0.0, 1e30]),
        torch_form([5]),
        torch_form(NORMAL, bins=9),
        Histogram.from_data_v1(NORMAL),
        Histogram.from_data_v1([]),
        Histogram.from_data(NORMAL),
        Histogram.from_data([]),
    ):
        value = histogram.to_field_value("h")
        theirs = summary.Summary.Value.FromString(value.SerializeToString())
        rows = util.make_ndarray(compat.migrate_value(theirs).tensor)
        assert np.array_equal(Histogram.from_value(value).buckets.astype(np.float32), rows)


def test_field_form_decodes() -> None:
    value = proto.Summary.Value(tag="h")
    value.histo.min, value.histo.max, value.histo.num = -1.0, 4.0, 4.0
    value.histo.sum, value.histo.sum_squares = 6.0, 22.0
    value.histo.bucket_limit.extend([-GREATEST, -0.5, 0.5, 3.0, GREATEST])
    value.histo.bucket.extend([0.0, 1.0, 0.0, 1.0, 2.0])
    histogram = Histogram.from_value(value)
    assert histogram.left.tolist() == [-1.0, -0.5, 0.5, 3.0]
    assert histogram.right.tolist() == [-0.5, 0.5, 3.0, 4.0]
    assert histogram.counts.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert histogram.edges.tolist() == [-1.0, -0.5, 0.5, 3.0, 4.0]
    assert histogram.counts.dtype == histogram.left.dtype == np.float64
    moments = histogram.moments
    assert (moments.min, moments.max, moments.num) == (-1.0, 4.0, 4.0)
    assert (moments.sum, moments.sum_squares) == (6.0, 22.0)
    assert histogram.mean == 1.5
    assert histogram.std == math.sqrt(22 / 4 - 1.5**2)
    assert histogram.to_field_value("h") == value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tensor_form_decodes(dtype: Any) -> None:
    rows = np.array([[0, 2, 1], [2, 4, 3]], dtype)
    value = proto.Summary.Value(tag="h", tensor=tensor.to_proto(rows))
    histogram = Histogram.from_value(value)
    assert histogram.buckets.tolist() == rows.tolist()
    assert histogram.buckets.dtype == np.float64
    moments = histogram.moments
    assert (moments.min, moments.max, moments.num) == (0.0, 4.0, 4.0)
    assert math.isnan(moments.sum)
    assert math.isnan(moments.sum_squares)
    assert histogram.mean == 2.5  # one value at 1, three at 3
    assert histogram.std == pytest.approx(math.sqrt((1.5**2 + 3 * 0.5**2) / 4))


def test_no_values_have_no_mean() -> None:
    for histogram in (
        Histogram.from_data([]),
        Histogram.from_value(Histogram.from_data([]).to_tensor_value("h")),
        Histogram.from_value(Histogram.from_data_v1([]).to_field_value("h")),
        Histogram.from_value(Histogram.from_data([1], buckets=0).to_tensor_value("h")),
    ):
        assert math.isnan(histogram.mean)
        assert math.isnan(histogram.std)
        assert math.isnan(histogram.moments.min) or histogram.moments.num


def test_mean_and_std_of_samples_are_theirs() -> None:
    for histogram in (torch_form(NORMAL), Histogram.from_data(NORMAL)):
        assert histogram.mean == pytest.approx(NORMAL.mean())
        assert histogram.std == pytest.approx(NORMAL.std())


def test_what_is_no_histogram_does_not_decode() -> None:
    flat = tensor.to_proto(np.zeros(3))
    with pytest.raises(ValueError, match=r"'h'.*\[n, 3\].*\(3,\)"):
        Histogram.from_value(proto.Summary.Value(tag="h", tensor=flat))
    with pytest.raises(ValueError, match=r"'h'.*simple_value"):
        Histogram.from_value(proto.Summary.Value(tag="h", simple_value=1.0))
    with pytest.raises(ValueError, match=r"'h'.*nothing"):
        Histogram.from_value(proto.Summary.Value(tag="h"))
    value = proto.Summary.Value(tag="h")
    value.histo.bucket.append(1.0)
    with pytest.raises(ValueError, match="'h': 0 bucket limits beside 1 counts"):
        Histogram.from_value(value)


def test_metadata_and_bytes_held() -> None:
    histogram = Histogram.from_data(np.zeros(1000, np.float32))
    assert histogram.nbytes == 4000
    value = histogram.to_tensor_value("h", display_name="d", description="e")
    assert (value.metadata.display_name, value.metadata.summary_description) == ("d", "e")
    assert Histogram.from_value(value).nbytes == 30 * 3 * 8

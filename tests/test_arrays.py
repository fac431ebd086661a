from __future__ import annotations

import array as array_module
import re
import sys
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tfevents import arrays, steps


class FakeCupy:
    """Like cupy.ndarray: converting it implicitly is an error, `get()` copies it to the host."""

    def __array__(self, *args: Any) -> None:
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def get(self) -> Any:
        return np.array([1.0, 2.0])


FakeCupy.__module__ = "cupy"


class FakeDlpack:
    def __dlpack__(self, **options: Any) -> Any:
        return np.arange(3.0).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return np.arange(3.0).__dlpack_device__()


class FakeArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([[1, 2]], np.int16)


class FakeSparse:
    shape = (2, 2)


FakeSparse.__module__ = "scipy.sparse._csr"


class Broken:
    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("on fire")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (3, 3),
        (True, True),
        (1.5, 1.5),
        (np.float16(0.5), 0.5),
        ([1, 2.5], [1.0, 2.5]),
        ([[1, 2], (3, 4)], [[1, 2], [3, 4]]),
        (range(3), [0, 1, 2]),
        ([], []),
        ([np.float32(1), np.array(2.0)], [1.0, 2.0]),
        ([np.array([1]), [2]], [[1], [2]]),
        (array_module.array("d", [1, 2]), [1.0, 2.0]),
        (memoryview(b"ab"), [97, 98]),
        (Fraction(1, 2), 0.5),
        ([Fraction(1, 2), Decimal("0.25")], [0.5, 0.25]),
        (np.array([Fraction(1, 2), 1]), [0.5, 1.0]),
        (1 + 2j, 1 + 2j),
        (10**30, 1e30),
        (FakeCupy(), [1.0, 2.0]),
        ([FakeCupy(), FakeCupy()], [[1.0, 2.0], [1.0, 2.0]]),
        (FakeDlpack(), [0.0, 1.0, 2.0]),
        (FakeArray(), [[1, 2]]),
    ],
)
def test_to_numpy_reads(data: object, expected: object) -> None:
    found = arrays.to_numpy(data)
    assert type(found) is np.ndarray
    assert found.tolist() == expected


def test_to_numpy_keeps_the_dtype() -> None:
    assert arrays.to_numpy(np.zeros(2, np.uint16)).dtype == np.uint16
    assert arrays.to_numpy(FakeArray()).dtype == np.int16


def test_to_numpy_reads_pillow_images() -> None:
    image = pytest.importorskip("PIL.Image").new("RGB", (3, 2), (1, 2, 3))
    found = arrays.to_numpy(image)
    assert found.shape == (2, 3, 3)
    assert found[0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (None, "NoneType"),
        ({"a": 1}, "dict"),
        ({1}, "set"),
        ("1.5", "'1.5' of type str"),
        (b"1", "bytes"),
        (["a", 1], "str"),
        ([None], "NoneType"),
        (np.array(["a"]), "<U1"),
        (np.array([None]), "object"),
        (np.array(["1"], dtype=object), "object"),
        (np.zeros(2, "M8[s]"), "datetime64"),
        (np.zeros(2, [("x", "i4")]), "shape"),
        (FakeSparse(), "sparse"),
        (Broken(), "on fire"),
        (object(), "object"),
        (iter(()), "iterator"),
        (np.timedelta64(3, "s"), "timedelta64"),
        (np.timedelta64(3, "ns"), "timedelta64"),
        ([np.timedelta64(3, "ns")], "timedelta64"),
        (np.ma.masked, "1 of these are masked"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[True, False, True]), "2 of these are masked"),
        ([1.0, np.ma.masked], "masked"),
    ],
)
@pytest.mark.parametrize("read", [arrays.to_numpy, arrays.scalar])
def test_what_is_no_array_of_numbers_is_refused_by_name(
    read: Callable[..., Any], data: object, text: str
) -> None:
    with pytest.raises(TypeError, match=f"tag 'loss/x'.*{re.escape(text)}"):
        read(data, tag="loss/x")


def test_masked_arrays_without_masked_elements_are_arrays() -> None:
    for mask in (False, [False, False]):
        found = arrays.to_numpy(np.ma.array([1, 2], mask=mask))
        assert type(found) is np.ndarray
        assert found.tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"tag 't'.*masked"):
        arrays.as_tensor(np.ma.array([1, 2], mask=[False, True]), tag="t")


@pytest.mark.parametrize("read", [arrays.to_numpy, arrays.scalar, arrays.as_tensor])
def test_sequences_without_end_are_refused(read: Callable[..., Any]) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match=r"tag 't'.*nested too deeply"):
        read(endless, tag="t")


def test_durations_are_no_tensors_of_integers() -> None:
    for data in (np.timedelta64(3, "ns"), [np.timedelta64(3, "ns")], [np.timedelta64(3, "s")]):
        with pytest.raises(ValueError, match="tag 't'"):
            arrays.as_tensor(data, tag="t")


def test_to_numpy_refuses_ragged_sequences() -> None:
    with pytest.raises(ValueError, match="tag 't'"):
        arrays.to_numpy([[1], [2, 3]], tag="t")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (3, 3.0),
        (True, 1.0),
        (np.float16(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.bool_(True), 1.0),
        (np.array(2.0), 2.0),
        (np.array([2.0]), 2.0),
        (np.array([[2.0]]), 2.0),
        (Fraction(1, 2), 0.5),
        (Decimal("0.5"), 0.5),
        ([5.0], 5.0),
        (float("inf"), float("inf")),
        (np.float64("-inf"), float("-inf")),
        (Decimal("Infinity"), float("inf")),
        (2**63, 2.0**63),
    ],
)
def test_scalar(data: object, expected: float) -> None:
    found = arrays.scalar(data)
    assert type(found) is float
    assert found == expected


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        ("1.5", TypeError, "str"),
        ("abc", TypeError, "str"),
        (np.str_("1.5"), TypeError, "str"),
        (None, TypeError, "NoneType"),
        ({"a": 1}, TypeError, "dict"),
        (1 + 2j, TypeError, "complex"),
        (np.array([1, 2]), ValueError, r"\(2,\)"),
        (np.array([]), ValueError, r"\(0,\)"),
        ([], ValueError, r"\(0,\)"),
        (10**400, ValueError, "int"),
        (Decimal("1e400"), ValueError, "Decimal"),
        (np.array(["1"]), TypeError, "<U1"),
    ],
)
def test_scalar_refuses(data: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"tag 'loss'.*{text}"):
        arrays.scalar(data, tag="loss")


# What TensorFlow 2.21's convert_to_tensor gave
@pytest.mark.parametrize(
    ("data", "dtype", "expected"),
    [
        (-(2**31), np.int32, -(2**31)),
        (-(2**31) - 1, np.int64, -(2**31) - 1),
        ([1j], np.complex128, [1j]),
        ([[]], np.float32, [[]]),
        ([[], []], np.float32, [[], []]),
        ((1, 2), np.int32, [1, 2]),
        ([np.float32(1), 2], np.float32, [1.0, 2.0]),
        ([np.float64(1), 2], np.float64, [1.0, 2.0]),
        ([1.0, np.float64(2)], np.float32, [1.0, 2.0]),
        ([np.float16(1)], np.float16, [1.0]),
        ([np.float64(1e300), 1], np.float64, [1e300, 1.0]),
        ([np.int64(3), 2], np.int32, [3, 2]),
        ([np.uint8(3), np.uint8(4)], np.int32, [3, 4]),
        ([True, np.True_], np.bool_, [True, True]),
        ([np.array([1, 2])], np.int32, [[1, 2]]),
        ([np.array([1.0, 2.0])], np.float64, [[1.0, 2.0]]),
        ([np.array(1.0, np.float32)], np.float32, [1.0]),
        (range(3), np.int32, [0, 1, 2]),
        ([[1, 2], [3.0, 4]], np.float32, [[1.0, 2.0], [3.0, 4.0]]),
        ([2**31, 1.5], np.float32, [2.0**31, 1.5]),
        (3.4028235e38, np.float32, 3.4028234663852886e38),
        ([float("inf")], np.float32, [float("inf")]),
        (np.array(["a\0b", "c\0"]), np.object_, [b"a\0b", b"c"]),
        (b"a\0", np.object_, b"a\0"),
        (np.str_("é"), np.object_, b"\xc3\xa9"),
    ],
)
def test_as_tensor_infers_as_tensorflow(data: object, dtype: type[Any], expected: object) -> None:
    found = arrays.as_tensor(data)
    assert found.dtype == dtype
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "data",
    [
        [1, 1j],
        [True, 1.0],
        [[1], [2, 3]],
        [[1], 2],
        [1, [2]],
        10**30,
        [2**40, 2**70],
        [1e300],
        3.4028236e38,
        [1, 1e300],
        [1.0, 10**400],
        {1},
        [None, 1],
        np.datetime64("2020"),
        np.array([1, "a", None], object),
        np.array([1, 2], object),
        "\ud800",
        ["a", "\ud800"],
    ],
)
def test_as_tensor_refuses_with_tensorflow(data: object) -> None:
    with pytest.raises(ValueError, match="tag 't'"):
        arrays.as_tensor(data, tag="t")


def test_no_framework_is_imported() -> None:
    # A class only claims to come from torch: nothing is imported to find out.
    fake = type("Tensor", (), {"__module__": "torch"})
    before = set(sys.modules)
    with pytest.raises(TypeError):
        arrays.to_numpy(fake())
    assert not {m.split(".")[0] for m in set(sys.modules) - before} & {"torch", "tensorflow", "jax"}


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    bfloat = torch.tensor([1.5, 70000, 1e38, 1e-20], dtype=torch.bfloat16)
    found = arrays.to_numpy(bfloat)
    assert found.dtype == np.float32
    assert found.tolist() == [1.5, 70144.0, 9.969209968386869e37, 1.0005576689441423e-20]
    assert arrays.scalar(bfloat[2]) == 9.969209968386869e37
    assert arrays.to_numpy(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]
    assert arrays.to_numpy(torch.tensor([1 + 2j]).conj().imag).tolist() == [-2]  # a negative bit
    assert arrays.to_numpy(torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert arrays.to_numpy(torch.nn.Parameter(torch.ones(1))).tolist() == [1]
    assert arrays.to_numpy([torch.ones((), requires_grad=True), 2]).tolist() == [1, 2]
    assert arrays.scalar(torch.tensor([[2.0]])) == 2
    assert arrays.to_numpy(torch.Size([2, 3])).tolist() == [2, 3]
    assert steps.strict(torch.tensor(3, dtype=torch.int32)) == 3
    assert arrays.as_tensor(torch.zeros(1, dtype=torch.int8)).dtype == np.int8
    subclass = types.new_class("Mine", (torch.Tensor,))
    assert arrays.to_numpy(torch.ones(2).as_subclass(subclass)).tolist() == [1, 1]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["meta", "sparse_coo", "sparse_csr", "quantized", "dtype"])
def test_torch_refusals(kind: str) -> None:
    torch = pytest.importorskip("torch")
    data = {
        "meta": lambda: torch.empty(2, device="meta"),
        "sparse_coo": lambda: torch.eye(2).to_sparse(),
        "sparse_csr": lambda: torch.eye(2).to_sparse_csr(),
        "quantized": lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        "dtype": lambda: torch.float32,
    }[kind]()
    with pytest.raises(TypeError, match=f"tag 't'.*{kind}"):
        arrays.to_numpy(data, tag="t")


def test_torch_on_a_gpu() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    data = torch.tensor([1.5, 70000], dtype=torch.bfloat16, device="cuda", requires_grad=True)
    assert arrays.to_numpy(data).tolist() == [1.5, 70144.0]
    assert arrays.scalar(data[1]) == 70144.0
    assert arrays.to_numpy([data[0], data[1]]).tolist() == [1.5, 70144.0]


def test_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    assert arrays.to_numpy(jnp.arange(3)).tolist() == [0, 1, 2]
    data = jnp.array([1.5, 70000], jnp.bfloat16)
    assert arrays.as_tensor(data).dtype.name == "bfloat16"
    assert arrays.to_numpy(data).dtype == np.float32
    assert arrays.to_numpy(data).tolist() == [1.5, 70144.0]
    small = arrays.to_numpy(jnp.array([1.5, 2], jnp.float8_e5m2))
    assert small.dtype == np.float32
    assert small.tolist() == [1.5, 2]


def test_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    assert arrays.to_numpy(tf.constant([1, 2])).dtype == np.int32
    assert arrays.scalar(tf.Variable(2.5)) == 2.5
    assert steps.strict(tf.Variable(5, dtype=tf.int64)) == 5
    assert arrays.to_numpy(tf.cast([70000.0], tf.bfloat16)).tolist() == [70144.0]
    assert arrays.as_tensor(tf.constant(b"a\0")).tolist() == b"a\0"
    assert arrays.as_tensor(tf.constant(["a", "b"])).tolist() == [b"a", b"b"]
    assert arrays.as_tensor([tf.constant(1), 2]).dtype == np.int32
    for data in (tf.sparse.eye(2), tf.ragged.constant([[1], [2, 3]]), tf.constant("x")):
        with pytest.raises(TypeError, match="tag 't'"):
            arrays.to_numpy(data, tag="t")
    for data in (tf.compat.v1.Summary(), tf.data.Dataset.range(2)):
        with pytest.raises(TypeError, match="tag 't': numbers or an array are needed"):
            arrays.to_numpy(data, tag="t")


def test_scipy_sparse() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"tag 't'.*sparse"):
        arrays.to_numpy(sparse.eye(2), tag="t")

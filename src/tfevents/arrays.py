"""Array-likes of any framework as NumPy arrays and numbers.

No framework is imported: what an object is, the module of its class says, and how it is read, a
method of its own. `to_numpy` and `scalar` take whatever is numeric; `as_tensor` follows
TensorFlow's inference, which also knows strings and gives Python floats 32 bits.
"""

from __future__ import annotations

import array as array_module
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tfevents import tensor

__all__ = ["REFUSED", "SEQUENCES", "about", "as_tensor", "scalar", "to_numpy"]

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

_PYTHON_NUMBERS = (bool, int, float, complex)
SEQUENCES = (list, tuple, range)
REFUSED = (type(None), str, bytes, bytearray, dict, set, frozenset)
_REAL_NUMBERS = (int, np.floating, np.integer, np.bool_)  # NumPy has durations among integers
_LEAF_TYPES = (*_PYTHON_NUMBERS, str, bytes)
_KNOWN = (*_LEAF_TYPES, *SEQUENCES, *REFUSED, np.generic)


def to_numpy(data: object, *, tag: str = "") -> Array:
    """Reads numeric data of any rank: bool, integers, floats or complex numbers.

    bfloat16 and narrower floats are widened to float32, exactly. The result may share memory with
    `data`.

    Args:
        data: numbers, nested sequences of them, NumPy, PyTorch, JAX, TensorFlow or CuPy arrays on
            any device, PIL images, anything with `__array__`, `__dlpack__` or `__float__`.
        tag: named in errors.

    Raises:
        TypeError: no numbers, or not in a dense array: None, dict, str, sparse, meta and quantized
            tensors, arrays with masked elements.
        ValueError: nested sequences of unequal lengths or without end, or a number beyond every
            type.
    """
    if type(data) is np.ndarray:
        return _numeric(data, data, tag)
    if isinstance(data, REFUSED):
        raise _refusal(data, tag, "numbers or an array are needed")
    if isinstance(data, SEQUENCES):
        try:
            return _numeric(_stacked(data, tag), data, tag)
        except RecursionError:
            raise _endless(tag) from None
    return _numeric(_read(data, tag), data, tag)


def scalar(data: object, *, tag: str = "") -> float:
    """Reads one real number: anything with exactly one element, or with `__float__`.

    Raises:
        TypeError: not a real number (str, None, dict, complex, ...).
        ValueError: no or several elements, or a finite number beyond float64.
    """
    if type(data) is float:
        return data
    if not isinstance(data, np.timedelta64) and isinstance(data, _REAL_NUMBERS):
        return _float_of(data, data, tag)
    found = to_numpy(data, tag=tag)
    if found.size != 1:
        raise ValueError(f"{about(tag)}one number is needed; got {_describe(found, data)}")
    if found.dtype.kind == "c":
        raise _refusal(data, tag, "a real number is needed")
    return _float_of(found.reshape(-1)[0], data, tag)


def _float_of(number: Any, data: object, tag: str) -> float:
    try:
        result = float(number)
        finite_before = not math.isinf(result) or abs(number) == math.inf
    except OverflowError:
        finite_before = False
    if not finite_before:
        raise ValueError(f"{about(tag)}{type(data).__name__} is beyond the range of float64")
    return result


# Errors


def about(tag: str) -> str:
    """How an error begins that is about a tag; empty without one."""
    return f"tag {tag!r}: " if tag else ""


def _describe(found: Array, data: object) -> str:
    return f"{type(data).__name__} of shape {found.shape} and dtype {found.dtype}"


def _endless(tag: str) -> ValueError:
    return ValueError(f"{about(tag)}sequences are nested too deeply")


def _refusal(data: object, tag: str, wanted: str) -> TypeError:
    kind = type(data)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    shown = f"{str(data)[:40]!r} of type " if isinstance(data, (str, bytes, complex)) else ""
    return TypeError(f"{about(tag)}{wanted}; got {shown}{name}")


# Reading


def _read(data: Any, tag: str) -> Array:
    """The array an object stands for, in its own dtype (bfloat16, strings, objects too)."""
    if type(data) is np.ndarray or isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, _PYTHON_NUMBERS):
        return _from_python_number(data, tag)
    convert = _converter_of(type(data))
    try:
        return convert(data)
    except _Refused as error:
        raise _refusal(data, tag, str(error)) from None
    except MemoryError:
        raise
    except OverflowError as error:
        raise ValueError(f"{about(tag)}{type(data).__name__} is out of range: {error}") from error
    except (
        Exception
    ) as error:  # whatever a foreign object raises, the tag and the type must be told
        raise TypeError(
            f"{about(tag)}{type(data).__module__}.{type(data).__name__} cannot be read as an "
            f"array: {error}"
        ) from error


def _from_python_number(number: complex, tag: str) -> Array:
    found = np.asarray(number)
    if found.dtype.kind == "O":  # an int beyond 64 bits
        return np.asarray(_float_of(number, number, tag))
    return found


class _Refused(Exception):
    """What is wrong with an object that its framework could not turn into a dense array."""


def _from_torch(data: Any) -> Array:
    if not hasattr(data, "detach"):  # torch.Size and other things that are no tensors
        return _from_protocols(data)
    if data.device.type == "meta":
        raise _Refused("a tensor with data is needed, this one is on the meta device")
    if data.is_quantized:
        raise _Refused("a plain tensor is needed, this one is quantized (call dequantize())")
    if str(data.layout) != "torch.strided":
        raise _Refused(f"a dense tensor is needed, this one has layout {data.layout}")
    dense = data.detach().cpu().resolve_conj().resolve_neg()
    if str(dense.dtype).startswith(("torch.bfloat16", "torch.float8", "torch.float4")):
        dense = dense.float()
    elif str(dense.dtype) == "torch.complex32":
        dense = dense.cfloat()
    found: Array = dense.numpy()
    return found


def _from_tensorflow(data: Any) -> Array:
    if not hasattr(data, "dtype"):  # messages, datasets and other things that are no tensors
        return _from_protocols(data)
    if not hasattr(data, "numpy"):
        raise _Refused("a dense eager tensor is needed, this one is sparse or symbolic")
    found = data.numpy()
    if isinstance(found, bytes):
        return _object_array([found], ())
    return np.asarray(found)


def _from_cupy(data: Any) -> Array:
    return np.asarray(data.get())


def _from_masked(data: Any) -> Array:
    hidden = int(data.mask.sum())
    if hidden:
        raise _Refused(f"numbers are needed, {hidden} of these are masked (call filled())")
    found: Array = data.data
    return found


def _refuse_sparse(data: Any) -> Array:
    raise _Refused("a dense array is needed, this one is sparse (call toarray())")


def _from_protocols(data: Any) -> Array:
    if isinstance(data, _ARRAY_LIKE) or any(hasattr(data, name) for name in _ARRAY_PROTOCOLS):
        return np.asarray(data)
    if hasattr(data, "__dlpack__"):
        return np.from_dlpack(data)
    if hasattr(data, "__float__"):
        number = float(data)
        if math.isinf(number) and abs(data) != math.inf:
            raise OverflowError("beyond the range of float64")
        return np.asarray(number)
    raise _Refused("numbers or an array are needed")


_ARRAY_LIKE = (memoryview, array_module.array, *SEQUENCES)
_ARRAY_PROTOCOLS = ("__array__", "__array_interface__")  # Pillow's images have only the second

# The first match of a class's own module, or of one it inherits from, decides.
_CONVERTERS: tuple[tuple[str, Callable[[Any], Array]], ...] = (
    ("torch", _from_torch),
    ("tensorflow", _from_tensorflow),
    ("cupy", _from_cupy),
    ("scipy.sparse", _refuse_sparse),
    ("numpy.ma", _from_masked),
)


def _converter_of(kind: type) -> Callable[[Any], Array]:
    for base in kind.__mro__:
        module = base.__module__ + "."
        for prefix, convert in _CONVERTERS:
            if module.startswith(prefix + "."):
                return convert
    return _from_protocols


def _stacked(data: Any, tag: str) -> Array:
    """Nested sequences as one array; their leaves may be arrays of any framework."""
    items = [x if type(x) in _PYTHON_NUMBERS else to_numpy(x, tag=tag) for x in data]
    shapes = {x.shape if isinstance(x, np.ndarray) else () for x in items}
    if len(shapes) > 1:
        raise ValueError(f"{about(tag)}the items of a sequence differ in shape: {shapes}")
    return np.asarray(items) if items else np.zeros(0)


_USER_DEFINED = 2  # `isbuiltin` of dtypes from packages such as ml_dtypes


def _numeric(found: Array, data: object, tag: str) -> Array:
    if found.dtype.isbuiltin == _USER_DEFINED:
        if found.dtype.name == "bfloat16":
            return tensor.widen_bfloat16(found)
        return found.astype(np.float32)  # float8 and integers below 8 bits, exact
    if found.dtype.kind in "biufc":
        return found
    if found.dtype.kind == "O" and not any(isinstance(x, REFUSED) for x in found.flat):
        try:
            return found.astype(np.float64)
        except OverflowError as error:
            raise ValueError(f"{about(tag)}a number is beyond the range of float64") from error
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{about(tag)}numbers are needed; got {_describe(found, data)}")


def _object_array(items: list[Any], shape: tuple[int, ...]) -> Array:
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found.reshape(shape)


# TensorFlow's inference


def as_tensor(data: object, *, tag: str = "") -> Array:
    """Infers an array as TensorFlow's convert_to_tensor does.

    Arrays keep their dtype. In Python values and sequences, int becomes int32 (int64 if one is out
    of range), float becomes float32, also among ints, bool stays, complex becomes complex128, str
    and bytes become an object array of bytes; an empty sequence is float32.

    Raises:
        ValueError: mixed kinds, unequal lengths, None or another type without meaning, a finite
            float beyond float32, an int beyond int64, a str with a lone surrogate, a dtype
            TensorFlow lacks.
        TypeError: a framework's object that cannot be read; see `to_numpy`.
    """
    if not isinstance(data, np.generic):  # NumPy's own numbers and strings know their dtype
        if isinstance(data, (*_LEAF_TYPES, *SEQUENCES)):
            return _inferred(data, tag)
        if isinstance(data, REFUSED):
            raise _unsupported(data, tag)
    found = _read(data, tag)
    if found.dtype.kind in "SUO":
        return _object_array([_encoded(x, tag) for x in found.reshape(-1).tolist()], found.shape)
    try:
        tensor.dtype_name(found.dtype)
    except TypeError as error:
        raise ValueError(f"{about(tag)}{error}") from None
    return found


def _unsupported(data: object, tag: str) -> ValueError:
    return ValueError(
        f"{about(tag)}Attempt to convert a value ({str(data)[:40]}) with an unsupported type "
        f"({type(data)}) to a Tensor."
    )


def _encoded(item: object, tag: str) -> bytes:
    if isinstance(item, bytes):
        return item
    if not isinstance(item, str):
        raise ValueError(  # noqa: TRY004 - TensorFlow's class for it
            f"{about(tag)}an array of objects must hold strings; got {type(item).__name__}"
        )
    try:
        return item.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{about(tag)}Error converting unicode string: {error}") from None


def _inferred(data: object, tag: str) -> Array:
    shape: list[int] = []
    leaves: list[Any] = []
    try:
        _collect(data, 0, shape, leaves, tag)
    except RecursionError:
        raise _endless(tag) from None
    kinds = {_kind_of(leaf, tag) for leaf in leaves} or {"f"}
    if kinds == {"i", "f"}:
        kinds = {"f"}
    if len(kinds) > 1:
        raise ValueError(f"{about(tag)}Can't convert Python sequence with mixed types to Tensor.")
    found = _BUILDERS[kinds.pop()](leaves, tag)
    return found.reshape(shape)


def _collect(node: Any, depth: int, shape: list[int], leaves: list[Any], tag: str) -> None:
    """Appends the leaves of nested sequences and fills in their shape; it must be regular."""
    if type(node) not in _LEAF_TYPES and not isinstance(node, _KNOWN):
        node = _read(node, tag)
    if isinstance(node, np.ndarray) and node.ndim == 0:
        node = node[()]
    if not isinstance(node, (*SEQUENCES, np.ndarray)):
        if depth != len(shape):
            raise _ragged(tag)
        leaves.append(node)
        return
    if depth == len(shape) and not leaves:
        shape.append(len(node))
    elif depth == len(shape) or shape[depth] != len(node):
        raise _ragged(tag)
    for item in node:
        _collect(item, depth + 1, shape, leaves, tag)


def _ragged(tag: str) -> ValueError:
    return ValueError(f"{about(tag)}Can't convert non-rectangular Python sequence to Tensor.")


def _kind_of(leaf: object, tag: str) -> str:
    if isinstance(leaf, (bool, np.bool_)):
        return "b"
    if not isinstance(leaf, np.timedelta64) and isinstance(leaf, (int, np.integer)):
        return "i"
    if isinstance(leaf, (float, np.floating)):
        return "f"
    if isinstance(leaf, (complex, np.complexfloating)):
        return "c"
    if isinstance(leaf, (str, bytes)):
        return "s"
    raise _unsupported(leaf, tag)


def _build_ints(leaves: list[Any], tag: str) -> Array:
    low, high = min(leaves), max(leaves)
    for dtype in (np.int32, np.int64):
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return np.array(leaves, dtype)
    raise ValueError(
        f"{about(tag)}Can't convert Python sequence with out-of-range integer to Tensor."
    )


def _build_floats(leaves: list[Any], tag: str) -> Array:
    first = next((x for x in leaves if isinstance(x, (float, np.floating))), 0.0)
    dtype = first.dtype if isinstance(first, np.floating) else np.dtype(np.float32)
    try:
        exact = np.array(leaves, np.float64)
    except OverflowError as error:
        raise ValueError(f"{about(tag)}a number is beyond the range of float64") from error
    with np.errstate(over="ignore"):
        found = exact.astype(dtype)
    if not np.array_equal(np.isinf(found), np.isinf(exact)):
        raise ValueError(
            f"{about(tag)}Can't convert Python sequence with a value out of range for {dtype}."
        )
    return found


_BUILDERS: dict[str, Callable[[list[Any], str], Array]] = {
    "b": lambda leaves, _: np.array(leaves, np.bool_),
    "i": _build_ints,
    "f": _build_floats,
    "c": lambda leaves, _: np.array(leaves, np.complex128),
    "s": lambda leaves, tag: _object_array([_encoded(x, tag) for x in leaves], (len(leaves),)),
}

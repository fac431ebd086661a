"""TensorFlow's and TensorBoard's messages, without generated code and without a clash.

`proto.Event`, `proto.Summary.Value`, `proto.GraphDef`, … are ordinary protobuf message classes with
TensorFlow's full names, from a descriptor pool of our own: other copies of the same schema
(TensorFlow's, TensorBoard's, tensorboardX's) may live in the same process. They are built when the
first of them is asked for; importing this module loads no protobuf. They pickle and copy.

Names are the schema's short ones, nested types stay nested. Three differ, to be unambiguous:
`HParamsDataType` and `HParamsStatus` (tensorboard.hparams.DataType and .Status; plain `DataType` is
the tensor element type) and `StructValue` (google.protobuf.Value). Enums are wrappers
(`DataType.Name(1)`), their values are also here as numbers (`DT_FLOAT`, `DATA_CLASS_SCALAR`).

A message of another pool cannot be assigned into ours, not even google.protobuf's own Struct or
Value: use `coerce`, or build it from `proto.Struct`, `proto.ListValue`, `proto.StructValue`.
"""

from __future__ import annotations

from typing import Any

from tfevents.proto import _names

__all__ = ["coerce", *_names.MESSAGES, *_names.ENUMS, *_names.NUMBERS]  # noqa: PLE0604 (all are strings)

globals().update(_names.NUMBERS)


def __getattr__(name: str) -> Any:
    if name not in _names.MESSAGES and name not in _names.ENUMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfevents.proto import _pool

    globals().update(_pool.PUBLIC)
    return _pool.PUBLIC[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def coerce(kind: Any, message: Any) -> Any:
    """Return `message` as our class: itself if it is ours already, else a copy through its bytes.

    Args:
        kind: a class of this module, or its name (`"RunMetadata"`, `"Summary.Value"`).
        message: ours; the same message of any other protobuf copy; or serialized bytes.

    Raises:
        TypeError: `message` is none of these, or another message than `kind`.
        ValueError: the bytes are not a message of that kind, or `kind` names no message.
    """
    from tfevents.proto import _pool

    return _pool.coerce(kind, message)

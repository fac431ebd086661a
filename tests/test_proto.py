"""The messages: equal to the peers' field by field, lazy, private, picklable."""

from __future__ import annotations

import copy
import importlib
import importlib.util
import pickle
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfevents import proto

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "tfevents" / "proto"


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def build_script() -> Any:
    path = ROOT / "scripts" / "build_descriptors.py"
    spec = importlib.util.spec_from_file_location("build_descriptors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The peers' schema -------------------------------------------------------------------------------

TENSORBOARD_MODULES = [
    *(
        f"tensorboard.compat.proto.{name}_pb2"
        for name in [
            "allocation_description",
            "attr_value",
            "config",
            "cost_graph",
            "debug",
            "event",
            "full_type",
            "function",
            "graph",
            "graph_debug_info",
            "histogram",
            "meta_graph",
            "node_def",
            "op_def",
            "resource_handle",
            "saver",
            "step_stats",
            "summary",
            "tensor",
            "tensor_description",
            "tensor_shape",
            "types",
            "versions",
        ]
    ),
    *(
        f"tensorboard.plugins.{name}.plugin_data_pb2"
        for name in ["audio", "histogram", "hparams", "image", "mesh", "pr_curve", "scalar", "text"]
    ),
    "tensorboard.plugins.custom_scalar.layout_pb2",
    "tensorboard.plugins.hparams.api_pb2",
    "tensorboard.plugins.projector.projector_config_pb2",
]

TENSORFLOW_MODULES = [
    *(
        f"tensorflow.core.framework.{name}_pb2"
        for name in [
            "allocation_description",
            "attr_value",
            "cost_graph",
            "full_type",
            "function",
            "graph",
            "graph_debug_info",
            "node_def",
            "op_def",
            "resource_handle",
            "step_stats",
            "summary",
            "tensor",
            "tensor_description",
            "tensor_shape",
            "types",
            "versions",
        ]
    ),
    *(f"tensorflow.core.protobuf.{n}_pb2" for n in ("config", "debug", "meta_graph", "saver")),
    "tensorflow.core.util.event_pb2",
    "tensorflow.compiler.xla.tsl.protobuf.histogram_pb2",
]

# Types of the modules above that no event file holds.
LEFT_OUT_TYPES = {
    "BatchingOptions",
    "CallableOptions",
    "ConfigProto",
    "GPUOptions",
    "GraphOptions",
    "OptimizerOptions",
    "TensorConnection",
    "ThreadPoolOptionProto",
    "DebuggedSourceFile",
    "DebuggedSourceFiles",
    "RequestedExitCode",
    "WatchdogConfig",
    "WorkerHealth",
    "WorkerHeartbeatRequest",
    "WorkerHeartbeatResponse",
    "WorkerShutdownMode",
    "SerializedDType",
    "AggregationType",
    "ColParams",
    "GetExperimentRequest",
    "ListMetricEvalsRequest",
    "ListSessionGroupsRequest",
    "ListSessionGroupsResponse",
    "MetricValue",
    "Session",
    "SessionGroup",
    "SortOrder",
}
# Fields whose types lead into saved models; their bytes are kept as unknown fields.
LEFT_OUT_FIELDS = {
    "MetaGraphDef": {"object_graph_def"},
    "TensorInfo.CompositeTensor": {"type_spec"},
}


def types_of(file: Any) -> Iterator[tuple[str, Any]]:
    """Yield (full name without the root package, descriptor proto) of all types in a file."""
    rest = file.package.partition(".")[2]
    todo = [(f"{rest}.{t.name}".lstrip("."), t) for t in (*file.message_type, *file.enum_type)]
    while todo:
        name, item = todo.pop()
        yield name, item
        if hasattr(item, "nested_type"):
            todo += [(f"{name}.{t.name}", t) for t in (*item.nested_type, *item.enum_type)]


def facts(name: str, item: Any, syntax: str) -> Any:
    if not hasattr(item, "field"):
        return {value.number: value.name for value in item.value}
    return {
        field.number: (
            field.name,
            field.type,
            field.label,
            field.type_name.replace(".tensorboard.", ".").replace(".tensorflow.", "."),
            item.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else "",
            field.options.packed,
            field.options.deprecated,
            syntax,
        )
        for field in item.field
        if field.name not in LEFT_OUT_FIELDS.get(name, ())
    }


def facts_of(files: list[Any]) -> dict[str, Any]:
    return {n: facts(n, item, f.syntax) for f in files for n, item in types_of(f)}


def our_files() -> list[Any]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    compiled = FileDescriptorSet.FromString((PACKAGE / "descriptors.binpb").read_bytes())
    return [file for file in compiled.file if not file.package.startswith("google.")]


def peer_files(modules: list[str]) -> list[Any]:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    files = []
    for name in modules:
        file = FileDescriptorProto()
        importlib.import_module(name).DESCRIPTOR.CopyToProto(file)
        files.append(file)
    return files


def test_every_type_equals_tensorboards() -> None:
    # older releases know fewer types; with an old protobuf no newer one can be installed
    pytest.importorskip("tensorboard", minversion="2.21", exc_type=ImportError)
    theirs = facts_of(peer_files(TENSORBOARD_MODULES))
    left_out = {n for n in theirs if set(n.split(".")) & LEFT_OUT_TYPES}
    ours = facts_of([file for file in our_files() if file.package != "tensorflow.profiler"])
    assert sorted(ours) == sorted(theirs.keys() - left_out)
    for name, expected in ours.items():
        assert expected == theirs[name], name


def test_every_tensorflow_type_equals_tensorflows() -> None:
    pytest.importorskip("tensorflow")
    theirs = facts_of(peer_files(TENSORFLOW_MODULES))
    ours = facts_of([file for file in our_files() if file.package == "tensorflow"])
    for name, expected in ours.items():
        assert expected == theirs[name], name


def test_every_profiler_type_equals_tensorflows() -> None:
    pytest.importorskip("tensorflow")
    theirs = facts_of(peer_files(["tensorflow.tsl.profiler.protobuf.xplane_pb2"]))
    ours = facts_of([file for file in our_files() if file.package == "tensorflow.profiler"])
    assert ours == theirs


@pytest.mark.parametrize(
    ("name", "full_name"),
    [
        ("Event", "tensorflow.Event"),
        ("RunMetadata", "tensorflow.RunMetadata"),
        ("PrCurvePluginData", "tensorboard.PrCurvePluginData"),
        ("MeshPluginData", "tensorboard.mesh.MeshPluginData"),
        ("HParamsPluginData", "tensorboard.hparams.HParamsPluginData"),
        ("Layout", "tensorboard.Layout"),
        ("ProjectorConfig", "tensorboard.projector.ProjectorConfig"),
        ("DataType", "tensorflow.DataType"),
        ("HParamsDataType", "tensorboard.hparams.DataType"),
        ("HParamsStatus", "tensorboard.hparams.Status"),
        ("StructValue", "google.protobuf.Value"),
    ],
)
def test_public_names(name: str, full_name: str) -> None:
    assert getattr(proto, name).DESCRIPTOR.full_name == full_name


# Bytes -------------------------------------------------------------------------------------------


def test_event_bytes_worked_by_hand() -> None:
    value = proto.Summary.Value(tag="a", simple_value=2.0)
    event = proto.Event(wall_time=1.5, step=300, summary=proto.Summary(value=[value]))
    inner = b"\x0a\x01a" + b"\x15" + struct.pack("<f", 2.0)
    summary = b"\x0a" + bytes([len(inner)]) + inner
    expected = b"\x09" + struct.pack("<d", 1.5) + b"\x10\xac\x02" + b"\x2a"
    expected += bytes([len(summary)]) + summary
    assert event.SerializeToString() == expected
    assert proto.Event.FromString(expected) == event


def test_left_out_fields_keep_their_bytes() -> None:
    object_graph_def = b"\x3a\x02\x0a\x00"
    message = proto.MetaGraphDef.FromString(object_graph_def)
    message.meta_info_def.tags.append("serve")
    assert message.SerializeToString() == b"\x0a\x07\x22\x05serve" + object_graph_def
    type_spec = b"\x0a\x02\x08\x01"
    kept = proto.TensorInfo.CompositeTensor.FromString(type_spec)
    assert kept.SerializeToString() == type_spec


def test_proto2_presence_of_debug_info() -> None:
    assert proto.GraphDebugInfo.FileLineCol(line=0).SerializeToString() == b"\x10\x00"


def test_enums() -> None:
    assert proto.DT_FLOAT == 1
    assert proto.DataType.Value("DT_BFLOAT16") == 14
    assert proto.DataType.Name(101) == "DT_FLOAT_REF"
    assert proto.DATA_CLASS_BLOB_SEQUENCE == 3
    assert proto.SessionLog.START == 1
    assert proto.SessionLog.SessionStatus.Name(3) == "CHECKPOINT"
    assert proto.STATUS_SUCCESS == proto.HParamsStatus.Value("STATUS_SUCCESS") == 1


def test_well_known_types_work_inside_ours() -> None:
    start = proto.SessionStartInfo()
    start.hparams["lr"].number_value = 0.5
    start.hparams["name"].string_value = "adam"
    assert proto.SessionStartInfo.FromString(start.SerializeToString()) == start
    info = proto.HParamInfo(name="units")
    info.domain_discrete.extend([16.0, "x", True])
    kinds = [value.WhichOneof("kind") for value in info.domain_discrete.values]
    assert kinds == ["number_value", "string_value", "bool_value"]
    collection = proto.CollectionDef()
    collection.any_list.value.add().Pack(proto.VersionDef(producer=3))
    assert collection.any_list.value[0].type_url == "type.googleapis.com/tensorflow.VersionDef"


# Laziness ----------------------------------------------------------------------------------------


def test_import_loads_no_protobuf() -> None:
    code = """
import sys
from tfevents import proto
assert "Event" in dir(proto) and proto.DT_FLOAT == 1
print([name for name in sys.modules if name.startswith("google")])
proto.Event()
assert "google.protobuf" in sys.modules
"""
    assert run_python(code) == "[]"


def test_first_build_from_many_threads() -> None:
    code = """
import sys, threading
from tfevents import proto
sys.setswitchinterval(1e-6)
start, seen = threading.Barrier(8), []
def ask(name):
    start.wait()
    seen.append((getattr(proto, name), proto.Summary.Value))
names = ["Event", "Summary", "GraphDef", "DataType"] * 2
threads = [threading.Thread(target=ask, args=(name,)) for name in names]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(seen), len({id(a) for a, _ in seen}), len({id(b) for _, b in seen}))
"""
    assert run_python(code) == "8 4 1"


def test_all_is_complete() -> None:
    names = {"coerce"}
    for file in our_files():
        for item in (*file.message_type, *file.enum_type):
            own = (getattr(proto, name) for name in proto.__all__ if hasattr(proto, name))
            full = f"{file.package}.{item.name}"
            assert any(
                getattr(found, "DESCRIPTOR", None) and found.DESCRIPTOR.full_name == full
                for found in own
            ), full
        names |= {value.name for enum in file.enum_type for value in enum.value}
    assert names <= set(proto.__all__) <= set(dir(proto))
    assert len(set(proto.__all__)) == len(proto.__all__)
    for name in proto.__all__:
        assert getattr(proto, name) is not None


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"'tfevents\.proto' has no attribute 'Evnt'"):
        getattr(proto, "Evnt")  # noqa: B009


# Pickle and copy ---------------------------------------------------------------------------------

UNKNOWN_FIELD = b"\xfa\x07\x01x"
MESSAGES: list[tuple[str, bytes]] = [
    ("Event", b"\x09" + struct.pack("<d", 1.5) + b"\x10\x03"),
    ("Event", UNKNOWN_FIELD),
    ("Summary.Value", b"\x0a\x01a"),
    ("CostGraphDef.Node.InputInfo", b"\x08\x05"),
    ("GraphDebugInfo.FileLineCol", b"\x08\x00"),
    ("HParamsPluginData", b"\x08\x01"),
    ("Struct", b""),
]


@pytest.mark.parametrize(("name", "data"), MESSAGES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(name: str, data: bytes, protocol: int) -> None:
    message = proto.coerce(name, data)
    loaded = pickle.loads(pickle.dumps(message, protocol))
    assert type(loaded) is type(message)
    assert loaded.SerializeToString() == data


@pytest.mark.parametrize(("name", "data"), MESSAGES)
def test_copy_and_class_pickle(name: str, data: bytes) -> None:
    message = proto.coerce(name, data)
    for copied in (copy.copy(message), copy.deepcopy(message)):
        assert copied is not message
        assert type(copied) is type(message)
        assert copied.SerializeToString() == data
    assert pickle.loads(pickle.dumps(type(message))) is type(message)


def test_pickle_of_a_member_reached_first() -> None:
    code = """
import pickle
from tfevents import proto
value = proto.Event().summary.value.add(tag="a")
print(type(pickle.loads(pickle.dumps(value))) is type(value) is proto.Summary.Value)
"""
    assert run_python(code) == "True"


def test_pickle_into_a_fresh_process() -> None:
    data = pickle.dumps(proto.Summary.Value(tag="a", simple_value=2.0))
    code = f"import pickle; v = pickle.loads({data!r}); print(type(v).__qualname__, v.tag)"
    assert run_python(code) == "Summary.Value a"


# Neighbours --------------------------------------------------------------------------------------

NEIGHBOURS = {
    "tensorboard": ("tensorboard.compat.proto.event_pb2", "tensorboard.plugins.hparams.api_pb2"),
    "tensorboardX": ("tensorboardX.proto.event_pb2", "tensorboardX.proto.layout_pb2"),
    "tensorflow": ("tensorflow.core.util.event_pb2", "tensorflow.core.protobuf.config_pb2"),
}


@pytest.mark.parametrize("package", NEIGHBOURS)
@pytest.mark.parametrize("ours_first", [True, False])
def test_no_clash(package: str, ours_first: bool) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    event_module, other = NEIGHBOURS[package]
    theirs = f"import {event_module} as theirs, {other}"
    ours = "from tfevents import proto; proto.Event()"
    code = f"""
{ours if ours_first else theirs}
{theirs if ours_first else ours}
foreign = theirs.Event(step=7)
foreign.summary.value.add(tag="a", simple_value=2.0)
mine = proto.coerce("Event", foreign)
assert mine.SerializeToString() == foreign.SerializeToString()
print(type(mine) is proto.Event, type(mine) is type(foreign), mine.summary.value[0].tag)
"""
    assert run_python(code).splitlines()[-1] == "True False a"


# coerce ------------------------------------------------------------------------------------------


def test_coerce_returns_ours_unchanged() -> None:
    graph = proto.GraphDef()
    assert proto.coerce(proto.GraphDef, graph) is graph
    assert proto.coerce("GraphDef", graph) is graph


@pytest.mark.parametrize("container", [bytes, bytearray, memoryview])
def test_coerce_bytes(container: Any) -> None:
    value = proto.coerce(proto.Summary.Value, container(b"\x0a\x01a"))
    assert type(value) is proto.Summary.Value
    assert value.tag == "a"


def test_coerce_other_pool() -> None:
    from google.protobuf import struct_pb2

    foreign = struct_pb2.Value(number_value=1.5)
    assert proto.coerce("StructValue", foreign).number_value == 1.5


@pytest.mark.parametrize(
    ("got", "text"),
    [
        ("\n\x01a", "builtins.str"),
        (None, "NoneType"),
        ({"step": 1}, "builtins.dict"),
        (proto.GraphDef(), "tfevents.proto.GraphDef"),
        (proto.Event, r"the class tfevents\.proto\.Event"),
    ],
)
def test_coerce_refuses(got: object, text: str) -> None:
    with pytest.raises(TypeError, match=rf"expected a tensorflow\.Event .*{text}"):
        proto.coerce("Event", got)


def test_coerce_damaged_bytes() -> None:
    with pytest.raises(ValueError, match=r"not a serialized tensorflow\.Event"):
        proto.coerce("Event", b"\x0a\xff")


@pytest.mark.parametrize("name", ["Evnt", "Summary.Nothing", "DataType", ""])
def test_coerce_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match="no message is named"):
        proto.coerce(name, b"")


def test_coerce_wrong_kind() -> None:
    kind: Any = 3
    with pytest.raises(TypeError, match="kind must be a message class or its name, got 3"):
        proto.coerce(kind, b"")


# The build ---------------------------------------------------------------------------------------


def test_descriptors_are_those_of_the_schema() -> None:
    pytest.importorskip("grpc_tools")
    assert build_script().compile_schema() == (PACKAGE / "descriptors.binpb").read_bytes()


@pytest.mark.parametrize("name", ["_names.py", "__init__.pyi"])
def test_written_modules_follow_from_the_descriptors(name: str) -> None:
    derived = build_script().derive((PACKAGE / "descriptors.binpb").read_bytes())
    assert derived[name] == (PACKAGE / name).read_text(encoding="utf-8")

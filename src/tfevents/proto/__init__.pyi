"""Types of `tfevents.proto`. Written by scripts/build_descriptors.py."""

# fmt: off
# ruff: noqa
from collections.abc import Iterable, Mapping
from typing import Any as _Any
from typing import Final, Literal, TypeVar, overload

from google.protobuf.internal import well_known_types as _wkt
from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import Message

_M = TypeVar("_M", bound=Message)

@overload
def coerce(kind: type[_M], message: object) -> _M: ...
@overload
def coerce(kind: str, message: object) -> _Any: ...

DataType: EnumTypeWrapper

class TensorShapeProto(Message):
    class Dim(Message):
        size: int
        name: str
        def __init__(
            self,
            *,
            size: int | None = ...,
            name: str | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["size", "name"]) -> None: ...
    @property
    def dim(self) -> RepeatedCompositeFieldContainer[TensorShapeProto.Dim]: ...
    unknown_rank: bool
    def __init__(
        self,
        *,
        dim: Iterable[TensorShapeProto.Dim] | None = ...,
        unknown_rank: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["dim", "unknown_rank"]) -> None: ...

class ResourceHandleProto(Message):
    class DtypeAndShape(Message):
        dtype: int
        @property
        def shape(self) -> TensorShapeProto: ...
        def __init__(
            self,
            *,
            dtype: int | str | None = ...,
            shape: TensorShapeProto | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["shape"]) -> bool: ...
        def ClearField(self, field_name: Literal["dtype", "shape"]) -> None: ...
    device: str
    container: str
    name: str
    hash_code: int
    maybe_type_name: str
    @property
    def dtypes_and_shapes(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
    def __init__(
        self,
        *,
        device: str | None = ...,
        container: str | None = ...,
        name: str | None = ...,
        hash_code: int | None = ...,
        maybe_type_name: str | None = ...,
        dtypes_and_shapes: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["device", "container", "name", "hash_code", "maybe_type_name", "dtypes_and_shapes"]) -> None: ...

class TensorProto(Message):
    dtype: int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    version_number: int
    tensor_content: bytes
    @property
    def float_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def double_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def int_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def string_val(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def scomplex_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def int64_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def bool_val(self) -> RepeatedScalarFieldContainer[bool]: ...
    @property
    def dcomplex_val(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def half_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def resource_handle_val(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto]: ...
    @property
    def variant_val(self) -> RepeatedCompositeFieldContainer[VariantTensorDataProto]: ...
    @property
    def uint32_val(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def uint64_val(self) -> RepeatedScalarFieldContainer[int]: ...
    float8_val: bytes
    def __init__(
        self,
        *,
        dtype: int | str | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
        version_number: int | None = ...,
        tensor_content: bytes | None = ...,
        float_val: Iterable[float] | None = ...,
        double_val: Iterable[float] | None = ...,
        int_val: Iterable[int] | None = ...,
        string_val: Iterable[bytes] | None = ...,
        scomplex_val: Iterable[float] | None = ...,
        int64_val: Iterable[int] | None = ...,
        bool_val: Iterable[bool] | None = ...,
        dcomplex_val: Iterable[float] | None = ...,
        half_val: Iterable[int] | None = ...,
        resource_handle_val: Iterable[ResourceHandleProto] | None = ...,
        variant_val: Iterable[VariantTensorDataProto] | None = ...,
        uint32_val: Iterable[int] | None = ...,
        uint64_val: Iterable[int] | None = ...,
        float8_val: bytes | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["tensor_shape"]) -> bool: ...
    def ClearField(self, field_name: Literal["dtype", "tensor_shape", "version_number", "tensor_content", "float_val", "double_val", "int_val", "string_val", "scomplex_val", "int64_val", "bool_val", "dcomplex_val", "half_val", "resource_handle_val", "variant_val", "uint32_val", "uint64_val", "float8_val"]) -> None: ...

class VariantTensorDataProto(Message):
    type_name: str
    metadata: bytes
    @property
    def tensors(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
    def __init__(
        self,
        *,
        type_name: str | None = ...,
        metadata: bytes | None = ...,
        tensors: Iterable[TensorProto] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["type_name", "metadata", "tensors"]) -> None: ...

class AttrValue(Message):
    class ListValue(Message):
        @property
        def s(self) -> RepeatedScalarFieldContainer[bytes]: ...
        @property
        def i(self) -> RepeatedScalarFieldContainer[int]: ...
        @property
        def f(self) -> RepeatedScalarFieldContainer[float]: ...
        @property
        def b(self) -> RepeatedScalarFieldContainer[bool]: ...
        @property
        def type(self) -> RepeatedScalarFieldContainer[int]: ...
        @property
        def shape(self) -> RepeatedCompositeFieldContainer[TensorShapeProto]: ...
        @property
        def tensor(self) -> RepeatedCompositeFieldContainer[TensorProto]: ...
        @property
        def func(self) -> RepeatedCompositeFieldContainer[NameAttrList]: ...
        def __init__(
            self,
            *,
            s: Iterable[bytes] | None = ...,
            i: Iterable[int] | None = ...,
            f: Iterable[float] | None = ...,
            b: Iterable[bool] | None = ...,
            type: Iterable[int | str] | None = ...,
            shape: Iterable[TensorShapeProto] | None = ...,
            tensor: Iterable[TensorProto] | None = ...,
            func: Iterable[NameAttrList] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["s", "i", "f", "b", "type", "shape", "tensor", "func"]) -> None: ...
    @property
    def list(self) -> AttrValue.ListValue: ...
    s: bytes
    i: int
    f: float
    b: bool
    type: int
    @property
    def shape(self) -> TensorShapeProto: ...
    @property
    def tensor(self) -> TensorProto: ...
    placeholder: str
    @property
    def func(self) -> NameAttrList: ...
    def __init__(
        self,
        *,
        list: AttrValue.ListValue | None = ...,
        s: bytes | None = ...,
        i: int | None = ...,
        f: float | None = ...,
        b: bool | None = ...,
        type: int | str | None = ...,
        shape: TensorShapeProto | None = ...,
        tensor: TensorProto | None = ...,
        placeholder: str | None = ...,
        func: NameAttrList | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func", "value"]) -> bool: ...
    def ClearField(self, field_name: Literal["list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func", "value"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["value"]) -> Literal["list", "s", "i", "f", "b", "type", "shape", "tensor", "placeholder", "func"] | None: ...

class NameAttrList(Message):
    name: str
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name", "attr"]) -> None: ...

class MultilineChartContent(Message):
    @property
    def tag(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        tag: Iterable[str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tag"]) -> None: ...

class MarginChartContent(Message):
    class Series(Message):
        value: str
        lower: str
        upper: str
        def __init__(
            self,
            *,
            value: str | None = ...,
            lower: str | None = ...,
            upper: str | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value", "lower", "upper"]) -> None: ...
    @property
    def series(self) -> RepeatedCompositeFieldContainer[MarginChartContent.Series]: ...
    def __init__(
        self,
        *,
        series: Iterable[MarginChartContent.Series] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["series"]) -> None: ...

class Chart(Message):
    title: str
    @property
    def multiline(self) -> MultilineChartContent: ...
    @property
    def margin(self) -> MarginChartContent: ...
    def __init__(
        self,
        *,
        title: str | None = ...,
        multiline: MultilineChartContent | None = ...,
        margin: MarginChartContent | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["multiline", "margin", "content"]) -> bool: ...
    def ClearField(self, field_name: Literal["title", "multiline", "margin", "content"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["content"]) -> Literal["multiline", "margin"] | None: ...

class Category(Message):
    title: str
    @property
    def chart(self) -> RepeatedCompositeFieldContainer[Chart]: ...
    closed: bool
    def __init__(
        self,
        *,
        title: str | None = ...,
        chart: Iterable[Chart] | None = ...,
        closed: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["title", "chart", "closed"]) -> None: ...

class Layout(Message):
    version: int
    @property
    def category(self) -> RepeatedCompositeFieldContainer[Category]: ...
    def __init__(
        self,
        *,
        version: int | None = ...,
        category: Iterable[Category] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "category"]) -> None: ...

class SummaryDescription(Message):
    type_hint: str
    def __init__(
        self,
        *,
        type_hint: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["type_hint"]) -> None: ...

class SummaryMetadata(Message):
    class PluginData(Message):
        plugin_name: str
        content: bytes
        def __init__(
            self,
            *,
            plugin_name: str | None = ...,
            content: bytes | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["plugin_name", "content"]) -> None: ...
    @property
    def plugin_data(self) -> SummaryMetadata.PluginData: ...
    display_name: str
    summary_description: str
    data_class: int
    def __init__(
        self,
        *,
        plugin_data: SummaryMetadata.PluginData | None = ...,
        display_name: str | None = ...,
        summary_description: str | None = ...,
        data_class: int | str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["plugin_data"]) -> bool: ...
    def ClearField(self, field_name: Literal["plugin_data", "display_name", "summary_description", "data_class"]) -> None: ...

class HistogramProto(Message):
    min: float
    max: float
    num: float
    sum: float
    sum_squares: float
    @property
    def bucket_limit(self) -> RepeatedScalarFieldContainer[float]: ...
    @property
    def bucket(self) -> RepeatedScalarFieldContainer[float]: ...
    def __init__(
        self,
        *,
        min: float | None = ...,
        max: float | None = ...,
        num: float | None = ...,
        sum: float | None = ...,
        sum_squares: float | None = ...,
        bucket_limit: Iterable[float] | None = ...,
        bucket: Iterable[float] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["min", "max", "num", "sum", "sum_squares", "bucket_limit", "bucket"]) -> None: ...

class Summary(Message):
    class Image(Message):
        height: int
        width: int
        colorspace: int
        encoded_image_string: bytes
        def __init__(
            self,
            *,
            height: int | None = ...,
            width: int | None = ...,
            colorspace: int | None = ...,
            encoded_image_string: bytes | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["height", "width", "colorspace", "encoded_image_string"]) -> None: ...
    class Audio(Message):
        sample_rate: float
        num_channels: int
        length_frames: int
        encoded_audio_string: bytes
        content_type: str
        def __init__(
            self,
            *,
            sample_rate: float | None = ...,
            num_channels: int | None = ...,
            length_frames: int | None = ...,
            encoded_audio_string: bytes | None = ...,
            content_type: str | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["sample_rate", "num_channels", "length_frames", "encoded_audio_string", "content_type"]) -> None: ...
    class Value(Message):
        tag: str
        simple_value: float
        obsolete_old_style_histogram: bytes
        @property
        def image(self) -> Summary.Image: ...
        @property
        def histo(self) -> HistogramProto: ...
        @property
        def audio(self) -> Summary.Audio: ...
        @property
        def tensor(self) -> TensorProto: ...
        node_name: str
        @property
        def metadata(self) -> SummaryMetadata: ...
        def __init__(
            self,
            *,
            tag: str | None = ...,
            simple_value: float | None = ...,
            obsolete_old_style_histogram: bytes | None = ...,
            image: Summary.Image | None = ...,
            histo: HistogramProto | None = ...,
            audio: Summary.Audio | None = ...,
            tensor: TensorProto | None = ...,
            node_name: str | None = ...,
            metadata: SummaryMetadata | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor", "metadata", "value"]) -> bool: ...
        def ClearField(self, field_name: Literal["tag", "simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor", "node_name", "metadata", "value"]) -> None: ...
        def WhichOneof(self, oneof_group: Literal["value"]) -> Literal["simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor"] | None: ...
    @property
    def value(self) -> RepeatedCompositeFieldContainer[Summary.Value]: ...
    def __init__(
        self,
        *,
        value: Iterable[Summary.Value] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["value"]) -> None: ...

DataClass: EnumTypeWrapper

class Event(Message):
    wall_time: float
    step: int
    file_version: str
    graph_def: bytes
    @property
    def summary(self) -> Summary: ...
    @property
    def log_message(self) -> LogMessage: ...
    @property
    def session_log(self) -> SessionLog: ...
    @property
    def tagged_run_metadata(self) -> TaggedRunMetadata: ...
    meta_graph_def: bytes
    @property
    def source_metadata(self) -> SourceMetadata: ...
    def __init__(
        self,
        *,
        wall_time: float | None = ...,
        step: int | None = ...,
        file_version: str | None = ...,
        graph_def: bytes | None = ...,
        summary: Summary | None = ...,
        log_message: LogMessage | None = ...,
        session_log: SessionLog | None = ...,
        tagged_run_metadata: TaggedRunMetadata | None = ...,
        meta_graph_def: bytes | None = ...,
        source_metadata: SourceMetadata | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["file_version", "graph_def", "summary", "log_message", "session_log", "tagged_run_metadata", "meta_graph_def", "source_metadata", "what"]) -> bool: ...
    def ClearField(self, field_name: Literal["wall_time", "step", "file_version", "graph_def", "summary", "log_message", "session_log", "tagged_run_metadata", "meta_graph_def", "source_metadata", "what"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["what"]) -> Literal["file_version", "graph_def", "summary", "log_message", "session_log", "tagged_run_metadata", "meta_graph_def"] | None: ...

class SourceMetadata(Message):
    writer: str
    def __init__(
        self,
        *,
        writer: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["writer"]) -> None: ...

class LogMessage(Message):
    Level: EnumTypeWrapper
    UNKNOWN: Final = 0
    DEBUGGING: Final = 10
    INFO: Final = 20
    WARN: Final = 30
    ERROR: Final = 40
    FATAL: Final = 50
    level: int
    message: str
    def __init__(
        self,
        *,
        level: int | str | None = ...,
        message: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["level", "message"]) -> None: ...

class SessionLog(Message):
    SessionStatus: EnumTypeWrapper
    STATUS_UNSPECIFIED: Final = 0
    START: Final = 1
    STOP: Final = 2
    CHECKPOINT: Final = 3
    status: int
    checkpoint_path: str
    msg: str
    def __init__(
        self,
        *,
        status: int | str | None = ...,
        checkpoint_path: str | None = ...,
        msg: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["status", "checkpoint_path", "msg"]) -> None: ...

class TaggedRunMetadata(Message):
    tag: str
    run_metadata: bytes
    def __init__(
        self,
        *,
        tag: str | None = ...,
        run_metadata: bytes | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["tag", "run_metadata"]) -> None: ...

class GraphDebugInfo(Message):
    class FileLineCol(Message):
        file_index: int
        line: int
        col: int
        func: str
        code: str
        def __init__(
            self,
            *,
            file_index: int | None = ...,
            line: int | None = ...,
            col: int | None = ...,
            func: str | None = ...,
            code: str | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["file_index", "line", "col", "func", "code"]) -> bool: ...
        def ClearField(self, field_name: Literal["file_index", "line", "col", "func", "code"]) -> None: ...
    class StackTrace(Message):
        @property
        def file_line_cols(self) -> RepeatedCompositeFieldContainer[GraphDebugInfo.FileLineCol]: ...
        @property
        def frame_id(self) -> RepeatedScalarFieldContainer[int]: ...
        def __init__(
            self,
            *,
            file_line_cols: Iterable[GraphDebugInfo.FileLineCol] | None = ...,
            frame_id: Iterable[int] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["file_line_cols", "frame_id"]) -> None: ...
    @property
    def files(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def traces(self) -> MessageMap[str, GraphDebugInfo.StackTrace]: ...
    @property
    def frames_by_id(self) -> MessageMap[int, GraphDebugInfo.FileLineCol]: ...
    @property
    def name_to_trace_id(self) -> ScalarMap[str, int]: ...
    @property
    def traces_by_id(self) -> MessageMap[int, GraphDebugInfo.StackTrace]: ...
    def __init__(
        self,
        *,
        files: Iterable[str] | None = ...,
        traces: Mapping[str, GraphDebugInfo.StackTrace] | None = ...,
        frames_by_id: Mapping[int, GraphDebugInfo.FileLineCol] | None = ...,
        name_to_trace_id: Mapping[str, int] | None = ...,
        traces_by_id: Mapping[int, GraphDebugInfo.StackTrace] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["files", "traces", "frames_by_id", "name_to_trace_id", "traces_by_id"]) -> None: ...

class FullTypeDef(Message):
    type_id: int
    @property
    def args(self) -> RepeatedCompositeFieldContainer[FullTypeDef]: ...
    s: str
    i: int
    def __init__(
        self,
        *,
        type_id: int | str | None = ...,
        args: Iterable[FullTypeDef] | None = ...,
        s: str | None = ...,
        i: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["s", "i", "attr"]) -> bool: ...
    def ClearField(self, field_name: Literal["type_id", "args", "s", "i", "attr"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["attr"]) -> Literal["s", "i"] | None: ...

class OpDef(Message):
    class ArgDef(Message):
        name: str
        description: str
        type: int
        type_attr: str
        number_attr: str
        type_list_attr: str
        @property
        def handle_data(self) -> RepeatedCompositeFieldContainer[ResourceHandleProto.DtypeAndShape]: ...
        is_ref: bool
        @property
        def experimental_full_type(self) -> FullTypeDef: ...
        def __init__(
            self,
            *,
            name: str | None = ...,
            description: str | None = ...,
            type: int | str | None = ...,
            type_attr: str | None = ...,
            number_attr: str | None = ...,
            type_list_attr: str | None = ...,
            handle_data: Iterable[ResourceHandleProto.DtypeAndShape] | None = ...,
            is_ref: bool | None = ...,
            experimental_full_type: FullTypeDef | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["experimental_full_type"]) -> bool: ...
        def ClearField(self, field_name: Literal["name", "description", "type", "type_attr", "number_attr", "type_list_attr", "handle_data", "is_ref", "experimental_full_type"]) -> None: ...
    class AttrDef(Message):
        name: str
        type: str
        @property
        def default_value(self) -> AttrValue: ...
        description: str
        has_minimum: bool
        minimum: int
        @property
        def allowed_values(self) -> AttrValue: ...
        def __init__(
            self,
            *,
            name: str | None = ...,
            type: str | None = ...,
            default_value: AttrValue | None = ...,
            description: str | None = ...,
            has_minimum: bool | None = ...,
            minimum: int | None = ...,
            allowed_values: AttrValue | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["default_value", "allowed_values"]) -> bool: ...
        def ClearField(self, field_name: Literal["name", "type", "default_value", "description", "has_minimum", "minimum", "allowed_values"]) -> None: ...
    name: str
    @property
    def input_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def output_arg(self) -> RepeatedCompositeFieldContainer[OpDef.ArgDef]: ...
    @property
    def attr(self) -> RepeatedCompositeFieldContainer[OpDef.AttrDef]: ...
    summary: str
    description: str
    @property
    def deprecation(self) -> OpDeprecation: ...
    is_aggregate: bool
    is_stateful: bool
    is_commutative: bool
    allows_uninitialized_input: bool
    @property
    def control_output(self) -> RepeatedScalarFieldContainer[str]: ...
    is_distributed_communication: bool
    def __init__(
        self,
        *,
        name: str | None = ...,
        input_arg: Iterable[OpDef.ArgDef] | None = ...,
        output_arg: Iterable[OpDef.ArgDef] | None = ...,
        attr: Iterable[OpDef.AttrDef] | None = ...,
        summary: str | None = ...,
        description: str | None = ...,
        deprecation: OpDeprecation | None = ...,
        is_aggregate: bool | None = ...,
        is_stateful: bool | None = ...,
        is_commutative: bool | None = ...,
        allows_uninitialized_input: bool | None = ...,
        control_output: Iterable[str] | None = ...,
        is_distributed_communication: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["deprecation"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "input_arg", "output_arg", "attr", "summary", "description", "deprecation", "is_aggregate", "is_stateful", "is_commutative", "allows_uninitialized_input", "control_output", "is_distributed_communication"]) -> None: ...

class OpDeprecation(Message):
    version: int
    explanation: str
    def __init__(
        self,
        *,
        version: int | None = ...,
        explanation: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "explanation"]) -> None: ...

class OpList(Message):
    @property
    def op(self) -> RepeatedCompositeFieldContainer[OpDef]: ...
    def __init__(
        self,
        *,
        op: Iterable[OpDef] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["op"]) -> None: ...

FullTypeId: EnumTypeWrapper

class VersionDef(Message):
    producer: int
    min_consumer: int
    @property
    def bad_consumers(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self,
        *,
        producer: int | None = ...,
        min_consumer: int | None = ...,
        bad_consumers: Iterable[int] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["producer", "min_consumer", "bad_consumers"]) -> None: ...

class NodeDef(Message):
    class ExperimentalDebugInfo(Message):
        @property
        def original_node_names(self) -> RepeatedScalarFieldContainer[str]: ...
        @property
        def original_func_names(self) -> RepeatedScalarFieldContainer[str]: ...
        def __init__(
            self,
            *,
            original_node_names: Iterable[str] | None = ...,
            original_func_names: Iterable[str] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["original_node_names", "original_func_names"]) -> None: ...
    name: str
    op: str
    @property
    def input(self) -> RepeatedScalarFieldContainer[str]: ...
    device: str
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    @property
    def experimental_debug_info(self) -> NodeDef.ExperimentalDebugInfo: ...
    @property
    def experimental_type(self) -> FullTypeDef: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        op: str | None = ...,
        input: Iterable[str] | None = ...,
        device: str | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        experimental_debug_info: NodeDef.ExperimentalDebugInfo | None = ...,
        experimental_type: FullTypeDef | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["experimental_debug_info", "experimental_type"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "op", "input", "device", "attr", "experimental_debug_info", "experimental_type"]) -> None: ...

class FunctionDefLibrary(Message):
    @property
    def function(self) -> RepeatedCompositeFieldContainer[FunctionDef]: ...
    @property
    def gradient(self) -> RepeatedCompositeFieldContainer[GradientDef]: ...
    @property
    def registered_gradients(self) -> RepeatedCompositeFieldContainer[RegisteredGradient]: ...
    def __init__(
        self,
        *,
        function: Iterable[FunctionDef] | None = ...,
        gradient: Iterable[GradientDef] | None = ...,
        registered_gradients: Iterable[RegisteredGradient] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["function", "gradient", "registered_gradients"]) -> None: ...

class FunctionDef(Message):
    class ArgAttrs(Message):
        @property
        def attr(self) -> MessageMap[str, AttrValue]: ...
        def __init__(
            self,
            *,
            attr: Mapping[str, AttrValue] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["attr"]) -> None: ...
    @property
    def signature(self) -> OpDef: ...
    @property
    def node_def(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def ret(self) -> ScalarMap[str, str]: ...
    @property
    def attr(self) -> MessageMap[str, AttrValue]: ...
    @property
    def control_ret(self) -> ScalarMap[str, str]: ...
    @property
    def arg_attr(self) -> MessageMap[int, FunctionDef.ArgAttrs]: ...
    @property
    def resource_arg_unique_id(self) -> ScalarMap[int, int]: ...
    def __init__(
        self,
        *,
        signature: OpDef | None = ...,
        node_def: Iterable[NodeDef] | None = ...,
        ret: Mapping[str, str] | None = ...,
        attr: Mapping[str, AttrValue] | None = ...,
        control_ret: Mapping[str, str] | None = ...,
        arg_attr: Mapping[int, FunctionDef.ArgAttrs] | None = ...,
        resource_arg_unique_id: Mapping[int, int] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["signature"]) -> bool: ...
    def ClearField(self, field_name: Literal["signature", "node_def", "ret", "attr", "control_ret", "arg_attr", "resource_arg_unique_id"]) -> None: ...

class GradientDef(Message):
    function_name: str
    gradient_func: str
    def __init__(
        self,
        *,
        function_name: str | None = ...,
        gradient_func: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["function_name", "gradient_func"]) -> None: ...

class RegisteredGradient(Message):
    gradient_func: str
    registered_op_type: str
    def __init__(
        self,
        *,
        gradient_func: str | None = ...,
        registered_op_type: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["gradient_func", "registered_op_type"]) -> None: ...

class GraphDef(Message):
    @property
    def node(self) -> RepeatedCompositeFieldContainer[NodeDef]: ...
    @property
    def library(self) -> FunctionDefLibrary: ...
    version: int
    @property
    def versions(self) -> VersionDef: ...
    @property
    def debug_info(self) -> GraphDebugInfo: ...
    def __init__(
        self,
        *,
        node: Iterable[NodeDef] | None = ...,
        library: FunctionDefLibrary | None = ...,
        version: int | None = ...,
        versions: VersionDef | None = ...,
        debug_info: GraphDebugInfo | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["library", "versions", "debug_info"]) -> bool: ...
    def ClearField(self, field_name: Literal["node", "library", "version", "versions", "debug_info"]) -> None: ...

class Struct(_wkt.Struct, Message):
    @property
    def fields(self) -> MessageMap[str, StructValue]: ...
    def __init__(
        self,
        *,
        fields: Mapping[str, StructValue] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["fields"]) -> None: ...

class StructValue(Message):
    null_value: int
    number_value: float
    string_value: str
    bool_value: bool
    @property
    def struct_value(self) -> Struct: ...
    @property
    def list_value(self) -> ListValue: ...
    def __init__(
        self,
        *,
        null_value: int | str | None = ...,
        number_value: float | None = ...,
        string_value: str | None = ...,
        bool_value: bool | None = ...,
        struct_value: Struct | None = ...,
        list_value: ListValue | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value", "kind"]) -> bool: ...
    def ClearField(self, field_name: Literal["null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value", "kind"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["kind"]) -> Literal["null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value"] | None: ...

class ListValue(_wkt.ListValue, Message):
    @property
    def values(self) -> RepeatedCompositeFieldContainer[StructValue]: ...
    def __init__(
        self,
        *,
        values: Iterable[StructValue] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["values"]) -> None: ...

NullValue: EnumTypeWrapper

class Interval(Message):
    min_value: float
    max_value: float
    def __init__(
        self,
        *,
        min_value: float | None = ...,
        max_value: float | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["min_value", "max_value"]) -> None: ...

class HParamInfo(Message):
    name: str
    display_name: str
    description: str
    type: int
    @property
    def domain_discrete(self) -> ListValue: ...
    @property
    def domain_interval(self) -> Interval: ...
    differs: bool
    def __init__(
        self,
        *,
        name: str | None = ...,
        display_name: str | None = ...,
        description: str | None = ...,
        type: int | str | None = ...,
        domain_discrete: ListValue | None = ...,
        domain_interval: Interval | None = ...,
        differs: bool | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["domain_discrete", "domain_interval", "domain"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "display_name", "description", "type", "domain_discrete", "domain_interval", "differs", "domain"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["domain"]) -> Literal["domain_discrete", "domain_interval"] | None: ...

class MetricName(Message):
    group: str
    tag: str
    def __init__(
        self,
        *,
        group: str | None = ...,
        tag: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["group", "tag"]) -> None: ...

class MetricInfo(Message):
    @property
    def name(self) -> MetricName: ...
    display_name: str
    description: str
    dataset_type: int
    def __init__(
        self,
        *,
        name: MetricName | None = ...,
        display_name: str | None = ...,
        description: str | None = ...,
        dataset_type: int | str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["name"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "display_name", "description", "dataset_type"]) -> None: ...

class Experiment(Message):
    description: str
    user: str
    time_created_secs: float
    @property
    def hparam_infos(self) -> RepeatedCompositeFieldContainer[HParamInfo]: ...
    @property
    def metric_infos(self) -> RepeatedCompositeFieldContainer[MetricInfo]: ...
    name: str
    def __init__(
        self,
        *,
        description: str | None = ...,
        user: str | None = ...,
        time_created_secs: float | None = ...,
        hparam_infos: Iterable[HParamInfo] | None = ...,
        metric_infos: Iterable[MetricInfo] | None = ...,
        name: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["description", "user", "time_created_secs", "hparam_infos", "metric_infos", "name"]) -> None: ...

class SessionStartInfo(Message):
    @property
    def hparams(self) -> MessageMap[str, StructValue]: ...
    model_uri: str
    monitor_url: str
    group_name: str
    start_time_secs: float
    def __init__(
        self,
        *,
        hparams: Mapping[str, StructValue] | None = ...,
        model_uri: str | None = ...,
        monitor_url: str | None = ...,
        group_name: str | None = ...,
        start_time_secs: float | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["hparams", "model_uri", "monitor_url", "group_name", "start_time_secs"]) -> None: ...

class SessionEndInfo(Message):
    status: int
    end_time_secs: float
    def __init__(
        self,
        *,
        status: int | str | None = ...,
        end_time_secs: float | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["status", "end_time_secs"]) -> None: ...

class HParamsPluginData(Message):
    version: int
    @property
    def experiment(self) -> Experiment: ...
    @property
    def session_start_info(self) -> SessionStartInfo: ...
    @property
    def session_end_info(self) -> SessionEndInfo: ...
    def __init__(
        self,
        *,
        version: int | None = ...,
        experiment: Experiment | None = ...,
        session_start_info: SessionStartInfo | None = ...,
        session_end_info: SessionEndInfo | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["experiment", "session_start_info", "session_end_info", "data"]) -> bool: ...
    def ClearField(self, field_name: Literal["version", "experiment", "session_start_info", "session_end_info", "data"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["data"]) -> Literal["experiment", "session_start_info", "session_end_info"] | None: ...

HParamsDataType: EnumTypeWrapper

DatasetType: EnumTypeWrapper

HParamsStatus: EnumTypeWrapper

class MeshPluginData(Message):
    ContentType: EnumTypeWrapper
    UNDEFINED: Final = 0
    VERTEX: Final = 1
    FACE: Final = 2
    COLOR: Final = 3
    version: int
    name: str
    content_type: int
    json_config: str
    @property
    def shape(self) -> RepeatedScalarFieldContainer[int]: ...
    components: int
    def __init__(
        self,
        *,
        version: int | None = ...,
        name: str | None = ...,
        content_type: int | str | None = ...,
        json_config: str | None = ...,
        shape: Iterable[int] | None = ...,
        components: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "name", "content_type", "json_config", "shape", "components"]) -> None: ...

class Any(_wkt.Any, Message):
    type_url: str
    value: bytes
    def __init__(
        self,
        *,
        type_url: str | None = ...,
        value: bytes | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["type_url", "value"]) -> None: ...

class SaverDef(Message):
    CheckpointFormatVersion: EnumTypeWrapper
    LEGACY: Final = 0
    V1: Final = 1
    V2: Final = 2
    filename_tensor_name: str
    save_tensor_name: str
    restore_op_name: str
    max_to_keep: int
    sharded: bool
    keep_checkpoint_every_n_hours: float
    version: int
    def __init__(
        self,
        *,
        filename_tensor_name: str | None = ...,
        save_tensor_name: str | None = ...,
        restore_op_name: str | None = ...,
        max_to_keep: int | None = ...,
        sharded: bool | None = ...,
        keep_checkpoint_every_n_hours: float | None = ...,
        version: int | str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["filename_tensor_name", "save_tensor_name", "restore_op_name", "max_to_keep", "sharded", "keep_checkpoint_every_n_hours", "version"]) -> None: ...

class TensorInfo(Message):
    class CooSparse(Message):
        values_tensor_name: str
        indices_tensor_name: str
        dense_shape_tensor_name: str
        def __init__(
            self,
            *,
            values_tensor_name: str | None = ...,
            indices_tensor_name: str | None = ...,
            dense_shape_tensor_name: str | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["values_tensor_name", "indices_tensor_name", "dense_shape_tensor_name"]) -> None: ...
    class CompositeTensor(Message):
        @property
        def components(self) -> RepeatedCompositeFieldContainer[TensorInfo]: ...
        def __init__(
            self,
            *,
            components: Iterable[TensorInfo] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["components"]) -> None: ...
    name: str
    @property
    def coo_sparse(self) -> TensorInfo.CooSparse: ...
    @property
    def composite_tensor(self) -> TensorInfo.CompositeTensor: ...
    dtype: int
    @property
    def tensor_shape(self) -> TensorShapeProto: ...
    def __init__(
        self,
        *,
        name: str | None = ...,
        coo_sparse: TensorInfo.CooSparse | None = ...,
        composite_tensor: TensorInfo.CompositeTensor | None = ...,
        dtype: int | str | None = ...,
        tensor_shape: TensorShapeProto | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["name", "coo_sparse", "composite_tensor", "tensor_shape", "encoding"]) -> bool: ...
    def ClearField(self, field_name: Literal["name", "coo_sparse", "composite_tensor", "dtype", "tensor_shape", "encoding"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["encoding"]) -> Literal["name", "coo_sparse", "composite_tensor"] | None: ...

class SignatureDef(Message):
    @property
    def inputs(self) -> MessageMap[str, TensorInfo]: ...
    @property
    def outputs(self) -> MessageMap[str, TensorInfo]: ...
    method_name: str
    @property
    def defaults(self) -> MessageMap[str, TensorProto]: ...
    def __init__(
        self,
        *,
        inputs: Mapping[str, TensorInfo] | None = ...,
        outputs: Mapping[str, TensorInfo] | None = ...,
        method_name: str | None = ...,
        defaults: Mapping[str, TensorProto] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["inputs", "outputs", "method_name", "defaults"]) -> None: ...

class AssetFileDef(Message):
    @property
    def tensor_info(self) -> TensorInfo: ...
    filename: str
    def __init__(
        self,
        *,
        tensor_info: TensorInfo | None = ...,
        filename: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["tensor_info"]) -> bool: ...
    def ClearField(self, field_name: Literal["tensor_info", "filename"]) -> None: ...

class CollectionDef(Message):
    class NodeList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[str]: ...
        def __init__(
            self,
            *,
            value: Iterable[str] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value"]) -> None: ...
    class BytesList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[bytes]: ...
        def __init__(
            self,
            *,
            value: Iterable[bytes] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value"]) -> None: ...
    class Int64List(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[int]: ...
        def __init__(
            self,
            *,
            value: Iterable[int] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value"]) -> None: ...
    class FloatList(Message):
        @property
        def value(self) -> RepeatedScalarFieldContainer[float]: ...
        def __init__(
            self,
            *,
            value: Iterable[float] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value"]) -> None: ...
    class AnyList(Message):
        @property
        def value(self) -> RepeatedCompositeFieldContainer[Any]: ...
        def __init__(
            self,
            *,
            value: Iterable[Any] | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["value"]) -> None: ...
    @property
    def node_list(self) -> CollectionDef.NodeList: ...
    @property
    def bytes_list(self) -> CollectionDef.BytesList: ...
    @property
    def int64_list(self) -> CollectionDef.Int64List: ...
    @property
    def float_list(self) -> CollectionDef.FloatList: ...
    @property
    def any_list(self) -> CollectionDef.AnyList: ...
    def __init__(
        self,
        *,
        node_list: CollectionDef.NodeList | None = ...,
        bytes_list: CollectionDef.BytesList | None = ...,
        int64_list: CollectionDef.Int64List | None = ...,
        float_list: CollectionDef.FloatList | None = ...,
        any_list: CollectionDef.AnyList | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["node_list", "bytes_list", "int64_list", "float_list", "any_list", "kind"]) -> bool: ...
    def ClearField(self, field_name: Literal["node_list", "bytes_list", "int64_list", "float_list", "any_list", "kind"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["kind"]) -> Literal["node_list", "bytes_list", "int64_list", "float_list", "any_list"] | None: ...

class MetaGraphDef(Message):
    class MetaInfoDef(Message):
        meta_graph_version: str
        @property
        def stripped_op_list(self) -> OpList: ...
        @property
        def any_info(self) -> Any: ...
        @property
        def tags(self) -> RepeatedScalarFieldContainer[str]: ...
        tensorflow_version: str
        tensorflow_git_version: str
        stripped_default_attrs: bool
        @property
        def function_aliases(self) -> ScalarMap[str, str]: ...
        def __init__(
            self,
            *,
            meta_graph_version: str | None = ...,
            stripped_op_list: OpList | None = ...,
            any_info: Any | None = ...,
            tags: Iterable[str] | None = ...,
            tensorflow_version: str | None = ...,
            tensorflow_git_version: str | None = ...,
            stripped_default_attrs: bool | None = ...,
            function_aliases: Mapping[str, str] | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["stripped_op_list", "any_info"]) -> bool: ...
        def ClearField(self, field_name: Literal["meta_graph_version", "stripped_op_list", "any_info", "tags", "tensorflow_version", "tensorflow_git_version", "stripped_default_attrs", "function_aliases"]) -> None: ...
    @property
    def meta_info_def(self) -> MetaGraphDef.MetaInfoDef: ...
    @property
    def graph_def(self) -> GraphDef: ...
    @property
    def saver_def(self) -> SaverDef: ...
    @property
    def collection_def(self) -> MessageMap[str, CollectionDef]: ...
    @property
    def signature_def(self) -> MessageMap[str, SignatureDef]: ...
    @property
    def asset_file_def(self) -> RepeatedCompositeFieldContainer[AssetFileDef]: ...
    def __init__(
        self,
        *,
        meta_info_def: MetaGraphDef.MetaInfoDef | None = ...,
        graph_def: GraphDef | None = ...,
        saver_def: SaverDef | None = ...,
        collection_def: Mapping[str, CollectionDef] | None = ...,
        signature_def: Mapping[str, SignatureDef] | None = ...,
        asset_file_def: Iterable[AssetFileDef] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["meta_info_def", "graph_def", "saver_def"]) -> bool: ...
    def ClearField(self, field_name: Literal["meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def", "asset_file_def"]) -> None: ...

class ScalarPluginData(Message):
    version: int
    def __init__(
        self,
        *,
        version: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version"]) -> None: ...

class ImagePluginData(Message):
    version: int
    converted_to_tensor: bool
    def __init__(
        self,
        *,
        version: int | None = ...,
        converted_to_tensor: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "converted_to_tensor"]) -> None: ...

class AudioPluginData(Message):
    Encoding: EnumTypeWrapper
    UNKNOWN: Final = 0
    WAV: Final = 11
    version: int
    encoding: int
    converted_to_tensor: bool
    def __init__(
        self,
        *,
        version: int | None = ...,
        encoding: int | str | None = ...,
        converted_to_tensor: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "encoding", "converted_to_tensor"]) -> None: ...

class HistogramPluginData(Message):
    version: int
    def __init__(
        self,
        *,
        version: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version"]) -> None: ...

class TextPluginData(Message):
    version: int
    def __init__(
        self,
        *,
        version: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version"]) -> None: ...

class PrCurvePluginData(Message):
    version: int
    num_thresholds: int
    def __init__(
        self,
        *,
        version: int | None = ...,
        num_thresholds: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["version", "num_thresholds"]) -> None: ...

class SpriteMetadata(Message):
    image_path: str
    @property
    def single_image_dim(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self,
        *,
        image_path: str | None = ...,
        single_image_dim: Iterable[int] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["image_path", "single_image_dim"]) -> None: ...

class EmbeddingInfo(Message):
    tensor_name: str
    metadata_path: str
    bookmarks_path: str
    @property
    def tensor_shape(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def sprite(self) -> SpriteMetadata: ...
    tensor_path: str
    def __init__(
        self,
        *,
        tensor_name: str | None = ...,
        metadata_path: str | None = ...,
        bookmarks_path: str | None = ...,
        tensor_shape: Iterable[int] | None = ...,
        sprite: SpriteMetadata | None = ...,
        tensor_path: str | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["sprite"]) -> bool: ...
    def ClearField(self, field_name: Literal["tensor_name", "metadata_path", "bookmarks_path", "tensor_shape", "sprite", "tensor_path"]) -> None: ...

class ProjectorConfig(Message):
    model_checkpoint_path: str
    @property
    def embeddings(self) -> RepeatedCompositeFieldContainer[EmbeddingInfo]: ...
    model_checkpoint_dir: str
    def __init__(
        self,
        *,
        model_checkpoint_path: str | None = ...,
        embeddings: Iterable[EmbeddingInfo] | None = ...,
        model_checkpoint_dir: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["model_checkpoint_path", "embeddings", "model_checkpoint_dir"]) -> None: ...

class AllocationDescription(Message):
    requested_bytes: int
    allocated_bytes: int
    allocator_name: str
    allocation_id: int
    has_single_reference: bool
    ptr: int
    def __init__(
        self,
        *,
        requested_bytes: int | None = ...,
        allocated_bytes: int | None = ...,
        allocator_name: str | None = ...,
        allocation_id: int | None = ...,
        has_single_reference: bool | None = ...,
        ptr: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["requested_bytes", "allocated_bytes", "allocator_name", "allocation_id", "has_single_reference", "ptr"]) -> None: ...

class TensorDescription(Message):
    dtype: int
    @property
    def shape(self) -> TensorShapeProto: ...
    @property
    def allocation_description(self) -> AllocationDescription: ...
    def __init__(
        self,
        *,
        dtype: int | str | None = ...,
        shape: TensorShapeProto | None = ...,
        allocation_description: AllocationDescription | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["shape", "allocation_description"]) -> bool: ...
    def ClearField(self, field_name: Literal["dtype", "shape", "allocation_description"]) -> None: ...

class AllocationRecord(Message):
    alloc_micros: int
    alloc_bytes: int
    def __init__(
        self,
        *,
        alloc_micros: int | None = ...,
        alloc_bytes: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["alloc_micros", "alloc_bytes"]) -> None: ...

class AllocatorMemoryUsed(Message):
    allocator_name: str
    total_bytes: int
    peak_bytes: int
    live_bytes: int
    allocator_bytes_in_use: int
    @property
    def allocation_records(self) -> RepeatedCompositeFieldContainer[AllocationRecord]: ...
    def __init__(
        self,
        *,
        allocator_name: str | None = ...,
        total_bytes: int | None = ...,
        peak_bytes: int | None = ...,
        live_bytes: int | None = ...,
        allocator_bytes_in_use: int | None = ...,
        allocation_records: Iterable[AllocationRecord] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["allocator_name", "total_bytes", "peak_bytes", "live_bytes", "allocator_bytes_in_use", "allocation_records"]) -> None: ...

class NodeOutput(Message):
    slot: int
    @property
    def tensor_description(self) -> TensorDescription: ...
    def __init__(
        self,
        *,
        slot: int | None = ...,
        tensor_description: TensorDescription | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["tensor_description"]) -> bool: ...
    def ClearField(self, field_name: Literal["slot", "tensor_description"]) -> None: ...

class MemoryStats(Message):
    temp_memory_size: int
    device_temp_memory_size: int
    persistent_memory_size: int
    device_persistent_memory_size: int
    @property
    def persistent_tensor_alloc_ids(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def device_persistent_tensor_alloc_ids(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self,
        *,
        temp_memory_size: int | None = ...,
        device_temp_memory_size: int | None = ...,
        persistent_memory_size: int | None = ...,
        device_persistent_memory_size: int | None = ...,
        persistent_tensor_alloc_ids: Iterable[int] | None = ...,
        device_persistent_tensor_alloc_ids: Iterable[int] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["temp_memory_size", "device_temp_memory_size", "persistent_memory_size", "device_persistent_memory_size", "persistent_tensor_alloc_ids", "device_persistent_tensor_alloc_ids"]) -> None: ...

class NodeExecStats(Message):
    node_name: str
    all_start_micros: int
    op_start_rel_micros: int
    op_end_rel_micros: int
    all_end_rel_micros: int
    @property
    def memory(self) -> RepeatedCompositeFieldContainer[AllocatorMemoryUsed]: ...
    @property
    def output(self) -> RepeatedCompositeFieldContainer[NodeOutput]: ...
    timeline_label: str
    scheduled_micros: int
    thread_id: int
    @property
    def referenced_tensor(self) -> RepeatedCompositeFieldContainer[AllocationDescription]: ...
    @property
    def memory_stats(self) -> MemoryStats: ...
    all_start_nanos: int
    op_start_rel_nanos: int
    op_end_rel_nanos: int
    all_end_rel_nanos: int
    scheduled_nanos: int
    def __init__(
        self,
        *,
        node_name: str | None = ...,
        all_start_micros: int | None = ...,
        op_start_rel_micros: int | None = ...,
        op_end_rel_micros: int | None = ...,
        all_end_rel_micros: int | None = ...,
        memory: Iterable[AllocatorMemoryUsed] | None = ...,
        output: Iterable[NodeOutput] | None = ...,
        timeline_label: str | None = ...,
        scheduled_micros: int | None = ...,
        thread_id: int | None = ...,
        referenced_tensor: Iterable[AllocationDescription] | None = ...,
        memory_stats: MemoryStats | None = ...,
        all_start_nanos: int | None = ...,
        op_start_rel_nanos: int | None = ...,
        op_end_rel_nanos: int | None = ...,
        all_end_rel_nanos: int | None = ...,
        scheduled_nanos: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["memory_stats"]) -> bool: ...
    def ClearField(self, field_name: Literal["node_name", "all_start_micros", "op_start_rel_micros", "op_end_rel_micros", "all_end_rel_micros", "memory", "output", "timeline_label", "scheduled_micros", "thread_id", "referenced_tensor", "memory_stats", "all_start_nanos", "op_start_rel_nanos", "op_end_rel_nanos", "all_end_rel_nanos", "scheduled_nanos"]) -> None: ...

class DeviceStepStats(Message):
    device: str
    @property
    def node_stats(self) -> RepeatedCompositeFieldContainer[NodeExecStats]: ...
    @property
    def thread_names(self) -> ScalarMap[int, str]: ...
    def __init__(
        self,
        *,
        device: str | None = ...,
        node_stats: Iterable[NodeExecStats] | None = ...,
        thread_names: Mapping[int, str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["device", "node_stats", "thread_names"]) -> None: ...

class StepStats(Message):
    @property
    def dev_stats(self) -> RepeatedCompositeFieldContainer[DeviceStepStats]: ...
    def __init__(
        self,
        *,
        dev_stats: Iterable[DeviceStepStats] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["dev_stats"]) -> None: ...

class CostGraphDef(Message):
    class Node(Message):
        class InputInfo(Message):
            preceding_node: int
            preceding_port: int
            def __init__(
                self,
                *,
                preceding_node: int | None = ...,
                preceding_port: int | None = ...,
            ) -> None: ...
            def ClearField(self, field_name: Literal["preceding_node", "preceding_port"]) -> None: ...
        class OutputInfo(Message):
            size: int
            alias_input_port: int
            @property
            def shape(self) -> TensorShapeProto: ...
            dtype: int
            def __init__(
                self,
                *,
                size: int | None = ...,
                alias_input_port: int | None = ...,
                shape: TensorShapeProto | None = ...,
                dtype: int | str | None = ...,
            ) -> None: ...
            def HasField(self, field_name: Literal["shape"]) -> bool: ...
            def ClearField(self, field_name: Literal["size", "alias_input_port", "shape", "dtype"]) -> None: ...
        name: str
        device: str
        id: int
        @property
        def input_info(self) -> RepeatedCompositeFieldContainer[CostGraphDef.Node.InputInfo]: ...
        @property
        def output_info(self) -> RepeatedCompositeFieldContainer[CostGraphDef.Node.OutputInfo]: ...
        temporary_memory_size: int
        is_final: bool
        @property
        def control_input(self) -> RepeatedScalarFieldContainer[int]: ...
        compute_cost: int
        host_temp_memory_size: int
        device_temp_memory_size: int
        persistent_memory_size: int
        compute_time: int
        memory_time: int
        device_persistent_memory_size: int
        inaccurate: bool
        def __init__(
            self,
            *,
            name: str | None = ...,
            device: str | None = ...,
            id: int | None = ...,
            input_info: Iterable[CostGraphDef.Node.InputInfo] | None = ...,
            output_info: Iterable[CostGraphDef.Node.OutputInfo] | None = ...,
            temporary_memory_size: int | None = ...,
            is_final: bool | None = ...,
            control_input: Iterable[int] | None = ...,
            compute_cost: int | None = ...,
            host_temp_memory_size: int | None = ...,
            device_temp_memory_size: int | None = ...,
            persistent_memory_size: int | None = ...,
            compute_time: int | None = ...,
            memory_time: int | None = ...,
            device_persistent_memory_size: int | None = ...,
            inaccurate: bool | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["name", "device", "id", "input_info", "output_info", "temporary_memory_size", "is_final", "control_input", "compute_cost", "host_temp_memory_size", "device_temp_memory_size", "persistent_memory_size", "compute_time", "memory_time", "device_persistent_memory_size", "inaccurate"]) -> None: ...
    class AggregatedCost(Message):
        cost: float
        dimension: str
        def __init__(
            self,
            *,
            cost: float | None = ...,
            dimension: str | None = ...,
        ) -> None: ...
        def ClearField(self, field_name: Literal["cost", "dimension"]) -> None: ...
    @property
    def node(self) -> RepeatedCompositeFieldContainer[CostGraphDef.Node]: ...
    @property
    def cost(self) -> RepeatedCompositeFieldContainer[CostGraphDef.AggregatedCost]: ...
    def __init__(
        self,
        *,
        node: Iterable[CostGraphDef.Node] | None = ...,
        cost: Iterable[CostGraphDef.AggregatedCost] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["node", "cost"]) -> None: ...

class SessionMetadata(Message):
    name: str
    version: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        version: int | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["name", "version"]) -> None: ...

class DebugTensorWatch(Message):
    node_name: str
    output_slot: int
    @property
    def debug_ops(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def debug_urls(self) -> RepeatedScalarFieldContainer[str]: ...
    tolerate_debug_op_creation_failures: bool
    def __init__(
        self,
        *,
        node_name: str | None = ...,
        output_slot: int | None = ...,
        debug_ops: Iterable[str] | None = ...,
        debug_urls: Iterable[str] | None = ...,
        tolerate_debug_op_creation_failures: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["node_name", "output_slot", "debug_ops", "debug_urls", "tolerate_debug_op_creation_failures"]) -> None: ...

class DebugOptions(Message):
    @property
    def debug_tensor_watch_opts(self) -> RepeatedCompositeFieldContainer[DebugTensorWatch]: ...
    global_step: int
    reset_disk_byte_usage: bool
    def __init__(
        self,
        *,
        debug_tensor_watch_opts: Iterable[DebugTensorWatch] | None = ...,
        global_step: int | None = ...,
        reset_disk_byte_usage: bool | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["debug_tensor_watch_opts", "global_step", "reset_disk_byte_usage"]) -> None: ...

class RunOptions(Message):
    class Experimental(Message):
        class RunHandlerPoolOptions(Message):
            priority: int
            def __init__(
                self,
                *,
                priority: int | None = ...,
            ) -> None: ...
            def ClearField(self, field_name: Literal["priority"]) -> None: ...
        collective_graph_key: int
        use_run_handler_pool: bool
        @property
        def run_handler_pool_options(self) -> RunOptions.Experimental.RunHandlerPoolOptions: ...
        def __init__(
            self,
            *,
            collective_graph_key: int | None = ...,
            use_run_handler_pool: bool | None = ...,
            run_handler_pool_options: RunOptions.Experimental.RunHandlerPoolOptions | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["run_handler_pool_options"]) -> bool: ...
        def ClearField(self, field_name: Literal["collective_graph_key", "use_run_handler_pool", "run_handler_pool_options"]) -> None: ...
    TraceLevel: EnumTypeWrapper
    NO_TRACE: Final = 0
    SOFTWARE_TRACE: Final = 1
    HARDWARE_TRACE: Final = 2
    FULL_TRACE: Final = 3
    trace_level: int
    timeout_in_ms: int
    inter_op_thread_pool: int
    output_partition_graphs: bool
    @property
    def debug_options(self) -> DebugOptions: ...
    report_tensor_allocations_upon_oom: bool
    @property
    def experimental(self) -> RunOptions.Experimental: ...
    def __init__(
        self,
        *,
        trace_level: int | str | None = ...,
        timeout_in_ms: int | None = ...,
        inter_op_thread_pool: int | None = ...,
        output_partition_graphs: bool | None = ...,
        debug_options: DebugOptions | None = ...,
        report_tensor_allocations_upon_oom: bool | None = ...,
        experimental: RunOptions.Experimental | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["debug_options", "experimental"]) -> bool: ...
    def ClearField(self, field_name: Literal["trace_level", "timeout_in_ms", "inter_op_thread_pool", "output_partition_graphs", "debug_options", "report_tensor_allocations_upon_oom", "experimental"]) -> None: ...

class RunMetadata(Message):
    class FunctionGraphs(Message):
        @property
        def partition_graphs(self) -> RepeatedCompositeFieldContainer[GraphDef]: ...
        @property
        def pre_optimization_graph(self) -> GraphDef: ...
        @property
        def post_optimization_graph(self) -> GraphDef: ...
        def __init__(
            self,
            *,
            partition_graphs: Iterable[GraphDef] | None = ...,
            pre_optimization_graph: GraphDef | None = ...,
            post_optimization_graph: GraphDef | None = ...,
        ) -> None: ...
        def HasField(self, field_name: Literal["pre_optimization_graph", "post_optimization_graph"]) -> bool: ...
        def ClearField(self, field_name: Literal["partition_graphs", "pre_optimization_graph", "post_optimization_graph"]) -> None: ...
    @property
    def step_stats(self) -> StepStats: ...
    @property
    def cost_graph(self) -> CostGraphDef: ...
    @property
    def partition_graphs(self) -> RepeatedCompositeFieldContainer[GraphDef]: ...
    @property
    def function_graphs(self) -> RepeatedCompositeFieldContainer[RunMetadata.FunctionGraphs]: ...
    @property
    def session_metadata(self) -> SessionMetadata: ...
    def __init__(
        self,
        *,
        step_stats: StepStats | None = ...,
        cost_graph: CostGraphDef | None = ...,
        partition_graphs: Iterable[GraphDef] | None = ...,
        function_graphs: Iterable[RunMetadata.FunctionGraphs] | None = ...,
        session_metadata: SessionMetadata | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["step_stats", "cost_graph", "session_metadata"]) -> bool: ...
    def ClearField(self, field_name: Literal["step_stats", "cost_graph", "partition_graphs", "function_graphs", "session_metadata"]) -> None: ...

class XStat(Message):
    metadata_id: int
    double_value: float
    uint64_value: int
    int64_value: int
    str_value: str
    bytes_value: bytes
    ref_value: int
    def __init__(
        self,
        *,
        metadata_id: int | None = ...,
        double_value: float | None = ...,
        uint64_value: int | None = ...,
        int64_value: int | None = ...,
        str_value: str | None = ...,
        bytes_value: bytes | None = ...,
        ref_value: int | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["double_value", "uint64_value", "int64_value", "str_value", "bytes_value", "ref_value", "value"]) -> bool: ...
    def ClearField(self, field_name: Literal["metadata_id", "double_value", "uint64_value", "int64_value", "str_value", "bytes_value", "ref_value", "value"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["value"]) -> Literal["double_value", "uint64_value", "int64_value", "str_value", "bytes_value", "ref_value"] | None: ...

class XStatMetadata(Message):
    id: int
    name: str
    description: str
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        description: str | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "name", "description"]) -> None: ...

class XEventMetadata(Message):
    id: int
    name: str
    display_name: str
    metadata: bytes
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    @property
    def child_id(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        display_name: str | None = ...,
        metadata: bytes | None = ...,
        stats: Iterable[XStat] | None = ...,
        child_id: Iterable[int] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "name", "display_name", "metadata", "stats", "child_id"]) -> None: ...

class XEvent(Message):
    metadata_id: int
    offset_ps: int
    num_occurrences: int
    duration_ps: int
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    def __init__(
        self,
        *,
        metadata_id: int | None = ...,
        offset_ps: int | None = ...,
        num_occurrences: int | None = ...,
        duration_ps: int | None = ...,
        stats: Iterable[XStat] | None = ...,
    ) -> None: ...
    def HasField(self, field_name: Literal["offset_ps", "num_occurrences", "data"]) -> bool: ...
    def ClearField(self, field_name: Literal["metadata_id", "offset_ps", "num_occurrences", "duration_ps", "stats", "data"]) -> None: ...
    def WhichOneof(self, oneof_group: Literal["data"]) -> Literal["offset_ps", "num_occurrences"] | None: ...

class XLine(Message):
    id: int
    display_id: int
    name: str
    display_name: str
    timestamp_ns: int
    duration_ps: int
    @property
    def events(self) -> RepeatedCompositeFieldContainer[XEvent]: ...
    def __init__(
        self,
        *,
        id: int | None = ...,
        display_id: int | None = ...,
        name: str | None = ...,
        display_name: str | None = ...,
        timestamp_ns: int | None = ...,
        duration_ps: int | None = ...,
        events: Iterable[XEvent] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "display_id", "name", "display_name", "timestamp_ns", "duration_ps", "events"]) -> None: ...

class XPlane(Message):
    id: int
    name: str
    @property
    def lines(self) -> RepeatedCompositeFieldContainer[XLine]: ...
    @property
    def event_metadata(self) -> MessageMap[int, XEventMetadata]: ...
    @property
    def stat_metadata(self) -> MessageMap[int, XStatMetadata]: ...
    @property
    def stats(self) -> RepeatedCompositeFieldContainer[XStat]: ...
    def __init__(
        self,
        *,
        id: int | None = ...,
        name: str | None = ...,
        lines: Iterable[XLine] | None = ...,
        event_metadata: Mapping[int, XEventMetadata] | None = ...,
        stat_metadata: Mapping[int, XStatMetadata] | None = ...,
        stats: Iterable[XStat] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["id", "name", "lines", "event_metadata", "stat_metadata", "stats"]) -> None: ...

class XSpace(Message):
    @property
    def planes(self) -> RepeatedCompositeFieldContainer[XPlane]: ...
    @property
    def errors(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def warnings(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def hostnames(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        planes: Iterable[XPlane] | None = ...,
        errors: Iterable[str] | None = ...,
        warnings: Iterable[str] | None = ...,
        hostnames: Iterable[str] | None = ...,
    ) -> None: ...
    def ClearField(self, field_name: Literal["planes", "errors", "warnings", "hostnames"]) -> None: ...

DT_INVALID: Final = 0
DT_FLOAT: Final = 1
DT_DOUBLE: Final = 2
DT_INT32: Final = 3
DT_UINT8: Final = 4
DT_INT16: Final = 5
DT_INT8: Final = 6
DT_STRING: Final = 7
DT_COMPLEX64: Final = 8
DT_INT64: Final = 9
DT_BOOL: Final = 10
DT_QINT8: Final = 11
DT_QUINT8: Final = 12
DT_QINT32: Final = 13
DT_BFLOAT16: Final = 14
DT_QINT16: Final = 15
DT_QUINT16: Final = 16
DT_UINT16: Final = 17
DT_COMPLEX128: Final = 18
DT_HALF: Final = 19
DT_RESOURCE: Final = 20
DT_VARIANT: Final = 21
DT_UINT32: Final = 22
DT_UINT64: Final = 23
DT_FLOAT8_E5M2: Final = 24
DT_FLOAT8_E4M3FN: Final = 25
DT_FLOAT8_E4M3FNUZ: Final = 26
DT_FLOAT8_E4M3B11FNUZ: Final = 27
DT_FLOAT8_E5M2FNUZ: Final = 28
DT_INT4: Final = 29
DT_UINT4: Final = 30
DT_INT2: Final = 31
DT_UINT2: Final = 32
DT_FLOAT4_E2M1FN: Final = 33
DT_FLOAT_REF: Final = 101
DT_DOUBLE_REF: Final = 102
DT_INT32_REF: Final = 103
DT_UINT8_REF: Final = 104
DT_INT16_REF: Final = 105
DT_INT8_REF: Final = 106
DT_STRING_REF: Final = 107
DT_COMPLEX64_REF: Final = 108
DT_INT64_REF: Final = 109
DT_BOOL_REF: Final = 110
DT_QINT8_REF: Final = 111
DT_QUINT8_REF: Final = 112
DT_QINT32_REF: Final = 113
DT_BFLOAT16_REF: Final = 114
DT_QINT16_REF: Final = 115
DT_QUINT16_REF: Final = 116
DT_UINT16_REF: Final = 117
DT_COMPLEX128_REF: Final = 118
DT_HALF_REF: Final = 119
DT_RESOURCE_REF: Final = 120
DT_VARIANT_REF: Final = 121
DT_UINT32_REF: Final = 122
DT_UINT64_REF: Final = 123
DT_FLOAT8_E5M2_REF: Final = 124
DT_FLOAT8_E4M3FN_REF: Final = 125
DT_FLOAT8_E4M3FNUZ_REF: Final = 126
DT_FLOAT8_E4M3B11FNUZ_REF: Final = 127
DT_FLOAT8_E5M2FNUZ_REF: Final = 128
DT_INT4_REF: Final = 129
DT_UINT4_REF: Final = 130
DT_INT2_REF: Final = 131
DT_UINT2_REF: Final = 132
DT_FLOAT4_E2M1FN_REF: Final = 133
DATA_CLASS_UNKNOWN: Final = 0
DATA_CLASS_SCALAR: Final = 1
DATA_CLASS_TENSOR: Final = 2
DATA_CLASS_BLOB_SEQUENCE: Final = 3
TFT_UNSET: Final = 0
TFT_VAR: Final = 1
TFT_ANY: Final = 2
TFT_PRODUCT: Final = 3
TFT_NAMED: Final = 4
TFT_FOR_EACH: Final = 20
TFT_CALLABLE: Final = 100
TFT_TENSOR: Final = 1000
TFT_ARRAY: Final = 1001
TFT_OPTIONAL: Final = 1002
TFT_LITERAL: Final = 1003
TFT_ENCODED: Final = 1004
TFT_SHAPE_TENSOR: Final = 1005
TFT_BOOL: Final = 200
TFT_UINT8: Final = 201
TFT_UINT16: Final = 202
TFT_UINT32: Final = 203
TFT_UINT64: Final = 204
TFT_INT8: Final = 205
TFT_INT16: Final = 206
TFT_INT32: Final = 207
TFT_INT64: Final = 208
TFT_HALF: Final = 209
TFT_FLOAT: Final = 210
TFT_DOUBLE: Final = 211
TFT_BFLOAT16: Final = 215
TFT_COMPLEX64: Final = 212
TFT_COMPLEX128: Final = 213
TFT_STRING: Final = 214
TFT_DATASET: Final = 10102
TFT_RAGGED: Final = 10103
TFT_ITERATOR: Final = 10104
TFT_MUTEX_LOCK: Final = 10202
TFT_LEGACY_VARIANT: Final = 10203
NULL_VALUE: Final = 0
DATA_TYPE_UNSET: Final = 0
DATA_TYPE_STRING: Final = 1
DATA_TYPE_BOOL: Final = 2
DATA_TYPE_FLOAT64: Final = 3
DATASET_UNKNOWN: Final = 0
DATASET_TRAINING: Final = 1
DATASET_VALIDATION: Final = 2
STATUS_UNKNOWN: Final = 0
STATUS_SUCCESS: Final = 1
STATUS_FAILURE: Final = 2
STATUS_RUNNING: Final = 3

__all__ = [
    "coerce",
    "TensorShapeProto",
    "ResourceHandleProto",
    "TensorProto",
    "VariantTensorDataProto",
    "AttrValue",
    "NameAttrList",
    "MultilineChartContent",
    "MarginChartContent",
    "Chart",
    "Category",
    "Layout",
    "SummaryDescription",
    "SummaryMetadata",
    "HistogramProto",
    "Summary",
    "Event",
    "SourceMetadata",
    "LogMessage",
    "SessionLog",
    "TaggedRunMetadata",
    "GraphDebugInfo",
    "FullTypeDef",
    "OpDef",
    "OpDeprecation",
    "OpList",
    "VersionDef",
    "NodeDef",
    "FunctionDefLibrary",
    "FunctionDef",
    "GradientDef",
    "RegisteredGradient",
    "GraphDef",
    "Struct",
    "StructValue",
    "ListValue",
    "Interval",
    "HParamInfo",
    "MetricName",
    "MetricInfo",
    "Experiment",
    "SessionStartInfo",
    "SessionEndInfo",
    "HParamsPluginData",
    "MeshPluginData",
    "Any",
    "SaverDef",
    "TensorInfo",
    "SignatureDef",
    "AssetFileDef",
    "CollectionDef",
    "MetaGraphDef",
    "ScalarPluginData",
    "ImagePluginData",
    "AudioPluginData",
    "HistogramPluginData",
    "TextPluginData",
    "PrCurvePluginData",
    "SpriteMetadata",
    "EmbeddingInfo",
    "ProjectorConfig",
    "AllocationDescription",
    "TensorDescription",
    "AllocationRecord",
    "AllocatorMemoryUsed",
    "NodeOutput",
    "MemoryStats",
    "NodeExecStats",
    "DeviceStepStats",
    "StepStats",
    "CostGraphDef",
    "SessionMetadata",
    "DebugTensorWatch",
    "DebugOptions",
    "RunOptions",
    "RunMetadata",
    "XStat",
    "XStatMetadata",
    "XEventMetadata",
    "XEvent",
    "XLine",
    "XPlane",
    "XSpace",
    "DataType",
    "DataClass",
    "FullTypeId",
    "NullValue",
    "HParamsDataType",
    "DatasetType",
    "HParamsStatus",
    "DT_INVALID",
    "DT_FLOAT",
    "DT_DOUBLE",
    "DT_INT32",
    "DT_UINT8",
    "DT_INT16",
    "DT_INT8",
    "DT_STRING",
    "DT_COMPLEX64",
    "DT_INT64",
    "DT_BOOL",
    "DT_QINT8",
    "DT_QUINT8",
    "DT_QINT32",
    "DT_BFLOAT16",
    "DT_QINT16",
    "DT_QUINT16",
    "DT_UINT16",
    "DT_COMPLEX128",
    "DT_HALF",
    "DT_RESOURCE",
    "DT_VARIANT",
    "DT_UINT32",
    "DT_UINT64",
    "DT_FLOAT8_E5M2",
    "DT_FLOAT8_E4M3FN",
    "DT_FLOAT8_E4M3FNUZ",
    "DT_FLOAT8_E4M3B11FNUZ",
    "DT_FLOAT8_E5M2FNUZ",
    "DT_INT4",
    "DT_UINT4",
    "DT_INT2",
    "DT_UINT2",
    "DT_FLOAT4_E2M1FN",
    "DT_FLOAT_REF",
    "DT_DOUBLE_REF",
    "DT_INT32_REF",
    "DT_UINT8_REF",
    "DT_INT16_REF",
    "DT_INT8_REF",
    "DT_STRING_REF",
    "DT_COMPLEX64_REF",
    "DT_INT64_REF",
    "DT_BOOL_REF",
    "DT_QINT8_REF",
    "DT_QUINT8_REF",
    "DT_QINT32_REF",
    "DT_BFLOAT16_REF",
    "DT_QINT16_REF",
    "DT_QUINT16_REF",
    "DT_UINT16_REF",
    "DT_COMPLEX128_REF",
    "DT_HALF_REF",
    "DT_RESOURCE_REF",
    "DT_VARIANT_REF",
    "DT_UINT32_REF",
    "DT_UINT64_REF",
    "DT_FLOAT8_E5M2_REF",
    "DT_FLOAT8_E4M3FN_REF",
    "DT_FLOAT8_E4M3FNUZ_REF",
    "DT_FLOAT8_E4M3B11FNUZ_REF",
    "DT_FLOAT8_E5M2FNUZ_REF",
    "DT_INT4_REF",
    "DT_UINT4_REF",
    "DT_INT2_REF",
    "DT_UINT2_REF",
    "DT_FLOAT4_E2M1FN_REF",
    "DATA_CLASS_UNKNOWN",
    "DATA_CLASS_SCALAR",
    "DATA_CLASS_TENSOR",
    "DATA_CLASS_BLOB_SEQUENCE",
    "TFT_UNSET",
    "TFT_VAR",
    "TFT_ANY",
    "TFT_PRODUCT",
    "TFT_NAMED",
    "TFT_FOR_EACH",
    "TFT_CALLABLE",
    "TFT_TENSOR",
    "TFT_ARRAY",
    "TFT_OPTIONAL",
    "TFT_LITERAL",
    "TFT_ENCODED",
    "TFT_SHAPE_TENSOR",
    "TFT_BOOL",
    "TFT_UINT8",
    "TFT_UINT16",
    "TFT_UINT32",
    "TFT_UINT64",
    "TFT_INT8",
    "TFT_INT16",
    "TFT_INT32",
    "TFT_INT64",
    "TFT_HALF",
    "TFT_FLOAT",
    "TFT_DOUBLE",
    "TFT_BFLOAT16",
    "TFT_COMPLEX64",
    "TFT_COMPLEX128",
    "TFT_STRING",
    "TFT_DATASET",
    "TFT_RAGGED",
    "TFT_ITERATOR",
    "TFT_MUTEX_LOCK",
    "TFT_LEGACY_VARIANT",
    "NULL_VALUE",
    "DATA_TYPE_UNSET",
    "DATA_TYPE_STRING",
    "DATA_TYPE_BOOL",
    "DATA_TYPE_FLOAT64",
    "DATASET_UNKNOWN",
    "DATASET_TRAINING",
    "DATASET_VALIDATION",
    "STATUS_UNKNOWN",
    "STATUS_SUCCESS",
    "STATUS_FAILURE",
    "STATUS_RUNNING",
]

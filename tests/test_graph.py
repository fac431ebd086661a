from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.graph import GraphBuilder, clean_name


def tensorboards(graph: proto.GraphDef) -> Any:
    """The graph as TensorBoard's own classes read it, prepared as its page gets it."""
    from tensorboard.backend import process_graph
    from tensorboard.compat.proto import graph_pb2

    found = graph_pb2.GraphDef.FromString(graph.SerializeToString())
    process_graph.prepare_graph_for_ui(found)
    return found


def small() -> GraphBuilder:
    builder = GraphBuilder()
    x = builder.node("x", "Placeholder", shapes=[[None, 784]])
    with builder.scope("dense"):
        w = builder.node("weights", "Variable", shapes=[[784, 10]], device="/device:GPU:0")
        builder.node("matmul", "MatMul", [x, w], control_inputs=[w], attributes={"trans": False})
    return builder


def test_text_is_as_tensorboard_sends_it_to_its_page() -> None:
    # Fields as in tensorflow/core/framework; the page reads this text line by line.
    assert str(tensorboards(small().build())) == (
        'node {\n  name: "x"\n  op: "Placeholder"\n'
        '  attr {\n    key: "_output_shapes"\n    value {\n      list {\n        shape {\n'
        "          dim {\n            size: -1\n          }\n"
        "          dim {\n            size: 784\n          }\n"
        "        }\n      }\n    }\n  }\n}\n"
        'node {\n  name: "dense/weights"\n  op: "Variable"\n  device: "/device:GPU:0"\n'
        '  attr {\n    key: "_output_shapes"\n    value {\n      list {\n        shape {\n'
        "          dim {\n            size: 784\n          }\n"
        "          dim {\n            size: 10\n          }\n"
        "        }\n      }\n    }\n  }\n}\n"
        'node {\n  name: "dense/matmul"\n  op: "MatMul"\n'
        '  input: "x"\n  input: "dense/weights"\n  input: "^dense/weights"\n'
        '  attr {\n    key: "trans"\n    value {\n      b: false\n    }\n  }\n}\n'
        "versions {\n  producer: 22\n}\n"
    )


def test_graphs_merge_in_tensorboard() -> None:
    from tensorboard.plugins.graph import graph_util

    graphs = [tensorboards(small().build()) for _ in range(2)]
    merged = graph_util.merge_graph_defs(graphs)
    assert [node.name for node in merged.node][::3] == ["graph_1/x", "graph_2/x"]


def test_scopes_nest_and_end() -> None:
    builder = GraphBuilder()
    with builder.scope("a") as a, builder.scope("b/c") as c:
        inner = builder.node("n", "Op")
    with pytest.raises(RuntimeError, match="stop"), builder.scope("d"):
        raise RuntimeError("stop")
    assert (a, c, inner) == ("a", "a/b/c", "a/b/c/n")
    assert builder.node("n", "Op") == "n"


def test_unique_names() -> None:
    builder = GraphBuilder()
    with builder.scope("s"):
        names = [builder.node(builder.unique_name("n"), "Op") for _ in range(3)]
        builder.node("n_3", "Op")
        names.append(builder.node(builder.unique_name("n"), "Op"))
    assert names == ["s/n", "s/n_1", "s/n_2", "s/n_4"]
    assert builder.unique_name("n") == "n"


@pytest.mark.parametrize(
    ("dtypes", "numbers"),
    [
        (["float32"], [1]),
        (["int4", "bool"], [29, 10]),
        (["float32", "key<fry>"], []),
        (["float32", ""], []),
        ([], []),
    ],
)
def test_unique_nodes_leave_out_what_is_no_dtype_of_tensorflow(
    dtypes: list[str], numbers: list[int]
) -> None:
    builder = GraphBuilder()
    builder.node("n", "Op")
    assert builder.unique_node("n", "Op", ["n"], dtypes=dtypes, shapes=[[2], [3]][: len(dtypes)])
    node = tensorboards(builder.build()).node[1]
    assert (node.name, list(node.input)) == ("n_1", ["n"])
    several = list(node.attr["output_types"].list.type)
    assert ([node.attr["dtype"].type] if "dtype" in node.attr else several) == numbers
    assert len(node.attr["_output_shapes"].list.shape) == len(dtypes)


def test_edges_from_any_output_in_any_order() -> None:
    builder = GraphBuilder()
    builder.node("late", "Op", ["split", "split:2", "unknown:9"])
    builder.node("split", "Split", shapes=[[1], None, [3]], dtypes=["int8", np.int16, "bfloat16"])
    builder.node("unknown", "Op")
    late, split, _ = tensorboards(builder.build()).node
    assert list(late.input) == ["split", "split:2", "unknown:9"]
    shapes = split.attr["_output_shapes"].list.shape
    assert [[dim.size for dim in shape.dim] for shape in shapes] == [[1], [], [3]]
    assert [shape.unknown_rank for shape in shapes] == [False, True, False]
    # DT_INT8, DT_INT16, DT_BFLOAT16
    assert list(split.attr["output_types"].list.type) == [6, 5, 14]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "b: true"),
        (np.bool_(False), "b: false"),
        (3, "i: 3"),
        (-(1 << 63), "i: -9223372036854775808"),
        (np.uint8(200), "i: 200"),
        (0.5, "f: 0.5"),
        (np.float32(0.25), "f: 0.25"),
        ("é", 's: "\\303\\251"'),
        (b"\x00", 's: "\\000"'),
        (np.dtype("float64"), "type: DT_DOUBLE"),
        (np.float16, "type: DT_HALF"),
        ([True, False], "list { b: true b: false }"),
        ((1, np.int64(2)), "list { i: 1 i: 2 }"),
        ([1, 0.5], "list { f: 1 f: 0.5 }"),
        (["a", b"b"], 'list { s: "a" s: "b" }'),
        ([np.dtype("int32"), np.dtype("bool")], "list { type: DT_INT32 type: DT_BOOL }"),
        ([], "list { }"),
        (
            np.array([[1]], np.uint8),
            "tensor { dtype: DT_UINT8 tensor_shape { dim { size: 1 } dim { size: 1 } } "
            'tensor_content: "\\001" }',
        ),
        ("float32", 's: "float32"'),
    ],
)
def test_attributes_have_the_type_of_their_value(value: Any, text: str) -> None:
    from tensorboard.compat.proto import attr_value_pb2

    builder = GraphBuilder()
    builder.node("n", "Op", attributes={"a": value})
    found = tensorboards(builder.build()).node[0].attr["a"]
    assert isinstance(found, attr_value_pb2.AttrValue)
    assert " ".join(str(found).split()) == text


def test_attribute_messages_of_any_copy_are_taken() -> None:
    from tensorboard.compat.proto import attr_value_pb2

    builder = GraphBuilder()
    theirs = attr_value_pb2.AttrValue(placeholder="p")
    builder.node("n", "Op", attributes={"a": theirs, "b": proto.AttrValue(i=3)})
    found = tensorboards(builder.build()).node[0].attr
    assert (found["a"].placeholder, found["b"].i) == ("p", 3)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"name": "x"}, ValueError, "'x' exists already, as 'Placeholder'"),
        ({"name": ""}, ValueError, "empty part"),
        ({"name": "/a"}, ValueError, "empty part: '/a'"),
        ({"name": "a//b"}, ValueError, "empty part"),
        ({"name": "a:1"}, ValueError, "cannot contain ':'"),
        ({"name": "^a"}, ValueError, r"cannot contain '\^'"),
        ({"name": "a b"}, ValueError, "cannot contain ' '"),
        ({"name": 'a"b'}, ValueError, "cannot contain"),
        ({"name": 3}, TypeError, "must be a str; got int"),
        ({"op": None}, TypeError, "'n': op must be a str"),
        ({"inputs": "x"}, TypeError, "inputs must be a list of names, not the str 'x'"),
        ({"inputs": [1]}, TypeError, "'n': inputs has 1 of type int"),
        ({"inputs": ["^x"]}, ValueError, "belongs into control_inputs"),
        ({"shapes": [[-1]]}, ValueError, r"'n': the shape \(-1,\) has a negative size"),
        ({"shapes": [[1], [2]], "dtypes": ["int8"]}, ValueError, "2 shapes for 1 dtypes"),
        ({"dtypes": ["float12"]}, ValueError, "'float12' is no dtype"),
        ({"attributes": {"a": 1 << 63}}, ValueError, "'n', attribute 'a'.*beyond 64 bits"),
        ({"attributes": {"a": None}}, TypeError, "'n', attribute 'a': None of type NoneType"),
        ({"attributes": {"a": {}}}, TypeError, "dict is no attribute"),
        ({"attributes": {"a": [1, "b"]}}, TypeError, "list is no attribute"),
        ({"attributes": {"a": proto.GraphDef()}}, TypeError, "AttrValue"),
    ],
)
def test_bad_nodes(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    builder = small()
    with pytest.raises(error, match=text):
        builder.node(**{"name": "n", "op": "Op", **arguments})
    assert len(builder.build().node) == 3


@pytest.mark.parametrize(
    ("inputs", "control", "text"),
    [
        (["matmul"], [], "'n' takes 'matmul', .*did you mean 'dense/matmul'"),
        (["dense/matmull"], [], "did you mean 'dense/matmul'"),
        (["zzz"], [], r"'zzz', which is no node of this graph$"),
        ([], ["dense/wieghts"], "did you mean 'dense/weights'"),
        (["dense/weights:1"], [], "takes output 1 of 'dense/weights', which has 1"),
        (["dense"], [], "'dense', which is no node"),
    ],
)
def test_bad_edges_name_what_may_be_meant(inputs: Any, control: Any, text: str) -> None:
    builder = small()
    builder.node("n", "Op", inputs, control_inputs=control)
    with pytest.raises(ValueError, match=text):
        builder.build()


def test_circles_need_a_next_iteration() -> None:
    builder = GraphBuilder()
    builder.node("enter", "Enter")
    builder.node("merge", "Merge", ["enter", "next"])
    builder.node("body", "Add", ["merge"])
    builder.node("next", "NextIteration", ["body"])
    assert len(builder.build().node) == 4
    builder.node("a", "Op", ["c"])
    builder.node("b", "Op", ["a:1"])
    builder.node("c", "Op", control_inputs=["b"])
    with pytest.raises(ValueError, match=r"circle: a -> b -> c -> a; .*'NextIteration'"):
        builder.build()


def test_a_node_cannot_feed_itself() -> None:
    builder = GraphBuilder()
    builder.node("a", "Op", ["a"])
    with pytest.raises(ValueError, match="circle: a -> a"):
        builder.build()


def test_deep_and_shared_graphs() -> None:
    # Longer than Python's stack, and with more paths than anyone could walk.
    builder = GraphBuilder()
    name = builder.node("n0", "Op")
    for index in range(1, 5000):
        name = builder.node(f"n{index}", "Op", [name, name])
    assert len(builder.build().node) == 5000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b:c", "a_b_c"), ("x/y", "x_y"), ("", "_"), ("^p", "_p"), ("Linear[0]", "Linear[0]")],
)
def test_clean_names_are_names(text: str, expected: str) -> None:
    assert clean_name(text) == expected
    assert GraphBuilder().node(clean_name(text), "Op") == expected

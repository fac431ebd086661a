"""Graphs of frameworks, as TensorBoard's own graph plugin serves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tfevents import proto

pytest.importorskip("tensorboard")


def plugin_of(directory: Path, *events: Any) -> Any:
    """TensorBoard's plugin on a directory with these events in a file."""
    from tensorboard import context
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.compat.proto import event_pb2
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.graph import graphs_plugin
    from tensorboard.summary.writer import event_file_writer

    writer = event_file_writer.EventFileWriter(str(directory))
    for event in events:
        writer.add_event(event_pb2.Event.FromString(event.SerializeToString()))
    writer.close()
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(directory))
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, str(directory))
    plugin = graphs_plugin.GraphsPlugin(
        base_plugin.TBContext(logdir=str(directory), data_provider=provider)
    )
    return plugin, context.RequestContext()


def served(directory: Path, graph: Any, metadata: Any = None) -> Any:
    """A graph, written, read and prepared for the page by TensorBoard; every edge checked."""
    from google.protobuf import text_format
    from tensorboard.compat.proto import graph_pb2

    events = [proto.Event(graph_def=graph.SerializeToString())]
    if metadata is not None:
        tagged = proto.TaggedRunMetadata(tag="step1", run_metadata=metadata.SerializeToString())
        events.append(proto.Event(tagged_run_metadata=tagged))
    plugin, ctx = plugin_of(directory, *events)
    assert plugin.info_impl(ctx, "")["."]["run_graph"]
    if metadata is not None:
        text, _ = plugin.run_metadata_impl(ctx, "", ".", "step1")
        assert "/device:CPU:0" in text
    text, _ = plugin.graph_impl(ctx, ".", None, False, "", 1024, "_too_large_attrs")
    found = text_format.Parse(text, graph_pb2.GraphDef())
    names = {node.name for node in found.node}
    assert len(names) == len(found.node)
    for node in found.node:
        for source in node.input:
            assert source.lstrip("^").split(":")[0] in names, (node.name, source)
    return found


def scopes(graph: Any) -> set[str]:
    """All scopes with something in them."""
    parents = [node.name.split("/")[:-1] for node in graph.node]
    return {"/".join(parts[:end]) for parts in parents for end in range(1, len(parts) + 1)}


def by_name(graph: Any) -> dict[str, Any]:
    return {node.name: node for node in graph.node}


def shapes(node: Any) -> list[list[int]]:
    return [[dim.size for dim in x.dim] for x in node.attr["_output_shapes"].list.shape]


# PyTorch


def cnn() -> Any:
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 5)
            self.block = nn.Sequential(nn.BatchNorm2d(6), nn.ReLU(), nn.Dropout())
            self.heads = nn.ModuleList([nn.Linear(6 * 24 * 24, 3), nn.Linear(6 * 24 * 24, 3)])

        def forward(self, x: Any) -> Any:
            x = torch.flatten(self.block(self.conv1(x)), 1)
            first, second = torch.split(torch.cat([head(x) for head in self.heads], 1), [2, 4], 1)
            return torch.log_softmax(first, 1), second.mean()

    return Net()


INPUT_SHAPE = (2, 1, 28, 28)


def comparable_scopes(theirs: Any, net: str) -> set[str]:
    """Scopes of PyTorch's graph of `cnn()`, without what makes it harder to read.

    It gives each parameter a scope of its own, and a module in a ModuleList two: one beside the
    list for its operations, one in the list for its parameters.
    """
    parameters = {"weight", "bias", "running_mean", "running_var"}
    found = {s for s in scopes(theirs) if s.rsplit("/", 1)[-1] not in parameters}
    split = {f"{net}/Linear[0]", f"{net}/Linear[1]"}
    assert split < found
    assert f"{net}/ModuleList[heads]/Linear[0]" in found
    return found - split


def test_torch_export_shows_the_scopes_of_torchs_own_graph(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.tensorboard import _pytorch_graph

    from tfevents.integrations.torch import torch_graph

    model = cnn()
    example = torch.zeros(INPUT_SHAPE)
    theirs, their_metadata = _pytorch_graph.graph(model, example)
    graph, metadata = torch_graph(model, example)
    assert metadata.SerializeToString() == their_metadata.SerializeToString()
    assert graph.versions.producer == theirs.versions.producer
    found = served(tmp_path, graph, metadata)
    assert scopes(found) == comparable_scopes(theirs, "Net")
    assert "Net/Sequential[block]/BatchNorm2d[0]" in scopes(found)


@pytest.mark.parametrize("model", [5, None, "model", {"a": 1}])
def test_what_torch_cannot_call_is_no_model(model: Any) -> None:
    pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    with pytest.raises(TypeError, match=f"needed, got {type(model).__name__}"):
        torch_graph(model, ())


def test_torch_nodes_edges_shapes_and_attributes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    found = by_name(served(tmp_path, torch_graph(cnn(), torch.zeros(INPUT_SHAPE))[0]))
    conv = found["Net/Conv2d[conv1]/conv2d"]
    assert conv.op == "aten::conv2d"
    assert list(conv.input) == [
        "input/x",
        "Net/Conv2d[conv1]/weight",
        "Net/Conv2d[conv1]/bias",
    ]
    assert shapes(conv) == [[2, 6, 24, 24]]
    assert conv.device == "/device:CPU:0"
    assert shapes(found["Net/Conv2d[conv1]/weight"]) == [[6, 1, 5, 5]]
    assert found["Net/Conv2d[conv1]/weight"].op == "Parameter"
    assert found["Net/Sequential[block]/BatchNorm2d[0]/running_mean"].op == "Buffer"
    (split,) = (node for name, node in found.items() if name.startswith("Net/split"))
    assert shapes(split) == [[2, 2], [2, 4]]
    assert list(split.attr["split_sizes"].list.i) == [2, 4]
    assert list(found["Net/mean"].input) == [f"{split.name}:1"]
    dropout = found["Net/Sequential[block]/Dropout[2]/dropout"]
    assert dropout.attr["train"].b is False
    assert shapes(found["input/x"]) == [list(INPUT_SHAPE)]
    assert list(found["output/output.1"].input) == ["Net/log_softmax"]
    assert list(found["output/output.2"].input) == ["Net/mean"]
    assert shapes(found["output/output.2"]) == [[]]


def test_torch_traces_what_export_refuses(tmp_path: Path, capfd: Any) -> None:
    torch = pytest.importorskip("torch")
    from torch.utils.tensorboard import _pytorch_graph

    from tfevents.integrations.torch import torch_graph

    class Branching(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = cnn()

        def forward(self, x: Any) -> Any:
            if x.sum() > 0:
                x = x * 2
            return self.net(x)

    model = Branching()
    example = torch.ones(INPUT_SHAPE)
    with pytest.raises(Exception, match="data-dependent"):
        torch.export.export(model.eval(), (example,), strict=False)
    capfd.readouterr()
    graph, metadata = torch_graph(model, (example,))
    assert capfd.readouterr() == ("", "")
    found = served(tmp_path, graph, metadata)
    theirs, _ = _pytorch_graph.graph(model, example)
    assert scopes(found) == comparable_scopes(theirs, "Branching/Net[net]")
    nodes = by_name(found)
    conv = nodes["Branching/Net[net]/Conv2d[conv1]/_convolution"]
    assert shapes(conv) == [[2, 6, 24, 24]]
    assert list(conv.input)[1:] == [
        "Branching/Net[net]/Conv2d[conv1]/weight",
        "Branching/Net[net]/Conv2d[conv1]/bias",
    ]
    assert shapes(nodes[conv.input[1]]) == [[6, 1, 5, 5]]
    assert list(conv.attr["stride"].list.i) == [1, 1]
    (mean,) = (node for node in nodes.values() if node.op == "aten::mean")
    assert [source.rpartition(":")[2] for source in mean.input] == ["1"]
    assert not [node for node in nodes.values() if node.op.startswith("prim::")]


def test_torch_shares_the_parameters_of_a_module_called_twice(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Twice(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return self.fc(self.fc(x))

    found = by_name(served(tmp_path, torch_graph(Twice(), torch.zeros(2, 3))[0]))
    assert sum(node.op == "Parameter" for node in found.values()) == 2
    linear = [node for node in found.values() if node.op == "aten::linear"]
    assert [node.input[1] for node in linear] == ["Twice/Linear[fc]/weight"] * 2
    assert linear[1].input[0] == linear[0].name


def test_torch_conditions_are_scopes(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Cond(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))

    found = by_name(served(tmp_path, torch_graph(Cond(), torch.ones(2, 3))[0]))
    assert "Cond/cond/body_0/sin" in found
    assert list(found["Cond/cond/body_1/cos"].input) == ["Cond/cond/body_1/x"]
    assert list(found["Cond/cond/body_1/x"].input) == ["input/x"]
    assert set(found["Cond/cond"].input) >= {"Cond/cond/body_0/sin", "Cond/cond/body_1/cos"}


def test_torch_leaves_the_mode_of_every_module(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    model = cnn()
    model.train()
    model.block[0].eval()  # a frozen layer, which PyTorch's own add_graph sets to training
    before = {name: module.training for name, module in model.named_modules()}
    torch_graph(model, torch.zeros(INPUT_SHAPE))
    assert {name: module.training for name, module in model.named_modules()} == before
    with pytest.raises(RuntimeError):
        torch_graph(model, torch.zeros(1, 9))
    assert {name: module.training for name, module in model.named_modules()} == before


def test_torch_leaves_a_traced_model_its_inputs_and_random_numbers_alone() -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Busy(torch.nn.Module):  # type: ignore[misc, name-defined]
        replaced: Any

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(()))
            self.register_buffer("replaced", torch.zeros(2))
            self.calls: list[int] = []
            self.fc = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            self.count += 1
            self.replaced = self.replaced + 1
            self.calls.append(1)
            self.last = x.mul_(2)
            if x.sum() > 0:  # which export refuses
                x = self.fc(x)
            return x + torch.randn(2)

    model, x = Busy(), torch.ones(1, 3)
    replaced, names = model.replaced, set(vars(model))
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    graph, _ = torch_graph(model, x)
    assert "aten::randn" in {node.op for node in graph.node}
    assert torch.rand(3).tolist() == expected.tolist()
    assert x.tolist() == [[1, 1, 1]]
    assert (model.count.item(), model.replaced.tolist()) == (0, [0, 0])
    assert model.replaced is replaced
    assert (model.calls, set(vars(model))) == ([], names)


def test_torch_export_leaves_no_stand_ins_in_a_model() -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Late(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.inner: Any = None

        def forward(self, x: Any) -> Any:
            if self.inner is None:
                self.inner = torch.nn.Linear(3, 2)
            self.last = self.inner(x)
            return self.last

    model = Late()
    torch_graph(model, torch.ones(1, 3))
    assert not hasattr(model, "last")
    assert list(model.parameters()) == []
    assert type(model(torch.ones(1, 3)).detach()) is torch.Tensor


def test_torch_scopes_know_all_names_of_a_module(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Shared(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.one = torch.nn.Linear(2, 2)
            self.two = self.one

        def forward(self, x: Any) -> Any:
            return self.two(self.one(x))

    found = by_name(served(tmp_path, torch_graph(Shared(), torch.ones(1, 2))[0]))
    scopes = {name.rpartition("/")[0] for name in found}
    assert scopes == {"input", "output", "Shared/Linear[one]", "Shared/Linear[two]"}


def test_torch_script_loops_pass_what_they_carry(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    loop = torch.jit.CompilationUnit(
        """
        def repeat(x):
            for _ in range(3):
                x = x.sin()
            return x
        """
    ).repeat
    found = by_name(served(tmp_path, torch_graph(loop, torch.ones(2))[0]))
    (body,) = (node for node in found.values() if node.op == "aten::sin")
    carried = found[body.input[0]]
    assert carried.op == "Placeholder"
    (source,) = carried.input
    assert found[source].op == "IO Node"


def test_torch_errors_have_both_reasons() -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    with pytest.raises(RuntimeError, match=r"Linear: torch\.export failed .*torch\.jit\.trace"):
        torch_graph(torch.nn.Linear(3, 5), torch.rand(1, 9))


def test_torch_dict_outputs_need_leave(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    class Named(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return {"a": x + 1, "b": x * 2}

    with pytest.raises(RuntimeError, match="use_strict_trace=False"):
        torch_graph(Named(), torch.zeros(2))
    graph, _ = torch_graph(Named(), torch.zeros(2), use_strict_trace=False)
    found = by_name(served(tmp_path, graph))
    assert [list(found[f"output/output.{i}"].input) for i in (1, 2)] == [
        ["Named/add"],
        ["Named/mul"],
    ]


def test_torch_script(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tfevents.integrations.torch import torch_graph

    scripted = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()))
    found = by_name(served(tmp_path, torch_graph(scripted, torch.ones(1, 3))[0]))
    assert {node.op for node in found.values()} == {
        "IO Node",
        "Parameter",
        "aten::linear",
        "aten::relu",
    }


# JAX


def test_jax_scopes_bodies_and_shapes(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    from tfevents.integrations.jax import jax_graph

    jnp = jax.numpy

    def model(params: Any, x: Any) -> Any:
        with jax.named_scope("dense"):
            hidden = jax.nn.relu(x @ params["w"] + params["b"])
        with jax.named_scope("loop"):
            carry, history = jax.lax.scan(
                lambda c, t: (c * 2 + t, c), hidden.sum(), jnp.arange(3.0)
            )
        limit = jax.lax.while_loop(lambda v: v < carry, lambda v: v + hidden[0, 0], 0.0)
        return {"loss": jax.lax.cond(limit > 0, jnp.sin, jnp.cos, carry), "history": history}

    params = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}
    found = by_name(served(tmp_path, jax_graph(model, params, x=jnp.ones((2, 4)))))
    assert shapes(found["input/0.w"]) == [[4, 3]]
    dot = found["dense/dot_general"]
    assert list(dot.input) == ["input/x", "input/0.w"]
    assert shapes(dot) == [[2, 3]]
    assert found["dense/relu/max"].input[0] == "dense/add"
    scan = found["loop/scan"]
    assert shapes(scan) == [[], [3]]
    assert scan.attr["length"].i == 3
    assert list(found["output/history"].input) == ["loop/scan:1"]
    assert "loop/scan/jaxpr/mul" in found
    # The constants of a loop's condition and of its body are told apart.
    limit = found["while/cond_jaxpr/argument"]
    step = found["while/body_jaxpr/argument"]
    carried = [found[f"while/{key}/argument_1"].input for key in ("cond_jaxpr", "body_jaxpr")]
    assert list(limit.input) == ["loop/scan"]
    assert list(step.input) == ["dense/relu/max"]
    assert carried[0] == carried[1]
    assert found[carried[0][0]].attr["value"].s == b"0.0"
    branches = {name for name in found if name.startswith("cond/branches_")}
    assert {"cond/branches_0/cos", "cond/branches_1/sin"} <= branches
    for name in ("cond/branches_0/argument", "cond/branches_1/argument"):
        assert list(found[name].input) == ["loop/scan"]
    assert list(found["output/loss"].input) == ["cond"]


def test_jax_functions_called_twice_are_two_scopes(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    from tfevents.integrations.jax import jax_graph

    def square(x: Any) -> Any:
        return x * x

    found = by_name(
        served(
            tmp_path,
            jax_graph(
                lambda x: jax.jit(square)(jax.jit(square)(x)),
                jax.ShapeDtypeStruct((2,), "bfloat16"),
            ),
        )
    )
    assert list(found["square_1/mul"].input) == ["square/mul", "square/mul"]
    assert found["square/mul"].attr["dtype"].type == 14  # DT_BFLOAT16


def test_jax_random_keys_and_gradients(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    from tfevents.integrations.jax import jax_graph

    def loss(w: Any) -> Any:
        return (jax.nn.softplus(w) * jax.random.normal(jax.random.key(0), (3,))).sum()

    found = served(tmp_path, jax_graph(jax.value_and_grad(loss), jax.numpy.ones(3)))
    assert {"output/0", "output/1"} <= set(by_name(found))


# ONNX


def test_onnx_names_weights_bodies_and_shapes(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from tfevents.integrations.onnx import onnx_graph

    helper, kinds = onnx.helper, onnx.TensorProto
    value = helper.make_tensor_value_info
    then = helper.make_graph(
        [helper.make_node("Add", ["r", "W"], ["t"])], "then", [], [value("t", 1, [4, 4])]
    )
    other = helper.make_graph(
        [helper.make_node("Neg", ["r"], ["e"])], "else", [], [value("e", 1, [4, 4])]
    )
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["/enc/MatMul_output_0"], name="/enc/MatMul"),
        helper.make_node("Relu", ["/enc/MatMul_output_0"], ["r"]),
        helper.make_node("If", ["flag"], ["y"], then_branch=then, else_branch=other, name="branch"),
        helper.make_node("Split", ["y"], ["y1", "y2"], axis=1, num_outputs=2, name="split"),
    ]
    weights = [helper.make_tensor("W", kinds.FLOAT, [4, 4], [0.0] * 16)]
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", 1, ["n", 4]), value("flag", kinds.BOOL, [])],
        [value("y1", 1, [4, 2]), value("y2", 1, [4, 2])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    onnx.checker.check_model(model)
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    built = onnx_graph(path)
    assert onnx_graph(model) == onnx_graph(model.SerializeToString()) == built
    found = by_name(served(tmp_path, built))
    assert list(found["enc/MatMul"].input) == ["input/x", "W"]
    assert shapes(found["enc/MatMul"]) == [[-1, 4]]
    assert found["W"].op == "Const"
    assert shapes(found["W"]) == [[4, 4]]
    assert found["W"].attr["dtype"].type == 1  # DT_FLOAT
    assert list(found["branch/then_branch/t"].input) == ["r", "W"]
    assert found["split"].attr["axis"].i == 1
    assert list(found["output/y2"].input) == ["split:1"]


@pytest.mark.parametrize(
    ("model", "error"), [(b"abc", ValueError), (b"", ValueError), (3, TypeError)]
)
def test_onnx_refuses_other_things(model: Any, error: type[Exception]) -> None:
    pytest.importorskip("onnx")
    from tfevents.integrations.onnx import onnx_graph

    with pytest.raises(error):
        onnx_graph(model)


def test_onnx_of_a_later_version_and_of_damaged_names(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from tfevents.integrations.onnx import onnx_graph

    helper = onnx.helper
    value = helper.make_tensor_value_info
    node = helper.make_node("Relu", ["xxxx"], ["yyyy"], name="nnnn")
    graph = helper.make_graph([node], "g", [value("xxxx", 1, [2])], [value("yyyy", 1, [2])])
    graph.input[0].type.tensor_type.elem_type = 99
    data = helper.make_model(graph).SerializeToString()
    for name in (b"xxxx", b"nnnn", b"Relu"):
        data = data.replace(name, b"\xff" + name[1:])
    found = by_name(served(tmp_path, onnx_graph(data)))
    assert list(found["\ufffdnnn"].input) == ["input/\ufffdxxx"]
    assert found["\ufffdnnn"].op == "\ufffdelu"
    assert shapes(found["input/\ufffdxxx"]) == [[2]]


# Keras


def test_keras_models_are_conceptual_graphs(tmp_path: Path) -> None:
    keras = pytest.importorskip("keras")
    from google.protobuf import text_format
    from tensorboard.compat.proto import graph_pb2

    from tfevents.integrations.keras import keras_model_json, keras_model_value

    inputs = keras.Input((4,), name="features")
    hidden = keras.layers.Dense(3, name="hidden")(inputs)
    outputs = keras.layers.Add(name="sum")([hidden, keras.layers.Dense(3, name="skip")(inputs)])
    model = keras.Model(inputs, outputs, name="net")
    assert json.loads(keras_model_json(model)) == json.loads(model.to_json())
    event = proto.Event()
    event.summary.value.append(keras_model_value(model))
    plugin, ctx = plugin_of(tmp_path, event)
    assert plugin.info_impl(ctx, "")["."]["tags"]["keras"]["conceptual_graph"]
    text, _ = plugin.graph_impl(ctx, ".", "keras", True, "")
    found = by_name(text_format.Parse(text, graph_pb2.GraphDef()))
    assert list(found["net/sum"].input) == ["net/hidden", "net/skip"]


def keras_edges(directory: Path, model: Any) -> dict[str, list[str]]:
    """Inputs of each node, as TensorBoard reads them from the value."""
    from google.protobuf import text_format
    from tensorboard.compat.proto import graph_pb2

    from tfevents.integrations.keras import keras_model_value

    event = proto.Event()
    event.summary.value.append(keras_model_value(model))
    plugin, ctx = plugin_of(directory, event)
    text, _ = plugin.graph_impl(ctx, ".", "keras", True, "")
    found = text_format.Parse(text, graph_pb2.GraphDef())
    return {node.name: list(node.input) for node in found.node}


def test_keras_calls_with_constants_and_named_tensors(tmp_path: Path) -> None:
    """TensorBoard fails on the first and leaves out an edge of the second, as Keras writes them."""
    keras = pytest.importorskip("keras")

    x, y = keras.Input((1, 4), name="x"), keras.Input((1, 4), name="y")
    double = keras.ops.multiply(2.0, x)
    attend = keras.layers.MultiHeadAttention(1, 2, name="attend")(double, value=y)
    found = keras_edges(tmp_path, keras.Model([x, y], attend, name="net"))
    (product,) = set(found) - {"net/x", "net/y", "net/attend"}
    assert found[product] == ["net/x"]
    assert found["net/attend"] == [product, "net/y"]


def test_keras_models_in_models(tmp_path: Path) -> None:
    """Of named inputs and of several, and in a Sequential: TensorBoard fails or loses edges."""
    keras = pytest.importorskip("keras")

    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    added = keras.layers.Add(name="sum")([a, b])
    inner = keras.Model({"a": a, "b": b}, {"out": added}, name="inner")
    x, y = keras.Input((4,), name="x"), keras.Input((4,), name="y")
    last = keras.layers.Dense(2, name="last")(inner({"a": x, "b": y})["out"])
    assert keras_edges(tmp_path / "net", keras.Model([x, y], last, name="net")) == {
        "net/x": [],
        "net/y": [],
        "net/inner/a": ["net/x"],
        "net/inner/b": ["net/y"],
        "net/inner/sum": ["net/inner/a", "net/inner/b"],
        "net/last": ["net/inner/sum"],
    }
    one = keras.Model(a, keras.layers.Dense(2, name="dense")(a), name="one")
    first = keras.layers.Dense(4, name="first")
    row = keras.Sequential([keras.Input((4,)), first, one], name="row")
    found = keras_edges(tmp_path / "row", row)
    assert found["row/one/a"] == ["row/first"]
    assert found["row/one/dense"] == ["row/one/a"]


def test_keras_models_without_layers_are_refused() -> None:
    keras = pytest.importorskip("keras")
    from tfevents.integrations.keras import keras_model_json

    class Custom(keras.Model):  # type: ignore[misc, name-defined]
        pass

    for model in (Custom(), 3):
        with pytest.raises(TypeError, match="Functional or Sequential"):
            keras_model_json(model)


# Without the framework


@pytest.mark.parametrize("name", ["torch", "jax", "onnx", "keras"])
def test_a_missing_framework_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"tfevents.integrations.{name}", raising=False)
    with pytest.raises(ImportError, match=f"need {name}: pip install {name}"):
        importlib.import_module(f"tfevents.integrations.{name}")

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tfevents import proto
from tfevents.compat import hparams as typed_api
from tfevents.values import hparams
from tfevents.values.hparams import HParams, to_hparam

api: Any = typed_api  # some tests call it with wrong types

START = "_hparams_/session_start_info"
EXPERIMENT = "_hparams_/experiment"
END = "_hparams_/session_end_info"


class Color(Enum):
    RED = "#f00"


class Level(IntEnum):
    HIGH = 3


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


def content(value: proto.Summary.Value) -> proto.HParamsPluginData:
    return proto.HParamsPluginData.FromString(value.metadata.plugin_data.content)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (0.5, 0.5),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.array(3.0), 3.0),
        (np.array([7]), 7),
        (Decimal("0.25"), 0.25),
        (Fraction(1, 4), 0.25),
        (True, True),
        (np.bool_(True), True),
        (np.array(False), False),
        ("adam", "adam"),
        (np.str_("adam"), "adam"),
        (b"adam", "adam"),
        ([1, 2], "[1, 2]"),
        ((1, 2), "[1, 2]"),
        ({"a": Color.RED, "b": np.int64(1)}, '{"a": "RED", "b": 1}'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (np.array([1.0, 2.0]), "[1.0, 2.0]"),
        (Color.RED, "RED"),
        (Level.HIGH, "HIGH"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (np.float32, "float32"),
        (np.dtype("float32"), "float32"),
        (len, "len"),
        (10**400, "1" + "0" * 400),
        (1 + 2j, "(1+2j)"),
    ],
    ids=repr,
)
def test_every_type_has_a_form(value: Any, expected: Any) -> None:
    found = to_hparam(value)
    assert found == expected
    assert type(found) is type(expected)


def test_a_large_array_is_shortened() -> None:
    found = to_hparam(np.arange(100_000))
    assert isinstance(found, str)
    assert len(found) < 200


def test_a_list_within_itself() -> None:
    data: list[Any] = [1]
    data.append(data)
    assert to_hparam(data) == "[1, [...]]"


def test_torch_values() -> None:
    torch = pytest.importorskip("torch")
    values = {
        "tensor": torch.tensor(2.5),
        "one": torch.tensor([3], requires_grad=False),
        "flag": torch.tensor(True),
        "dtype": torch.float32,
        "class": torch.nn.ReLU,
        "bfloat16": torch.tensor(0.5, dtype=torch.bfloat16),
    }
    assert HParams.from_data(values).hparams == {
        "tensor": 2.5,
        "one": 3,
        "flag": True,
        "dtype": "torch.float32",
        "class": "ReLU",
        "bfloat16": 0.5,
    }


def test_layout_of_a_session() -> None:
    session = HParams.from_data(
        {"lr": 0.1, "n": None, "deep": True, "opt": "sgd"},
        {"loss": np.float32(0.5)},
        domain={"lr": [0.1, 0.2], "deep": [True, False]},
    )
    values = session.to_field_values()
    assert [value.tag for value in values] == [EXPERIMENT, START, END]
    for value in values:
        assert value.metadata.plugin_data.plugin_name == "hparams"
        assert value.WhichOneof("value") is None
    experiment = content(values[0]).experiment
    assert [(x.name, x.type) for x in experiment.hparam_infos] == [
        ("lr", 3),
        ("deep", 2),
        ("opt", 1),
    ]
    allowed = [x.domain_discrete.values for x in experiment.hparam_infos]
    assert [x.number_value for x in allowed[0]] == [0.1, 0.2]
    assert [x.bool_value for x in allowed[1]] == [True, False]
    assert experiment.hparam_infos[2].WhichOneof("domain") is None
    assert [x.name.tag for x in experiment.metric_infos] == ["loss"]
    start = content(values[1]).session_start_info
    assert sorted(start.hparams) == ["deep", "lr", "opt"]
    assert start.hparams["deep"].WhichOneof("kind") == "bool_value"
    assert start.group_name == ""
    # field 4 of the plugin's message: the end, with status 1
    assert values[2].metadata.plugin_data.content == b"\x22\x02\x08\x01"
    assert dict(session.metrics) == {"loss": 0.5}


def test_tensorboards_form_has_an_empty_tensor() -> None:
    values = HParams.from_data({"a": 1}).to_tensor_values()
    for value in values:
        assert value.tensor.SerializeToString() == b"\x08\x01\x12\x02\x12\x00"  # DT_FLOAT, [0]


def test_session_gives_pairs_for_the_writer() -> None:
    pairs = hparams.session({"a": 1}, {"m": 2.0}, None)
    assert [tag for tag, _ in pairs] == [EXPERIMENT, START, END]
    assert [encode(tag) for tag, encode in pairs] == HParams.from_data(
        {"a": 1}, {"m": 2.0}
    ).to_field_values()


def test_the_callers_dict_is_not_kept() -> None:
    data = {"a": [1]}
    session = HParams.from_data(data)
    data["a"].append(2)
    data["b"] = []
    assert session.hparams == {"a": "[1]"}


def test_reading() -> None:
    session = HParams.from_data(
        {"lr": 0.1, "n": 3, "deep": True, "opt": "sgd"}, {"m": 1}, domain={"opt": ["sgd", "adam"]}
    )
    experiment, start, end = map(HParams.from_value, session.to_field_values())
    assert experiment.experiment == session.experiment
    assert start.hparams == {"lr": 0.1, "n": 3.0, "deep": True, "opt": "sgd"}
    assert type(start.hparams["deep"]) is bool
    assert end.end == session.end
    assert (start.experiment, end.start, experiment.hparams) == (None, None, {})


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([("a", 1)],), TypeError, "hparam_dict must be a dict; got list"),
        (({1: 2},), TypeError, "hparam_dict.*got 1 of int"),
        (({"a": 1}, [1]), TypeError, "metric_dict must be a dict"),
        (({"a": 1}, {2: 1.0}), TypeError, "metric_dict.*got 2 of int"),
        (({"a": 1}, {"m": "x"}), TypeError, "tag 'm'"),
        (({"a": 1}, {"m": [1, 2]}), ValueError, "tag 'm'"),
        (({"a": Unprintable()},), TypeError, "hparam 'a': Unprintable has no text"),
        (({"a": "\ud800"},), ValueError, "hparam 'a'"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        HParams.from_data(*arguments)


@pytest.mark.parametrize(
    "domain",
    [{"b": [1]}, {"a": 1}, {"a": "1"}, {"a": ["1"]}, {"a": [True]}, {"a": [None]}, [1]],
    ids=repr,
)
def test_bad_domains(domain: Any) -> None:
    with pytest.raises(TypeError, match="hparam_domain_discrete"):
        HParams.from_data({"a": 1}, domain=domain)


def test_a_metric_that_is_none_warns() -> None:
    with pytest.warns(UserWarning, match="'m' is None"):
        session = HParams.from_data({"a": 1}, {"m": None, "k": 1.0})
    assert dict(session.metrics) == {"k": 1.0}


@pytest.mark.parametrize(
    ("plugin_name", "data"), [("scalars", b""), ("hparams", b"\xff\xff"), ("", b"")]
)
def test_reading_something_else(plugin_name: str, data: bytes) -> None:
    value = proto.Summary.Value(tag="t")
    value.metadata.plugin_data.plugin_name = plugin_name
    value.metadata.plugin_data.content = data
    with pytest.raises(ValueError, match="tag 't'"):
        HParams.from_value(value)


def test_as_torch() -> None:
    torch_summary = pytest.importorskip("torch.utils.tensorboard.summary")
    values = {"lr": 0.1, "layers": 3, "opt": "sgd", "none": None}
    metrics = {"loss": 1.0, "acc": 0.5}
    domain = {"lr": [0.1, 0.2], "opt": ["sgd", "adam"]}
    ours = HParams.from_data(values, metrics, domain=domain).to_field_values()
    theirs = [summary.value[0] for summary in torch_summary.hparams(values, metrics, domain)]
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.tag == other.tag
        # a map has no order on the wire, so the messages are compared
        same = proto.Summary.Value.FromString(other.SerializeToString())
        assert content(mine) == content(same)


# TensorBoard's API


def test_group_is_a_hash_of_compact_json() -> None:
    summary = api.hparams_pb({"b": np.int32(2), "a": 0.5, "c": True}, start_time_secs=123.5)
    (value,) = summary.value
    start = content(value).session_start_info
    expected = hashlib.sha256(b'{"a":0.5,"b":2,"c":true}').hexdigest()
    assert (start.group_name, start.start_time_secs) == (expected, 123.5)
    assert value.tensor.SerializeToString() == b"\x08\x01\x12\x02\x12\x00"


def test_api_as_tensorboard() -> None:
    theirs = pytest.importorskip("tensorboard.plugins.hparams.api")

    def build(module: Any) -> list[Any]:
        keys = [
            module.HParam("lr", module.RealInterval(0.01, 0.1), "Rate", "how fast"),
            module.HParam("layers", module.IntInterval(2, 7)),
            module.HParam("opt", module.Discrete(["sgd", "adam"])),
            module.HParam("free"),
        ]
        metrics = [
            module.Metric("m", "train", "M", "text", module.Metric.VALIDATION),
            module.Metric("n"),
        ]
        values = dict(zip(keys, (0.02, 3, "adam", False), strict=True))
        return [
            module.hparams_config_pb(keys, metrics, 12.5),
            module.hparams_pb(values, "trial", 1.5),
            module.hparams_pb(values, start_time_secs=2.5),
        ]

    for ours, other in zip(build(api), build(theirs), strict=True):
        (mine,), (same,) = ours.value, proto.Summary.FromString(other.SerializeToString()).value
        assert content(mine) == content(same)
        mine.metadata.plugin_data.content = same.metadata.plugin_data.content
        assert mine.tag == same.tag
        assert mine.metadata == same.metadata
        assert mine.tensor == same.tensor


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: api.hparams_pb({"a": [1]}), TypeError, r"hparams\['a'\] = \[1\]"),
        (lambda: api.hparams_pb({"a": None}), TypeError, "unsupported type"),
        (lambda: api.hparams_pb({"a": 1, api.HParam("a"): 2}), ValueError, "multiple values.*'a'"),
        (lambda: api.hparams_pb({}, trial_id=12), TypeError, "`trial_id` should be a `str`"),
        (lambda: api.HParam("a", "domain"), ValueError, "not a domain"),
        (lambda: api.IntInterval(1.0, 2), TypeError, "min_value must be an int: 1.0"),
        (lambda: api.RealInterval(1.0, 2), TypeError, "max_value must be a float: 2"),
        (lambda: api.IntInterval(3, 2), ValueError, "3 > 2"),
        (lambda: api.Discrete([]), ValueError, "Empty domain with no dtype specified"),
        (lambda: api.Discrete([b""]), ValueError, "Unknown dtype"),
        (lambda: api.Discrete([1, "a"]), TypeError, r"isinstance\('a', int\)"),
        (lambda: api.Metric("m", dataset_type=7), ValueError, "invalid dataset type: 7"),
    ],
)
def test_api_errors(call: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_samples_lie_in_the_domain() -> None:
    assert api.IntInterval(2, 2).sample_uniform() == 2
    assert 0.5 <= api.RealInterval(0.5, 0.75).sample_uniform() <= 0.75
    assert api.Discrete(["b", "a"]).sample_uniform() in {"a", "b"}
    with pytest.raises(IndexError):
        api.Discrete([], dtype=int).sample_uniform()


def test_texts_of_domains() -> None:
    domain = api.Discrete([2, 1])
    assert (str(domain), repr(domain), domain.values) == ("{1, 2}", "Discrete([1, 2])", [1, 2])
    assert str(api.HParam("a", api.IntInterval(1, 2))) == "<HParam 'a': [1, 2]>"
    assert repr(api.RealInterval(0.5, 1.0)) == "RealInterval(0.5, 1.0)"

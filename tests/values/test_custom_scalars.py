from __future__ import annotations

from typing import Any

import pytest

from tfevents import proto
from tfevents.values.custom_scalars import CustomScalars

LAYOUT: dict[str, Any] = {
    "Taiwan": {"twse": ["Multiline", ["twse/0050", "twse/2330"]]},
    "USA": {
        "dow": ["Margin", ["dow/aaa", "dow/bbb", "dow/ccc"]],
        "nasdaq": ["Margin", ["n/a", "n/b", "n/c"]],
    },
}
# Layout.category = 2 { title = 1, chart = 2 { title = 1, multiline = 2 { tag = 1 } } }
ONE_LINE = b"\x12\x0c\x0a\x01c\x12\x07\x0a\x01x\x12\x02\x0a\x00"


def layout_of(value: proto.Summary.Value) -> proto.Layout:
    return proto.Layout.FromString(value.tensor.string_val[0])


def test_bytes() -> None:
    value = CustomScalars.from_data({"c": {"x": ["Multiline", [""]]}}).to_field_value()
    assert list(value.tensor.string_val) == [ONE_LINE]
    assert value.tag == "custom_scalars__config__"
    assert value.tensor.dtype == 7
    assert value.tensor.HasField("tensor_shape")
    assert not value.tensor.tensor_shape.dim
    assert value.metadata.SerializeToString() == b"\x0a\x10\x0a\x0ecustom_scalars"


def test_charts() -> None:
    layout = layout_of(CustomScalars.from_data(LAYOUT).to_tensor_value())
    taiwan, usa = layout.category
    assert (taiwan.title, usa.title) == ("Taiwan", "USA")
    assert list(taiwan.chart[0].multiline.tag) == ["twse/0050", "twse/2330"]
    (line,) = usa.chart[0].margin.series
    assert (line.value, line.lower, line.upper) == ("dow/aaa", "dow/bbb", "dow/ccc")
    assert [chart.title for chart in usa.chart] == ["dow", "nasdaq"]


def test_several_lines_of_a_margin_chart() -> None:
    value = CustomScalars.from_tags(list("abcdef"), kind="Margin").to_tensor_value()
    (category,) = layout_of(value).category
    assert (category.title, category.chart[0].title) == ("default", "untitled")
    lines = category.chart[0].margin.series
    assert [(x.value, x.lower, x.upper) for x in lines] == [("a", "b", "c"), ("d", "e", "f")]


def test_as_torch() -> None:
    torch_summary = pytest.importorskip("torch.utils.tensorboard.summary")
    theirs = torch_summary.custom_scalars(LAYOUT).value[0]
    expected = proto.Summary.Value.FromString(theirs.SerializeToString())
    assert CustomScalars.from_data(LAYOUT).to_field_value() == expected


def test_reading() -> None:
    found = CustomScalars.from_value(CustomScalars.from_data(LAYOUT).to_field_value())
    assert found.layout == {
        category: {title: (kind, tags) for title, (kind, tags) in charts.items()}
        for category, charts in LAYOUT.items()
    }


def test_a_message_is_taken_whole() -> None:
    layout = proto.Layout()
    category = layout.category.add(title="c", closed=True)
    category.chart.add(title="x").multiline.tag.append("a")
    assert layout_of(CustomScalars.from_data(layout).to_field_value()) == layout


def test_one_tag_is_no_list_of_letters() -> None:
    found = CustomScalars.from_data({"c": {"x": ["multiline", "loss"]}})
    assert found.layout == {"c": {"x": ("Multiline", ["loss"])}}


def test_an_unknown_kind_is_multiline_and_warns() -> None:
    with pytest.warns(UserWarning, match="chart 'x'.*'Pie'"):
        found = CustomScalars.from_data({"c": {"x": ["Pie", ["a"]]}})
    assert found.layout == {"c": {"x": ("Multiline", ["a"])}}


@pytest.mark.parametrize(
    ("layout", "error", "text"),
    [
        ([], TypeError, "the layout must be a dict; got list"),
        ({"c": []}, TypeError, "category 'c' must be a dict"),
        ({"c": {"x": []}}, TypeError, "chart 'x'"),
        ({"c": {"x": ["Margin"]}}, TypeError, "chart 'x'"),
        ({"c": {"x": [1, ["a"]]}}, TypeError, "chart 'x'"),
        ({"c": {"x": ["Multiline", 1]}}, TypeError, "chart 'x'"),
        ({"c": {"x": ["Multiline", [1]]}}, TypeError, "chart 'x'"),
        ({1: {}}, TypeError, "got 1"),
        ({"c": {"x": ["Margin", ["a", "b"]]}}, ValueError, "chart 'x'.*got 2"),
        ({"c": {"x": ["Margin", []]}}, ValueError, "chart 'x'.*got 0"),
        ({"c": {"\ud800": ["Multiline", []]}}, ValueError, "surrogates"),
    ],
)
def test_bad_input(layout: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        CustomScalars.from_data(layout)


def test_reading_something_else() -> None:
    value = proto.Summary.Value(tag="t", simple_value=1)
    with pytest.raises(ValueError, match="tag 't'"):
        CustomScalars.from_value(value)
    value.tensor.dtype = 7
    value.tensor.string_val.append(b"\xff")
    with pytest.raises(ValueError, match=r"tag 't'.*parsed"):
        CustomScalars.from_value(value)

"""The layout of the custom scalars dashboard: categories of charts, which name tags.

The format is TensorBoard's tensorboard/plugins/custom_scalar/layout.proto; the layout of a run is
one string tensor with a fixed tag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from tfevents import _warn, plugin, proto, tensor

__all__ = ["Category", "Chart", "ChartKind", "CustomScalars"]

ChartKind: TypeAlias = Literal["Multiline", "Margin"]

_KINDS: dict[str, ChartKind] = {"multiline": "Multiline", "margin": "Margin"}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        tags: of a Multiline chart, regular expressions: each matching tag is a line; of a Margin
            chart, three tags a line: the line, its lower and its upper edge.
    """

    title: str
    kind: ChartKind
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """Charts under one heading; `closed` folds them at first."""

    title: str
    charts: tuple[Chart, ...]
    closed: bool = False


@dataclass(frozen=True, slots=True)
class CustomScalars:
    """A whole dashboard."""

    categories: tuple[Category, ...]

    @classmethod
    def from_data(cls, layout: Any, *, tag: str = plugin.CUSTOM_SCALARS_TAG) -> CustomScalars:
        """Takes PyTorch's nested dict, or a Layout message of any origin.

        Args:
            layout: {category: {chart: ["Multiline" or "Margin", [tag, ...]]}}. Case does not
                matter; another word counts as Multiline, with a warning.
            tag: named in errors and warnings.

        Raises:
            TypeError: not of that form.
            ValueError: a Margin chart whose tags are not a multiple of three.
        """
        if hasattr(layout, "SerializeToString"):
            return cls(_read_layout(proto.coerce(proto.Layout, layout)))
        return cls(
            tuple(
                Category(
                    _text(title, "a category", tag),
                    tuple(
                        _chart(name, chart, tag)
                        for name, chart in _items(charts, f"category {title!r}", tag)
                    ),
                )
                for title, charts in _items(layout, "the layout", tag)
            )
        )

    @classmethod
    def from_tags(
        cls,
        tags: Sequence[str],
        *,
        kind: ChartKind = "Multiline",
        category: str = "default",
        title: str = "untitled",
    ) -> CustomScalars:
        """A dashboard of one chart.

        Raises:
            TypeError: tags or titles that are no str.
            ValueError: a Margin chart whose tags are not a multiple of three.
        """
        return cls.from_data({category: {title: (kind, tags)}})

    @property
    def layout(self) -> dict[str, dict[str, tuple[ChartKind, list[str]]]]:
        """PyTorch's nested dict. Of titles that are not unique, the last one counts."""
        return {
            category.title: {
                chart.title: (chart.kind, list(chart.tags)) for chart in category.charts
            }
            for category in self.categories
        }

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return len(self._message().SerializeToString())

    def to_tensor_value(
        self,
        tag: str = plugin.CUSTOM_SCALARS_TAG,
        *,
        display_name: str = "",
        description: str = "",
    ) -> proto.Summary.Value:
        """DT_STRING of shape []: the serialized Layout."""
        data = np.array(self._message().SerializeToString(), dtype=object)
        return proto.Summary.Value(
            tag=tag,
            tensor=tensor.to_proto(data),
            metadata=plugin.metadata(
                plugin.CUSTOM_SCALARS, display_name=display_name, description=description
            ),
        )

    def to_field_value(self, tag: str = plugin.CUSTOM_SCALARS_TAG) -> proto.Summary.Value:
        """The same value: layouts never had a field of their own."""
        return self.to_tensor_value(tag)

    def _message(self) -> proto.Layout:
        layout = proto.Layout()
        for category in self.categories:
            group = layout.category.add(title=category.title, closed=category.closed)
            for chart in category.charts:
                target = group.chart.add(title=chart.title)
                if chart.kind == "Multiline":
                    target.multiline.SetInParent()
                    target.multiline.tag.extend(chart.tags)
                    continue
                target.margin.SetInParent()
                for value, lower, upper in zip(*[iter(chart.tags)] * 3, strict=True):
                    target.margin.series.add(value=value, lower=lower, upper=upper)
        return layout

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> CustomScalars:
        """Decodes a layout.

        Raises:
            ValueError: no tensor of one string, or a string that is no Layout.
        """
        from google.protobuf.message import DecodeError

        found = tensor.from_proto(value.tensor) if value.HasField("tensor") else None
        if found is None or found.dtype.kind != "O" or found.size != 1:
            raise ValueError(f"tag {value.tag!r}: a layout is one string, and there is none")
        try:
            layout = proto.Layout.FromString(found.reshape(-1)[0])
        except DecodeError as error:
            raise ValueError(f"tag {value.tag!r}: the layout cannot be parsed") from error
        return cls(_read_layout(layout))


def _items(data: object, what: str, tag: str) -> list[tuple[Any, Any]]:
    if not isinstance(data, Mapping):
        raise TypeError(f"tag {tag!r}: {what} must be a dict; got {type(data).__name__}")
    return list(data.items())


def _text(data: object, what: str, tag: str) -> str:
    if not isinstance(data, str):
        raise TypeError(f"tag {tag!r}: {what} must be named by a str; got {data!r}")
    data.encode()  # UnicodeEncodeError is a ValueError
    return data


def _chart(title: object, data: object, tag: str) -> Chart:
    where = f"chart {title!r}"
    if not isinstance(data, (list, tuple)) or len(data) != 2:
        raise TypeError(f"tag {tag!r}: {where} must be [kind, tags]; got {data!r}")
    kind = _KINDS.get(_text(data[0], f"the kind of {where}", tag).lower())
    if kind is None:
        _warn.warn(
            tag,
            f"chart-kind {title!r}",
            f"tag {tag!r}: {where} is neither Multiline nor Margin but {data[0]!r}; it is drawn "
            f"as Multiline",
        )
        kind = "Multiline"
    tags = (data[1],) if isinstance(data[1], str) else data[1]
    if not isinstance(tags, Sequence):
        raise TypeError(f"tag {tag!r}: {where} needs a list of tags; got {type(tags).__name__}")
    names = tuple(_text(name, f"a tag of {where}", tag) for name in tags)
    if kind == "Margin" and (len(names) % 3 or not names):
        raise ValueError(
            f"tag {tag!r}: {where} needs three tags a line (value, lower, upper); got {len(names)}"
        )
    return Chart(_text(title, "a chart", tag), kind, names)


def _read_layout(layout: proto.Layout) -> tuple[Category, ...]:
    return tuple(
        Category(group.title, tuple(map(_read_chart, group.chart)), group.closed)
        for group in layout.category
    )


def _read_chart(chart: Any) -> Chart:
    if chart.WhichOneof("content") == "margin":
        lines = [(line.value, line.lower, line.upper) for line in chart.margin.series]
        return Chart(chart.title, "Margin", tuple(name for line in lines for name in line))
    return Chart(chart.title, "Multiline", tuple(chart.multiline.tag))

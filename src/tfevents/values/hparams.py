"""Hyperparameters: what varied in a session, how it ended, and the columns of its experiment.

Up to three values tell of a run, each with its own fixed tag and its message in the metadata: the
experiment (columns: hyperparameters and metrics), the session's start (its hyperparameters) and
its end. PyTorch writes the metadata alone; TensorBoard's own helper adds an empty tensor.

The format is TensorBoard's tensorboard/plugins/hparams/{plugin_data,api}.proto.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tfevents import _warn, arrays, plugin, proto, tensor
from tfevents.values._hparam import HParamValue, to_hparam

__all__ = [
    "STATUS_FAILURE",
    "STATUS_RUNNING",
    "STATUS_SUCCESS",
    "Experiment",
    "HParamInfo",
    "HParamValue",
    "HParams",
    "MetricInfo",
    "SessionEnd",
    "SessionStart",
    "group_name",
    "session",
    "to_hparam",
]

# The enum tensorboard.hparams.Status.
STATUS_SUCCESS = 1
STATUS_FAILURE = 2
STATUS_RUNNING = 3

# The enum tensorboard.hparams.DataType.
_STRING, _BOOL, _FLOAT64 = 1, 2, 3


@dataclass(frozen=True, slots=True)
class HParamInfo:
    """A column of hyperparameters: its type, and the values it may take.

    Attributes:
        type: 1 string, 2 bool, 3 number, 0 not told.
        discrete: every allowed value, or None.
        interval: the lowest and highest allowed number, or None.
    """

    name: str
    type: int = 0
    display_name: str = ""
    description: str = ""
    discrete: tuple[HParamValue, ...] | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A column of metrics: the scalar `tag` in the session's run, or in its sub-run `group`.

    Attributes:
        dataset_type: 1 training, 2 validation, 0 not told.
    """

    tag: str
    group: str = ""
    display_name: str = ""
    description: str = ""
    dataset_type: int = 0


@dataclass(frozen=True, slots=True)
class Experiment:
    """The columns of the dashboard. Times are seconds since the epoch; 0 is not told."""

    hparams: tuple[HParamInfo, ...] = ()
    metrics: tuple[MetricInfo, ...] = ()
    time_created_secs: float = 0.0
    name: str = ""
    description: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """The hyperparameters of a session; sessions of one group are shown as one."""

    hparams: Mapping[str, HParamValue | None]
    group_name: str = ""
    start_time_secs: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a session ended: one of the STATUS_ numbers, or 0."""

    status: int = STATUS_SUCCESS
    end_time_secs: float = 0.0


@dataclass(frozen=True, slots=True)
class HParams:
    """The parts of a session that are known: all three when fresh, one when read from a value.

    Attributes:
        metrics: final numbers of the session; they are written as plain scalars, not from here.
    """

    experiment: Experiment | None = None
    start: SessionStart | None = None
    end: SessionEnd | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_data(
        cls,
        hparams: object,
        metrics: object = None,
        *,
        domain: object = None,
        tag: str = "",
    ) -> HParams:
        """Makes a finished session, laid out as PyTorch's add_hparams does.

        Args:
            hparams: names and values of any type, see `to_hparam`; a None is left out.
            metrics: names and numbers; a None is left out, with a warning.
            domain: for some of `hparams`, the list of all values it may take.
            tag: named in errors, beside the key.

        Raises:
            TypeError: not dicts, a key that is no str, a metric that is no number, a domain that
                is no list of values of the hyperparameter's type.
            ValueError: a domain without its hyperparameter, a metric of several elements, text
                that UTF-8 cannot carry.
        """
        about = arrays.about(tag)
        values = _read(hparams, f"{about}hparam_dict")
        domains = _domains(domain, values, f"{about}hparam_domain_discrete")
        numbers = _numbers(metrics, f"{about}metric_dict")
        columns = tuple(
            HParamInfo(name, _type_of(value), discrete=domains.get(name))
            for name, value in values.items()
        )
        return cls(
            experiment=Experiment(columns, tuple(map(MetricInfo, numbers))),
            start=SessionStart(values),
            end=SessionEnd(),
            metrics=numbers,
        )

    @property
    def hparams(self) -> Mapping[str, HParamValue | None]:
        """The hyperparameters of the session; empty where its start is not known."""
        return self.start.hparams if self.start is not None else {}

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        columns = len(self.experiment.hparams) if self.experiment is not None else 0
        texts = (len(x) for pair in self.hparams.items() for x in pair if isinstance(x, str))
        return 256 + 64 * (columns + len(self.hparams) + len(self.metrics)) + sum(texts)

    def parts(self) -> list[tuple[str, Callable[[str], proto.Summary.Value]]]:
        """The tag of each part, and what makes its value of that tag in PyTorch's form."""
        return [(tag, partial(_value, data=content)) for tag, content in self._contents()]

    def to_field_values(self) -> list[proto.Summary.Value]:
        """One value for each part, with metadata and nothing else, as PyTorch writes them."""
        return [encode(tag) for tag, encode in self.parts()]

    def to_tensor_values(self) -> list[proto.Summary.Value]:
        """One value for each part, with an empty DT_FLOAT tensor, as TensorBoard writes them."""
        values = self.to_field_values()
        for value in values:
            value.tensor.CopyFrom(tensor.to_proto(np.zeros(0, np.float32)))
        return values

    def _contents(self) -> list[tuple[str, proto.HParamsPluginData]]:
        contents = []
        if self.experiment is not None:
            data = proto.HParamsPluginData()
            _fill_experiment(data.experiment, self.experiment)
            contents.append((plugin.HPARAMS_EXPERIMENT_TAG, data))
        if self.start is not None:
            data = proto.HParamsPluginData()
            _fill_start(data.session_start_info, self.start)
            contents.append((plugin.HPARAMS_SESSION_START_TAG, data))
        if self.end is not None:
            data = proto.HParamsPluginData()
            data.session_end_info.SetInParent()
            data.session_end_info.status = self.end.status
            data.session_end_info.end_time_secs = self.end.end_time_secs
            contents.append((plugin.HPARAMS_SESSION_END_TAG, data))
        return contents

    @classmethod
    def from_value(cls, value: proto.Summary.Value) -> HParams:
        """Decodes one part, of either form. Numbers come as float: the format knows no integers.

        Raises:
            ValueError: the metadata are of another plugin, or cannot be parsed.
        """
        from google.protobuf.message import DecodeError

        found = value.metadata.plugin_data
        if found.plugin_name != plugin.HPARAMS:
            raise ValueError(f"tag {value.tag!r}: the value is not one of the hparams plugin")
        try:
            data = proto.HParamsPluginData.FromString(found.content)
        except DecodeError as error:
            raise ValueError(f"tag {value.tag!r}: the hparams cannot be parsed") from error
        part = data.WhichOneof("data")
        if part == "experiment":
            return cls(experiment=_read_experiment(data.experiment))
        if part == "session_start_info":
            return cls(start=_read_start(data.session_start_info))
        if part == "session_end_info":
            end = data.session_end_info
            return cls(end=SessionEnd(end.status, end.end_time_secs))
        return cls()


def session(
    hparams: object, metrics: object = None, domain: object = None, *, tag: str = ""
) -> list[tuple[str, Callable[[str], proto.Summary.Value]]]:
    """The parts of `HParams.from_data` with their tags, ready to be written."""
    return HParams.from_data(hparams, metrics, domain=domain, tag=tag).parts()


# The caller's dicts


def _items(data: object, what: str) -> list[tuple[str, Any]]:
    if not isinstance(data, Mapping):
        raise TypeError(f"{what} must be a dict; got {type(data).__name__}")
    items = list(data.items())
    for key, _ in items:
        if not isinstance(key, str):
            raise TypeError(f"{what}: a key must be a str; got {key!r} of {type(key).__name__}")
    return items


def _read(data: object, what: str) -> dict[str, HParamValue]:
    found = ((key, to_hparam(value, name=key)) for key, value in _items(data, what))
    return {key: value for key, value in found if value is not None}


def _numbers(data: object, what: str) -> dict[str, float]:
    numbers = {}
    for key, value in _items({} if data is None else data, what):
        if value is None:
            _warn.warn(
                key, "metric-none", f"{what}: the metric {key!r} is None and is left out"
            )
        else:
            numbers[key] = arrays.scalar(value, tag=key)
    return numbers


def _domains(
    data: object, values: Mapping[str, HParamValue], what: str
) -> dict[str, tuple[HParamValue, ...]]:
    domains: dict[str, tuple[HParamValue, ...]] = {}
    for key, items in _items({} if data is None else data, what):
        if key not in values:
            raise TypeError(f"{what}[{key!r}]: there is no hyperparameter of that name")
        if not isinstance(items, (list, tuple)):
            raise TypeError(f"{what}[{key!r}] must be a list; got {type(items).__name__}")
        wanted = _type_of(values[key])
        found = [to_hparam(item, name=key) for item in items]
        for item, kept in zip(items, found, strict=True):
            if kept is None or _type_of(kept) != wanted:
                raise TypeError(
                    f"{what}[{key!r}] must be a list of values like {values[key]!r}; got {item!r}"
                )
        domains[key] = tuple(kept for kept in found if kept is not None)
    return domains


def _type_of(value: HParamValue) -> int:
    if isinstance(value, bool):
        return _BOOL
    return _STRING if isinstance(value, str) else _FLOAT64


def group_name(hparams: Mapping[str, HParamValue]) -> str:
    """TensorBoard's name for sessions of equal hyperparameters: 64 hexadecimal digits."""
    compact = json.dumps(dict(hparams), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(compact.encode()).hexdigest()


# Messages


def _value(tag: str, data: proto.HParamsPluginData) -> proto.Summary.Value:
    content = data.SerializeToString(deterministic=True)
    return proto.Summary.Value(tag=tag, metadata=plugin.metadata(plugin.HPARAMS, content))


def _set(target: Any, value: HParamValue | None) -> None:
    if value is None:
        target.null_value = 0
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, str):
        target.string_value = value
    else:
        target.number_value = value


def _get(source: Any) -> Any:
    kind = source.WhichOneof("kind")
    if kind == "list_value":
        return [_get(item) for item in source.list_value.values]
    if kind == "struct_value":
        return {key: _get(item) for key, item in source.struct_value.fields.items()}
    return None if kind in (None, "null_value") else getattr(source, kind)


def _fill_start(target: Any, start: SessionStart) -> None:
    target.SetInParent()
    target.group_name = start.group_name
    target.start_time_secs = start.start_time_secs
    for name, value in start.hparams.items():
        _set(target.hparams[name], value)


def _read_start(source: Any) -> SessionStart:
    hparams = {name: _get(value) for name, value in source.hparams.items()}
    return SessionStart(hparams, source.group_name, source.start_time_secs)


def _fill_experiment(target: Any, experiment: Experiment) -> None:
    target.SetInParent()
    for name in ("time_created_secs", "name", "description", "user"):
        setattr(target, name, getattr(experiment, name))
    for column in experiment.hparams:
        info = target.hparam_infos.add(
            name=column.name,
            type=column.type,
            display_name=column.display_name,
            description=column.description,
        )
        if column.discrete is not None:
            info.domain_discrete.SetInParent()
            for value in column.discrete:
                _set(info.domain_discrete.values.add(), value)
        elif column.interval is not None:
            info.domain_interval.SetInParent()
            info.domain_interval.min_value, info.domain_interval.max_value = column.interval
    for metric in experiment.metrics:
        info = target.metric_infos.add(
            display_name=metric.display_name,
            description=metric.description,
            dataset_type=metric.dataset_type,
        )
        info.name.SetInParent()
        info.name.tag, info.name.group = metric.tag, metric.group


def _read_experiment(source: Any) -> Experiment:
    return Experiment(
        tuple(map(_read_column, source.hparam_infos)),
        tuple(
            MetricInfo(
                metric.name.tag,
                metric.name.group,
                metric.display_name,
                metric.description,
                metric.dataset_type,
            )
            for metric in source.metric_infos
        ),
        source.time_created_secs,
        source.name,
        source.description,
        source.user,
    )


def _read_column(info: Any) -> HParamInfo:
    domain = info.WhichOneof("domain")
    discrete = interval = None
    if domain == "domain_discrete":
        discrete = tuple(_get(value) for value in info.domain_discrete.values)
    elif domain == "domain_interval":
        interval = (info.domain_interval.min_value, info.domain_interval.max_value)
    return HParamInfo(
        info.name, info.type, info.display_name, info.description, discrete, interval
    )

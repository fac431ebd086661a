"""TensorBoard's hparams API (`tensorboard.plugins.hparams.api`), without TensorBoard.

`hparams` and `hparams_config` write to the default writer of `tfevents.summary`, at step 0; their
`_pb` twins return Summary messages. Names, defaults and errors are TensorBoard's.
"""

from __future__ import annotations

import random as random_module
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tfevents import proto
from tfevents.values.hparams import (
    Experiment,
    HParamInfo,
    HParams,
    HParamValue,
    MetricInfo,
    SessionStart,
    group_name,
)

__all__ = [
    "Discrete",
    "Domain",
    "HParam",
    "IntInterval",
    "Metric",
    "RealInterval",
    "hparams",
    "hparams_config",
    "hparams_config_pb",
    "hparams_pb",
]

_TYPES: dict[type, int] = {str: 1, bool: 2, int: 3, float: 3}


class Domain(ABC):
    """The values that a hyperparameter may take, all of one type."""

    @property
    @abstractmethod
    def dtype(self) -> type:
        """One of float, int, str and bool."""

    @abstractmethod
    def sample_uniform(self, rng: Any = random_module) -> Any:
        """A random value; `rng` is a `random.Random`.

        Raises:
            IndexError: there is no value.
        """

    @abstractmethod
    def info(self, name: str, display_name: str, description: str) -> HParamInfo:
        """The column of a hyperparameter with this domain."""


class _Interval(Domain):
    _type: type

    def __init__(self, min_value: Any = None, max_value: Any = None) -> None:
        """A range that includes both ends.

        Raises:
            TypeError: an end of another type.
            ValueError: min_value > max_value.
        """
        for name, value in (("min_value", min_value), ("max_value", max_value)):
            if not isinstance(value, self._type):
                article = "an" if self._type is int else "a"
                raise TypeError(f"{name} must be {article} {self._type.__name__}: {value!r}")
        if min_value > max_value:
            raise ValueError(f"{min_value!r} > {max_value!r}")
        self._ends = (min_value, max_value)

    def __str__(self) -> str:
        return f"[{self._ends[0]}, {self._ends[1]}]"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._ends[0]!r}, {self._ends[1]!r})"

    @property
    def dtype(self) -> type:
        """The type of the values."""
        return self._type

    @property
    def min_value(self) -> Any:
        """The lower end."""
        return self._ends[0]

    @property
    def max_value(self) -> Any:
        """The upper end."""
        return self._ends[1]

    def info(self, name: str, display_name: str, description: str) -> HParamInfo:
        """The column of a hyperparameter with this domain."""
        return HParamInfo(
            name, _TYPES[self._type], display_name, description, interval=self._ends
        )


class IntInterval(_Interval):
    """All integers from min_value to max_value."""

    _type = int

    def sample_uniform(self, rng: Any = random_module) -> Any:
        """A random integer of the interval."""
        return rng.randint(*self._ends)


class RealInterval(_Interval):
    """All real numbers from min_value to max_value."""

    _type = float

    def sample_uniform(self, rng: Any = random_module) -> Any:
        """A random number of the interval."""
        return rng.uniform(*self._ends)


class Discrete(Domain):
    """The values listed, kept in sorted order."""

    def __init__(self, values: Iterable[Any], dtype: type | None = None) -> None:
        """Takes the values; their type is that of the first one, unless given.

        Raises:
            TypeError: a value of another type.
            ValueError: no value and no type, or a type that is not int, float, bool or str.
        """
        given = list(values)
        if dtype is None:
            if not given:
                raise ValueError("Empty domain with no dtype specified")
            dtype = type(given[0])
        if dtype not in _TYPES:
            raise ValueError(f"Unknown dtype: {dtype!r}")
        for value in given:
            if not isinstance(value, dtype):
                raise TypeError(f"dtype mismatch: not isinstance({value!r}, {dtype.__name__})")
        self._dtype = dtype
        self._values = sorted(given)

    def __str__(self) -> str:
        return "{" + ", ".join(map(repr, self._values)) + "}"

    def __repr__(self) -> str:
        return f"Discrete({self._values!r})"

    @property
    def dtype(self) -> type:
        """The type of the values."""
        return self._dtype

    @property
    def values(self) -> list[Any]:
        """The values, sorted; a copy."""
        return list(self._values)

    def sample_uniform(self, rng: Any = random_module) -> Any:
        """One of the values."""
        return rng.choice(self._values)

    def info(self, name: str, display_name: str, description: str) -> HParamInfo:
        """The column of a hyperparameter with this domain."""
        return HParamInfo(
            name, _TYPES[self._dtype], display_name, description, discrete=tuple(self._values)
        )


class HParam:
    """A hyperparameter as such, without a value; it can be a key of `hparams`."""

    def __init__(
        self,
        name: str,
        domain: Domain | None = None,
        display_name: str | None = None,
        description: str | None = None,
    ) -> None:
        """Names a hyperparameter; the description is Markdown.

        Raises:
            ValueError: the domain is none.
        """
        if domain is not None and not isinstance(domain, Domain):
            raise ValueError(f"not a domain: {domain!r}")
        self._name = name
        self._domain = domain
        self._display_name = display_name
        self._description = description

    def __str__(self) -> str:
        return f"<HParam {self._name!r}: {self._domain}>"

    def __repr__(self) -> str:
        return (
            f"HParam(name={self._name!r}, domain={self._domain!r}, "
            f"display_name={self._display_name!r}, description={self._description!r})"
        )

    @property
    def name(self) -> str:
        """Unique in the experiment."""
        return self._name

    @property
    def domain(self) -> Domain | None:
        """The values it may take, if known."""
        return self._domain

    @property
    def display_name(self) -> str | None:
        """Shown instead of the name."""
        return self._display_name

    @property
    def description(self) -> str | None:
        """Markdown."""
        return self._description

    def info(self) -> HParamInfo:
        """Its column of the dashboard."""
        texts = (self._display_name or "", self._description or "")
        if self._domain is None:
            return HParamInfo(self._name, 0, *texts)
        return self._domain.info(self._name, *texts)


class Metric:
    """A scalar tag that the dashboard shows for each session."""

    TRAINING = 1
    VALIDATION = 2

    def __init__(
        self,
        tag: str,
        group: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        dataset_type: int | None = None,
    ) -> None:
        """Names a metric; `group` is the sub-run, below the session's, that has the scalars.

        Raises:
            ValueError: a dataset_type other than None, TRAINING and VALIDATION.
        """
        if dataset_type not in (None, Metric.TRAINING, Metric.VALIDATION):
            raise ValueError(f"invalid dataset type: {dataset_type!r}")
        self._info = MetricInfo(
            tag, group or "", display_name or "", description or "", dataset_type or 0
        )

    def info(self) -> MetricInfo:
        """Its column of the dashboard."""
        return self._info

    def as_proto(self) -> proto.MetricInfo:
        """The MetricInfo message."""
        (value,) = HParams(Experiment(metrics=(self._info,))).to_field_values()
        content = proto.HParamsPluginData.FromString(value.metadata.plugin_data.content)
        return content.experiment.metric_infos[0]


def hparams(
    hparams: Mapping[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None
) -> Any:
    """Writes the hyperparameters of a session to the default writer.

    Returns:
        Whether anything was written.

    Raises:
        TypeError, ValueError: see `hparams_pb`.
    """
    return _write(hparams_pb(hparams, trial_id, start_time_secs))


def hparams_pb(
    hparams: Mapping[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None
) -> proto.Summary:
    """The Summary of a session's hyperparameters.

    Args:
        hparams: bool, int, float, str or NumPy scalars, by name or by `HParam`.
        trial_id: groups sessions; by default a hash of the hyperparameters.
        start_time_secs: seconds since the epoch; by default now.

    Raises:
        TypeError: a value of another type, or a trial_id that is no str.
        ValueError: two values for one name.
    """
    values: dict[str, Any] = {}
    for key, value in hparams.items():
        name = key.name if isinstance(key, HParam) else key
        if name in values:
            raise ValueError(f"multiple values specified for hparam {name!r}")
        values[name] = value.item() if isinstance(value, np.generic) else value
    if trial_id is not None and not isinstance(trial_id, str):
        raise TypeError(f"`trial_id` should be a `str`, but got: {trial_id!r}")
    for name, value in values.items():
        if not isinstance(value, (bool, int, float, str)):
            raise TypeError(f"hparams[{name!r}] = {value!r}, of unsupported type {type(value)!r}")
    kept: dict[str, HParamValue | None] = {name: values[name] for name in sorted(values)}
    group = group_name(values) if trial_id is None else trial_id
    start = time.time() if start_time_secs is None else start_time_secs
    return _summary(HParams(start=SessionStart(kept, group, start)))


def hparams_config(
    hparams: Iterable[HParam], metrics: Iterable[Metric], time_created_secs: float | None = None
) -> Any:
    """Writes the columns of an experiment to the default writer.

    Returns:
        Whether anything was written.
    """
    return _write(hparams_config_pb(hparams, metrics, time_created_secs))


def hparams_config_pb(
    hparams: Iterable[HParam], metrics: Iterable[Metric], time_created_secs: float | None = None
) -> proto.Summary:
    """The Summary of an experiment; `time_created_secs` is in seconds since the epoch."""
    return _summary(
        HParams(
            Experiment(
                tuple(hparam.info() for hparam in hparams),
                tuple(metric.info() for metric in metrics),
                time_created_secs or 0.0,
            )
        )
    )


def _summary(session: HParams) -> proto.Summary:
    return proto.Summary(value=session.to_tensor_values())


def _write(summary: proto.Summary) -> Any:
    from tfevents.summary import experimental

    return experimental.write_raw_pb(summary.SerializeToString(), step=0)

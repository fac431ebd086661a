"""Series as tables: pandas, Arrow and Polars, in long and in wide form.

    long    run, tag, step, wall_time, value: one row for each point
    wide    run, step, and a column for each tag: one row for each step of a run

Steps stay int64. The table libraries are optional and imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfevents.kinds import SERIES, checked

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from tfevents.series import Series

__all__ = ["Frames", "need"]

# The kinds whose values Arrow and Polars can hold.
_PLAIN = ("scalars", "texts")


class Frames:
    """What has runs can become a table.

    `keep` is that of the series. The wide form has room for one point a step only, so where steps
    repeat it needs keep="first" or keep="last".
    """

    def _named_series(self, kind: str, keep: str) -> Iterator[tuple[str, Series]]:
        """The name of its run and the series, for all series of a kind."""
        raise NotImplementedError

    def to_pandas(
        self, kind: str = "scalars", *, keep: str = "all", wide: bool = False
    ) -> pandas.DataFrame:
        """A DataFrame. Values of kinds other than scalars and texts are objects.

        Args:
            kind: one of `tfevents.logdir.KINDS`, but not "graphs".
            keep: "all" points, or the "first" or "last" of each step.
            wide: tags as columns and (run, step) as the index.

        Raises:
            ImportError: pandas is not installed.
            ValueError: an unknown kind; repeated steps in the wide form with keep="all".
        """
        pd = need("pandas", "pandas")
        checked(kind, SERIES)
        if not wide:
            long = _long(self._named_series(kind, keep), kind)
            return pd.DataFrame({
                "run": long.run_names(),
                "tag": long.tag_names(),
                "step": long.steps,
                "wall_time": long.wall_times,
                "value": long.values,
            })  # fmt: skip
        table = _wide(self._named_series(kind, keep), kind)
        index = pd.MultiIndex.from_arrays([table.run_names(), table.steps], names=["run", "step"])
        frame = pd.DataFrame(table.columns, index=index)
        frame.columns.name = "tag"
        return frame

    def to_arrow(
        self, kind: str = "scalars", *, keep: str = "all", wide: bool = False
    ) -> pyarrow.Table:
        """An Arrow table. In the wide form a missing value is null.

        Args, Raises: as `to_pandas`, but only kinds "scalars" and "texts".
        """
        pa = need("pyarrow", "arrow")
        kind_type = pa.float64() if checked(kind, _PLAIN) == "scalars" else pa.string()

        def names(names: list[str], index: npt.NDArray[np.int32]) -> Any:
            return pa.array(names, pa.string()).take(pa.array(index))

        if not wide:
            long = _long(self._named_series(kind, keep), kind)
            return pa.table({
                "run": names(long.runs, long.run),
                "tag": names(long.tags, long.tag),
                "step": pa.array(long.steps, pa.int64()),
                "wall_time": pa.array(long.wall_times, pa.float64()),
                "value": pa.array(long.values, kind_type),
            })  # fmt: skip
        table = _wide(self._named_series(kind, keep), kind)
        columns = {"run": names(table.runs, table.run), "step": pa.array(table.steps, pa.int64())}
        _refuse_clash(columns, table)
        for tag, column in table.columns.items():
            columns[tag] = pa.array(column, kind_type, mask=~table.present[tag])
        return pa.table(columns)

    def to_polars(
        self, kind: str = "scalars", *, keep: str = "all", wide: bool = False
    ) -> polars.DataFrame:
        """A Polars DataFrame. In the wide form a missing value is null.

        Args, Raises: as `to_arrow`.
        """
        pl = need("polars", "polars")
        kind_type = pl.Float64 if checked(kind, _PLAIN) == "scalars" else pl.String

        def names(names: list[str], index: npt.NDArray[np.int32]) -> Any:
            return pl.Series(values=names, dtype=pl.String).gather(index)

        if not wide:
            long = _long(self._named_series(kind, keep), kind)
            return pl.DataFrame({
                "run": names(long.runs, long.run),
                "tag": names(long.tags, long.tag),
                "step": long.steps,
                "wall_time": long.wall_times,
                "value": pl.Series(values=long.values, dtype=kind_type),
            })  # fmt: skip
        table = _wide(self._named_series(kind, keep), kind)
        columns = {"run": names(table.runs, table.run), "step": pl.Series(values=table.steps)}
        _refuse_clash(columns, table)
        for tag, column in table.columns.items():
            absent = pl.Series(values=~table.present[tag])
            # of an array of objects polars would make a column of objects
            values = column if kind == "scalars" else column.tolist()
            columns[tag] = pl.Series(values=values, dtype=kind_type).set(absent, None)
        return pl.DataFrame(columns)


def need(module: str, extra: str) -> Any:
    """An optional package.

    Raises:
        ImportError: it is not installed; the text names the extra that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs {module}: pip install 'tfevents[{extra}]' ({error})", name=module
        ) from error


class _Long(NamedTuple):
    """A row for each point; `run` and `tag` index the names."""

    runs: list[str]
    tags: list[str]
    run: npt.NDArray[np.int32]
    tag: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int64]
    wall_times: npt.NDArray[np.float64]
    values: npt.NDArray[Any]

    def run_names(self) -> npt.NDArray[np.object_]:
        return _objects(self.runs)[self.run]

    def tag_names(self) -> npt.NDArray[np.object_]:
        return _objects(self.tags)[self.tag]


class _Wide(NamedTuple):
    """A row for each step of a run; `present` tells where a column has a value."""

    runs: list[str]
    run: npt.NDArray[np.int32]
    steps: npt.NDArray[np.int64]
    columns: dict[str, npt.NDArray[Any]]
    present: dict[str, npt.NDArray[np.bool_]]

    def run_names(self) -> npt.NDArray[np.object_]:
        return _objects(self.runs)[self.run]


def _long(series: Iterator[tuple[str, Series]], kind: str) -> _Long:
    found = list(series)
    runs: dict[str, int] = {}
    tags: dict[str, int] = {}
    run = [runs.setdefault(name, len(runs)) for name, _ in found]
    tag = [tags.setdefault(each.tag, len(tags)) for _, each in found]
    counts = [len(each) for _, each in found]
    return _Long(
        list(runs),
        list(tags),
        np.repeat(np.array(run, np.int32), counts),
        np.repeat(np.array(tag, np.int32), counts),
        np.concatenate([np.zeros(0, np.int64), *(each.steps for _, each in found)]),
        np.concatenate([np.zeros(0), *(each.wall_times for _, each in found)]),
        np.concatenate([_column(kind, []), *(_column(kind, each.values) for _, each in found)]),
    )


def _wide(series: Iterator[tuple[str, Series]], kind: str) -> _Wide:
    by_run: dict[str, list[Series]] = {}
    for name, each in series:
        by_run.setdefault(name, []).append(each)
    tags = sorted({each.tag for group in by_run.values() for each in group})
    steps = [np.unique(np.concatenate([one.steps for one in group])) for group in by_run.values()]
    total = sum(map(len, steps))
    empty = np.full(total, np.nan) if kind == "scalars" else np.full(total, None)
    table = _Wide(
        list(by_run),
        np.repeat(np.arange(len(by_run), dtype=np.int32), [len(each) for each in steps]),
        np.concatenate([np.zeros(0, np.int64), *steps]),
        {tag: empty.copy() for tag in tags},
        {tag: np.zeros(total, bool) for tag in tags},
    )
    first = 0
    for name, group, rows in zip(by_run, by_run.values(), steps, strict=True):
        for each in group:
            where = first + np.searchsorted(rows, each.steps)
            _refuse_repeats(name, each)
            table.columns[each.tag][where] = _column(kind, each.values)
            table.present[each.tag][where] = True
        first += len(rows)
    return table


def _column(kind: str, values: Any) -> npt.NDArray[Any]:
    if kind == "scalars":
        return np.asarray(values, np.float64)
    return _objects([str(value) for value in values] if kind == "texts" else values)


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    """One by one, since numpy would look into those that are arrays themselves."""
    column = np.empty(len(values), object)
    for place, value in enumerate(values):
        column[place] = value
    return column


def _refuse_repeats(run: str, series: Series) -> None:
    steps, counts = np.unique(series.steps, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"run {run!r}, tag {series.tag!r}: step {steps[counts > 1][0]} is there "
            f"{counts.max()} times; say keep='first' or keep='last' for a wide table"
        )


def _refuse_clash(columns: dict[str, Any], table: _Wide) -> None:
    for name in columns:
        if name in table.columns:
            raise ValueError(f"the tag {name!r} has the name of another column of a wide table")

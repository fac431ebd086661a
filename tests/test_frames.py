from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import tfevents

BIG = 2**53 + 1  # the first integer that float64 has no number for


@pytest.fixture
def log(tmp_path: Path) -> tfevents.LogDir:
    with tfevents.SummaryWriter(tmp_path / "a") as writer:
        writer.add_scalar("loss", 0.5, 1, walltime=11.0)
        writer.add_scalar("loss", 0.25, BIG, walltime=12.0)
        writer.add_scalar("acc", 2.0, 1, walltime=11.5)
        writer.add_text("note", "héllo", 3)
    with tfevents.SummaryWriter(tmp_path / "b") as writer:
        writer.add_scalar("loss", 1.0, 2, walltime=21.0)
        writer.add_scalar("loss", 3.0, 2, walltime=22.0)
    return tfevents.read(tmp_path)


LONG = [
    ("a", "acc", 1, 11.5, 2.0),
    ("a", "loss", 1, 11.0, 0.5),
    ("a", "loss", BIG, 12.0, 0.25),
    ("b", "loss", 2, 21.0, 1.0),
    ("b", "loss", 2, 22.0, 3.0),
]
WIDE = [("a", 1, 2.0, 0.5), ("a", BIG, None, 0.25), ("b", 2, None, 3.0)]


def pandas_rows(frame: Any) -> list[tuple[Any, ...]]:
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return list(rows)


def test_pandas_long(log: tfevents.LogDir) -> None:
    pytest.importorskip("pandas")
    frame = log.to_pandas()
    assert list(frame.columns) == ["run", "tag", "step", "wall_time", "value"]
    assert frame["step"].dtype == "int64"
    assert frame["value"].dtype == "float64"
    assert pandas_rows(frame) == LONG
    assert pandas_rows(log.to_pandas(keep="first")) == LONG[:4]
    assert pandas_rows(log["b"].to_pandas(keep="last")) == LONG[4:]


def test_pandas_wide(log: tfevents.LogDir) -> None:
    pytest.importorskip("pandas")
    frame = log.to_pandas(keep="last", wide=True)
    assert frame.index.names == ["run", "step"]
    assert frame.index.get_level_values("step").dtype == "int64"
    assert list(frame.columns) == ["acc", "loss"]
    assert pandas_rows(frame.reset_index()) == WIDE
    assert frame.loc[("a", BIG), "loss"] == 0.25


def test_arrow(log: tfevents.LogDir) -> None:
    pa = pytest.importorskip("pyarrow")
    table = log.to_arrow()
    assert table.schema.types == [pa.string(), pa.string(), pa.int64(), pa.float64(), pa.float64()]
    assert [tuple(row.values()) for row in table.to_pylist()] == LONG
    wide = log.to_arrow(keep="last", wide=True)
    assert wide.column_names == ["run", "step", "acc", "loss"]
    assert [tuple(row.values()) for row in wide.to_pylist()] == WIDE


def test_polars(log: tfevents.LogDir) -> None:
    pl = pytest.importorskip("polars")
    frame = log.to_polars()
    assert frame.dtypes == [pl.String, pl.String, pl.Int64, pl.Float64, pl.Float64]
    assert frame.rows() == LONG
    wide = log.to_polars(keep="last", wide=True)
    assert wide.columns == ["run", "step", "acc", "loss"]
    assert wide.rows() == WIDE


@pytest.mark.parametrize(
    ("library", "method"),
    [("pandas", "to_pandas"), ("pyarrow", "to_arrow"), ("polars", "to_polars")],
)
def test_texts_are_strings_everywhere(log: tfevents.LogDir, library: str, method: str) -> None:
    pytest.importorskip(library)
    long = getattr(log, method)("texts")
    wide = getattr(log, method)("texts", wide=True)
    tag = "note/text_summary"  # what torch makes of it
    if library == "pandas":
        assert long["value"].tolist() == ["héllo"]
        assert wide[tag].tolist() == ["héllo"]
    else:
        assert list(long["value"].to_pylist() if library == "pyarrow" else long["value"]) == [
            "héllo"
        ]
        assert list(wide[tag].to_pylist() if library == "pyarrow" else wide[tag]) == ["héllo"]


def test_an_empty_log_has_the_same_columns(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = tfevents.read(tmp_path).to_pandas()
    assert list(frame.columns) == ["run", "tag", "step", "wall_time", "value"]
    assert len(frame) == len(tfevents.read(tmp_path).to_pandas(wide=True)) == 0


def test_repeated_steps_have_no_place_in_a_wide_table(log: tfevents.LogDir) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"run 'b', tag 'loss': step 2 .* keep='first'"):
        log.to_pandas(wide=True)


@pytest.mark.parametrize("kind", ["graphs", "scalar"])
def test_unknown_kinds_are_named(log: tfevents.LogDir, kind: str) -> None:
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=f"not '{kind}'"):
        log.to_pandas(kind)


def test_arrow_refuses_what_it_cannot_hold(log: tfevents.LogDir) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="kind must be one of scalars, texts, not 'images'"):
        log.to_arrow("images")


@pytest.mark.parametrize(
    ("library", "method"),
    [("pandas", "to_pandas"), ("pyarrow", "to_arrow"), ("polars", "to_polars")],
)
def test_a_wrong_kind_names_the_near_one_also_where_nothing_was_logged(
    tmp_path: Path, library: str, method: str
) -> None:
    pytest.importorskip(library)
    with pytest.raises(ValueError, match=r"not 'scalar'; did you mean 'scalars'\?"):
        getattr(tfevents.read(tmp_path), method)("scalar")


def test_a_wide_table_of_texts_has_gaps(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    with tfevents.SummaryWriter(tmp_path) as writer:
        writer.add_text("b", "one", 1)
        writer.add_text("a", "two", 2)
    wide = tfevents.read(tmp_path).to_polars("texts", wide=True)
    assert wide.columns == ["run", "step", "a/text_summary", "b/text_summary"]
    assert wide.rows() == [(".", 1, None, "one"), (".", 2, "two", None)]


@pytest.mark.parametrize(
    ("module", "method", "extra"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("pyarrow", "to_arrow", "arrow"),
        ("polars", "to_polars", "polars"),
        ("matplotlib", "plot", "plot"),
    ],
)
def test_a_missing_library_names_its_extra(
    log: tfevents.LogDir, monkeypatch: pytest.MonkeyPatch, module: str, method: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"tfevents\[{extra}\]"):
        getattr(log["a"], method)()

"""`export`: the files it makes, read by other programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli_logs import NAME, TIME, command, event_pb2, header, scalar, summary_pb2, write
from PIL import Image

from tfevents.cli._logs import quoted

EVIL = "../../e vil\x00/é"


def image(tag: str, step: int) -> tuple[Any, bytes]:
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2), (1, 2, 3)).save(buffer, "PNG")
    data = buffer.getvalue()
    picture = summary_pb2.Summary.Image(height=2, width=3, encoded_image_string=data)
    value = summary_pb2.Summary.Value(tag=tag, image=picture)
    return event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[value])), data


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Runs "001" (a number to those who guess) and "x/y"."""
    write(tmp_path / "log" / "001" / NAME, [header(), scalar("loss", 0, 0.5), scalar("a,b", 2, 3)])
    write(tmp_path / "log" / "x" / "y" / NAME,
          [header(), scalar("loss", 1, float("nan")), image(EVIL, 4)[0], image(EVIL, 4)[0]])
    return tmp_path / "log"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_csv(log: Path, jobs: str) -> None:
    done = command("export", log, "--jobs", jobs)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows == [
        ["run", "kind", "tag", "step", "wall_time", "value"],
        ["001", "scalars", "a,b", "2", str(TIME + 2), "3.0"],
        ["001", "scalars", "loss", "0", str(TIME), "0.5"],
        ["x/y", "scalars", "loss", "1", str(TIME + 1), "nan"],
    ]
    assert done.returncode == 0


def test_jsonl(log: Path, tmp_path: Path) -> None:
    done = command("export", log, "-o", tmp_path / "out.jsonl", "--media", tmp_path / "media")
    assert done.returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["value"] for row in rows[:3]] == [3.0, 0.5, "NaN"]
    assert rows[3]["value"] == {"width": 3, "height": 2, "images": 1}
    assert command("export", log, "--json").stdout.count("\n") == 5
    again = command("export", log, "-o", tmp_path / "out.jsonl")
    assert again.returncode == 2


def test_media_with_csv_brings_all_kinds(log: Path, tmp_path: Path) -> None:
    plain = command("export", log, "-o", tmp_path / "plain.csv")
    assert plain.returncode == 0
    done = command("export", log, "-o", tmp_path / "out.csv", "--media", tmp_path / "media")
    assert done.returncode == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").open()))
    assert EVIL.replace("\0", r"\x00") in {row["tag"] for row in rows if row["kind"] == "images"}
    assert {row["kind"] for row in csv.DictReader((tmp_path / "plain.csv").open())} == {"scalars"}
    assert list((tmp_path / "media").rglob("*.png"))


def test_media_stay_inside(log: Path, tmp_path: Path) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    command("export", log, "--format", "jsonl", "--media", tmp_path / "media")
    made = sorted({path for path in tmp_path.rglob("*") if path.is_file()} - before)
    folder = tmp_path / "media" / "x%2Fy" / "%2E.%2F..%2Fe vil%00%2F%C3%A9"
    assert made == [folder / "00000004-0.png", folder / "00000004-1.png"]
    assert made[0].read_bytes() == image(EVIL, 4)[1]


@pytest.mark.parametrize(
    ("name", "component"),
    [
        (".", "%2E"), ("..", "%2E%2E"), ("", "%"), ("%", "%25"), ("a/b", "a%2Fb"), ("~", "%7E"),
        ("a\\b", "a%5Cb"), ("a=b", "a%3Db"), (" a ", "%20a%20"), (".hidden", "%2Ehidden"),
    ],
)
def test_quoted(name: str, component: str) -> None:
    assert quoted(name) == component


def test_quoted_names_differ_and_fit() -> None:
    names = ["x" * 300, "x" * 301, "é" * 300, "x" * 200, "\ud800"]
    components = [quoted(name) for name in names]
    assert len(set(components)) == len(names)
    assert all(len(component.encode()) < 250 for component in components)


def test_kinds_and_tags(log: Path) -> None:
    done = command("export", log, "--format", "jsonl", "--kind", "images")
    assert {json.loads(line)["kind"] for line in done.stdout.splitlines()} == {"images"}
    wrong = command("export", log, "--kind", "image")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'images'?" in wrong.stderr
    assert command("export", log, "--tag", "absent").returncode == 1


def test_keep(tmp_path: Path) -> None:
    write(tmp_path / NAME, [header(), scalar("a", 1, 1.0), scalar("a", 0, 2.0), scalar("a", 1, 3)])
    done = command("export", tmp_path, "--order", "step", "--keep", "last")
    assert [row[3::2] for row in csv.reader(done.stdout.splitlines())][1:] == [
        ["0", "2.0"], ["1", "3.0"]
    ]


# Parquet -----------------------------------------------------------------------------------------


@pytest.fixture
def dataset(log: Path, tmp_path: Path) -> Path:
    pytest.importorskip("pyarrow")
    done = command("export", log, "--format", "parquet", "-o", tmp_path / "data", "--jobs", "2",
                   "--media", tmp_path / "media")
    assert done.returncode == 0, done.stderr
    return tmp_path / "data"


def test_parquet_layout(dataset: Path) -> None:
    files = sorted(str(path.relative_to(dataset)) for path in dataset.rglob("*.*"))
    assert [file for file in files if file.endswith("parquet")] == [
        "run=001/kind=scalars/part-0.parquet",
        "run=x%2Fy/kind=images/part-0.parquet",
        "run=x%2Fy/kind=scalars/part-0.parquet",
    ]


def test_parquet_in_pyarrow(dataset: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("pyarrow.dataset")
    names = pa.schema([("run", pa.string()), ("kind", pa.string())])
    hive = datasets.partitioning(names, flavor="hive")
    table = datasets.dataset(str(dataset), format="parquet", partitioning=hive).to_table()
    rows = sorted(table.to_pylist(), key=lambda row: (row["run"], row["kind"], row["tag"]))
    assert [(row["run"], row["kind"], row["tag"], row["step"]) for row in rows] == [
        ("001", "scalars", "a,b", 2), ("001", "scalars", "loss", 0),
        ("x/y", "images", EVIL, 4), ("x/y", "images", EVIL, 4), ("x/y", "scalars", "loss", 1),
    ]
    assert rows[0]["value"] == 3.0
    assert Path(rows[2]["file"][0]).read_bytes() == image(EVIL, 4)[1]
    assert table.schema.field("step").type == pa.int64()


def test_parquet_in_duckdb(dataset: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(
        f"select run, tag, step, value from read_parquet('{dataset}/**/*.parquet', "
        "hive_partitioning=true, hive_types={'run': VARCHAR}) "
        "where kind = 'scalars' and not isnan(value) order by tag"
    ).fetchall()
    assert found == [("001", "a,b", 2, 3.0), ("001", "loss", 0, 0.5)]


def test_parquet_in_polars(dataset: Path) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.scan_parquet(
        f"{dataset}/**/*.parquet", hive_partitioning=True, hive_schema={
            "run": pl.String, "kind": pl.String
        },
    ).filter(pl.col("kind") == "images").collect()
    assert frame["run"].to_list() == ["x/y", "x/y"]
    assert frame["step"].to_list() == [4, 4]


def test_parquet_refuses_what_is_there(dataset: Path, log: Path) -> None:
    done = command("export", log, "--format", "parquet", "-o", dataset)
    assert done.returncode == 2
    assert "overwritten" in done.stderr
    assert command("export", log, "--format", "parquet").returncode == 2

"""The public names: which there are, that they are documented, and their signatures."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import subprocess
import sys
from importlib.metadata import version
from types import ModuleType
from typing import Any

import pytest

import tfevents
from tfevents import errors, summary

TFEVENTS = {
    "EventFileReader",
    "EventFileWriter",
    "FileWriter",
    "LogDir",
    "RecordReader",
    "RecordWriter",
    "Run",
    "RunWriter",
    "SummaryWriter",
    "TfEventsError",
    "__version__",
    "errors",
    "name_scope",
    "proto",
    "read",
    "read_events",
    "summary",
}

# TensorFlow 2.21's names and signatures: those of tf.summary, tf.summary.experimental, and of the
# methods of tf.summary.SummaryWriter. tests/differential compares them with TensorFlow itself.
SUMMARY = {
    "audio": (
        "(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None)"
    ),
    "create_file_writer": (
        "(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None, "
        "experimental_trackable=False, experimental_mesh=None)"
    ),
    "create_noop_writer": "()",
    "flush": "(writer=None, name=None)",
    "graph": "(graph_data)",
    "histogram": "(name, data, step=None, buckets=None, description=None)",
    "image": "(name, data, step=None, max_outputs=3, description=None)",
    "record_if": "(condition)",
    "scalar": "(name, data, step=None, description=None)",
    "should_record_summaries": "()",
    "text": "(name, data, step=None, description=None)",
    "trace_export": "(name, step=None, profiler_outdir=None)",
    "trace_off": "()",
    "trace_on": "(graph=True, profiler=False, profiler_outdir=None)",
    "write": "(tag, tensor, step=None, metadata=None, name=None)",
}
# What tf.summary lacks.
MORE = {
    "custom_scalars": "(layout)",
    "embedding": "(name, data, metadata=None, images=None, step=None, metadata_header=None)",
    "figure": "(name, figure, step=None, close=True, description=None)",
    "hparams": "(hparams, metrics=None, step=None, domain=None)",
    "mesh": (
        "(name, vertices, faces=None, colors=None, config_dict=None, step=None, description=None)"
    ),
    "pr_curve": (
        "(name, labels, predictions, step=None, num_thresholds=201, weights=None, description=None)"
    ),
    "run_metadata": "(name, data, step=None)",
    "video": "(name, data, step=None, fps=4, dataformats='NTHWC', description=None)",
}
EXPERIMENTAL = {
    "get_step": "()",
    "set_step": "(step)",
    "summary_scope": "(name, default_name='summary', values=None)",
    "write_raw_pb": "(tensor, step=None, name=None)",
}
SUMMARY_WRITER = {
    "as_default": "(self, step=None)",
    "close": "(self)",
    "flush": "(self)",
    "init": "(self)",
    "set_as_default": "(self, step=None)",
}

def bare(function: Any) -> str:
    """A signature without annotations."""
    found = inspect.signature(function)
    parameters = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


def test_names_of_the_package() -> None:
    assert set(tfevents.__all__) >= TFEVENTS
    assert tfevents.__all__ == sorted(set(tfevents.__all__))


def test_names_of_summary() -> None:
    classes = {"FileWriter", "FileWriterCache", "SummaryWriter"}
    assert set(summary.__all__) == {*SUMMARY, *MORE, *classes, "experimental"}
    assert set(summary.experimental.__all__) == set(EXPERIMENTAL)


@pytest.mark.parametrize(("name", "signature"), [*SUMMARY.items(), *MORE.items()])
def test_signatures_of_summary(name: str, signature: str) -> None:
    assert bare(getattr(summary, name)) == signature


@pytest.mark.parametrize(("name", "signature"), EXPERIMENTAL.items())
def test_signatures_of_experimental(name: str, signature: str) -> None:
    assert bare(getattr(summary.experimental, name)) == signature


@pytest.mark.parametrize(("name", "signature"), SUMMARY_WRITER.items())
def test_signatures_of_summary_writer(name: str, signature: str) -> None:
    for kind in (
        summary.SummaryWriter, type(summary.create_noop_writer()),
        inspect.get_annotations(summary.create_file_writer, eval_str=True)["return"],
    ):  # fmt: skip
        assert issubclass(kind, summary.SummaryWriter)
        assert bare(getattr(kind, name)) == signature


def test_signatures_are_tensorflows() -> None:
    tensorflow = pytest.importorskip("tensorflow")
    theirs = tensorflow.summary
    named = {n for n in dir(theirs) if not n.startswith("_")} - {"SummaryWriter", "experimental"}
    assert {name: bare(getattr(theirs, name)) for name in named} == SUMMARY
    assert {
        name: bare(getattr(theirs.experimental, name))
        for name in dir(theirs.experimental)
        if not name.startswith("_")
    } == EXPERIMENTAL
    writer = theirs.SummaryWriter
    assert {name: bare(getattr(writer, name)) for name in SUMMARY_WRITER} == SUMMARY_WRITER


PUBLIC = [
    (module, name)
    for module in (tfevents, summary, summary.experimental, errors)
    for name in module.__all__
    if not name.startswith("__")
]


@pytest.mark.parametrize(
    ("module", "name"), PUBLIC, ids=lambda value: getattr(value, "__name__", value)
)
def test_every_public_name_is_documented(module: ModuleType, name: str) -> None:
    found = getattr(module, name)
    assert inspect.getdoc(found)
    assert found.__doc__, "of its own, not inherited"
    if inspect.isclass(found):
        undocumented = [
            key
            for key, member in vars(found).items()
            if not key.startswith("_")
            and (inspect.isfunction(member) or isinstance(member, (property, classmethod)))
            and not inspect.getdoc(getattr(found, key))
        ]
        assert not undocumented


def run_python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_star_import_brings_every_name() -> None:
    names = run_python("from tfevents import *; print(*sorted(dir()))").split()
    assert set(tfevents.__all__) <= set(names)
    extra = set(names) - set(tfevents.__all__)
    assert all(name.startswith("__") for name in extra)


def test_star_import_of_summary_brings_every_name() -> None:
    names = run_python("from tfevents.summary import *; print(*sorted(dir()))").split()
    assert {n for n in names if not n.startswith("__")} == set(summary.__all__)


def test_dir_lists_what_is_not_loaded_yet() -> None:
    names = run_python("import tfevents; print(*dir(tfevents))").split()
    assert set(tfevents.__all__) <= set(names)


@pytest.mark.parametrize("name", sorted(tfevents.__all__))
def test_lazy_attributes(name: str) -> None:
    first, second = run_python(
        f"import tfevents as t; print(id(t.{name}), id(t.{name}))"
    ).split()
    assert first == second


def test_an_unknown_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'tfevents' has no attribute 'scaler'"):
        tfevents.scaler  # noqa: B018
    assert not hasattr(tfevents, "annotations_of_nothing")


def test_version() -> None:
    assert tfevents.__version__ == version("tfevents")


CLASSES = [
    value
    for module, name in PUBLIC
    if inspect.isclass(value := getattr(module, name))
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__qualname__)
def test_classes_pickle_and_copy_by_reference(kind: type) -> None:
    assert pickle.loads(pickle.dumps(kind)) is kind
    assert copy.deepcopy(kind) is kind


@pytest.mark.parametrize(
    "error",
    [
        errors.TfEventsError("text"),
        errors.BadChecksumError("reason", 12, "path"),
        errors.TruncatedRecordError("reason", 0),
        errors.WriteError(28, "No space left on device", "path"),
        errors.WriterClosedError("text"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_pickle(error: Exception) -> None:
    found = pickle.loads(pickle.dumps(error))
    assert type(found) is type(error)
    assert (found.args, str(found)) == (error.args, str(error))
    assert vars(found) == vars(error)


@pytest.mark.parametrize(
    "function", [tfevents.read, tfevents.read_events, summary.scalar, summary.image],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_functions_pickle(function: Any) -> None:
    assert pickle.loads(pickle.dumps(function)) is function


def test_modules_are_themselves() -> None:
    for name in ("errors", "proto", "summary"):
        assert getattr(tfevents, name) is importlib.import_module(f"tfevents.{name}")

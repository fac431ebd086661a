from __future__ import annotations

import pytest

from tfevents import plugin


def test_names_and_fixed_tags_are_tensorboards() -> None:
    assert plugin.SCALARS == "scalars"
    assert plugin.IMAGES == "images"
    assert plugin.AUDIO == "audio"
    assert plugin.HISTOGRAMS == "histograms"
    assert plugin.TEXT == "text"
    assert plugin.TENSOR == "tensor"
    assert plugin.HPARAMS == "hparams"
    assert plugin.PR_CURVES == "pr_curves"
    assert plugin.MESH == "mesh"
    assert plugin.CUSTOM_SCALARS == "custom_scalars"
    assert plugin.GRAPH_RUN_METADATA == "graph_run_metadata"
    assert plugin.GRAPH_RUN_METADATA_GRAPH == "graph_run_metadata_graph"
    assert plugin.GRAPH_KERAS_MODEL == "graph_keras_model"
    assert plugin.CUSTOM_SCALARS_TAG == "custom_scalars__config__"
    assert plugin.HPARAMS_EXPERIMENT_TAG == "_hparams_/experiment"
    assert plugin.HPARAMS_SESSION_START_TAG == "_hparams_/session_start_info"
    assert plugin.HPARAMS_SESSION_END_TAG == "_hparams_/session_end_info"


def test_metadata_bytes() -> None:
    # The bytes TensorFlow wrote for plugin "pp", content 1 2, display name "D", description "de",
    # data class TENSOR: plugin_data is field 1, names are 2 and 3, data_class is 4.
    found = plugin.metadata(
        "pp",
        b"\x01\x02",
        display_name="D",
        description="de",
        data_class=plugin.DATA_CLASS_TENSOR,
    )
    assert found.SerializeToString() == bytes.fromhex("0a080a02707012020102120144") + bytes.fromhex(
        "1a0264652002"
    )


def test_metadata_defaults_write_the_name_only() -> None:
    assert plugin.metadata(plugin.TEXT).SerializeToString() == b"\x0a\x06\x0a\x04text"


@pytest.mark.parametrize("name", sorted(set(plugin.DATA_CLASSES) - {plugin.TENSOR}))
def test_data_classes_are_those_tensorboard_derives(name: str) -> None:
    compat = pytest.importorskip("tensorboard.dataclass_compat")
    event_pb2 = pytest.importorskip("tensorboard.compat.proto.event_pb2")
    event = event_pb2.Event()
    value = event.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name = name
    (found,) = compat.migrate_event(event, {})
    assert found.summary.value[0].metadata.data_class == plugin.DATA_CLASSES[name]

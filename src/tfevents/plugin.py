"""Names of TensorBoard's plugins, and the metadata that sends a value to one of them.

TensorBoard picks the dashboard of a tag by `SummaryMetadata.plugin_data.plugin_name`, and the
storage (scalar, tensor or blobs) by `SummaryMetadata.data_class`. Producers leave the data class
unset on disk; TensorBoard then derives it from the plugin name, as `DATA_CLASSES` does here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfevents import proto

__all__ = [
    "AUDIO",
    "CUSTOM_SCALARS",
    "CUSTOM_SCALARS_TAG",
    "DATA_CLASSES",
    "DATA_CLASS_BLOB_SEQUENCE",
    "DATA_CLASS_SCALAR",
    "DATA_CLASS_TENSOR",
    "DATA_CLASS_UNKNOWN",
    "GRAPHS",
    "GRAPH_KERAS_MODEL",
    "GRAPH_RUN_METADATA",
    "GRAPH_RUN_METADATA_GRAPH",
    "GRAPH_TAG",
    "GRAPH_TAGGED_RUN_METADATA",
    "HISTOGRAMS",
    "HPARAMS",
    "HPARAMS_EXPERIMENT_TAG",
    "HPARAMS_SESSION_END_TAG",
    "HPARAMS_SESSION_START_TAG",
    "IMAGES",
    "MESH",
    "PR_CURVES",
    "SCALARS",
    "TENSOR",
    "TEXT",
    "metadata",
]

SCALARS = "scalars"
IMAGES = "images"
AUDIO = "audio"
HISTOGRAMS = "histograms"
TEXT = "text"
TENSOR = "tensor"  # PyTorch's name for plain tensors; no dashboard shows it
HPARAMS = "hparams"
PR_CURVES = "pr_curves"
MESH = "mesh"
CUSTOM_SCALARS = "custom_scalars"
GRAPH_RUN_METADATA = "graph_run_metadata"
GRAPH_RUN_METADATA_GRAPH = "graph_run_metadata_graph"
GRAPH_KERAS_MODEL = "graph_keras_model"
# Never on disk: what TensorBoard makes of the events for graphs and run metadata.
GRAPHS = "graphs"
GRAPH_TAGGED_RUN_METADATA = "graph_tagged_run_metadata"

# Tags that are fixed by their plugin.
CUSTOM_SCALARS_TAG = "custom_scalars__config__"
GRAPH_TAG = "__run_graph__"  # not on disk either
HPARAMS_EXPERIMENT_TAG = "_hparams_/experiment"
HPARAMS_SESSION_START_TAG = "_hparams_/session_start_info"
HPARAMS_SESSION_END_TAG = "_hparams_/session_end_info"

# The values of the enum tensorflow.DataClass.
DATA_CLASS_UNKNOWN = 0
DATA_CLASS_SCALAR = 1
DATA_CLASS_TENSOR = 2
DATA_CLASS_BLOB_SEQUENCE = 3

DATA_CLASSES = {
    SCALARS: DATA_CLASS_SCALAR,
    IMAGES: DATA_CLASS_BLOB_SEQUENCE,
    AUDIO: DATA_CLASS_BLOB_SEQUENCE,
    HISTOGRAMS: DATA_CLASS_TENSOR,
    TEXT: DATA_CLASS_TENSOR,
    TENSOR: DATA_CLASS_TENSOR,
    HPARAMS: DATA_CLASS_TENSOR,
    PR_CURVES: DATA_CLASS_TENSOR,
    MESH: DATA_CLASS_TENSOR,
    CUSTOM_SCALARS: DATA_CLASS_TENSOR,
    GRAPH_RUN_METADATA: DATA_CLASS_BLOB_SEQUENCE,
    GRAPH_RUN_METADATA_GRAPH: DATA_CLASS_BLOB_SEQUENCE,
    GRAPH_KERAS_MODEL: DATA_CLASS_BLOB_SEQUENCE,
}


def metadata(
    plugin_name: str,
    content: bytes = b"",
    *,
    display_name: str = "",
    description: str = "",
    data_class: int = DATA_CLASS_UNKNOWN,
) -> proto.SummaryMetadata:
    """Builds the metadata of a value.

    Args:
        plugin_name: one of the names of this module, or that of a plugin of your own.
        content: what the plugin keeps with a tag, serialized; often empty.
        display_name: shown instead of the tag.
        description: Markdown, shown with the tag.
        data_class: a DATA_CLASS_ constant; 0 leaves it to the reader, as TensorFlow and PyTorch do.
    """
    from tfevents import proto

    result = proto.SummaryMetadata(
        display_name=display_name, summary_description=description, data_class=data_class
    )
    result.plugin_data.plugin_name = plugin_name
    result.plugin_data.content = content
    return result

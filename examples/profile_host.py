"""Profile a numpy network by layer, and see in its graph where time and memory go.

    python examples/profile_host.py
    tensorboard --logdir logs/profile_host
    open http://localhost:6006/#graphs

In the GRAPHS tab choose a step under "Tag", then colour by "Compute time" or "Memory". With xprof
installed (`pip install xprof`) the same steps are in the Profile tab, under "trace_viewer".

What makes that work: a span has the full name of its node.
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np

from tfevents import SummaryWriter, proto
from tfevents.graph import GraphBuilder
from tfevents.profiler import annotate, profile

SIZES = [784, 512, 128, 10]
BATCH = 256


class Layer:
    """x @ w + b, and a ReLU except in the last layer."""

    def __init__(self, name: str, inputs: int, outputs: int, rng: np.random.Generator) -> None:
        self.name = name
        self.last = outputs == SIZES[-1]
        self.kernel = rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs))
        self.bias = np.zeros(outputs)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        with annotate(f"{self.name}/MatMul"):
            y = x @ self.kernel
        with annotate(f"{self.name}/BiasAdd"):
            y = y + self.bias
        if self.last:
            return y
        with annotate(f"{self.name}/Relu"):
            return np.maximum(y, 0)

    def add_to(self, graph: GraphBuilder, source: str) -> str:
        """The nodes of this layer; returns the name of its output."""
        shape = [[None, len(self.bias)]]
        with graph.scope(self.name):
            kernel = graph.node("kernel", "Variable", shapes=[self.kernel.shape])
            bias = graph.node("bias", "Variable", shapes=[self.bias.shape])
            product = graph.node("MatMul", "MatMul", [source, kernel], shapes=shape)
            output = graph.node("BiasAdd", "BiasAdd", [product, bias], shapes=shape)
            return output if self.last else graph.node("Relu", "Relu", [output], shapes=shape)


def softmax(x: np.ndarray) -> np.ndarray:
    with annotate("Softmax"):
        exponentials = np.exp(x - x.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)


def build_graph(layers: list[Layer]) -> GraphBuilder:
    graph = GraphBuilder()
    source = graph.node("images", "Placeholder", shapes=[[None, SIZES[0]]])
    for layer in layers:
        source = layer.add_to(graph, source)
    graph.node("Softmax", "Softmax", [source], shapes=[[None, SIZES[-1]]])
    return graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", default="logs/profile_host")
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.steps < 1:
        parser.error("--steps must be at least 1")

    rng = np.random.default_rng(0)
    layers = [
        Layer(f"dense_{number}", inputs, outputs, rng)
        for number, (inputs, outputs) in enumerate(itertools.pairwise(SIZES), 1)
    ]
    with SummaryWriter(arguments.logdir) as writer:
        writer.add_graph(build_graph(layers).build())
        with profile(writer, memory=True, chrome=f"{arguments.logdir}/trace.json.gz") as profiled:
            for step in range(arguments.steps):
                with profile.step(step):
                    x = rng.random((BATCH, SIZES[0]))
                    for layer in layers:
                        x = layer(x)
                    softmax(x)
    table(profiled.recording.run_metadata())
    print(f"tensorboard --logdir {arguments.logdir}")


def table(metadata: proto.RunMetadata) -> None:
    """Prints time and memory of each op, over all steps."""
    device = metadata.step_stats.dev_stats[0]
    print(f"{'op':<20}{'time, µs':>10}{'memory, bytes':>15}")
    for node in device.node_stats:
        print(f"{node.node_name:<20}{node.all_end_rel_micros:>10}{node.memory[0].total_bytes:>15}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None

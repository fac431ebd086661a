"""Handwritten digits as points in the projector, each drawn as its own picture.

    python examples/embedding.py
    tensorboard --logdir logs/embedding

and open http://localhost:6006/#projector. Two embeddings are written, to be chosen at the top left:

* `pixels`: the 64 gray levels as they are. The page computes PCA, UMAP or t-SNE of them itself.
* `components`: the first principal components, computed here. With "Custom" at the bottom left the
  axes can be any directions, such as from the mean of the 0s to the mean of the 1s.

"Color by" and "Label by" offer every column of the metadata. All this needs numpy alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

from tfevents import SummaryWriter, read

DATA = Path(__file__).parent / "data" / "digits.npz"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
COMPONENTS = 16  # of 64


def principal_components(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points [n, d] in their principal axes [n, d], and the share of the variance of each [d]."""
    left, scale, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return left * scale, scale**2 / np.sum(scale**2)


def neighbors_agree(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Whether the nearest other point of each has the same label: bool [n]."""
    squares = np.sum(points**2, axis=1)
    distances = squares[:, None] - 2 * points @ points.T + squares
    np.fill_diagonal(distances, np.inf)
    return np.asarray(labels[distances.argmin(axis=1)] == labels)


def sprites(images: np.ndarray) -> np.ndarray:
    """Digits [n, 8, 8] of 0 to 1 as pictures [n, 3, 32, 32], uint8: light paper, dark ink.

    All channels are equal. The page multiplies them by the color of the point, so that the paper
    takes it and the ink stays dark.
    """
    large = np.kron(255 - 235 * images, np.ones((1, 4, 4))).astype(np.uint8)
    return np.repeat(large[:, None], 3, axis=1)


def write(logdir: Path, images: np.ndarray, labels: np.ndarray) -> None:
    """Logs both embeddings of digits [n, 8, 8], and how much the components tell of them."""
    pixels = images.reshape(len(images), -1)
    components, shares = principal_components(pixels)
    agree = neighbors_agree(pixels, labels)
    columns = ["label", "ink", "nearest"]
    ink = pixels.sum(axis=1).round(1)
    rows = [
        [WORDS[label], str(amount), "same digit" if same else "other digit"]
        for label, amount, same in zip(labels, ink, agree, strict=True)
    ]
    with SummaryWriter(logdir) as writer:
        for tag, points in (("pixels", pixels), ("components", components[:, :COMPONENTS])):
            writer.add_embedding(
                points, metadata=rows, metadata_header=columns, label_img=sprites(images), tag=tag
            )
        for count in range(1, COMPONENTS + 1):  # the step is how many components are kept
            same = neighbors_agree(components[:, :count], labels)
            writer.add_scalar("components/variance", shares[:count].sum(), count)
            writer.add_scalar("components/neighbors_agree", same.mean(), count)


def fresh(logdir: Path) -> Path:
    """The first of logdir, logdir-2, logdir-3, ... that does not exist."""
    later = (logdir.with_name(f"{logdir.name}-{n}") for n in itertools.count(2))
    return next(path for path in itertools.chain([logdir], later) if not path.exists())


def main() -> None:
    parser = argparse.ArgumentParser(description="Write digits for TensorBoard's projector.")
    parser.add_argument("--logdir", type=Path, default=Path("logs/embedding"))
    parser.add_argument("--points", type=int, default=1797, help="how many digits, up to 1797")
    options = parser.parse_args()
    if not 100 <= options.points <= 1797:
        parser.error("--points must be from 100 to 1797")

    with np.load(DATA) as data:
        images, labels = data["images"][: options.points] / 16, data["labels"][: options.points]
    logdir = fresh(options.logdir)
    write(logdir, images, labels)

    run = read(logdir)["."]
    variance, agree = run.scalars("components/variance"), run.scalars("components/neighbors_agree")
    print("components    variance    nearest digit is the same")
    for count, share, same in zip(variance.steps, variance.values, agree.values, strict=True):
        print(f"{count:10}{share:12.1%}{same:29.1%}")
    print(f"\n{len(images)} points in {logdir}; see http://localhost:6006/#projector after")
    print(f"tensorboard --logdir {logdir}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\ninterrupted; what was logged so far can be read", file=sys.stderr)
        raise SystemExit(130) from None

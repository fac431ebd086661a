from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from tfevents import proto
from tfevents.values import boxes as module
from tfevents.values.boxes import ImageWithBoxes
from tfevents.values.image import Image

rng = np.random.default_rng(0)
IMAGE = rng.integers(0, 256, (3, 40, 60), np.uint8)
BOXES = np.array([[5.0, 5.0, 30.0, 30.0], [10.0, 12.0, 50.0, 35.0]])
RED = [255, 0, 0]


def pixels_of(value: proto.Summary.Value) -> Any:
    with Pillow.open(io.BytesIO(value.image.encoded_image_string)) as picture:
        assert picture.format == "PNG"
        return np.array(picture)


def test_a_box() -> None:
    image = np.full((3, 20, 30), 100, np.uint8)
    value = ImageWithBoxes.from_data(image, [[5, 4, 25, 15]], tag="t").to_field_value("t")
    assert (value.tag, value.image.width, value.image.height) == ("t", 30, 20)
    assert value.image.colorspace == 3
    pixels = pixels_of(value)
    red = (pixels == RED).all(2)
    assert red[4, 5:26].all()
    assert red[15, 5:26].all()
    assert red[4:16, 5].all()
    assert red[4:16, 25].all()
    assert red[10].sum() == 4  # two sides, each two pixels thick
    assert pixels[~red].tolist() == [[100, 100, 100]] * int((~red).sum())


@pytest.mark.parametrize("labels", [None, ["a", "héllo"], ["", "x"]])
@pytest.mark.parametrize(
    "image",
    [IMAGE, IMAGE / 255.0, IMAGE[:1], np.concatenate([IMAGE, IMAGE[:1]])],
    ids=["uint8", "float", "gray", "rgba"],
)
def test_as_torch(image: Any, labels: Any) -> None:
    torch_summary = pytest.importorskip("torch.utils.tensorboard.summary")
    theirs = torch_summary.image_boxes("t", image, BOXES, labels=labels).value[0]
    ours = ImageWithBoxes.from_data(image, BOXES, labels=labels).to_field_value("t")
    np.testing.assert_array_equal(pixels_of(ours), pixels_of(theirs))
    for name in ("width", "height", "colorspace"):
        assert getattr(ours.image, name) == getattr(theirs.image, name)


def test_labels_are_drawn() -> None:
    image = np.full((3, 60, 90), 100, np.uint8)
    plain, labelled = (
        pixels_of(ImageWithBoxes.from_data(image, [[5, 5, 80, 50]], labels=x).to_field_value("t"))
        for x in (None, "dog")
    )
    changed = (plain != labelled).any(2)
    assert changed.any()
    assert not changed[:30].any()  # the lower left corner
    assert not changed[:, 60:].any()


@pytest.mark.parametrize(("factor", "size"), [(0.5, (30, 20)), (2, (120, 80)), (1, (60, 40))])
def test_rescale(factor: float, size: tuple[int, int]) -> None:
    value = ImageWithBoxes.from_data(IMAGE, BOXES, rescale=factor).to_field_value("t")
    assert (value.image.width, value.image.height) == size
    assert pixels_of(value).shape == (size[1], size[0], 3)


def test_rescaled_image() -> None:
    picture = Image.from_data(IMAGE, dataformats="CHW")
    assert module.rescaled(picture) is picture
    value = module.rescaled(picture, 0.5).to_field_value("t")
    assert pixels_of(value).shape == (20, 30, 3)


def test_tensor_form() -> None:
    value = ImageWithBoxes.from_data(IMAGE, BOXES).to_tensor_value("t", description="d")
    width, height, data = value.tensor.string_val
    assert (width, height, data[:4]) == (b"60", b"40", b"\x89PNG")


@pytest.mark.parametrize("none", [[], np.zeros((0, 4)), np.zeros(0)])
def test_no_boxes(none: Any) -> None:
    value = ImageWithBoxes.from_data(IMAGE, none).to_field_value("t")
    np.testing.assert_array_equal(pixels_of(value), IMAGE.transpose(1, 2, 0))


def test_what_lies_outside_does_not_fail() -> None:
    far = [[-1e300, -5, 1e300, 9], [30, 20, 3, 2], [100, 100, 200, 200]]
    labels = ["猫\n2", "\0", "x" * 5000]
    value = ImageWithBoxes.from_data(IMAGE, far, labels=labels).to_field_value("t")
    assert pixels_of(value).shape == (40, 60, 3)


def test_two_channels() -> None:
    value = ImageWithBoxes.from_data(IMAGE[:2], BOXES).to_field_value("t")
    assert pixels_of(value).shape == (40, 60, 2)


def test_the_callers_arrays_are_not_kept() -> None:
    image, boxes = IMAGE.copy(), BOXES.copy()
    drawn = ImageWithBoxes.from_data(image, boxes)
    expected = drawn.arrays()[0]
    image[:] = 0
    boxes[:] = 1
    np.testing.assert_array_equal(drawn.arrays()[0], expected)


def test_another_number_of_labels_warns() -> None:
    with pytest.warns(UserWarning, match="tag 't': 1 labels for 2 boxes"):
        drawn = ImageWithBoxes.from_data(IMAGE, BOXES, labels="a", tag="t")
    np.testing.assert_array_equal(
        drawn.arrays()[0], ImageWithBoxes.from_data(IMAGE, BOXES).arrays()[0]
    )


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"boxes": [1, 2, 3, 4]}, ValueError, r"\[count, 4\].*\(4,\)"),
        ({"boxes": [[1, 2, 3]]}, ValueError, r"\[count, 4\].*\(1, 3\)"),
        ({"boxes": [[1, 2, 3, np.nan]]}, ValueError, "finite"),
        ({"boxes": [[1j] * 4]}, TypeError, "boxes"),
        ({"boxes": None}, TypeError, "boxes"),
        ({"image": IMAGE[0]}, ValueError, "rank 2"),
        ({"rescale": 0}, ValueError, "rescale"),
        ({"rescale": 0.001}, ValueError, "0 x 0 pixels"),
        ({"rescale": np.inf}, ValueError, "rescale"),
        ({"rescale": "1"}, TypeError, "rescale"),
    ],
)
def test_bad_input(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"t.*{text}"):
        ImageWithBoxes.from_data(**{"image": IMAGE, "boxes": BOXES, **arguments}, tag="t")

from __future__ import annotations

import pytest

from tfevents._near import did_you_mean

TAGS = ["train/loss", "val/loss", "note/text_summary", "Accuracy", "lr"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("loss", "; did you mean 'train/loss' or 'val/loss'?"),
        ("los", "; did you mean 'train/loss' or 'val/loss'?"),
        ("note", "; did you mean 'note/text_summary'?"),
        ("acuracy", "; did you mean 'Accuracy'?"),
        ("model/train/loss", "; did you mean 'train/loss'?"),
        ("/LR/", "; did you mean 'lr'?"),
        ("nothing like it", ""),
        ("", ""),
        (3, ""),
        (None, ""),
    ],
)
def test_near_names(asked: object, said: str) -> None:
    assert did_you_mean(asked, TAGS) == said


def test_no_more_names_than_asked_for() -> None:
    assert did_you_mean("loss", TAGS, most=1) == "; did you mean 'train/loss'?"
    many = [f"run{number}/loss" for number in range(9)]
    assert did_you_mean("loss", many).count("loss") == 3
    assert did_you_mean("loss", []) == ""

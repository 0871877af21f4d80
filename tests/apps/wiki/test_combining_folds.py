"""Folding tests the set of all combining marks only where there are characters beyond ASCII. The result is the same."""

import random

import pytest

from pressroom.apps.wiki.combining_marks import MAX_MARKS, _any_marks, _excess_marks, stream_safe, without_marks

ALPHABET = ["a", " ", "é", "日", "\u0300", "\u0315", "\u0f73", "\n", "ß", "\U0001e8d0"]


@pytest.mark.parametrize("seed", range(20))
def test_texts_of_all_mixtures_fold_as_by_the_plain_rule(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice(ALPHABET) * dice.choice([1, 1, 2, MAX_MARKS, MAX_MARKS + 1, 90]) for _ in range(200))

    assert stream_safe(text) == _excess_marks().sub(r"\1", text)
    assert without_marks(text) == _any_marks().sub("", text)

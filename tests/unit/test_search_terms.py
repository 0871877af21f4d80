"""What is folded and split in parts, because that is faster, comes out as by the plain rule for the whole."""

import random
import unicodedata

import pytest

from pressroom.base import search_terms
from pressroom.base.combining_marks import MAX_MARKS, _any_marks, _excess_marks, decompose_without_marks, stream_safe
from pressroom.base.search_terms import WORD, fold_text, split_words

ALPHABET = ["a", " ", "é", "日", "\u0300", "\u0315", "\u0f73", "\n", "ß", "\U0001e8d0"]
OF_WORDS = [*ALPHABET, "_", "-", "`", "²", "½", "\u3000", "。", "ﷺ", "İ", "한", "\ud800", "7", "\x1c", "\x00"]


@pytest.mark.parametrize("seed", range(20))
def test_texts_of_all_mixtures_fold_as_by_the_plain_rule(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice(ALPHABET) * dice.choice([1, 1, 2, MAX_MARKS, MAX_MARKS + 1, 90]) for _ in range(200))

    assert stream_safe(text) == _excess_marks().sub(r"\1", text)
    assert decompose_without_marks(text) == _any_marks().sub("", unicodedata.normalize("NFKD", stream_safe(text)))


@pytest.mark.parametrize("seed", range(20))
def test_texts_of_all_mixtures_are_split_as_by_the_plain_rule(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice(OF_WORDS) * dice.choice([1, 1, 1, 2, 99, 101, 250]) for _ in range(300))

    assert split_words(text) == WORD.findall(fold_text(text))


@pytest.mark.parametrize("size", [1, 999, 19_999, 20_001, 45_000])
def test_text_is_indexed_in_parts_without_cutting_words(size: int) -> None:
    text = " ".join(f"wörd{number}" for number in range(size))

    assert search_terms.index_text(text) == " ".join(f"word{number}" for number in range(size))[: search_terms.MAX_INDEXED]

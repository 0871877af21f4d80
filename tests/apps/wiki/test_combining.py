"""Text of thousands of combining marks, which takes quadratic time to normalise, costs the wiki nothing."""

import time
import unicodedata

import pytest

from pressroom.apps.wiki import search_terms
from pressroom.apps.wiki.model import TITLE_LIMIT, clean_line, clean_source, clean_url, make_draft
from pressroom.base.combining_marks import (
    DECOMPOSE_INTO_MARKS,
    LAST,
    MAX_MARKS,
    _any_marks,
    decompose_without_marks,
    stream_safe,
)
from pressroom.errors import InvalidArgument, TooLarge
from tests.cost import cpu_of
from tests.service.access_stage import on_stage
from tests.web.browsing import member

MARKS = "\u0315" * 20_000 + "\u0300" * 20_000


@pytest.mark.parametrize(
    "text",
    [
        MARKS,
        "a" + MARKS,
        "\u0f73\u0f75" * 20_000,
        "\u0315" * 10_000 + "\uff9e" * 10_000 + "\u0300" * 10_000,
        "\U0001d165\U0001d16d\u0300" * 10_000,
        "\ufdfa" * 400_000,  # a letter that becomes eighteen
        "x " * 200_000,
        "ä" * 400_000,
        "\U00020000" * 400_000,
        "".join(map(chr, range(0x3400, 0x9FFF))) * 15,
    ],
    ids=["marks", "letter", "tibetan", "halfwidth", "musical", "ligature", "short", "long", "han", "letters"],
)
def test_words_are_found_in_little_time(text: str) -> None:
    search_terms.article_terms("", "ä")  # the sets of marks are made once

    assert cpu_of(lambda: search_terms.article_terms(text[:200], text)) < 0.25


def test_a_name_is_refused_before_it_is_normalised() -> None:
    def refused() -> None:
        with pytest.raises(InvalidArgument):
            clean_url(MARKS * 10)

    assert cpu_of(refused) < 0.05
    assert cpu_of(lambda: clean_url("a" + "\u0315" * 90 + "\u0300" * 90)) < 0.05


def test_a_draft_of_marks_costs_little() -> None:
    draft = lambda: make_draft("Marks", "searchable\n\n" + MARKS, title="Märks", author="me", previous=0)  # noqa: E731

    assert cpu_of(draft) < 0.25


def test_long_lines_and_texts_are_refused_before_they_are_read() -> None:
    with pytest.raises(InvalidArgument):
        clean_line("a " * 1_000_000, TITLE_LIMIT, "title")
    with pytest.raises(TooLarge):
        clean_source("\x01" * 12_000_000)
    assert clean_source("a\r\n" * 10) == "a\n" * 10


def test_a_letter_keeps_its_first_thirty_marks() -> None:
    assert stream_safe("e\u0301") == "e\u0301"
    assert stream_safe("e" + "\u0301" * MAX_MARKS) == "e" + "\u0301" * MAX_MARKS
    assert stream_safe("e" + "\u0301" * 99 + "f" + "\u0300" * 31) == "e" + "\u0301" * 30 + "f" + "\u0300" * 30


def test_every_mark_of_this_unicode_is_known() -> None:
    for number in range(0x110000):
        letter = chr(number)
        if unicodedata.combining(letter):
            assert number <= LAST
            assert decompose_without_marks(letter) == "", hex(number)
        elif number > 0x7F and unicodedata.combining(unicodedata.normalize("NFKD", letter)[0]):
            assert letter in DECOMPOSE_INTO_MARKS, hex(number)
        elif number > 0x7F and number < 0x3000:
            assert not _any_marks().search(letter), hex(number)


async def test_an_article_of_marks_is_made_ready_and_its_address_refused_in_little_time(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as person:
        draft = make_draft("Marks", "searchable\n\n" + MARKS, title="Märks", author="me", previous=0)
        assert draft.source == "searchable\n\n" + MARKS  # the text itself stays as it was written
        assert draft.terms.text == "searchable"

        began = time.thread_time()
        refused = await person.get("/wiki/" + MARKS[16_000:24_000])
        assert time.thread_time() - began < 0.25

    assert refused.status_code == 422

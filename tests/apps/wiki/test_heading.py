"""A page's title is its first heading outside of fenced code."""

import random

import pytest

from pressroom.apps.wiki.files import _FENCED, _HEADING, _find_heading

OF_PAGES = ["# One", "#", "#Two #", "```", "``", "~~~", "~~~~ sh", "text", "", " # x", "```# Three", "a ``` b"]


@pytest.mark.parametrize("seed", range(20))
def test_the_heading_of_a_page_is_the_first_outside_of_fences(seed: int) -> None:
    dice = random.Random(seed)

    for _ in range(100):
        text = "\n".join(dice.choices(OF_PAGES, k=dice.randint(1, 8)))
        found, plain = _find_heading(text), _HEADING.search(_FENCED.sub("", text))
        assert (found and found[1]) == (plain and plain[1]), text

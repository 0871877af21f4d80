"""What is done to HTML before it is kept: links are resolved, what scrolls is reached by keys, and what is ticked says so."""

import pytest

from pressroom.apps.wiki.links import article_path, find_targets, resolve_links
from pressroom.apps.wiki.model import clean_line, clean_source, clean_url, make_draft
from pressroom.apps.wiki.postprocess import postprocess_html
from pressroom.apps.wiki.views import prefix_ids
from pressroom.errors import InvalidArgument, TooLarge

LINK = '<a href="{}" data-wikilink="true" rel="noopener noreferrer">words</a>'


@pytest.mark.parametrize(
    ("href", "to"),
    [
        ("Home", "/wiki/Home"),
        ("My%20page", "/wiki/My_page"),
        ("a/b#part%20one", "/wiki/a/b#part%20one"),
        ("M%C3%BCll", "/wiki/M%C3%BCll"),
        ("Q&amp;A", "/wiki/Q&amp;A"),
        ("javascript:alert(1)", "/wiki/javascript:alert(1)"),
        ("//evil.example", None),
        ("%22onclick%3D1", None),
    ],
)
def test_a_link_leads_to_an_article_or_nowhere(href: str, to: str | None) -> None:
    body = resolve_links(LINK.format(href), {"Home", "My_page", "a/b", "Müll", "Q&A", "javascript:alert(1)"})

    assert ("href" in body) == (to is not None)
    if to:
        assert body == f'<a class="wikilink" href="{to}">words</a>'


def test_what_is_referred_to_is_told_once_and_in_order() -> None:
    body = "".join(LINK.format(name) for name in ("B", "A", "B#x", "[wrong]"))

    assert find_targets(body + '<a href="C">no wiki link</a>') == ["B", "A"]


def test_an_address_has_what_stands_before_it() -> None:
    assert article_path("A b?", "/under") == "/under/wiki/A%20b%3F"
    assert 'href="/under/wiki/X"' in resolve_links(LINK.format("X"), {"X"}, "/under")


def test_boxes_are_named_and_what_scrolls_is_reached_by_keys() -> None:
    boxes = '<input type="checkbox" checked="" disabled=""><input type="checkbox" disabled="">'

    made = postprocess_html(boxes + '<pre class="code">x</pre><table></table>')

    assert 'aria-label="done" checked' in made
    assert 'aria-label="to do" disabled' in made
    assert '<pre tabindex="0" class="code">' in made
    assert made.endswith("<table></table></div>")


def test_a_heading_has_another_id_than_what_is_around_an_article() -> None:
    assert postprocess_html('<h2 id="main">Main</h2><a href="#main">x</a>') == '<h2 id="main-">Main</h2><a href="#main-">x</a>'
    assert postprocess_html('<h2 id="mainly">x</h2>') == '<h2 id="mainly">x</h2>'


def test_two_articles_on_a_page_have_ids_apart() -> None:
    body = '<h2 id="a">A</h2><a href="#a" title=" id=b">x</a><a href="/wiki/B#a">y</a> id="c"'

    assert (
        prefix_ids(body, "old-") == '<h2 id="old-a">A</h2><a href="#old-a" title=" id=b">x</a><a href="/wiki/B#a">y</a> id="c"'
    )


@pytest.mark.parametrize(
    "name", ["", "   ", "a" * 201, "a<b", "a[b]", "x\x00y", "a//b", "/a", "a/", "..", "a/../b", "a\u202eb"]
)
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument):
        clean_url(name)


def test_names_titles_comments_and_sources_are_cleaned_and_limited() -> None:
    """W32"""
    assert clean_url("  My   first_page ") == "My_first_page"
    assert clean_url("e\u0301") == "\u00e9"
    assert clean_line(" two\nlines\x00 ", 20, "title") == "two lines"
    assert clean_source("a\r\nb\rc\x00\x1b") == "a\nb\nc"
    with pytest.raises(InvalidArgument, match="the comment has at most 500 characters, not 501"):
        make_draft("Home", "x", comment="c" * 501, author="ada", previous=0)
    with pytest.raises(TooLarge, match="an article has at most"):
        make_draft("Home", "ä" * 600_000, author="ada", previous=0)
    with pytest.raises(InvalidArgument, match="pages of the wiki itself"):
        make_draft("special:Mine", "x", author="ada", previous=0)

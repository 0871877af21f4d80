"""Links inside a site: which are resolved to what, and which lead nowhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.apps.docs.domain.links import BrokenLink, PageLink, PageLinks, SiteLinks, resolve

SITE = [
    "index.html",
    "genindex.html",
    "guide/index.html",
    "guide/start.html",
    "guide/no_index/deep/page.html",
    "_static/style.css",
    "_images/a b.png",
    "ünï.html",
    "odd?name.html",
]


def page(*urls: str, anchors: tuple[str, ...] = (), base: str | None = None, is_anchor: bool = True) -> PageLinks:
    return PageLinks([PageLink(url, is_anchor) for url in urls], frozenset(anchors), base)


def check(pages: dict[str, PageLinks]) -> list[BrokenLink]:
    site = SiteLinks([*SITE, *pages])
    for path, links in pages.items():
        site.add_page(path, links)
    broken = site.broken(100)
    assert site.count == len(broken)
    return broken


@pytest.mark.parametrize(
    ("document", "url", "expected"),
    [
        ("guide/start.html", "intro.html", ("guide/intro.html", "")),
        ("guide/start.html", "./intro.html#a", ("guide/intro.html", "a")),
        ("guide/start.html", "../index.html", ("index.html", "")),
        ("guide/start.html", "..", ("", "")),
        ("guide/start.html", "../", ("", "")),
        ("guide/start.html", ".", ("guide/", "")),
        ("guide/a/b.html", "../", ("guide/", "")),
        ("guide/start.html", "sub/", ("guide/sub/", "")),
        ("guide/start.html", "", ("guide/start.html", "")),
        ("guide/start.html", "#here", ("guide/start.html", "here")),
        ("guide/start.html", "?q=1#here", ("guide/start.html", "here")),
        ("guide/start.html", "a.html?v=1", ("guide/a.html", "")),
        ("guide/start.html", "a%20b.html", ("guide/a b.html", "")),
        ("guide/start.html", "%C3%BC.html", ("guide/ü.html", "")),
        ("guide/start.html", "a%3Fb.html", ("guide/a?b.html", "")),
        ("guide/start.html", "..\\index.html", ("index.html", "")),
        ("guide/start.html", " a.html\n", ("guide/a.html", "")),
        ("guide/start.html", "a.\nhtml", ("guide/a.html", "")),
        ("guide/start.html", "a:b.html", None),  # a scheme, as browsers see it
        ("guide/start.html", "./a:b.html", ("guide/a:b.html", "")),
        ("index.html", "../other/", None),
        ("index.html", "a/../../b", None),
        ("index.html", "%2e%2e/b", None),
        ("index.html", "/index.html", None),
        ("index.html", "//example.org/x", None),
        ("index.html", "\\\\example.org\\x", None),
        ("index.html", "https://example.org/", None),
        ("index.html", "HTTPS://example.org/", None),
        ("index.html", "mailto:a@example.org", None),
        ("index.html", "javascript:void(0)", None),
        ("index.html", "java\nscript:void(0)", None),
        ("index.html", "data:text/html,x", None),
        ("index.html", "http://[broken", None),
    ],
)
def test_an_address_is_resolved_as_browsers_do(document: str, url: str, expected: tuple[str, str] | None) -> None:
    assert resolve(document, url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "genindex.html",
        "guide/",
        "guide",
        "guide/start.html",
        "./",
        "_images/a%20b.png",
        "%C3%BCn%C3%AF.html",
        "ünï.html",
        "odd%3Fname.html",
        "_static/style.css?v=1234",
        "_static/style.css#anything",
        "#",
        "#top",
        "#TOP",
        "#here",
        "#h%C3%A9",
        "#hé",
        "#/route/of/a/script",
        "#!route",
        "#:~:text=word",
        "#here:~:text=word",
        "#7-12",
        "#L7-L12",
        "index.html#here",
        "https://example.org/nothing",
    ],
)
def test_a_link_that_leads_somewhere_is_no_problem(url: str) -> None:
    assert check({"index.html": page(url, anchors=("here", "hé", "7", "L7"))}) == []


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("nothing.html", "there is no such file"),
        ("Genindex.html", "there is no such file"),
        ("guide/start", "there is no such file"),
        ("odd?name.html", "there is no such file"),
        ("guide/no_index/", "the folder has no index.html"),
        ("guide/no_index", "there is no such file"),
        ("#nowhere", "the page has no such anchor"),
        ("index.html#nowhere", "the page has no such anchor"),
        ("guide/#nowhere", "the page has no such anchor"),
        ("#8-12", "the page has no such anchor"),
        ("guide#nowhere", "the page has no such anchor"),
    ],
)
def test_a_link_that_leads_nowhere_is_named_with_its_page_and_the_reason(url: str, reason: str) -> None:
    assert check({"index.html": page(url), "guide/index.html": page()}) == [BrokenLink("index.html", url, reason)]


def test_an_anchor_may_be_on_a_page_that_is_read_later() -> None:
    later = {"a.html": page("b.html#here", "b.html#gone"), "b.html": page("a.html#gone", anchors=("here",))}

    assert [(link.page, link.link) for link in check(later)] == [("a.html", "b.html#gone"), ("b.html", "a.html#gone")]


def test_an_anchor_of_a_page_that_was_not_read_is_not_judged() -> None:
    assert check({"index.html": page("genindex.html#x")}) == []


def test_an_anchor_of_a_page_that_leads_to_another_is_not_judged() -> None:
    redirect = PageLinks([PageLink("genindex.html", True)], frozenset(), None, is_redirect=True)

    assert check({"index.html": page("old.html#x"), "old.html": redirect}) == []
    assert check({"old.html": redirect, "zz.html": page("old.html#x")}) == []


def test_what_loads_a_file_needs_no_anchor() -> None:
    assert check({"index.html": page("index.html#sprite", is_anchor=False)}) == []
    assert len(check({"index.html": page("gone.svg#sprite", is_anchor=False)})) == 1


def test_a_link_that_a_page_repeats_counts_once() -> None:
    assert len(check({"a.html": page("x", "x", "x"), "b.html": page("x")})) == 2


@pytest.mark.parametrize(
    ("base", "url", "is_broken"),
    [
        ("guide/", "start.html", False),
        ("guide/", "genindex.html", True),
        ("guide/start.html", "start.html", False),
        ("guide/", "#here", True),  # an anchor of guide/index.html
        ("https://example.org/", "gone.html", False),
        ("/", "gone.html", False),
        ("../", "gone.html", False),
    ],
)
def test_base_moves_every_link_of_its_page(base: str, url: str, is_broken: bool) -> None:
    pages = {"index.html": page(url, anchors=("here",), base=base), "guide/index.html": page()}

    assert bool(check(pages)) is is_broken


def test_only_the_first_are_told() -> None:
    site = SiteLinks(["index.html"])
    site.add_page("index.html", page(*(f"{number:04}.html" for number in range(1_000))))

    assert site.count == 1_000
    assert [link.link for link in site.broken(2)] == ["0000.html", "0001.html"]
    assert len(SiteLinks([]).broken(2)) == 0


def test_a_long_link_is_cut() -> None:
    (broken,) = check({"index.html": page("x" * 100_000)})

    assert len(broken.link) == 500


@given(st.text(max_size=40), st.text(max_size=40))
def test_nothing_fails_at_any_address(document: str, url: str) -> None:
    resolved = resolve(document, url)
    if resolved is not None and url.strip():
        assert ".." not in resolved[0].split("/") or ".." in document.split("/")

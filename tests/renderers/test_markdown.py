"""Markdown: what it understands, what it lets through, what it tells about the source."""

import contextlib
import hashlib
import subprocess
import sys
from typing import Any

import html5lib
import pytest

from pressroom.errors import SourceInvalid, TooLarge
from pressroom.renderers import Rendered
from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions
from tests.security.markup import offences_in_html


@pytest.fixture(scope="module")
def engine() -> Markdown:
    return Markdown()


@pytest.fixture
def render(engine: Markdown) -> Any:
    def do(source: str, **options: Any) -> Rendered:
        return engine.render(source, "html", MarkdownOptions(**options))

    return do


def text_of(rendered: Rendered) -> str:
    return rendered.data.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("| a | b |\n|:-:|--:|\n| 1 | 2 |", '<td align="center">1</td>'),
        ("~~gone~~", "<del>gone</del>"),
        ("- [x] done", '<input type="checkbox" class="task-list-item-checkbox" checked="" disabled="">'),
        ("www.example.org", '<a href="http://www.example.org"'),
        ("note[^1]\n\n[^1]: text", '<section class="footnotes"'),
        ("$x^2$", '<span data-math-style="inline">x^2</span>'),
        ("```math\nx\n```", 'data-math-style="display"'),
        ("[[Home|the home]]", '<a href="Home" data-wikilink="true"'),
        ("> [!TIP]\n> good", 'class="markdown-alert markdown-alert-tip"'),
        ("# One & two", '<h1 id="one--two">'),
        ("```python\ndef f(): ...\n```", '<span class="k">def</span>'),
        ("```unknown-language\n<b>\n```", "&lt;b&gt;"),
        ("<details open><summary>more</summary>x</details>", "<details"),
        ("![a cat](data:image/png;base64,AAAA)", 'src="data:image/png;base64,AAAA"'),
    ],
)
def test_what_it_understands(render: Any, source: str, expected: str) -> None:
    assert expected in text_of(render(source))


def test_front_matter_headings_and_title_are_told(render: Any) -> None:
    rendered = render("---\ntitle: The guide\ntags: [a, b]\ndate: 2026-01-02\n---\n# First\n\n## Second `code`\n")
    assert rendered.details["front_matter"] == {"title": "The guide", "tags": ["a", "b"], "date": "2026-01-02"}
    assert rendered.details["title"] == "The guide"
    assert [(one["level"], one["id"], one["text"]) for one in rendered.details["headings"]] == [
        (1, "first", "First"),
        (2, "second-code", "Second code"),
    ]
    assert "tags" not in text_of(rendered)


@pytest.mark.parametrize(
    ("matter", "words", "place"),
    [
        ("a: [1", "not YAML", (3, 1)),
        ("a: &x 1\nb: *x", "aliases are not allowed", (3, 4)),
        ("- 1", "not a list of names", (2, 1)),
        ("a: !!python/object:os.system 1", "could not determine a constructor", (2, 4)),
    ],
)
def test_wrong_front_matter_is_told_with_its_place(render: Any, matter: str, words: str, place: tuple[int, int]) -> None:
    with pytest.raises(SourceInvalid, match=words) as caught:
        render(f"---\n{matter}\n---\n")
    assert (caught.value.line, caught.value.column) == place


def test_a_table_of_contents_is_put_at_the_top_or_where_it_is_asked_for(render: Any) -> None:
    source = "# A\n\n### B\n\n## C\n"
    nested = text_of(render(source, toc=True))
    assert nested.startswith('<nav class="toc"')
    links = html5lib.parse(nested, namespaceHTMLElements=False).findall(".//nav//a")
    assert [link.get("href") for link in links] == ["#a", "#b", "#c"]
    assert text_of(render(f"first\n\n[TOC]\n\n{source}")).startswith("<p>first</p>\n<nav")


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](Data:text/html,<script>alert(1)</script>)",
    '<a href="data:text/html;base64,AAAA">x</a>',
    '<img src="data:text/html,<script>1</script>">',
    "[x](vbscript:x)",
    "<javascript:alert(1)>",
    "[x]\n\n[x]: javascript:alert(1)",
    '# x" onmouseover="alert(1)',
    '![" onerror="alert(1)](x)',
    '```" onclick="alert(1)\nx\n```',
    '[^" onclick="a]: x\n\n[^" onclick="a]',
    "<iframe src=https://example.org></iframe>",
    "<form action=x><button formaction=javascript:alert(1)>",
    "<style>@import 'x'</style>",
    "<base href=//evil>",
    "<meta http-equiv=refresh content=0>",
    "<object data=x></object><embed src=x>",
    "[[javascript:alert(1)]]",
    "<!--pressroom diagram 0-->",
    "text <!-- hidden --> text",
    "<svg onload=alert(1)>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    '<a href="java&#10;script:alert(1)">x</a>',
    '<a href="\x01javascript:alert(1)">x</a>',
    '<a href="data:image/svg+xml,<svg onload=alert(1)>">x</a>',
    '<input type="image" formaction="javascript:alert(1)">',
    '<img src="x" srcset="y 2x">',
    '<a href="x" ping="//evil">x</a>',
    '<p style="background: url(//evil)">x</p>',
    "<template><script>alert(1)</script></template>",
]

# Nothing but text for Markdown itself: what looks like markup is escaped before anything is cleaned.
INERT = {
    "<svg/onload=alert(1)>",
    "[x](java\nscript:alert(1))",
    '# x" onmouseover="alert(1)',
    '![" onerror="alert(1)](x)',
    '```" onclick="alert(1)\nx\n```',
    '[^" onclick="a]: x\n\n[^" onclick="a]',
}


@pytest.mark.parametrize("source", HOSTILE)
def test_no_script_survives(render: Any, source: str) -> None:
    """X1, X2, X3: looked at as a browser would, not by a pattern."""
    assert offences(text_of(render(source, diagrams=True))) == []


def offences(markup: str) -> list[str]:
    # In a body: a comment before it would not be in the tree.
    return offences_in_html(f"<!DOCTYPE html><body>{markup}")


@pytest.mark.parametrize("source", HOSTILE)
def test_the_check_for_scripts_catches_what_is_not_cleaned(render: Any, source: str) -> None:
    found = offences(text_of(render(source, sanitise=False)))

    assert bool(found) is (source not in INERT), found


def test_pictures_without_words_and_pictures_of_files_are_told(render: Any) -> None:
    """F6."""
    rendered = render("text\n\n![](cat.png)\n\n![x](file:///etc/passwd)")
    assert [(one.code, one.line, one.column) for one in rendered.warnings] == [("no_alt", 3, 1), ("blocked_fetch", None, None)]
    assert "passwd" not in text_of(rendered)


def test_a_page_of_its_own_fetches_nothing(render: Any) -> None:
    rendered = render("# Hi\n\n*there*", page=True, lang="en", theme="dark")
    page = text_of(rendered)
    assert page.startswith('<!DOCTYPE html>\n<html lang="en" data-theme="dark">')
    assert "<title>Hi</title>" in page
    assert "http" not in page.replace("http-equiv", "")
    assert not rendered.warnings
    assert [one.code for one in render("x", page=True).warnings] == ["no_lang", "no_title"]


def test_titles_cannot_leave_their_place(render: Any) -> None:
    """X8."""
    page = text_of(render("x", page=True, title="</title><script>alert(1)</script>", lang='"><script>'))
    assert "<script>" not in page


COSTLY = {
    "brackets": "[" * 50_000,
    "quotes": ">" * 50_000,
    "bullets": " -" * 30_000,
    "emphasis": "*a_b" * 20_000,
    "tags": "<a " * 30_000,
    "entities": "&" * 100_000,
    "headings": "# x\n" * 20_000,
    "newlines": "\n" * 500_000,
    "ticks": "".join("`" * n + " " for n in range(1, 700)),
    "footnotes": "[^1]" * 20_000 + "\n\n[^1]: x",
    "accents": "\u0301" * 100_000,
    "columns": "|a" * 20_000,
}


@pytest.mark.parametrize("source", COSTLY.values(), ids=COSTLY)
def test_costly_sources_end(render: Any, source: str) -> None:
    """M1 to M8. Quadratic time would run into the timeout of the test."""
    with contextlib.suppress(TooLarge):
        render(source)


def test_references_cannot_multiply_without_end(render: Any) -> None:
    """M6."""
    source = f"[x]: {'a' * 10_000}\n\n" + "[x] " * 20_000
    with contextlib.suppress(TooLarge):
        assert len(render(source).data) <= 20 * len(source)


@pytest.mark.parametrize("source", ["a\0b", "\u202etxt", "a\r\nb\rc", "line\u2028sep", ""])
def test_odd_characters_are_rendered(render: Any, source: str) -> None:
    """M9."""
    assert isinstance(text_of(render(source)), str)


def test_the_same_source_gives_the_same_bytes_in_another_process(render: Any) -> None:
    source = "# T\n\n```python\nx = {1: 2}\n```\n\n[^1] a\n\n[^1]: b\n"
    script = (
        "import sys, hashlib\nfrom pressroom.renderers.markdown.engine import *\n"
        "print(hashlib.sha256(Markdown().render(sys.argv[1], 'html', MarkdownOptions(page=True)).data).hexdigest())"
    )
    there = subprocess.run([sys.executable, "-c", script, source], capture_output=True, text=True, check=True).stdout.strip()
    assert there == hashlib.sha256(render(source, page=True).data).hexdigest()

"""Documents of sections become a template and its data."""

from typing import Any

import html5lib
import pytest

from pressroom.errors import InvalidArgument
from pressroom.renderers.jinja.engine import Jinja, JinjaOptions
from pressroom.renderers.jinja.sections import template_of

HOSTILE = "<script>x</script>{{ 7 * 7 }}{% x %}"


def page_of(document: Any) -> Any:
    source, data = template_of(document)
    page = Jinja().render(source, "html", JinjaOptions(data=data)).data.decode()
    return html5lib.parse(page, namespaceHTMLElements=False)


def test_every_type_of_section_is_shown_and_no_text_is_markup() -> None:
    document = {
        "title": f"Report {HOSTILE}",
        "meta": {f"Author {HOSTILE}": HOSTILE, "pages": 3, "draft": True, "none": None},
        "sections": [
            {"type": "text", "title": f"T {HOSTILE}", "text": f"one\ntwo\n\n{HOSTILE}"},
            {"type": "bullets", "title": "B", "items": [HOSTILE, 2]},
            {"type": "table", "columns": ["a", HOSTILE], "rows": [[HOSTILE, 1.5], {"a": "x", HOSTILE: None}]},
            {"type": "table", "rows": [{"name": "n", "items": 4}]},
            {"type": "table", "rows": []},
        ],
    }
    page = page_of(document)

    def texts(path: str) -> list[str]:
        return ["".join(found.itertext()) for found in page.iterfind(path)]

    assert page.findtext("head/title") == f"Report {HOSTILE}"
    assert texts("body/h1") == [f"Report {HOSTILE}"]
    assert texts("body/table//td") == [HOSTILE, "3", "true", ""]
    assert texts(".//h2") == [f"T {HOSTILE}", "B"]
    assert texts(".//p") == ["one\ntwo", HOSTILE]
    assert texts(".//li") == [HOSTILE, "2"]
    assert texts(".//section//th") == ["a", HOSTILE, "name", "items"]
    assert texts(".//section//td") == [HOSTILE, "1.5", "x", "", "n", "4"]
    assert page.find(".//script") is None


def test_other_names_for_the_same_are_understood() -> None:
    page = page_of(
        {
            "sections": [
                {"type": "text", "heading": "H", "content": "c"},
                {"type": "bullets", "bullets": ["b"]},
                {"type": "table", "headers": ["h"], "rows": [["r"]]},
            ]
        }
    )
    assert [page.findtext(f".//{tag}") for tag in ("h2", "p", "li", "th", "td")] == ["H", "c", "b", "h", "r"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "the document must be an object"),
        ({}, "/sections must be a list"),
        ({"sections": [], "style": 1}, "/style must be left out"),
        ({"title": [], "sections": []}, "/title must be a text or a number"),
        ({"sections": {}}, "/sections must be a list"),
        ({"sections": [1]}, "/sections/0 must be an object with a type"),
        ({"sections": [{"type": "chart"}]}, "/sections/0/type must be one of text, bullets, table"),
        ({"sections": [{"type": ["text"]}]}, "/sections/0/type must be one of"),
        ({"sections": [{"type": "text"}]}, "/sections/0/text must be given"),
        ({"sections": [{"type": "text", "text": {}}]}, "/sections/0/text must be a text"),
        ({"sections": [{"type": "bullets", "items": ["a", []]}]}, "/sections/0/items/1 must be a text"),
        ({"sections": [{"type": "table"}]}, "/sections/0/rows must be a list"),
        ({"sections": [{"type": "table", "columns": ["a"], "rows": [["1", "2"]]}]}, "/sections/0/rows/0 must be 1 cells"),
        (
            {"sections": [{"type": "table", "columns": ["a"], "rows": [{"a/b~": 1}]}]},
            "/sections/0/rows/0/a~1b~0 must be one of",
        ),
        ({"sections": [{"type": "table", "rows": [[float("nan")]]}]}, "/sections/0/rows/0/0 must be a text or a number"),
        ({"sections": [{"type": "table", "rows": [3]}]}, "/sections/0/rows/0 must be a list"),
        ({"sections": [], "meta": []}, "/meta must be an object"),
        ({"sections": [], "meta": {"a": {}}}, "/meta/a must be a text or a number"),
        ({"sections": [{"type": "text", "text": ""}] * 1_001}, "/sections must be a list of at most 1,000; it has 1,001"),
    ],
)
def test_what_is_wrong_is_told_with_a_pointer(document: Any, words: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        template_of(document)

    assert str(caught.value).startswith(words)

"""Markdown against the specifications of CommonMark and of GitHub's Markdown."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import html5lib
import pytest

from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions
from tests.conformance import differences, registries, specs
from tests.conformance.specs import Example

type Fetched = Callable[..., Any]


@cache
def markdown() -> Markdown:
    return Markdown()


def as_written(example: Example, flavour: Any) -> str:
    return markdown().to_html(example.markdown, MarkdownOptions(flavour=flavour, sanitise=False, highlight=False))


def cleaned(example: Example, flavour: Any) -> str:
    return markdown().render(example.markdown, "html", MarkdownOptions(flavour=flavour, highlight=False)).data.decode()


def parts(page: str) -> Counter[str]:
    """Every element, every attribute and the text, as a browser would understand them."""
    # As a whole page: in a fragment, html5lib loses what it moves out of a table.
    tree = html5lib.parse(f"<!doctype html><body>{page}", treebuilder="etree", namespaceHTMLElements=False).find("body")
    found = Counter([f"text: {''.join(''.join(tree.itertext()).split())}"])
    for element in tree.iter():
        name = element.tag if isinstance(element.tag, str) else "comment"
        found[name] += 1
        # `rel` is what the cleaning adds to a link.
        found.update(f"{name} {key}={value}" for key, value in element.attrib.items() if key != "rel")
    return found


def test_every_example_of_commonmark_comes_out_as_the_specification_says(fetched: Fetched) -> None:
    examples = fetched(specs.commonmark)

    wrong = [example.number for example in examples if as_written(example, "commonmark") != example.html]

    assert len(examples) == 652
    assert wrong == []


def test_every_difference_from_githubs_specification_is_known_and_explained(fetched: Fetched) -> None:
    examples = fetched(specs.gfm)

    different = {example.number for example in examples if as_written(example, "gfm") != example.html}

    assert len(examples) == 672
    assert different == differences.explained(differences.GFM)


def test_a_task_list_of_githubs_specification_differs_in_its_spelling_alone(fetched: Fetched) -> None:
    tasks = [example for example in fetched(specs.gfm) if "Task list" in example.section]

    assert len(tasks) == 2
    for example in tasks:
        assert parts(as_written(example, "gfm")) == parts(example.html)


@pytest.mark.parametrize(
    ("flavour", "corpus", "reasons"),
    [("commonmark", specs.commonmark, differences.CLEANED_COMMONMARK), ("gfm", specs.gfm, differences.CLEANED_GFM)],
    ids=["commonmark", "gfm"],
)
def test_cleaning_loses_nothing_but_what_is_listed(
    fetched: Fetched, flavour: str, corpus: Any, reasons: differences.Reasons
) -> None:
    examples = fetched(corpus)

    poorer = {example.number for example in examples if parts(as_written(example, flavour)) != parts(cleaned(example, flavour))}

    assert poorer == differences.explained(reasons)


def test_every_difference_is_in_the_documentation() -> None:
    page = (registries.ROOT / "docs" / "conformance.md").read_text()
    texts = [*differences.GFM, *differences.CLEANED_COMMONMARK, *differences.CLEANED_GFM]
    texts += [*differences.MERMAID.values(), *differences.MERMAID_BROWSER.values(), *differences.GRAPHVIZ.values()]

    assert [text for text in [*texts, *differences.D2.values()] if text not in page] == []

"""Documents that take more than one engine."""

import asyncio
import base64
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pypdf
import pytest

from pressroom.errors import InvalidArgument, TooLarge
from pressroom.renderers import Rendered, catalogue, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.sandbox.engine_pools import EnginePools

GUIDE = """---
title: Guide
lang: en
---
# Guide

```mermaid
flowchart LR
  accTitle: The way of a source
  A[Source] --> B[Picture]
```

```dot
digraph { a -> }
```
"""


@asynccontextmanager
async def presses() -> AsyncIterator[EnginePools]:
    opened = EnginePools(1)
    try:
        yield opened
    finally:
        await opened.close()


async def made(source: str, output: str, language: str = "markdown", engine: str | None = None, **options: Any) -> Rendered:
    async with presses() as box:
        return await documents.render(
            box, documents.make_plan(RenderRequest(language, output, source.encode(), options, engine))
        )


async def test_diagrams_are_drawn_into_the_page_as_pictures_with_words() -> None:
    rendered = await made(GUIDE, "html")
    page = rendered.data.decode()
    picture = re.search(
        r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="The way of a source" width="\d+" height="\d+">', page
    )
    assert picture is not None
    assert b"Source" in base64.b64decode(picture[1])
    assert "<!--" not in page


async def test_a_diagram_that_is_wrong_costs_its_place_and_not_the_page() -> None:
    rendered = await made(GUIDE, "html")
    failed = [one for one in rendered.warnings if one.code == "diagram_failed"]
    assert [one.line for one in failed] == [14]
    assert "This graphviz diagram could not be drawn" in rendered.data.decode()


async def test_markdown_is_printed_with_its_diagrams() -> None:
    rendered = await made(GUIDE, "pdf", page="Letter", page_numbers=True)
    pdf = pypdf.PdfReader(io.BytesIO(rendered.data))
    text = pdf.pages[0].extract_text()
    assert "Guide" in text
    assert "Picture" in text  # a label of the diagram, as text
    assert "1 / 1" in text
    assert round(pdf.pages[0].mediabox.width) == 612
    assert rendered.details["title"] == "Guide"


async def test_the_same_document_gives_the_same_bytes() -> None:
    assert (await made(GUIDE, "pdf")).data == (await made(GUIDE, "pdf")).data


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (RenderRequest("cobol", "svg", b""), "there is no language 'cobol'; there are markdown, html"),
        (RenderRequest("../../x", "svg", b""), "there is no language"),
        (RenderRequest("MERMAID", "svg", b""), "there is no language 'MERMAID'"),
        (RenderRequest("", "svg", b""), "there is no language ''"),
        (RenderRequest("x" * 10_000, "svg", b""), "there is no language 'xxxx"),
        (RenderRequest("mermaid", "docx", b""), "cannot be made into 'docx'; it can be svg, png, pdf"),
        (RenderRequest("mermaid", "svg", b"", engine="d2"), "d2 takes d2, not 'mermaid'"),
        (RenderRequest("mermaid", "svg", b"", engine="nope"), "there is no engine 'nope'"),
        (RenderRequest("markdown", "pdf", b"", engine="d2"), "does not print Markdown; html and html-browser do"),
        (RenderRequest("markdown", "pdf", b"", {"colour": 1}), "there is no option `colour`"),
        (RenderRequest("markdown", "html", b"", engine="html"), "for Markdown it makes pdf"),
    ],
)
def test_what_nobody_can_make_is_refused_in_words(asked: RenderRequest, words: str) -> None:
    """D8."""
    with pytest.raises(InvalidArgument, match=re.escape(words)) as caught:
        documents.make_plan(asked)
    assert len(str(caught.value)) < 1000


def test_every_engine_that_has_a_part_is_in_the_fingerprint() -> None:
    asked = RenderRequest("markdown", "pdf", b"~~~ mermaid\ngraph TD\n~~~\n\n- list\n\n  ```dot\n  digraph {}\n  ```\n")
    assert list(documents.engines_of(documents.make_plan(asked))) == ["markdown", "html", "graphviz", "mermaid"]
    assert list(documents.engines_of(documents.make_plan(RenderRequest("markdown", "html", b"plain")))) == ["markdown"]


def test_every_engine_describes_itself() -> None:
    for engine in catalogue.engines():
        assert catalogue.get_engine(engine.name) is engine
        assert engine.sample
        assert engine.makes
        assert "edition" in engine.version()
        assert engine.Options() is not None


async def test_a_page_has_only_so_many_diagrams() -> None:
    source = "```dot\ndigraph { a }\n```\n\n" * 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "MOST_DIAGRAMS", 2)
        rendered = await made(source, "html")
    assert rendered.data.count(b"<img ") == 2
    assert "at most 2 diagrams" in str([one.message for one in rendered.warnings])


async def test_a_source_past_its_limit_is_refused() -> None:
    with pytest.raises(TooLarge, match="at most 1,048,576"):
        await made("x" * 1_048_577, "html")


async def test_pictures_and_words_of_many_callers_do_not_mix() -> None:
    async with presses() as box:
        asked = [RenderRequest("dot", "svg", f"digraph {{ node{n} }}".encode()) for n in range(20)]
        drawn = await asyncio.gather(*[documents.render(box, documents.make_plan(one)) for one in asked])
    for number, one in enumerate(drawn):
        assert f">node{number}<" in one.data.decode()

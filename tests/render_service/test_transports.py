"""One contract for both ways in which a worker gets a PDF: from its own presses, and from a render service."""

import asyncio
import io
from dataclasses import replace

import pypdf
import pytest

from pressroom.errors import (
    InvalidArgument,
    PressroomError,
    Refused,
    RenderRefused,
    SourceInvalid,
    Timeout,
    TooLarge,
    Transient,
)
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.html import Html
from tests.render_service.stage import HELLO, SLOW, TOKEN, html, on_stage, remote, transport

FINAL = (Refused, SourceInvalid, TooLarge)  # a retry would end the same
both_transports = pytest.mark.parametrize("name", ["local", "remote"])


async def error_of(name: str, request: RenderRequest) -> PressroomError:
    async with transport(name) as renderer:
        with pytest.raises(PressroomError) as raised:
            await renderer.render_pdf(request)
    return raised.value


@both_transports
async def test_a_document_is_printed_and_its_pages_are_counted(name: str) -> None:  # R21
    two_pages = HELLO + '<p style="break-before: page">Second<img src="data:,">'
    async with transport(name) as renderer:
        rendered = await renderer.render_pdf(html(two_pages, page_numbers=True))

    assert rendered.data.startswith(b"%PDF-")
    assert rendered.details["pages"] == 2
    assert rendered.details["engines"] == {"html": Html.version()}
    assert [warning.code for warning in rendered.warnings] == ["no_alt"]
    assert rendered.warnings[0].line == 1


async def test_both_print_the_same_bytes() -> None:
    markdown = RenderRequest("markdown", "pdf", "# Title\n\nText – with an umlaut: ä".encode(), {"page": "A5"})
    made = []
    for name in ("local", "remote"):
        async with transport(name) as renderer:
            made.append(await renderer.render_pdf(markdown))

    assert made[0].data == made[1].data
    assert made[0].warnings == made[1].warnings


@both_transports
@pytest.mark.parametrize(
    "request_",
    [
        html(" "),
        html(HELLO, pages="A4"),
        html(HELLO, header="x" * 1001),
        html(HELLO + " " * 10 * 1024 * 1024),
        RenderRequest("html", "pdf", HELLO.encode(), {}, "no-such-engine"),
        RenderRequest("html", "pdf", HELLO.encode(), {}, "graphviz"),
        RenderRequest("html", "pdf", b"<p>\n\xff"),
        RenderRequest("cobol", "pdf", b""),
    ],
    ids=["empty", "option", "long header", "too large", "no engine", "no printer", "no text", "language"],
)
async def test_what_is_wrong_with_a_request_is_final(name: str, request_: RenderRequest) -> None:  # R28
    assert isinstance(await error_of(name, request_), FINAL)


@both_transports
async def test_bytes_that_are_no_text_are_told_with_their_line(name: str) -> None:
    error = await error_of(name, html(b"<p>\n\xff"))

    assert isinstance(error, SourceInvalid)
    assert error.line == 2


@both_transports
async def test_a_page_that_takes_too_long_may_be_tried_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Html, "limits", replace(Html.limits, seconds=0.2))

    assert isinstance(await error_of(name, html(SLOW)), Timeout | Transient)


OFFER = RenderRequest(
    "jinja",
    "pdf",
    b"{% include 'head' %}\n<p>{{ t('for') }} {{ person.name }}",
    {
        "data": {"person": {"name": "Anna <Example>"}},
        "templates": {"head": "<h1>{{ t('offer') }}</h1>"},
        "strings": {"offer": "Angebot", "for": "für"},
        "styles": ["h1 { color: #000080 }"],
        "lang": "de",
        "title": "Offer",
        "page": "A5",
        "page_numbers": True,
    },
)


async def test_both_fill_a_template_alike() -> None:
    made = []
    for name in ("local", "remote"):
        async with transport(name) as renderer:
            made.append(await renderer.render_pdf(OFFER))

    assert made[0].data == made[1].data
    assert made[0].details["engines"] == made[1].details["engines"]
    assert made[0].details["engines"].keys() == {"jinja", "html"}
    text = "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(made[0].data)).pages)
    assert "Angebot" in text
    assert "für Anna <Example>" in text


@both_transports
@pytest.mark.parametrize(("source", "line"), [(b"<p>\n{{ person.age }}", 2), (b"\n\n{% if %}", 3), (b"{{ ''.__class__ }}", 1)])
async def test_what_is_wrong_with_a_template_is_told_with_its_line(name: str, source: bytes, line: int) -> None:
    error = await error_of(name, RenderRequest("jinja", "pdf", source, OFFER.options))

    assert isinstance(error, SourceInvalid | RenderRefused)
    assert error.line == line


async def test_a_service_does_not_make_what_is_no_pdf() -> None:
    async with remote("http://127.0.0.1:1") as renderer:
        with pytest.raises(InvalidArgument, match="does not make 'png' of 'html'"):
            await renderer.render_pdf(RenderRequest("html", "png", b"<p>"))


async def test_a_cancelled_job_frees_the_slot_and_the_press(eventually) -> None:
    """And a client that disconnects is the same to the service."""
    async with on_stage(concurrent=1, render_token=TOKEN) as stage, remote(stage.url, token=TOKEN) as renderer:
        rendering = asyncio.create_task(renderer.render_pdf(html(SLOW)))
        await eventually(lambda: stage.is_rendering)
        rendering.cancel()
        await asyncio.wait({rendering})
        assert rendering.cancelled()

        await eventually(lambda: stage.is_idle and stage.renders("gone") == 1)
        assert (await renderer.render_pdf(html(HELLO))).details["pages"] == 1

"""What each answer of a render service means for a job (the table of docs/render-service.md). The server only pretends."""

import asyncio
import email.utils
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pressroom import errors
from pressroom.errors import Backpressure, PressroomError, RenderNotPdf, RenderRefused, RenderUnreachable, Timeout, TooLarge
from pressroom.render_client.answers import LONGEST_RETRY_AFTER, seconds_of
from tests.render_service.stage import HELLO, Behaviour, html, pretended_service, remote, response
from tests.servers import free_ports

SECRET = "their own words, with a s3cret"
PDF = b"%PDF-1.7 and so on"


async def ask(answer: bytes | Behaviour, **options: object) -> PressroomError:
    async with pretended_service(answer) as url, remote(url, **options) as renderer:
        with pytest.raises(PressroomError) as raised:
            await renderer.render_pdf(html(HELLO))
    return raised.value


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 406, 409, 410, 413, 414, 415, 418, 421, 422, 431, 451])
async def test_a_refusal_is_final(status: int) -> None:  # R28, D16
    error = await ask(response(f"{status} No", SECRET.encode()))

    assert (type(error), error.code) == (RenderRefused, "render_http_4xx")
    assert isinstance(error, errors.Refused)
    assert str(status) in str(error)


@pytest.mark.parametrize("status", [408, 425, 429, 503])
async def test_a_service_without_room_costs_no_attempt(status: int) -> None:
    error = await ask(response(f"{status} Later", Retry_After="7"))

    assert isinstance(error, Backpressure)
    assert error.retry_after == 7


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 507])
async def test_a_failure_of_the_service_is_tried_again(status: int) -> None:
    error = await ask(response(f"{status} Oh", SECRET.encode()))

    assert isinstance(error, errors.Transient)
    assert error.code == "render_http_5xx"


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Go", "308 Go", "204 Nothing", "206 Part"])
async def test_a_redirect_is_not_followed_and_no_pdf(status: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(response(status, b"" if "204" in status else PDF, Location="http://127.0.0.1:1/render"))

    assert (await ask(answer)).code == "render_not_pdf"


@pytest.mark.parametrize("body", [b"<!DOCTYPE html><title>Log in</title>", b"", b"%PD", b" %PDF-1.7", b"\x1f\x8b%PDF-"])
async def test_something_else_with_status_200_is_tried_again(body: bytes) -> None:  # R22
    error = await ask(response("200 OK", body, Content_Type="text/html"))

    assert (type(error), error.code) == (RenderNotPdf, "render_not_pdf")
    assert str(error) == "the render service answered with text/html that is no PDF"


async def test_compressed_data_is_not_unpacked() -> None:
    assert (await ask(response("200 OK", PDF, Content_Encoding="gzip"))).code == "render_not_pdf"


async def test_an_answer_that_is_longer_than_the_limit() -> None:
    assert isinstance(await ask(response("200 OK", PDF + b" " * 100), answer_limit=100), TooLarge)
    assert (await ask(response("200 OK", b"<html>" + b" " * 100), answer_limit=100)).code == "render_not_pdf"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n%PDF-1.7 half of it",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n%PDF-1.7\n\r\n",
        response("200 OK", PDF, Content_Digest="sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"),
    ],
    ids=["closed", "no http", "half a body", "half of the chunks", "another digest"],
)
async def test_half_an_answer_is_tried_again(answer: bytes) -> None:
    error = await ask(answer)

    assert (type(error), error.code) == (RenderUnreachable, "render_unreachable")


async def test_nothing_listens_there() -> None:
    async with remote(f"http://127.0.0.1:{free_ports(1)[0]}") as renderer:
        with pytest.raises(RenderUnreachable, match="cannot be reached"):
            await renderer.render_pdf(html(HELLO))


@pytest.mark.parametrize("begins", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n%PDF-1.7"], ids=["at all", "then"])
async def test_silence_is_a_timeout(begins: bytes) -> None:
    gone = asyncio.Event()

    async def stay_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begins)
        await reader.read()  # until the client closes
        gone.set()

    assert isinstance(await ask(stay_silent, timeout=0.5), Timeout)
    await asyncio.wait_for(gone.wait(), 60)  # the connection is closed, so the service stops its render


async def test_what_the_service_says_goes_to_the_detail_alone() -> None:  # D22
    problem = json.dumps({"status": 422, "detail": SECRET, "line": 3, "column": 14, "excerpt": SECRET}).encode()

    error = await ask(response("422 No", problem, Content_Type="application/problem+json"))

    assert isinstance(error, RenderRefused)
    assert (error.line, error.column) == (3, 14)
    assert str(error) == "the render service cannot render this source (422), line 3"
    assert error.detail == problem.decode()


@pytest.mark.parametrize("body", [b'{"line": "3"}', b'{"line": -1}', b'{"line": 1e300}', b"[" * 60_000, b"\xff", b"null"])
async def test_a_problem_that_is_none_tells_no_line(body: bytes) -> None:
    error = await ask(response("422 No", body))

    assert isinstance(error, RenderRefused)
    assert error.line is None


async def test_a_long_refusal_is_not_read_to_its_end() -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 422 No\r\nContent-Length: 1000000000\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 65_536)
            await writer.drain()

    error = await ask(flood)
    assert isinstance(error, RenderRefused)
    assert len(error.detail or "") <= 65_536


@contextmanager
def proxy_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    yield


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with proxy_in_the_environment(monkeypatch):
        async with pretended_service(response("200 OK", PDF, Pressroom_Pages="4")) as url, remote(url) as renderer:
            assert (await renderer.render_pdf(html(HELLO))).details == {"pages": 4, "engines": {}}


def test_how_long_a_service_without_room_is_left_alone() -> None:
    in_a_minute = email.utils.formatdate(time.time() + 60, usegmt=True)

    assert [seconds_of(text) for text in (None, "", "soon", "30", "0", "99999999999999")] == [
        5,
        5,
        5,
        30,
        1,
        LONGEST_RETRY_AFTER,
    ]
    assert 1 <= seconds_of(in_a_minute) <= 60
    assert seconds_of("Mon, 01 Jan 2001 00:00:00 GMT") == 1

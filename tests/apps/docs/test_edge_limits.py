"""What readers may make the edge do: how much it keeps in memory, how often it reads, and what it tells of private sites."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from pressroom.apps.docs.edge import answers
from pressroom.apps.docs.edge.contents import SMALL, Contents
from pressroom.apps.docs.edge.readers import COOKIE
from pressroom.apps.docs.edge.sites import ServedFile
from tests.apps.docs.edge_stage import edge_stage, page
from tests.apps.docs.test_edge_private import ADDRESS, sign, with_private_site


@pytest.mark.parametrize("extra", ["\r\n", ";", " ", "%", ",", "=", "\x7f"])
async def test_a_link_with_something_after_its_token_is_no_link(file: str, extra: str) -> None:
    """The base64 decoder skips other characters; in a Set-Cookie header they would be attributes, or break the answer."""
    async with with_private_site(file) as stage:
        token = sign(stage)
        answer = await stage.http.get(ADDRESS, params={"token": f"{token}{extra}"})
        by_cookie = await stage.get(ADDRESS, cookie=f"{COOKIE}={token}%")

    assert (answer.status_code, by_cookie.status_code) == (404, 404)
    assert "set-cookie" not in answer.headers


async def test_a_query_with_many_fields_does_not_tell_that_a_private_site_exists(file: str) -> None:
    async with with_private_site(file) as stage:
        query = "?token=x" + "&a=1" * 200
        private, nowhere = [await stage.get(f"/{org}/guide/{query}") for org in ("closed", "nowhere")]

    assert (private.status_code, private.content) == (404, nowhere.content)


async def test_wrong_tokens_count_also_where_no_site_is(file: str) -> None:
    """A limit for private sites alone would tell which names are theirs."""
    async with with_private_site(file, login_limit=5) as stage:
        wrong = {"authorization": "Bearer pr_wrong"}
        nowhere = [(await stage.get("/nowhere/guide/", **wrong)).status_code for _ in range(6)]
        private = (await stage.get(ADDRESS, **wrong)).status_code

    assert nowhere == [404] * 5 + [429]
    assert private == 429


async def test_long_headers_are_not_kept_in_memory(file: str) -> None:
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish({"index.html": page("home")})
        before = answers._encode_short.cache_info().currsize
        for number in range(5):
            moved = await stage.get(f"/acme/guide/v?{number}{'a' * 20_000}")
            assert len(moved.headers["location"]) > 20_000
        after = answers._encode_short.cache_info().currsize

    assert after - before < 5 + 5  # of those that all five have in common


async def test_a_file_that_many_ask_for_at_once_is_read_once() -> None:
    reads, go_on = [], asyncio.Event()

    class SlowBlobs:
        async def get(self, key: str) -> AsyncIterator[bytes]:
            reads.append(key)
            await go_on.wait()
            return _pieces()

    async def _pieces() -> AsyncIterator[bytes]:
        yield b"bytes"

    blobs: Any = SlowBlobs()
    contents = Contents(lambda: blobs)
    wanted = ServedFile("0" * 64, 1, 5, "text/css")
    readers = [asyncio.create_task(contents.read(wanted)) for _ in range(50)]
    await asyncio.sleep(0)
    readers[0].cancel()
    go_on.set()

    assert await asyncio.gather(*readers[1:]) == [b"bytes"] * 49
    assert len(reads) == 1


async def test_head_of_a_large_file_reads_nothing_of_it(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish({"index.html": page("home"), "big.bin": b"x" * (SMALL + 1)})
        got = await stage.get("/acme/guide/big.bin")

        async def refuse(*_: Any) -> Any:
            raise AssertionError("a stream was opened")

        monkeypatch.setattr(Contents, "stream", refuse)
        head = await stage.http.head("/acme/guide/big.bin", headers={"Accept-Encoding": "identity"})

    assert head.status_code == 200
    assert {**head.headers, "date": ""} == {**got.headers, "date": ""}


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
async def test_if_none_match_of_anything_is_304_in_every_encoding(file: str, encoding: str) -> None:
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish({"index.html": page("home" * 1000)})
        answer = await stage.get("/acme/guide/", accept_encoding=encoding, if_none_match="*")

    assert answer.status_code == 304


async def test_refusals_keep_the_case_of_their_words(file: str) -> None:
    async with edge_stage(file) as stage:
        answer = await stage.get("/acme/guide/%ff")

    assert "The path is not percent-encoded UTF-8." in answer.text

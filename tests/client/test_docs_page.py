"""The page that explains the service: whole without scripts, and without anything from elsewhere."""

import base64
import hashlib
import re
import shlex
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import html5lib
import httpx
import pytest

from pressroom import Pressroom
from pressroom.api import docs
from pressroom.api.routing import Application
from pressroom.serving import make_service
from tests.client.stage import Served


@asynccontextmanager
async def documented(database: str) -> AsyncIterator[tuple[httpx.AsyncClient, Application]]:
    async with Pressroom(database, workers=None) as press:
        service, real = make_service(press)
        app = Application([*docs.router(service)], lambda _: real.document)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8000") as client:
            yield client, real


async def test_every_operation_and_schema_is_on_the_page(file: str) -> None:
    async with documented(file) as (client, app):
        page = (await client.get("/docs")).text
        document = app.document

    ids = set(re.findall(r' id="([^"]+)"', page))
    assert {operation["operationId"] for item in document["paths"].values() for operation in item.values()} <= ids
    assert {f"schema-{name}" for name in document["components"]["schemas"]} <= ids
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids
    html5lib.HTMLParser(strict=True).parse(page)


async def test_the_page_needs_nothing_and_allows_nothing(file: str) -> None:
    async with documented(file) as (client, _):
        answer = await client.get("/docs")

    style = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    assert len(style) == 1
    digest = base64.b64encode(hashlib.sha256(style[0].encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"<script|<link|<img|<iframe|style=|url\(|@import|\son\w+=", answer.text)
    assert set(re.findall(r'href="([^#"][^"]*)"', answer.text)) == {"openapi.json"}


async def test_the_document_is_not_sent_twice_to_who_has_it(file: str) -> None:
    async with documented(file) as (client, app):
        for path in ("/openapi.json", "/docs"):
            first = await client.get(path)
            again = await client.get(path, headers={"If-None-Match": first.headers["etag"]})
            assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
        assert (await client.get("/openapi.json")).json() == app.document


def test_what_a_document_says_is_text_and_not_markup() -> None:
    evil = {
        "info": {"title": "<script>", "version": "1"},
        "paths": {"/<b>": {"get": {"operationId": '"><script>', "description": "<img src=x>", "responses": {}}}},
    }
    assert "<script" not in docs.page(evil, "http://x/<script>")
    assert "<img" not in docs.page(evil, "")


@pytest.mark.parametrize("served", ["file"], indirect=True)
def test_the_curl_lines_can_be_pasted(served: Served) -> None:
    operation = {"requestBody": {"content": {"application/json": {"example": {"kind": "shout", "payload": {"text": "it's"}}}}}}
    line = docs.curl("post", "/jobs", operation, served.url)

    done = subprocess.run([*shlex.split(line), "--silent", "--noproxy", "*"], capture_output=True, text=True, check=True)

    assert '"kind":"shout"' in done.stdout

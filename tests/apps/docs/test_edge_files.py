"""How the edge sends files: tags, ranges, compression, media types, and large ones."""

import gzip
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from pressroom.apps.docs.edge import contents
from tests.apps.docs.edge_stage import EdgeStage, edge_stage, page

LONG = b"<!doctype html><title>Long</title>" + b"<p>the same again</p>\n" * 1000
NOISE = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(64))
LARGE = bytes(range(256)) * 4096
SITE = {
    "index.html": page("home"),
    "long.html": LONG,
    "noise.txt": NOISE,
    "large.bin": LARGE,
    "ready.js": b"// plain " + b"x" * 2000,
    "ready.js.gz": gzip.compress(b"// compressed before"),
    "ready.js.br": b"not really brotli",
    "font.woff2": b"wOF2",
    "app.mjs": b"export {}",
    "data.unknown": b"?",
    "empty.html": b"",
}
ADDRESS = "/acme/guide/"


@asynccontextmanager
async def with_site(database: str) -> AsyncIterator[EdgeStage]:
    async with edge_stage(database) as stage:
        await stage.add_project()
        await stage.publish(SITE)
        yield stage


async def test_the_tag_is_the_hash_of_the_file(file: str) -> None:
    async with with_site(file) as stage:
        found = await stage.get(ADDRESS)
        tag = found.headers["etag"]
        same = [
            await stage.get(ADDRESS, if_none_match=given)
            for given in (tag, f"W/{tag}", f'"other", {tag}', "*", f'"a","b" , {tag} ,"c"')
        ]
        other = [await stage.get(ADDRESS, if_none_match=given) for given in ('"other"', tag.strip('"'), "")]

    assert tag == f'"{hashlib.sha256(page("home")).hexdigest()}"'
    assert [(one.status_code, one.content) for one in same] == [(304, b"")] * 5
    assert {one.headers["etag"] for one in same} == {tag}
    assert same[0].headers["x-docverse-build"] == found.headers["x-docverse-build"]
    assert [one.status_code for one in other] == [200] * 3


@pytest.mark.parametrize("path", ["", "large.bin", "long.html", "v/", "v/switcher.json", "missing.html", "v"])
async def test_head_is_get_without_the_body(file: str, path: str) -> None:
    async with with_site(file) as stage:
        got = await stage.get(ADDRESS + path)
        head = await stage.http.head(ADDRESS + path, headers={"Accept-Encoding": "identity"})

    def told(response: httpx.Response) -> dict[str, str]:
        return {name: value for name, value in response.headers.items() if name != "date"}

    assert head.content == b""
    assert (head.status_code, told(head)) == (got.status_code, told(got))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"])
async def test_sites_are_only_read(file: str, method: str) -> None:
    async with with_site(file) as stage:
        refused = await stage.http.request(method, ADDRESS)

    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [("bytes=0-9", 0, 10), ("bytes=-5", -5, None), ("bytes=100-", 100, None), ("bytes=5-99999999", 5, None)],
)
@pytest.mark.parametrize("name", ["large.bin", "long.html"])
async def test_a_range_is_sent_as_it_was_asked_for(file: str, name: str, asked: str, start: int, stop: int | None) -> None:
    async with with_site(file) as stage:
        found = await stage.get(ADDRESS + name, range=asked, accept_encoding="gzip")
        whole = await stage.get(ADDRESS + name)

    assert found.status_code == 206
    assert found.content == SITE[name][start:stop]
    assert found.headers["content-range"].endswith(f"/{len(SITE[name])}")
    assert found.headers["etag"] == whole.headers["etag"]
    assert whole.headers["accept-ranges"] == "bytes"


async def test_ranges_that_cannot_be_are_refused_or_ignored(file: str) -> None:
    async with with_site(file) as stage:
        past = await stage.get(f"{ADDRESS}large.bin", range=f"bytes={len(LARGE)}-")
        several = await stage.get(f"{ADDRESS}large.bin", range="bytes=0-1,5-6")
        wrong = await stage.get(f"{ADDRESS}large.bin", range="lines=1-2")
        tag = several.headers["etag"]
        unchanged = await stage.get(f"{ADDRESS}large.bin", range="bytes=0-1", if_range=tag)
        changed = await stage.get(f"{ADDRESS}large.bin", range="bytes=0-1", if_range='"other"')

    assert (past.status_code, past.headers["content-range"]) == (416, f"bytes */{len(LARGE)}")
    assert several.content == wrong.content == changed.content == LARGE
    assert (unchanged.status_code, unchanged.content) == (206, LARGE[:2])


async def test_text_is_compressed_once_for_those_who_accept_it(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compressed: list[int] = []
    compress = gzip.compress

    def counted(data: bytes, *args: int, **more: int) -> bytes:
        compressed.append(len(data))
        return compress(data, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(contents.gzip, "compress", counted)  # type: ignore[attr-defined]
    async with with_site(file) as stage:
        plain = await stage.get(f"{ADDRESS}long.html")
        found = [await stage.get(f"{ADDRESS}long.html", accept_encoding=one) for one in ("gzip", "deflate, gzip;q=0.5", "*")]
        refused = [await stage.get(f"{ADDRESS}long.html", accept_encoding=one) for one in ("gzip;q=0", "br", "*, gzip;q=0.0")]
        tag = found[0].headers["etag"]
        same = await stage.get(f"{ADDRESS}long.html", accept_encoding="gzip", if_none_match=tag)
        not_same = await stage.get(f"{ADDRESS}long.html", if_none_match=tag)

    assert {one.headers["content-encoding"] for one in found} == {"gzip"}
    assert {one.content for one in found} == {LONG}
    assert int(found[0].headers["content-length"]) < len(LONG) / 10
    assert "content-encoding" not in plain.headers
    assert all("content-encoding" not in one.headers and one.content == LONG for one in refused)
    assert {one.headers["vary"] for one in (plain, *found, *refused)} == {"Accept-Encoding"}
    assert tag != plain.headers["etag"]
    assert (same.status_code, not_same.status_code) == (304, 200)
    assert compressed == [len(LONG)]


async def test_what_does_not_get_smaller_is_sent_as_it_is(file: str) -> None:
    async with with_site(file) as stage:
        found = [await stage.get(f"{ADDRESS}noise.txt", accept_encoding="gzip") for _ in range(2)]

    assert [one.content for one in found] == [NOISE] * 2
    assert all("content-encoding" not in one.headers for one in found)


async def test_compressed_files_of_the_upload_are_used(file: str) -> None:
    async with with_site(file) as stage:
        gzipped = await stage.get(f"{ADDRESS}ready.js", accept_encoding="gzip")
        plain = await stage.get(f"{ADDRESS}ready.js")
        request = stage.http.build_request("GET", f"{ADDRESS}ready.js", headers={"Accept-Encoding": "gzip, br"})
        response = await stage.http.send(request, stream=True)
        brotli = b"".join([chunk async for chunk in response.aiter_raw()])

    assert gzipped.content == b"// compressed before"
    assert plain.content == SITE["ready.js"]
    assert (response.headers["content-encoding"], brotli) == ("br", SITE["ready.js.br"])
    assert response.headers["content-type"] == "text/javascript; charset=utf-8"
    assert len({one.headers["etag"] for one in (gzipped, plain, response)}) == 3


async def test_media_types(file: str) -> None:
    async with with_site(file) as stage:
        names = ("font.woff2", "app.mjs", "data.unknown", "ready.js.gz", "empty.html")
        types = [(await stage.get(ADDRESS + name)).headers["content-type"] for name in names]

    javascript, octets = "text/javascript; charset=utf-8", "application/octet-stream"
    assert types == ["font/woff2", javascript, octets, "application/gzip", "text/html; charset=utf-8"]


async def test_a_media_type_that_was_uploaded_cannot_add_headers(file: str) -> None:
    async with with_site(file) as stage:
        types = {"html": "text/html\r\nSet-Cookie: a=b"}
        await stage.publish({"index.html": page("home")}, types=types)
        found = await stage.get(ADDRESS)

    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert "set-cookie" not in found.headers


async def test_files_whose_bytes_are_gone_are_not_there_just_now(file: str) -> None:
    async with with_site(file) as stage:
        blobs = stage.app.core.rendering.blobs
        await blobs.delete([hashlib.sha256(data).hexdigest() for data in SITE.values()])
        small, large = [await stage.get(ADDRESS + name) for name in ("index.html", "large.bin")]

    assert small.status_code == large.status_code == 503
    assert "retry-after" in small.headers
    assert "sha" not in small.text

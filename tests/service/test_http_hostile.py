"""Requests that nobody sends by mistake: refused in the usual words, at once, and never with a 5xx."""

import gzip
from collections.abc import AsyncIterator

import httpx
import pytest

from pressroom.api.access import Scope
from tests.loop_guard import own_work
from tests.service.access_stage import Stage, on_stage

DEEP = b"[" * 100_000 + b"]" * 100_000

# By what is wrong with it: the body, and the statuses that are a refusal of it.
BODIES: dict[str, tuple[bytes, set[int]]] = {  # H2
    "empty": (b"", {422}),
    "not JSON": (b"{", {422}),
    "nested ten thousand deep": (b'{"kind": "shout", "payload": %s}' % (b"[" * 10_000 + b"]" * 10_000), {422}),
    "nested a hundred thousand deep": (DEEP, {422}),
    "NaN": (b'{"kind": "shout", "payload": NaN}', {422}),
    "Infinity": (b'{"kind": "shout", "delay": Infinity}', {422}),
    "1e400": (b'{"kind": "shout", "payload": 1e400}', {422}),
    "1e400 where a number belongs": (b'{"kind": "shout", "delay": 1e400}', {422}),
    "an integer of 5000 digits": (b'{"kind": "shout", "payload": %s}' % (b"9" * 5000), {422}),
    "duplicate keys": (b'{"kind": "shout", "kind": "nobody"}', {422}),
    "an unknown field": (b'{"kind": "shout", "colour": 1}', {422}),
    "a list": (b"[]", {422}),
    "null": (b"null", {422}),
    "a number for a kind": (b'{"kind": 1}', {422}),
    "a kind of 10 KB": (b'{"kind": "%s"}' % (b"k" * 10_000), {422}),
    "a negative delay": (b'{"kind": "shout", "delay": -1}', {422}),
    "a boolean for a number": (b'{"kind": "shout", "max_attempts": true}', {422}),
    "a lone surrogate": (b'{"kind": "shout", "payload": "\\ud800"}', {422}),
    "a NUL in a key": (b'{"kind": "shout", "key": "a\\u0000b"}', {202, 422}),
    "invalid UTF-8": (b'{"kind": "shout", "payload": "\xff"}', {422}),
    "a byte order mark": (b'\xef\xbb\xbf{"kind": "shout"}', {202, 422}),
    "13 MB": (b'{"kind": "shout", "payload": "%s"}' % (b"x" * 13_000_000), {413}),
}

PATHS = [  # H7
    "/jobs/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/jobs/..%2f..%2fetc",
    "/jobs/..;/metrics",
    "/jobs/%00",
    "/jobs/job_%00",
    "/jobs/%252e%252e",
    "/jobs/" + "a" * 60_000,
    "/artifacts/%2e%2e%2f%2e%2e%2fpress.db",
    "/artifacts/%00" + "0" * 25,
    "/artifacts/%F0%9F%92%A9",
    "/artifacts/%FF%FE",
    "/d/%2e%2e%2fpress.db",
    "/d/%00",
    "/d/%252e",
    "//jobs",
    "/jobs//result",
    "/.env",
    "/nowhere",
]


def assert_refused(answer: httpx.Response, statuses: set[int]) -> None:
    assert answer.status_code in statuses, (answer.status_code, answer.text[:300])
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert told["status"] == answer.status_code
        assert told["request_id"] == answer.headers["x-request-id"]
        assert "Traceback" not in answer.text


async def client_of(stage: Stage) -> httpx.AsyncClient:
    return stage.client(await stage.token(Scope.ADMIN))


async def test_bodies_that_cannot_be_are_refused(database: str, subtests: pytest.Subtests) -> None:
    async with on_stage(database, works=False) as stage, await client_of(stage) as client:
        for name, (body, statuses) in BODIES.items():
            with subtests.test(name):
                assert_refused(await client.post("/jobs", content=body, headers={"Content-Type": "application/json"}), statuses)


async def test_bodies_of_other_kinds_are_refused(file: str, subtests: pytest.Subtests) -> None:  # H3, H6
    with own_work():
        bomb = gzip.compress(b" " * 50_000_000)
    async with on_stage(file, works=False) as stage, await client_of(stage) as client:
        for name, headers, body in (
            ("a gzip bomb", {"Content-Encoding": "gzip", "Content-Type": "application/json"}, bomb),
            ("deflate", {"Content-Encoding": "deflate", "Content-Type": "application/json"}, b"{}"),
            ("a form", {"Content-Type": "application/x-www-form-urlencoded"}, b"kind=shout"),
            ("multipart without a boundary", {"Content-Type": "multipart/form-data"}, b"--x"),
            ("plain text", {"Content-Type": "text/plain"}, b'{"kind": "shout"}'),
            ("a type of 10 KB", {"Content-Type": "a/" + "b" * 10_000}, b"{}"),
        ):
            with subtests.test(name):
                assert_refused(await client.post("/jobs", content=body, headers=headers), {415})


async def test_a_body_that_comes_in_pieces_is_counted_as_a_whole(file: str) -> None:
    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        """Without a Content-Length: only what comes can be counted."""
        for number in range(40):
            sent.append(number)
            yield b"x" * 1_000_000

    async with on_stage(file, works=False) as stage, await client_of(stage) as client:
        answer = await client.post("/jobs", content=pieces(), headers={"Content-Type": "application/json"})

    assert_refused(answer, {413})
    assert len(sent) < 20, "what is over the limit is not read to its end"


async def test_paths_with_tricks_lead_nowhere(database: str, subtests: pytest.Subtests) -> None:
    async with on_stage(database, works=False) as stage, await client_of(stage) as client:
        for path in PATHS:
            with subtests.test(path[:60]):
                answer = await client.get(f"http://pressroom{path}")  # whole, because //jobs alone would be a host
                assert_refused(answer, {404, 410})


async def test_a_method_that_is_not_offered_is_told_which_are(file: str) -> None:  # H10
    async with on_stage(file, works=False) as stage, await client_of(stage) as client:
        for method in ("PATCH", "PUT", "DELETE", "TRACE", "BREW"):
            answer = await client.request(method, "/jobs")
            assert_refused(answer, {405})
            assert {one.strip() for one in answer.headers["allow"].split(",")} >= {"GET", "POST"}
        overridden = await client.get("/jobs", headers={"X-HTTP-Method-Override": "DELETE"})
        assert overridden.status_code == 200


async def test_ranges_are_one_or_none(database: str) -> None:  # H5
    async with on_stage(database) as stage, await client_of(stage) as client:
        render = {"kind": "render", "payload": {"language": "markdown", "output": "html", "source": "# hello"}}
        job = (await client.post("/jobs", json=render)).json()["id"]
        where = f"/artifacts/{(await client.get(f'/jobs/{job}?wait=60')).json()['result']['artifact']}"
        whole = await client.get(where)

        many = await client.get(where, headers={"Range": "bytes=" + ",".join(["0-1"] * 5000)})
        head = await client.head(where)
        some = await client.get(where, headers={"Range": "bytes=2-5"})
        for wrong in ("bytes=9999999-", "bytes=5-2", "bytes=-0", f"bytes={'9' * 18}-"):
            refused = await client.get(where, headers={"Range": wrong})
            assert_refused(refused, {416})
            assert refused.headers["content-range"] == f"bytes */{len(whole.content)}", wrong
        for odd in ("bytes=a-b", "lines=1-2", "bytes=" + "9" * 5000 + "-", "bytes=--1", "bytes=1-2-3", "bytes=-", "bytes=+1-2"):
            ignored = await client.get(where, headers={"Range": odd})
            assert (ignored.status_code, ignored.content) == (200, whole.content), odd

    assert many.status_code == 200
    assert many.content == whole.content
    assert (some.status_code, some.content) == (206, whole.content[2:6])
    assert (head.status_code, head.content) == (200, b"")
    same = {name: value for name, value in whole.headers.items() if name not in ("x-request-id", "date")}
    assert {name: head.headers.get(name) for name in same} == same


async def test_a_request_id_and_other_headers_are_not_taken_on_trust(file: str) -> None:  # H9
    async with on_stage(file, works=False) as stage, await client_of(stage) as client:
        hostile = {"X-Request-Id": "a<script>", "X-Forwarded-Host": "evil.example"}
        answer = await client.post("/jobs", json={"kind": "shout"}, headers=hostile)
        misdirected = await client.post("/jobs", json={"kind": "shout"}, headers={"Host": "evil.example"})

    assert answer.status_code == 202
    assert answer.headers["x-request-id"].startswith("req_")
    assert "evil" not in f"{answer.headers}{answer.text}"
    assert misdirected.status_code == 421

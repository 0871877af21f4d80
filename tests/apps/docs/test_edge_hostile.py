"""Hostile paths and host names: each gets a clear answer, and nothing of another place."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pressroom.apps.docs.edge.places import MalformedPath, split_path
from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.edge_stage import EdgeStage, an_org, edge_stage, page

SITE = {"index.html": page("home"), "a/index.html": page("a"), "a/b.html": page("b")}


@asynccontextmanager
async def with_sites(database: str, **options: object) -> AsyncIterator[EdgeStage]:
    async with edge_stage(database, **options) as stage:  # type: ignore[arg-type]
        await stage.add_project()
        await stage.publish(SITE)
        await stage.add_project("secret", an_org("rival"))
        await stage.publish({"index.html": page("secret")}, project="secret")
        yield stage


@pytest.mark.parametrize(
    ("target", "statuses"),
    [
        ("/acme/guide/a/%2e%2e/index.html", {404}),
        ("/acme/guide/%2e%2e/%2e%2e/rival/secret/", {404}),
        ("/acme/guide/../../rival/secret/", {404}),
        ("/acme/guide/a/%2E./b.html", {404}),
        ("/acme/guide/..%2f..%2frival%2fsecret%2f", {404}),
        ("/acme/guide/a%2fb.html", {404}),
        ("/acme/guide/a%5cb.html", {404}),
        ("/acme/guide/a\\b.html", {404}),
        ("/acme/guide/a/b.html%00", {404}),
        ("/acme/guide/a/b.html%00.png", {404}),
        ("/acme/guide/a//b.html", {404}),
        ("//acme/guide/", {404}),
        ("//evil.example/..%2f..", {404}),
        ("///evil.example", {404}),
        ("/acme//guide/", {404}),
        ("/acme/guide/%ff", {400}),
        ("/acme/guide/%", {400}),
        ("/acme/guide/%zz", {400}),
        ("/acme/guide/%c0%ae%c0%ae/", {400}),
        ("/acme/guide/a/%0d%0aSet-Cookie:%20a=b", {404}),
        ("/acme/guide/v/..%2f", {404}),
        ("/acme/guide/v/%2e%2e/", {404}),
        ("/acme/guide/v/a%00/", {404}),
        ("/acme/guide/v//", {404}),
        ("/acme/guide/builds/../index.html", {404}),
        ("/acme/guide/builds/" + "U" * 26 + "/", {404}),
        ("/acme/guide/" + "a" * 3000, {404}),
        ("/acme/guide/" + "a/" * 1500, {404}),
        ("/acme/guide/" + "a" * 10_000, {414}),
        ("/" + "%61" * 3000, {414}),
        ("/ACME/guide/", {404}),
        ("/acme/Guide/", {404}),
        ("/acme/gu_ide/", {404}),
        ("/acme", {404}),
        ("/api", {404}),
        ("http://127.0.0.1/acme/guide/nowhere", {404}),
        ("*", {400, 404}),
    ],
)
async def test_what_no_file_is_called(file: str, target: str, statuses: set[int]) -> None:
    async with with_sites(file) as stage:
        status, answer = await stage.get_raw(target)
        again, _ = await stage.get_raw("/acme/guide/")

    assert status in statuses, answer[:500]
    assert b"secret" not in answer.partition(b"\r\n\r\n")[2].replace(target.encode(), b"")
    assert not re.search(rb"(?im)^(set-cookie|location):", answer.partition(b"\r\n\r\n")[0])
    assert again == 200


async def test_bytes_that_are_no_ascii_do_not_reach_a_file(file: str) -> None:
    async with with_sites(file) as stage:
        answer = await stage.send_raw(b"GET /acme/guide/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

        assert (await stage.get("/acme/guide/")).status_code == 200
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 404"))


@pytest.mark.parametrize(
    "target", ["/acme/guide/%2fevil.example", "/acme/guide//evil.example", "//evil.example/", "/acme/guide/a?//evil.example"]
)
async def test_no_redirect_leads_elsewhere(file: str, target: str) -> None:
    async with with_sites(file) as stage:
        _, answer = await stage.get_raw(target)

    location = re.search(rb"(?im)^location: ([^\r]*)", answer)
    assert location is None or location[1].startswith(b"./")


@pytest.mark.parametrize("host", ["evil.example", "acme.evil.example", "localhost.evil.example", "xn--80ak6aa92e.com"])
async def test_a_name_that_a_stranger_points_here_gets_nothing(file: str, host: str) -> None:
    """DNS rebinding: a page of that name could otherwise read what only this machine or network can reach."""
    async with with_sites(file) as stage:
        answer = await stage.get("/acme/guide/", host=host)

    assert answer.status_code == 421
    assert "home" not in answer.text


@pytest.mark.parametrize(
    "host", ["", "a b", "127.0.0.1/x", "x@127.0.0.1", "[::1", "evil.example#127.0.0.1", "a\\b", ":80", "%00"]
)
async def test_a_malformed_host_is_refused(file: str, host: str) -> None:
    async with with_sites(file) as stage:
        status, answer = await stage.get_raw("/acme/guide/", host)

    assert status in (400, 421)
    assert b"home" not in answer


async def test_two_hosts_and_none_are_refused(file: str) -> None:
    async with with_sites(file) as stage:
        two = await stage.send_raw("GET /acme/guide/ HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n")
        none = await stage.send_raw("GET /acme/guide/ HTTP/1.1\r\nConnection: close\r\n\r\n")

    assert b" 400 " in two[:20]
    assert b" 400 " in none[:20]


async def test_a_head_is_bounded(file: str) -> None:
    async with with_sites(file) as stage:
        long = "x" * 70_000
        answer = await stage.send_raw(
            f"GET /acme/guide/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: {long}\r\n\r\n"
        )

    assert answer.startswith(b"HTTP/1.1 431")


async def test_the_host_is_never_part_of_an_answer(file: str) -> None:
    async with with_sites(file) as stage:
        answers = [
            await stage.get(f"/acme/guide/{path}", host="some.name.localhost:99")
            for path in ("", "a", "v/", "v/switcher.json", "nowhere", "_docverse.json")
        ]
        answers += [
            await stage.get(f"/{path}", host="guide.acme.localhost:99") for path in ("", "a", "v/", "v/switcher.json", "no")
        ]

    for answer in answers:
        assert "localhost" not in answer.text + str(answer.headers)


async def test_organisations_with_a_domain_are_not_on_the_shared_name(file: str) -> None:
    """Their scripts would share an origin with those of strangers."""
    async with with_sites(file, settings=DocsSettings(url="https://docs.example.org")) as stage:
        await stage.add_project("own", an_org("domain", base_domain="docs.domain.org", url_scheme="subdomain"))
        await stage.publish(SITE, project="own")
        shared = await stage.get("/domain/own/", host="docs.example.org")
        own = await stage.get("/", host="own.docs.domain.org")
        acme = await stage.get("/acme/guide/", host="docs.example.org")

    assert (shared.status_code, own.status_code, acme.status_code) == (404, 200, 200)


async def test_sites_are_not_on_the_origin_of_the_pages(file: str) -> None:
    async with with_sites(file, base_url="https://press.example.org", allowed_hosts=("press.example.org",)) as stage:
        refused = await stage.get("/acme/guide/", host="press.example.org")

    assert refused.status_code == 421


@pytest.mark.parametrize(
    "path", ["/desk", "/jobs", "/openapi.json", "/livez", "/metrics", "/queue/jobs", "/render", "/orgs/acme"]
)
async def test_nothing_of_the_service_is_at_the_edge(file: str, path: str) -> None:
    async with with_sites(file) as stage:
        answers = [await stage.get(path), await stage.get(path, host="guide.acme.localhost")]

    assert [one.status_code for one in answers] == [404, 404]


@pytest.mark.parametrize("raw", [b"/a%2fb", b"/a/./b", b"/a//b", b"/..", b"/a\x00", b"/%01", b"/a/%2e"])
def test_names_that_no_file_has(raw: bytes) -> None:
    assert split_path(raw) is None


@pytest.mark.parametrize("raw", [b"/%", b"/%1", b"/%g0", b"/%80", b"/%ed%a0%80"])
def test_what_is_not_percent_encoded_utf_8(raw: bytes) -> None:
    with pytest.raises(MalformedPath):
        split_path(raw)


def test_segments_are_decoded_each_by_itself() -> None:
    assert split_path(b"/a%20b/%C3%BC/") == ("a b", "ü", "")
    assert split_path(b"/") == ("",)

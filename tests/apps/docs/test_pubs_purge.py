"""Caches are told to forget what moved: a POST to a checked address, with a bearer token."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pressroom.apps.docs.credentials.model import CredentialDraft, ServiceDraft
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import MAIN, Org, Project
from pressroom.apps.docs.publishing import PublishedSite
from pressroom.apps.docs.publishing.cache_purge import HttpPurge
from pressroom.apps.docs.settings import DocsSettings
from pressroom.model import Status
from tests.apps.docs.pubs_stage import PubsStage, has_files, pubs_stage


class CdnDouble:
    """A real listener in the place of a CDN's interface. It answers with `status`."""

    def __init__(self) -> None:
        self.status = "200 OK"
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = [line.split(": ", 1) for line in head.split("\r\n")[1:] if line]
        headers = {name.lower(): value for name, value in lines}
        body = await reader.readexactly(int(headers["content-length"]))
        self.requests.append((headers, json.loads(body)))
        location = "Location: http://127.0.0.1:9/\r\n"
        writer.write(f"HTTP/1.1 {self.status}\r\n{location}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listening() -> AsyncIterator[CdnDouble]:
    cdn = CdnDouble()
    server = await asyncio.start_server(cdn.answer, "127.0.0.1", 0)
    cdn.port = server.sockets[0].getsockname()[1]
    async with server:
        yield cdn


@asynccontextmanager
async def cached_stage(file: str, cdn: CdnDouble, **org: Any) -> AsyncIterator[tuple[PubsStage, Org, Project]]:
    settings = DocsSettings(publish_allow=(f"127.0.0.1:{cdn.port}",))
    async with pubs_stage(file, settings=settings) as stage:
        made = await stage.new_org(**org)
        secret = CredentialDraft(label="cdn", provider="bearer", credentials={"token": "canary-token"})
        await stage.app.credentials.create("acme", secret, actor="anna")
        config = {"url": f"http://127.0.0.1:{cdn.port}/purge?zone=1"}
        draft = ServiceDraft(label="cdn", provider="http_purge", config=config, credential_label="cdn")
        await stage.app.services.create("acme", draft, actor="anna")
        made = await stage.save_org(made, slots={"cdn_service": "cdn"})
        yield stage, made, await stage.new_project()


async def test_a_move_purges_the_keys_and_the_address_of_the_edition(file: str) -> None:
    async with listening() as cdn, cached_stage(file, cdn, base_domain="docs.example.org") as (stage, org, project):
        (publisher,) = await stage.app.publishers.of(org)

        await publisher.publish(await stage.move(project, "1.0", await stage.build(project, {"index.html": b"one"})))
        await publisher.publish_dashboard(org, project, has_files({"__dashboard.html": b"x"}))

        (headers, edition), (_, dashboard) = cdn.requests
        assert headers["authorization"] == "Bearer canary-token"
        assert headers["surrogate-key"] == "acme/guide/1.0"
        assert edition == {"surrogate_keys": ["acme/guide/1.0"], "urls": ["https://docs.example.org/guide/v/1.0/"]}
        assert dashboard["surrogate_keys"] == ["acme/guide"]
        assert dashboard["urls"] == ["https://docs.example.org/guide/v/", "https://docs.example.org/guide/v/switcher.json"]


@pytest.mark.parametrize("status", ["500 Oops", "401 Unauthorized", "302 Found", "204 No Content"])
async def test_only_success_is_a_publication_and_redirects_are_not_followed(file: str, status: str) -> None:
    async with listening() as cdn, cached_stage(file, cdn) as (stage, _, project):
        cdn.status = status
        await stage.move(project, MAIN, await stage.build(project, {"index.html": b"one"}))

        job = await stage.press.submit("docs.reconcile", {}, max_attempts=1)
        ended = await stage.press.wait_until_ended(job, timeout=60)

        edition = await stage.edition(project, MAIN)
        if status.startswith("204"):
            assert (ended.status, edition.publish_status) == (Status.COMPLETED, "published")
        else:
            assert (ended.status, edition.publish_status) == (Status.FAILED, "failed")
            assert edition.publish_error == f"the cache cannot be purged: it answered {status[:3]}"
            assert "canary" not in repr(ended.errors)
        assert len(cdn.requests) >= 1


async def test_many_sites_are_purged_in_requests_of_a_bounded_size(file: str) -> None:
    async with listening() as cdn, cached_stage(file, cdn) as (stage, org, _):
        (publisher,) = await stage.app.publishers.of(org)

        await publisher.purge_sites(org, [PublishedSite("guide", f"{number}.0") for number in range(450)])

        assert [len(body["urls"]) for _, body in cdn.requests] == [200, 200, 50]


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "https://localhost/", "http://169.254.169.254/latest", "https://[::1]/"])
async def test_private_addresses_are_not_purged(url: str) -> None:
    with pytest.raises(PublisherUnavailable):
        await HttpPurge(url, "canary", ()).purge(["a"], [])


async def test_an_address_that_the_operator_no_longer_allows_is_not_used(file: str) -> None:
    async with listening() as cdn:
        async with cached_stage(file, cdn):
            pass
        async with pubs_stage(file) as stage:
            org = (await stage.app.orgs.list())[0]
            with pytest.raises(PublisherUnavailable, match="cdn cannot be used"):
                await stage.app.publishers.of(org)
        assert cdn.requests == []

"""From an upload to what readers get outside of the database, and back, by the operations that people use (Q22, Q35, D34)."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from pressroom.apps.docs.credentials.model import ServiceDraft
from pressroom.apps.docs.publishing import site_copy
from pressroom.apps.docs.requests import OrgChanges
from pressroom.apps.docs.settings import DocsSettings
from pressroom.model import Status
from tests.apps.docs.flow_stage import DocsFlow, docs_flow
from tests.apps.docs.tree_stage import read_site, site
from tests.servers import valkey


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        client.flushall()
        yield client


@asynccontextmanager
async def publishing_flow(database: str, root: Path, draft: ServiceDraft) -> AsyncIterator[DocsFlow]:
    async with docs_flow(database, settings=DocsSettings(publish_allow=("127.0.0.1", str(root)))) as flow:
        await flow.app.services.create("acme", draft, actor="anna")
        await flow.app.orgs.change("acme", OrgChanges(slots={"publishing_store": draft.label}))
        yield flow


async def idle(flow: DocsFlow) -> bool:
    jobs = (await flow.press.list(status=[Status.QUEUED, Status.IN_PROGRESS])).jobs
    return jobs == []


async def test_builds_reach_a_tree_and_deleted_editions_and_projects_leave_it(
    database: str, tmp_path: Path, eventually: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copy mode."""
    root = tmp_path / "sites"
    draft = ServiceDraft(label="sites", provider="folder", config={"path": str(root)})
    async with publishing_flow(database, tmp_path, draft) as flow:
        for version, ref in ((1, "main"), (1, "v1.0.0"), (2, "main")):
            _, job = await flow.process(site(version), ref)
            assert (job.status, job.errors) == (Status.COMPLETED, [])

        shown = read_site(root, "guide")
        assert {path: shown[path] for path in site(2)} == site(2)
        assert [read_site(root, f"guide/v/{slug}") for slug in ("v1.0.0", "1", "1.0")] == [site(1)] * 3
        assert (root / "guide/v/index.html").exists()
        assert (root / "guide/v/1.0/_docverse.json").exists()
        monkeypatch.setattr(site_copy, "ASSET_GRACE", 0.0)

        await flow.app.editions.delete("acme", "guide", "1.0", actor="anna")
        await eventually(lambda: idle(flow))
        assert not (root / "guide/v/1.0/index.html").exists()
        (entry,) = await flow.app.purgatory.list("acme")
        await flow.app.purgatory.restore("acme", entry.id, actor="anna")
        await eventually(lambda: idle(flow))
        assert read_site(root, "guide/v/1.0") == site(1)

        await flow.app.projects.delete("acme", "guide", actor="anna")
        await eventually(lambda: idle(flow))
        assert not list((root / "guide").rglob("*.html") if (root / "guide").exists() else [])
        (entry,) = await flow.app.purgatory.list("acme")
        await flow.app.purgatory.restore("acme", entry.id, actor="anna")
        await eventually(lambda: idle(flow))
        assert read_site(root, "guide/v/1.0") == site(1)
        assert (root / "guide/index.html").read_bytes() == site(2)["index.html"]


async def test_q35_a_store_that_is_down_leaves_a_build_with_errors_and_the_reconciler_mends_it(
    file: str, tmp_path: Path, redis: Redis, redis_url: str
) -> None:
    """Q35: recorded for diagnosis, and fixed later without a new build."""
    draft = ServiceDraft(label="kv", provider="redis", config={"url": redis_url})
    async with publishing_flow(file, tmp_path, draft) as flow:
        await flow.process(site(1), "main")
        assert set(redis.hgetall("docs:acme")) == {"guide/__main"}  # type: ignore[arg-type]
        redis.rename("docs:acme", "kept")
        redis.set("docs:acme", "this is no hash")

        build, job = await flow.process(site(2), "main")

        assert job.status is Status.FAILED  # its only edition: all that it has failed
        edition = await flow.edition()
        assert (edition.build, edition.publish_status) == (build.uid, "failed")
        assert "key-value store" in str(edition.publish_error)
        redis.rename("kept", "docs:acme")
        mended = await flow.press.submit("docs.reconcile", {}, key="docs.reconcile")
        ended = await flow.press.wait_until_ended(mended, timeout=60)
        assert ended.result["published"] == 1
        assert build.uid in str(redis.hget("docs:acme", "guide/__main"))
        assert (await flow.edition()).publish_status == "published"

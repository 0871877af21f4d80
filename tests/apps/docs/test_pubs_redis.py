"""Editions in Redis: the hash that edges read, in the order of the moves."""

import itertools
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
import pytest
from redis import Redis

from pressroom.apps.docs.credentials.model import CredentialDraft, ServiceDraft
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import Build, Edition, Org, Project
from pressroom.apps.docs.publishing import Publication, PublishedSite, ShownSites
from pressroom.apps.docs.publishing.key_value import RedisPublisher
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import publishing, purgatory
from pressroom.apps.docs.store.purgatory import Deleter
from pressroom.clock import SystemClock
from pressroom.model import Status
from tests.apps.docs.pubs_stage import PubsStage, pubs_stage, shows
from tests.servers import valkey

_numbers = itertools.count(1)


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
async def publishing_stage(database: str, redis_url: str, **options: Any) -> AsyncIterator[tuple[PubsStage, Org, Project]]:
    async with pubs_stage(database, settings=DocsSettings(publish_allow=("127.0.0.1",)), **options) as stage:
        org = await stage.new_org()
        draft = ServiceDraft(label="kv", provider="redis", config={"url": redis_url})
        await stage.app.services.create("acme", draft, actor="anna")
        org = await stage.save_org(org, slots={"publishing_store": "kv"})
        yield stage, org, await stage.new_project()


def entries(redis: Redis, key: str = "docs:acme") -> dict[str, Any]:
    found: Any = redis.hgetall(key)
    return {field: json.loads(value) for field, value in found.items()}


async def test_q22_pointer_mode_writes_what_edges_need(file: str, redis: Redis, redis_url: str) -> None:
    """Q22: the pointer of an edition, with all that an edge needs to find its files."""
    async with publishing_stage(file, redis_url) as (stage, org, project):
        (publisher,) = await stage.app.publishers.of(org)
        build = await stage.build(project, {"index.html": b"one"}, ref="v1")

        publication = await stage.move(project, "1", build)
        await publisher.publish(publication)

        (field,) = entries(redis)
        value = entries(redis)[field]
        assert field == "guide/1"
        assert value.keys() == {"build_id", "artifact", "seq", "git_ref", "content_hash", "published_at"}
        assert (value["build_id"], value["artifact"], value["seq"]) == (build.uid, build.artifact, 1)
        assert (value["git_ref"], value["content_hash"]) == ("v1", build.content_hash)

        await publisher.publish(publication)
        assert entries(redis)[field] == value  # also the time: nothing was written

        await publisher.publish(await stage.delete_edition(project, "1"))
        assert entries(redis) == {}


async def test_moves_in_any_order_and_any_number_of_times_end_with_the_last_one(redis: Redis, redis_url: str) -> None:
    """A lower sequence number is refused, also after the edition was deleted."""
    publisher = RedisPublisher(redis_url, SystemClock())
    dice = random.Random(7)
    for round in range(40):
        org, moves = _org(f"org{round}"), _moves(dice, deleted=bool(round % 2))
        shuffled = [move for move in moves for _ in range(dice.choice((1, 2)))]
        dice.shuffle(shuffled)
        for move in shuffled:
            await publisher.publish(msgspec.structs.replace(move, org=org))
        found = entries(redis, f"docs:{org.slug}")
        last = moves[-1]
        assert found == {} if last.build is None else found["guide/1"]["seq"] == last.seq
    await publisher.close()


async def test_d27_a_new_edition_takes_the_slug_of_a_deleted_one(file: str, redis: Redis, redis_url: str) -> None:
    """D27: its sequence begins at 1 again, and late moves of the old one change nothing."""
    async with publishing_stage(file, redis_url) as (stage, org, project):
        (publisher,) = await stage.app.publishers.of(org)
        first = await stage.build(project, {"index.html": b"one"})
        old = [await stage.move(project, "1", first) for _ in range(3)]
        gone = await stage.delete_edition(project, "1")
        new = await stage.move(project, "1", await stage.build(project, {"index.html": b"two"}))
        assert new.seq < gone.seq

        for publication in (*old, gone, new, *old, gone):
            await publisher.publish(publication)
            if publication is new:
                assert entries(redis)["guide/1"]["build_id"] == new.build.uid  # type: ignore[union-attr]

        assert entries(redis)["guide/1"]["build_id"] == new.build.uid  # type: ignore[union-attr]


async def test_a_redis_that_is_gone_is_a_passing_failure_without_its_address(redis_url: str) -> None:
    publisher = RedisPublisher("redis://:canary-password@127.0.0.1:9/0", SystemClock())
    with pytest.raises(PublisherUnavailable) as refused:
        await publisher.publish(_moves(random.Random(1), deleted=False)[0])
    await publisher.close()

    assert "canary" not in str(refused.value)
    assert "127.0.0.1" not in str(refused.value)


async def test_the_reconciler_publishes_what_differs_and_a_second_run_finds_nothing(
    database: str, redis: Redis, redis_url: str
) -> None:
    async with publishing_stage(database, redis_url) as (stage, org, project):
        publications = [
            await stage.move(project, slug, await stage.build(project, {"index.html": slug.encode()}))
            for slug in ("1", "2", "3")
        ]
        (publisher,) = await stage.app.publishers.of(org)
        await publisher.publish(publications[0])  # and the process died before the database was told

        ended = await stage.run_job("docs.reconcile")
        assert (ended.status, ended.result["published"], ended.result["repaired"]) == (Status.COMPLETED, 3, 0)
        edition = await stage.edition(project, "2")
        assert (edition.publish_status, edition.published_seq) == ("published", edition.publish_seq)
        good = entries(redis)
        assert set(good) == {"guide/1", "guide/2", "guide/3"}

        redis.hdel("docs:acme", "guide/1")
        redis.hset("docs:acme", "guide/2", json.dumps(good["guide/2"] | {"artifact": "another"}))
        redis.hset("docs:acme", "guide/3", "no JSON")
        redis.hset("docs:acme", "guide/of-nobody", json.dumps(good["guide/3"]))
        redis.hset("docs:acme", "gone/__main", json.dumps(good["guide/3"]))
        ended = await stage.run_job("docs.reconcile")
        assert (ended.result["published"], ended.result["repaired"]) == (0, 5)
        assert {field: value | {"published_at": 0} for field, value in entries(redis).items()} == {
            field: value | {"published_at": 0} for field, value in good.items()
        }

        again = await stage.run_job("docs.reconcile")
        assert again.result == {"published": 0, "unpublished": 0, "repaired": 0, "dashboards": 0}


async def test_the_reconciler_unpublishes_a_deleted_edition(database: str, redis: Redis, redis_url: str) -> None:
    async with publishing_stage(database, redis_url) as (stage, _, project):
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))
        await stage.run_job("docs.reconcile")
        deleted = await stage.delete_edition(project, "1")

        ended = await stage.run_job("docs.reconcile")

        assert ended.result["unpublished"] == 1
        assert entries(redis) == {}
        state = await stage.database.read(partial(publishing.read_state, deleted.org))
        assert state.removed == []


async def test_d34_what_a_deleted_project_published_goes_also_if_redis_was_down(
    database: str, redis: Redis, redis_url: str
) -> None:
    """D34: unpublishing after the commit, edition by edition, left orphans where one of them failed."""
    async with publishing_stage(database, redis_url) as (stage, _, project):
        for slug in ("1", "2"):
            await stage.move(project, slug, await stage.build(project, {"index.html": slug.encode()}))
        await stage.run_job("docs.reconcile")
        assert len(entries(redis)) == 2

        await stage.run(partial(purgatory.delete_project, project, Deleter("test", "a test", 3600)))
        ended = await stage.run_job("docs.reconcile")

        assert ended.result["unpublished"] == 2
        assert entries(redis) == {}
        (entry,) = await stage.app.purgatory.list("acme")
        await stage.run(partial(purgatory.restore, entry, "anna"))
        assert (await stage.run_job("docs.reconcile")).result["published"] == 2
        assert set(entries(redis)) == {"guide/1", "guide/2"}

        await stage.run(partial(purgatory.delete_project, project, Deleter("test", "a test", 0)))
        (entry,) = await stage.app.purgatory.list("acme")
        await stage.run(partial(purgatory.purge, entry))  # before anything was unpublished
        order = "{docs:acme}:order"
        assert redis.hlen(order) == 4
        assert (await stage.run_job("docs.reconcile")).result["repaired"] == 2
        assert entries(redis) == {}
        assert not redis.exists(order)  # nothing of a purged project stays


async def test_a_failed_publication_is_told_and_repaired_later(file: str, redis: Redis, redis_url: str) -> None:
    async with publishing_stage(file, redis_url) as (stage, org, project):
        redis.set("docs:acme", "this is no hash")
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))

        job = await stage.press.submit("docs.reconcile", {}, max_attempts=1)
        ended = await stage.press.wait_until_ended(job, timeout=60)

        assert ended.status is Status.FAILED
        assert (await stage.edition(project, "1")).publish_status == "failed"
        redis.delete("docs:acme")
        assert (await stage.run_job("docs.reconcile")).result["published"] == 1
        assert (await stage.edition(project, "1")).publish_status == "published"
        assert org.slots


async def test_an_organisation_without_services_has_no_publishers(file: str) -> None:
    async with pubs_stage(file) as stage:
        org = await stage.new_org()
        project = await stage.new_project()
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))

        assert await stage.app.publishers.of(org) == []
        assert (await stage.run_job("docs.reconcile")).result["published"] == 1
        assert (await stage.edition(project, "1")).publish_status == "published"


async def test_a_changed_secret_is_used_by_the_next_publication(file: str, redis: Redis, redis_url: str) -> None:
    """With a user of Redis whose password changes."""
    redis.acl_setuser("docs", enabled=True, passwords=["+old"], keys=["*"], commands=["+@all"], reset=True)
    async with pubs_stage(file, settings=DocsSettings(publish_allow=("127.0.0.1",))) as stage:
        org = await stage.new_org()
        secret = CredentialDraft(label="pw", provider="bearer", credentials={"token": "wrong"})
        await stage.app.credentials.create("acme", secret, actor="anna")
        config = {"url": redis_url, "user": "docs", "prefix": "sites"}
        await stage.app.services.create(
            "acme", ServiceDraft(label="kv", provider="redis", config=config, credential_label="pw"), actor="a"
        )
        org = await stage.save_org(org, slots={"publishing_store": "kv"})
        project = await stage.new_project()
        publication = await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))

        with pytest.raises(PublisherUnavailable) as refused:
            await (await stage.app.publishers.of(org))[0].publish(publication)
        assert "wrong" not in str(refused.value)
        await stage.app.credentials.replace("acme", "pw", secret_of("old"), actor="anna")
        await (await stage.app.publishers.of(org))[0].publish(publication)
        assert set(entries(redis, "sites:acme")) == {"guide/1"}
    redis.acl_deluser("docs")


def secret_of(token: str) -> Any:
    from pressroom.apps.docs.credentials.model import NewSecret

    return NewSecret(credentials={"token": token})


async def test_repairs_leave_alone_what_a_job_is_publishing(redis: Redis, redis_url: str) -> None:
    publisher = RedisPublisher(redis_url, SystemClock())
    moves = _moves(random.Random(3), deleted=False)
    await publisher.publish(moves[0])

    repaired = await publisher.reconcile(moves[0].org, shows(moves[-1], busy={PublishedSite("guide", "1")}))

    assert list(repaired) == []
    assert entries(redis, f"docs:{moves[0].org.slug}")["guide/1"]["seq"] == moves[0].seq
    await publisher.close()


async def test_what_is_published_while_the_reconciler_works_is_not_undone(
    file: str, redis: Redis, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It put the entry of an older move back, and removed that of a new edition, until its next run."""
    async with publishing_stage(file, redis_url) as (stage, org, project):
        (publisher,) = await stage.app.publishers.of(org)
        await publisher.publish(
            await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}), published=True)
        )
        newer = await stage.build(project, {"index.html": b"two"})
        reconcile = stage.app.reconcile
        publish_all = reconcile._publish_all

        async def publish_all_and_more(*arguments: Any) -> Any:
            """What jobs publish after the reconciler has looked into the database."""
            for slug in ("1", "2"):
                await publisher.publish(await stage.move(project, slug, newer, published=True))
            return await publish_all(*arguments)

        monkeypatch.setattr(reconcile, "_publish_all", publish_all_and_more)
        ended = await stage.run_job("docs.reconcile")

        assert {field: value["build_id"] for field, value in entries(redis).items()} == {
            "guide/1": newer.uid,
            "guide/2": newer.uid,
        }
        assert ended.result["repaired"] == 0


async def test_a_repair_gives_way_to_what_came_after_the_database_was_read(file: str, redis: Redis, redis_url: str) -> None:
    """Entries are read first, then the database, then an entry is replaced if it is still the one that was read."""
    async with publishing_stage(file, redis_url) as (stage, org, project):
        (publisher,) = await stage.app.publishers.of(org)
        build = await stage.build(project, {"index.html": b"one"})
        first = await stage.move(project, "1", build)
        redis.hset("docs:acme", "guide/1", "no JSON")
        later = await stage.move(project, "1", await stage.build(project, {"index.html": b"two"}))

        async def read_shown() -> ShownSites:
            await publisher.publish(later)
            return ShownSites([first], (), ["guide"])

        assert await publisher.reconcile(org, read_shown) == []
        assert entries(redis)["guide/1"]["seq"] == later.seq


def _org(slug: str) -> Org:
    from tests.apps.docs.edge_stage import an_org

    return an_org(slug)


def _moves(dice: random.Random, *, deleted: bool) -> list[Publication]:
    """The moves of two editions that have had the same slug, in their order."""
    from tests.apps.docs.edge_stage import a_project

    moves: list[Publication] = []
    number = next(_numbers)
    for id in (f"01A{number:023}", f"01B{number:023}"):
        count = dice.randrange(2, 5)
        for seq in range(1, count + 1):
            last = seq == count and (id.startswith("01A") or deleted)
            edition = msgspec.convert(_EDITION | {"id": id, "publish_seq": seq}, Edition)
            build = None if last else msgspec.convert(_BUILD | {"uid": f"{id[:3]}{number}-{seq}"}, Build)
            project = a_project("acme", "guide")
            moves.append(Publication(org=_org("acme"), project=project, edition=edition, build=build, seq=seq))
    return moves


_EDITION: dict[str, Any] = {
    "id": "", "project": "p", "slug": "1", "title": "1", "kind": "draft", "tracking_mode": "git_ref", "tracking_params": {},
    "lifecycle_exempt": False, "pinned": False, "build": None, "publish_status": None, "publish_seq": 1, "published_seq": 0,
    "publish_error": None, "ref_missing_since": None, "date_created": 0, "date_changed": 0, "date_deleted": None,
}  # fmt: skip
_BUILD: dict[str, Any] = {
    "uid": "", "project": "p", "number": 1, "git_ref": "main", "alternate_name": None, "content_hash": "sha256:0",
    "status": "completed", "uploader": "", "annotations": {}, "artifact": "a", "object_count": 1, "total_size": 1,
    "broken_links": 0, "error": None, "job_uid": None, "date_created": 0, "date_uploaded": 0, "date_completed": 0,
    "date_deleted": None,
}  # fmt: skip

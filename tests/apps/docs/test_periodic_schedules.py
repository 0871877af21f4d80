"""The crons of the docs app begin with the first organisation; a tick is one job whatever the number of nodes (Q29 to Q32)."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from pressroom import Pressroom
from pressroom.apps.docs.app import SCHEDULES, DocsApp
from pressroom.apps.docs.requests import OrgDraft
from tests.delivery.conftest import how, lists, redis_server
from tests.delivery.oban.stage import serving

__all__ = ["how", "lists", "redis_server"]

CRONS = {
    "docs.lifecycle_eval": "7 * * * *",
    "docs.git_ref_audit": "17 5 * * *",
    "docs.purgatory_cleanup": "47 3 * * *",
    "docs.credential_rewrap": "27 4 * * *",
    "docs.reconcile": "*/5 * * * *",
}


def app_of(press: Pressroom) -> DocsApp:
    app = press.app("docs")
    assert isinstance(app, DocsApp)
    return app


async def test_schedules_begin_with_the_first_organisation_and_fire_once_for_two_nodes(
    how: dict[str, Any], eventually: Callable[..., Any]
) -> None:
    """With every delivery: oban knows the crons from its start, and finds nothing to fire before there is an organisation."""
    async with Pressroom(**how, workers=2, apps=["docs"]) as one, Pressroom(**how, workers=2, apps=["docs"]) as two:
        assert await one.schedules() == []
        await asyncio.gather(one.maintenance.fire_schedules(), two.maintenance.fire_schedules())
        assert (await one.list()).jobs == []

        await app_of(one).orgs.create(OrgDraft(slug="acme"))
        await app_of(two).orgs.create(OrgDraft(slug="umbrella"))
        assert {schedule.name: schedule.cron for schedule, _ in await two.schedules()} == CRONS
        for press in (one, two):
            await press.maintenance.stop()
        async with one.transaction() as tx:
            moment = int((datetime.now(UTC) - timedelta(days=2)).timestamp() * 1000)
            await tx.execute("UPDATE schedule SET last_tick = :last WHERE name <> 'docs.git_ref_audit'", {"last": moment})

        if how.get("delivery") == "oban":
            node = await serving(one)
            await node._scheduler._evaluate(datetime(2030, 1, 1, 3, 47, tzinfo=UTC))
        else:
            await asyncio.gather(one.maintenance.fire_schedules(), two.maintenance.fire_schedules())

        async def all_ended() -> bool:
            found = (await one.list(limit=100)).jobs
            return len(found) == 4 and all(job.status.ended for job in found)

        await eventually(all_ended)
        jobs = (await one.list(limit=100)).jobs
        assert sorted(job.kind for job in jobs) == sorted(CRONS.keys() - {"docs.git_ref_audit"})
        assert {str(job.status) for job in jobs} == {"completed"}
        assert {job.subject for job in jobs} == {f"schedule {job.kind}" for job in jobs}


async def test_a_newer_version_changes_the_times_where_there_is_an_organisation(database: str) -> None:
    async with Pressroom(database, workers=1, apps=["docs"], poll_interval=0.05) as press:
        await app_of(press).orgs.create(OrgDraft(slug="acme"))
        async with press.transaction() as tx:
            await tx.execute("UPDATE schedule SET cron = '1 1 1 1 *' WHERE name = 'docs.reconcile'")
        await app_of(press).on_leading()

        assert {one.name: one.cron for one, _ in await press.schedules()} == CRONS


def test_each_schedule_has_the_key_of_its_kind() -> None:
    """So that one that takes longer than its interval is queued once."""
    assert [(one.name, one.key, one.on_demand) for one in SCHEDULES] == [(name, name, True) for name in CRONS]

"""lifecycle_eval (Q29, Q34): what lifecycle rules say goes into purgatory, for all organisations side by side."""

import logging
from functools import partial
from typing import Any

import pytest

from pressroom.apps.docs.errors import OrgNotFound, ProjectNotFound
from pressroom.apps.docs.model import MAIN
from pressroom.apps.docs.store import lifecycle, purgatory
from pressroom.definitions import Kind
from pressroom.errors import InvalidArgument
from pressroom.model import Answer, OnKey, Status
from pressroom.testing import ManualClock
from tests import looking
from tests.apps.docs.pubs_stage import PubsStage, pubs_stage

KIND = "docs.lifecycle_eval"
STALE_DRAFTS = {"type": "draft_inactivity", "max_days_inactive": 30}
OLD_BUILDS = {"type": "build_history_orphan", "min_position": 2, "min_age_days": 10}
PAGE = {"index.html": b"<h1>x</h1>"}


async def fill(stage: PubsStage, clock: ManualClock) -> None:
    """Two organisations with a project each, whose drafts and builds are 40 days old, and one of today."""
    for org, rules in (("acme", [STALE_DRAFTS, OLD_BUILDS]), ("umbrella", [STALE_DRAFTS])):
        await stage.new_org(org, lifecycle_rules=rules)
        project = await stage.new_project(org=org)
        for number in range(3):
            await stage.move(project, MAIN, await stage.build(project, {"index.html": b"%d" % number}), published=True)
        await stage.move(project, "stale", await stage.build(project, PAGE, ref="stale"), published=True)
    await stage.rows("UPDATE docs_edition SET lifecycle_exempt = 0")  # else __main keeps all that it has shown
    clock.advance(days=40)
    for org in ("acme", "umbrella"):
        project = (await stage.app.projects.list(org))[0][0]
        await stage.move(project, "fresh", await stage.build(project, PAGE, ref="fresh"), published=True)


async def slugs(stage: PubsStage, org: str) -> list[str]:
    return [edition.slug for edition in await stage.app.editions.list(org, "guide")]


async def test_q29_stale_drafts_and_orphan_builds_go_to_purgatory(database: str, caplog: Any) -> None:
    """Q29: all organisations and projects; each deletion logged with its rule and parameters."""
    clock = ManualClock()
    caplog.set_level(logging.INFO)
    async with pubs_stage(database, clock=clock) as stage:
        await fill(stage, clock)
        planned = [await stage.app.lifecycle_eval.dry_run(org) for org in ("acme", "umbrella")]
        assert [await slugs(stage, org) for org in ("acme", "umbrella")] == [[MAIN, "fresh", "stale"]] * 2

        ended = await stage.run_job(KIND)

        assert (ended.status, ended.phase, ended.result) == (Status.COMPLETED, "orgs", {"editions": 2, "builds": 2})
        assert ended.progress is not None
        assert sorted(ended.progress["orgs_completed"]) == ["acme", "umbrella"]
        assert ended.progress["message"] == "Deleted 2 editions and 2 builds"
        assert [await slugs(stage, org) for org in ("acme", "umbrella")] == [[MAIN, "fresh"]] * 2
        entries = await stage.database.read(partial(purgatory.list_entries, "acme"))
        deleted = {(entry.what, entry.name, entry.actor) for entry in entries}
        assert deleted == {("edition", "stale", "lifecycle rules"), ("build", "main", "lifecycle rules")}
        assert len(entries) == len(planned[0]) == 3
        assert {(one.project, one.deletion.what, one.deletion.rule) for one in planned[0]} == {
            ("guide", "edition", "draft_inactivity"),
            ("guide", "build", "build_history_orphan"),
        }
        assert all(entry.purge_after - entry.date_entered == 86_400_000 for entry in entries)
        lines = [record.getMessage() for record in caplog.records if "lifecycle rule" in record.getMessage()]
        assert len(lines) == 4
        assert any("draft_inactivity" in line and "max_days_inactive" in line and "acme/guide" in line for line in lines)

        assert (await stage.run_job(KIND)).result == {"editions": 0, "builds": 1}  # the one of the edition that went
        assert await stage.app.lifecycle_eval.dry_run("acme") == []
        assert (await stage.run_job(KIND)).result == {"editions": 0, "builds": 0}


async def test_dashboards_are_rebuilt_only_where_an_edition_went(file: str) -> None:
    clock = ManualClock()
    async with pubs_stage(file, clock=clock) as stage:
        await fill(stage, clock)
        await stage.new_org("initech", lifecycle_rules=[STALE_DRAFTS])
        await stage.new_project(org="initech")

        await stage.run_job(KIND)

        follow_ups = (await stage.press.list(kind="docs.reconcile")).jobs
        assert sorted(str(job.key) for job in follow_ups) == ["docs.reconcile:acme", "docs.reconcile:umbrella"]
        for job in follow_ups:
            assert (await stage.press.wait_until_ended(job.uid, timeout=120)).status is Status.COMPLETED
        rows = looking.rows(file, "SELECT org, dashboard IS NOT NULL FROM docs_project ORDER BY org")
        assert rows == [("acme", 1), ("initech", 0), ("umbrella", 1)]


async def test_a_project_that_is_deleted_meanwhile_leaves_the_others_to_their_rules(file: str) -> None:
    clock = ManualClock()
    async with pubs_stage(file, clock=clock) as stage:
        await fill(stage, clock)
        project = (await stage.app.projects.list("acme"))[0][0]
        gone = await stage.new_project("gone")
        await stage.app.projects.delete("acme", "gone", actor="test")

        deleted = await stage.run(partial(lifecycle.apply_plans, "acme", [gone.id, project.id]))

        assert {one.project for one in deleted} == {"guide"}


async def test_a_projects_rules_take_the_place_of_its_organisations_also_if_it_has_none(file: str) -> None:
    clock = ManualClock()
    async with pubs_stage(file, clock=clock) as stage:
        await stage.new_org(lifecycle_rules=[STALE_DRAFTS])
        for slug, rules in (
            ("inherits", None),
            ("keeps", []),
            ("own", [{"type": "draft_inactivity", "max_days_inactive": 90}]),
        ):
            project = await stage.new_project(slug, lifecycle_rules=rules)
            await stage.move(project, "stale", await stage.build(project, PAGE), published=True)
        clock.advance(days=40)

        assert [one.project for one in await stage.app.lifecycle_eval.dry_run("acme")] == ["inherits"]
        assert await stage.app.lifecycle_eval.dry_run("acme", "keeps") == []
        shorter = [{"type": "draft_inactivity", "max_days_inactive": 1}]
        tried = await stage.app.lifecycle_eval.dry_run("acme", rules=shorter)
        assert [one.project for one in tried] == ["inherits", "keeps", "own"]
        await stage.run_job(KIND)
        assert looking.rows(file, "SELECT count(*) FROM docs_edition WHERE date_deleted IS NOT NULL") == [(1,)]


async def test_what_a_dry_run_cannot_answer_has_a_code(file: str) -> None:
    async with pubs_stage(file, workers=None) as stage:
        await stage.new_org()
        with pytest.raises(OrgNotFound):
            await stage.app.lifecycle_eval.dry_run("nobody")
        with pytest.raises(ProjectNotFound):
            await stage.app.lifecycle_eval.dry_run("acme", "nothing")
        await stage.new_project()
        with pytest.raises(InvalidArgument):
            await stage.app.lifecycle_eval.dry_run("acme", rules=[{"type": "no_such_rule"}])


async def test_an_organisation_that_fails_is_told_and_the_others_are_done(database: str) -> None:
    """One transaction for each organisation: of the one that fails nothing is deleted."""
    clock = ManualClock()
    async with pubs_stage(database, clock=clock) as stage:
        await fill(stage, clock)
        await stage.rows("UPDATE docs_org SET lifecycle_rules = '[{\"type\": \"of the future\"}]' WHERE slug = 'acme'")

        ended = await stage.run_job(KIND)

        assert ended.status is Status.COMPLETED_WITH_ERRORS
        assert ended.progress is not None
        assert [one["slug"] for one in ended.progress["orgs_failed"]] == ["acme"]
        assert "of the future" in ended.progress["orgs_failed"][0]["error"]
        assert await slugs(stage, "acme") == [MAIN, "fresh", "stale"]
        assert await slugs(stage, "umbrella") == [MAIN, "fresh"]


async def test_q34_a_periodic_job_has_one_retry_a_minute_later(file: str, eventually: Any) -> None:
    """Q34: then the next tick of the schedule."""
    clock = ManualClock()
    async with pubs_stage(file, clock=clock) as stage:
        await stage.new_org(lifecycle_rules=[STALE_DRAFTS])
        await stage.new_project()
        await stage.rows('UPDATE docs_org SET lifecycle_rules = \'[{"type": "of the future"}]\'')
        app = stage.app
        for one in (app.lifecycle_eval, app.purgatory_cleanup, app.credential_rewrap, app.reconcile):
            kind: Kind = one.kind
            assert (kind.max_attempts, kind.on_key, kind.timeout) == (2, OnKey.SKIP, 3600)
            assert 54 <= kind.backoff.delay(1, 0.0) <= kind.backoff.delay(1, 0.999) <= 66

        job = await stage.press.submit(KIND, {}, key=KIND)

        async def waits_for_its_retry() -> bool:
            found = await stage.press.get(job)
            return found.status is Status.QUEUED and found.failures == 1

        await eventually(waits_for_its_retry)
        again = await stage.press.submit(KIND, {}, key=KIND)
        assert (again.uid, again.answer) == (job.uid, Answer.SKIPPED)
        clock.advance(seconds=70)
        ended = await stage.press.wait_until_ended(job, timeout=60)
        assert (ended.status, ended.attempts) == (Status.FAILED, 2)

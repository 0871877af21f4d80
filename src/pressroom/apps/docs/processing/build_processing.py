"""A build becomes editions (Q19 to Q24): inventory, tracking, editions, dashboard; one job."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom import failpoints
from pressroom.app import Core
from pressroom.apps.docs.domain.slugs import RewriteRules
from pressroom.apps.docs.domain.tracking import plan_editions
from pressroom.apps.docs.model import Build, BuildStatus, Edition
from pressroom.apps.docs.operations.build_jobs import KIND, BuildOrder
from pressroom.apps.docs.processing.dashboard_phase import render_dashboard
from pressroom.apps.docs.processing.edition_moves import EditionMoves, EditionOutcomes
from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, ProjectPlace, find_place
from pressroom.apps.docs.processing.inventory import BuildInventory
from pressroom.apps.docs.processing.links import BuildLinks
from pressroom.apps.docs.processing.moves import KeptEdition, MovedEdition, move_by_build, shown_build
from pressroom.apps.docs.processing.search_index import index_pages
from pressroom.apps.docs.search.search import Search
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import builds as build_rows
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.store.projects import lock_project, touch_editions
from pressroom.apps.docs.uploads.staging import Staging
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.definitions import Backoff, Kind
from pressroom.model import Ending, OnKey, Partial, Status, Work
from pressroom.worker.context import RunningJob

BACKOFF = Backoff(base=5, cap=300)
TIMEOUT = 3_600.0
DELETED = "the build was deleted before it was processed"


class BuildSubject(msgspec.Struct, frozen=True):
    """What a job works on."""

    place: ProjectPlace
    build: Build


class Tracked(msgspec.Struct, frozen=True):
    """The editions that are to show the build, and those that are not, with the reason."""

    editions: Sequence[Edition]
    skipped: list[dict[str, str]]


class BuildProcessing:
    def __init__(self, core: Core, staging: Staging, publishing: EditionPublishing, search: Search) -> None:
        self._core = core
        self._settings: DocsSettings = core.app_settings
        self._inventory = BuildInventory(core, staging)
        self._links = BuildLinks(core)
        self._publishing = publishing
        self._search = search
        self._urls = PublishedUrls(self._settings)
        self.kind = Kind(
            KIND,
            self._run,
            max_attempts=self._settings.max_attempts,
            backoff=BACKOFF,
            timeout=TIMEOUT,
            on_key=OnKey.LINE_UP,
            retention=timedelta(seconds=self._settings.job_retention),
            settling=_settle,
            alert=True,
            pool="default",
        )

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        """Every step looks at what is there already: an attempt begins where the one before it ended."""
        order = msgspec.convert(payload, BuildOrder)
        await job.phase("inventory", message="Reading the archive")
        subject = await job.write(partial(_open_build, order.build, job.uid))
        if subject is None:
            return {"build": order.build, "message": DELETED}
        build = await self._inventory.take(job, subject.place.org, subject.build)
        may_hold = subject.place.project.on_broken_links == "hold"
        if may_hold:
            build = await self._links.check(job, build)

        await job.phase("tracking", message=f"Finding the editions of {build.git_ref}")
        tracked = await self._track(job, subject.place, build)
        failpoints.hit("tracking.done")

        moves = EditionMoves(self._core.database, self._publishing, self._urls, job, subject.place)
        move = partial(_move, build=build.uid, actor=order.actor, job_uid=job.uid)
        outcomes = await moves.run(tracked.editions, move, skipped=tracked.skipped)

        problem = await render_dashboard(job, self._publishing, subject.place, last=job.attempt >= self.kind.max_attempts)
        if not may_hold:
            await self._links.check_published(job, build)
        await index_pages(job, self._search, build)
        return _result(build, outcomes, _problems(subject.place, build, problem))

    async def _track(self, job: RunningJob, place: ProjectPlace, build: Build) -> Tracked:
        rules = RewriteRules.of(place.org, place.project)
        tracked = await job.write(partial(_track, place, build.uid, rules))
        if not _holds(place, build):
            return tracked
        reason = f"the build has {build.broken_links:,} broken links, and the project holds its editions back for these"
        held = [{"slug": edition.slug, "reason": reason} for edition in tracked.editions if edition.build != build.uid]
        return Tracked([edition for edition in tracked.editions if edition.build == build.uid], [*tracked.skipped, *held])


def _open_build(uid: str, job_uid: str) -> Work[BuildSubject | None]:
    """None for a build that was deleted, also with its project: there is nothing to do."""
    build = yield from build_rows.get_build_by_uid(uid)
    place = yield from find_place(build.project)
    if build.date_deleted is not None or place.project.date_deleted is not None:
        return None
    if build.status is BuildStatus.FAILED:  # this job tries again what another one did
        yield from build_rows.reopen_build(uid, job_uid)
        build = yield from build_rows.get_build_by_uid(uid)
    return BuildSubject(place, build)


def _track(place: ProjectPlace, build_uid: str, rules: RewriteRules) -> Work[Tracked]:
    """The project is locked, so that two builds which both need a new edition create it once."""
    project = yield from lock_project(place.project.id)
    build = yield from build_rows.get_build_by_uid(build_uid)
    editions = yield from rows.list_editions(project.id)
    shown = yield from rows.list_shown_builds(project.id)
    auto_create = place.org.auto_create if project.auto_create is None else project.auto_create
    plan = plan_editions(shown_build(build), editions, shown, rules, auto_create)
    if not _holds(place, build):
        for new in plan.create:
            yield from rows.insert_edition(project.id, new)
        if plan.create:
            yield from touch_editions(project.id)
            editions = yield from rows.list_editions(project.id)
    by_slug = {edition.slug: edition for edition in editions}
    skipped = [{"slug": one.slug, "reason": one.reason} for one in plan.skipped]
    return Tracked([by_slug[slug] for slug in plan.move if slug in by_slug], skipped)


def _holds(place: ProjectPlace, build: Build) -> bool:
    """Whether editions stay where they are because of broken links."""
    return place.project.on_broken_links == "hold" and bool(build.broken_links)


def _move(edition: Edition, *, build: str, actor: str, job_uid: str) -> Work[MovedEdition | KeptEdition]:
    return (yield from move_by_build(edition.id, build, actor=actor, job_uid=job_uid))


def _problems(place: ProjectPlace, build: Build, dashboard: str | None) -> list[str]:
    """What went wrong beside the editions."""
    problems = [] if dashboard is None else [dashboard]
    if _holds(place, build):
        problems.append(f"held back: {build.broken_links:,} broken links")
    return problems


def _result(build: Build, outcomes: EditionOutcomes, problems: list[str]) -> Any:
    result = {
        "build": build.uid,
        "object_count": build.object_count,
        "total_size_bytes": build.total_size,
        "editions_published": outcomes.published,
        "editions_skipped": outcomes.skipped,
        "editions_failed": msgspec.to_builtins(outcomes.failed),
        "problems": problems,
    }
    return Partial(result, problems) if problems else result


def _settle(ending: Ending) -> Work[None]:
    """The build and what it was publishing follow the job, whatever ended it (Q24, D29)."""
    order = msgspec.convert(ending.payload, BuildOrder)
    error = dict(ending.error or {})
    error.pop("detail", None)  # the traceback is for operators, and stays with the job
    yield from rows.settle_publishing(ending.uid, str(error.get("message") or f"the job was {ending.status}"))
    match ending.status:
        case Status.COMPLETED:
            if not (yield from build_rows.complete_build(order.build)):
                yield from build_rows.fail_build(order.build, {"code": "deleted", "message": DELETED})
        case Status.COMPLETED_WITH_ERRORS:
            failed = (ending.result or {}).get("editions_failed", [])
            yield from build_rows.complete_build(order.build, {**error, "editions": failed})
        case _:
            error = error or {"code": str(ending.status), "message": f"the job was {ending.status}"}
            yield from build_rows.fail_build(order.build, error)

"""Render jobs of an organisation: listed, and requested again where they failed (design 002)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from pressroom.apps.packs import store
from pressroom.apps.packs.actor import Actor
from pressroom.apps.packs.errors import AlreadyInProgress, InvalidStatus, RenderJobNotFound
from pressroom.apps.packs.model import PackRender, to_uid
from pressroom.apps.packs.packs import Packs
from pressroom.apps.packs.planning import RenderAnswer, RequestedDocument
from pressroom.apps.packs.sections import SectionRenders
from pressroom.errors import NotFound, PressroomError
from pressroom.ids import parse_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.jobs.transitions import now

AFTER_ALL = "Z"  # sorts behind every uid, in any collation: those begin with a digit
A_DAY = 24 * 3600 * 1000

type RenderJobStatus = Literal["", "queued", "rendering", "ready", "failed"]


class RenderJob(msgspec.Struct, frozen=True):
    """`retry_of` is the job id of the failed render that it was requested in place of."""

    render: PackRender
    retry_of: str | None


class RenderJobFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What is empty does not filter."""

    status: RenderJobStatus = ""
    pack_id: str = ""
    doc_id: str = ""


class RequeueFailure(msgspec.Struct, frozen=True):
    job_id: str
    code: str
    message: str


class RequeueCounts(msgspec.Struct, frozen=True, kw_only=True):
    """`next_cursor` goes on behind those of this call: what cannot be requested again would be met first each time."""

    enqueued: int
    skipped_in_progress: int
    errors: int
    failures: list[RequeueFailure]
    next_cursor: str | None


class PackFigures(msgspec.Struct, frozen=True, kw_only=True):
    """`failed` counts documents whose newest render failed; the last day's are renders."""

    packs: int
    queued: int
    rendering: int
    failed: int
    oldest_open: int | None
    ready_last_day: int
    failed_last_day: int
    open_alerts: int


class RenderJobs:
    def __init__(self, packs: Packs, sections: SectionRenders) -> None:
        self._packs = packs
        self._sections = sections

    async def list(
        self, org_id: str | None, wanted: RenderJobFilter, *, cursor: str = "", limit: int = 50
    ) -> tuple[Sequence[RenderJob], str | None]:
        """Newest first, and the cursor of the next page."""
        unit = partial(_list, org_id or "", wanted, _uid_of_cursor(cursor), limit + 1)
        found = await self._packs.database.read(unit)
        return found[:limit], found[limit - 1].render.job_id if len(found) > limit else None

    async def get(self, org_id: str | None, job_id: str) -> RenderJob:
        """Raises RenderJobNotFound."""
        try:
            uid = parse_uid(job_id)
        except NotFound:
            raise RenderJobNotFound from None
        return await self._packs.database.read(partial(_find, org_id or "", uid))

    async def requeue(self, org_id: str | None, job_id: str, actor: Actor, trace: Mapping[str, str]) -> RenderAnswer:
        """Raises RenderJobNotFound, InvalidStatus, AlreadyInProgress, and what says why the document cannot be made."""
        found = await self.get(org_id, job_id)
        if found.render.status != "failed":
            raise InvalidStatus(found.render.status)
        return await self._render_again(org_id, found.render, actor, trace)

    async def requeue_failed(
        self, org_id: str | None, actor: Actor, trace: Mapping[str, str], *, cursor: str = "", limit: int = 50
    ) -> RequeueCounts:
        """Documents whose newest ended render failed, newest first. Those that were cancelled are left alone."""
        before = _uid_of_cursor(cursor)
        place = {"org_id": org_id or "", "before": before, "doc_id": "", "limit": limit}
        found = await self._packs.database.read(partial(_jobs_of, "packs.list_requeue_candidates", place))
        enqueued = skipped = 0
        failures = []
        for job in found:
            try:
                await self._render_again(org_id, job.render, actor, trace)
                enqueued += 1
            except AlreadyInProgress:
                skipped += 1
            except PressroomError as error:
                failures.append(RequeueFailure(job.render.job_id, error.code, str(error)))
        return RequeueCounts(
            enqueued=enqueued,
            skipped_in_progress=skipped,
            errors=len(failures),
            failures=failures,
            next_cursor=found[-1].render.job_id if len(found) == limit else None,
        )

    async def _render_again(
        self, org_id: str | None, failed: PackRender, actor: Actor, trace: Mapping[str, str]
    ) -> RenderAnswer:
        pack = await self._packs.get(org_id, failed.pack)
        options: dict[str, Any] = {"requested_by": actor.name, "actor": actor, "trace": dict(trace)}
        if failed.config:
            return await self._packs.render_again(pack, failed, **options)
        again = await self._sections.render_again(pack, failed, **options)
        job = RequestedDocument(failed.doc_id, again.job_uid, again.target.render_request.number)
        return RenderAnswer(pack, [job], [], failed.snapshot)

    async def figures(self, org_id: str | None) -> PackFigures:
        return await self._packs.database.read(partial(_count, org_id or ""))


def _uid_of_cursor(cursor: str) -> str:
    return to_uid(cursor) if cursor else AFTER_ALL


def _list(org_id: str, wanted: RenderJobFilter, before: str, limit: int) -> Work[list[RenderJob]]:
    place: dict[str, Any] = {"org_id": org_id, "before": before, "doc_id": wanted.doc_id, "limit": limit}
    if wanted.pack_id:
        pack = {"pack": wanted.pack_id, "status": wanted.status}
        return (yield from _jobs_of("packs.list_render_jobs_of_pack", place | pack))
    if wanted.status == "failed":
        return (yield from _jobs_of("packs.list_failed_render_jobs", place))
    if wanted.status in ("queued", "rendering"):
        rendering = {"rendering": int(wanted.status == "rendering")}
        return (yield from _jobs_of("packs.list_open_render_jobs", place | rendering))
    return (yield from _jobs_of("packs.list_render_jobs", place | {"outcome": wanted.status}))


def _find(org_id: str, uid: str) -> Work[RenderJob]:
    rows = yield Statement("packs.find_render_job", {"org_id": org_id, "job_uid": uid})
    if not rows:
        raise RenderJobNotFound
    return _job_of_row(rows[0])


def _jobs_of(statement: str, place: dict[str, Any]) -> Work[list[RenderJob]]:
    return [_job_of_row(row) for row in (yield Statement(statement, place))]


def _job_of_row(row: Row) -> RenderJob:
    return RenderJob(store.render_of_row(row[:-1]), row[-1])


def _count(org_id: str) -> Work[PackFigures]:
    moment = yield from now()
    place = {"org_id": org_id, "since": moment - A_DAY}
    ((packs, unsettled, rendering, oldest, failed, ready_lately, failed_lately, alerts),) = yield Statement(
        "packs.count_renders", place
    )
    return PackFigures(
        packs=packs,
        queued=unsettled - rendering,
        rendering=rendering,
        failed=failed,
        oldest_open=oldest,
        ready_last_day=ready_lately,
        failed_last_day=failed_lately,
        open_alerts=alerts,
    )

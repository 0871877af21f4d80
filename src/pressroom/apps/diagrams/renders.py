"""The kind `diagram`: a render with slots of its own, kept for as long as design 003 says."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.api.views import JobView
from pressroom.apps.diagrams.cache_lookup import CacheLookup, look_up_with_room
from pressroom.apps.diagrams.named import versions
from pressroom.apps.diagrams.settings import DiagramsSettings
from pressroom.base.fingerprint import fingerprint_input
from pressroom.definitions import Kind, Settling
from pressroom.kinds.rendering import Rendering
from pressroom.model import Ending, Job, Status, Tier, Work, from_ms
from pressroom.renderers.documents import PreparedRender
from pressroom.store.artifacts import render_cache
from pressroom.store.artifacts.artifacts import Expiry
from pressroom.submission.fair_slots import FairSlots, RenderWaiters

NAME = "diagram"
RENEWED = 60_000  # milliseconds; a hit with less than this left is renewed

_WORDS = {
    Status.QUEUED: "pending",
    Status.IN_PROGRESS: "rendering",
    Status.COMPLETED: "completed",
    Status.COMPLETED_WITH_ERRORS: "completed",
    Status.FAILED: "failed",
    Status.CANCELLED: "failed",
}


class DiagramView(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the words of design 003. Its picture expires not before `expiresAt`: every use near the end renews it. When it
    has expired, `url` and `shortlink` are null and `expiresAt` says when that was.
    """

    jobId: str  # noqa: N815
    status: str
    statusUrl: str  # noqa: N815
    shortlink: str | None
    url: str | None
    error: str | None
    code: str | None
    line: int | None
    column: int | None
    inputHash: str | None  # noqa: N815
    createdAt: datetime  # noqa: N815
    startedAt: datetime | None  # noqa: N815
    completedAt: datetime | None  # noqa: N815
    expiresAt: datetime | None  # noqa: N815
    job: JobView


class Diagrams:
    """The kind and its slots, and the look-up of earlier renders. Every endpoint of the app, Kroki's too, uses this."""

    def __init__(self, rendering: Rendering, settings: DiagramsSettings) -> None:
        self._rendering = rendering
        self.max_versions = settings.max_versions
        self.slots = FairSlots(settings.max_concurrent, settings.max_waiting)
        self._room = settings.max_concurrent + settings.max_waiting
        self.render_waiters = RenderWaiters(self._room)
        self._kept_for = int(settings.cache_ttl * 1000)
        self._link_kept_for = int(settings.kept_link_ttl * 1000)
        plain = rendering.make_kind(
            NAME,
            self._handle,
            tier=Tier.INTERACTIVE,
            retention=timedelta(seconds=settings.job_retention),
            cache_for=timedelta(seconds=settings.cache_ttl),
            on_backpressure="fail",
            timeout=120,
        )
        self.kind: Kind = replace(plain, settling=partial(_settle, plain.settling))

    async def look_up(self, prepared: PreparedRender, org_id: str | None, *, in_flight: bool = False) -> CacheLookup:
        """Look for an input in the cache. A hit that is about to expire is renewed."""
        fingerprint = fingerprint_input(self.kind, org_id or "", prepared.inputs)
        database = self._rendering.database
        if in_flight:
            lookup = await database.read(partial(look_up_with_room, fingerprint, NAME, self._room, org_id or ""))
        else:
            lookup = CacheLookup(fingerprint, await database.read(partial(render_cache.find_hit, fingerprint.digest)))
        if lookup.hit is None:
            return lookup
        if not await self._rendering.has_cached_bytes(lookup.hit.artifact):
            return msgspec.structs.replace(lookup, hit=None)
        if lookup.hit.remaining_ms < min(RENEWED, self._kept_for // 5):
            await database.run(partial(render_cache.renew_entry, lookup.hit.artifact, self._kept_for), name="renew")
            return CacheLookup(fingerprint, await database.read(partial(render_cache.find_hit, fingerprint.digest)))
        if render_cache.is_last_use_old(lookup.hit.last_used, lookup.hit.at):
            await database.run(partial(render_cache.record_use, lookup.hit.artifact), name="renew", durable=False)
        return lookup

    async def keep_render(self, artifact: str) -> datetime | None:
        """Keep a picture, its link and its source for as long as the settings say after each use. None: it has expired."""
        kept = partial(render_cache.keep_entry, artifact, self._link_kept_for)
        until = await self._rendering.database.run(kept, name="renew")
        return None if until is None else from_ms(until)

    async def format_job(self, base_url: str, job: Job, shown: JobView) -> DiagramView:
        """A job in the words of design 003."""
        uid = job.result.get("artifact") if isinstance(job.result, Mapping) else None
        expiry = None if uid is None else await self._rendering.expiry_of(uid)
        return _format_job(base_url, job, shown, expiry)

    async def _handle(self, job: Any, payload: Any) -> Any:
        async with self.slots.hold_slot(job.org_id):
            result = await self._rendering.handle(job, payload)
        return result | {"kept_for": self._kept_for}


def _settle(plain: Settling | None, ending: Ending) -> Work[None]:
    """The artifact first, then the version of a named diagram that it is the picture of."""
    if plain is not None:
        yield from plain(ending)
    yield from versions.settle(ending)


def _format_job(base_url: str, job: Job, shown: JobView, expiry: Expiry | None) -> DiagramView:
    made = job.result if isinstance(job.result, Mapping) else {}
    link = made.get("short_link") if expiry is None or not expiry.is_over else None
    failed = _WORDS[job.status] == "failed"
    error = job.errors[-1] if job.errors and failed else {}
    return DiagramView(
        jobId=shown.id,
        status=_WORDS[job.status],
        statusUrl=shown.links.self,
        shortlink=link,
        url=None if link is None else f"{base_url}/d/{link}",
        error=job.last_error if failed else None,
        code=error.get("code"),
        line=error.get("line"),
        column=error.get("column"),
        inputHash=input_hash(job.payload) if isinstance(job.payload, Mapping) else None,
        createdAt=job.date_created,
        startedAt=job.date_started,
        completedAt=job.date_completed,
        expiresAt=None if expiry is None else expiry.at,
        job=shown,
    )


def status_word(status: Status) -> str:
    return _WORDS[status]


def input_hash(payload: Mapping[str, Any]) -> str | None:
    """Design 003's name for an input: SHA-256 of `source|format|outputType`."""
    source = payload.get("source")
    if source is None:
        return None
    return hashlib.sha256(f"{source}|{payload.get('language')}|{payload.get('output')}".encode()).hexdigest()


def expiry_of(job: Job) -> datetime | None:
    kept_for = job.result.get("kept_for") if isinstance(job.result, Mapping) else None
    if job.date_completed is None or not isinstance(kept_for, int):
        return None
    return job.date_completed + timedelta(milliseconds=kept_for)

"""An edition comes to show a build that a person chose (Q25, Q26), or what it shows is published."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.app import Core
from pressroom.apps.docs.model import Edition
from pressroom.apps.docs.operations.edition_jobs import KIND, EditionOrder
from pressroom.apps.docs.processing.build_processing import BACKOFF, TIMEOUT
from pressroom.apps.docs.processing.dashboard_phase import render_dashboard
from pressroom.apps.docs.processing.edition_moves import EditionMoves, EditionOutcomes
from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, ProjectPlace, find_place
from pressroom.apps.docs.processing.moves import KeptEdition, MovedEdition, move_by_person
from pressroom.apps.docs.processing.search_index import index_pages
from pressroom.apps.docs.search.search import Search
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.store.builds import get_build_by_uid
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.definitions import Kind
from pressroom.model import Ending, OnKey, Partial, Work
from pressroom.worker.context import RunningJob

PUBLISHED_AT_ONCE = 4  # of the editions of a project: in copy mode each has files in memory


class EditionUpdate:
    def __init__(self, core: Core, publishing: EditionPublishing, search: Search) -> None:
        self._core = core
        self._settings: DocsSettings = core.app_settings
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
            pool="default",
        )

    async def _run(self, job: RunningJob, payload: Any) -> Any:
        order = msgspec.convert(payload, EditionOrder)
        place = await self._core.database.read(partial(find_place, order.project))
        outcomes = await self._move(job, place, order) if order.build is not None else await self._publish(job, order)
        problem = None
        if place.project.date_deleted is None:
            problem = await render_dashboard(job, self._publishing, place, last=job.attempt >= self.kind.max_attempts)
        if order.build is not None:
            await index_pages(job, self._search, await self._core.database.read(partial(get_build_by_uid, order.build)))
        result = {
            "editions_published": outcomes.published,
            "editions_skipped": outcomes.skipped,
            "editions_failed": msgspec.to_builtins(outcomes.failed),
        }
        return Partial(result, [problem]) if problem else result

    async def _move(self, job: RunningJob, place: ProjectPlace, order: EditionOrder) -> EditionOutcomes:
        assert order.edition is not None
        edition = await self._core.database.read(partial(rows.get_edition_by_id, order.edition))
        moves = EditionMoves(self._core.database, self._publishing, self._urls, job, place)
        return await moves.run([edition], partial(_move, order=order, job_uid=job.uid), raise_if_all_failed=True)

    async def _publish(self, job: RunningJob, order: EditionOrder) -> EditionOutcomes:
        """What lags behind: of one edition, or of all of the project."""
        database = self._core.database
        ids = [order.edition] if order.edition else await database.read(partial(rows.list_unpublished, order.project))
        editions = await database.read(partial(_get_editions, ids))
        slugs = _names(editions)
        await job.items("editions", slugs, phase="editions")
        slots = asyncio.Semaphore(PUBLISHED_AT_ONCE)

        async def publish(edition: Edition, slug: str) -> str:
            async with slots, job.item(slug):
                await self._publishing.publish_again(database, edition.id)
            return slug

        results = await asyncio.gather(*map(publish, editions, slugs), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result  # tried again: publishing twice changes nothing
        return EditionOutcomes(published=slugs)


def _names(editions: Sequence[Edition]) -> list[str]:
    """Slugs; with the id behind one that several editions have had."""
    slugs = [edition.slug for edition in editions]
    return [slug if slugs.count(slug) == 1 else f"{slug} ({edition.id})" for slug, edition in zip(slugs, editions, strict=True)]


def _get_editions(ids: Sequence[str]) -> Work[list[Edition]]:
    editions = []
    for id in ids:
        editions.append((yield from rows.get_edition_by_id(id)))
    return editions


def _move(edition: Edition, *, order: EditionOrder, job_uid: str) -> Work[MovedEdition | KeptEdition]:
    assert order.build is not None
    return (
        yield from move_by_person(
            edition.id, order.build, trigger=order.trigger, actor=order.actor, job_uid=job_uid, pinned=order.pinned
        )
    )


def _settle(ending: Ending) -> Work[None]:
    """What it was publishing follows the job, whatever ended it (D29)."""
    message = (ending.error or {}).get("message") or f"the job was {ending.status}"
    yield from rows.settle_publishing(ending.uid, str(message))

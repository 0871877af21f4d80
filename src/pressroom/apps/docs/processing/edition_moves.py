"""The phase `editions` of a job (Q8, Q12, Q22): move editions and publish them, each on its own."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from pressroom import failpoints
from pressroom.apps.docs.model import Edition
from pressroom.apps.docs.processing.edition_publishing import EditionPublishing, ProjectPlace, find_place, publication_of
from pressroom.apps.docs.processing.moves import KeptEdition, MovedEdition
from pressroom.apps.docs.publishing import Publication
from pressroom.apps.docs.store import editions as rows
from pressroom.apps.docs.urls import PublishedUrls
from pressroom.errors import (
    Cancelled,
    ClaimLost,
    EngineMissing,
    PressroomError,
    Refused,
    SourceInvalid,
    StoreUnavailable,
    TooLarge,
)
from pressroom.model import JSON, Work
from pressroom.overview import Overview
from pressroom.store import Database
from pressroom.worker.context import RunningJob, public_error

type Move = Callable[[Edition], Work[MovedEdition | KeptEdition]]

_FINAL = (Refused, SourceInvalid, TooLarge, EngineMissing)  # another attempt would end the same
_OF_THE_JOB = (ClaimLost, Cancelled, StoreUnavailable)  # not of one edition: the attempt is over


class FailedEdition(msgspec.Struct, frozen=True):
    slug: str
    error: str


class EditionOutcomes(msgspec.Struct, frozen=True):
    """What became of the editions. `skipped` are those that something else has moved meanwhile."""

    published: list[str] = []
    skipped: list[dict[str, str]] = []
    failed: list[FailedEdition] = []


class EditionMoves:
    """Moves the editions of one project, for one attempt of a job."""

    def __init__(
        self, database: Database, publishing: EditionPublishing, urls: PublishedUrls, job: RunningJob, place: ProjectPlace
    ) -> None:
        self._database = database
        self._publishing = publishing
        self._urls = urls
        self._job = job
        self._place = place
        self._details: dict[str, Any] = {}
        self._skipped: list[dict[str, str]] = []

    async def run(
        self,
        editions: Sequence[Edition],
        move: Move,
        *,
        skipped: Sequence[dict[str, str]] = (),
        raise_if_all_failed: bool = False,
    ) -> EditionOutcomes:
        """All of them at once; one that fails leaves the others alone. If all fail, the error of one is raised: of one that may
        pass, or, with `raise_if_all_failed`, of any."""
        self._skipped = [*skipped]
        by_slug = {edition.slug: edition for edition in editions}
        await self._job.items("editions", [*by_slug], phase="editions", details=self._progress_details())
        await self._note_conflicts([*by_slug])
        results = await asyncio.gather(*(self._move_one(edition, move) for edition in by_slug.values()), return_exceptions=True)
        errors = {slug: result for slug, result in zip(by_slug, results, strict=True) if isinstance(result, BaseException)}
        for error in errors.values():
            if isinstance(error, _OF_THE_JOB) or not isinstance(error, Exception):
                raise error
        if errors and len(errors) == len(by_slug):
            for error in errors.values():
                if raise_if_all_failed or not isinstance(error, _FINAL):
                    raise error
        return EditionOutcomes(
            published=[slug for slug, result in zip(by_slug, results, strict=True) if result is True],
            skipped=self._skipped,
            failed=[FailedEdition(slug, _worded(error)) for slug, error in errors.items()],
        )

    async def _move_one(self, edition: Edition, move: Move) -> bool:
        """Whether it shows the build now, and readers get it."""
        moved: MovedEdition | None = None
        try:
            result = await self._job.write(partial(move, edition))
            if isinstance(result, KeptEdition):
                await self._skip(result)
                return False
            moved = result
            failpoints.hit("edition.moved")
            if not moved.is_published:
                await self._publish(moved)
            failpoints.hit("edition.published")
            await self._complete(moved)
        except _OF_THE_JOB:
            raise
        except Exception as error:
            await self._fail(edition, moved, error)
            raise
        return True

    async def _publish(self, moved: MovedEdition) -> None:
        publication = await self._database.read(partial(_publication_of, moved.edition))
        await self._publishing.publish(msgspec.structs.replace(publication, seq=moved.seq))

    async def _complete(self, moved: MovedEdition) -> None:
        slug = moved.edition.slug
        place = self._place
        self._details[slug] = {
            **self._details.get(slug, {}),
            "build": moved.edition.build,
            "published_url": self._urls.edition(place.org, place.project.slug, slug),
        }
        await self._note_details()
        await self._job.write(partial(rows.mark_published, moved.edition.id, moved.seq), item_completed=slug)

    async def _skip(self, kept: KeptEdition) -> None:
        self._skipped.append({"slug": kept.edition.slug, "reason": kept.reason})
        await self._note_details()
        await self._job.item_completed(kept.edition.slug)

    async def _fail(self, edition: Edition, moved: MovedEdition | None, error: Exception) -> None:
        words = public_error(edition.slug, error)
        if moved is None:
            await self._job.item_failed(edition.slug, words)
        else:
            unit = partial(rows.mark_published, edition.id, moved.seq, words)
            await self._job.write(unit, item_failed=(edition.slug, words))

    async def _note_details(self) -> None:
        await self._job.add_details(**self._progress_details())

    def _progress_details(self) -> dict[str, JSON]:
        return {"editions_skipped": [{**one} for one in self._skipped], "editions_detail": {**self._details}}

    async def _note_conflicts(self, slugs: Sequence[str]) -> None:
        """Which other jobs update the same editions now (Q15). The moves are safe all the same; people may want to know."""
        found = await Overview(self._database).conflicts(self._place.project.id, noun="editions")
        for conflict in found.conflicts:
            others: list[JSON] = [job.id for job in conflict.jobs if job.id != f"job_{self._job.uid}"]
            if conflict.item in slugs and others:
                self._details[conflict.item] = {"also_updated_by": others}
        if self._details:
            await self._note_details()


def _publication_of(edition: Edition) -> Work[Publication]:
    """Its project may have been deleted since the job began."""
    place = yield from find_place(edition.project)
    return (yield from publication_of(place, edition))


def _worded(error: BaseException) -> str:
    return str(error) if isinstance(error, PressroomError) else type(error).__name__

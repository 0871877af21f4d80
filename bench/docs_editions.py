"""A project whose editions all track one branch, and a build of it that moves them all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import docs_generated_site
from bench.docs_builds import SiteBench, Spent, measured, site_bench
from bench.docs_generated_site import Site
from pressroom.app import database_schema
from pressroom.apps.docs.model import Build, TrackingParams
from pressroom.apps.docs.processing.edition_moves import EditionMoves, EditionOutcomes
from pressroom.apps.docs.processing.moves import MovedEdition, move_by_person
from pressroom.apps.docs.requests import EditionDraft
from pressroom.apps.docs.store import editions as rows
from pressroom.model import Work
from pressroom.store.engine.sqlite_connection import SqliteConnection

FILES = 20
OTHER = "other"  # a branch that only its own edition tracks


async def switch(home: Path, editions: int, rounds: int) -> tuple[list[Spent], list[Spent]]:
    """The phase of the job in which they are moved, and a loop that does the same with each edition in a durable transaction of
    its own: what it shows is asked for, then pointer, history, hold and status."""
    ours, bare = [], []
    async with site_bench(home) as bench:
        for number in range(editions - 1):  # and __main
            draft = EditionDraft(slug=f"edition-{number}", tracking_params=TrackingParams(git_ref="main"))
            await bench.flow.app.editions.create("acme", "guide", draft)
        for number in range(rounds):
            with _phase_measured() as spent:
                await _build(bench, home, "main", 2 * number)
            ours.append(spent)
            bare.append(await _move_one_by_one(bench, home, await _build(bench, home, OTHER, 2 * number + 1)))
    return ours, bare


async def _build(bench: SiteBench, home: Path, ref: str, revision: int) -> Build:
    site = Site(FILES, revisions={0: revision})
    archive = docs_generated_site.packed(site, home / f"{revision}.tar.gz")
    return (await bench.process(archive, ref=ref)).build


@contextmanager
def _phase_measured() -> Iterator[Spent]:
    inner, measured_phase = EditionMoves.run, Spent()

    async def run(*args: Any, **options: Any) -> EditionOutcomes:
        with measured() as spent:
            outcomes = await inner(*args, **options)
        measured_phase.seconds, measured_phase.cpu = spent.seconds, spent.cpu
        return outcomes

    EditionMoves.run = run  # type: ignore[method-assign]
    try:
        yield measured_phase
    finally:
        EditionMoves.run = inner  # type: ignore[method-assign]


async def _move_one_by_one(bench: SiteBench, home: Path, build: Build) -> Spent:
    editions = [one for one in await bench.flow.app.editions.list("acme", "guide") if one.build != build.uid]
    press = bench.flow.press
    connection = SqliteConnection(str(home / "pressroom.db"), press.clock, database_schema(press.installed))
    try:
        with measured() as spent:
            for edition in editions:
                connection.begin(durable=True, shared_lock=False)
                connection.run_work(_move(edition.id, build))
                connection.commit()
    finally:
        connection.raw.close()
    return spent


def _move(edition: str, build: Build) -> Work[None]:
    moved = yield from move_by_person(
        edition, build.uid, trigger="patch", actor="bench", job_uid=f"{build.job_uid}", pinned=None
    )
    assert isinstance(moved, MovedEdition)
    yield from rows.mark_published(edition, moved.seq)

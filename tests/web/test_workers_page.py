"""The workers: how they are, how busy, and with what."""

from typing import Any

from pressroom.api.access import Scope
from pressroom.store.jobs.worker_records import WorkerRecord, save_worker
from tests.service.queue_stage import Floor, floor, job
from tests.web.browsing import Page, member
from tests.web.test_overview import lines


async def register(here: Floor, name: str, **how: Any) -> None:
    card = WorkerRecord(
        name, "p", ["build", "page"], 4, 1, host="press-1", pid=4711, version="0.1.0", delivery="embedded", **how
    )
    await here.run(save_worker(card))


async def test_a_worker_says_how_it_is_and_what_it_does(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER, everywhere=True) as person:
        await register(here, "press-1.4710.OLD")
        here.clock.advance(seconds=20)
        await register(here, "press-1.4711.NEW", stopping=True)
        claim = await here.start("build", subject="handbook", worker="press-1.4711.NEW")

        page = await person.get("/desk/workers")

    rows = lines(page.text)
    assert "1 of 2 alive" in page.text
    assert any(
        row.startswith("press-1.4710.OLD press-1, process 4711 ✕ silent 1 of 4 busy nothing build, page") for row in rows
    )
    assert any(row.startswith("press-1.4711.NEW press-1, process 4711 ◔ stopping 1 of 4 busy handbook build") for row in rows)
    assert f"/desk/jobs/{job(claim)}" in Page(page.text).addresses


async def test_one_whose_kinds_are_all_paused_is_paused(database: str) -> None:
    async with floor(database) as here, member(here, Scope.VIEWER, everywhere=True) as person:
        await register(here, "press-1.4711.NEW")
        for kind in ("build", "page"):
            await here.press.pause(kind)

        page = await person.get("/desk/workers")

    assert "❚❚ paused" in lines(page.text)[-1]


async def test_machines_and_others_jobs_are_not_for_members_of_an_organisation(database: str) -> None:
    async with floor(database) as here, member(here, Scope.ADMIN, "acme") as person:
        await register(here, "press-1.4711.NEW")
        await here.start("build", subject="ours", org_id="acme", worker="press-1.4711.NEW")
        await here.start("build", subject="theirs", org_id="other", worker="press-1.4711.NEW")

        page = await person.get("/desk/workers")

    assert lines(page.text)[-1].startswith("worker 1 ✓ working 4 slots ours build")
    for secret in ("press-1", "4711", "theirs", "of 4"):
        assert secret not in page.text


async def test_a_place_without_workers_says_how_to_start_one(file: str) -> None:
    async with floor(file) as here, member(here, Scope.VIEWER) as person:
        page = await person.get("/desk/workers")

    assert "There are no workers." in page.text
    assert "pressroom work" in page.text

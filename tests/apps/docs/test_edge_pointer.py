"""An edition is moved while it is read: every answer is of one build, and none is older than the one before."""

import asyncio
import re
from typing import Any

import pytest

from pressroom.apps.docs.edge.lookups import RecentLookups
from pressroom.apps.docs.edge.sites import FoundFile
from pressroom.errors import StoreUnavailable
from tests.apps.docs.edge_stage import DocsClock, edge_stage, page

ADDRESS = "/acme/guide/"


def site(name: str) -> dict[str, bytes]:
    return {"index.html": page(name), "other.html": page(f"other {name}"), f"only-{name}.html": page(name)}


async def test_a_request_that_began_before_a_move_ends_with_the_old_build(file: str) -> None:
    """The move happens between the look-up of the edition and that of the file."""
    async with edge_stage(file) as stage:
        await stage.add_project()
        old = await stage.publish(site("old"))
        new = await stage.add_build(site("new"))
        looking, go_on = asyncio.Event(), asyncio.Event()
        sites: Any = stage.edge._sites
        find = sites.file

        async def held(artifact: str, path: str) -> FoundFile:
            if not looking.is_set():
                looking.set()
                await go_on.wait()
            return await find(artifact, path)

        sites.file = held
        began_before = asyncio.create_task(stage.get(ADDRESS))
        await looking.wait()
        await stage.show(new)
        stage.clock.pass_time()
        after = await stage.get(ADDRESS)
        go_on.set()
        before = await began_before

    assert (before.headers["x-docverse-build"], before.content) == (old, page("old"))
    assert (after.headers["x-docverse-build"], after.content) == (new[0], page("new"))
    assert before.headers["etag"] != after.headers["etag"]


async def test_readers_never_see_two_builds_in_one_answer_nor_an_older_one_after_a_newer_one(
    database: str, eventually: Any
) -> None:
    async with edge_stage(database) as stage:
        await stage.add_project()
        names = [f"{number:02}" for number in range(20)]
        numbers = {await stage.publish(site("00")): "00"}
        done = asyncio.Event()
        answers = 0

        async def read() -> None:
            nonlocal answers
            newest = "00"
            while not done.is_set():
                for path in ("", "other.html"):
                    found = await stage.get(f"{ADDRESS}{path}", accept_encoding="gzip")
                    name = re.findall(rb"(\d\d)</h1>", found.content)[0].decode()
                    assert numbers[found.headers["x-docverse-build"]] == name
                    assert name >= newest
                    newest = name
                    answers += 1

        async def move() -> None:
            for name in names[1:]:
                build = await stage.add_build(site(name))
                numbers[build[0]] = name
                await stage.show(build)
                stage.clock.pass_time()
                seen = answers
                await eventually(lambda wanted=seen + 10: answers >= wanted)
            done.set()

        await asyncio.gather(move(), *(read() for _ in range(4)))
        last = await stage.get(f"{ADDRESS}only-19.html")

    assert last.status_code == 200


async def test_an_edition_is_looked_up_once_a_second_however_many_ask(file: str) -> None:
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish(site("old"))
        reads: list[object] = []
        database = stage.app.core.database
        read = database.read

        async def counted(unit: Any) -> Any:
            reads.append(unit)
            return await read(unit)

        database.read = counted  # type: ignore[method-assign]
        await asyncio.gather(*(stage.get(ADDRESS) for _ in range(30)))
        first = len(reads)
        await asyncio.gather(*(stage.get(ADDRESS) for _ in range(30)))
        second = len(reads)
        stage.clock.pass_time()
        await stage.get(ADDRESS)
        third = len(reads)

    assert first == 4  # organisations, project, edition, file
    assert second == first
    assert third == second + 3  # a file of a build is where it was


async def test_what_was_found_last_is_served_while_the_database_is_out_of_reach(file: str) -> None:
    async with edge_stage(file) as stage:
        await stage.add_project()
        await stage.publish(site("old"))
        before = await stage.get(ADDRESS)

        async def fail(unit: Any) -> Any:
            raise StoreUnavailable("the database is away", dependency="database")

        stage.app.core.database.read = fail  # type: ignore[method-assign]
        stage.clock.pass_time(60)
        during = await stage.get(ADDRESS)
        unknown = await stage.get(f"{ADDRESS}other.html")
        stage.clock.pass_time(600)
        late = await stage.get(ADDRESS)

    assert before.content == during.content
    assert (unknown.status_code, late.status_code) == (503, 503)
    assert "away" not in late.text


async def test_callers_share_one_look_up() -> None:
    clock, looked_up, go_on = DocsClock(), 0, asyncio.Event()

    async def look_up(key: str) -> int:
        nonlocal looked_up
        looked_up += 1
        await go_on.wait()
        return looked_up

    lookups = RecentLookups(look_up, most=10, clock=clock)
    waiting = [asyncio.create_task(lookups.get("a")) for _ in range(10)]
    await asyncio.sleep(0)
    waiting[0].cancel()  # the one that began it goes away
    go_on.set()

    assert await asyncio.gather(*waiting[1:]) == [1] * 9
    assert await lookups.get("a") == 1
    clock.pass_time()
    assert await lookups.get("a") == 2


async def test_only_the_first_caller_waits_for_a_database_that_is_out_of_reach(eventually: Any) -> None:
    clock, go_on, outage = DocsClock(), asyncio.Event(), True
    values = [1]

    async def look_up(key: str) -> int:
        if values:
            return values.pop()
        await go_on.wait()
        if outage:
            raise StoreUnavailable("the database is away", dependency="database")
        return 2

    lookups = RecentLookups(look_up, most=10, clock=clock)
    assert await lookups.get("a") == 1
    clock.pass_time()
    first = asyncio.create_task(lookups.get("a"))
    await asyncio.sleep(0)
    assert not first.done()
    go_on.set()
    assert await first == 1
    go_on.clear()

    assert [await lookups.get("a") for _ in range(3)] == [1] * 3  # while the next look-up still waits
    outage = False
    go_on.set()

    async def is_new() -> bool:
        return await lookups.get("a") == 2

    await eventually(is_new)


async def test_a_failed_look_up_is_tried_again() -> None:
    failures = [ValueError("broken")]

    async def look_up(key: str) -> str:
        if failures:
            raise failures.pop()
        return key

    lookups = RecentLookups(look_up, most=10)
    with pytest.raises(ValueError, match="broken"):
        await lookups.get("a")

    assert await lookups.get("a") == "a"

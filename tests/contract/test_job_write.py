"""`job.write`: an application's unit of work under the claim of its job. All of it is committed, or none."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom, Statement, Status, failpoints, kind
from pressroom.errors import Cancelled, ClaimLost, InvalidArgument
from pressroom.failpoints import WRITE_POINTS
from pressroom.model import Claim, Released, Row, Succeeded, Work
from pressroom.store.jobs import claiming, endings, progress, rescue, submitting
from pressroom.store.jobs.endings import Settlement
from pressroom.store.jobs.progress import ItemMove
from tests import looking
from tests.contract.races import KINDS, PLENTY, Side, Track, new, track_on
from tests.machine.broken import Mistake
from tests.machine.kinds import EVERY_KIND, LEASE
from tests.machine.on_postgres import stories_on
from tests.machine.on_sqlite import OnSqlite
from tests.machine.stages import Stage

TABLE = "CREATE TABLE IF NOT EXISTS edition (name TEXT, build TEXT)"
STABLE = ItemMove("editions", "stable", "completed", None)
NO_FENCE = Mistake("write_without_a_fence", "I4", "check_claim", " AND claim = :claim AND status = 'in_progress'")
NO_TOKEN = Mistake("write_without_its_token", "I4", "check_claim", " AND claim = :claim")


def save(name: str = "stable", build: str = "42") -> Work[str]:
    rows = yield Statement("SELECT count(*) FROM edition")
    yield Statement("INSERT INTO edition VALUES (:name, :build)", {"name": name, "build": build})
    return f"{name} is {build}, after {rows[0][0]}"


def refuse() -> Work[None]:
    yield from save()
    raise ValueError("the application changed its mind")


# Step by step, on both databases


@contextmanager
def stage_on(request: pytest.FixtureRequest, dialect: str) -> Iterator[Stage]:
    if dialect == "sqlite":
        stage = OnSqlite()
        stage.run(one(TABLE))
        yield stage
        stage.run(one("DROP TABLE edition"))
        stage.close(as_found=False)
        return
    with stories_on(request.getfixturevalue("on_server")) as server:
        stage = server()
        stage.run(one(TABLE))
        yield stage


@pytest.fixture(params=["sqlite", "postgres"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with stage_on(request, request.param) as stage:
        yield stage


def one(sql: str) -> Work[list[Row]]:
    return (yield Statement(sql))


def running(stage: Stage) -> Claim:
    """A job in progress, with an item to move."""
    stage.run(submitting.submit(new(1)))
    (claim,) = stage.run(claiming.claim("w", EVERY_KIND, PLENTY, LEASE))
    stage.run(progress.begin_items(claim.id, claim.token, "editions", "editions", ["stable"], None))
    return claim


def write(stage: Stage, claim: Claim, unit: Callable[[], Work[Any]] = save, item: ItemMove | None = STABLE) -> Any:
    return stage.run(progress.write_with_claim(claim.id, claim.token, unit(), item))


def editions(stage: Stage) -> list[Row]:
    return stage.run(one("SELECT name, build FROM edition"))


def items(stage: Stage, claim: Claim) -> list[str]:
    sql = "SELECT state FROM job_item WHERE job_id = :id AND claim = :claim"
    return [state for (state,) in stage.run(_items(sql, claim))]


def _items(sql: str, claim: Claim) -> Work[list[Row]]:
    return (yield Statement(sql, {"id": claim.id, "claim": claim.token}))


def test_the_value_is_returned_and_the_item_is_moved_with_the_rows(stage: Stage) -> None:
    claim = running(stage)

    assert write(stage, claim) == "stable is 42, after 0"
    assert (editions(stage), items(stage, claim)) == ([("stable", "42")], ["completed"])


def test_a_unit_may_be_written_without_an_item(stage: Stage) -> None:
    claim = running(stage)

    write(stage, claim, item=None)

    assert (editions(stage), items(stage, claim)) == ([("stable", "42")], ["in_progress"])


def expire(stage: Stage, claim: Claim) -> None:
    stage.clock.now += LEASE + 1
    (lost,) = stage.run(rescue.find_lost(()))
    assert stage.run(rescue.rescue(lost, KINDS, 0.0)) is Status.QUEUED


def give_to_another(stage: Stage, claim: Claim) -> None:
    expire(stage, claim)
    (taken,) = stage.run(claiming.claim("another", EVERY_KIND, PLENTY, LEASE))
    assert taken.id == claim.id


def release(stage: Stage, claim: Claim) -> None:
    stage.run(endings.settle([Settlement(claim, Released())], KINDS))


def complete(stage: Stage, claim: Claim) -> None:
    stage.run(endings.settle([Settlement(claim, Succeeded("null"))], KINDS))


def ask_to_cancel(stage: Stage, claim: Claim) -> None:
    stage.run(endings.cancel(claim.uid, KINDS, "unwanted"))


def end_as_cancelled(stage: Stage, claim: Claim) -> None:
    ask_to_cancel(stage, claim)
    (settled,) = stage.run(endings.settle([Settlement(claim, Succeeded("null"))], KINDS))
    assert settled.status is Status.CANCELLED


LOSSES = (expire, give_to_another, release, complete, end_as_cancelled)


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_lost_claim_writes_nothing(stage: Stage, lose: Callable[[Stage, Claim], None]) -> None:
    claim = running(stage)
    lose(stage, claim)
    before = items(stage, claim)

    with pytest.raises(ClaimLost):
        write(stage, claim)
    with pytest.raises(ClaimLost):
        write(stage, claim, item=None)

    assert (editions(stage), items(stage, claim)) == ([], before)


def test_a_job_that_was_asked_to_stop_writes_nothing(stage: Stage) -> None:
    """The cancel has won as soon as it returns, though the job still runs."""
    claim = running(stage)
    ask_to_cancel(stage, claim)

    with pytest.raises(Cancelled):
        write(stage, claim)

    assert (editions(stage), items(stage, claim)) == ([], ["in_progress"])


def test_a_unit_that_raises_leaves_nothing_and_moves_no_item(stage: Stage) -> None:
    claim = running(stage)

    with pytest.raises(ValueError, match="changed its mind"):
        write(stage, claim, refuse)

    assert (editions(stage), items(stage, claim)) == ([], ["in_progress"])


def test_an_item_that_cannot_be_moved_takes_the_rows_back(stage: Stage) -> None:
    claim = running(stage)
    write(stage, claim)

    for item in (STABLE, STABLE._replace(name="other"), STABLE._replace(noun="")):
        with pytest.raises(InvalidArgument, match="there is no"):
            write(stage, claim, lambda: save("again"), item)

    assert editions(stage) == [("stable", "42")]


@pytest.mark.parametrize("statements", range(6))
def test_a_crash_between_two_statements_leaves_nothing(stage: Stage, statements: int) -> None:
    """kill -9 after the check of the claim, within the unit, before and after the move of the item."""
    claim = running(stage)

    stage.kill(progress.write_with_claim(claim.id, claim.token, save(), STABLE), statements)

    assert (editions(stage), items(stage, claim)) == ([], ["in_progress"])


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("mistake", "lose"),
    [(NO_FENCE, expire), (NO_FENCE, complete), (NO_TOKEN, give_to_another)],
    ids=["expired", "completed", "given_to_another"],
)
def test_without_the_fence_a_late_worker_would_write(
    request: pytest.FixtureRequest, dialect: str, mistake: Mistake, lose: Callable[[Stage, Claim], None]
) -> None:
    """The tests above would notice if the check named less than the job, its claim and its status."""
    with mistake.made(dialect), stage_on(request, dialect) as stage:
        claim = running(stage)
        lose(stage, claim)

        write(stage, claim, item=None)

        assert editions(stage) == [("stable", "42")]


# Races on a server


@pytest.fixture
def track(on_server: str) -> Iterator[Track]:
    with track_on(on_server) as track:
        yield track


def start_of_race(track: Track) -> Claim:
    track.do(one(TABLE))
    track.do(one("DELETE FROM edition"))
    track.submit(new(1))
    (claim,) = track.claim()
    track.do(progress.begin_items(claim.id, claim.token, "editions", "editions", ["stable"], None))
    return claim


def writes(claim: Claim) -> Side:
    return Side(progress.write_with_claim(claim.id, claim.token, save(), STABLE))


def assert_whole(track: Track, answer: Any) -> None:
    """Both the row and the item, or neither."""
    written = answer == "stable is 42, after 0"
    assert written or isinstance(answer, ClaimLost | Cancelled)
    assert track.rows("SELECT name FROM edition") == ([("stable",)] if written else [])
    assert track.rows("SELECT state FROM job_item") == [("completed" if written else "in_progress",)]


def test_a_write_and_the_rescue_of_its_job_meet(track: Track) -> None:
    def silent() -> tuple[Claim, rescue.LostJob]:
        claim = start_of_race(track)
        track.pass_time(LEASE + 1)
        (lost,) = track.do(rescue.find_lost(()))
        return claim, lost

    answers = set()
    for _, met in track.every_order(
        silent, lambda start: writes(start[0]), lambda start: Side(rescue.rescue(start[1], KINDS, 0.0))
    ):
        assert met.other is Status.QUEUED
        assert_whole(track, met.one)
        answers.add(type(met.one))
    assert answers == {str, ClaimLost}


def test_a_write_and_the_end_of_its_job_meet(track: Track) -> None:
    """A worker abandoned a handler that goes on: the job is settled beside others while the handler writes."""

    def settles(claim: Claim) -> Side:
        return Side(endings.settle([Settlement(claim, Succeeded("null"))], KINDS), shared_lock=True)

    for _, met in track.every_order(lambda: start_of_race(track), writes, settles):
        assert [settled.status for settled in met.other] == [Status.COMPLETED]
        assert_whole(track, met.one)


def test_a_write_and_a_cancel_of_its_job_meet(track: Track) -> None:
    for _, met in track.every_order(
        lambda: start_of_race(track), writes, lambda claim: Side(endings.cancel(claim.uid, KINDS, "unwanted"))
    ):
        assert_whole(track, met.one)


# In a handler


# Neither a heartbeat nor a poll tells the worker that its job was cancelled or taken away, before the write does.
ONLY_WRITES_NOTICE: dict[str, Any] = {"lease": 3600, "poll_interval": 60}


def books(handler: Any) -> Kind:
    return kind("book", max_attempts=1, timeout=None)(handler)


async def run_book(database: str, handler: Any) -> tuple[Any, list[Row], list[Any]]:
    """The ended job, the rows, and the types of its events."""
    async with Pressroom(database, kinds=[books(handler)], workers=1, **ONLY_WRITES_NOTICE) as press:
        async with press.transaction() as tx:
            await tx.execute(TABLE)
        job = await press.submit("book")
        ended = await press.wait_until_ended(job, timeout=60)
        async with press.transaction() as tx:
            rows = await tx.execute("SELECT name, build FROM edition ORDER BY name")
        return ended, rows, [event.type for event in await press.history(job)]


async def test_a_coroutine_writes_and_is_given_the_value(database: str) -> None:
    async def book(job: Any, payload: Any) -> Any:
        await job.items("editions", ["draft", "stable"])
        value = await job.write(save, item_completed="stable")
        await job.write(lambda: save("draft", "-"), item_failed=("draft", "nobody approved it"))
        return value

    ended, rows, events = await run_book(database, book)

    assert (ended.status, ended.result) == (Status.COMPLETED_WITH_ERRORS, "stable is 42, after 0")
    assert rows == [("draft", "-"), ("stable", "42")]
    assert ended.progress["editions_completed"] == ["stable"]
    assert ended.progress["editions_failed"] == [{"slug": "draft", "error": "nobody approved it"}]
    assert events.count("item") == 2


async def test_a_plain_function_writes_and_is_given_the_value(database: str) -> None:
    def book(job: Any, payload: Any) -> Any:
        job.items("editions", ["stable"])
        return job.write(save, item_completed="stable")

    ended, rows, _ = await run_book(database, book)

    assert (ended.status, ended.result, rows) == (Status.COMPLETED, "stable is 42, after 0", [("stable", "42")])
    assert ended.progress["editions_completed"] == ["stable"]


async def test_a_unit_that_fails_fails_no_item_and_the_handler_may_go_on(database: str) -> None:
    async def book(job: Any, payload: Any) -> Any:
        await job.items("editions", ["stable"])
        with pytest.raises(ValueError, match="changed its mind"):
            await job.write(refuse, item_failed=("stable", "it did not happen"))
        return await job.write(save, item_completed="stable")

    ended, rows, _ = await run_book(database, book)

    assert (ended.status, rows) == (Status.COMPLETED, [("stable", "42")])


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((save(),), {}), ((save,), {"item_completed": "stable", "item_failed": ("stable", "no")})],
    ids=["called", "both"],
)
async def test_a_wrong_call_is_refused(file: str, arguments: Any, options: Any) -> None:
    async def book(job: Any, payload: Any) -> Any:
        with pytest.raises(InvalidArgument):
            await job.write(*arguments, **options)

    ended, rows, _ = await run_book(file, book)

    assert (ended.status, rows) == (Status.COMPLETED, [])


async def test_a_handler_whose_job_was_taken_away_cannot_write(database: str) -> None:
    """The rescue and the claim of another worker happen while the first handler runs."""
    told: list[BaseException] = []

    async def book(job: Any, payload: Any) -> Any:
        if told:
            return None
        database = job._database
        await database.run(lambda: _take_away(job.id), name="turn")
        try:
            await job.write(save)
        except ClaimLost as lost:
            told.append(lost)
            await database.run(lambda: _end(job.id), name="turn", after=lambda _: job._notify([job.id]))
        return "late"

    _, rows, _ = await run_book(database, book)

    assert (len(told), rows) == (1, [])


def _take_away(id: int) -> Work[None]:
    yield Statement("UPDATE job SET claim = claim + 1, worker = 'another' WHERE id = :id", {"id": id})


def _end(id: int) -> Work[None]:
    sql = "SELECT id, uid, kind, tier, seq, claim, version, failures, max_attempts, crashes FROM job WHERE id = :id"
    ((*known,),) = yield Statement(sql, {"id": id})
    claim = Claim(*known, None, None, None, None, None, None, None, None, "null")
    yield from endings.settle([Settlement(claim, Succeeded("null"))], {"book": books(print)})


async def test_a_handler_whose_job_was_cancelled_is_told_so_and_writes_nothing(database: str) -> None:
    told: list[BaseException] = []

    async def book(job: Any, payload: Any) -> Any:
        await job._database.run(lambda: endings.cancel(job.uid, {"book": books(print)}, "unwanted"), name="cancel")
        for _ in range(2):
            try:
                await job.write(save)
            except Cancelled as cancelled:
                told.append(cancelled)
        return "late"

    ended, rows, _ = await run_book(database, book)

    assert (ended.status, len(told), rows) == (Status.CANCELLED, 2, [])


@pytest.mark.parametrize("point", sorted(WRITE_POINTS - {"write.after_commit"}))
async def test_a_failure_before_the_commit_leaves_nothing(database: str, point: str) -> None:
    async def book(job: Any, payload: Any) -> Any:
        await job.items("editions", ["stable"])
        failpoints.arm(f"{point}=raise")
        await job.write(save, item_completed="stable")

    ended, rows, _ = await run_book(database, book)

    assert (ended.status, ended.progress["editions_in_progress"], rows) == (Status.FAILED, ["stable"], [])


KILLED = """
import asyncio, sys
from pressroom import Pressroom, failpoints, kind
from tests.contract.test_job_write import TABLE, save

@kind("book")
async def book(job, payload):
    await job.items("editions", ["stable"])
    failpoints.arm(sys.argv[2] + "=kill")
    await job.write(save, item_completed="stable")

async def main():
    async with Pressroom(sys.argv[1], kinds=[book], workers=1) as press:
        async with press.transaction() as tx:
            await tx.execute(TABLE)
        await press.wait(await press.submit("book"))

asyncio.run(main())
"""


@pytest.mark.parametrize("point", sorted(WRITE_POINTS))
def test_a_process_that_is_killed_leaves_all_of_a_write_or_nothing(database: str, point: str) -> None:
    root = Path(__file__).parents[2]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}

    done = subprocess.run([sys.executable, "-c", KILLED, database, point], env=environ, cwd=root)

    assert done.returncode == -signal.SIGKILL
    written = point == "write.after_commit"
    assert looking.rows(database, "SELECT name FROM edition") == ([("stable",)] if written else [])
    assert looking.rows(database, "SELECT state FROM job_item") == [("completed" if written else "in_progress",)]

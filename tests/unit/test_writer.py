"""One transaction for many: who is answered what when it cannot be kept. On a connection that fails on demand."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from pressroom.model import Statement, Work
from pressroom.store.engine.work_requests import WorkRequest
from pressroom.store.engine.writer import WriterThread


class Commit(Exception):
    """What the connection raises when it is to fail."""


class Scripted:
    """A connection that notes what is asked of it. `fails` are the numbers of the commits that fail, `cuts` of those that
    lose the connection as well."""

    single_round_trip = None

    def __init__(self) -> None:
        self.said: list[str] = []
        self.fails: set[int] = set()
        self.cuts: set[int] = set()
        self.refuses = False
        self.lost = False
        self.on_commit: Any = lambda: None
        self._commits = 0

    def begin(self, *, durable: bool, shared_lock: bool, held: bool = False) -> None:
        if self.refuses:
            raise Commit("nobody gets in")
        self.said.append("begin durable" if durable else "begin")

    def run_work(self, work: Work[Any]) -> Any:
        try:
            while True:
                self.said.append(next(work).sql)
        except StopIteration as end:
            return end.value

    def savepoint(self) -> None: ...

    def rollback_to_savepoint(self) -> bool:
        self.said.append("back")
        return True

    def release_savepoint(self) -> None: ...

    def commit(self) -> None:
        self._commits += 1
        self.on_commit()
        self.said.append("commit")
        if self._commits in self.fails | self.cuts:
            self.lost = self._commits in self.cuts
            raise Commit(f"commit {self._commits} failed")

    def rollback(self) -> None:
        self.said.append("rollback")

    def translating_errors(self) -> AbstractContextManager[None]:
        return nullcontext()


@pytest.fixture
def connection() -> Scripted:
    return Scripted()


@pytest.fixture
def lane(connection: Scripted) -> Iterator[WriterThread]:
    lane = WriterThread(connection, "lane")
    yield lane
    lane.inbox.put(None)
    lane.thread.join()


def writes(name: str, *, durable: bool = False) -> WorkRequest:
    def unit() -> Work[str]:
        yield Statement(name)
        if name == "bad":
            raise ValueError(name)
        return f"{name} is done"

    return WorkRequest(unit, name, durable, None, None, Future())


class Future(asyncio.Future[Any]):
    """One that needs no loop: the test looks at it from outside."""

    def __init__(self) -> None:
        super().__init__(loop=asyncio.new_event_loop())
        self.get_loop().close()


def told(*group: WorkRequest) -> list[Any]:
    return [request.error or request.result for request in group]


def test_all_are_written_in_one_commit(lane: WriterThread, connection: Scripted) -> None:
    group = [writes("a"), writes("b", durable=True)]

    lane._commit_together(group)

    assert told(*group) == ["a is done", "b is done"]
    assert connection.said == ["begin durable", "a", "b", "commit"]


def test_a_bad_one_is_undone_alone(lane: WriterThread, connection: Scripted) -> None:
    group = [writes("a"), writes("bad"), writes("b")]

    lane._commit_together(group)

    assert [type(one) for one in told(*group)] == [str, ValueError, str]
    assert connection.said == ["begin", "a", "bad", "back", "b", "commit"]


def test_when_the_commit_fails_each_gets_one_of_its_own(lane: WriterThread, connection: Scripted) -> None:
    """One of them cannot be kept; the others need not suffer for it."""
    connection.fails = {1, 3}
    group = [writes("a"), writes("b")]

    lane._commit_together(group)

    assert [type(one) for one in told(*group)] == [str, Commit]
    assert connection.said == [
        "begin",
        "a",
        "b",
        "commit",
        "rollback",
        "begin",
        "a",
        "commit",
        "begin",
        "b",
        "commit",
        "rollback",
    ]


def test_when_the_connection_is_lost_at_the_commit_nothing_is_done_again(lane: WriterThread, connection: Scripted) -> None:
    """It may be committed: to do it again could do it twice. Whoever asked is told that it is not known."""
    connection.cuts = {1}
    group = [writes("a"), writes("b")]

    lane._commit_together(group)

    assert [type(one) for one in told(*group)] == [Commit, Commit]
    assert connection.said == ["begin", "a", "b", "commit", "rollback"]


def test_one_alone_whose_commit_fails_is_not_done_again(lane: WriterThread, connection: Scripted) -> None:
    connection.fails = {1}
    alone = writes("a")

    lane._commit_together([alone])

    assert [type(one) for one in told(alone)] == [Commit]
    assert connection.said == ["begin", "a", "commit", "rollback"]


def test_who_is_not_let_in_has_done_nothing(lane: WriterThread, connection: Scripted) -> None:
    connection.refuses = True
    group = [writes("a"), writes("b")]

    lane._commit_together(group)

    assert [type(one) for one in told(*group)] == [Commit, Commit]
    assert connection.said == []


async def test_nobody_is_answered_before_the_commit(lane: WriterThread, connection: Scripted) -> None:
    """What was answered and not committed would be lost with the power."""
    loop = asyncio.get_running_loop()
    committing, go_on = threading.Event(), threading.Event()
    heard: list[str] = []

    def hold() -> None:
        committing.set()
        go_on.wait()

    connection.on_commit = hold
    request = writes("a", durable=True)
    request.loop, request.future, request.after = loop, loop.create_future(), heard.append
    lane.inbox.put(request)
    await asyncio.to_thread(committing.wait)
    for _ in range(10):
        await asyncio.sleep(0)  # an answer that was given would arrive now
    early = request.future.done() or heard != []
    go_on.set()

    assert await request.future == "a is done"
    assert heard == ["a is done"]
    assert not early

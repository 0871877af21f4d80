"""What answers nothing needs no round trip of its own, and yet whoever wrote it hears of its errors."""

import asyncio
import re
from typing import Any

import psycopg
import pytest

from pressroom import OnKey, Pressroom, kind
from pressroom.ids import new_uid
from pressroom.store import jobs, look
from pressroom.store.jobs import NewJob
from pressroom.store.postgres_connection import Connection
from tests import looking


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return payload.upper()


def a_job(uid: str) -> NewJob:
    return NewJob(uid, "shout", 1, '"hi"', OnKey.COALESCE, 3, 3, 60_000)


async def test_a_submit_asks_the_server_three_times(on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the lock and the clock, for a number, and for everything else with the commit."""
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        await press.submit("shout", "once, so that all is prepared")
        asked: list[str] = []
        ask, commit = Connection._ask, Connection.commit

        def note(self: Connection, text: str, *args: Any, **how: Any) -> None:
            asked.append(re.split(r"[;(]", text)[0])
            ask(self, text, *args, **how)

        def note_commit(self: Connection) -> None:
            asked.append("commit")
            commit(self)

        monkeypatch.setattr(Connection, "_ask", note)
        monkeypatch.setattr(Connection, "commit", note_commit)
        await press._database.run(lambda: jobs.submit_plain([a_job(new_uid())]), name="submit")

        assert asked == ["BEGIN", "SELECT reserve_numbers", "commit"]


async def test_of_many_submits_in_one_commit_only_the_bad_one_fails(on_server: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:
        run = press._database.run
        taken = (await press.submit("shout", "there")).uid
        good = [new_uid() for _ in range(3)]
        with looking.held(on_server):
            first = asyncio.create_task(run(lambda: jobs.submit_plain([a_job(good[0])]), name="submit"))
            await asyncio.sleep(0.2)  # it holds the lane while the others gather
            others = [
                asyncio.create_task(run(lambda uid=uid: jobs.submit_plain([a_job(uid)]), name="submit"))
                for uid in (good[1], taken, good[2])
            ]
            await asyncio.sleep(0.2)
        await first
        answers = await asyncio.gather(*others, return_exceptions=True)

        assert [isinstance(one, psycopg.errors.UniqueViolation) for one in answers] == [False, True, False]
        for uid in good:
            assert (await press.get(uid)).payload == "hi"
        with pytest.raises(psycopg.errors.UniqueViolation):
            await run(lambda: jobs.submit_plain([a_job(taken)]), name="submit")
        assert len((await press.list()).jobs) == 4


async def test_what_was_not_told_yet_is_seen_by_the_next_statement_and_gone_with_the_unit(on_server: str) -> None:
    async with Pressroom(on_server, kinds=[shout], workers=None) as press:

        def broken() -> Any:
            yield from jobs.submit_plain([a_job(new_uid())])
            raise ZeroDivisionError

        def seen() -> Any:
            answers = yield from jobs.submit_plain([a_job(new_uid())])
            return (yield from look.get(answers[0].uid))

        with pytest.raises(ZeroDivisionError):
            await press._database.run(broken, name="submit")
        assert (await press._database.run(seen, name="submit")).payload == "hi"
        assert len((await press.list()).jobs) == 1

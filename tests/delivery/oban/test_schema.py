"""Oban's tables in another schema than `public` (`oban_schema`). Most other tests are made there too, in the deep suite."""

import re
from pathlib import Path
from typing import Any

import pytest

from pressroom import Kind, Pressroom, Request, backends, promote
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.base.dependencies import DependencyFailed
from pressroom.cli import exits
from pressroom.config import Settings
from pressroom.delivery.oban import hooks, install, uninstall
from pressroom.delivery.oban.probe import probe
from pressroom.errors import InvalidSettings, ObanSchemaMismatch
from tests.delivery.oban.conftest import ELSEWHERE, Eventually, Open
from tests.delivery.oban.stage import Tables, pause, reconciler_of

SQL = Path(hooks.__file__).parent / "sql"
LONGEST = "a" * 51

OF_OBAN = """
SELECT nspname AS schema, count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
 WHERE relname LIKE 'oban%%' GROUP BY nspname
"""


@pytest.fixture
def schema() -> str:
    return ELSEWHERE


async def echo(job: Any, payload: Any) -> Any:
    return payload


async def test_the_schema_is_made_and_nothing_of_obans_is_outside_of_it(open_press: Open, tables: Tables) -> None:
    async with open_press(Kind("echo", echo)) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1
        assert await press.wait(await press.submit("echo", 2, delay=0.01), timeout=60) == 2
        (finding,) = [one for one in await backends.examine_dependencies(press.settings, write=True) if one.what == "delivery"]
    assert [row["schema"] for row in tables.do(OF_OBAN)] == [ELSEWHERE]
    assert finding.well
    assert f"tables in the schema {ELSEWHERE}" in finding.detail


async def test_a_name_may_be_as_long_as_a_channel_lets_it(on_server: str, tmp_path: Path, eventually: Eventually) -> None:
    """PostgreSQL refuses to notify a channel whose name is too long, and with it the submit."""
    settings = Settings(database=on_server, home=str(tmp_path), delivery="oban", oban_schema=LONGEST)
    assert list(settings.problems()) == []
    async with Pressroom(settings=settings, kinds=[Kind("echo", echo)], workers=1) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1


async def test_a_name_that_oban_cannot_write_without_quotes_is_refused(on_server: str, tables: Tables) -> None:
    for name in ("select", "user", "left"):
        with pytest.raises(InvalidSettings, match=f"oban_schema: '{name}' is a reserved word"):
            await install(on_server, name)
    assert tables.do("SELECT 1 FROM pg_namespace WHERE nspname IN ('select', 'user', 'left')") == []


async def test_a_process_with_another_schema_than_the_triggers_refuses_to_start(
    open_press: Open, tables: Tables, on_server: str
) -> None:
    async with open_press(Kind("echo", echo)) as press:
        waiting = await press.submit("echo", 1, delay=3600)

        with pytest.raises(ObanSchemaMismatch, match=f"into the schema {ELSEWHERE}, and oban_schema is public") as refused:
            await open_press(Kind("echo", echo), oban_schema="public").start()
        assert exits.exit_code_for(refused.value) == exits.USAGE
        with pytest.raises(ObanSchemaMismatch):
            await install(on_server)
        with pytest.raises(DependencyFailed) as failed:
            await probe(on_server)
        assert failed.value.problem == "oban_schema_mismatch"
        assert await press.wait(await press.submit("echo", 2), timeout=60) == 2
    assert [row["schema"] for row in tables.do(OF_OBAN)] == [ELSEWHERE]
    assert tables.of(waiting.uid)["state"] == "scheduled"


async def test_moving_to_another_schema_loses_no_job(open_press: Open, on_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/oban.md says: everything is stopped, the triggers are taken away, and everything is started with the new one."""
    monkeypatch.setattr("pressroom.worker.maintenance.ANNOUNCE_INTERVAL", 0.1)
    async with open_press(Kind("echo", echo), workers=None) as front:
        waiting = await front.submit_many([Request("echo", n) for n in range(20)])
    await uninstall(on_server)
    async with open_press(Kind("echo", echo), oban_schema="another") as press:
        assert [await press.wait(one, timeout=60) for one in waiting] == list(range(20))
        assert await press.wait(await press.submit("echo", "new"), timeout=60) == "new"


async def test_who_was_not_stopped_before_a_move_takes_no_job_from_the_others(
    open_press: Open, tables: Tables, on_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_press(Kind("echo", echo)) as left_behind:
        repairs = await reconciler_of(left_behind)
        await left_behind.maintenance.stop()
        await pause(left_behind, "echo")
        await uninstall(on_server)
        await install(on_server, "another")
        job = await left_behind.submit("echo", 1)

        assert await repairs.enqueue_unannounced_jobs(["echo"]) == 0

        assert "into the schema another, and oban_schema is jobs_of_oban" in caplog.text
        assert tables.jobs() == []
        assert [row["args"]["uid"] for row in Tables(on_server, "another").jobs()] == [job.uid]


async def test_a_promoted_database_may_have_oban_in_another_schema(
    file: str, open_press: Open, on_server: str, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the schema is there already: an empty target may have been opened before."""
    monkeypatch.setattr("pressroom.worker.maintenance.ANNOUNCE_INTERVAL", 0.1)
    async with open_press(Kind("echo", echo), workers=None):
        pass
    async with Pressroom(file, kinds=[Kind("echo", echo)], workers=None) as small:
        waiting = await small.submit("echo", "from the file")
        settings = small.settings
    how: dict[str, Any] = {"artifacts_to_s3": False, "wait": 0, "on_progress": lambda *_: None, "on_wait": lambda _: None}
    promote.promote(settings, BUILT_IN_SCHEMA, on_server, **how)
    async with open_press(Kind("echo", echo)) as press:
        assert await press.wait(waiting, timeout=60) == "from the file"
        assert tables.of(waiting.uid)["args"]["uid"] == waiting.uid


def test_no_statement_names_a_schema_of_its_own() -> None:
    """Each names oban's tables by the setting, and is complete once it is put in."""
    for file in SQL.glob("*.sql"):
        text = file.read_text()
        assert "public" not in text, file.name
        assert not re.search(r"(?<![.\w'])oban_(jobs|leaders|producers)\b(?!')", text.replace("{schema}.oban_", "")), file.name
        assert "{" not in hooks.load_statement(file.stem, ELSEWHERE), file.name

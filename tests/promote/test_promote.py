"""A database moves from its file to a server, with all that it holds, and life goes on there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pressroom import Answer, Pressroom, Status
from pressroom.app import BUILT_IN, BUILT_IN_SCHEMA
from pressroom.config import Settings
from pressroom.errors import ArtifactStoreMismatch, DatabasePromoted
from pressroom.promote.postgres_target import Target
from pressroom.promote.sqlite_source import Source
from pressroom.store.engine import postgres_health
from pressroom.store.engine.promoted_mark import PromotedMark
from tests import looking, postgres
from tests.promote.conftest import Promote
from tests.promote.house import KINDS, SOURCE
from tests.promote.same import assert_same, everything


def test_every_row_of_every_table_arrives(promote: Promote, source: str, on_server: str) -> None:
    ran = promote()

    assert ran.code == 0, ran.err
    assert_same(source, on_server)
    assert all(
        everything(source, source)[table] for table in ("job", "job_item", "reply", "diagram_picture", "schedule_tick", "alert")
    )
    assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []


def test_the_end_of_a_promotion_is_on_both_disks(promote: Promote, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches before may be lost with the power and are copied again. The end may not: the file takes no more jobs."""
    seen: list[Any] = []
    write_mark, count_on = Source.write_mark, Target._advance_sequences

    def marked(self: Source, mark: PromotedMark) -> None:
        write_mark(self, mark)
        seen.append(("synchronous", self._raw.pragma("synchronous")))
        seen.extend(looking.rows(source, "SELECT 'seen by others', count(*) FROM pressroom_promoted"))

    def counted(self: Target, counters: dict[str, int]) -> None:
        count_on(self, counters)
        seen.extend(self._raw.execute("SELECT 'synchronous_commit', current_setting('synchronous_commit')").fetchall())

    monkeypatch.setattr(Source, "write_mark", marked)
    monkeypatch.setattr(Target, "_advance_sequences", counted)

    assert promote().code == 0

    assert seen == [("synchronous_commit", "on"), ("synchronous", 2), ("seen by others", 1)]


async def test_life_goes_on_there(promote: Promote, source: str, on_server: str, home: Path) -> None:
    """R1, I1: what was accepted is run, what was rendered is a hit, and its bytes are read."""
    looking.change(source, "UPDATE kind SET paused = 0")
    uid = dict(looking.rows(source, "SELECT subject, uid FROM job WHERE subject IS NOT NULL"))
    assert promote().code == 0

    async with Pressroom(on_server, kinds=KINDS, apps=BUILT_IN, workers=2, artifacts=str(home / "press.artifacts")) as press:
        assert (await press.get(uid["ended"])).result == {"said": {"text": "żółw \\ 🐢"}}
        assert await press.wait(uid["queued"], timeout=60) == {"said": "queued"}
        assert await press.wait(uid["left behind"], timeout=60) == {"said": "left"}
        assert (await press.get(uid["left behind"])).crashes == 1
        hit = await press.render("dot", SOURCE, "svg")
        assert hit.answer is Answer.HIT
        artifact = await press.artifact((await press.wait(hit))["short_link"])
        assert b"<svg" in b"".join([chunk async for chunk in await press.read(artifact)])
        assert (await press.wait_until_ended(uid["a\0b"], timeout=60)).status is Status.FAILED
        assert len({one.id for one in await press.alerts.list(is_open=True)}) == 2, "numbers go on where the file had been"
    assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []


async def test_the_artifacts_that_stay_are_those_that_the_server_expects(
    promote: Promote, on_server: str, home: Path, tmp_path: Path
) -> None:
    assert promote().code == 0

    with pytest.raises(ArtifactStoreMismatch, match=r"press\.artifacts"):
        async with Pressroom(on_server, kinds=KINDS, apps=BUILT_IN, workers=1, artifacts=str(tmp_path / "another")):
            pass
    async with Pressroom(on_server, kinds=KINDS, apps=BUILT_IN, workers=1, artifacts=str(home / "press.artifacts")):
        pass


async def test_numbers_go_on_after_the_old_ones(promote: Promote, source: str, on_server: str) -> None:
    """Q4: a number is never given twice, also where the row that had it is gone."""
    ((number,),) = looking.rows(source, "SELECT value FROM sequence")
    given = dict(looking.rows(source, "SELECT name, seq FROM sqlite_sequence"))
    assert promote().code == 0

    async with Pressroom(on_server, kinds=KINDS, apps=BUILT_IN, workers=None) as press:
        job = await press.get(await press.submit("echo", "new"))
    looking.change(
        on_server,
        "INSERT INTO webhook_delivery (webhook, type, facts, date_created) SELECT uid, 'test', '{}', 3 FROM webhook",
    )

    ((seq,),) = looking.rows(on_server, f"SELECT seq FROM job WHERE uid = '{job.uid}'")
    assert (job.id, seq) == (number + 1, number + 1)
    assert looking.rows(on_server, "SELECT max(id) FROM job_event") == [(given["job_event"] + 1,)]
    assert looking.rows(on_server, "SELECT max(id) FROM webhook_delivery") == [(given["webhook_delivery"] + 1,)]


def test_the_target_is_guarded_as_any_other(promote: Promote, on_server: str) -> None:
    """I3: the moves of an ended job are refused again, and every foreign key holds."""
    assert promote().code == 0

    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="illegal move"):
        looking.change(on_server, "UPDATE job SET status = 'queued' WHERE status = 'completed'")
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="born queued"):
        looking.change(on_server, "INSERT INTO job SELECT * FROM job WHERE status = 'completed' LIMIT 1")
    assert looking.rows(on_server, "SELECT count(*) FROM pg_trigger WHERE tgenabled <> 'O'") == [(0,)]
    assert looking.rows(on_server, "SELECT count(*) FROM pg_constraint WHERE NOT convalidated") == [(0,)]


def test_the_source_says_where_it_went_without_a_password(promote: Promote, source: str, on_server: str) -> None:
    place = on_server.replace("postgres@", "postgres:hunter2@") + "?password=hunter2"
    ran = promote(to=place)

    assert ran.code == 0, ran.err
    assert "hunter2" not in ran.out + ran.err
    with pytest.raises(DatabasePromoted, match=f"was promoted to {on_server}") as told:
        _open(source)
    assert told.value.code == "database_promoted"
    assert "hunter2" not in Path(source.removeprefix("sqlite:///")).read_bytes().decode("latin-1")


def _open(source: str) -> None:
    from pressroom.clock import SystemClock
    from pressroom.store.engine.sqlite import SQLite

    SQLite(Settings(database=source).path, SystemClock(), BUILT_IN_SCHEMA)


def test_a_second_run_finds_nothing_to_do(promote: Promote, source: str, on_server: str) -> None:
    first = promote("--json")
    looking.change(on_server, "UPDATE kind SET paused = 0")
    second = promote("--json")

    assert (first.code, second.code) == (0, 0), second.err
    assert (first.data["done_before"], second.data["done_before"]) == (False, True)
    assert first.data["tables"] == second.data["tables"]
    assert looking.rows(on_server, "SELECT count(*) FROM kind WHERE paused = 1") == [(0,)], "what is there now is left alone"


def test_a_dry_run_tells_counts_and_bytes_and_changes_nothing(
    promote: Promote, source: str, on_server: str, home: Path
) -> None:
    before = (home / "press.db").read_bytes(), looking.rows(on_server, "SELECT nspname FROM pg_namespace ORDER BY 1")
    told = promote("--dry-run", "--json")
    shown = promote("--dry-run")

    assert (told.code, shown.code) == (0, 0), told.err
    counts = {one["table"]: (one["rows"], one["bytes"] > 0) for one in told.data["tables"]}
    assert counts == {table: (len(rows), bool(rows)) for table, rows in everything(source, source).items()}
    assert (told.data["promoted"], told.data["obstacles"]) == (False, [])
    assert "would be copied" in shown.out
    assert before == ((home / "press.db").read_bytes(), looking.rows(on_server, "SELECT nspname FROM pg_namespace ORDER BY 1"))
    assert promote("--json").data["tables"] == told.data["tables"], "a rehearsal tells the hashes that come true"


def test_a_server_without_our_tables_gets_them(promote: Promote, source: str, postgres_server: str) -> None:
    name = "press_bare"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    bare = postgres.address_of(postgres_server, name)
    try:
        assert promote(to=bare).code == 0
        assert_same(source, bare)
    finally:
        postgres.drop_database(bare)


def test_somebody_elses_table_is_told_and_stays_behind(promote: Promote, source: str) -> None:
    looking.change(source, "CREATE TABLE wiki_page (name TEXT)")

    assert promote("--json").data["left_behind"] == ["wiki_page"]


def test_many_rows_are_sent_in_batches_and_told_of(
    promote: Promote, source: str, on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pressroom.cli import promote as command
    from pressroom.promote import postgres_target

    monkeypatch.setattr(postgres_target, "BATCH_ROWS", 7)
    monkeypatch.setattr(command, "A_LINE_EVERY", 20)
    ran = promote("--json")

    assert ran.code == 0, ran.err
    assert f" of {ran.data['rows']:,} rows" in ran.err
    assert "verified" in ran.err
    assert_same(source, on_server)


def test_what_arrives_otherwise_than_it_was_sent_is_noticed(
    promote: Promote, source: str, on_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pressroom.promote.postgres_target import STAGE, Target

    arrived: Callable[[Target, str], Any] = Target.tally

    def spoiled(self: Target, name: str) -> Any:
        if name == "job":
            self._raw.execute(f"UPDATE {STAGE}.job SET subject = 'something else' WHERE subject = 'queued'")
        return arrived(self, name)

    with monkeypatch.context() as spoiling:
        spoiling.setattr(Target, "tally", spoiled)
        ran = promote()
    assert ran.code == 1
    assert "[copy_differs]" in ran.err
    assert looking.rows(on_server, "SELECT count(*) FROM job") == [(0,)]

    assert promote().code == 0
    assert_same(source, on_server)


def test_the_json_is_one_value(promote: Promote) -> None:
    ran = promote("--json")

    assert json.loads(ran.out)["promoted"] is True
    assert ran.data["counters"]["job_number"] > 1000

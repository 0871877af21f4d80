"""A promotion that could lose or mix up something is refused, with a code that scripts may rely on."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom, failpoints
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.clock import SystemClock
from pressroom.errors import DatabasePromoted, SourceInUse, StoreBusy
from pressroom.promote import sqlite_writers
from pressroom.promote.hold import lock_source
from pressroom.store.engine import sqlite_connection
from pressroom.store.engine.migrations import migrations
from pressroom.store.engine.schema import CORE_ONLY
from pressroom.store.engine.sqlite import SQLite
from pressroom.store.jobs import kinds as kind_rows
from pressroom.worker import process
from tests import looking
from tests.promote.conftest import Promote, promote_elsewhere
from tests.promote.house import KINDS
from tests.promote.same import assert_same, everything

NEWEST = migrations("sqlite", CORE_ONLY)[-1].number


async def test_a_target_that_holds_jobs_is_refused_and_left_as_it_is(promote: Promote, on_server: str, source: str) -> None:
    async with Pressroom(on_server, kinds=KINDS, workers=None) as press:
        await press.submit("echo", "mine")
    before = everything(on_server, source)

    ran, rehearsed = promote(), promote("--dry-run", "--json")

    assert (ran.code, rehearsed.code) == (1, 1)
    assert "[target_not_empty]" in ran.err
    assert "a table job with 1 rows" in ran.err
    assert any("a table job with 1 rows" in one for one in rehearsed.data["obstacles"])
    assert everything(on_server, source) == before


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (
            f"DELETE FROM pressroom_migration WHERE app = 'core' AND number = {NEWEST}",
            "database_too_old",
            "run `pressroom migrate`",
        ),
        ("INSERT INTO pressroom_migration VALUES ('core', 9000, 'tomorrow', '', 1)", "database_too_new", "upgrade Pressroom"),
        ("DROP TABLE pressroom_migration", "not_a_database", "holds no Pressroom database"),
    ],
)
def test_a_source_of_another_age_is_refused(change: str, code: str, said: str, promote: Promote, source: str) -> None:
    looking.change(source, change)

    for ran in (promote(), promote("--dry-run")):
        assert ran.code == 2
        assert f"[{code}]" in ran.err
        assert said in ran.err


def test_a_target_newer_than_the_code_is_refused(promote: Promote, on_server: str) -> None:
    looking.change(on_server, "INSERT INTO pressroom_migration VALUES ('core', 9000, 'tomorrow', '', 1)")

    assert "[database_too_new]" in promote().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--artifacts-to", "s3"], "s3_bucket: is needed"),
        (["--to", "mysql://nowhere"], "is not an address"),
        (["--database", "sqlite:///:memory:"], "cannot be promoted"),
        (["--database", "sqlite:///none.db"], "there is no database"),
    ],
)
def test_wrong_usage_is_told(flags: list[str], said: str, promote: Promote) -> None:
    ran = promote(*flags)

    assert ran.code in (2, 4)
    assert said in ran.err


def card(source: str, named: str, seen_at: int) -> None:
    looking.change(
        source,
        "INSERT INTO worker (uid, process, kinds, slots, date_started, seen_at) "
        f"VALUES ('busy', '{named}', '[]', 1, 1, {seen_at})",
    )


def test_a_live_worker_is_in_the_way(promote: Promote, source: str) -> None:
    """By its card: its process lives, although it was not seen for long."""
    card(source, process.process_identity(), 1)

    ran = promote()

    assert (ran.code, "[source_in_use]" in ran.err) == (4, True)
    assert "worker busy" in ran.err


def test_a_worker_elsewhere_counts_for_as_long_as_its_lease(promote: Promote, source: str) -> None:
    card(source, "another machine/1/1", SystemClock().now_ms())
    assert "worker busy" in promote().err

    looking.change(source, "UPDATE worker SET seen_at = 1")
    assert promote().code == 0


HOLDER = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("SELECT count(*) FROM job").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


def holder_of(path: Path) -> "subprocess.Popen[str]":
    program = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "open\n"
    return program


def test_a_process_that_holds_the_file_is_in_the_way_and_can_be_waited_for(
    promote: Promote, source: str, on_server: str, home: Path
) -> None:
    with holder_of(home / "press.db") as holder:
        comm = Path(f"/proc/{holder.pid}/comm").read_text().strip()
        told = promote()
        rehearsed = promote("--dry-run", "--json")
        waiting = promote_elsewhere(source, on_server, "", "--wait", "100")
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == f"waiting for process {holder.pid} ({comm})\n"
        holder.communicate("")
        _, said = waiting.communicate(timeout=600)

    assert (told.code, rehearsed.code) == (4, 1)
    assert f"process {holder.pid}" in told.err
    assert any(f"process {holder.pid}" in one for one in rehearsed.data["obstacles"])
    assert waiting.returncode == 0, said
    assert_same(source, on_server)


def test_a_writer_that_comes_between_the_look_and_the_lock_is_in_the_way(
    source: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opened the file before it was locked, and believes that what it has claimed is its own."""
    path, found, noted = str(home / "press.db"), iter([[], ["worker late"], [], []]), []
    asked: list[bool] = []

    def find(path: str, *, exclude_self: bool = False) -> list[str]:
        asked.append(exclude_self)
        return next(found)

    monkeypatch.setattr(sqlite_writers, "find_writers", find)
    with pytest.raises(SourceInUse, match="worker late"):
        lock_source(path, BUILT_IN_SCHEMA, 0.0, noted.append)
    looking.change(source, "UPDATE kind SET paused = paused")  # it was let go of again

    lock_source(path, BUILT_IN_SCHEMA, 0.0, noted.append).close()

    assert asked == [False, True, False, True]


async def test_while_it_copies_nobody_writes_and_afterwards_a_late_writer_is_told(
    promote: Promote, source: str, on_server: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """No job is accepted by a file that nobody works on any more: not by one who had it open all along."""
    monkeypatch.setattr(sqlite_connection, "BUSY_TIMEOUT", 0.02)
    go = tmp_path / "go"
    failpoints.arm(f"promote.after_batch=wait:{go}@2")
    codes: list[int] = []
    copying = threading.Thread(target=lambda: codes.append(promote().code))
    copying.start()
    await eventually(lambda: failpoints._registry.armed["promote.after_batch"].hits == 2 or not copying.is_alive(), within=60)
    late = SQLite(str(home / "press.db"), SystemClock(), BUILT_IN_SCHEMA)
    kinds = {one.name: one for one in KINDS}

    with pytest.raises(StoreBusy):
        await late.run(lambda: kind_rows.register(kinds), name="register")
    go.touch()
    copying.join()
    with pytest.raises(DatabasePromoted, match="use that database instead"):
        await late.run(lambda: kind_rows.register(kinds), name="register")
    await late.close()

    assert codes == [0]
    assert_same(source, on_server)


def test_two_promotions_at_once_take_turns(promote: Promote, source: str, on_server: str, tmp_path: Path) -> None:
    go = tmp_path / "go"
    first = promote_elsewhere(source, on_server, f"promote.prepared=wait:{go}")
    while not looking.rows(on_server, "SELECT 1 FROM pg_namespace WHERE nspname = 'pressroom_promotion'"):
        assert first.poll() is None

    second = promote()
    go.touch()
    _, said = first.communicate(timeout=600)

    assert "[source_in_use]" in second.err
    assert first.returncode == 0, said
    assert_same(source, on_server)

"""Bad input gets its typed error with a stable code, and leaves no half-written row."""

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from pressroom import Pressroom, Request, Schedule, kind
from pressroom.errors import (
    DatabaseTooNew,
    InvalidArgument,
    InvalidPayload,
    InvalidSettings,
    NotADatabase,
    NotFinished,
    NotFound,
    PayloadTooLarge,
    PressroomError,
    QueueClosed,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    UnknownKind,
    UnsafeFilesystem,
)
from pressroom.store.engine import sqlite_migrate
from tests import looking


@kind("echo")
async def echo(job: Any, payload: Any) -> Any:
    return payload


@asynccontextmanager
async def a_press(file: str, **options: Any) -> AsyncIterator[Pressroom]:
    async with Pressroom(file, kinds=[echo], workers=None, **options) as press:
        yield press


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


REFUSED = [
    ("unknown kind", ("nope", {}), {}, UnknownKind, "unknown_kind"),
    ("kind that is not text", (None, {}), {}, UnknownKind, "unknown_kind"),
    ("payload that is not JSON", ("echo", {"when": datetime.now(UTC)}), {}, InvalidPayload, "invalid_payload"),
    ("payload of bytes", ("echo", b"raw"), {}, InvalidPayload, "invalid_payload"),
    ("payload of a set", ("echo", {1, 2}), {}, InvalidPayload, "invalid_payload"),
    ("payload with NaN", ("echo", [float("nan")]), {}, InvalidPayload, "invalid_payload"),
    ("payload with infinity", ("echo", [float("inf")]), {}, InvalidPayload, "invalid_payload"),
    ("payload with NUL", ("echo", {"text": "a\0b"}), {}, InvalidPayload, "invalid_payload"),
    ("payload with NUL in a key", ("echo", {"a\0": 1}), {}, InvalidPayload, "invalid_payload"),
    ("half a surrogate pair", ("echo", {"text": "\ud800"}), {}, InvalidPayload, "invalid_payload"),
    ("payload nested too deeply", ("echo", nested(200_000)), {}, InvalidPayload, "invalid_payload"),
    ("number of 5,000 digits", ("echo", 10**5000), {}, InvalidPayload, "invalid_payload"),
    ("payload over its limit", ("echo", "x" * (1024 * 1024)), {}, PayloadTooLarge, "payload_too_large"),
    ("payload over its limit in bytes", ("echo", "é" * (600 * 1024)), {}, PayloadTooLarge, "payload_too_large"),
    ("negative delay", ("echo", {}), {"delay": -1}, InvalidArgument, "invalid_argument"),
    ("negative timedelta", ("echo", {}), {"delay": timedelta(seconds=-1)}, InvalidArgument, "invalid_argument"),
    ("delay that is no number", ("echo", {}), {"delay": float("nan")}, InvalidArgument, "invalid_argument"),
    ("delay of a million years", ("echo", {}), {"delay": 1e15}, InvalidArgument, "invalid_argument"),
    ("time without zone", ("echo", {}), {"run_at": datetime(2030, 1, 1)}, InvalidArgument, "invalid_argument"),
    ("key of 10,000 characters", ("echo", {}), {"key": "k" * 10_000}, InvalidArgument, "invalid_argument"),
    ("key over its limit in bytes", ("echo", {}), {"key": "é" * 257}, InvalidArgument, "invalid_argument"),
    ("subject over its limit in bytes", ("echo", {}), {"subject": "é" * 128}, InvalidArgument, "invalid_argument"),
    ("org over its limit", ("echo", {}), {"org_id": "o" * 256}, InvalidArgument, "invalid_argument"),
    ("project over its limit", ("echo", {}), {"project_id": "p" * 256}, InvalidArgument, "invalid_argument"),
    ("build over its limit", ("echo", {}), {"build_id": "b" * 256}, InvalidArgument, "invalid_argument"),
    ("more than 1,000 attempts", ("echo", {}), {"max_attempts": 1001}, InvalidArgument, "invalid_argument"),
    ("empty key", ("echo", {}), {"key": ""}, InvalidArgument, "invalid_argument"),
    ("key with NUL", ("echo", {}), {"key": "a\0b"}, InvalidArgument, "invalid_argument"),
    ("key of half a surrogate pair", ("echo", {}), {"key": "\udfff"}, InvalidArgument, "invalid_argument"),
    ("subject of 10,000 characters", ("echo", {}), {"subject": "s" * 10_000}, InvalidArgument, "invalid_argument"),
    ("org that is no text", ("echo", {}), {"org_id": 7}, InvalidArgument, "invalid_argument"),
    ("tier 7", ("echo", {}), {"tier": 7}, InvalidArgument, "invalid_argument"),
    ("no attempts", ("echo", {}), {"max_attempts": 0}, InvalidArgument, "invalid_argument"),
    ("fingerprint of an object", ("echo", {}), {"fingerprint": {"source": object()}}, InvalidArgument, "invalid_argument"),
    ("parent that is no id", ("echo", {}), {"parent": "job_u"}, NotFound, "not_found"),
    ("trace over its limit", ("echo", {}), {"trace": {"t": "x" * 5000}}, PayloadTooLarge, "payload_too_large"),
]


@pytest.mark.parametrize(
    ("arguments", "options", "error", "code"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
async def test_a_submit_that_cannot_be_kept_is_refused(
    file: str, arguments: tuple[Any, ...], options: dict[str, Any], error: type[PressroomError], code: str
) -> None:
    async with a_press(file) as press:
        with pytest.raises(error) as refused:
            await press.submit(*arguments, **options)

        assert refused.value.code == code
        assert len(str(refused.value)) < 400, "a message is for reading"
        assert (await press.list()).jobs == []


async def test_a_submit_at_its_limits_is_kept(database: str) -> None:
    async with a_press(database) as press:
        long = dict.fromkeys(("org_id", "project_id", "build_id", "subject"), "é" * 127 + "x")  # 255 bytes each
        text = "é" * ((1024 * 1024 - 2) // 2)  # 1 MiB with its quotation marks
        job = await press.get(await press.submit("echo", text, key="é" * 256, max_attempts=1000, delay=3660 * 86_400, **long))

        assert job.payload == text
        assert (job.key, job.max_attempts) == ("é" * 256, 1000)
        assert {name: getattr(job, name) for name in long} == long


async def test_one_bad_request_among_many_lets_none_in(database: str) -> None:
    async with a_press(database) as press:
        with pytest.raises(InvalidPayload):
            await press.submit_many([Request("echo", 1), Request("echo", float("nan")), Request("echo", 3)])

        assert (await press.list()).jobs == []


@pytest.mark.parametrize(
    "payload",
    [
        None,
        "",
        {},
        [],
        0,
        -0.0,
        2**64 + 1,
        "\u2028 \u202e \ufeff é 日本 🖨",
        "back\\u0000slash",
        {"a" * 1000: [True, None, {"": 1e-300}]},
        nested(90),
    ],
    ids=str,
)
async def test_what_is_json_comes_back_as_it_went_in(database: str, payload: Any) -> None:
    async with Pressroom(database, kinds=[echo], workers=1) as press:
        job = await press.submit("echo", payload)

        assert await press.wait(job, timeout=60) == payload
        assert (await press.get(job)).payload == payload


@pytest.mark.parametrize(
    "id", ["", "job_", "x" * 10_000, "job_" + "U" * 26, "Z" * 26, "../../etc/passwd", "\0", "'; DROP TABLE job; --"]
)
async def test_an_id_that_names_nothing_is_not_found(database: str, id: str) -> None:
    async with a_press(database) as press:
        for act in (press.get, press.cancel, press.retry, press.wait):
            with pytest.raises(NotFound):
                await act(id)


async def test_a_job_that_runs_cannot_be_retried(database: str) -> None:
    async with a_press(database) as press:
        job = await press.submit("echo")

        with pytest.raises(NotFinished):
            await press.retry(job)

        assert len((await press.list()).jobs) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"limit": 501},
        {"cursor": "x"},
        {"cursor": "9" * 30},
        {"cursor": "-1"},
        {"status": "done"},
        {"status": ["done"]},
    ],
    ids=str,
)
async def test_a_listing_out_of_bounds_is_refused(database: str, options: dict[str, Any]) -> None:
    async with a_press(database) as press:
        with pytest.raises(InvalidArgument):
            await press.list(**options)


async def test_a_closed_queue_accepts_nothing(database: str) -> None:
    async with a_press(database) as press:
        pass

    with pytest.raises(QueueClosed) as refused:
        await press.submit("echo")
    assert refused.value.code == "queue_closed"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pressroom("mysql://somewhere/x"),
        lambda: Pressroom("sqlite:///"),
        lambda: Pressroom("sqlite:///x.db", workers=-1),
        lambda: Pressroom("sqlite:///x.db", lease=0),
        lambda: Pressroom("sqlite:///x.db", max_queued=0, poll_interval=0, grace=-1),
    ],
)
def test_settings_out_of_bounds_are_refused_all_at_once(make: Any) -> None:
    with pytest.raises(InvalidSettings) as refused:
        make()
    assert refused.value.code == "invalid_settings"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pressroom("sqlite:///x.db", kinds=[echo, echo]),
        lambda: Pressroom("sqlite:///x.db", kinds=[lambda job, payload: None]),  # type: ignore[list-item]
        lambda: Pressroom("sqlite:///x.db", colour="red"),
        lambda: Pressroom("sqlite:///x.db", kinds=[echo], schedules=[Schedule("s", "61 * * * *", "echo")]),
        lambda: Pressroom("sqlite:///x.db", kinds=[echo], schedules=[Schedule("s", "* * * *", "echo")]),
        lambda: kind("")(echo.handler),
        lambda: kind("a b")(echo.handler),
        lambda: kind("x", max_attempts=0)(echo.handler),
        lambda: kind("x", timeout=0)(echo.handler),
        lambda: kind("x", retention=timedelta(days=-1))(echo.handler),
        lambda: kind("x", on_backpressure="explode")(echo.handler),
        lambda: kind("x", backoff=lambda attempt: 1.0)(echo.handler),
    ],
)
def test_a_kind_or_schedule_that_makes_no_sense_is_refused(make: Any) -> None:
    with pytest.raises(InvalidArgument):
        make()


def test_a_schedule_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnknownKind):
        Pressroom("sqlite:///x.db", schedules=[Schedule("s", "* * * * *", "echo")])


async def test_a_file_that_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear Pressroom, " * 1000)

    with pytest.raises(NotADatabase) as refused:
        async with a_press(f"sqlite:///{file}"):
            pass

    assert refused.value.code == "not_a_database"
    assert file.read_text() == "Dear Pressroom, " * 1000


async def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "press.db"
    async with a_press(f"sqlite:///{file}"):
        pass
    connection = apsw.Connection(str(file))
    connection.execute("INSERT INTO pressroom_migration VALUES ('core', 9999, 'from_the_future', '', 0)")
    connection.close()

    with pytest.raises(DatabaseTooNew) as refused:
        async with a_press(f"sqlite:///{file}"):
            pass

    assert refused.value.code == "database_too_new"
    assert "9999" in str(refused.value)


async def test_somebody_elses_table_of_the_same_name_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "app.db"
    connection = apsw.Connection(str(file))
    connection.execute("CREATE TABLE job (mine TEXT)")
    connection.close()

    with pytest.raises(NotADatabase):
        async with a_press(f"sqlite:///{file}"):
            pass

    connection = apsw.Connection(str(file))
    assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("job",)]
    connection.close()


async def test_a_table_of_the_same_name_in_another_schema_is_no_matter(on_server: str) -> None:
    looking.change(on_server, "CREATE TABLE public.job (mine TEXT)")

    async with Pressroom(on_server, kinds=[echo], workers=1) as press:
        assert await press.wait(await press.submit("echo", 1), timeout=60) == 1

    assert looking.rows(on_server, "SELECT * FROM public.job") == []


async def test_somebody_elses_schema_of_the_same_name_is_not_touched(on_server: str) -> None:
    looking.empty(on_server)
    looking.change(on_server, "CREATE SCHEMA pressroom CREATE TABLE job (mine TEXT)")

    with pytest.raises(NotADatabase):
        async with a_press(on_server):
            pass

    assert looking.tables(on_server) == ["job"]


async def test_a_server_that_only_reads_says_so(on_server: str) -> None:
    name = on_server.rpartition("/")[2]
    looking.change(on_server, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')

    with pytest.raises(StoreReadOnly) as refused:
        async with a_press(on_server):
            pass

    assert refused.value.code == "store_read_only"


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreUnavailable):
        async with a_press(f"sqlite:///{tmp_path}/file/press.db"):
            pass


async def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        async with a_press(f"sqlite:///{tmp_path}"):
            pass


async def test_a_database_that_may_only_be_read_says_so(tmp_path: Path) -> None:
    file = tmp_path / "press.db"
    async with a_press(f"sqlite:///{file}"):
        pass
    with _read_only(file):
        with pytest.raises((StoreReadOnly, StoreUnavailable)) as refused:
            async with a_press(f"sqlite:///{file}"):
                pass

        assert refused.value.code in ("store_read_only", "store_unavailable")


def _read_only(file: Path) -> Any:
    """As root the mode of a file stops nobody; a read-only mount does."""
    return _read_only_mount(file.parent) if os.geteuid() == 0 else _read_only_mode(file)


class _read_only_mode:  # noqa: N801
    def __init__(self, file: Path) -> None:
        self._files = [file, file.parent]

    def __enter__(self) -> None:
        for file in self._files:
            file.chmod(file.stat().st_mode & ~0o222)

    def __exit__(self, *_: object) -> None:
        for file in reversed(self._files):
            file.chmod(file.stat().st_mode | 0o200)


class _read_only_mount:  # noqa: N801
    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __enter__(self) -> None:
        _run("mount", "--bind", self._folder, self._folder)
        _run("mount", "-o", "remount,ro,bind", self._folder)

    def __exit__(self, *_: object) -> None:
        _run("umount", "-l", self._folder)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"this machine does not let us mount: {done.stderr.strip()}")


async def test_a_full_disk_refuses_and_then_goes_on(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("making a small disk needs root")
    _run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path))
    try:
        async with a_press(f"sqlite:///{tmp_path}/press.db") as press:
            accepted: list[Any] = []

            async def fill() -> None:
                while True:
                    accepted.append(await press.submit("echo", "x" * 200_000))

            with pytest.raises(StoreFull) as refused:
                await fill()
            assert refused.value.code == "store_full"
            assert {job.uid for job in (await press.list(limit=500)).jobs} == {job.uid for job in accepted}

            _run("mount", "-o", "remount,size=64m", str(tmp_path))
            accepted.append(await press.submit("echo", "x" * 200_000))

            assert {job.uid for job in (await press.list(limit=500)).jobs} == {job.uid for job in accepted}
    finally:
        _run("umount", "-l", str(tmp_path))


def test_a_network_filesystem_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_migrate, "_filesystem_of", lambda path: "nfs4")

    with pytest.raises(UnsafeFilesystem) as refused:
        sqlite_migrate.refuse_network_filesystem(Path("/mnt/press.db"))
    assert refused.value.code == "unsafe_filesystem"

"""A press can be killed at any moment, blames only the source it died of, and leaves nothing behind."""

import asyncio
import os
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pressroom.errors import (
    EngineCrashed,
    EngineMissing,
    InvalidArgument,
    PressroomError,
    QueueClosed,
    SourceInvalid,
    Timeout,
    TooLarge,
)
from pressroom.renderers import Engine
from pressroom.renderers.sandbox.child import CURSOR, WARM_UP_TIMEOUT
from pressroom.renderers.sandbox.engine_pools import EnginePools
from pressroom.renderers.sandbox.engine_process import EngineProcess
from pressroom.renderers.sandbox.fair_queue import Ticket
from pressroom.renderers.sandbox.process_pool import ProcessPool
from pressroom.renderers.sandbox.process_tree import FOLDER_PREFIX, memory_of, process_tree, remove_stale_folders
from pressroom.renderers.sandbox.shared_memory import prepared_memory as prepared_once
from tests import starvation
from tests.renderers.toys import (
    Broken,
    CannotPrepare,
    Patient,
    Prepares,
    Short,
    StartsLate,
    StartsOnce,
    Toy,
    Unhurried,
    WarmsUp,
)

LINUX = pytest.mark.skipif(not Path("/proc/self/ns/net").exists(), reason="the walls are Linux's")


@asynccontextmanager
async def presses(size: int = 1, idle: float = 60) -> AsyncIterator[EnginePools]:
    opened = EnginePools(size, idle=idle)
    try:
        yield opened
    finally:
        await opened.close()
        assert not folders_of_ours()


def folders_of_ours() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}{os.getpid()}-*"))


async def say(to: EnginePools, text: str, engine: type[Engine] = Toy, **options: bool) -> str:
    return (await to.render(engine, text.encode(), "txt", options)).data.decode()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def test_many_renders_share_one_warm_process() -> None:
    async with presses() as box:
        pids = await asyncio.gather(*[say(box, "pid") for _ in range(200)])
    assert len(set(pids)) == 1


async def test_a_render_that_was_sent_and_not_read_when_the_presses_close_is_answered() -> None:
    """It was handed back to a pool that starts no press any more, and its caller waited for ever."""
    async with presses() as box:
        await say(box, "warm")
        rendering = asyncio.create_task(say(box, "late"))
        await asyncio.sleep(0)  # it is given to the press, and not written yet
        assert box.pools()["toy"].processes[0].waiting
        await box.close()
        with pytest.raises(EngineCrashed, match="closing"):
            async with asyncio.timeout(60):
                await rendering


async def test_what_is_not_used_costs_nothing() -> None:
    before = process_tree(os.getpid())
    async with presses() as box:
        assert not box.pools()
        assert process_tree(os.getpid()) == before


async def test_presses_go_home_when_there_is_no_work(eventually: Callable[..., Any]) -> None:
    async with presses(idle=0.05) as box:
        pid = int(await say(box, "pid"))
        await eventually(lambda: not alive(pid))
        assert await say(box, "back again") == "back again"


async def test_answers_keep_their_orders_apart() -> None:
    async with presses(2) as box:
        said = await asyncio.gather(*[say(box, f"word{number}") for number in range(500)])
    assert said == [f"word{number}" for number in range(500)]


@pytest.mark.parametrize("misdeed", ["hang", "spin"])
async def test_a_source_that_takes_too_long_is_killed_and_the_others_are_not_blamed(misdeed: str) -> None:
    async with presses() as box:
        first = await say(box, "pid")
        outcomes = await asyncio.gather(*[say(box, word) for word in ["a", misdeed, "b", "c"]], return_exceptions=True)
        assert isinstance(outcomes[1], Timeout)
        assert "0.5 s" in str(outcomes[1])
        assert [outcomes[0], *outcomes[2:]] == ["a", "b", "c"]
        assert not alive(int(first))


async def test_time_spent_waiting_for_a_core_does_not_count_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits are short here, and tests/starvation.py keeps a busy machine from reaching them."""
    began = time.monotonic()
    monkeypatch.setattr(starvation, "seconds_waited_for_a_core", lambda pids: time.monotonic() - began)
    async with presses() as box:
        assert await say(box, f"slow {2 * Toy.limits.seconds}") == "slept"


@pytest.mark.parametrize("misdeed", ["die", "segfault"])
async def test_a_source_that_kills_the_press_is_blamed_alone(misdeed: str) -> None:
    async with presses() as box:
        await say(box, "warm")
        box.pools()["toy"].processes[0].seconds_per_render = 0.00001  # so that all of them are sent ahead
        words = [f"w{number}" for number in range(30)]
        words[17] = misdeed
        outcomes = await asyncio.gather(*[say(box, word) for word in words], return_exceptions=True)
        assert isinstance(outcomes[17], EngineCrashed)
        assert [outcome for outcome in outcomes if outcome is not outcomes[17]] == [word for word in words if word != misdeed]


async def test_a_press_killed_from_outside_between_orders_costs_nobody_anything() -> None:
    async with presses() as box:
        os.kill(int(await say(box, "pid")), 9)
        assert await say(box, "again") == "again"


@LINUX
async def test_memory_is_limited() -> None:
    async with presses() as box:
        with pytest.raises(TooLarge):
            await say(box, "eat", Patient)
        assert await say(box, "next") == "next"


@LINUX
async def test_the_memory_of_what_a_press_started_counts_as_its_own(
    eventually: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine may be a program of its own, as a browser is; the press itself stays small."""
    check_memory = EngineProcess.check_memory
    monkeypatch.setattr(
        EngineProcess, "check_memory", lambda press: None
    )  # it is looked at when the child is full, and not before
    async with presses() as box:
        pid = int(await say(box, "pid", Patient))
        (press,) = box.pools()["patient"].processes
        check_memory(press)
        assert alive(pid)
        assert not press.worn
        assert await say(box, "breed", Patient) == "full"
        assert memory_of([pid]) < Patient.limits.memory

        check_memory(press)

        await eventually(lambda: not alive(pid), within=60)


async def test_a_press_that_is_killed_twice_is_blamed_for_the_first_reason() -> None:
    """While it dies, another check may find something wrong with it: what it says then is not why it was killed."""
    async with presses() as box:
        await say(box, "warm", Patient)
        (press,) = box.pools()["patient"].processes
        asked = asyncio.create_task(say(box, "hang", Patient))
        await asyncio.sleep(0)
        assert len(press.waiting) == 1

        press.kill(Timeout("the first reason"))
        press.kill(TooLarge("the second reason"))

        with pytest.raises(Timeout, match="the first reason"):
            await asked


@LINUX
async def test_a_press_that_has_grown_is_replaced() -> None:
    async with presses() as box:
        pid = int(await say(box, "pid", Unhurried))
        assert await say(box, "swell", Unhurried) == "swollen"
        async with asyncio.timeout(60):
            while alive(pid):
                await say(box, "work", Unhurried)
        assert await say(box, "work", Unhurried) == "work"


async def test_a_press_is_replaced_after_so_many_renders_and_the_next_is_warm_before() -> None:
    async with presses() as box:
        pids = [await say(box, "pid", Short)]
        while pids[-1] == pids[0]:
            pids.append(await say(box, "pid", Short))
    assert len(pids) > Short.renders


@pytest.mark.parametrize(
    ("misdeed", "expected", "words"),
    [
        ("invalid", SourceInvalid, "no such word"),
        ("bug", EngineCrashed, "RuntimeError"),
        ("panic", EngineCrashed, "BaseException"),
        ("recurse", TooLarge, "nested too deeply"),
        ("long", TooLarge, "10,000"),
    ],
)
async def test_every_failure_is_typed(misdeed: str, expected: type[PressroomError], words: str) -> None:
    async with presses() as box:
        with pytest.raises(expected, match=words) as caught:
            await say(box, misdeed)
        assert "hunter2" not in str(caught.value)
        assert await say(box, "fine") == "fine"


async def test_a_place_in_the_source_is_carried_out() -> None:
    async with presses() as box:
        with pytest.raises(SourceInvalid) as caught:
            await say(box, "invalid")
    assert (caught.value.line, caught.value.column, caught.value.excerpt) == (1, 9, "invalid")


async def test_a_source_that_is_not_utf8_is_told_where() -> None:
    """M9."""
    async with presses() as box:
        with pytest.raises(SourceInvalid, match="byte 0xff at offset 9") as caught:
            await box.render(Toy, b"one\nt\xc3\xa4o \xff", "txt")
    assert (caught.value.line, caught.value.column) == (2, 5)


async def test_bad_requests_are_refused_before_a_press_is_troubled() -> None:
    async with presses() as box:
        with pytest.raises(TooLarge, match="at most 1,000"):
            await say(box, "x" * 1001)
        with pytest.raises(InvalidArgument, match="there are loud"):
            await say(box, "x", shy=True)
        with pytest.raises(InvalidArgument, match="it makes txt"):
            await box.render(Toy, b"x", "pdf")
        assert not box.pools()


async def test_an_engine_that_cannot_start_says_so_and_does_not_hang() -> None:
    async with presses() as box:
        with pytest.raises(EngineCrashed, match="RuntimeError"):
            await say(box, "x", Broken)


async def test_a_press_that_was_killed_while_it_started_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartsLate, "deaths", 2)
    async with presses() as box:
        assert await say(box, "word", StartsLate) == "word"


async def test_when_three_presses_died_while_they_started_whoever_waits_is_told_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartsLate, "deaths", 3)
    async with presses() as box:
        with pytest.raises(EngineCrashed, match=r"the starts late engine process died while it started \(signal 9, Killed\)"):
            await say(box, "word", StartsLate)
        assert await say(box, "word", StartsLate) == "word"


async def test_an_engine_that_starts_too_slowly_fails_no_order_that_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout is not retried. An order that was never begun must not end with one."""
    monkeypatch.setattr(StartsLate, "how", "WAIT")
    monkeypatch.setattr(StartsLate, "deaths", 2)
    async with presses(1) as box:
        assert await asyncio.gather(*(say(box, word, StartsLate) for word in ("one", "two"))) == ["one", "two"]
    monkeypatch.setattr(StartsLate, "deaths", 3)
    async with presses(1) as box:
        with pytest.raises(
            EngineCrashed, match="the starts late engine process did not start: its browser did not answer in time"
        ):
            await say(box, "word", StartsLate)


async def test_a_press_has_more_time_to_warm_up_than_a_source_has() -> None:
    async with presses() as box:
        assert await say(box, "times", WarmsUp) == f"[{WARM_UP_TIMEOUT}, {WarmsUp.limits.seconds}]"


async def test_an_engine_that_is_missing_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartsLate, "how", "MISS")
    monkeypatch.setattr(StartsLate, "deaths", 9)
    async with presses(1) as box:
        with pytest.raises(EngineMissing, match="is not installed"):
            await say(box, "word", StartsLate)
    assert StartsLate.deaths == 8


@LINUX
async def test_what_is_costly_is_prepared_once_in_another_process_and_given_to_every_press() -> None:
    async with presses() as box:
        first, pid = await say(box, "prepared", Prepares), await say(box, "pid", Prepares)
        descriptors = await say(box, "files", Prepares)
        with pytest.raises(EngineCrashed):
            await say(box, "die", Prepares)
        second = await say(box, "prepared", Prepares)
    async with presses() as another:
        assert await say(another, "files", Toy) == descriptors, "no press keeps a way to it"

    assert first == second
    assert first not in (f"made by {pid}", f"made by {os.getpid()}")


@LINUX
async def test_what_was_prepared_cannot_be_changed() -> None:
    async with presses() as box:
        await say(box, "word", Prepares)
    memory = prepared_once(Prepares, ())

    assert memory is not None
    with pytest.raises(PermissionError):
        os.pwrite(memory, b"evil", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(memory, 0)


async def test_where_nothing_can_be_prepared_presses_do_without(caplog: pytest.LogCaptureFixture) -> None:
    async with presses() as box:
        assert await say(box, "prepared", CannotPrepare) == "nothing"

    assert "RuntimeError: no room" in caplog.text


@pytest.mark.parametrize("misdeed", ["bug", "recurse"])
async def test_a_press_that_lived_through_a_failure_of_its_engine_gets_no_more_orders(misdeed: str) -> None:
    async with presses() as box:
        before = await say(box, "pid", Patient)
        with pytest.raises((EngineCrashed, TooLarge)):
            await say(box, misdeed, Patient)
        assert await say(box, "pid", Patient) != before


async def test_a_press_that_refused_a_bad_source_goes_on() -> None:
    async with presses() as box:
        before = await say(box, "pid")
        with pytest.raises(SourceInvalid):
            await say(box, "invalid")
        assert await say(box, "pid") == before


async def test_a_press_that_hides_which_order_it_is_at_gets_no_more_than_twice_the_time() -> None:
    """A source may have taken it over. It claims to be at nothing, and sits on an order."""
    limit = Patient.limits.seconds
    async with presses() as box:
        await say(box, "warm", Patient)
        (press,) = box.pools()["patient"].processes
        asked = asyncio.create_task(say(box, "hang", Patient))
        while press.current_ticket[0] is None:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        CURSOR.pack_into(press._cursor, 0, 0, 0)

        press.check_time(press.busy_since + 2 * limit)
        assert press.ready
        press.check_time(press.busy_since + 2 * limit + 1.1)

        with pytest.raises(Timeout):
            await asked


@pytest.mark.parametrize("began", [0, 0x00FF_FFFF])
async def test_a_press_that_stands_still_amid_writing_when_it_began_keeps_its_time(began: int) -> None:
    """On a busy machine it may lose its core between two bytes. Renders of milliseconds were killed for taking ten seconds."""
    limit = Patient.limits.seconds
    async with presses() as box:
        await say(box, "warm", Patient)
        (press,) = box.pools()["patient"].processes
        asked = asyncio.create_task(say(box, "hang", Patient))
        while (ticket := press.current_ticket[0]) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        number, _ = CURSOR.unpack_from(press._cursor)
        CURSOR.pack_into(press._cursor, 0, number, began)

        press.check_time(ticket.sent_at + limit - 1)
        assert press.ready
        press.check_time(ticket.sent_at + limit + 1)

        with pytest.raises(Timeout):
            await asked


async def test_an_order_around_which_three_presses_died_is_given_up() -> None:
    """It is not to blame for any of them, as far as is known; but it must not wear out one press after the other."""
    pool = ProcessPool(Toy, 1)
    pool._start_if_allowed = lambda size: None  # type: ignore[method-assign]
    ticket = Ticket(b"word", "txt", {}, asyncio.get_running_loop().create_future())
    died = SimpleNamespace(
        stderr=b"", ended_cleanly=True, never_ready=False, failure=None, ready=False, take_unfinished=lambda: [ticket]
    )
    for _ in range(2):
        pool.processes.append(cast("EngineProcess", died))
        pool._on_process_end(cast("EngineProcess", died))
        assert pool._queue.clear() == [ticket], "it is the next one for another press"

    pool.processes.append(cast("EngineProcess", died))
    pool._on_process_end(cast("EngineProcess", died))

    assert not list(pool._queue)
    with pytest.raises(EngineCrashed, match="3 engine processes for toy died around this source"):
        await ticket.future


async def test_noise_of_a_library_does_not_get_between_the_answers() -> None:
    async with presses() as box:
        assert await say(box, "print") == "said"
        assert await say(box, "after") == "after"


async def test_a_caller_that_goes_away_frees_the_press() -> None:
    async with presses() as box:
        await say(box, "warm")
        gone = asyncio.create_task(say(box, "slow 60"))
        await asyncio.sleep(0)
        gone.cancel()
        assert await say(box, "next") == "next"


@LINUX
async def test_a_press_has_no_network() -> None:
    """N1: neither the loopback of the machine nor anything behind it."""
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(0.1)
        async with presses() as box:
            answer = await say(box, f"connect 127.0.0.1:{canary.getsockname()[1]}")
            assert answer.startswith("refused")
            assert "network" in box.pools()["toy"].processes[0].layers
        with pytest.raises(TimeoutError):
            canary.accept()


@LINUX
@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/self/environ", "/proc/1/environ", "/etc/hostname", "CANARY", "/root"])
async def test_a_press_sees_no_files(path: str, tmp_path: Path) -> None:
    """F1, F3."""
    canary = tmp_path / "canary"
    canary.write_text("secret")
    async with presses() as box:
        answer = await say(box, f"read {canary if path == 'CANARY' else path}")
        if "files" not in box.pools()["toy"].processes[0].layers:
            pytest.skip("this kernel has no Landlock")
    assert answer.startswith("refused")


@LINUX
async def test_a_press_does_not_see_what_another_press_has_in_hand() -> None:
    """F4."""
    async with presses() as box:
        await say(box, "warm", Short)
        other = box.pools()["short"].processes[0].folder
        (other / "private" / "source").write_text("secret")
        assert (await say(box, f"read {other / 'private' / 'source'}")).startswith("refused")


@LINUX
async def test_a_press_writes_only_into_its_own_folder(tmp_path: Path) -> None:
    async with presses() as box:
        assert (await say(box, f"write {tmp_path / 'x'}")).startswith("refused")
        assert (await say(box, "write mine")).startswith("done")


async def test_the_environment_is_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """L: a secret in our environment is none of a stranger's business."""
    monkeypatch.setenv("S3_SECRET_ACCESS_KEY", "canary")
    async with presses() as box:
        names = (await say(box, "environment")).split(",")
    assert "S3_SECRET_ACCESS_KEY" not in names
    assert set(names) <= {"FONTCONFIG_FILE", "HOME", "LANG", "LC_CTYPE", "PATH", "PRESSROOM_ENGINES", "PYTHONDONTWRITEBYTECODE",
                          "SOURCE_DATE_EPOCH", "TMPDIR", "TZ", "XDG_CACHE_HOME"}  # fmt: skip


async def test_no_descriptor_is_inherited(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        async with presses() as box:
            seen = (await say(box, "files")).split(",")
    assert str(file.fileno() if not file.closed else 99) not in seen
    assert len(seen) <= 8


async def test_a_press_is_not_left_at_work_for_a_caller_that_gave_up(eventually: Callable[..., Any]) -> None:
    async with presses() as box:
        press = int(await say(box, "pid", Unhurried))
        gives_up = asyncio.create_task(say(box, "slow 3600", Unhurried))
        await eventually(lambda: any(one.waiting for one in box.pools()["unhurried"].processes))
        gives_up.cancel()
        await eventually(lambda: not alive(press))


@LINUX
@pytest.mark.parametrize(
    ("engine", "leaves_the_group", "end", "error"),
    [(Toy, "", "hang", Timeout), (Toy, "yes", "hang", Timeout), (Patient, "", "die", EngineCrashed)],
)
async def test_what_a_press_started_dies_with_it(
    engine: type[Engine], leaves_the_group: str, end: str, error: type[Exception], eventually: Callable[..., Any]
) -> None:
    async with presses() as box:
        child = int(await say(box, f"orphan {leaves_the_group}", engine))
        assert alive(child)
        with pytest.raises(error):
            await say(box, end, engine)
        await eventually(lambda: not alive(child))


def test_folders_of_dead_processes_are_swept() -> None:
    dead = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}4194000-"))
    ours = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
    assert remove_stale_folders() >= 1
    assert not dead.exists()
    assert ours.exists()
    ours.rmdir()


async def test_a_press_that_cannot_start_fails_nothing_while_another_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StartsOnce, "starts", 0)
    async with presses(2) as box:
        await say(box, "slow 0.3", StartsOnce)  # so that nothing is sent to it ahead
        said = await asyncio.gather(*(say(box, text, StartsOnce) for text in ("slow 1", "one", "two")))

    assert said == ["slept", "one", "two"]
    assert StartsOnce.starts < 10, "another is tried when there is more work or room, and not without a pause"


class Unreadable(Toy):
    """An engine whose own code fails while a press is started."""

    name = "unreadable"

    @classmethod
    def reads(cls) -> tuple[Path, ...]:
        raise KeyError("a folder that is not set")


async def test_an_engine_that_cannot_say_what_it_reads_fails_its_render_and_hangs_nothing() -> None:
    async with presses() as box:
        with pytest.raises(EngineCrashed, match="cannot be started: KeyError"):
            await asyncio.wait_for(say(box, "hi", Unreadable), 60)


async def test_presses_that_are_closed_while_one_starts_leave_nothing_behind() -> None:
    before = process_tree(os.getpid())
    async with presses() as box:
        waiting = asyncio.create_task(say(box, "hi"))
        await asyncio.sleep(0)  # the press is in the pool, and its process is not there yet
        (pool,) = box.pools().values()
        (press,) = pool.processes
        assert press.pid == 0

        await box.close()

        with pytest.raises(EngineCrashed, match="closing"):
            await waiting
    assert process_tree(os.getpid()) == before


async def test_presses_that_were_closed_start_no_other() -> None:
    async with presses() as box:
        await box.close()

        with pytest.raises(QueueClosed):
            await say(box, "hi")
        assert not box.pools()

"""A small stage for stories whose order is forced: worker processes that a test starts, stops and lets go on."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from pressroom import Pressroom, Status
from tests import looking
from tests.reliability import checker, dump, founder, journal
from tests.reliability.checker import Verdict
from tests.reliability.client import Client
from tests.reliability.journal import Journal, Line
from tests.reliability.workload import POLL, Handlers, place_at

ROOT = Path(__file__).parents[2]
LONG_LEASE = (
    60.0  # seconds: a busy machine takes no job from a worker. A dead one is known by its pid, a sleeping one by `end_lease`
)


class Stage:
    def __init__(self, folder: Path, url: str | None = None, *, lease: float = LONG_LEASE) -> None:
        self.folder = folder
        self.lease = lease
        self.database = folder / "press.db"
        self.url = url or f"sqlite:///{self.database}"
        self.journal = Journal(folder / "journal.jsonl")

    async def found(self) -> None:
        await founder.run(place_at(self.url), self.journal)

    def unguard(self, statements: list[str]) -> None:
        connection = apsw.Connection(str(self.database))
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def desk(self) -> Pressroom:
        """Submits and looks; the work is done by the processes."""
        return Pressroom(self.url, kinds=Handlers(self.journal).kinds(), workers=None, lease=self.lease, poll_interval=POLL)

    def client(self, press: Pressroom) -> Client:
        return Client(press, self.journal)

    @contextmanager
    def sleeper(self, *, naive: str | None = None) -> Iterator["Sleeper"]:
        """A worker that does not begin its job before it has slept.

        It is held between claiming and running, with its event loop blocked, and kinds that never wait run in one go
        from there to the settle: so it cannot learn in between that the job is no longer its own.
        """
        bed = self.folder / "slept"
        with self.worker(naive=naive, failpoints=f"handler.started=wait:{bed}") as worker:
            yield Sleeper(worker.process, bed, self.url)

    @contextmanager
    def worker(self, *, naive: str | None = None, failpoints: str = "") -> Iterator["WorkerProcess"]:
        argv = [
            sys.executable,
            "-m",
            "tests.reliability.worker",
            str(self.folder),
            "--database",
            self.url,
            "--lease",
            str(self.lease),
        ]
        argv += ["--naive", naive] if naive else []
        environment = os.environ | {"PRESSROOM_FAILPOINTS": failpoints}
        with subprocess.Popen(argv, cwd=ROOT, env=environment) as process:
            try:
                yield WorkerProcess(process)
            finally:
                process.kill()

    def end_lease(self, uid: str) -> None:
        """As if the time had passed in which its worker should have been heard of."""
        looking.change(self.url, f"UPDATE job SET lease_until = 1 WHERE uid = '{uid}'")

    def lines(self) -> list[Line]:
        return journal.load(self.journal.path)

    def runs(self, uid: str | None = None) -> list[Line]:
        return [line for line in self.lines() if line.do == "run" and uid in (None, line.data["uid"])]

    def judge(self) -> Verdict:
        return checker.judge(self.lines(), dump.read(self.url))


class WorkerProcess:
    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, 300)

    def terminate(self) -> None:
        self.process.terminate()


class Sleeper(WorkerProcess):
    def __init__(self, process: "subprocess.Popen[bytes]", slept: Path, url: str) -> None:
        super().__init__(process)
        self._slept = slept
        self._url = url

    def fall_asleep(self) -> None:
        """Not with the lock of an SQLite file in its hands: its keeper may be writing a heartbeat just then."""
        self.process.send_signal(signal.SIGSTOP)
        while not self._others_may_write():
            self.process.send_signal(signal.SIGCONT)
            time.sleep(0.05)
            self.process.send_signal(signal.SIGSTOP)

    def _others_may_write(self) -> bool:
        if not self._url.startswith("sqlite:"):
            return True  # the server ends a transaction that stands still
        with closing(apsw.Connection(self._url.removeprefix("sqlite:///"))) as connection:
            connection.set_busy_timeout(500)
            try:
                connection.execute("BEGIN IMMEDIATE; ROLLBACK")
            except apsw.BusyError:
                return False
        return True

    def wake_up(self) -> None:
        self._slept.touch()
        self.process.send_signal(signal.SIGCONT)


async def until(condition: Callable[[], Any], within: float = 600.0) -> None:
    """Wait for a condition, not for a second. The limit is for a machine with other things to do."""
    async with asyncio.timeout(within):
        while True:
            value = condition()
            if asyncio.iscoroutine(value):
                value = await value
            if value:
                return
            await asyncio.sleep(0.01)


async def is_running(press: Pressroom, uid: str) -> bool:
    return (await press.get(uid)).status is Status.IN_PROGRESS


async def drained(press: Pressroom) -> bool:
    stats = await press.stats()
    return not stats.queued and not stats.running

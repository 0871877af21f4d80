"""A small stage for stories over HTTP whose order is forced: one server that is killed at a failpoint, and then a sound one."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from tests.reliability import dump, http_checker, http_clean, http_inspector, http_victims, journal
from tests.reliability.http_checker import HttpVerdict
from tests.reliability.http_desk import HttpDesk, Receipt
from tests.reliability.http_exchange import exchange
from tests.reliability.http_wants import Want
from tests.reliability.journal import Journal
from tests.reliability.workload import TABLES

ROOT = Path(__file__).parents[2]
WITHIN = 300.0


class ServerStage:
    """`serve` is the real command line in a Python of its own. Two ports, so that nobody waits for the other's to be free."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = Journal(folder / "journal.jsonl")
        self.ports = http_victims.free_port(0), http_victims.free_port(1)

    @contextlib.contextmanager
    def server(
        self, port: int, *options: str, failpoints: str = "", naive: Callable[[], None] | None = None
    ) -> Iterator["subprocess.Popen[bytes]"]:
        spoiled = f"{naive.__module__}:{naive.__name__}" if naive else ""
        argv = [sys.executable, "-m", "tests.reliability.http_server", spoiled, "serve"]
        environ = os.environ | http_victims.environment(self.folder) | {"PRESSROOM_FAILPOINTS": failpoints}
        log = (self.folder / "lab.log").open("ab")
        with (
            log,
            subprocess.Popen(
                [*argv, *options, "--listen", f"127.0.0.1:{port}"], cwd=ROOT, env=environ, stdout=log, stderr=log
            ) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    async def listens(self, port: int) -> None:
        """It may not answer yet. Asking whether it does would be an answer more than a failpoint is to count."""
        deadline = time.monotonic() + WITHIN
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            await asyncio.sleep(0.02)
        raise TimeoutError((self.folder / "lab.log").read_text())

    def database(self) -> Path:
        """With the few tables of the application that `dump` reads."""
        path = self.folder / "pressroom.db"
        with contextlib.closing(apsw.Connection(str(path))) as connection:
            connection.set_busy_timeout(120_000)
            connection.execute(TABLES)
        return path

    async def has_a_job(self, port: int) -> bool:
        return bool((await exchange(port, "GET", "/jobs")).json()["items"])


class HttpStage(ServerStage):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._receipts: list[Receipt] = []

    async def submit(self, port: int, want: Want) -> str | None:
        """Ask once, whoever answers, and tell the journal what was heard."""
        receipt = await HttpDesk([port], self.journal, "stage").ask(want, port)
        if receipt is None:
            return None
        self._receipts.append(receipt)
        return receipt.uid

    async def judge(self, naive: Callable[[], None] | None = None) -> HttpVerdict:
        """By what a server that finishes the rest shows. A sound one would mend a torn file when it renders again."""
        port = self.ports[1]
        uids = {receipt.uid for receipt in self._receipts}
        links = {receipt.link for receipt in self._receipts if receipt.link is not None}
        with self.server(port, naive=naive):
            await self.listens(port)
            await http_inspector.run(port, self.journal, uids, links, 0, WITHIN, asyncio.Event())
        await http_clean.run(self.journal, asyncio.Event())
        return http_checker.judge(journal.load(self.journal.path), dump.read(self.database()))


async def killed(process: "subprocess.Popen[bytes]") -> bool:
    return await asyncio.to_thread(process.wait, WITHIN) == -signal.SIGKILL

"""A real `pressroom serve` in a process of its own, and a proxy that breaks connections when it is told to."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.servers import free_ports

KINDS = """
import asyncio, os, pathlib
from pressroom import Partial, SourceInvalid, kind

@kind("shout", max_attempts=1)
async def shout(job, payload):
    await job.phase("shouting", total=3)
    for word in ("one", "two", "three"):
        await job.step(message=word)
    return payload["text"].upper()

@kind("wrong")
async def wrong(job, payload):
    raise SourceInvalid("no closing bracket", line=3, column=7, excerpt="a -> [")

@kind("odd", max_attempts=1)
async def odd(job, payload):
    raise ValueError("the password is hunter2")

@kind("gated", timeout=None)
async def gated(job, payload):
    "Runs until a file is there."
    await job.phase("before the gate")
    while not pathlib.Path(payload["gate"]).exists():
        await asyncio.sleep(0.02)
    return "through"

@kind("counting", timeout=None)
async def counting(job, payload):
    await job.phase("counting", total=payload["to"])
    for number in range(payload["to"]):
        await asyncio.sleep(payload.get("pause", 0.01))
        await job.step(message=str(number))
    return payload["to"]
"""


class Served:
    """The service on one port and in one folder, which can be stopped and started again."""

    def __init__(
        self, folder: Path, *, database: str | None = None, grace: float = 5.0, port: int | None = None, **settings: str
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "servedkinds.py").write_text(f"import tests.patient_service\n{KINDS}")
        self.folder = folder
        self.port = port or free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.database = database or f"sqlite:///{folder / 'home' / 'pressroom.db'}"
        self._command = [
            *(sys.executable, "-m", "pressroom", "serve", "--json", "-v", "--import", "servedkinds"),
            *("--listen", f"127.0.0.1:{self.port}", "--home", str(folder / "home"), "--grace", str(grace)),
            *(("--database", database) if database else ()),
        ]
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        patient = {"PYTHONPATH": str(Path(__file__).parents[2]), "PRESSROOM_LEASE": "60"}
        self._environ = plain | patient | settings
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def log(self) -> str:
        return (self.folder / "log.txt").read_text(errors="replace")

    def start(self) -> None:
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self.folder, env=self._environ, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], 300)
        said = self.process.stdout.readline() if ready else b""
        if not said:
            self.kill()
            raise RuntimeError(f"the service did not start: {self.log[-2000:]}")
        assert json.loads(said)["listening"] == self.url

    def stop(self, within: float = 300.0) -> int:
        self.signal(signal.SIGTERM)
        return self.wait(within)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wait(self, within: float = 300.0) -> int:
        assert self.process is not None
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it had not ended after {within} s: {self.log[-2000:]}") from None
        finally:
            assert self.process.stdout is not None
            self.process.stdout.close()

    def kill(self) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def children(self) -> list[int]:
        """All that it started, and all that those started."""
        assert self.process is not None
        found, look = [], [self.process.pid]
        while look:
            for task in Path(f"/proc/{look.pop()}/task").glob("*/children"):
                with suppress(OSError):
                    fresh = [int(pid) for pid in task.read_text().split()]
                    found += fresh
                    look += fresh
        return found

    def memory(self) -> int:
        """Resident bytes of the process itself."""
        assert self.process is not None
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def lives(pid: int) -> bool:
    """A zombie does not: it waits for init."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def until(condition: Any, within: float = 60.0) -> Any:
    deadline = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"did not become true within {within} s")
        time.sleep(0.01)
    return value


class Proxy:
    """Hands bytes on to the service. `cuts` says, connection by connection, after how many bytes of the answer it breaks."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.cuts: list[int | None] = []
        self.requests: list[bytes] = []
        self.connections: set[socket.socket] = set()  # those of clients that are open
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                cut = self.cuts.pop(0) if self.cuts else None
                threading.Thread(target=self._hand_on, args=(client, cut), daemon=True).start()

    def _hand_on(self, client: socket.socket, cut: int | None) -> None:
        self.connections.add(client)
        try:
            self._pass(client, cut)
        finally:
            self.connections.discard(client)

    def _pass(self, client: socket.socket, cut: int | None) -> None:
        passed = 0
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._target)) as server:
            while True:
                for one in select.select([client, server], [], [])[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    if one is client:
                        self.requests.append(data)
                        server.sendall(data)
                        continue
                    if cut is not None and passed + len(data) >= cut:
                        client.sendall(data[: cut - passed])
                        return
                    passed += len(data)
                    client.sendall(data)


@contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()

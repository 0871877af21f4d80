"""A house past one machine: services and workers as an operator starts them, on servers that can be killed, behind proxies."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Self

from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock
from pressroom.errors import StoreUnavailable
from tests import looking, postgres, servers
from tests.chaos import JOURNAL
from tests.chaos.commits import OVER, Commits
from tests.chaos.proxy import Proxy
from tests.reliability.journal import Journal
from tests.reliability.workload import make_tables

ROOT = Path(__file__).parents[2]
LEASE = 2.0
READY_WITHIN = 300.0
SERVICES = ("api-0", "api-1")
WORKERS = ("worker-0", "worker-1")


class Server:
    """One that can be killed, and started again where it was."""

    def __init__(self, begin: Callable[[], AbstractContextManager[object]]) -> None:
        self._begin = begin
        self._running = ExitStack()

    def start(self) -> object:
        return self._running.enter_context(self._begin())

    def kill(self) -> None:
        self._running.close()


class Process:
    """A command of ours. What it says is kept in `log`; it is ready when it has said something on standard output."""

    def __init__(self, arguments: list[str], folder: Path, name: str, environ: dict[str, str]) -> None:
        self._command = [sys.executable, "-m", "pressroom", *arguments, "--json"]
        self._told = folder / f"{name}.out"
        self.log = folder / f"{name}.log"
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *, ahead: int = 0) -> None:
        """`ahead` is by how many seconds its clock is wrong."""
        environ = self._environ | {"PRESSROOM_CLOCK_OFFSET": str(ahead)}
        with self._told.open("wb") as told, self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=told, stderr=log, env=environ, cwd=self.log.parent, start_new_session=True
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not self._told.read_bytes():
            if not self.runs or time.monotonic() > deadline:
                raise RuntimeError(f"{self._command} did not start: {self.log.read_text()[-2000:]}")
            time.sleep(0.02)

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        if self.runs:
            os.killpg(self.pid, signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def pause(self) -> None:
        os.killpg(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.killpg(self.pid, signal.SIGCONT)


class House:
    """Services and workers reach PostgreSQL by a proxy each, and S3, if it is wanted, by one for both."""

    def __init__(self, folder: Path, delivery: str, *, s3: bool = False) -> None:
        self.folder = folder
        self.delivery = delivery
        self.journal = Journal(folder / "journal.jsonl")
        self._with_s3 = s3
        self._open = ExitStack()
        self.processes: dict[str, Process] = {}
        self.ports: dict[str, int] = {}

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            self._open = opening
            self._open_servers()
            for name in (*SERVICES, *WORKERS):
                self.processes[name] = self._process(name)
                opening.callback(self.processes[name].kill)
                self.processes[name].start()
            self.settle()
            self._open = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def settle(self) -> None:
        """Whoever is not there is started; afterwards everybody is ready."""
        for process in self.processes.values():
            if not process.runs:
                process.start()
        for process in self.processes.values():
            process.wait_until_ready()

    def log(self) -> str:
        return "".join(process.log.read_text() for process in self.processes.values())

    def leader(self) -> str | None:
        """The name of the process that leads."""
        for (worker,) in looking.rows(self.address, "SELECT worker FROM leader"):
            for name in WORKERS:
                if f".{self.processes[name].pid}." in worker:
                    return name
        return None

    def terminate_backends(self) -> None:
        looking.rows(
            self.address,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )

    def unsound_artifacts(self) -> list[str]:
        """What `pressroom fsck --artifacts` finds: every artifact has bytes with its hash."""
        environ = self._environ | {"PRESSROOM_DATABASE": self.address}
        command = [sys.executable, "-m", "pressroom", "fsck", "--artifacts"]
        done = subprocess.run(command, env=environ, cwd=self.folder, capture_output=True, text=True)
        return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()

    def _open_servers(self) -> None:
        enter = self._open.enter_context
        port, redis_port = servers.free_ports(2)
        self.postgres = Server(partial(postgres.server, _made(self.folder / "postgres"), fsync=True, port=port))
        self._open.callback(self.postgres.kill)
        self.address = postgres.new_database(str(self.postgres.start()))
        make_tables(self.address)
        self.database_of_services = enter(Proxy(port, Commits, OVER))
        self.database_of_workers = enter(Proxy(port, Commits, OVER))
        self._environ = self._common()
        if self.delivery == "redis":
            self.redis = Server(partial(servers.valkey, _made(self.folder / "redis"), port=redis_port))
            self._open.callback(self.redis.kill)
            self._environ["REDIS_URL"] = str(self.redis.start())
        if self._with_s3:
            s3 = enter(servers.seaweedfs(_made(self.folder / "s3"), _can_be_put_to))
            self.bucket = enter(Proxy(int(s3.endpoint.rpartition(":")[2])))
            self._environ |= {
                "S3_ENDPOINT": f"http://127.0.0.1:{self.bucket.port}",
                "S3_BUCKET": s3.bucket,
                "S3_ACCESS_KEY": s3.access_key,
                "S3_SECRET_KEY": s3.secret_key,
            }

    def _common(self) -> dict[str, str]:
        return os.environ | {
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            JOURNAL: str(self.journal.path),
            "PRESSROOM_IMPORTS": "tests.chaos.kinds",
            "PRESSROOM_DELIVERY": self.delivery,
            "PRESSROOM_LEASE": str(LEASE),
            "PRESSROOM_GRACE": "2",
            "PRESSROOM_WORKERS": "6",
            "PRESSROOM_PRESSES": "1",
            "PRESSROOM_ARTIFACTS": str(self.folder / "artifacts"),
            "PRESSROOM_RATE_LIMIT": "0",
            "PRESSROOM_RATE_LIMIT_ADDRESS": "0",
        }

    def _process(self, name: str) -> Process:
        serves = name in SERVICES
        proxy = self.database_of_services if serves else self.database_of_workers
        arguments = ["work"]
        if serves:
            (self.ports[name],) = servers.free_ports(1)
            arguments = ["serve", "--no-workers", "--listen", f"127.0.0.1:{self.ports[name]}"]
        host, _, database = self.address.rpartition("/")
        behind = f"{host.rpartition(':')[0]}:{proxy.port}/{database}"
        return Process(arguments, self.folder, name, self._environ | {"PRESSROOM_DATABASE": behind})


def _can_be_put_to(server: servers.S3Server) -> bool:
    place = Bucket(server.endpoint, server.bucket, server.access_key, server.secret_key, prefix="ready")
    try:
        asyncio.run(S3(place, SystemClock(), timeout=10.0).put(b"ready"))
    except StoreUnavailable:
        return False
    return True


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder

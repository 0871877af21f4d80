"""The topology of compose.yaml as plain processes: its commands and its environment, on the servers of the test."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

from tests.client.stage import KINDS
from tests.deploy import files
from tests.servers import S3Server, free_ports

WITHIN = 300.0
PASSWORD = "not-to-be-told"  # the test's server asks for none


class Process:
    """One of them. It is ready when it says that it listens or works."""

    def __init__(self, command: list[str], folder: Path, environ: dict[str, str]) -> None:
        self._command = command
        self._folder = folder
        self._environ = environ
        self.url = environ["PRESSROOM_BASE_URL"]
        self.start()

    def start(self) -> None:
        with (self._folder / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environ,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._is_ready = False

    def ready(self) -> None:
        if self._is_ready:
            return
        assert self._process.stdout is not None
        said, _, _ = select.select([self._process.stdout], [], [], WITHIN)
        self.said = self._process.stdout.readline().decode() if said else ""
        self._is_ready = bool(self.said)
        assert self._is_ready, f"{self._command} did not start: {self.log[-2000:]}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return (self._folder / "log.txt").read_text(errors="replace")

    def stop(self) -> int:
        """As a service manager does. Returns its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        return self._process.wait(WITHIN)

    def restart(self) -> int:
        code = self.stop()
        self.close()
        self.start()
        self.ready()
        return code

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Topology:
    """Leaving the block ends whatever still runs."""

    def __init__(self, folder: Path, database: str, s3: S3Server) -> None:
        self.folder = folder
        self.database = database
        self.processes: list[Process] = []
        (folder / "servedkinds.py").write_text(KINDS)
        self.settings = files.environment("pressroom.env.example") | {
            "PRESSROOM_DATABASE": database.replace("postgres@", f"postgres:{PASSWORD}@"),
            "S3_ENDPOINT": s3.endpoint,
            "S3_BUCKET": s3.bucket,
            "S3_ACCESS_KEY": s3.access_key,
            "S3_SECRET_KEY": s3.secret_key,
            "S3_PREFIX": folder.name,
            "PRESSROOM_IMPORTS": "servedkinds",
            "PRESSROOM_GRACE": "10",
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for process in self.processes:
            process.close()

    def ready(self) -> None:
        """They start side by side; this waits for all of them."""
        for process in self.processes:
            process.ready()

    def run(self, *argv: str, within: Sequence[str] = (), **settings: str) -> str:
        """A command that ends by itself. Returns what it printed."""
        done = subprocess.run(
            self._command(argv, within),
            cwd=self.folder,
            env=self._environ(settings),
            capture_output=True,
            text=True,
            timeout=WITHIN,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def api(self, *, listen: str = "", within: Sequence[str] = ()) -> Process:
        listen = listen or f"127.0.0.1:{free_ports(1)[0]}"
        address = {"PRESSROOM_LISTEN": listen, "PRESSROOM_BASE_URL": f"http://{listen}"}
        return self.start(files.command_of("api"), within=within, **address)

    def worker(self, *kinds: str, within: Sequence[str] = ()) -> Process:
        return self.start(["work", *(("--kinds", ",".join(kinds)) if kinds else ())], within=within)

    def start(self, argv: list[str], *, within: Sequence[str] = (), **settings: str) -> Process:
        """`within` is put in front of the command: a namespace to start it in."""
        folder = self.folder / str(len(self.processes))
        folder.mkdir()
        process = Process(self._command([*argv, "-v", "--json"], within), folder, self._environ(settings))
        self.processes.append(process)
        return process

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()

    def _command(self, argv: Sequence[str], within: Sequence[str]) -> list[str]:
        return [*within, sys.executable, "-m", "pressroom", *argv]

    def _environ(self, settings: dict[str, str]) -> dict[str, str]:
        """Nothing of ours is inherited: a deployment has only what its file says."""
        known = {*files.environment("pressroom.env.example", commented=True)}
        kept = {name: value for name, value in os.environ.items() if name not in known and not name.startswith("PRESSROOM_")}
        return kept | self.settings | {"PYTHONPATH": str(self.folder)} | settings

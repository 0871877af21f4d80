"""A real `pressroom serve` that needs tokens, on a fresh SQLite file with two organisations; what it uses, and what it logs."""

import contextlib
import json
import mmap
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from pressroom import Pressroom
from pressroom.api.access import Scope
from tests.attack.service_hooks import SECONDS, STALL_FILE, STALL_FILE_SIZE

ROOT = Path(__file__).parents[2]
ORGANISATIONS = ("acme", "globex")  # the first attacks, the second is to be served meanwhile
# Deadlines are short, so that an attack that runs into one is short. Requests are not counted: attacks send many.
SETTINGS = {
    "PRESSROOM_HEAD_TIMEOUT": "3",
    "PRESSROOM_BODY_TIMEOUT": "6",
    "PRESSROOM_KEEP_ALIVE_TIMEOUT": "3",
    "PRESSROOM_RATE_LIMIT": "0",
    "PRESSROOM_RATE_LIMIT_ADDRESS": "0",
    "PRESSROOM_LEASE": "60",
}
_FAULTS = re.compile(r"^.*(?:Traceback \(most recent call last\)|\bERROR\b|\bCRITICAL\b).*$", re.MULTILINE)


class ClosedService:
    def __init__(self, folder: Path, imports: Sequence[str] = ()) -> None:
        self._folder = folder
        self._log = folder / "log.txt"
        self._stalls = folder / "stalls"
        self._stalls.write_bytes(bytes(STALL_FILE_SIZE))
        self.database = f"sqlite:///{folder / 'home' / 'pressroom.db'}"
        self.port = 0
        self.tokens: dict[str, str] = {}  # by organisation and scope: `acme viewer`
        self._imports = ("tests.attack.service_hooks", *imports)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["ClosedService"]:
        (self._folder / "home").mkdir(mode=0o700)
        async with Pressroom(self.database, workers=None) as press:
            for org in ORGANISATIONS:
                for scope in (Scope.VIEWER, Scope.SUBMITTER, Scope.OPERATOR):
                    made = await press.tokens.create(scope, org=org, name=f"{org}-{scope.name.lower()}")
                    self.tokens[f"{org} {scope.name.lower()}"] = made.secret
            self.library = press
            self._start()
            try:
                yield self
            finally:
                self._stop()

    def _start(self) -> None:
        command = [sys.executable, "-m", "pressroom", "serve", "--json", "--listen", "127.0.0.1:0"]
        command += ["--database", self.database, "--grace", "5"]
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        ours = {"PYTHONPATH": path, "PRESSROOM_IMPORTS": ",".join(self._imports), STALL_FILE: str(self._stalls)}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=plain | SETTINGS | ours,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], 120)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self._stop()
            raise RuntimeError(f"the service did not start:\n{self._log.read_text(errors='replace')[-2000:]}")
        self.port = int(json.loads(line)["listening"].rpartition(":")[2])
        with self._stalls.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), STALL_FILE_SIZE)

    def _stop(self) -> None:
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        with contextlib.suppress(ProcessLookupError):  # its presses, if it left any
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def memory(self, figure: str = "VmRSS") -> float:
        """In MB. `VmHWM` is the most since `reset_peak`."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(text.split(f"{figure}:")[1].split()[0]) / 1024

    def reset_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def reset_stall(self) -> None:
        SECONDS.pack_into(self._shared, 0, 0.0)

    def longest_stall(self) -> tuple[float, str]:
        """CPU seconds of the longest callback since `reset_stall`, and which it was."""
        name = bytes(self._shared[SECONDS.size :]).rstrip(b"\0").decode(errors="replace")
        return SECONDS.unpack_from(self._shared)[0], name

    def log_size(self) -> int:
        return self._log.stat().st_size

    def faults_logged(self, since: int) -> list[str]:
        """Lines of the log that are errors or begin a traceback, from an offset on."""
        with self._log.open("rb") as file:
            file.seek(since)
            return [found.group()[:300] for found in _FAULTS.finditer(file.read().decode(errors="replace"))]

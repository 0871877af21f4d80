"""The crash lab of packs: servers, workers and a render service, with applications that make packs and render them."""

import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.reliability import http_victims, packs_dump, packs_founder, packs_inspector, packs_nemesis, victims
from tests.reliability.http_lab import DRAIN_LIMIT, HttpLab
from tests.reliability.journal import Line
from tests.reliability.packs_dump import PacksDump
from tests.reliability.packs_load import PacksLoad
from tests.reliability.slot import Toll
from tests.reliability.victims import Role, Victim

RENDER_TIMEOUT = 10  # seconds: a render service that is paused costs an attempt


class PacksLab(HttpLab):
    team = packs_nemesis.TEAM
    fates = packs_nemesis.FATES
    far_behind = 40

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        super().__init__(folder, seed, show)
        self._began: dict[int, int] = {}  # when the lab first looked at a process
        self._heard: dict[int, int] = {}  # when a client last had an answer from a port

    def dump(self) -> PacksDump:
        return packs_dump.read(self.database)

    def hear(self, line: Line) -> None:
        if line.do == "render" and line.type == "ok":
            self._acked |= {job["job_id"]: None for job in line.data["jobs"]}
        if "port" in line.data:
            self._heard[line.data["port"]] = line.at

    def _found(self) -> None:
        super()._found()
        self._let(partial(packs_founder.run, self.database))

    def _answers(self, victim: Victim, port: int) -> bool:
        """A server starts a press to read its first template. Killed before, it would answer nothing."""
        began = self._began.setdefault(victim.pid, time.monotonic_ns())
        return self._heard.get(port, 0) > began

    def _clients(self) -> Victim:
        ports = [port for (role, _), port in self._ports.items() if role == "counter"]
        return victims.start(PacksLoad(ports, self.journal, f"{self._seed}/load").run, self.log)

    def _command(self, role: str, number: int) -> list[str]:
        if role == "press":
            return ["work", "--pool", "render"]
        listen = ["--listen", f"127.0.0.1:{self._ports[role, number]}"]
        return ["render-service", *listen] if role == "printer" else ["serve", *listen, "--no-workers"]

    def _start(self, argv: Sequence[str], *, spec: str = "", ahead: int = 0) -> Victim:
        environ = http_victims.environment(self.folder) | {
            "PRESSROOM_CLOCK_OFFSET": str(ahead),
            "PRESSROOM_IMPORTS": "",
            "PRESSROOM_RENDER_URL": f"http://127.0.0.1:{self._ports['printer', 0]}",
            "PRESSROOM_RENDER_TIMEOUT": str(RENDER_TIMEOUT),
        }
        victim = http_victims.start(argv, self.log, environ, spec=spec)
        self._pids.add(victim.pid)
        return victim

    def _inspect(self) -> None:
        self._read_news()
        printer = self._start(self._command("printer", 0))
        self._let_see(self._inspector)
        printer.signal(signal.SIGTERM)
        self._see_off([printer])

    def _inspector(self, port: int) -> Role:
        return partial(packs_inspector.run, port, self.journal, self.database, DRAIN_LIMIT)

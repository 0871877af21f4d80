"""The crash lab of documentation: servers, workers and an edge, with CI jobs that publish and readers that read."""

import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.reliability import docs_dump, docs_founder, docs_inspector, docs_nemesis, victims
from tests.reliability.docs_dump import DocsDump
from tests.reliability.docs_load import DocsLoad
from tests.reliability.docs_sites import SITES
from tests.reliability.http_lab import DRAIN_LIMIT, HttpLab
from tests.reliability.journal import Line
from tests.reliability.slot import Toll
from tests.reliability.victims import Role, Victim


class DocsLab(HttpLab):
    team = docs_nemesis.TEAM
    fates = docs_nemesis.FATES
    far_behind = 6
    accepted_per_fault = 0.7  # a build is three requests, and each of them may meet a server that starts

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        super().__init__(folder, seed, show)
        self._began: dict[int, int] = {}  # when the lab first looked at a process
        self._heard: dict[int, int] = {}  # when a client last had an answer from a port
        self.environ |= {
            "PRESSROOM_IMPORTS": "",
            "PRESSROOM_DOCS_LISTEN": "",
            "PRESSROOM_DOCS_PUBLISH_ALLOW": str(folder / SITES),
        }

    def dump(self) -> DocsDump:
        return docs_dump.read(self.address)

    def hear(self, line: Line) -> None:
        if line.do == "start" and line.type == "ok":
            self._acked[line.data["build"]] = None
        if "port" in line.data:
            self._heard[line.data["port"]] = line.at

    def _found(self) -> None:
        super()._found()
        self._let(partial(docs_founder.run, self.address, self.folder))

    def _answers(self, victim: Victim, port: int) -> bool:
        """Killed before it ever answered, a server would have done nothing."""
        began = self._began.setdefault(victim.pid, time.monotonic_ns())
        return self._heard.get(port, 0) > began

    def _clients(self) -> Victim:
        counters = [port for (role, _), port in self._ports.items() if role == "counter"]
        edges = [port for (role, _), port in self._ports.items() if role == "edge"]
        load = DocsLoad(counters, edges, self.folder / SITES, self.journal, f"{self._seed}/load")
        return victims.start(load.run, self.log)

    def _command(self, role: str, number: int) -> list[str]:
        if role == "press":
            return ["work"]
        listen = ["--listen", f"127.0.0.1:{self._ports[role, number]}"]
        return ["docs", "edge", *listen] if role == "edge" else ["serve", *listen, "--no-workers"]

    def _inspect(self) -> None:
        self._read_news()
        edge = self._start(self._command("edge", 0))
        self._let_see(self._inspector)
        edge.signal(signal.SIGTERM)
        self._see_off([edge])

    def _inspector(self, port: int) -> Role:
        return partial(docs_inspector.run, port, self._ports["edge", 0], self.journal, DRAIN_LIMIT)

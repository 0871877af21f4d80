"""The crash lab over HTTP: servers and workers on one folder, a nemesis that kills them, and clients over real sockets."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from pressroom.renderers.sandbox.process_tree import FOLDER_PREFIX
from tests import looking
from tests.reliability import dump, http_clean, http_inspector, http_victims, nemesis, victims
from tests.reliability.floor import Floor
from tests.reliability.http_desk import HttpDesk
from tests.reliability.http_inspector import Link
from tests.reliability.http_nemesis import FATES, TEAM
from tests.reliability.journal import Line
from tests.reliability.slot import Slot, Toll
from tests.reliability.victims import Role, Victim
from tests.reliability.workload import make_tables

FEW = 10
DRAIN_LIMIT = 300.0
AHEAD = 120  # seconds: a job that was beside a crash waits before it runs again, and the clean server need not
FAR_BEHIND = 60  # open jobs: a worker that was just started is left alone until there are fewer, or for as long as it may start
GONE_WITHIN = 60.0  # what a press may take to notice that whoever started it was killed
LOOK = 0.1  # seconds between two looks at how many jobs are open: on a server each is a connection
OPEN = "SELECT count(*) FROM job WHERE date_completed IS NULL"


class HttpLab(Floor):
    team = TEAM
    fates = FATES
    far_behind = FAR_BEHIND
    ahead = AHEAD

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        super().__init__(folder, "pressroom.db", show)
        self.address = dump.address_of(self.database)
        self.environ = http_victims.environment(folder)
        self._seed = seed
        self._pids: set[int] = set()
        self._links: set[Link] = set()
        self._open_jobs = 0
        self._looked = 0.0
        names = [(role, number) for role, count in self.team.items() for number in range(count)]
        self._ports = {name: http_victims.free_port(at) for at, name in enumerate(names) if name[0] != "press"}
        self._slots = [self._slot(role, number) for role, number in names]
        http_victims.warm_up()

    def run(self, cycles: int) -> None:
        """Torment the team for as many cycles while clients submit; then a clean server finishes what is left, and is asked."""
        self._found()
        desk = self._clients()
        self._torment(cycles)
        if desk.has_ended():  # faults without clients test nothing
            raise RuntimeError(f"the clients ended by an error of their own; see {self.log}")
        self._send_home(desk)
        self._inspect()
        self.journal.write("info", "remains", processes=self._left_behind())
        self.journal.sync()

    def hear(self, line: Line) -> None:
        super().hear(line)
        if line.do == "submit" and line.type == "ok" and line.data["link"] is not None:
            self._links.add(msgspec.convert(line.data["link"], Link))

    def _found(self) -> None:
        """The tables, ours and the few of the application that `dump` reads."""
        done = self._start(["migrate"])
        done.wait()
        if done.ended != 0:
            raise RuntimeError(f"the database could not be founded; see {self.log}")
        make_tables(self.address)

    def _clients(self) -> Victim:
        desk = HttpDesk(list(self._ports.values()), self.journal, f"{self._seed}/desk")
        return victims.start(desk.run, self.log)

    def _send_home(self, desk: Victim) -> None:
        """Clients may finish what they do; then everybody else is killed with whatever they hold, as the last fault."""
        team = [slot.victim for slot in self._slots if slot.victim is not None]
        for victim in team:
            victim.signal(signal.SIGCONT)
        desk.signal(signal.SIGTERM)
        self._see_off([desk])
        for victim in team:
            victim.signal(signal.SIGKILL)
            victim.wait()

    def _inspect(self) -> None:
        self._read_news()
        asked = list(self._acked), list(self._links), self.ahead, DRAIN_LIMIT
        self._let_see(lambda port: partial(http_inspector.run, port, self.journal, *asked))
        self._let(partial(http_clean.run, self.journal))

    def _let_see(self, inspector: Callable[[int], Role]) -> None:
        """A server that nobody torments finishes what is left, and is looked at."""
        port = next(iter(self._ports.values()))
        server = self._start(["serve", "--listen", f"127.0.0.1:{port}"], ahead=self.ahead)
        self._let(inspector(port))
        server.signal(signal.SIGTERM)
        self._see_off([server])

    def _let(self, role: Role) -> None:
        """Somebody whom nobody torments does a thing, and must succeed."""
        somebody = victims.start(role, self.log)
        while not somebody.has_ended():
            self._look_around()
        if somebody.ended != 0:
            raise RuntimeError(f"what was made could not be looked at; see {self.log}")

    def _look_around(self) -> None:
        super()._look_around()
        if self.toll.broken > FEW:
            raise RuntimeError(f"{self.toll.broken} processes ended by an error of their own; see {self.log}")

    def _slot(self, role: str, number: int) -> Slot:
        def begin(times: int, spec: str) -> Victim:
            return self._start(self._command(role, number), spec=spec)

        def at_work(victim: Victim) -> bool:
            return self._answers(victim, self._ports[role, number]) if role == "counter" else self._keeps_up()

        return Slot(role, nemesis.faults(self._seed, role, number, self.fates[role]), begin, self.toll, at_work)

    def _answers(self, victim: Victim, port: int) -> bool:
        """Whether a server that was just started may be tormented. Here it may at once."""
        return True

    def _keeps_up(self) -> bool:
        """On a busy machine a worker takes seconds to start. Killed as soon as it has, it would end no job."""
        if time.monotonic() - self._looked > LOOK:
            ((self._open_jobs,),) = looking.rows(self.address, OPEN)
            self._looked = time.monotonic()
        return self._open_jobs < self.far_behind

    def _command(self, role: str, number: int) -> list[str]:
        if role == "press":
            return ["work"]
        listen = ["--listen", f"127.0.0.1:{self._ports[role, number]}"]
        return ["serve", *listen, *(["--no-workers"] if role == "counter" else [])]

    def _start(self, argv: Sequence[str], *, spec: str = "", ahead: int = 0) -> Victim:
        environ = self.environ | {"PRESSROOM_CLOCK_OFFSET": str(ahead)}
        victim = http_victims.start(argv, self.log, environ, spec=spec)
        self._pids.add(victim.pid)
        return victim

    def _left_behind(self) -> list[str]:
        """EnginePools whose owner is dead, and who have not noticed."""
        deadline = time.monotonic() + GONE_WITHIN
        while (found := presses_of(self._pids)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found


def presses_of(owners: set[int]) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            folder = Path(os.readlink(entry / "cwd")).name
            if folder.startswith(FOLDER_PREFIX) and int(folder.removeprefix(FOLDER_PREFIX).partition("-")[0]) in owners:
                found.append(f"{entry.name} {(entry / 'comm').read_text().strip()}")
    return found

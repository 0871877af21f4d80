"""What every lab does with its team: step the slots, read the journal as it grows, see people off."""

import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.reliability import dump
from tests.reliability.dump import Dump
from tests.reliability.journal import Journal, Line
from tests.reliability.slot import STOP_LIMIT, Slot, Toll
from tests.reliability.victims import Victim

BEAT = 0.01

# A busy machine does little between two faults. They wait until `accepted_per_fault` jobs were accepted for each of them, but
# no longer than this, or a team that hangs would never be noticed.
HOLD_LIMIT = 60.0


class Floor(ABC):
    accepted_per_fault = 1.0

    def __init__(self, folder: Path, database: str, show: Callable[[Toll, int], None]) -> None:
        self.folder = folder
        self.database = folder / database
        self.log = folder / "lab.log"
        self.journal = Journal(folder / "journal.jsonl")
        self.toll = Toll(self.journal)
        self._show = show
        self._acked: dict[str, None] = {}
        self._slots: list[Slot] = []

    @abstractmethod
    def run(self, cycles: int) -> None: ...

    def dump(self) -> Dump:
        return dump.read(self.database)

    def close(self) -> None:  # noqa: B027 - some need no server
        """End whatever served the team."""

    def hear(self, line: Line) -> None:
        """Something was written to the journal."""
        if line.do == "submit" and line.type == "ok":
            self._acked[line.data["uid"]] = None

    def _torment(self, cycles: int) -> None:
        held_since = None
        while not self._is_enough(cycles):
            self._look_around()
            now = time.monotonic()
            if self._keeps_pace():
                held_since = None
            elif held_since is None:
                held_since = now
            may_strike = held_since is None or now - held_since > HOLD_LIMIT
            for slot in self._slots:
                slot.step(now, may_strike=may_strike)
            if may_strike and held_since is not None:
                held_since = now
        self.journal.write("info", "peace", wall=time.time())

    def _keeps_pace(self) -> bool:
        """Whether the team has done enough for the faults that it met."""
        return len(self._acked) >= self.accepted_per_fault * self.toll.cycles

    def _is_enough(self, cycles: int) -> bool:
        return self.toll.cycles >= cycles

    def _look_around(self) -> None:
        time.sleep(BEAT)
        self._read_news()
        self.journal.sync()
        self._show(self.toll, len(self._acked))

    def _read_news(self) -> None:
        for line in self.journal.news():
            self.hear(line)

    def _see_off(self, team: Sequence[Victim]) -> None:
        deadline = time.monotonic() + STOP_LIMIT
        for victim in team:
            while not victim.has_ended() and time.monotonic() < deadline:
                time.sleep(BEAT)
            if not victim.has_ended():
                self.toll.hung += 1
                victim.show_stacks()
                victim.signal(signal.SIGKILL)
                victim.wait()

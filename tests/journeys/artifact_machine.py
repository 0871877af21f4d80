"""Puts, collectors and holders in any order, on the real rows, with bytes that are looked for at every step.

Several collectors are under way at once, and each may sleep for days between any two of its steps.
"""

import hashlib
from contextlib import suppress

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pressroom.artifacts import key_of
from pressroom.errors import BlobGone
from pressroom.model import Work
from pressroom.store.artifacts import artifacts, blobs, consistency
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.artifacts.blobs import BlobName
from pressroom.testing import SteppedStore

HOUR = 3_600_000
GRACE = 24 * HOUR
CONTENTS = (b"a", b"b")
COLLECTORS = 2


class BytesLost(AssertionError):
    """A row refers to bytes that are gone, or rows disagree."""


class CollectingMachine(RuleBasedStateMachine):
    guards: tuple[str, ...] = ()  # what a broken variant takes away, so that it is the machine that must speak

    def __init__(self) -> None:
        super().__init__()
        self.store = SteppedStore()
        for guard in self.guards:
            self.store.raw.execute(guard)
        self.kept: dict[BlobName, int] = {}
        self.putting: list[BlobName] = []
        self.written: list[BlobName] = []
        self.looked_at: list[list[BlobName]] = [[] for _ in range(COLLECTORS)]
        self.suspects: list[BlobName] = []

    # One rule for all, because Hypothesis leaves out some rules of every story, and a story of loss needs nearly all of these.
    @rule(
        step=st.sampled_from("RRRLWWWWCCCCHTTTTTDDKKKNNXXYYYYFFOOP"), content=st.sampled_from(CONTENTS), which=st.integers(0, 3)
    )
    def something_happens(self, step: str, content: bytes, which: int) -> None:
        collector = which % COLLECTORS
        match step:
            case "R":
                self.reserve(content)
            case "L":
                self.reserve_what_a_power_failure_forgets(content)
            case "W":
                self.write(which)
            case "C":
                self.record(which)
            case "H":
                self.run(artifacts.release("edition:42"))
            case "T":
                self.store.clock.advance(hours=25 if which else 2)
            case "D":
                self.run(artifacts.delete_unreferenced(10))
            case "K":
                self.run(blobs.condemn_marked(GRACE, 10))
            case "N":
                self.looked_at[collector] = self.run(blobs.list_condemned(10))
            case "X":
                self.delete(collector)
            case "Y":
                self.look_delete_and_bury(collector, again=which < COLLECTORS)
            case "F":
                self.run(blobs.delete_rows(GRACE, 10))
            case "O":
                self.look_for_orphans()
            case "P":
                self.looked_at[collector] = [name for name in self.suspects if self.run(blobs.condemn_orphan(name, 1))]

    def run[T](self, work: Work[T]) -> T:
        return self.store.run(work)

    def reserve(self, content: bytes) -> None:
        sha256 = hashlib.sha256(content).hexdigest()
        live = self.run(blobs.generation_of_live(sha256))
        generation = live if live is not None else self.run(blobs.reserve(sha256, len(content)))
        self.putting.append(BlobName(sha256, generation))

    def reserve_what_a_power_failure_forgets(self, content: bytes) -> None:
        """Reservations are not durable. The database is back without it, and whoever made it goes on."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.store.raw.execute("BEGIN")
        generation = self.store._connection.run_work(blobs.reserve(sha256, len(content)))
        self.store.raw.execute("ROLLBACK")
        self.putting.append(BlobName(sha256, generation))

    def write(self, which: int) -> None:
        if self.putting:
            name = self.putting.pop(which % len(self.putting))
            self.kept.setdefault(name, self.store.clock.now_ms())  # what is there already is not written again
            self.written.append(name)

    def record(self, which: int) -> None:
        if not self.written:
            return
        sha256, generation = self.written.pop(which % len(self.written))
        draft = ArtifactDraft(sha256=sha256, generation=generation, size=1, media_type="text/plain")
        hours, holder = (100, None) if which == 0 else (1, "edition:42" if which == 1 else None)
        with suppress(BlobGone):
            self.run(artifacts.record(draft, keep_for=hours * HOUR, holder=holder))

    def delete(self, collector: int) -> None:
        for name in self.looked_at[collector]:
            self.kept.pop(name, None)

    def look_delete_and_bury(self, collector: int, *, again: bool) -> None:
        if again:
            self.looked_at[collector] = self.run(blobs.list_condemned(10))
        self.delete(collector)
        self.run(blobs.record_deleted(self.looked_at[collector]))

    def look_for_orphans(self) -> None:
        old = [name for name, at in self.kept.items() if self.store.clock.now_ms() - at >= GRACE]
        self.suspects = self.run(blobs.find_unexpected(old))

    @invariant()
    def every_row_has_its_bytes(self) -> None:
        rows = self.store.raw.execute("SELECT sha256, generation FROM artifact LEFT JOIN blob USING (sha256)")
        for sha256, generation in rows:
            if BlobName(sha256, generation) not in self.kept:
                raise BytesLost(f"an artifact refers to {key_of(sha256, generation or 0)}")
        if unsound := self.run(consistency.find_inconsistent_artifacts()):
            raise BytesLost(str(unsound))

    def teardown(self) -> None:
        self.store.close()

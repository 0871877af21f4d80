"""The rules: what may happen to a queue, in any order. Hypothesis looks for an order that breaks a promise."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import product
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from pressroom.model import Claim
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.worker.judge import EncodedResult, WorkerStopping
from tests.machine.kinds import (
    BATCHES,
    CHANGES,
    CLAIMABLE,
    EVERY_KIND,
    JUMPS,
    NAMES,
    RESULTS,
    ROOMS,
    SAME,
    USUAL,
    WISHES,
    WORKERS,
    RenderRequest,
    source_of,
    without,
)
from tests.machine.model import Job
from tests.machine.on_sqlite import OnSqlite
from tests.machine.stages import Stage
from tests.machine.world import ITEMS, World

type Result = EncodedResult | BaseException

# A draw costs Hypothesis about as much as two statements cost SQLite. So each rule draws once, from all it could be told.
PICKS = range(5)  # which of several: counted round
TOLD = ("items", "completed", "failed", "items", "completed", "renew", "renew", "phase", "show")
STRANGERS = ((), (), ("wiki", "index"), EVERY_KIND)  # the kinds that the process at work does not know
HOOKLESS = (*STRANGERS, None)  # it knows all, but their hooks fail and are left out
DEAD = ((), *((worker,) for worker in WORKERS))
EVERYTHING = "everything"
NOBODY = "nobody"

TENDED: list[tuple[str, Any]] = [
    *[("prune", None)] * 6,
    *(("survey", kinds) for kinds in CLAIMABLE[:3]),
    *(("pause", kind) for kind in (*EVERY_KIND, "pack")),
    *(("give_back", worker) for worker in WORKERS),
    *(("end_deferred_cancels", unknown) for unknown in HOOKLESS),
    ("end_deferred_late", None),
    *(("fire", hours_ago) for hours_ago in (0, 0, 1)),
]


def one_of(*parts: Iterable[object]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(product(*parts)))


def deed(**drawn: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A rule, carried out in every world of the story."""

    def decorate(do: Callable[..., None]) -> Callable[..., None]:
        @wraps(do)
        def everywhere(machine: "QueueMachine", **told: Any) -> None:
            for world in machine.worlds:
                machine.world = world
                do(machine, **told)
            machine.compare()

        return rule(**drawn)(everywhere)

    return decorate


class QueueMachine(RuleBasedStateMachine):
    """One story. Each rule does something to the world, which checks every promise before it returns."""

    stages: ClassVar[Sequence[Callable[[], Stage]]] = (OnSqlite,)

    def __init__(self) -> None:
        super().__init__()
        self.worlds = [World(stage(), wakes=len(self.stages) > 1) for stage in self.stages]
        self.world = self.worlds[0]

    def compare(self) -> None:
        """One world alone has nothing to be compared with; see twins.py."""

    @deed(asked=st.sampled_from(WISHES))
    def submit(self, asked: RenderRequest) -> None:
        self.world.submit(asked)

    @deed(how=one_of((False, True, True), PICKS, CHANGES))
    def submit_again(self, how: tuple[bool, int, tuple[int, tuple[str | None, int], int]]) -> None:
        """For a thing that has a job, perhaps a running one: the same or another text, perhaps more urgent."""
        running, pick, (delay, (source, cache_for), tier) = how
        job = self.world.model.jobs[self._held(pick).id] if running else self._job(pick)
        if source is SAME:
            source = source_of(job.payload.digest, job.kind, job.org)
        self.world.submit(RenderRequest(job.kind, job.key, tier, delay, source, cache_for, job.org))

    @deed(how=one_of((None, *PICKS), BATCHES))
    def submit_many(self, how: tuple[int | None, Sequence[RenderRequest]]) -> None:
        parent, batch = how
        self.world.submit_many(batch, None if parent is None else self._job(parent))

    @deed(how=one_of(WORKERS, ROOMS, CLAIMABLE))
    def claim(self, how: tuple[str, FreeSlots, Sequence[str]]) -> None:
        worker, room, kinds = how
        self.world.claim(worker, kinds, room)

    @deed(how=one_of(WORKERS, NAMES, CLAIMABLE, (None, None, *RESULTS[::2]), (None, None, None, 1)))
    def claim_named(
        self, how: tuple[str, tuple[bool, tuple[int | None, ...]], Sequence[str], Result | None, int | None]
    ) -> None:
        """A delivery offers jobs by name to a worker, which may have one to settle; their kind may just have been limited."""
        worker, offered, kinds, result, limit = how
        uids = self._names(*offered)
        if limit is not None and uids[0] != NOBODY:
            self.world.scale(self.world.model.by_uid[uids[0]].kind, limit)
        held = [] if result is None else [(claim, result) for claim in self.world.held[worker][:1]]
        self.world.turn(worker, held, kinds, FreeSlots(1, 1), named=uids)

    @deed(how=one_of(WORKERS, (None, None, *NAMES), ROOMS[1:4], (True, True, False)))
    def lose_the_answer(self, how: tuple[str, tuple[bool, tuple[int | None, ...]] | None, FreeSlots, bool]) -> None:
        """A claim is committed, and its worker never hears of it. It may find out."""
        worker, offered, room, finds_out = how
        self.world.turn(worker, (), EVERY_KIND, room, named=() if offered is None else self._names(*offered), heard_of=False)
        if finds_out:
            self.world.give_back(worker)

    @deed(how=one_of((False, False, False, True), PICKS, RESULTS))
    def settle(self, how: tuple[bool, int, Result]) -> None:
        hookless, pick, result = how
        self.world.settle(self._held(pick), result, hookless=hookless)

    @deed(pick=st.sampled_from(PICKS))
    def complete(self, pick: int) -> None:
        self.world.settle(self._held(pick), RESULTS[0])

    @deed(how=one_of(CLAIMABLE[:3], ROOMS, (False, True), PICKS, RESULTS, RESULTS[::3]))
    def settle_and_claim(self, how: tuple[Sequence[str], FreeSlots, bool, int, Result, Result]) -> None:
        """A worker's whole turn. Now and then it reports again what it reported or lost long ago."""
        kinds, room, late, pick, *results = how
        held = self._held(pick)
        worker = next(worker for worker, claims in self.world.held.items() if held in claims)
        ghosts = list(self.world.ghosts)[-1:] if late else []
        claims = dict.fromkeys((*ghosts, *self.world.held[worker]))
        self.world.turn(worker, list(zip(claims, results, strict=False)), kinds, room)

    @deed(how=one_of(PICKS, TOLD))
    def tell(self, how: tuple[int, str]) -> None:
        pick, what = how
        self._tell(self._held(pick), pick, what)

    @deed(how=one_of(range(10), (*TOLD, *RESULTS[::2])))
    def come_back_late(self, how: tuple[int, str | Result]) -> None:
        """A worker tells or settles what it lost, or has settled already."""
        pick, what = how
        if isinstance(what, str):
            self._tell(self._ghost(pick), pick, what)
        else:
            self.world.settle(self._ghost(pick), what)

    @deed(how=one_of((*WORKERS * 4, EVERYTHING), range(25)))
    def crash(self, how: tuple[str, int]) -> None:
        """A worker is gone, and may come back; or the whole program is, after so many statements, and starts again."""
        who, statements = how
        if who is not EVERYTHING:
            self.world.crash(who)
        elif not self.world.kills:  # once in a story: it costs as much as ten other steps
            self.world.kill(statements)

    @deed(how=one_of(STRANGERS, (True, True, False), PICKS))
    def cancel(self, how: tuple[tuple[str, ...], bool, int]) -> None:
        unknown, open, pick = how
        self.world.cancel(self._job(pick, open=open), without(self.world.kinds, unknown))

    @deed(how=one_of((0.0, 4.0), HOOKLESS, DEAD))
    def rescue(self, how: tuple[float, tuple[str, ...] | None, tuple[str, ...]]) -> None:
        """The chore, in a process that may not know all kinds: look, and give back what silent or dead workers hold."""
        wait, unknown, dead = how
        for lost in self.world.spot_lost(dead):
            self.world.rescue(lost, without(self.world.kinds, unknown), wait)

    @deed(how=one_of((0.0, 4.0), HOOKLESS, DEAD, (False, True), PICKS))
    def rescue_late(self, how: tuple[float, tuple[str, ...] | None, tuple[str, ...], bool, int]) -> None:
        """Act on an old look, as a slow process would; the silent may speak up just before. If there is none, look."""
        wait, unknown, dead, alive, pick = how
        spotted = self.world.spotted
        if spotted:
            if alive:
                self.world.renew([claim for claims in self.world.held.values() for claim in claims])
            self.world.rescue(spotted[-1 - pick % len(spotted)], without(self.world.kinds, unknown), wait)
        if not spotted or pick == 0:
            self.world.jump(16.0)
            self.world.spot_lost(dead)

    @deed(how=one_of(JUMPS, (False, True)))
    def jump(self, how: tuple[float, bool]) -> None:
        """The clock is set, and perhaps a chore notices."""
        seconds, noticed = how
        self.world.jump(seconds)
        if noticed:
            self.world.clamp_leases()

    @deed(how=one_of(EVERY_KIND, ("pause", "pause", "pause", 1, 1, 2, None)))
    def operate(self, how: tuple[str, str | int | None]) -> None:
        """A kind is paused or goes on; so many of it may run at once, or as many as there are slots.

        To pause is also among what `tend` does: Hypothesis leaves some rules out of each story.
        """
        kind, what = how
        if isinstance(what, str):
            self.world.pause(kind, kind not in self.world.model.paused)
        else:
            self.world.scale(kind, what)

    @deed(how=st.sampled_from(TENDED))
    def tend(self, how: tuple[str, Any]) -> None:
        """What chores and operators do, and workers now and then."""
        world = self.world
        match how:
            case "prune", _:
                world.prune()
            case "survey", kinds:
                world.survey(kinds)
            case "pause", kind:
                world.pause(kind, kind not in world.model.paused)
            case "give_back", worker:
                world.give_back(worker)
            case "end_deferred_cancels", unknown:
                world.end_deferred_cancels(without(world.kinds, unknown))
            case "end_deferred_late", _:
                world.end_deferred_late(world.kinds)
            case "fire", hours_ago:
                world.fire(hours_ago)

    @deed(pick=st.sampled_from(range(10)))
    def retry(self, pick: int) -> None:
        self.world.retry(self._job(pick))

    def teardown(self) -> None:
        try:
            if all(world.sound for world in self.worlds):
                for world in self.worlds:
                    world.end()
                self.compare()
        finally:
            for world in self.worlds:
                world.close()

    def _tell(self, claim: Claim, pick: int, what: str) -> None:
        match what:
            case "renew":
                mine = next((claims for claims in self.world.held.values() if claim in claims), [claim])
                self.world.renew(mine)
            case "phase":
                self.world.begin_phase(claim)
            case "show":
                self.world.show_progress(claim, pick % 4)
            case "items":
                self.world.begin_items(claim)
            case state:
                if not self.world.has_items(claim) and self.world.model.holds(claim):
                    self.world.begin_items(claim)
                self.world.move_item(claim, ITEMS[pick % 2], state)

    # A step that has nothing to work on is wasted. So what a rule needs and does not find is made first.

    def _job(self, pick: int, *, open: bool = False) -> Job:
        jobs = self.world.model.open if open else self.world.model.jobs
        for asked in (USUAL[pick % len(USUAL)], RenderRequest("pack")):  # the first may be answered from the cache
            if not jobs:
                self.world.submit(asked)
        return list(jobs.values())[pick % len(jobs)]

    def _names(self, open: bool, picks: Sequence[int | None]) -> list[str]:
        return [NOBODY if pick is None else self._job(pick, open=open).uid for pick in picks]

    def _held(self, pick: int) -> Claim:
        """One of the claims that living workers hold: or one that is ready, or was a dead worker's, or is new."""
        world = self.world
        if not any(world.held.values()) and not (world.has_work() and self._claim()):
            for lost in world.spot_lost(WORKERS):
                world.rescue(lost, world.kinds, 0.0)
            for kind in sorted(world.model.paused):
                world.pause(kind, False)
            for kind in sorted(world.model.limits):
                world.scale(kind, None)
            world.submit(USUAL[pick % len(USUAL)])
            if not self._claim():
                world.submit(RenderRequest("pack", tier=0))
                self._claim()
        claims = [claim for claims in world.held.values() for claim in claims]
        return claims[pick % len(claims)]

    def _claim(self) -> list[Claim]:
        return self.world.claim(WORKERS[0], EVERY_KIND, FreeSlots(2, 2))

    def _ghost(self, pick: int) -> Claim:
        """A claim that is over, or whose worker is; every other time one that was lost to a worker that holds the job now."""
        world = self.world
        robbed = [ghost for ghost in world.ghosts if world.is_held_by_another(ghost)]
        if not robbed and (pick % 2 or not world.ghosts):
            robbed = [self._held(pick)]
            world.settle(robbed[0], WorkerStopping())
            self._claim()
        ghosts = robbed if pick % 2 or not world.ghosts else list(world.ghosts)
        return ghosts[pick % len(ghosts)]

"""Whatever puts and collectors do, in whatever order, every artifact has its bytes; and a store that loses some is caught."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import apsw
import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from pressroom.store.engine.statements import load
from tests.depth import by_depth
from tests.journeys import test_artifact_collecting as stories
from tests.journeys.artifact_machine import BytesLost, CollectingMachine


@dataclass(frozen=True)
class Mistake:
    """One that somebody could make. Where the database would refuse it, that guard is taken away too."""

    name: str
    statement: str
    says: str  # what is taken out of the statement, which must be in it; nothing: all of it
    instead: str = ""
    guards: tuple[str, ...] = ()

    @contextmanager
    def made(self) -> Iterator[None]:
        texts = load("sqlite")
        text = texts[self.statement]
        assert self.says in text, f"{self.statement}.sql no longer says {self.says!r}; break it in another way"
        texts[self.statement] = text.replace(self.says or text, self.instead)
        try:
            yield
        finally:
            texts[self.statement] = text


NO_MOVES = ("DROP TRIGGER blob_moves", "DROP TRIGGER blob_in_use")

MISTAKES = [
    Mistake("record relies on condemned bytes", "require_live_blob", "AND state IN ('live', 'marked')", guards=NO_MOVES),
    Mistake("record takes any generation", "require_live_blob", "AND generation = :generation", "AND :generation >= 0"),
    Mistake(
        "bytes come back under the old name",
        "reserve_blob",
        "WHEN blob.generation >= excluded.generation THEN blob.generation + 1",
        "WHEN true THEN blob.generation",
        guards=NO_MOVES,
    ),
    Mistake(
        "bytes that others share are marked",
        "mark_blobs",
        "AND NOT EXISTS (SELECT 1 FROM artifact WHERE artifact.sha256 = blob.sha256)",
        guards=NO_MOVES,
    ),
    Mistake(
        "what is held is dropped",
        "list_dead_artifacts",
        "AND NOT EXISTS (SELECT 1 FROM artifact_hold WHERE artifact_hold.artifact = artifact.uid)",
    ),
]

# These take more steps than chance puts together in a minute; each has a story of its own.
TOLD = [
    (
        Mistake("a forgotten generation is given again", "raise_epoch", "value < :value", "value < :value AND 1 = 0"),
        stories.test_even_when_its_row_was_forgotten_long_ago,
    ),
    (
        Mistake(
            "a live blob is condemned as an orphan",
            "condemn_orphan",
            "blob.state IN ('deleting', 'deleted') AND",
            guards=NO_MOVES,
        ),
        stories.test_an_orphan_that_is_recorded_before_it_is_condemned,
    ),
    (
        Mistake("an orphan is deleted without being condemned", "condemn_orphan", "", "SELECT :sha256"),
        stories.test_an_orphan_that_is_found_by_a_put_while_it_is_swept,
    ),
]


CAUGHT_LATE = {"record takes any generation"}  # takes more than ten seconds of processor time until it is caught


def play(machine: type[CollectingMachine], examples: int) -> None:
    run_state_machine_as_test(
        hypothesis.seed(0)(type(machine.__name__, (machine,), {})),
        settings=settings(
            max_examples=examples,
            stateful_step_count=60,
            phases=[Phase.generate],
            derandomize=True,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_order_of_events_loses_bytes() -> None:
    play(CollectingMachine, examples=by_depth(30, 300))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "mistake",
    [pytest.param(mistake, marks=pytest.mark.deep if mistake.name in CAUGHT_LATE else ()) for mistake in MISTAKES],
    ids=lambda mistake: mistake.name,
)
def test_the_machine_notices(mistake: Mistake) -> None:
    machine = type(CollectingMachine.__name__, (CollectingMachine,), {"guards": mistake.guards})

    with mistake.made(), pytest.raises((BytesLost, apsw.ConstraintError)):
        play(machine, examples=1_000)


@pytest.mark.parametrize(("mistake", "story"), TOLD, ids=lambda one: getattr(one, "name", ""))
def test_a_story_notices(mistake: Mistake, story: Callable[[stories.Stage], None]) -> None:
    with closing(stories.Stage()) as stage:
        for guard in mistake.guards:
            stage.store.raw.execute(guard)
        with mistake.made(), pytest.raises((AssertionError, apsw.ConstraintError)):
            story(stage)

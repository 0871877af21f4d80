"""Whatever happens to a queue, and in whatever order, its promises hold; and a store that breaks one is caught."""

import apsw
import pytest

from tests.depth import by_depth
from tests.machine.broken import Mistake, mistakes_on, played_on
from tests.machine.law import Violation, law_of
from tests.machine.on_postgres import stories_on
from tests.machine.run import run

# Each takes more than five seconds of processor time until it is caught.
CAUGHT_LATE = {"rescue_the_living", "show_without_a_claim", "move_items_without_a_claim", "renew_without_a_claim"}


def test_no_order_of_events_breaks_a_promise() -> None:
    run(examples=by_depth(30, 2_000), steps=50)


def test_no_order_of_events_breaks_a_promise_on_a_server(on_server: str) -> None:
    """I1 to I23. Claims and plain settles go beside others every other time; alone they must come to the same."""
    with stories_on(on_server) as server:
        run(played_on(server), examples=by_depth(6, 200), steps=50)


@pytest.mark.sampled(18)
@pytest.mark.parametrize(
    "mistake",
    [pytest.param(mistake, marks=pytest.mark.deep if mistake.name in CAUGHT_LATE else ()) for mistake in mistakes_on("sqlite")],
    ids=lambda mistake: mistake.name,
)
def test_the_machine_notices(mistake: Mistake) -> None:
    with mistake.on_sqlite() as machine, pytest.raises((Violation, apsw.ConstraintError)) as caught:
        run(machine, examples=1_000, steps=50, shrink=False)

    assert law_of(caught.value) in mistake.breaks.split(), caught.value

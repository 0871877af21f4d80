"""Whatever happens to a queue, and in whatever order, its promises hold; and a store that breaks one is caught."""

import apsw
import pytest

from tests.machine.broken import MISTAKES, Mistake
from tests.machine.law import Violation
from tests.machine.machine import QueueMachine
from tests.machine.run import run


@pytest.mark.timeout(900)  # a minute's work; it may have to share the core
def test_no_order_of_events_breaks_a_promise() -> None:
    run(examples=2_000, steps=50)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_the_machine_notices(mistake: Mistake) -> None:
    with mistake.made(), pytest.raises((Violation, apsw.ConstraintError)) as caught:
        run(mistake.machine(QueueMachine), examples=1_000, steps=50, shrink=False)

    law = caught.value.law if isinstance(caught.value, Violation) else "guard"
    assert law in mistake.breaks.split(), caught.value

"""A store on PostgreSQL that breaks a promise is caught. Apart from test_machine.py, so that another process may run it."""

import psycopg
import pytest

from tests.machine.broken import Mistake, mistakes_on
from tests.machine.law import Violation, law_of
from tests.machine.run import run

# Caught within seconds; the deep suite tries all of them, in several processes (tools/suite, SPLIT).
CAUGHT_SOON = {"claim_named_out_of_line"}


@pytest.mark.parametrize(
    "mistake",
    [
        pytest.param(mistake, marks=[] if mistake.name in CAUGHT_SOON else pytest.mark.deep)
        for mistake in mistakes_on("postgres")
    ],
    ids=lambda mistake: mistake.name,
)
def test_the_machine_notices_on_a_server(mistake: Mistake, on_server: str) -> None:
    with mistake.on_server(on_server) as machine, pytest.raises((Violation, psycopg.IntegrityError)) as caught:
        run(machine, examples=1_000, steps=50, shrink=False)

    assert law_of(caught.value) in mistake.breaks.split(), caught.value

"""A store on PostgreSQL that breaks a promise is caught. Apart from test_machine.py, so that another process may run it."""

import sys
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.machine.broken import Mistake, mistakes_on
from tests.machine.law import Violation, law_of
from tests.machine.run import run

# Caught within seconds. Of the others the deep suite tries one in five, which takes minutes: other ones each day, so that five
# days try them all. Whoever names the test tries every one.
CAUGHT_SOON = {"claim_named_out_of_line"}
ONE_IN = 5


def todays(place: int) -> bool:
    return place % ONE_IN == int(time.time()) // 86_400 % ONE_IN


def mistakes() -> Iterator[Any]:
    named = any("test_the_machine_notices_on_a_server" in argument for argument in sys.argv)
    for place, mistake in enumerate(mistakes_on("postgres")):
        if mistake.name in CAUGHT_SOON:
            yield pytest.param(mistake)
        elif named or todays(place):
            yield pytest.param(mistake, marks=pytest.mark.deep)


@pytest.mark.parametrize("mistake", list(mistakes()), ids=lambda mistake: mistake.name)
def test_the_machine_notices_on_a_server(mistake: Mistake, on_server: str) -> None:
    with mistake.on_server(on_server) as machine, pytest.raises((Violation, psycopg.IntegrityError)) as caught:
        run(machine, examples=1_000, steps=50, shrink=False)

    assert law_of(caught.value) in mistake.breaks.split(), caught.value

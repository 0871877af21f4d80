"""The same story on SQLite and on PostgreSQL: whoever looks at both sees no difference; and a planted one is found."""

import pytest

from tests.depth import by_depth
from tests.machine.broken import Mistake, played_on
from tests.machine.law import Violation
from tests.machine.on_postgres import stories_on
from tests.machine.on_sqlite import OnSqlite
from tests.machine.planted import PLANTED
from tests.machine.run import run
from tests.machine.twins import TwinMachine


def test_what_happens_on_one_database_happens_on_the_other(on_server: str) -> None:
    """Section 6.6 of reliability.md: answers, rows, histories, figures, the order of the line, the cache, ticks."""
    with stories_on(on_server) as server:
        run(played_on(OnSqlite, server, machine=TwinMachine), examples=by_depth(3, 100), steps=50)


@pytest.mark.deep
@pytest.mark.parametrize(
    "planted",
    PLANTED,
    ids=lambda planted: planted.name,
)
def test_a_difference_is_noticed(planted: Mistake, on_server: str) -> None:
    with planted.made("postgres"), stories_on(on_server) as server, pytest.raises(Violation) as caught:
        run(played_on(OnSqlite, server, machine=TwinMachine), examples=100, steps=50, shrink=False)

    assert caught.value.law == "twins", caught.value


@pytest.mark.deep
def test_of_a_difference_the_shortest_story_is_told(on_server: str) -> None:
    """One job that fails once is enough to show that its message is lost."""
    with PLANTED[0].made("postgres"), stories_on(on_server) as server, pytest.raises(Violation) as caught:
        run(played_on(OnSqlite, server, machine=TwinMachine), examples=20, steps=6)

    story = [line for line in "\n".join(caught.value.__notes__).splitlines() if line.startswith("state.")]
    assert len(story) == 2, story  # the deed, and the end
    assert "last_error" in str(caught.value)

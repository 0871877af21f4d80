"""Every place that can be made to fail is passed by some run, or arming it would test nothing."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pressroom import Pressroom, Tier, failpoints
from pressroom.failpoints import JOB_POINTS
from pressroom.store.jobs import claiming
from pressroom.store.jobs.claiming import FreeSlots
from tests import looking, postgres
from tests.reliability import founder
from tests.reliability.client import Client
from tests.reliability.journal import Journal
from tests.reliability.stage import drained, until
from tests.reliability.workload import LEASE, SCHEDULES, Handlers, place_at


@pytest.fixture(scope="module", params=["file", "on_server"])
def passed(
    request: pytest.FixtureRequest, _postgres: postgres.Standing, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[set[str]]:
    """The points that one short life of a queue passes, with all of them armed to do nothing."""
    folder = tmp_path_factory.mktemp("failpoints")
    with ExitStack() as opened:
        url = f"sqlite:///{folder / 'press.db'}"
        if request.param == "on_server":
            url = opened.enter_context(postgres.database_on(_postgres.address()))
            looking.empty(url)
        failpoints._registry.seen.clear()
        failpoints.arm(";".join(f"{point}=sleep:0" for point in JOB_POINTS))
        asyncio.run(_live(url, folder))
        yield set(failpoints._registry.seen)


async def _live(url: str, folder: Path) -> None:
    journal = Journal(folder / "journal.jsonl")
    await founder.run(place_at(url), journal)
    kinds = Handlers(journal).kinds()
    async with Pressroom(url, kinds=kinds, workers=None) as press:
        await Client(press, journal).submit("note")
        room = FreeSlots(1, 1)
        await press._database.run(lambda: claiming.claim("a dead worker", ["note"], room, 1), name="turn")
    async with Pressroom(url, kinds=kinds, schedules=SCHEDULES, workers=2, lease=LEASE, cleanup_interval=0.05) as press:
        client = Client(press, journal)
        await client.submit("note", letter=True)
        await client.submit("book", seconds=0.5, tier=Tier.INTERACTIVE)
        unwanted = await client.submit("note", delay=60)
        assert unwanted is not None
        await client.cancel(unwanted.uid)
        await until(lambda: drained(press))


@pytest.mark.parametrize("point", sorted(JOB_POINTS))
def test_every_failpoint_is_passed(point: str, passed: set[str]) -> None:
    assert point in passed


def test_a_failpoint_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"there is no failpoint 'settle\.sometime'"):
        failpoints.arm("settle.sometime=kill")


@pytest.mark.parametrize("spec", ["turn.before_commit=explode", "turn.before_commit=kill@soon"])
def test_an_action_or_trigger_that_means_nothing_is_refused(spec: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        failpoints.arm(spec)


def test_the_environment_arms_them(tmp_path: Path) -> None:
    code = f"import asyncio; from pressroom import Pressroom; asyncio.run(Pressroom('sqlite:///{tmp_path}/press.db').start())"

    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PRESSROOM_FAILPOINTS": "migrate.before_commit=kill"})

    assert done.returncode == -signal.SIGKILL

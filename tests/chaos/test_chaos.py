"""Each fault for a moment: nothing is lost or done twice, everything ends, and callers are answered as they were promised.

I1-I4, I6, I7, I21, I26. How soon the rate is back is measured by `./dev chaos`, and not here.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec
import pytest

from tests.chaos.clients import MISTAKES
from tests.chaos.house import House
from tests.chaos.run import Times, endure
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.reliability.http_exchange import exchange
from tests.reliability.stage import until

BRIEFLY = Times(before=1.0, during=1.5, after=0.5)
RATE = 20.0

# Every fault upon one delivery, and those that a delivery could mind upon the others. The rest is for ./dev chaos.
CASES = [("redis", name) for name in SCENARIOS if name not in ("s3-stalls", "clock-back")]
CASES += [("oban", name) for name in ("worker-killed", "backends-terminated", "commit-lost")]
CASES += [("embedded", name) for name in ("postgres-crashed", "clock-back")]


class Street:
    """One house at a time, which stands until another is asked for."""

    def __init__(self) -> None:
        self._standing = ExitStack()
        self._delivery = ""

    def house(self, delivery: str) -> House:
        if delivery != self._delivery:
            self.close()
            folder = Path(tempfile.mkdtemp(prefix="pressroom-chaos-"))
            self._standing.callback(shutil.rmtree, folder, ignore_errors=True)
            self._house = self._standing.enter_context(House(folder, delivery, s3=delivery == "redis"))
            self._delivery = delivery
        return self._house

    def close(self) -> None:
        self._delivery = ""
        self._standing.close()


@pytest.fixture(scope="module")
def street() -> Iterator[Street]:
    with closing(Street()) as street:
        yield street


@pytest.fixture
def house(request: pytest.FixtureRequest, street: Street) -> House:
    return street.house(request.param)


@pytest.mark.deep
@pytest.mark.parametrize("house", ["redis"], indirect=True)
async def test_bytes_that_cannot_be_had_for_now_are_refused_for_now(house: House) -> None:
    """I7: while S3 is away; and they are there again when it is."""
    port, other = house.ports.values()  # whoever has shown them a moment ago still knows them
    payload = {"language": "markdown", "output": "html", "source": "# Now and then"}
    asked = msgspec.json.encode({"kind": "render", "payload": payload})
    job = (await exchange(port, "POST", "/jobs", asked, {"Content-Type": "application/json"})).json()["id"]
    ended = (await exchange(port, "GET", f"/jobs/{job}?wait=60")).json()
    place = f"/artifacts/{ended['result']['artifact']}"
    before = await exchange(port, "GET", place)

    house.bucket.refuse()
    meanwhile = await exchange(other, "GET", place)
    house.bucket.mend()
    after = await exchange(other, "GET", place)

    assert (before.status, meanwhile.status, after.status) == (200, 503, 200)
    assert "retry-after" in meanwhile.headers
    assert before.body == after.body


@pytest.mark.deep
@pytest.mark.parametrize(
    ("house", "name"),
    CASES,
    indirect=["house"],
)
async def test_a_fault_loses_nothing_and_callers_are_told(house: House, name: str) -> None:
    scenario = SCENARIOS[name]

    outcome = await endure(house, scenario, BRIEFLY, rate=RATE)

    verdict = outcome.verdict
    assert verdict.clean, {offence: those[:3] for offence, those in verdict.offences.items() if those}
    assert verdict.acked > 0
    assert verdict.mistakes >= len(house.ports) * len(MISTAKES)
    assert verdict.refused > 0 or not scenario.refuses


async def lose_answers(house: House, seconds: float) -> None:
    """Six commits of the services are done, and the answers are lost. Some may be heartbeats, most are submits."""
    proxy = house.database_of_services
    lost = proxy.cuts + 6
    proxy.cut(6)
    await until(lambda: proxy.cuts == lost)


@pytest.mark.deep
@pytest.mark.parametrize(("house", "keyed"), [("embedded", True), ("embedded", False)], indirect=["house"])
async def test_a_client_that_asks_again_without_a_key_is_served_twice(house: House, keyed: bool) -> None:
    """I2: and the judge sees it; with the key it is one job, whatever was heard of it."""
    unheard = Scenario("answers-lost", "503 and Retry-After", lose_answers)

    outcome = await endure(house, unheard, BRIEFLY, rate=RATE, keyed=keyed)

    assert outcome.verdict.refused >= 3
    assert bool(outcome.verdict.duplicated) != keyed
    assert not outcome.verdict.lost
    assert not outcome.verdict.stuck

"""`./dev attack` finds what it looks for, and the service passes it."""

import pytest

from tests.attack.__main__ import main, run_attacks
from tests.attack.attacks import ATTACKS
from tests.attack.measure import Attack, Attacker

CHEAP = ("foreign-host", "cookie-of-quotes", "internal-kinds")


async def stall_the_loop(attacker: Attacker) -> None:
    answer = attacker.expect(await attacker.http.submit(attacker.token("submitter"), {"kind": "stall"}), 202)
    await attacker.http.request("GET", f"/jobs/{answer.json()['id']}?wait=60", token=attacker.token("viewer"))


async def expect_the_wrong_status(attacker: Attacker) -> None:
    attacker.expect(await attacker.http.request("GET", "/livez"), 418)


@pytest.mark.deep  # it starts a service, and renders to warm it up
async def test_a_stall_and_a_wrong_status_are_found_and_cheap_attacks_pass() -> None:
    planted = [Attack("stall", "submitter", stall_the_loop), Attack("status", "anonymous", expect_the_wrong_status)]
    attacks = [*planted, *(ATTACKS[name] for name in CHEAP)]

    stalled, wrong, *others = await run_attacks(attacks, imports=["tests.attack.planted_stall"])

    assert stalled.stall_ms > 250
    assert "the event loop was held" in stalled.objections[0]
    assert [objection.startswith("200 instead of 418") for objection in wrong.objections] == [True]
    assert {result.name: result.objections for result in others} == {name: [] for name in CHEAP}
    assert all(result.livez_ms > 0 for result in others)


@pytest.mark.deep
async def test_every_attack_passes() -> None:
    results = await run_attacks(list(ATTACKS.values()))

    assert {result.name: result.objections for result in results if not result.passed} == {}
    assert len(results) == len(ATTACKS)


def test_the_attacks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(ATTACKS)
    assert all(attack.description for attack in ATTACKS.values()), "every attack says what it does"

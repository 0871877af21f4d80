"""Wrong tokens and passwords: after a few the address is refused before anything is hashed, and nobody else is."""

from typing import Any

import pytest

from pressroom.api import basic, tokens
from pressroom.api.limits import Quotas
from tests.service.access_stage import STRANGER, Stage, on_stage


class Watch:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def guess(stage: Stage, address: tuple[str, int] = STRANGER, **how: Any) -> Any:
    async with stage.client(tokens.new_secret(), address=address) as client:
        return await client.get("/jobs", **how)


async def test_whoever_guesses_too_often_is_refused_with_the_right_token_too(database: str) -> None:  # A6
    async with on_stage(database, works=False, login_limit=3) as stage:
        right = await stage.token()
        guesses = [await guess(stage) for _ in range(5)]
        async with stage.client(right) as client:
            refused = await client.get("/jobs")
        async with stage.client(right, address=("203.0.113.10", 1)) as neighbour:
            let_in = await neighbour.get("/jobs")

    assert [answer.status_code for answer in guesses] == [401, 401, 401, 429, 429]
    assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert let_in.status_code == 200


async def test_passwords_are_counted_as_tokens_are(file: str) -> None:
    options = {"auth_enabled": True, "auth_user": "anna", "auth_pass": "right", "login_limit": 2}
    async with on_stage(file, works=False, **options) as stage, stage.client() as client:
        tried = [await client.get("/jobs", auth=("anna", password)) for password in ("a", "b", "right")]

    assert [answer.status_code for answer in tried] == [401, 401, 429]


async def test_nothing_is_hashed_for_a_guesser(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"auth_enabled": True, "auth_user": "anna", "auth_pass": "right", "login_limit": 1}
    async with on_stage(file, works=False, **options) as stage, stage.client() as client:
        await guess(stage)
        hashed: list[Any] = []
        monkeypatch.setattr(tokens, "digest_of", hashed.append)
        monkeypatch.setattr(basic, "_digest", hashed.append)

        answers = [await guess(stage), await client.get("/jobs", auth=("anna", "right"))]

    assert [answer.status_code for answer in answers] == [429, 429]
    assert hashed == []


async def test_the_loopback_is_counted_as_well_and_needs_no_token_still(file: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000", login_limit=1) as stage:
        guesses = [await guess(stage, ("127.0.0.1", 1)) for _ in range(2)]
        async with stage.client(address=("127.0.0.1", 1)) as client:
            anonymous = await client.get("/jobs")

    assert [answer.status_code for answer in guesses] == [401, 429]
    assert anonymous.status_code == 200


async def test_whoever_sends_no_credentials_guesses_nothing(file: str) -> None:
    async with on_stage(file, works=False, login_limit=1) as stage:
        async with stage.client() as client:
            assert [(await client.get("/jobs")).status_code for _ in range(3)] == [401, 401, 401]
        async with stage.client(await stage.token()) as client:
            assert (await client.get("/jobs")).status_code == 200


async def test_a_guesser_is_let_in_again_after_the_time_that_was_told(file: str) -> None:
    watch = Watch()
    async with on_stage(file, works=False) as stage:
        stage.service.gate._quota = Quotas(None, None, watch, logins=2)
        right = await stage.token()
        for _ in range(2):
            await guess(stage)
        async with stage.client(right) as client:
            refused = await client.get("/jobs")
            watch.now += int(refused.headers["retry-after"])
            let_in = await client.get("/jobs")

    assert (refused.status_code, let_in.status_code) == (429, 200)


async def test_the_networks_of_ipv6_are_one_guesser_each(file: str) -> None:
    async with on_stage(file, works=False, login_limit=1) as stage:
        addresses = ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")
        statuses = [(await guess(stage, (address, 1))).status_code for address in addresses]

    assert statuses == [401, 429, 401]


async def test_health_tells_totals_to_viewers_and_the_rest_to_everybody(database: str) -> None:
    async with on_stage(database, works=False, login_limit=1) as stage:
        await stage.press.submit("shout", "hi")
        async with stage.client() as client:
            nobody = await client.get("/health")
        async with stage.client(await stage.token()) as client:
            viewer = await client.get("/health")
        async with stage.client(tokens.new_secret()) as client:
            guessers = [await client.get("/health") for _ in range(2)]
        async with stage.client(await stage.token()) as client:
            throttled = await client.get("/health")

    assert (viewer.json()["queued"], viewer.json()["running"]) == (1, 0)
    for answer in (nobody, *guessers, throttled):
        assert answer.status_code == 200
        assert answer.json()["status"] == "pass"
        assert (answer.json()["queued"], answer.json()["running"]) == (None, None)
        assert answer.json()["engines"] == viewer.json()["engines"]

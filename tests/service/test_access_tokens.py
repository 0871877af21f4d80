"""Tokens: told once, hashed at rest, and worth nothing once they are expired or revoked."""

import re
from pathlib import Path

import httpx
import pytest

from pressroom.api import tokens
from pressroom.api.access import Scope
from pressroom.clock import ManualClock
from pressroom.errors import InvalidArgument, NotFound
from tests.service.access_stage import all_bytes, on_stage

A_DAY = 24 * 3600 * 1000


def test_a_secret_has_a_prefix_enough_chance_and_a_checksum() -> None:
    made = {tokens.new_secret() for _ in range(1000)}

    assert len(made) == 1000
    assert all(re.fullmatch(r"pr_[0-9A-Za-z]{40}", secret) for secret in made)
    assert all(map(tokens.is_well_formed, made))
    one = made.pop()
    wrong = one[:10] + ("a" if one[10] != "a" else "b") + one[11:]
    assert not tokens.is_well_formed(wrong), "a secret scanner must be able to tell"


async def test_only_the_hash_of_a_secret_is_stored(database: str, tmp_path: Path) -> None:  # A4
    async with on_stage(database) as stage:
        secret = await stage.token(name="ci")
        async with stage.client(secret) as client:
            assert (await client.get("/jobs")).status_code == 200
        listed = await stage.press.tokens.all()

    assert listed[0].prefix == secret[:9]
    stored = all_bytes(database, tmp_path)
    assert tokens.digest_of(secret).encode() in stored
    assert secret.encode() not in stored


async def test_every_token_that_opens_nothing_is_refused_in_the_same_words(database: str) -> None:  # A1
    clock = ManualClock()
    async with on_stage(database, clock=clock, works=False) as stage:
        expired = await stage.token(ttl_ms=A_DAY)
        revoked = await stage.token()
        await stage.press.tokens.revoke(revoked[:9])
        clock.advance(days=2)
        unknown = tokens.new_secret()
        bearers = ["", unknown, expired, revoked, "pr_short", f"{unknown[:-1]}!", "\xe9", "x" * 10_000]
        wrong = ["", "Bearer", *(f"Bearer {one}" for one in bearers), "Basic dTpw", f"Digest {unknown}"]

        answers = []
        async with stage.client() as client:
            for value in wrong:
                headers = {"Authorization": value.encode("latin-1"), "X-Request-Id": "same"}
                answers.append(await client.get("/jobs", headers=headers))

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert len({tuple(answer.headers.items()) for answer in answers}) == 1
    assert answers[0].headers["www-authenticate"] == "Bearer"
    assert answers[0].json()["code"] == "unauthorized"


async def test_a_token_is_good_until_it_expires(database: str) -> None:
    clock = ManualClock()
    opened = on_stage(database, clock=clock, works=False)
    async with opened as stage, stage.client(await stage.token(ttl_ms=A_DAY)) as client:
        clock.advance(hours=23)
        assert (await client.get("/jobs")).status_code == 200

        clock.advance(hours=1)
        assert (await client.get("/jobs")).status_code == 401


async def test_a_revocation_in_this_process_works_at_once(database: str) -> None:
    async with on_stage(database, works=False) as stage:
        secret = await stage.token()
        async with stage.client(secret) as client:
            assert (await client.get("/jobs")).status_code == 200

            await stage.press.tokens.revoke(secret[:9])

            assert (await client.get("/jobs")).status_code == 401


async def test_a_revocation_elsewhere_works_within_seconds(database: str) -> None:
    clock = ManualClock()
    async with on_stage(database, clock=clock, works=False) as stage, on_stage(database, clock=clock, works=False) as other:
        secret = await stage.token()
        async with stage.client(secret) as client:
            assert (await client.get("/jobs")).status_code == 200
            await other.press.tokens.revoke(secret[:9])

            clock.advance(seconds=5)

            assert (await client.get("/jobs")).status_code == 401


async def test_a_revocation_elsewhere_works_although_the_clock_was_set_back(file: str) -> None:
    clock = ManualClock()
    async with on_stage(file, clock=clock, works=False) as stage, on_stage(file, clock=clock, works=False) as other:
        secret = await stage.token()
        async with stage.client(secret) as client:
            assert (await client.get("/jobs")).status_code == 200
            await other.press.tokens.revoke(secret[:9])

            clock.advance(hours=-1)

            assert (await client.get("/jobs")).status_code == 401


async def test_the_last_use_is_noted_once_a_minute_and_beside_the_request(database: str, eventually) -> None:  # type: ignore[no-untyped-def]
    clock = ManualClock()
    async with on_stage(database, clock=clock, works=False) as stage, stage.client(await stage.token()) as client:
        used = []
        for _ in range(4):
            await client.get("/jobs")
            await eventually(lambda: not stage.press.tokens._notes)
            used.append((await stage.press.tokens.all())[0].used_at)
            clock.advance(seconds=31)

    assert used[0] is not None
    assert used[0] == used[1] < used[2] == used[3]


async def test_what_is_remembered_of_tokens_is_bounded(file: str) -> None:
    async with on_stage(file, works=False) as stage:
        for _ in range(1_100):
            assert await stage.press.tokens.lookup(tokens.new_secret()) is None

        assert len(stage.press.tokens._cache) <= 1_000


@pytest.mark.parametrize(
    ("scope", "allowed"), [(Scope.VIEWER, False), (Scope.SUBMITTER, True), (Scope.OPERATOR, True), (Scope.ADMIN, True)]
)
async def test_a_viewer_may_look_and_a_submitter_may_also_submit(file: str, scope: Scope, allowed: bool) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(scope)) as client:
        looked = await client.get("/jobs")
        submitted = await client.post("/jobs", json={"kind": "shout", "payload": 1})

    assert looked.status_code == 200
    assert submitted.status_code == (202 if allowed else 403)
    if not allowed:
        assert "needs the scope submitter" in submitted.json()["detail"]


async def test_tokens_that_make_no_sense_are_not_made(database: str) -> None:
    async with on_stage(database, works=False) as stage:
        for how in (
            {"org": ""},
            {"org": " a"},
            {"org": "a\nb"},
            {"org": "a", "everywhere": True},
            {"ttl_ms": 0},
            {"name": "a\x1b"},
        ):
            with pytest.raises(InvalidArgument):
                await stage.press.tokens.create(Scope.VIEWER, **how)
        with pytest.raises(NotFound):
            await stage.press.tokens.revoke("pr_nobody")
        assert await stage.press.tokens.all() == []


async def test_the_loopback_is_open_and_nothing_else_is(file: str) -> None:
    async with on_stage(file, listen="127.0.0.1:8000", works=False) as stage:

        async def status(address: str, **how: object) -> int:
            async with stage.client(address=(address, 1), **how) as client:  # type: ignore[arg-type]
                return (await client.get("/jobs")).status_code

        assert await status("127.0.0.1") == 200
        assert await status("::1") == 200
        assert await status("203.0.113.9") == 401
        assert await status("not-an-address") == 401
        async with stage.client(address=("127.0.0.1", 1)) as client:
            assert (await client.get("/jobs", headers={"X-Forwarded-For": "127.0.0.1"})).status_code == 401
            assert (await client.get("/jobs", headers={"Forwarded": "for=127.0.0.1"})).status_code == 401
            assert (await client.get("/jobs", headers={"Authorization": "Bearer pr_wrong"})).status_code == 401


async def test_a_service_off_the_loopback_is_closed_even_to_this_machine(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(address=("127.0.0.1", 1)) as client:
        assert (await client.get("/jobs")).status_code == 401


async def test_a_web_page_cannot_use_the_browser_of_whoever_sits_here(file: str) -> None:
    """A page may post to 127.0.0.1, and with a name that points there it may read what it gets. Neither is let in."""
    async with on_stage(file, listen="127.0.0.1:8000", base_url="https://docs.example.org", works=False) as stage:

        async def status(host: str, method: str = "GET", **headers: str) -> int:
            async with stage.client(address=("127.0.0.1", 1), host=host) as client:
                return (await client.request(method, "/jobs", headers=headers, content=b'{"kind": "shout"}')).status_code

        assert await status("evil.example") == 421  # DNS rebinding
        assert await status("127.0.0.1.evil.example") == 421
        for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "press.localhost", "docs.example.org"):
            assert await status(host) == 200, host
        assert await status("localhost", "POST", **{"Sec-Fetch-Site": "cross-site"}) == 403
        assert await status("localhost", "POST", **{"Sec-Fetch-Site": "same-origin"}) == 202


async def test_basic_authentication_is_an_alternative_where_it_is_enabled(file: str) -> None:
    basic = {"auth_enabled": True, "auth_user": "anna", "auth_pass": "grüße:1"}
    async with on_stage(file, works=False, **basic) as stage:
        secret = await stage.token(Scope.SUBMITTER)

        async def status(auth: httpx.Auth | None, **headers: str) -> int:
            async with stage.client() as client:
                return (await client.post("/jobs", json={"kind": "shout"}, auth=auth, headers=headers)).status_code

        assert await status(httpx.BasicAuth("anna", "grüße:1")) == 202
        assert await status(None, Authorization=f"Bearer {secret}") == 202
        assert await status(httpx.BasicAuth("anna", "wrong")) == 401
        assert await status(httpx.BasicAuth("", "")) == 401
        assert await status(None, Authorization="Basic !!!") == 401
        async with stage.client() as client:
            refused = await client.get("/jobs")
            assert "Basic" in refused.headers["www-authenticate"]


async def test_basic_authentication_guards_writing_even_on_the_loopback(file: str) -> None:
    basic = {"auth_enabled": True, "auth_user": "anna", "auth_pass": "secret"}
    opened = on_stage(file, listen="127.0.0.1:8000", works=False, **basic)
    async with opened as stage, stage.client(address=("127.0.0.1", 1)) as client:
        assert (await client.get("/jobs")).status_code == 200
        assert (await client.post("/jobs", json={"kind": "shout"})).status_code == 401
        assert (await client.post("/jobs", json={"kind": "shout"}, auth=("anna", "secret"))).status_code == 202


async def test_basic_authentication_is_refused_where_it_is_not_enabled(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client() as client:
        assert (await client.get("/jobs", auth=("", ""))).status_code == 401

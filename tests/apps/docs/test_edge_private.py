"""Sites of private organisations: tokens and signed links of readers, and nothing for anyone else."""

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pressroom.api.access import Scope
from pressroom.apps.docs.edge.readers import COOKIE, LONGEST, ReaderLinks
from pressroom.clock import SystemClock
from pressroom.errors import InvalidArgument
from pressroom.sealing import Keyring
from tests.apps.docs.edge_stage import EdgeStage, an_org, edge_stage, page

KEY = "a key of tests that is long enough"
SITE = {"index.html": page("home"), "a/index.html": page("a")}
ADDRESS = "/closed/guide/"


class MovedClock(SystemClock):
    def __init__(self) -> None:
        super().__init__()
        self.moved = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.moved


@asynccontextmanager
async def with_private_site(database: str, **options: object) -> AsyncIterator[EdgeStage]:
    async with edge_stage(database, **({"secret_key": (KEY,)} | options)) as stage:  # type: ignore[arg-type]
        await stage.add_project("guide", an_org("closed", is_private=True))
        await stage.publish(SITE)
        yield stage


def sign(stage: EdgeStage, org: str = "closed", seconds: int = 3600) -> str:
    return ReaderLinks(stage.app.core.keyring, stage.app.core.clock).sign(org, seconds)


async def test_without_a_token_it_looks_as_if_it_were_not_there(file: str) -> None:
    async with with_private_site(file) as stage:
        paths = ("", "a", "v", "v/", "v/switcher.json", "_docverse.json", f"builds/{'0' * 26}/")
        private = [await stage.get(f"/closed/guide/{path}") for path in paths]
        nowhere = [await stage.get(f"/nowhere/guide/{path}") for path in paths]
        private.append(await stage.get("/", host="guide.closed.localhost"))
        nowhere.append(await stage.get("/", host="guide.nowhere.localhost"))

    for one, other in zip(private, nowhere, strict=True):
        told = [{**answer.headers, "date": ""} for answer in (one, other)]
        assert (one.status_code, one.content, told[0]) == (404, other.content, told[1])


async def test_a_token_of_the_organisation_reads(file: str) -> None:
    async with with_private_site(file) as stage:
        tokens = stage.press.tokens
        own = await tokens.create(Scope.VIEWER, org="closed")
        everywhere = await tokens.create(Scope.VIEWER, everywhere=True)
        other = await tokens.create(Scope.ADMIN, org="other")
        default = await tokens.create(Scope.ADMIN)
        found = [await stage.get(ADDRESS, authorization=f"Bearer {one.secret}") for one in (own, everywhere, other, default)]
        wrong = await stage.get(ADDRESS, authorization="Bearer nonsense")
        basic = await stage.get(ADDRESS, authorization="Basic YTpi")

    assert [one.status_code for one in (*found, wrong, basic)] == [200, 200, 404, 404, 404, 404]
    assert found[0].headers["cache-control"] == "private, max-age=60"
    assert found[0].headers["vary"] == "Accept-Encoding, Authorization, Cookie"


async def test_guesses_are_limited(file: str) -> None:
    async with with_private_site(file, login_limit=5) as stage:
        answers = [(await stage.get(ADDRESS, authorization="Bearer pr_wrong")).status_code for _ in range(8)]

    assert answers == [404] * 5 + [429] * 3


async def test_a_link_is_exchanged_for_a_cookie(file: str) -> None:
    async with with_private_site(file) as stage:
        token = sign(stage)
        entered = await stage.get(f"{ADDRESS}a/?x=1&token={token}&y=%26")
        cookie = entered.headers["set-cookie"]
        reading = {"cookie": f"other=1; {cookie.partition(';')[0]}; more=2"}
        read = await stage.get(f"{ADDRESS}a/", **reading)
        bare = await stage.get(f"/closed/guide?token={token}")
        by_host = await stage.get(f"/?token={token}", host="guide.closed.localhost")

    assert (entered.status_code, entered.headers["location"]) == (303, "./?x=1&y=%26")
    assert re.fullmatch(rf"{COOKIE}=[\w-]+; Max-Age=3\d{{3}}; Path=/closed/; HttpOnly; SameSite=Lax", cookie)
    assert (entered.headers["cache-control"], entered.headers["referrer-policy"]) == ("no-store", "no-referrer")
    assert read.content == page("a")
    assert bare.headers["location"] == "./guide/"
    assert "Path=/;" in by_host.headers["set-cookie"]
    assert by_host.headers["location"] == "./"


async def test_the_log_names_no_token_and_has_one_line_for_a_request(file: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pressroom.access")
    async with with_private_site(file) as stage:
        token = sign(stage)
        await stage.get(f"{ADDRESS}?token={token}")
        await stage.get_raw(f"{ADDRESS}%0a%1b[0m")

    lines = [record.getMessage() for record in caplog.records if record.name == "pressroom.access"]
    assert lines == [f"GET {ADDRESS} 303", f"GET {ADDRESS}%0a%1b[0m 404"]


async def test_links_that_do_not_open_it(file: str) -> None:
    clock = MovedClock()
    async with with_private_site(file, clock=clock) as stage:
        token, other = sign(stage), sign(stage, "other")
        letter = "A" if token[-6] != "A" else "B"
        given = [other, f"{token[:-6]}{letter}{token[-5:]}", "", "x" * 5000, "%00", token[:-8], "MTIz"]
        wrong = [await stage.get(f"{ADDRESS}?token={one}") for one in given]
        cookies = [await stage.get(ADDRESS, cookie=f"{COOKIE}={one}") for one in given]
        clock.moved = 3600 * 1000
        late = await stage.get(f"{ADDRESS}?token={token}")
        late_cookie = await stage.get(ADDRESS, cookie=f"{COOKIE}={token}")

    assert {one.status_code for one in (*wrong, *cookies, late, late_cookie)} == {404}
    assert all("set-cookie" not in one.headers for one in (*wrong, late))


async def test_a_cookie_of_the_pages_is_no_cookie_here(file: str) -> None:
    async with with_private_site(file) as stage:
        token = await stage.press.tokens.create(Scope.ADMIN, everywhere=True)
        names = ("pressroom_session", "session", "desk", COOKIE)
        answers = [await stage.get(ADDRESS, cookie=f"{name}={token.secret}") for name in names]

    assert {one.status_code for one in answers} == {404}


async def test_a_public_site_leaves_its_queries_alone(file: str) -> None:
    async with edge_stage(file, secret_key=(KEY,)) as stage:
        await stage.add_project()
        await stage.publish(SITE)
        found = await stage.get(f"/acme/guide/?token={sign(stage, 'acme')}")

    assert found.status_code == 200
    assert "set-cookie" not in found.headers


def test_links_need_a_key_and_end() -> None:
    with pytest.raises(InvalidArgument, match="no key"):
        ReaderLinks(Keyring(), SystemClock()).sign("acme", 60)
    for seconds in (0, -1, LONGEST + 1):
        with pytest.raises(InvalidArgument):
            ReaderLinks(Keyring([KEY]), SystemClock()).sign("acme", seconds)


def test_what_was_not_sealed_is_no_link() -> None:
    """Without a key secrets are stored as they are: a link must not be."""
    assert ReaderLinks(Keyring(), SystemClock()).seconds_left("acme", "OTk5OTk5OTk5OTk5OTk5") == 0

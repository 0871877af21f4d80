"""The door of the desk, against group C of the catalogue of bad input: cookies, sessions, forms, and where a login leads."""

import re
from typing import cast

import httpx
import pytest
from starlette.requests import Request

from pressroom.api.access import Gate, Scope
from pressroom.api.problems import HttpError
from pressroom.api.tokens import new_secret
from pressroom.clock import ManualClock, SystemClock
from pressroom.store import Database
from pressroom.web.sessions import DEFAULT_PAGE, BrowserSession, Sessions
from tests import looking
from tests.service.access_stage import all_bytes, on_stage
from tests.web.browsing import browsing, found_token, member

HALF_A_DAY = 12 * 3600 * 1000


def cookies_of(answer: httpx.Response) -> dict[str, set[str]]:
    """Each cookie that an answer gives, with its flags in small letters."""
    found = {}
    for line in answer.headers.get_list("set-cookie"):
        first, *flags = line.split("; ")
        found[first.partition("=")[0]] = {flag.lower() for flag in flags}
    return found


async def test_a_cookie_over_http_is_no_scripts_business(file: str) -> None:  # C
    async with on_stage(file, works=False) as stage, browsing(stage) as person:
        given = cookies_of(await person.get("/desk/login"))

    assert given == {"pressroom": {"httponly", "samesite=lax", "path=/"}}


@pytest.mark.parametrize("site", ["same-site", "cross-site"])
def test_the_door_refuses_a_form_of_another_site_by_itself(site: str) -> None:  # C
    """api/hosts.py refuses it before; this is the wall behind that one."""
    door = Sessions(cast("Gate", None), cast("Database", None), SystemClock(), "")
    browser = BrowserSession("secret", True, None)
    request = Request({"type": "http", "headers": [(b"sec-fetch-site", site.encode())]})

    with pytest.raises(HttpError, match="from another site"):
        door.check_form_token(request, browser, browser.form_token)


@pytest.mark.parametrize("how", ["by the address that the operator gave", "by the request"])
async def test_a_cookie_over_https_is_bound_to_this_host(file: str, how: str) -> None:  # C
    options = {"base_url": "https://press.example"} if how.endswith("gave") else {}
    async with (
        on_stage(file, works=False, **options) as stage,
        browsing(stage, scheme="http" if options else "https") as person,
    ):
        given = cookies_of(await person.get("/desk/login"))

    assert given == {"__Host-pressroom": {"httponly", "samesite=lax", "secure", "path=/"}}


async def test_a_login_opens_the_page_that_was_asked_for(database: str) -> None:
    async with on_stage(database, works=False) as stage, browsing(stage) as person:
        token = await stage.token()
        refused = await person.get("/desk/find?q=x")
        asked = httpx.URL(refused.headers["location"])
        answer = await person.log_in(token, next=asked.params["next"])
        page = await person.get(answer.headers["location"])

    assert (refused.status_code, asked.path) == (303, "/desk/login")
    assert (answer.status_code, answer.headers["location"]) == (303, "/desk/find?q=x")
    assert page.status_code == 200


async def test_a_secret_that_was_known_before_the_login_is_worth_nothing_after(database: str) -> None:  # C: session fixation
    async with on_stage(database, works=False) as stage, browsing(stage) as victim, browsing(stage) as attacker:
        planted = "A" * 43
        for person in (victim, attacker):
            person.take_cookie(planted)
        await victim.log_in(await stage.token())

        theirs = await attacker.get("/desk")
        assert victim.cookie != planted

    assert theirs.status_code == 303


async def test_a_second_login_ends_the_first_session(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as person, browsing(stage) as holder:
        holder.take_cookie(person.cookie)
        assert (await holder.get("/desk/find")).status_code == 200

        await person.log_in(await stage.token())

        assert (await holder.get("/desk/find")).status_code == 303
        assert (await person.get("/desk/find")).status_code == 200


async def test_a_logout_ends_the_session_at_the_server(database: str) -> None:  # C
    async with on_stage(database, works=False) as stage, member(stage) as person, browsing(stage) as thief:
        thief.take_cookie(person.cookie)
        assert (await thief.get("/desk/find")).status_code == 200

        left = await person.post("/desk/logout")

        assert left.headers["location"] == "/desk/login"
        assert (await thief.get("/desk/find")).status_code == 303
        assert (await person.get("/desk/find")).status_code == 303
        assert looking.rows(database, "SELECT * FROM web_session") == []


async def test_a_session_ends_with_its_token(database: str) -> None:  # C
    async with on_stage(database, works=False) as stage, member(stage) as person:
        await stage.press.tokens.revoke(str(person.token)[:9])

        assert (await person.get("/desk/find")).status_code == 303
        assert (await person.client.post("/desk/theme", data={"form_token": "x"})).status_code == 401


async def test_a_session_ends_when_its_token_expires(file: str) -> None:  # C
    clock = ManualClock()
    async with on_stage(file, works=False, clock=clock) as stage, member(stage, ttl_ms=3600_000) as person:
        clock.advance(minutes=59)
        assert (await person.get("/desk/find")).status_code == 200
        clock.advance(minutes=1)
        assert (await person.get("/desk/find")).status_code == 303


async def test_a_session_ends_twelve_hours_after_the_last_visit(file: str) -> None:  # C
    clock = ManualClock()
    async with on_stage(file, works=False, clock=clock) as stage, member(stage) as person:
        for _ in range(3):
            clock.advance(hours=11)
            assert (await person.get("/desk/find")).status_code == 200
        clock.advance(hours=12)
        assert (await person.get("/desk/find")).status_code == 303


async def test_a_session_that_nobody_used_is_over_by_the_database_s_clock(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as person:
        looking.change(database, f"UPDATE web_session SET expires_at = expires_at - {HALF_A_DAY}")

        assert (await person.get("/desk/find")).status_code == 303


async def test_no_secret_of_a_session_is_kept(database: str, tmp_path: object) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as person:
        kept = all_bytes(database, tmp_path)  # type: ignore[arg-type]

        assert person.cookie.encode() not in kept
        assert str(person.token).encode() not in kept


async def test_a_token_is_in_no_address(database: str) -> None:  # C
    async with on_stage(database, works=False) as stage, browsing(stage) as person:
        token = await stage.token()
        answer = await person.log_in(token, next="/desk/tokens")
        pages = [answer, await person.get("/desk/tokens"), await person.get("/desk")]
        by_query = await person.client.get(f"/desk?token={token}", headers={"Cookie": "x=y"})

    assert all(token not in page.text + str(page.headers) for page in pages)
    assert by_query.status_code == 303, "and it opens nothing from there"


@pytest.mark.parametrize("wrong", ["", "pr_short", "nonsense", "x" * 5000, "'; DROP TABLE token; --", "\x00"])
async def test_a_wrong_token_says_so_in_words(file: str, wrong: str) -> None:
    async with on_stage(file, works=False) as stage, browsing(stage) as person:
        answer = await person.log_in(wrong)
        person.token = None

        assert answer.status_code == 401
        assert "not valid here" in answer.text
        assert (await person.get("/desk")).status_code == 303


async def test_whoever_guesses_too_often_has_to_wait(file: str) -> None:
    async with on_stage(file, works=False, login_limit=3) as stage, browsing(stage) as person:
        token = await stage.token()
        form = found_token((await person.get("/desk/login")).text)
        guesses = [await person.client.post("/desk/login", data={"form_token": form, "token": new_secret()}) for _ in range(4)]
        right = await person.client.post("/desk/login", data={"form_token": form, "token": token})

    assert [answer.status_code for answer in guesses] == [401, 401, 401, 429]
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) > 0
    assert "too many" in right.text


OUTSIDE = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/desk",
    "https:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/desk/../evil",
    "/desk/..",
    "/desk/%2e%2e/evil",
    "/desk/%2E%2E%2Fevil/%2e./x",
    "/desk/./..//evil.example",
    "%2f%2fevil.example",
    "/deskevil",
    "/desk@evil.example",
    "/desk\r\nSet-Cookie: a=b",
    "/desk\t/x",
    " /desk",
    "/jobs",
    "",
]


@pytest.mark.parametrize("place", OUTSIDE)
def test_a_login_leads_nowhere_else(place: str) -> None:  # C: open redirect
    assert a_door().safe_return_path(place) == DEFAULT_PAGE


@pytest.mark.parametrize(
    "place", ["/desk", "/desk?x=1", "/desk/jobs?status=failed&kind=a%20b", "/playground", "/desk/jobs/a..b"]
)
def test_a_login_leads_to_any_page_of_ours(place: str) -> None:
    assert a_door().safe_return_path(place) == place


async def test_what_came_with_a_login_form_is_checked_again(file: str) -> None:  # C: open redirect
    async with on_stage(file, works=False) as stage:
        token = await stage.token()
        led = set()
        for place in OUTSIDE:
            async with browsing(stage) as person:
                led.add((await person.log_in(token, next=place)).headers["location"])
                led.add((await person.get("/desk/login", params={"next": place})).headers["location"])

    assert led == {"/desk"}


async def test_a_theme_leads_back_to_a_page_of_ours(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.VIEWER) as person:
        back = await person.post("/desk/theme", {"theme": "dark"}, headers={"Referer": "http://pressroom/desk/find?q=x"})
        away = await person.post("/desk/theme", {"theme": "dark"}, headers={"Referer": "http://evil.example/elsewhere"})
        odd = await person.post("/desk/theme", {"theme": "pink"})
        page = await person.get("/desk/find")

    assert (back.headers["location"], away.headers["location"]) == ("/desk/find?q=x", "/desk")
    assert odd.status_code == 422
    assert 'data-theme="dark"' in page.text


async def test_every_page_has_a_policy_of_its_own(file: str) -> None:  # C: CSP, clickjacking
    async with on_stage(file, works=False) as stage, member(stage) as person:
        pages = [await person.get("/desk/find") for _ in range(3)] + [await person.get("/desk/nowhere")]

    nonces = [re.search(r"script-src 'nonce-([\w-]+)'", page.headers["content-security-policy"]) for page in pages]
    assert len({nonce[1] for nonce in nonces if nonce}) == len(pages)
    for page, nonce in zip(pages, nonces, strict=True):
        assert nonce is not None
        assert set(re.findall(r'<script nonce="([^"]+)"', page.text)) == {nonce[1]}
        assert "<script>" not in page.text
        policy = page.headers["content-security-policy"]
        for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
            assert part in policy
        assert "unsafe" not in policy
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"


async def test_the_name_that_a_request_calls_us_by_is_in_no_link(file: str) -> None:  # H9
    async with on_stage(file, works=False, allowed_hosts=("*",)) as stage, member(stage) as person:
        poisoned = {"Host": "other.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
        answers = [
            await person.get(path, headers=poisoned) for path in ("/desk/find", "/desk/find/", "/desk/", "/desk/nowhere")
        ]
        person.client.cookies.clear()
        answers += [await person.get(path, headers=poisoned) for path in ("/desk/find", "/desk/login")]

    assert [answer.status_code for answer in answers] == [200, 303, 303, 404, 303, 200]
    assert all(
        name not in answer.text + str(answer.headers) for answer in answers for name in ("evil.example", "other.example")
    )


async def test_what_asks_for_a_part_of_a_page_is_told_that_it_is_logged_out(file: str) -> None:
    """A redirect would be followed, and the login page put where the part was."""
    async with on_stage(file, works=False) as stage, browsing(stage) as person:
        answer = await person.get("/desk/find", headers={"HX-Request": "true"})

    assert answer.status_code == 401


async def test_whoever_sits_at_the_machine_needs_no_login(file: str) -> None:
    async with on_stage(file, works=False, listen="127.0.0.1:8000") as stage:
        async with browsing(stage, ("127.0.0.1", 4711)) as person:
            person.client.base_url = httpx.URL("http://localhost")
            page = await person.get("/desk/tokens")
        async with browsing(stage, ("127.0.0.1", 4711)) as misled:
            misled.client.base_url = httpx.URL("http://rebound.evil.example")
            refused = await misled.get("/desk/tokens")

    assert page.status_code == 200
    assert "Log out" not in page.text
    assert refused.status_code == 421, "their browser was made to call us by another's name"


async def test_where_writing_needs_a_password_the_loopback_only_looks(database: str) -> None:
    basic = {"auth_enabled": True, "auth_user": "ann", "auth_pass": "secret"}
    async with (
        on_stage(database, listen="127.0.0.1:8000", works=False, **basic) as stage,
        stage.client(address=("127.0.0.1", 4000), host="127.0.0.1:8000") as client,
    ):
        page = await client.get("/desk/queues")
        form = {"form_token": found_token(page.text), "kind": "shout"}
        answer = await client.post("/desk/queues/pause", data=form)

    assert page.status_code == 200
    assert answer.status_code == 403


def a_door() -> Sessions:
    door = Sessions(None, None, ManualClock(), "")  # type: ignore[arg-type]
    door.return_prefixes += ["/playground", "/wiki"]
    return door

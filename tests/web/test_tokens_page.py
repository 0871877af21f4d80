"""Tokens at the desk: the same rules as at the command line, and a secret that is on one page, once."""

from pathlib import Path

import pytest

from pressroom.api.access import Scope
from pressroom.api.tokens import new_secret
from tests import looking
from tests.service.access_stage import Stage, all_bytes, on_stage
from tests.web.browsing import Page, Person, browsing, member

SECRET = 'id="secret">'


def secret_on(page: str) -> str:
    return page.partition(SECRET)[2].partition("<")[0]


async def make(person: Person, **fields: str) -> str:
    """A new token's secret, from the page that shows it."""
    page = await person.post("/desk/tokens", {"scope": "viewer", "lifetime": "1d"} | fields)
    assert page.status_code == 200, page.text
    return secret_on(page.text)


async def test_a_new_token_is_shown_once_and_works(database: str, tmp_path: Path) -> None:
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as admin, browsing(stage) as bearer:
        page = await admin.post("/desk/tokens", {"scope": "operator", "org": "acme", "name": "deploy bot", "lifetime": "90d"})
        secret = secret_on(page.text)
        later = [await admin.get(path) for path in ("/desk/tokens", "/desk/audit", "/desk/find?q=" + secret[:9])]

        assert (await bearer.log_in(secret)).status_code == 303
        assert page.headers["cache-control"] == "no-store"
        assert secret not in str(page.headers) + str(page.url)
        assert all(secret not in one.text + str(one.headers) for one in later)
        assert "deploy bot" in later[0].text
        assert "token.create" in later[1].text
        assert secret.encode() not in all_bytes(database, tmp_path)


async def test_a_revoked_token_and_its_sessions_are_over_at_once(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage) as admin, member(stage, Scope.VIEWER) as viewer:
        token = next(one for one in await stage.press.tokens.all() if one.scope == "viewer")
        assert (await viewer.get("/desk/find")).status_code == 200

        answer = await admin.post(f"/desk/tokens/{token.uid}/revoke")
        again = await admin.post(f"/desk/tokens/{token.uid}/revoke")

        assert (answer.status_code, again.status_code) == (303, 303)
        assert (await viewer.get("/desk/find")).status_code == 303
        async with stage.client(viewer.token) as client:
            assert (await client.get("/jobs")).status_code == 401
        valid, every = await admin.get("/desk/tokens"), await admin.get("/desk/tokens?state=all")
        assert token.uid not in valid.text
        assert token.uid in every.text
        deeds = looking.rows(database, "SELECT action, target, before, after FROM audit")
        assert deeds == [("token.revoke", token.prefix, '{"state":"valid"}', '{"state":"revoked"}')]


async def test_an_admin_of_one_organisation_has_no_business_with_others(database: str) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.ADMIN, "acme") as admin:
        await stage.token(Scope.ADMIN, everywhere=True, name="the operator of all")
        await stage.token(Scope.VIEWER, "other", name="a stranger")
        await stage.token(Scope.VIEWER, name="of none")
        await stage.token(Scope.VIEWER, "acme", name="a colleague")
        tokens = {token.name: token for token in await stage.press.tokens.all()}
        page = Page((await admin.get("/desk/tokens?state=all")).text)

        assert "a colleague" in page.words
        for name in ("the operator of all", "a stranger", "of none"):
            assert name not in page.words
            gone = await admin.post(f"/desk/tokens/{tokens[name].uid}/revoke")
            assert gone.status_code == 404
            named = await admin.get("/desk/tokens", params={"name": tokens[name].prefix, "state": "all"})
            assert name not in named.text
        assert all(token.revoked_at is None for token in await stage.press.tokens.all())


@pytest.mark.parametrize("more", [{"orgs": "all"}, {"org": "other"}])
async def test_nobody_makes_a_token_that_may_more_than_they_may(database: str, more: dict[str, str]) -> None:
    async with on_stage(database, works=False) as stage, member(stage, Scope.ADMIN, "acme") as admin:
        refused = await admin.post("/desk/tokens", {"scope": "viewer", "lifetime": ""} | more)
        own = await make(admin, org="acme")
        plain = await make(admin)
        tokens = await stage.press.tokens.all()

    assert refused.status_code == 403
    assert {token.org_id for token in tokens} == {"acme"}
    assert {token.prefix for token in tokens} >= {own[:9], plain[:9]}
    assert len(tokens) == 3


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"scope": "god"}, "a scope is one of viewer, submitter, operator, admin"),
        ({"scope": ""}, "a scope is one of"),
        ({"lifetime": "9999d"}, "a lifetime is one of 1h, 1d"),
        ({"name": "x" * 300}, "name has up to 255 printable characters"),
        ({"name": "a\x1bb"}, "name has up to 255 printable characters"),
        ({"orgs": "all", "org": "acme"}, "one organisation or for all"),
    ],
)
async def test_bad_input_is_told_in_words(file: str, fields: dict[str, str], words: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as admin:
        answer = await admin.post("/desk/tokens", {"scope": "viewer", "lifetime": "1d"} | fields)

        assert answer.status_code == 422
        assert words in Page(answer.text).words
        assert len(await stage.press.tokens.all()) == 1


@pytest.mark.parametrize("query", ["state=gone", "cursor=x", "cursor='--"])
async def test_an_odd_address_is_told_in_words(file: str, query: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as admin:
        answer = await admin.get(f"/desk/tokens?{query}")

    assert answer.status_code == 422
    assert "<h1>" in answer.text


async def test_pages_of_tokens_leave_none_out(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.web.pages.tokens.PAGE_SIZE", 2)
    async with on_stage(database, works=False) as stage, member(stage, everywhere=True) as admin:
        await fill(stage, 4)
        seen, path = [], "/desk/tokens"
        for _ in range(3):
            page = Page((await admin.get(path)).text)
            seen += [attributes["id"] for tag, attributes in page.elements if tag == "tr" and attributes.get("id")]
            older = [attributes["href"] for tag, attributes in page.elements if attributes.get("rel") == "next"]
            path = str(older[0]) if older else ""

        assert path == ""
        assert seen == [f"token-{token.uid}" for token in reversed(await stage.press.tokens.all())]


async def fill(stage: Stage, count: int) -> None:
    for number in range(count):
        await stage.token(Scope.VIEWER, name=f"number {number}")


async def test_whoever_may_not_make_tokens_is_not_shown_them(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.OPERATOR) as operator:
        answer = await operator.get("/desk/tokens")
        found = await operator.get("/desk/find", params={"q": str(operator.token)[:9]})

    assert answer.status_code == 403
    assert "/desk/tokens" not in found.text


async def test_a_whole_token_in_the_search_is_not_repeated(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage) as admin:
        secret = new_secret()
        answer = await admin.get("/desk/find", params={"q": secret})

    assert secret not in answer.text
    assert "That is a whole token" in answer.text

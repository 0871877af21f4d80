"""Tokens: who has one, making one, taking one back. A secret is on one page, once, and nowhere else."""

import re
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import from_ms
from pressroom.store.access.tokens import Token
from pressroom.store.operators import lookup
from pressroom.web.desk import Desk, Visit, refuse

PAGE = 100
STATES = ("valid", "all")
LIFETIMES = {
    "1h": ("an hour", timedelta(hours=1)),
    "1d": ("a day", timedelta(days=1)),
    "7d": ("a week", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
    "365d": ("a year", timedelta(days=365)),
    "": ("until it is revoked", None),
}


def router(desk: Desk) -> Routes:
    routes = Routes()
    desk.get(routes, "/desk/tokens", show, needs=Scope.ADMIN)
    desk.post(routes, "/desk/tokens", create, needs=Scope.ADMIN)
    desk.post(routes, "/desk/tokens/{uid}/revoke", revoke, needs=Scope.ADMIN)
    return routes


async def show(visit: Visit) -> Response:
    return await _page(visit)


async def create(visit: Visit) -> Response:
    """The answer itself shows the secret: an address or a cookie that led to it would be kept by somebody."""
    form = visit.form
    scope, everywhere, org = _scope(form.get("scope")), form.get("orgs") == "all", form.get("org").strip() or None
    if form.get("lifetime") not in LIFETIMES:
        raise refuse(f"a lifetime is one of {', '.join(filter(None, LIFETIMES))}, or nothing")
    _, lifetime = LIFETIMES[form.get("lifetime")]
    if not visit.caller.everywhere:
        if everywhere or org not in (None, visit.caller.org_id):
            raise refuse("you make tokens of your own organisation only", status=403, code="forbidden")
        org = visit.caller.org_id
    ttl = None if lifetime is None else lifetime // timedelta(milliseconds=1)
    try:
        made = await visit.desk.tokens.create(scope, org=org, everywhere=everywhere, name=form.get("name").strip(), ttl_ms=ttl)
    except InvalidArgument as error:
        return await _page(visit, status=422, wrong=str(error))
    await visit.note("token.create", made.token.prefix, after=_told(made.token))
    return visit.page(
        "secret.html",
        title="A new token",
        secret=made.secret,
        what=f"{_article(made.token.scope)} {made.token.scope} of {whose(made.token)}"
        + (f", called {made.token.name}" if made.token.name else ""),
        advice="Anyone holding this token has its permissions. Give it to one person or program, and keep it safe.",
        back="/desk/tokens",
        back_to="To the tokens",
    )


async def revoke(visit: Visit, uid: str) -> Response:
    database = visit.desk.service.rendering.database
    found = [token for token in await database.read(partial(lookup.find_tokens, uid, visit.org_id)) if token.uid == uid]
    if not found:
        raise NotFound("there is no such token")
    (token,) = found
    if token.revoked_at is None:
        await visit.desk.tokens.revoke(uid)
        await visit.note("token.revoke", token.prefix, before={"state": _state(visit, token)}, after={"state": "revoked"})
    return visit.go("/desk/tokens", f"The token {token.prefix}… is revoked, and the sessions that it opened are over.")


async def _page(visit: Visit, *, status: int = 200, wrong: str = "") -> Response:
    query = visit.request.query_params
    state, cursor, named = query.get("state", "valid"), query.get("cursor", ""), query.get("name", "")
    if state not in STATES:
        raise refuse(f"state is one of {', '.join(STATES)}")
    if cursor and not re.fullmatch("[0-9A-Z]{26}", cursor):
        raise refuse("that is not a cursor; follow the link to the next page")
    found = await visit.desk.service.rendering.database.read(partial(_chosen, visit.org_id, state, cursor, named))
    return visit.page(
        "tokens.html",
        status=status,
        tokens=[(token, _state(visit, token), whose(token)) for token in found[:PAGE]],
        cursor=found[PAGE - 1].uid if len(found) > PAGE else None,
        first=bool(cursor),
        state=state,
        named=named,
        wrong=wrong,
        form=visit.form,
        scopes=[scope.name.lower() for scope in Scope],
        lifetimes=[(key, words) for key, (words, _) in LIFETIMES.items()],
    )


def _chosen(org_id: str | None, state: str, cursor: str, named: str) -> Any:
    if named:
        return lookup.find_tokens(named[:100], org_id)
    before = cursor or lookup.NEWEST_TOKEN
    return lookup.list_tokens(org_id, only_valid=state == "valid", before=before, limit=PAGE + 1)


def _scope(name: str) -> Scope:
    try:
        return Scope[name.upper()]
    except KeyError:
        raise refuse(f"a scope is one of {', '.join(scope.name.lower() for scope in Scope)}") from None


def whose(token: Token) -> str:
    return "all organisations" if token.everywhere else token.org_id or "the default organisation"


def _state(visit: Visit, token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.holds_at(from_ms(visit.desk.door.now_ms())) else "expired"


def _told(token: Token) -> dict[str, Any]:
    """For the audit: all but the secret and its hash."""
    until = None if token.expires_at is None else token.expires_at.isoformat(timespec="seconds")
    return {"id": token.uid, "name": token.name, "scope": token.scope, "of": whose(token), "expires_at": until}


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"

"""Tokens: list, create, revoke. A secret is on one page, once, and nowhere else."""

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
from pressroom.web.site import PageRequest, Site, page_error

PAGE_SIZE = 100
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


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/tokens", show, needs=Scope.ADMIN)
    site.post(routes, "/desk/tokens", create, needs=Scope.ADMIN)
    site.post(routes, "/desk/tokens/{uid}/revoke", revoke, needs=Scope.ADMIN)
    return routes


async def show(request: PageRequest) -> Response:
    return await _tokens_page(request)


async def create(request: PageRequest) -> Response:
    """The response itself shows the secret: a URL or a cookie that led to it would be kept in a history or a log."""
    form = request.form
    scope, everywhere, org = _parse_scope(form.get("scope")), form.get("orgs") == "all", form.get("org").strip() or None
    if form.get("lifetime") not in LIFETIMES:
        raise page_error(f"a lifetime is one of {', '.join(filter(None, LIFETIMES))}, or nothing")
    _, lifetime = LIFETIMES[form.get("lifetime")]
    if not request.caller.everywhere:
        if everywhere or org not in (None, request.caller.org_id):
            raise page_error("you make tokens of your own organisation only", status=403, code="forbidden")
        org = request.caller.org_id
    ttl = None if lifetime is None else lifetime // timedelta(milliseconds=1)
    try:
        new_token = await request.site.tokens.create(
            scope, org=org, everywhere=everywhere, name=form.get("name").strip(), ttl_ms=ttl
        )
    except InvalidArgument as error:
        return await _tokens_page(request, status=422, wrong=str(error))
    await request.record_audit("token.create", new_token.token.prefix, after=_audit_fields(new_token.token))
    return request.page(
        "secret.html",
        title="A new token",
        secret=new_token.secret,
        what=f"{_indefinite_article(new_token.token.scope)} {new_token.token.scope} of {token_organisation(new_token.token)}"
        + (f", called {new_token.token.name}" if new_token.token.name else ""),
        advice="Anyone holding this token has its permissions. Give it to one person or program, and keep it safe.",
        back="/desk/tokens",
        back_to="To the tokens",
    )


async def revoke(request: PageRequest, uid: str) -> Response:
    database = request.site.service.rendering.database
    tokens = [token for token in await database.read(partial(lookup.find_tokens, uid, request.org_id)) if token.uid == uid]
    if not tokens:
        raise NotFound("there is no such token")
    (token,) = tokens
    if token.revoked_at is None:
        await request.site.tokens.revoke(uid)
        await request.record_audit(
            "token.revoke", token.prefix, before={"state": _token_state(request, token)}, after={"state": "revoked"}
        )
    return request.redirect("/desk/tokens", f"The token {token.prefix}… is revoked, and the sessions that it opened are over.")


async def _tokens_page(request: PageRequest, *, status: int = 200, wrong: str = "") -> Response:
    query = request.http.query_params
    state, named = query.get("state", "valid"), query.get("name", "")
    if state not in STATES:
        raise page_error(f"state is one of {', '.join(STATES)}")
    cursor = request.cursor("[0-9A-Z]{26}")
    tokens = await request.read(partial(_list_tokens, request.org_id, state, cursor, named))
    return request.page(
        "tokens.html",
        status=status,
        tokens=[(token, _token_state(request, token), token_organisation(token)) for token in tokens[:PAGE_SIZE]],
        cursor=tokens[PAGE_SIZE - 1].uid if len(tokens) > PAGE_SIZE else None,
        first=bool(cursor),
        state=state,
        named=named,
        wrong=wrong,
        form=request.form,
        scopes=[scope.name.lower() for scope in Scope],
        lifetimes=[(key, words) for key, (words, _) in LIFETIMES.items()],
    )


def _list_tokens(org_id: str | None, state: str, cursor: str, named: str) -> Any:
    if named:
        return lookup.find_tokens(named[:100], org_id)
    before = cursor or lookup.NEWEST_TOKEN
    return lookup.list_tokens(org_id, only_valid=state == "valid", before=before, limit=PAGE_SIZE + 1)


def _parse_scope(name: str) -> Scope:
    try:
        return Scope[name.upper()]
    except KeyError:
        raise page_error(f"a scope is one of {', '.join(scope.name.lower() for scope in Scope)}") from None


def token_organisation(token: Token) -> str:
    return "all organisations" if token.everywhere else token.org_id or "the default organisation"


def _token_state(request: PageRequest, token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "valid" if token.is_valid_at(from_ms(request.site.sessions.now_ms())) else "expired"


def _audit_fields(token: Token) -> dict[str, Any]:
    """For the audit: all but the secret and its hash."""
    until = None if token.expires_at is None else token.expires_at.isoformat(timespec="seconds")
    return {"id": token.uid, "name": token.name, "scope": token.scope, "of": token_organisation(token), "expires_at": until}


def _indefinite_article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"

"""`pressroom token`: create, list, revoke."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pressroom.cli import exits
from pressroom.cli.jobs import age
from pressroom.cli.output import Output, ago
from pressroom.store.access.tokens import Token

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens

SCOPES = ("viewer", "submitter", "operator", "admin")


async def create(tokens: "Tokens", args: Namespace, output: Output) -> int:
    from pressroom.api.access import Scope  # the service's libraries are not everybody's

    ttl = None if args.ttl is None else age(args.ttl) // timedelta(milliseconds=1)
    made = await tokens.create(Scope[args.scope.upper()], org=args.org, everywhere=args.all_orgs, name=args.name, ttl_ms=ttl)
    if output.as_json:
        output.data(_shown(made.token) | {"secret": made.secret})
        return exits.OK
    output.line(made.secret)
    output.note(f"a {made.token.scope} of {_whose(made.token)}, {_until(made.token)}; this is shown only now: keep it safe")
    return exits.OK


async def list_tokens(tokens: "Tokens", args: Namespace, output: Output) -> int:  # noqa: ARG001
    found = await tokens.all()
    if output.as_json:
        output.data([_shown(token) for token in found])
        return exits.OK
    output.table(
        ("ID", "BEGINS", "NAME", "SCOPE", "OF", "AGE", "LAST USED", "STATE"),
        (
            (
                token.uid,
                token.prefix,
                token.name,
                token.scope,
                _whose(token),
                ago(token.date_created),
                ago(token.used_at) or "never",
                _state(token),
            )
            for token in found
        ),
    )
    return exits.OK


async def revoke(tokens: "Tokens", args: Namespace, output: Output) -> int:
    for name in args.token:
        await tokens.revoke(name)
        if output.as_json:
            output.data({"token": name, "revoked": True})
        else:
            output.line(f"{name} is revoked; a service that runs knows it within seconds")
    return exits.OK


def _shown(token: Token) -> dict[str, Any]:
    return {
        "id": token.uid,
        "prefix": token.prefix,
        "name": token.name,
        "scope": token.scope,
        "org": token.org_id,
        "all_orgs": token.everywhere,
        "date_created": token.date_created,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "used_at": token.used_at,
        "state": _state(token).partition(" ")[0],
    }


def _whose(token: Token) -> str:
    return "all organisations" if token.everywhere else token.org_id or "the default organisation"


def _until(token: Token) -> str:
    return "until it is revoked" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"


def _state(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= datetime.now(UTC):
        return "expired"
    return f"valid {_until(token)}"

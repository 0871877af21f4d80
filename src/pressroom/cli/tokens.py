"""`pressroom token`: create, list, revoke."""

from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, command_on_tokens
from pressroom.cli.jobs import parse_age
from pressroom.cli.output import Output, format_age

if TYPE_CHECKING:
    from pressroom.api.tokens import Tokens
    from pressroom.store.access.tokens import Token

SCOPES = ("viewer", "submitter", "operator", "admin")


def add_commands(commands: Commands) -> None:
    actions = commands.add_group("token", "create, list, revoke: who may use the service")

    creating = actions.add(
        "create", command_on_tokens(create_token), "make a token; its secret is shown once", makes_database=True
    )
    creating.add_argument("--scope", required=True, choices=SCOPES, help="each may do all that the one before may")
    whose = creating.add_mutually_exclusive_group()
    whose.add_argument("--org", help="whose rows it sees (default: those without an organisation)")
    whose.add_argument("--all-orgs", action="store_true", help="it sees the rows of every organisation")
    creating.add_argument("--name", default="", help="what it is for")
    creating.add_argument("--ttl", metavar="AGE", help="how long it is good for: 12h, 90d (default: until it is revoked)")
    add_home_option(creating)

    add_home_option(actions.add("list", command_on_tokens(list_tokens), "every token, without its secret"))

    revoking = actions.add("revoke", command_on_tokens(revoke_token), "refuse these tokens from now on")
    revoking.add_argument("token", nargs="+", help="its id or its beginning, as `list` shows them")
    add_home_option(revoking)


async def create_token(tokens: "Tokens", args: Namespace, output: Output) -> int:
    from pressroom.api.access import Scope  # imported late: the service's libraries are an optional extra

    ttl = None if args.ttl is None else parse_age(args.ttl) // timedelta(milliseconds=1)
    made = await tokens.create(Scope[args.scope.upper()], org=args.org, everywhere=args.all_orgs, name=args.name, ttl_ms=ttl)
    if output.as_json:
        output.data(_token_view(made.token) | {"secret": made.secret})
        return exits.OK
    output.line(made.secret)
    described = f"a {made.token.scope} of {_describe_org(made.token)}, {_describe_expiry(made.token)}"
    output.note(f"{described}; this is shown only now: keep it safe")
    return exits.OK


async def list_tokens(tokens: "Tokens", args: Namespace, output: Output) -> int:  # noqa: ARG001
    found = await tokens.all()
    if output.as_json:
        output.data([_token_view(token) for token in found])
        return exits.OK
    output.table(
        ("ID", "BEGINS", "NAME", "SCOPE", "OF", "AGE", "LAST USED", "STATE"),
        (
            (
                token.uid,
                token.prefix,
                token.name,
                token.scope,
                _describe_org(token),
                format_age(token.date_created),
                format_age(token.used_at) or "never",
                _token_state(token),
            )
            for token in found
        ),
    )
    return exits.OK


async def revoke_token(tokens: "Tokens", args: Namespace, output: Output) -> int:
    for name in args.token:
        await tokens.revoke(name)
        if output.as_json:
            output.data({"token": name, "revoked": True})
        else:
            output.line(f"{name} is revoked; a service that runs knows it within seconds")
    return exits.OK


def _token_view(token: "Token") -> dict[str, Any]:
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
        "state": _token_state(token).partition(" ")[0],
    }


def _describe_org(token: "Token") -> str:
    return "all organisations" if token.everywhere else token.org_id or "the default organisation"


def _describe_expiry(token: "Token") -> str:
    return "until it is revoked" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"


def _token_state(token: "Token") -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= datetime.now(UTC):
        return "expired"
    return f"valid {_describe_expiry(token)}"

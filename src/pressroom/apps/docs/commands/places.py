"""Which organisation, project and server a command means: its arguments, else the environment."""

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

import msgspec

from pressroom.errors import InvalidArgument

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

AUTHOR = "command line"  # of what is done by commands

# Ours go before those of the client that DOCVERSE_* are of, so that both may be set.
ORG = ("PRESSROOM_ORG", "DOCVERSE_ORG")
PROJECT = ("PRESSROOM_PROJECT", "DOCVERSE_PROJECT")
SERVER = ("PRESSROOM_URL", "DOCVERSE_API")
TOKEN = ("PRESSROOM_TOKEN", "DOCVERSE_TOKEN")


class ProjectName(msgspec.Struct, frozen=True):
    """`org` is None if nothing names it: then a database or a token that has one organisation decides."""

    org: str | None
    project: str


def from_environment(names: tuple[str, ...]) -> str | None:
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def add_project_argument(parser: ArgumentParser) -> None:
    parser.add_argument("project", metavar="[ORG/]NAME", help="the project; ORG may be left out where there is only one")


def add_org_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "org", metavar="ORG", nargs="?", help="the organisation (default: PRESSROOM_ORG, or the only one that there is)"
    )


def parse_place(text: str | None, org: str | None = None) -> ProjectName:
    """`NAME` or `ORG/NAME`. Raises InvalidArgument."""
    text = text or from_environment(PROJECT)
    if not text:
        raise InvalidArgument("say which project: --project ORG/NAME, or PRESSROOM_PROJECT in the environment")
    first, slash, second = text.partition("/")
    if "/" in second or (slash and not (first and second)):
        raise InvalidArgument(f"{text!r} is not a project; write ORG/NAME")
    if slash and org and org != first:
        raise InvalidArgument(f"{text!r} is not of the organisation {org!r}; leave --org out")
    return ProjectName(first, second) if slash else ProjectName(org or from_environment(ORG), first)


def find_server(args: Namespace) -> str | None:
    """The service to use, or None for the database of the settings. A database in a flag goes before the environment."""
    if args.server and (args.database or args.home):
        raise InvalidArgument("--server and --database cannot go together: a service has its own")
    if args.server or args.database or args.home:
        return args.server or None
    return from_environment(SERVER)


async def find_project(app: "DocsApp", args: Namespace) -> tuple[str, str]:
    """The slugs of what a positional `project` names."""
    place = parse_place(args.project)
    return place.org or await find_org(app, None), place.project


async def find_org(app: "DocsApp", org: str | None) -> str:
    """As given, or as the environment says, or the only one of the database."""
    if org := org or from_environment(ORG):
        return org
    orgs = await app.orgs.list(limit=2)
    if len(orgs) == 1:
        return orgs[0].slug
    if orgs:
        raise InvalidArgument("there are several organisations; write ORG/NAME, or set PRESSROOM_ORG")
    raise InvalidArgument("there is no organisation yet; `pressroom docs init ORG` makes one")

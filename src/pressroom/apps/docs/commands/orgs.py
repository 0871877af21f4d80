"""`pressroom docs init, orgs, show, preview-slug`: organisations."""

from argparse import Namespace
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.field_values import add_set_argument, convert, read_fields
from pressroom.apps.docs.commands.places import find_org, parse_place
from pressroom.apps.docs.commands.views import format_size, org_fields, project_fields
from pressroom.apps.docs.requests import OrgChanges, OrgDraft
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import NotFound

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.model import Org

PAGE = 100
FLAGS = ("title", "base_domain", "url_scheme", "root_path_prefix", "is_private")


def add_commands(add: AddCommand) -> None:
    init = add("init", init_org, "an organisation: made, or changed if there is one", makes_database=True)
    init.add_argument("org", metavar="ORG", help="its slug: small letters, digits and -")
    init.add_argument("--title", help="what people call it")
    init.add_argument("--base-domain", metavar="DOMAIN", help="below which its sites are, such as docs.example.org")
    init.add_argument(
        "--url-scheme", choices=("subdomain", "path_prefix"), help="sites at PROJECT.DOMAIN, or at DOMAIN/PROJECT (default)"
    )
    init.add_argument("--root-path-prefix", metavar="PATH", help="before the project, with path_prefix (default: /)")
    init.add_argument(
        "--private", dest="is_private", action="store_true", default=None, help="only holders of a token may read"
    )
    init.add_argument("--public", dest="is_private", action="store_false", help="all may read (default)")
    add_set_argument(init, OrgChanges, FLAGS)

    add("orgs", list_orgs, "organisations, by slug")

    showing = add("show", show, "an organisation, or a project with what it stores")
    showing.add_argument("place", metavar="ORG[/PROJECT]")

    previewing = add("preview-slug", preview_slug, "which edition a build of a ref would make, and by which rule")
    previewing.add_argument("git_ref", metavar="REF")
    previewing.add_argument("--project", metavar="[ORG/]NAME", help="by the rules of this project")
    previewing.add_argument("--org", help="by the rules of this organisation (default: PRESSROOM_ORG, or the only one)")
    previewing.add_argument("--alternate-name", metavar="NAME")


async def init_org(app: "DocsApp", args: Namespace, output: Output) -> int:
    fields = {name: getattr(args, name) for name in FLAGS if getattr(args, name) is not None} | read_fields(args.fields)
    org, done = await _make_or_change(app, args.org, fields)
    if output.as_json:
        output.data({**org_fields(org), "done": done})
    else:
        output.line(f"the organisation {org.slug} {done}")
    return exits.OK


async def _make_or_change(app: "DocsApp", slug: str, fields: dict[str, Any]) -> "tuple[Org, str]":
    try:
        org = await app.orgs.get(slug)
    except NotFound:
        changes = convert({name: value for name, value in fields.items() if name == "slots"}, OrgChanges)
        draft = convert({"slug": slug} | {name: value for name, value in fields.items() if name != "slots"}, OrgDraft)
        made = await app.orgs.create(draft)
        return (await app.orgs.change(slug, changes) if "slots" in fields else made), "was made"
    if not fields:
        return org, "is there already"
    return await app.orgs.change(slug, convert(fields, OrgChanges)), "was changed"


async def list_orgs(app: "DocsApp", args: Namespace, output: Output) -> int:  # noqa: ARG001
    orgs: list[Org] = []
    while found := await app.orgs.list(after=orgs[-1].slug if orgs else "", limit=PAGE):
        orgs += found
    if output.as_json:
        output.data([org_fields(org) for org in orgs])
        return exits.OK
    rows = [(org.slug, org.title, org.base_domain, org.url_scheme, "private" if org.is_private else "") for org in orgs]
    output.table(("ORGANISATION", "TITLE", "DOMAIN", "SCHEME", ""), rows)
    return exits.OK


async def show(app: "DocsApp", args: Namespace, output: Output) -> int:
    from pressroom.apps.docs.urls import PublishedUrls

    if "/" not in args.place:
        fields = org_fields(await app.orgs.get(args.place))
    else:
        place = parse_place(args.place)
        org, project = await app.projects.get_with_org(place.org or "", place.project)
        storage = await app.projects.measure(org.slug, project.slug)
        address = PublishedUrls(app.settings).project(org, project.slug)
        fields = {**project_fields(project), "published_url": address, "storage": msgspec.to_builtins(storage)}
    if output.as_json:
        output.data(fields)
        return exits.OK
    storage_fields = fields.pop("storage", None)
    for name, value in fields.items():
        if value not in (None, "", [], {}):
            output.line(f"{name}: {_in_words(value)}")
    if storage_fields is not None:
        stored, size = format_size(storage_fields["stored_bytes"]), format_size(storage_fields["bytes"])
        output.line(f"storage: {storage_fields['builds']:,} builds of {size} take {stored}; equal files are kept once")
    return exits.OK


def _in_words(value: Any) -> str:
    plain = msgspec.to_builtins(value)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


async def preview_slug(app: "DocsApp", args: Namespace, output: Output) -> int:
    place = parse_place(args.project, args.org) if args.project else None
    org = (place.org if place else args.org) or await find_org(app, None)
    preview = await app.orgs.preview_slug(
        org, args.git_ref, project=place.project if place else None, alternate_name=args.alternate_name
    )
    if output.as_json:
        output.data(preview)
        return exits.OK
    source = {"org": "the organisation's rules", "project": "the project's rules", "default": "no rule"}[preview.rule_source]
    rule = f"{source}: {_in_words(preview.matched_rule)}" if preview.matched_rule else "no rule matches"
    if preview.edition_slug is None:
        output.line(f"no edition; {preview.problem or rule}")
    else:
        output.line(f"{preview.edition_slug} ({preview.edition_kind}); {rule}")
    return exits.OK

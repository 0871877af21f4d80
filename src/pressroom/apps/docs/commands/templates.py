"""`pressroom docs templates …`: dashboard templates that come from git."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from pressroom.app import AddCommand
from pressroom.apps.docs.commands.places import AUTHOR, parse_place
from pressroom.apps.docs.commands.waiting import add_wait_argument, finish_jobs
from pressroom.apps.docs.requests import TemplateDraft
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp
    from pressroom.apps.docs.store.templates import TemplateBinding


def add_commands(add: AddCommand) -> None:
    add.add_group("templates", "templates of dashboards, from git repositories")
    _add_place_argument(add("templates get", get_template, "where the template is, and how its last sync ended"))
    setting = add("templates set", set_template, "use a template, and fetch it; the one before stays until that has succeeded")
    _add_place_argument(setting)
    setting.add_argument("git_url", metavar="URL", help="the repository")
    setting.add_argument("--ref", default="main", help="the branch or tag (default: main)")
    setting.add_argument("--root", default="/", metavar="FOLDER", help="the folder that has template.toml (default: /)")
    add_wait_argument(setting)
    syncing = add("templates sync", sync_template, "fetch it now")
    _add_place_argument(syncing)
    add_wait_argument(syncing)
    deleting = add("templates delete", delete_template, "go back to the organisation's template, or to the built-in one")
    _add_place_argument(deleting)
    add_wait_argument(deleting)


def _add_place_argument(parser: ArgumentParser) -> None:
    parser.add_argument("place", metavar="ORG[/PROJECT]", help="of all projects of the organisation, or of one")


def _read_place(args: Namespace) -> tuple[str, str | None]:
    if "/" not in args.place:
        return args.place, None
    place = parse_place(args.place)
    return place.org or "", place.project


async def get_template(app: "DocsApp", args: Namespace, output: Output) -> int:
    fields = _fields(await app.templates.get(*_read_place(args)))
    if output.as_json:
        output.data(fields)
        return exits.OK
    for name, value in fields.items():
        if value is not None:
            output.line(f"{name}: {value}")
    return exits.OK


def _fields(binding: "TemplateBinding") -> dict[str, Any]:
    return {
        "git_url": binding.git_url,
        "ref": binding.git_ref,
        "root_path": binding.root_path,
        "commit_sha": binding.commit_sha,
        "sync_status": binding.sync_status,
        "sync_error": binding.sync_error,
        "date_synced": None if binding.date_synced is None else from_ms(binding.date_synced),
    }


async def set_template(app: "DocsApp", args: Namespace, output: Output) -> int:
    org, project = _read_place(args)
    draft = TemplateDraft(git_url=args.git_url, ref=args.ref, root_path=args.root)
    _, job = await app.templates.put(org, project, draft, actor=AUTHOR)
    return await finish_jobs(app, [job], args, output)


async def sync_template(app: "DocsApp", args: Namespace, output: Output) -> int:
    return await finish_jobs(app, [await app.templates.sync(*_read_place(args), actor=AUTHOR)], args, output)


async def delete_template(app: "DocsApp", args: Namespace, output: Output) -> int:
    return await finish_jobs(app, [await app.templates.delete(*_read_place(args), actor=AUTHOR)], args, output)

"""`pressroom packs config` and `templates`: versions of the configuration, one by one or as a folder."""

import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.packs.config.folders import read_config_folder, write_config_folder
from pressroom.apps.packs.config.registry import ConfigProblem
from pressroom.apps.packs.config.versions import find_published
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument
from pressroom.model import from_ms

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp
    from pressroom.apps.packs.config.versions import ConfigVersion

AUTHOR = "command line"


def add_commands(add: AddCommand) -> None:
    listing = add("config-list", list_config, "the keys of the configuration, or the versions of one")
    listing.add_argument("key", nargs="?")

    getting = add("config-get", get_config, "the text of the published version of a key, or of another")
    getting.add_argument("key")
    getting.add_argument("--version", dest="number", type=int)

    putting = add("config-put", put_config, "save a text as the next version of a key and publish it", makes_database=True)
    putting.add_argument("key")
    putting.add_argument("file", help="- is standard input")
    putting.add_argument("--comment", default="")
    putting.add_argument("--draft", action="store_true", help="check it, and do not publish it")

    publishing = add("config-publish", publish_config, "publish a version of a key")
    publishing.add_argument("key")
    publishing.add_argument("number", type=int)

    rolling = add("config-rollback", roll_back_config, "publish the version of a key that was published before")
    rolling.add_argument("key")

    importing = add("import", import_folder, "publish a folder: registry.json, templates/, styles/ …", makes_database=True)
    importing.add_argument("folder", type=Path)
    exporting = add("export", export_folder, "the published configuration as a folder")
    exporting.add_argument("folder", type=Path)

    for parser in (listing, getting, putting, publishing, rolling, importing, exporting):
        parser.add_argument("--org", help="whose configuration (default: that without an organisation)")


async def list_config(app: "PacksApp", args: Namespace, output: Output) -> int:
    configuration = app.configuration
    found = await (configuration.list_versions(args.org, args.key) if args.key else configuration.list_keys(args.org))
    if output.as_json:
        output.data([msgspec.to_builtins(one) for one in found])
        return exits.OK
    rows = [(one.key, one.number, one.status, from_ms(one.date_created).isoformat(), one.author, one.comment) for one in found]
    output.table(("KEY", "VERSION", "STATUS", "SAVED", "BY", "COMMENT"), rows)
    return exits.OK


async def get_config(app: "PacksApp", args: Namespace, output: Output) -> int:
    number = args.number
    if number is None:
        number = await app.packs.database.read(partial(find_published, args.org or "", args.key))
        if number is None:
            raise InvalidArgument(f"no version of {args.key} is published; name one with --version")
    body = await app.configuration.read_body(args.org, args.key, number)
    if output.as_json:
        output.data({"key": args.key, "version": number, "body": body})
    else:
        sys.stdout.write(body)
    return exits.OK


async def put_config(app: "PacksApp", args: Namespace, output: Output) -> int:
    text = sys.stdin.read() if args.file == "-" else _read_text(Path(args.file))
    saved = await app.configuration.save(args.org, args.key, text, author=AUTHOR, comment=args.comment)
    checked = await app.configuration.validate(args.org, args.key, saved.number)
    if checked.status == "invalid":
        _show_problems(checked, output)
        return exits.SOURCE_INVALID
    if not args.draft:
        checked, _ = await app.configuration.publish(args.org, args.key, saved.number)
    if output.as_json:
        output.data(msgspec.to_builtins(checked))
    else:
        output.line(f"version {checked.number} of {checked.key} is {checked.status}")
    return exits.OK


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise InvalidArgument(f"{path} is not UTF-8: byte {reason.start}") from None


def _show_problems(version: "ConfigVersion", output: Output) -> None:
    if output.as_json:
        output.data(msgspec.to_builtins(version))
        return
    output.note(f"version {version.number} of {version.key} is kept as a draft; it has {len(version.problems)} problems:")
    for problem in version.problems:
        output.note(f"  {describe_problem(problem)}")


def describe_problem(problem: ConfigProblem) -> str:
    place = problem.path + (f" line {problem.line}" if problem.line else "")
    return f"{place.strip()}: {problem.message}" if place else problem.message


async def publish_config(app: "PacksApp", args: Namespace, output: Output) -> int:
    version, _ = await app.configuration.publish(args.org, args.key, args.number)
    output.data(msgspec.to_builtins(version)) if output.as_json else output.line(f"version {version.number} is published")
    return exits.OK


async def roll_back_config(app: "PacksApp", args: Namespace, output: Output) -> int:
    version = await app.configuration.roll_back(args.org, args.key)
    output.data(msgspec.to_builtins(version)) if output.as_json else output.line(f"version {version.number} is published")
    return exits.OK


async def import_folder(app: "PacksApp", args: Namespace, output: Output) -> int:
    published = await app.configuration.put_many(args.org, read_config_folder(args.folder), author=AUTHOR)
    if output.as_json:
        output.data([{"key": one.key, "version": one.number} for one in published])
    else:
        output.line(f"{len(published)} keys are published: {', '.join(f'{one.key} {one.number}' for one in published)}")
    return exits.OK


async def export_folder(app: "PacksApp", args: Namespace, output: Output) -> int:
    texts = await app.configuration.read_published(args.org)
    names = write_config_folder(args.folder, texts)
    output.data({"files": names}) if output.as_json else output.line(f"{len(names)} files are in {args.folder}")
    return exits.OK

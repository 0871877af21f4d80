"""`pressroom packs`: packs, their documents and their configuration from the command line."""

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.packs import config_commands
from pressroom.apps.packs.batches import commands as batch_commands
from pressroom.apps.packs.bundles import commands as bundle_commands
from pressroom.apps.packs.model import Pack, PackDraft, to_uuid
from pressroom.apps.packs.store import PackFilter
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp
    from pressroom.apps.packs.planning import ListedDocument, RenderAnswer

AUTHOR = "command line"


def add_commands(add: AddCommand) -> None:
    new = add("new", new_pack, "a pack from a JSON file with its data", makes_database=True)
    new.add_argument("data", help="a JSON object; - is standard input")
    for flag, about in (("title", "what people call it"), ("session", "the application's session"), ("user", "whose it is")):
        new.add_argument(f"--{flag}", default="", help=about)
    new.add_argument("--lang", default="", help="the language of its documents (default: en)")

    listing = add("list", list_packs, "packs, newest first")
    listing.add_argument("--user", default="", help="only packs of this user")
    listing.add_argument("--session", default="", help="only packs of this session")
    listing.add_argument("--status", default="", choices=("", "queued", "rendering", "ready", "failed"))
    listing.add_argument("--limit", type=int, default=50)

    showing = add("show", show_pack, "a pack with its documents")
    showing.add_argument("pack")

    rendering = add("render", render_pack, "render the documents of a pack that have no active job, or one document anew")
    rendering.add_argument("pack")
    rendering.add_argument("document", nargs="?", help="only this one, also if it is ready")
    rendering.add_argument("--force", action="store_true", help="also documents that are queued, rendering or ready")
    rendering.add_argument("--outdated", action="store_true", help="also ready ones whose data or templates have changed")
    rendering.add_argument("--wait", dest="works", action="store_true", help="work on it here too, and end when all have ended")
    rendering.add_argument("-o", "--out", type=Path, metavar="FOLDER", help="write the files there (with --wait)")

    making = add("make", make_pack, "documents from data and a folder of templates, without a database", in_memory=True)
    making.add_argument("data", help="a JSON object; - is standard input")
    making.add_argument("--templates", type=Path, required=True, metavar="FOLDER", help="registry.json, templates/, styles/ …")
    making.add_argument("-o", "--out", type=Path, default=Path(), metavar="FOLDER", help="where the files go (default: here)")
    making.add_argument("--lang", default="", help="the language of the documents (default: en)")
    making.add_argument("--only", metavar="DOCUMENT,…", default="", help="only these documents")

    for parser in (new, listing, showing, rendering):
        parser.add_argument("--org", help="whose packs (default: those without an organisation)")
    bundle_commands.add_commands(add)
    batch_commands.add_commands(add)
    config_commands.add_commands(add)


async def new_pack(app: "PacksApp", args: Namespace, output: Output) -> int:
    draft = PackDraft(data=_read_data(args.data), title=args.title, session_id=args.session, user=args.user, lang=args.lang)
    pack = await app.packs.create(args.org, draft, AUTHOR)
    if output.as_json:
        output.data({"pack_id": pack.id, "session_id": pack.session_id})
    else:
        output.line(pack.id)
    return exits.OK


async def list_packs(app: "PacksApp", args: Namespace, output: Output) -> int:
    wanted = PackFilter(user_id=args.user, session_id=args.session, status=args.status)
    found, _ = await app.packs.list(args.org, wanted, limit=args.limit)
    if output.as_json:
        output.data([{"pack_id": one.pack.id, "title": one.pack.title, "states": one.states} for one in found])
        return exits.OK
    states = [", ".join(f"{count} {state}" for state, count in one.states.items()) for one in found]
    output.table(
        ("PACK", "TITLE", "DOCUMENTS"), [(one.pack.id, one.pack.title, text) for one, text in zip(found, states, strict=True)]
    )
    return exits.OK


async def show_pack(app: "PacksApp", args: Namespace, output: Output) -> int:
    pack = await app.packs.get(args.org, args.pack)
    documents = await app.packs.documents(pack)
    _show_documents(app, pack, documents, output)
    return exits.OK


def _show_documents(app: "PacksApp", pack: Pack, documents: "Sequence[ListedDocument]", output: Output) -> None:
    from pressroom.apps.packs.views import document_view

    views = [document_view(document, app.settings) for document in documents]
    if output.as_json:
        output.data({"pack_id": pack.id, "documents": [msgspec.to_builtins(view) for view in views]})
        return
    rows = [
        (
            view.doc_id,
            view.status,
            view.version,
            view.pages,
            view.access.reason or ("outdated" if view.outdated else ""),
            view.last_error,
        )
        for view in views
    ]
    output.table(("DOCUMENT", "STATUS", "VERSION", "PAGES", "NOTE", "ERROR"), rows)


async def render_pack(app: "PacksApp", args: Namespace, output: Output) -> int:
    if args.out is not None and not args.works:
        raise InvalidArgument("-o goes with --wait")
    answer = await _request(app, args)
    if not args.works:
        if output.as_json:
            output.data({"jobs": [to_uuid(job.job_uid) for job in answer.jobs], "skipped": msgspec.to_builtins(answer.skipped)})
        for job in answer.jobs if not output.as_json else ():
            output.line(f"{job.doc_id}: version {job.number} is queued as {to_uuid(job.job_uid)}")
        for skipped in answer.skipped if not output.as_json else ():
            output.note(f"{skipped.doc_id}: skipped, {_describe_skip(skipped.reason, skipped.missing)}")
        return exits.OK
    return await _finish(app, answer, args.out, output)


async def _request(app: "PacksApp", args: Namespace) -> "RenderAnswer":
    options: dict[str, Any] = {"requested_by": AUTHOR}
    if args.document is not None:
        return await app.packs.render_one(args.org, args.pack, args.document, **options)
    return await app.packs.render_all(args.org, args.pack, force=args.force, outdated=args.outdated, **options)


def _describe_skip(reason: str, missing: list[str]) -> str:
    return f"the data lacks {', '.join(missing)}" if missing else reason


async def _finish(app: "PacksApp", answer: "RenderAnswer", folder: Path | None, output: Output) -> int:
    """Wait for the jobs, write their files, and say how each ended."""
    failures = sum(bool(one.missing) or one.reason == "template_unusable" for one in answer.skipped)
    for job in answer.jobs:
        await app.queue.wait_until_ended(job.job_uid)
    for job in answer.jobs:
        render = await app.packs.database.read(partial(_find_render, answer.pack.id, job.doc_id, job.number))
        if render is None or render.artifact is None:
            output.note(f"{job.doc_id}: {render.last_error if render else 'it was deleted'}")
            failures += 1
        elif folder is not None:
            artifact = await app.rendering.artifact(render.artifact)
            data = b"".join([chunk async for chunk in await app.rendering.read(artifact)])
            path = await asyncio.to_thread(_write_file, folder, f"{job.doc_id}.pdf", data)
            if not output.as_json:
                output.line(f"{path}: {render.pages} page{'s' * (render.pages != 1)}")
    for skipped in answer.skipped:
        output.note(f"{skipped.doc_id}: skipped, {_describe_skip(skipped.reason, skipped.missing)}")
    if folder is None or output.as_json:
        _show_documents(app, answer.pack, await app.packs.documents(answer.pack), output)
    return exits.PARTIAL if failures else exits.OK


def _write_file(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def _find_render(pack: str, doc_id: str, number: int) -> Any:
    from pressroom.apps.packs import store

    return store.find_render(pack, doc_id, number)


async def make_pack(app: "PacksApp", args: Namespace, output: Output) -> int:
    """On a database in memory."""
    from pressroom.apps.packs.config.folders import read_config_folder

    data = _read_data(args.data)
    await app.configuration.put_many(None, read_config_folder(args.templates), author=AUTHOR)
    pack = await app.packs.create(None, PackDraft(data=data, lang=args.lang), AUTHOR)
    only = [name for name in args.only.split(",") if name]
    if not only:
        return await _finish(app, await app.packs.render_all(None, pack.id, requested_by=AUTHOR), args.out, output)
    answers = [await app.packs.render_one(None, pack.id, doc_id, requested_by=AUTHOR) for doc_id in only]
    return max([await _finish(app, answer, args.out, output) for answer in answers])


def _read_data(path: str) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        data = json.loads(text)
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise InvalidArgument(f"{path} is not UTF-8: byte {reason.start}") from None
    except json.JSONDecodeError as reason:
        raise InvalidArgument(f"{path} is not JSON: line {reason.lineno}, column {reason.colno}: {reason.msg}") from None
    except ValueError as reason:  # a number of thousands of digits
        raise InvalidArgument(f"{path} is not JSON: {str(reason).partition('; use sys.')[0]}") from None
    except RecursionError:
        raise InvalidArgument(f"{path} is nested too deeply") from None
    if not isinstance(data, dict):
        raise InvalidArgument(f"{path} is not a JSON object")
    return data

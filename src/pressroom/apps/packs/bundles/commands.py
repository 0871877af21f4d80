"""`pressroom packs bundle`: one PDF of a pack's documents from the command line."""

import asyncio
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.packs.bundles.model import BundleRequest
from pressroom.apps.packs.model import to_uuid
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp
    from pressroom.apps.packs.bundles.requests import RequestedBundle

AUTHOR = "command line"


def add_commands(add: AddCommand) -> None:
    bundling = add("bundle", bundle_pack, "one PDF of the ready documents of a pack, with contents and page numbers")
    bundling.add_argument("pack")
    bundling.add_argument("--only", metavar="DOCUMENT,…", default="", help="only these documents, in this order")
    bundling.add_argument("--no-contents", action="store_true", help="without a contents page")
    bundling.add_argument("--no-page-numbers", action="store_true")
    bundling.add_argument("--stamp", default="", metavar="TEXT", help="stamped across every page")
    bundling.add_argument("--wait", dest="works", action="store_true", help="work on it here too, and end when it has ended")
    bundling.add_argument("-o", "--out", type=Path, metavar="FILE", help="write the PDF there (with --wait)")
    bundling.add_argument("--org", help="whose pack (default: those without an organisation)")


async def bundle_pack(app: "PacksApp", args: Namespace, output: Output) -> int:
    if args.out is not None and not args.works:
        raise InvalidArgument("-o goes with --wait")
    requested = await app.bundles.request(args.org, args.pack, _read_request(args), requested_by=AUTHOR)
    for doc_id in requested.missing if not args.only else ():
        output.note(f"{doc_id}: left out, it has no ready file")
    if args.works:
        return await _finish(app, requested, args.out, output)
    if output.as_json:
        output.data({"job_id": to_uuid(requested.job_uid), "documents": requested.documents})
    else:
        output.line(f"one PDF of {', '.join(requested.documents)} is queued as {to_uuid(requested.job_uid)}")
    return exits.OK


def _read_request(args: Namespace) -> BundleRequest:
    wanted = {
        "documents": [name for name in args.only.split(",") if name] or None,
        "contents": not args.no_contents,
        "page_numbers": not args.no_page_numbers,
        "stamp": args.stamp,
    }
    try:
        return msgspec.convert(wanted, BundleRequest)
    except msgspec.ValidationError as error:
        raise InvalidArgument(str(error)) from None


async def _finish(app: "PacksApp", requested: "RequestedBundle", path: Path | None, output: Output) -> int:
    from pressroom.apps.packs.bundles.views import bundle_view

    await app.queue.wait_until_ended(requested.job_uid)
    found = await app.bundles.find(requested.pack)
    good = found.good
    if good is None or good.artifact is None or good.number < requested.number:
        output.note(found.latest.last_error or "it was cancelled" if found.latest else "the pack was deleted")
        return exits.PARTIAL
    if path is not None:
        artifact = await app.rendering.artifact(good.artifact)
        data = b"".join([chunk async for chunk in await app.rendering.read(artifact)])
        await asyncio.to_thread(path.write_bytes, data)
    if output.as_json:
        output.data(msgspec.to_builtins(bundle_view(requested.pack, found)))
    else:
        output.line(
            f"{path or to_uuid(good.artifact)}: {good.pages} page{'s' * (good.pages != 1)} of {', '.join(good.versions)}"
        )
    return exits.OK

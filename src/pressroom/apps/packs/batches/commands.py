"""`pressroom packs batch` and `pressroom packs zip`: many packs from a file, and their files as one archive."""

import asyncio
from argparse import Namespace
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from pressroom.app import AddCommand
from pressroom.apps.packs.zip_archive import ZipFile, write_archive
from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.errors import InvalidArgument, NotFound

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp
    from pressroom.apps.packs.batches.lines import LineFormat
    from pressroom.apps.packs.batches.store import Batch
    from pressroom.apps.packs.batches.views import PackBatchView

AUTHOR = "command line"
READ_AT_ONCE = 1 << 16
POLL_SECONDS = 0.5
SHOWN = 100
_FORMATS = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}


def add_commands(add: AddCommand) -> None:
    batching = add("batch", make_batch, "a pack from each line of a CSV or NDJSON file, and all of their documents")
    batching.add_argument("file", help="FILE.csv or FILE.ndjson, or the id of a batch to show it")
    batching.add_argument("--retry", action="store_true", help="request the failed lines of a batch again")
    batching.add_argument("--wait", dest="works", action="store_true", help="work on it here too, and end when all have ended")

    zipping = add("zip", write_zip, "every ready file of a pack, or of a batch, as one zip archive")
    zipping.add_argument("id", help="of a pack, or of a batch")
    zipping.add_argument("-o", "--out", type=Path, metavar="FILE", help="where it goes (default: the id with .zip)")

    for parser in (batching, zipping):
        parser.add_argument("--org", help="whose packs (default: those without an organisation)")


async def make_batch(app: "PacksApp", args: Namespace, output: Output) -> int:
    path = Path(args.file)
    if path.suffix in _FORMATS or await asyncio.to_thread(path.is_file):
        batch = await _start(app, args.org, path)
    elif args.retry:
        batch = await app.batches.retry(args.org, args.file)
    else:
        batch = await app.batches.get(args.org, args.file)
    if args.works:
        batch = await _wait_until_ended(app, args.org, batch, output)
    view = await _view(app, batch)
    if output.as_json:
        output.data(msgspec.to_builtins(view))
    else:
        counts = ", ".join(f"{getattr(view, name)} {name}" for name in ("waiting", "rendering", "ready", "failed"))
        lines = "lines not counted yet" if view.lines is None else f"{view.lines} line{'s' * (view.lines != 1)}"
        output.line(f"{batch.id}: {view.status}, {lines}: {counts}")
        await _tell_failures(app, batch, output)
    return exits.PARTIAL if view.status == "failed" or (args.works and view.failed) else exits.OK


async def _start(app: "PacksApp", org_id: str | None, path: Path) -> "Batch":
    from pressroom.apps.packs.batches.lines import check_header

    if path.suffix not in _FORMATS:
        raise InvalidArgument(f"{path} is neither .csv nor .ndjson")
    format = cast("LineFormat", _FORMATS[path.suffix])
    try:
        check_header(format, await asyncio.to_thread(_read_head, path))
        draft = await app.batches.store_upload(format, _read_chunks(path))
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be read: {reason.strerror}") from None
    batch, _ = await app.batches.start(org_id, format, draft, author=AUTHOR)
    return batch


def _read_head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(READ_AT_ONCE)


async def _read_chunks(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while chunk := await asyncio.to_thread(file.read, READ_AT_ONCE):
            yield chunk


async def _wait_until_ended(app: "PacksApp", org_id: str | None, batch: "Batch", output: Output) -> "Batch":
    """Until no line waits or renders. The jobs of the documents are children of the batch's job and have no end in common."""
    await app.queue.wait_until_ended(batch.job_uid)
    batch = await app.batches.get(org_id, batch.id)
    while (view := await _view(app, batch)).status == "rendering":
        output.note(f"{view.ready + view.failed} of {view.lines} lines have ended")
        await asyncio.sleep(POLL_SECONDS)
    return batch


async def _tell_failures(app: "PacksApp", batch: "Batch", output: Output) -> None:
    from pressroom.apps.packs.batches import store
    from pressroom.apps.packs.batches.views import line_view

    unit = partial(store.list_lines, batch.id, status="failed", limit=SHOWN)
    for line in map(line_view, await app.packs.database.read(unit)):
        for error in line.errors:
            document = f" {error.doc_id}:" if error.doc_id else ""
            output.note(f"line {line.line}:{document} {error.message}")


async def _view(app: "PacksApp", batch: "Batch") -> "PackBatchView":
    from pressroom.apps.packs.batches import store
    from pressroom.apps.packs.batches.views import batch_view

    counts = await app.packs.database.read(partial(store.count_lines, batch.id))
    try:
        job = await app.queue.get(batch.job_uid)
    except NotFound:  # it was pruned
        job = None
    return batch_view(batch, job, counts, "")


async def write_zip(app: "PacksApp", args: Namespace, output: Output) -> int:
    name, files = await _list_files(app, args.org, args.id)
    path = args.out or Path(f"{name}.zip")
    if not files:
        output.note("nothing is ready yet; the archive would be empty")
        return exits.PARTIAL
    try:
        with await asyncio.to_thread(path.open, "wb") as file:
            async for chunk in write_archive(files, app.rendering.blobs.get):
                await asyncio.to_thread(file.write, chunk)
    except OSError as reason:
        raise InvalidArgument(f"{path} cannot be written: {reason.strerror}") from None
    if output.as_json:
        output.data({"path": str(path), "files": [one.name for one in files]})
    else:
        output.line(f"{path}: {len(files)} file{'s' * (len(files) != 1)}")
    return exits.OK


async def _list_files(app: "PacksApp", org_id: str | None, id: str) -> tuple[str, Sequence[ZipFile]]:
    from pressroom.apps.packs.batches.archives import list_batch_files, list_pack_files
    from pressroom.apps.packs.batches.store import BatchNotFound

    try:
        batch = await app.batches.get(org_id, id)
    except BatchNotFound:
        pack = await app.packs.get(org_id, id)
        return pack.id, await list_pack_files(app.packs, pack, by_link=False)
    return f"batch-{batch.id}", await list_batch_files(app.packs.database, batch.id, len(str(batch.lines or 0)))

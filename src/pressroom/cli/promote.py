"""`pressroom promote`: from a file to a server."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home, schema_for
from pressroom.cli.output import Output, bar
from pressroom.config import Settings

if TYPE_CHECKING:
    from pressroom.promote import Promotion

A_LINE_EVERY = 100_000  # rows, where no bar can move


def add_to(commands: Commands) -> None:
    parser = commands.add("promote", promote, "move a database from its file to a PostgreSQL server", makes_database=True)
    parser.add_argument("--to", required=True, metavar="URL", help="postgresql://…, a database that holds no jobs yet")
    parser.add_argument("--artifacts-to", choices=["s3"], help="also copy the artifacts to the bucket of the s3 settings")
    parser.add_argument("--wait", type=float, default=0.0, metavar="SECONDS", help="wait so long for others to leave the file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be copied, and what stands in the way")
    add_home(parser)


def promote(settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom import promote as promotion

    schema = schema_for(settings)
    to_s3 = args.artifacts_to == "s3"
    if args.dry_run:
        found = promotion.rehearse(settings, schema, args.to, artifacts_to_s3=to_s3)
    else:
        with _PromotionProgress(output) as progress:
            found = promotion.promote(
                settings, schema, args.to, artifacts_to_s3=to_s3, wait=args.wait, on_progress=progress.tell, on_wait=output.note
            )
    if output.as_json:
        output.data({"promoted": not args.dry_run, **_promotion_view(found)}, event="promoted")
    else:
        _show(found, output, dry=args.dry_run)
    return exits.FAILED if found.obstacles else exits.OK


def _promotion_view(found: "Promotion") -> dict[str, object]:
    return {
        "source": found.source,
        "target": found.target,
        "done_before": found.done_before,
        "tables": [vars(moved) for moved in found.tables],
        "rows": sum(moved.rows for moved in found.tables),
        "bytes": sum(moved.bytes for moved in found.tables),
        "counters": found.counters,
        "artifacts": found.artifacts and vars(found.artifacts),
        "artifact_folder": found.artifact_folder,
        "left_behind": found.left_behind,
        "obstacles": found.obstacles,
        "key_file": found.key_file,
    }


def _show(found: "Promotion", output: Output, *, dry: bool) -> None:
    output.table(("TABLE", "ROWS", "BYTES", "HASH"), ((one.table, one.rows, one.bytes, one.hash) for one in found.tables))
    output.line()
    rows, size = sum(one.rows for one in found.tables), sum(one.bytes for one in found.tables)
    verb = "would be copied" if dry else "were copied before" if found.done_before else "were copied and verified"
    output.line(f"{rows:,} rows, {size:,} bytes {verb} from {found.source} to {found.target}")
    if found.artifacts is not None:
        verb = "would go to the bucket" if dry else f"are in the bucket, {found.artifacts.there_before:,} of them from before"
        output.line(f"{found.artifacts.blobs:,} artifacts, {found.artifacts.bytes:,} bytes {verb}")
    else:
        output.line(f"the artifacts stay in {found.artifact_folder}: let the setting `artifacts` name it")
    for table in found.left_behind:
        output.line(f"the table {table} is not Pressroom's and stays behind")
    for obstacle in found.obstacles:
        output.line(f"in the way: {obstacle}")
    if found.key_file:
        output.line(f"secrets are encrypted with the key in {found.key_file}: let PRESSROOM_SECRET_KEY be its content")
    if not dry:
        output.line(f"from now on: database = {found.target}")


class _PromotionProgress:
    """On standard error: a bar that moves in a terminal, and elsewhere a line now and then."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = sys.stderr.isatty()
        self._noted: dict[str, int] = {}

    def __enter__(self) -> "_PromotionProgress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")

    def tell(self, what: str, done: int, total: int) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{bar({'done': done, 'total': total, 'message': what})}")
            sys.stderr.flush()
        elif done - self._noted.get(what, 0) >= A_LINE_EVERY:
            self._noted[what] = done
            self._output.note(f"{done:,} of {total:,} {what}")

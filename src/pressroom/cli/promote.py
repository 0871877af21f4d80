"""`pressroom promote`: from a file to a server."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom.cli import exits
from pressroom.cli.commands import Commands, add_home_option, schema_for
from pressroom.cli.output import Output, format_progress_bar
from pressroom.config import Settings

if TYPE_CHECKING:
    from pressroom.promote import Promotion

A_LINE_EVERY = 100_000  # rows, where no bar can move


def add_commands(commands: Commands) -> None:
    parser = commands.add("promote", promote, "move a database from its file to a PostgreSQL server", makes_database=True)
    parser.add_argument("--to", required=True, metavar="URL", help="postgresql://…, a database that holds no jobs yet")
    parser.add_argument("--artifacts-to", choices=["s3"], help="also copy the artifacts to the bucket of the s3 settings")
    parser.add_argument("--wait", type=float, default=0.0, metavar="SECONDS", help="wait so long for others to leave the file")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be copied, and what stands in the way")
    add_home_option(parser)


def promote(settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom import promote as promotion

    schema = schema_for(settings)
    to_s3 = args.artifacts_to == "s3"
    if args.dry_run:
        found = promotion.rehearse(settings, schema, args.to, artifacts_to_s3=to_s3)
    else:
        with _PromotionProgress(output) as progress:
            found = promotion.promote(
                settings, schema, args.to, artifacts_to_s3=to_s3, wait=args.wait, on_progress=progress.show, on_wait=output.note
            )
    if output.as_json:
        output.data({"promoted": not args.dry_run, **_promotion_view(found)}, event="promoted")
    else:
        _show_promotion(found, output, dry=args.dry_run)
    return exits.FAILED if found.obstacles else exits.OK


def _promotion_view(promotion: "Promotion") -> dict[str, object]:
    return {
        "source": promotion.source,
        "target": promotion.target,
        "done_before": promotion.done_before,
        "tables": [vars(moved) for moved in promotion.tables],
        "rows": sum(moved.rows for moved in promotion.tables),
        "bytes": sum(moved.bytes for moved in promotion.tables),
        "counters": promotion.counters,
        "artifacts": promotion.artifacts and vars(promotion.artifacts),
        "artifact_folder": promotion.artifact_folder,
        "left_behind": promotion.left_behind,
        "obstacles": promotion.obstacles,
        "key_file": promotion.key_file,
    }


def _show_promotion(promotion: "Promotion", output: Output, *, dry: bool) -> None:
    output.table(("TABLE", "ROWS", "BYTES", "HASH"), ((one.table, one.rows, one.bytes, one.hash) for one in promotion.tables))
    output.line()
    rows, size = sum(one.rows for one in promotion.tables), sum(one.bytes for one in promotion.tables)
    verb = "would be copied" if dry else "were copied before" if promotion.done_before else "were copied and verified"
    output.line(f"{rows:,} rows, {size:,} bytes {verb} from {promotion.source} to {promotion.target}")
    if promotion.artifacts is not None:
        verb = (
            "would go to the bucket" if dry else f"are in the bucket, {promotion.artifacts.there_before:,} of them from before"
        )
        output.line(f"{promotion.artifacts.blobs:,} artifacts, {promotion.artifacts.bytes:,} bytes {verb}")
    else:
        output.line(f"the artifacts stay in {promotion.artifact_folder}: let the setting `artifacts` name it")
    for table in promotion.left_behind:
        output.line(f"the table {table} is not Pressroom's and stays behind")
    for obstacle in promotion.obstacles:
        output.line(f"in the way: {obstacle}")
    if promotion.key_file:
        output.line(f"secrets are encrypted with the key in {promotion.key_file}: let PRESSROOM_SECRET_KEY be its content")
    if not dry:
        output.line(f"from now on: database = {promotion.target}")


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

    def show(self, what: str, done: int, total: int) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K{format_progress_bar({'done': done, 'total': total, 'message': what})}")
            sys.stderr.flush()
        elif done - self._noted.get(what, 0) >= A_LINE_EVERY:
            self._noted[what] = done
            self._output.note(f"{done:,} of {total:,} {what}")

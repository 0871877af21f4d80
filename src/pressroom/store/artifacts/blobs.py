"""Which bytes may be relied on, and which may be deleted. Units of work over the rows of `blob`.

The bytes lie elsewhere, and no transaction spans both. So before bytes are put they are reserved here; before an artifact
refers to them the reservation is checked here; and before they are deleted they are condemned here, for good: the same bytes
put again get another generation, which is another name in the artifact store. A late delete removes an old generation that no
row refers to.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pressroom.errors import BlobGone
from pressroom.model import Statement, Work
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

# The database refuses every other move (migrations/*/0002_artifacts.sql); a test compares the two.
# Out of `deleting` and `deleted` only a new generation becomes `marked`.
MOVES: dict[str, frozenset[str]] = {
    "marked": frozenset({"live", "deleting"}),
    "live": frozenset({"marked"}),
    "deleting": frozenset({"deleted", "marked"}),
    "deleted": frozenset({"marked", "deleting"}),
}


class BlobName(NamedTuple):
    """What the artifact store knows bytes by."""

    sha256: str
    generation: int


def generation_of_live(sha256: str) -> Work[int | None]:
    """The generation of bytes that an artifact refers to now: those need no reservation. Reads only."""
    rows = yield Statement("find_blob", {"sha256": sha256})
    return rows[0][0] if rows and rows[0][1] == "live" else None


def reserve(sha256: str, size: int) -> Work[int]:
    """Announce a put. Returns the generation to put the bytes under; they are not collected before the grace is over."""
    moment = yield from now()
    ((generation,),) = yield Statement("reserve_blob", {"sha256": sha256, "size": size, "now": moment})
    return int(generation)


def generations_of_live(hashes: Sequence[str]) -> Work[dict[str, int]]:
    """As `generation_of_live`, for many. Those that no artifact refers to are not in it."""
    return dict((yield Statement("find_live_blobs", {"hashes": compact(hashes)})))


def reserve_many(sizes: Mapping[str, int]) -> Work[dict[str, int]]:
    """Announce the puts of many, by hash. In the order of their hashes, so that two callers never wait for each other."""
    moment = yield from now()
    rows = yield Statement("reserve_blobs", {"blobs": compact(sorted(sizes.items())), "now": moment})
    return {sha256: int(generation) for sha256, generation in rows}


def require_live(blob: BlobName, size: int) -> Work[None]:
    """Make a blob live, in the transaction that refers to it. Raises BlobGone if its bytes may be deleted."""
    moment = yield from now()
    asked = {"sha256": blob.sha256, "generation": blob.generation, "size": size, "now": moment}
    if not (yield Statement("require_live_blob", asked)):
        raise _blob_gone_error(blob.sha256)


def require_all_live(blobs: Iterable[tuple[BlobName, int]]) -> Work[None]:
    moment = yield from now()
    wanted = {(*name, size) for name, size in blobs}
    kept = yield Statement("require_live_blobs", {"blobs": compact(sorted(wanted)), "now": moment})
    missing = {sha256 for sha256, _, _ in wanted} - {sha256 for (sha256,) in kept}
    if missing or len(kept) < len(wanted):
        raise _blob_gone_error(min(missing, default="of two generations"))


def _blob_gone_error(sha256: str) -> BlobGone:
    return BlobGone(f"the bytes of blob {sha256[:12]} were collected meanwhile; they must be put again")


def mark_unreferenced(blobs: Sequence[str]) -> Work[int]:
    """Of these, start the grace of those that nothing refers to any more."""
    moment = yield from now()
    return len((yield Statement("mark_blobs", {"blobs": compact(blobs), "now": moment})))


def condemn_marked(grace: int, limit: int) -> Work[int]:
    """Give up what nothing referred to for `grace` milliseconds. From here on it may be deleted."""
    moment = yield from now()
    return len((yield Statement("condemn_blobs", {"now": moment, "before": moment - grace, "limit": limit})))


def list_condemned(limit: int) -> Work[list[BlobName]]:
    rows = yield Statement("list_condemned", {"limit": limit})
    return [BlobName(*row) for row in rows]


def record_deleted(deleted: Sequence[BlobName]) -> Work[int]:
    """Say that the bytes of condemned blobs were deleted."""
    moment = yield from now()
    return len((yield Statement("delete_condemned_blobs", {"blobs": compact(deleted), "now": moment})))


def delete_rows(grace: int, limit: int) -> Work[int]:
    """Drop the rows of what was deleted `grace` milliseconds ago, without ever giving one of their generations again."""
    moment = yield from now()
    rows = yield Statement("forget_blobs", {"before": moment - grace, "limit": limit})
    if rows:
        yield Statement("raise_epoch", {"value": 1 + max(generation for (generation,) in rows)})
    return len(rows)


def condemn_orphan(blob: BlobName, size: int) -> Work[bool]:
    """Whether bytes that were found in the artifact store may be deleted. Those that no row knows are condemned first."""
    moment = yield from now()
    asked = {"sha256": blob.sha256, "generation": blob.generation, "size": size, "now": moment}
    if (yield Statement("condemn_orphan", asked)):
        return True
    ((generation, _, _),) = yield Statement("find_blob", {"sha256": blob.sha256})
    return bool(blob.generation < generation)  # an old generation, left behind by a process that died


def find_unexpected(names: Sequence[BlobName]) -> Work[list[BlobName]]:
    """Of the bytes that were found in the artifact store, those that should not be there. Reads only."""
    found = []
    for name in names:
        rows = yield Statement("find_blob", {"sha256": name.sha256})
        if not rows or rows[0][0] != name.generation or rows[0][1] == "deleted":
            found.append(name)
    return found

"""Bundles in the database: units of work. A pack keeps the newest ready one, what came after it, and no other."""

import json
from typing import Any

import msgspec

from pressroom.apps.packs.bundles.model import BundleOrder, PackBundle
from pressroom.apps.packs.model import to_uuid
from pressroom.apps.packs.store import bundle_holder
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now


class PackBundles(msgspec.Struct, frozen=True):
    """`good` is the newest that is ready; a later one may have failed."""

    latest: PackBundle
    good: PackBundle | None


def find_bundles(pack: str) -> Work[PackBundles | None]:
    rows = yield Statement("packs.list_bundles", {"pack": pack})
    newest_first = [_bundle_of_row(row) for row in rows]
    if not newest_first:
        return None
    return PackBundles(newest_first[0], next((one for one in newest_first if one.outcome == "ready"), None))


def find_bundle_of_file(file_id: str) -> Work[PackBundle | None]:
    rows = yield Statement("packs.find_bundle_of_file", {"file_id": file_id})
    return _bundle_of_row(rows[0]) if rows else None


def next_number(pack: str) -> Work[int]:
    """The pack is locked: two requests do not get the same."""
    found = yield from find_bundles(pack)
    return found.latest.number + 1 if found else 1


def insert_bundle(order: BundleOrder, job_uid: str, requested_by: str) -> Work[None]:
    """In the transaction that submits its job. It takes the place of those that failed, and of one whose queued job it took."""
    moment = yield from now()
    yield Statement("packs.delete_replaced_bundles", {"pack": order.pack_id, "job_uid": job_uid})
    yield Statement(
        "packs.insert_bundle",
        {
            "pack": order.pack_id,
            "number": order.number,
            "job_uid": job_uid,
            "job_id": to_uuid(job_uid),
            "bundle_order": compact(msgspec.to_builtins(order)),
            "requested_by": requested_by,
            "now": moment,
        },
    )


def settle_ready(
    order: BundleOrder, job_uid: str, org_id: str | None, draft: ArtifactDraft, *, pages: int | None, versions: dict[str, int]
) -> Work[None]:
    """The file of a bundle, in the transaction that ends its job, which may be a retry of the one that failed. The file before
    is held no longer."""
    moment = yield from now()
    place = {"pack": order.pack_id, "number": order.number}
    settled = yield Statement(
        "packs.settle_ready_bundle",
        {
            **place,
            "job_uid": job_uid,
            "job_id": to_uuid(job_uid),
            "artifact": draft.uid,
            "file_id": to_uuid(draft.uid),
            "pages": pages,
            "size": draft.size,
            "sha256": draft.sha256,
            "versions": compact(versions),
            "now": moment,
        },
    )
    if not settled:  # the pack was purged, or a newer bundle was requested
        return
    holder = bundle_holder(order.pack_id)
    yield from artifacts.release(holder)
    yield from artifacts.record(draft, job=job_uid, org_id=org_id, holder=holder)
    yield Statement("packs.delete_older_bundles", place)


def settle_ended(order: BundleOrder, job_uid: str, outcome: str, error: dict[str, Any] | None) -> Work[None]:
    """A bundle that failed or was cancelled."""
    moment = yield from now()
    shown = {name: value for name, value in (error or {}).items() if name != "detail"}
    yield Statement(
        "packs.settle_ended_bundle",
        {
            "pack": order.pack_id,
            "number": order.number,
            "job_uid": job_uid,
            "outcome": outcome,
            "error": compact(shown) if shown else None,
            "now": moment,
        },
    )


def _bundle_of_row(row: Row) -> PackBundle:
    values = dict(zip(PackBundle.__struct_fields__, row, strict=True))
    values["order"] = msgspec.json.decode(values["order"], type=BundleOrder)
    values["error"] = json.loads(values["error"]) if values["error"] else None
    values["versions"] = json.loads(values["versions"]) if values["versions"] else {}
    return PackBundle(**values)

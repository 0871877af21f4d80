"""Packs, their data and their renders in the database: units of work."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from pressroom.apps.packs import search
from pressroom.apps.packs.access import Overlay
from pressroom.apps.packs.errors import DataConflict, PackNotFound
from pressroom.apps.packs.model import Pack, PackRender, RenderTarget, to_uuid
from pressroom.base.search_terms import query_terms
from pressroom.errors import NotFound
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work
from pressroom.store.artifacts import aliases, artifacts
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 53
PURGED_AT_ONCE = 20
RELEASED_AT_ONCE = 100  # files of older versions


class DataVersion(msgspec.Struct, frozen=True):
    number: int
    sha256: str
    author: str
    date_created: int


class NewPack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack whose data was checked and encoded."""

    session_id: str
    user_id: str
    title: str
    lang: str
    data: str
    data_words: str  # for search
    author: str


def insert_pack(org_id: str, new: NewPack) -> Work[Pack]:
    moment = yield from now()
    id = to_uuid(new_uid())
    fields = {"session_id": new.session_id or id, "user_id": new.user_id, "title": new.title, "lang": new.lang}
    yield Statement("packs.insert_pack", {"id": id, "org_id": org_id, "now": moment, **fields})
    yield from _insert_data(id, 1, new.data, new.author, moment)
    yield from search.save_words(id, new.title, new.user_id, fields["session_id"], new.data_words)
    return (yield from get_pack(org_id, id))


def get_pack(org_id: str, id: str) -> Work[Pack]:
    """Raises PackNotFound, also for a deleted one and another organisation's."""
    return _pack_of((yield Statement("packs.find_pack", {"id": id, "org_id": org_id})))


def get_pack_by_link(digest: str) -> Work[Pack]:
    moment = yield from now()
    rows = yield Statement("packs.find_pack_by_link", {"digest": digest, "now": moment})
    return _pack_of(rows)


def lock_pack(org_id: str, id: str) -> Work[Pack]:
    """The pack, which no other transaction renders or changes until this one ends."""
    moment = yield from now()
    return _pack_of((yield Statement("packs.lock_pack", {"id": id, "org_id": org_id, "now": moment})))


def _pack_of(rows: Sequence[Row]) -> Pack:
    if not rows:
        raise PackNotFound
    return Pack(*rows[0])


def save_data(org_id: str, id: str, data: str, words: str, author: str, expected: int | None) -> Work[Pack]:
    """As the next version. The same data again makes none. `words` are those for search. Raises DataConflict if `expected` is
    given and not the newest version."""
    pack = yield from lock_pack(org_id, id)
    if expected is not None and expected != pack.data_version:
        raise DataConflict(expected, pack.data_version)
    newest = yield from list_data_versions(id, 1)
    if newest[0].sha256 == _digest(data):
        return pack
    moment = yield from now()
    yield from _insert_data(id, pack.data_version + 1, data, author, moment)
    yield Statement("packs.set_pack_data_version", {"id": id, "number": pack.data_version + 1, "now": moment})
    yield from search.save_words(id, pack.title, pack.user_id, pack.session_id, words)
    return (yield from get_pack(org_id, id))


def _insert_data(id: str, number: int, data: str, author: str, moment: int) -> Work[None]:
    fields = {"sha256": _digest(data), "body": data, "author": author, "now": moment}
    yield Statement("packs.insert_pack_data", {"pack": id, "number": number, **fields})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_data(id: str, number: int) -> Work[dict[str, Any]]:
    rows = yield Statement("packs.find_pack_data", {"pack": id, "number": number})
    if not rows:
        raise NotFound(f"the pack has no version {number} of its data")
    data: dict[str, Any] = json.loads(rows[0][0])
    return data


def list_data_versions(id: str, limit: int = 100) -> Work[list[DataVersion]]:
    """Newest first."""
    rows = yield Statement("packs.list_pack_data", {"pack": id, "limit": limit})
    return [DataVersion(*row) for row in rows]


def set_link(org_id: str, id: str, digest: str | None, expires_at: int | None) -> Work[Pack]:
    """Replace the pack's link, or withdraw it (None and None). The one before stops working."""
    yield from lock_pack(org_id, id)
    moment = yield from now()
    yield Statement("packs.set_pack_link", {"id": id, "digest": digest, "expires_at": expires_at, "now": moment})
    return (yield from get_pack(org_id, id))


def delete_pack(org_id: str, id: str) -> Work[None]:
    """Softly: `purge_packs` deletes it after the retention. Its link stops working at once."""
    yield from lock_pack(org_id, id)
    moment = yield from now()
    yield Statement("packs.mark_pack_deleted", {"id": id, "now": moment})


def restore_pack(org_id: str, id: str) -> Work[Pack]:
    yield from _found_deleted(org_id, id)
    moment = yield from now()
    yield Statement("packs.restore_pack", {"id": id, "now": moment})
    return (yield from get_pack(org_id, id))


def _found_deleted(org_id: str, id: str) -> Work[None]:
    if not (yield Statement("packs.find_deleted_pack", {"id": id, "org_id": org_id})):
        raise PackNotFound


def any_purgeable(older_than: int) -> Work[bool]:
    """Whether a pack was deleted more than `older_than` milliseconds ago."""
    moment = yield from now()
    return bool((yield Statement("packs.list_long_deleted_packs", {"before": moment - older_than, "limit": 1})))


def purge_packs(older_than: int, limit: int = PURGED_AT_ONCE) -> Work[int]:
    """Delete packs that were deleted more than `older_than` milliseconds ago, and release their files. Returns how many."""
    moment = yield from now()
    rows = yield Statement("packs.list_long_deleted_packs", {"before": moment - older_than, "limit": limit})
    for (id,) in rows:
        if not (yield Statement("packs.lock_deleted_pack", {"id": id})):
            continue  # it was restored meanwhile
        # Rows go before their files: a render that settles just now has its file released, or finds no row for it.
        for doc_id, number, outcome in (yield Statement("packs.delete_renders", {"pack": id})):
            if outcome == "ready":
                yield from artifacts.release(file_holder(id, doc_id, number))
        yield Statement("packs.delete_bundles", {"pack": id})
        yield from artifacts.release(bundle_holder(id))
        yield from artifacts.release(snapshot_holder(id))
        yield Statement("packs.delete_pack", {"id": id})
    return len(rows)


def file_holder(pack: str, doc_id: str, number: int) -> str:
    return f"packs:{pack}/{doc_id}#{number}"


def bundle_holder(pack: str) -> str:
    return f"packs:{pack}/bundle"


def file_key(job_uid: str, doc_id: str) -> str:
    """The second name of a file's bytes in the artifact store (R23)."""
    return f"renders/{to_uuid(job_uid)}/{doc_id}.pdf"


def snapshot_holder(pack: str) -> str:
    return f"packs:{pack}/snapshot"


def list_overlays_of(pack: Pack) -> Work[list[Overlay]]:
    """The overlays that apply to a pack."""
    rows = yield Statement(
        "packs.list_overlays_of_pack",
        {"org_id": pack.org_id, "user_id": pack.user_id, "session_id": pack.session_id, "pack": pack.id},
    )
    return [_overlay_of_row(row) for row in rows]


def list_overlays(org_id: str, scope_id: str, limit: int) -> Work[list[Overlay]]:
    """All of an organisation, or those of a user, session or pack."""
    wanted = {"org_id": org_id, "scope_id": scope_id, "limit": limit}
    rows = yield Statement("packs.list_overlays", wanted)
    return [_overlay_of_row(row) for row in rows]


def find_overlay(org_id: str, doc_id: str, scope: str, scope_id: str) -> Work[Overlay | None]:
    place = {"org_id": org_id, "doc_id": doc_id, "scope": scope, "scope_id": scope_id}
    rows = yield Statement("packs.find_overlay", place)
    return _overlay_of_row(rows[0]) if rows else None


def save_overlay(org_id: str, overlay: Overlay, author: str) -> Work[None]:
    moment = yield from now()
    fields = msgspec.structs.asdict(overlay)
    flags = {name: None if fields[name] is None else int(fields[name]) for name in ("enabled", "unlocked")}
    yield Statement("packs.save_overlay", {**fields, **flags, "org_id": org_id, "author": author, "now": moment})


def delete_overlay(org_id: str, doc_id: str, scope: str, scope_id: str) -> Work[bool]:
    place = {"org_id": org_id, "doc_id": doc_id, "scope": scope, "scope_id": scope_id}
    return bool((yield Statement("packs.delete_overlay", place)))


def _overlay_of_row(row: Row) -> Overlay:
    doc_id, scope, scope_id, enabled, tier, unlocked, title, description, reason = row
    return Overlay(
        doc_id=doc_id,
        scope=scope,
        scope_id=scope_id,
        enabled=None if enabled is None else bool(enabled),
        tier=tier,
        unlocked=None if unlocked is None else bool(unlocked),
        title=title,
        description=description,
        reason=reason,
    )


class PackFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What is empty does not filter. `status` is that of the newest render of any document. The words of `text` are searched
    for in title, user, session and data; the last may be a prefix."""

    user_id: str = ""
    session_id: str = ""
    status: str = ""
    text: str = ""


class PackSummary(msgspec.Struct, frozen=True):
    """A pack in a list, with how many of its documents are in each state."""

    pack: Pack
    states: dict[str, int]


AFTER_ALL = "g"  # sorts behind every UUID


def list_packs(org_id: str, wanted: PackFilter, *, before: str = "", limit: int = 50) -> Work[list[PackSummary]]:
    """Newest first; from the first one if `before` is ""."""
    filters = {"user_id": wanted.user_id, "session_id": wanted.session_id, "status": wanted.status}
    place = {"org_id": org_id, "before": before or AFTER_ALL, "limit": limit, **filters}
    statement = Statement("packs.list_packs", place)
    if wanted.text:
        if not (words := query_terms(wanted.text)):
            return []
        statement = Statement("packs.search_packs", {**place, "words": compact(words)})
    packs = [Pack(*row) for row in (yield statement)]
    states: dict[str, dict[str, int]] = {}
    for id, state, count in (yield Statement("packs.count_document_states", {"packs": compact([pack.id for pack in packs])})):
        states.setdefault(id, {})[state] = int(count)
    return [PackSummary(pack, states.get(pack.id, {})) for pack in packs]


class StateCounts(msgspec.Struct, frozen=True):
    """How many of the newest `packs` packs have a document in each state."""

    packs: int = 0
    states: dict[str, int] = {}


def count_packs_by_state(org_id: str, limit: int) -> Work[StateCounts]:
    rows = yield Statement("packs.count_packs_by_state", {"org_id": org_id, "limit": limit})
    return StateCounts(int(rows[0][2]) if rows else 0, {state: int(count) for state, count, _ in rows})


def list_deleted_packs(org_id: str, limit: int) -> Work[list[Pack]]:
    """Those that can be restored, deleted last first."""
    return [Pack(*row) for row in (yield Statement("packs.list_deleted_packs", {"org_id": org_id, "limit": limit}))]


class UserFile(msgspec.Struct, frozen=True):
    file_id: str
    pack_id: str
    doc_id: str
    version: int
    pages: int | None
    size: int
    date_settled: int


def list_files_of_user(org_id: str, user_id: str, limit: int = 200) -> Work[list[UserFile]]:
    """Of the newest packs."""
    place = {"org_id": org_id, "user_id": user_id, "limit": limit}
    return [UserFile(*row) for row in (yield Statement("packs.list_files_of_user", place))]


class DocumentRenders(msgspec.Struct, frozen=True):
    """`good` is the newest render that is ready; a later one may have failed."""

    latest: PackRender
    good: PackRender | None


def list_document_renders(pack: str) -> Work[dict[str, DocumentRenders]]:
    """By document: of those that were ever requested."""
    by_document: dict[str, list[PackRender]] = {}
    for row in (yield Statement("packs.list_document_renders", {"pack": pack})):
        render = render_of_row(row)
        by_document.setdefault(render.doc_id, []).append(render)
    found = {}
    for doc_id, renders in by_document.items():
        newest_first = sorted(renders, key=lambda one: -one.number)
        good = next((one for one in newest_first if one.outcome == "ready"), None)
        found[doc_id] = DocumentRenders(newest_first[0], good)
    return found


def list_renders(pack: str, doc_id: str, *, before: int = BEYOND, limit: int = 100) -> Work[list[PackRender]]:
    """Of one document, newest first."""
    place = {"pack": pack, "doc_id": doc_id, "before": before, "limit": limit}
    return [render_of_row(row) for row in (yield Statement("packs.list_renders_of_document", place))]


def find_render(pack: str, doc_id: str, number: int) -> Work[PackRender | None]:
    rows = yield Statement("packs.find_render", {"pack": pack, "doc_id": doc_id, "number": number})
    return render_of_row(rows[0]) if rows else None


def list_kept_versions(pack: str, doc_id: str) -> Work[frozenset[int]]:
    """Numbers of the versions whose files are still kept."""
    return frozenset(number for (number,) in (yield Statement("packs.list_kept_versions", {"pack": pack, "doc_id": doc_id})))


def find_render_of_job(job_uid: str) -> Work[PackRender | None]:
    rows = yield Statement("packs.find_render_of_job", {"job_uid": job_uid})
    return render_of_row(rows[0]) if rows else None


def find_render_of_file(file_id: str) -> Work[PackRender | None]:
    rows = yield Statement("packs.find_render_of_file", {"file_id": file_id})
    return render_of_row(rows[0]) if rows else None


class NewPackRender(msgspec.Struct, frozen=True, kw_only=True):
    target: RenderTarget
    job_uid: str
    entry_sha256: str
    snapshot: str | None
    requested_by: str
    max_attempts: int
    retry_of: str | None = None


def insert_renders(renders: Iterable[NewPackRender]) -> Work[None]:
    """In the transaction that submits their jobs. A queued job that took a newer payload supersedes the render it was for."""
    moment = yield from now()
    for new in renders:
        order = new.target.render_request
        place = {"pack": new.target.pack_id, "doc_id": new.target.doc_id, "number": order.number}
        yield Statement("packs.supersede_renders", {"job_uid": new.job_uid, "number": order.number, "now": moment})
        yield Statement(
            "packs.insert_render",
            {
                **place,
                "job_uid": new.job_uid,
                "job_id": to_uuid(new.job_uid),
                "session_id": new.target.session_id,
                "data_version": order.data_version,
                "config": compact(order.config),
                "entry_sha256": new.entry_sha256,
                "snapshot": new.snapshot,
                "requested_by": new.requested_by,
                "max_attempts": new.max_attempts,
                "retry_of": new.retry_of,
                "now": moment,
            },
        )
        yield Statement("packs.set_latest_render", place)


def settle_ready(
    target: RenderTarget,
    job_uid: str,
    org_id: str | None,
    draft: ArtifactDraft,
    *,
    pages: int | None,
    engines: dict[str, str],
    keep: int,
) -> Work[None]:
    """The file of a render, in the transaction that ends its job. Of each document the newest `keep` files stay; 0 is all."""
    moment = yield from now()
    place = {"pack": target.pack_id, "doc_id": target.doc_id, "number": target.render_request.number}
    settled = yield Statement(
        "packs.settle_ready_render",
        {
            **place,
            "job_uid": job_uid,
            "job_id": to_uuid(job_uid),
            "artifact": draft.uid,
            "file_id": to_uuid(draft.uid),
            "pages": pages,
            "size": draft.size,
            "sha256": draft.sha256,
            "engines": compact(engines),
            "now": moment,
        },
    )
    if not settled:  # the pack was purged, or the render has its file already
        return
    holder = file_holder(target.pack_id, target.doc_id, target.render_request.number)
    yield from artifacts.record(draft, job=job_uid, org_id=org_id, holder=holder)
    yield from aliases.attach(file_key(job_uid, target.doc_id), draft.uid)
    yield Statement("packs.set_good_render", place)
    if keep:
        older = {"pack": target.pack_id, "doc_id": target.doc_id, "keep": keep, "limit": RELEASED_AT_ONCE}
        for (number,) in (yield Statement("packs.list_outdated_files", older)):
            yield from artifacts.release(file_holder(target.pack_id, target.doc_id, number))


def settle_ended(target: RenderTarget, job_uid: str, outcome: str, error: dict[str, Any] | None) -> Work[None]:
    """A render that failed, was cancelled or superseded. A later render of the same job has a number of its own."""
    moment = yield from now()
    shown = {name: value for name, value in (error or {}).items() if name != "detail"}
    yield Statement(
        "packs.settle_ended_render",
        {
            "pack": target.pack_id,
            "doc_id": target.doc_id,
            "number": target.render_request.number,
            "job_uid": job_uid,
            "outcome": outcome,
            "error": compact(shown) if shown else None,
            "now": moment,
        },
    )


def render_of_row(row: Row) -> PackRender:
    values = dict(zip(PackRender.__struct_fields__, row, strict=True))
    for name in ("config", "error", "engines"):
        values[name] = json.loads(values[name]) if values[name] else None
    values["engines"] = values["engines"] or {}
    return PackRender(**values)

"""The service of bundles: routes and commands request and find them through it."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from pressroom.apps.packs import store as packs_store
from pressroom.apps.packs.bundles import store
from pressroom.apps.packs.bundles.contents_titles import contents_title
from pressroom.apps.packs.bundles.model import BundleEntry, BundleOrder, BundleRequest, PackBundle
from pressroom.apps.packs.bundles.rendering import NAME
from pressroom.apps.packs.composition import DEFAULT_LANG
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.errors import DocumentsNotReady
from pressroom.apps.packs.model import Pack
from pressroom.apps.packs.packs import Packs
from pressroom.apps.packs.planning import ListedDocument, key_prefix, list_documents, require_document
from pressroom.apps.packs.settings import PacksSettings
from pressroom.errors import InvalidArgument
from pressroom.model import Tier, Work
from pressroom.queue import Queue
from pressroom.submission.request import Request

# Names in the strings of the configuration: what stands over the contents page, and what a document is called in it.
CONTENTS_STRING = "bundle.contents"
TITLE_STRING = "document."

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}")


class RequestedBundle(msgspec.Struct, frozen=True):
    """`missing` are documents that the pack may have and that have no ready file yet."""

    pack: Pack
    job_uid: str
    number: int
    documents: list[str]
    missing: list[str]


class FoundBundle(msgspec.Struct, frozen=True):
    """`outdated` tells whether one made now would have other documents or newer versions of them than `good` has."""

    latest: PackBundle | None
    good: PackBundle | None
    outdated: bool


class Bundles:
    def __init__(self, queue: Queue, packs: Packs, settings: PacksSettings) -> None:
        self._queue = queue
        self._packs = packs
        self._settings = settings

    async def request(
        self,
        org_id: str | None,
        pack_id: str,
        wanted: BundleRequest,
        *,
        requested_by: str,
        user: str | None = None,
        **submit_options: Any,
    ) -> RequestedBundle:
        """A job that makes one PDF. While one is queued, it is that one's job.

        Raises DocumentsNotReady, and for documents that are named UnknownDocument, DocumentDisabled and DocumentLocked.
        """
        pack = await self._packs.get(org_id, pack_id, user=user)
        async with self._queue.transaction() as tx:
            order, missing = await tx.run(partial(_make_order, pack, wanted, self._settings), name="packs")
            request = Request(
                NAME,
                msgspec.to_builtins(order),
                key=f"{key_prefix(pack.id)}/bundle",
                org_id=pack.org_id or None,
                subject=f"one PDF of {pack.title or f'pack {pack.id}'}"[:200],
                **{"tier": Tier.INTERACTIVE, **submit_options},
            )
            (job,) = await self._queue.submit_many([request], within=tx)
            await tx.run(partial(store.insert_bundle, order, job.uid, requested_by), name="packs")
        return RequestedBundle(pack, job.uid, order.number, [entry.doc_id for entry in order.documents], missing)

    async def find(self, pack: Pack, *, for_holder: bool = False) -> FoundBundle:
        """For a holder of the pack's link without bundles that have a document which is locked or disabled now."""
        return await self._packs.database.read(partial(_find, pack, self._settings, for_holder))


def _find(pack: Pack, settings: PacksSettings, for_holder: bool) -> Work[FoundBundle]:
    found = yield from store.find_bundles(pack.id)
    if found is None:
        return FoundBundle(None, None, False)
    listed = yield from list_documents(pack, settings)
    available = {one.document.doc_id for one in listed if one.document.is_available}
    latest, good = [
        None if one is None or (for_holder and not {entry.doc_id for entry in one.order.documents} <= available) else one
        for one in (found.latest, found.good)
    ]
    return FoundBundle(latest, good, good is not None and _is_outdated(good, listed))


def _is_outdated(good: PackBundle, listed: Sequence[ListedDocument]) -> bool:
    newest = {
        one.document.doc_id: one.renders.good.number for one in listed if one.is_ready and one.renders and one.renders.good
    }
    if good.order.all_ready:
        return newest != good.versions
    return any(newest.get(doc_id) != version for doc_id, version in good.versions.items())


def _make_order(pack: Pack, wanted: BundleRequest, settings: PacksSettings) -> Work[tuple[BundleOrder, list[str]]]:
    """Which documents it is made of, with the titles that they have there; and those of the pack that are not ready."""
    pack = yield from packs_store.lock_pack(pack.org_id, pack.id)
    listed = yield from list_documents(pack, settings)
    available = [one for one in listed if one.document.is_available]
    missing = [one.document.doc_id for one in available if not one.is_ready]
    entries = wanted.entries()
    if entries is not None:
        _require_ready(listed, entries)
    elif len(missing) == len(available):
        raise DocumentsNotReady(missing)
    strings = yield from _read_strings(pack)
    titles = {one.document.doc_id: _title_of(one, strings) for one in available}
    chosen = [BundleEntry(one.document.doc_id) for one in available if one.is_ready] if entries is None else entries
    over_contents = strings.get(CONTENTS_STRING)
    lang = pack.lang or DEFAULT_LANG
    order = BundleOrder(
        pack_id=pack.id,
        session_id=pack.session_id,
        number=(yield from store.next_number(pack.id)),
        documents=[msgspec.structs.replace(one, title=one.title or titles[one.doc_id]) for one in chosen],
        all_ready=entries is None,
        title=pack.title,
        lang=lang if _LANGUAGE.fullmatch(lang) else "",
        contents=wanted.contents,
        contents_title=over_contents[:1_000] if isinstance(over_contents, str) else contents_title(lang),
        page_numbers=wanted.page_numbers,
        stamp=wanted.stamp,
        stamps=wanted.stamps,
    )
    return order, missing


def _require_ready(listed: Sequence[ListedDocument], entries: Sequence[BundleEntry]) -> None:
    names = [entry.doc_id for entry in entries]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidArgument(f"documents: {twice!r} is named twice")
    documents = [one.document for one in listed]
    for name in names:
        require_document(documents, name)
    ready = {one.document.doc_id for one in listed if one.is_ready}
    if missing := [name for name in names if name not in ready]:
        raise DocumentsNotReady(missing)


def _title_of(listed: ListedDocument, strings: Mapping[str, Any]) -> str:
    """That of an overlay, of the pack's language, or of the registry."""
    document = listed.document
    translated = strings.get(f"{TITLE_STRING}{document.doc_id}")
    has_own = document.title != document.entry.title
    return (translated if isinstance(translated, str) and not has_own else document.title)[:1_000]


def _read_strings(pack: Pack) -> Work[dict[str, Any]]:
    published = yield from versions.list_published(pack.org_id)
    keys = [key for key in ("strings", f"strings:{pack.lang or DEFAULT_LANG}") if key in published]
    bodies = yield from versions.read_bodies(pack.org_id, {key: published[key].number for key in keys})
    merged: dict[str, Any] = {}
    for key in keys:
        merged |= json.loads(bodies[key])
    return merged

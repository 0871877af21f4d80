"""Overlays of the registry: what differs for all packs, or for those of a user, of a session, or for one (R8)."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec

from pressroom.apps.packs import store
from pressroom.apps.packs.access import EffectiveDocument, Overlay, effective_documents
from pressroom.apps.packs.actor import Actor
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import RegistryEntry, parse_registry
from pressroom.apps.packs.errors import UnknownDocument
from pressroom.apps.packs.settings import PacksSettings
from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import Work
from pressroom.store import Database

type Words = Annotated[str, msgspec.Meta(max_length=2_000)]


class OverlaySent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a caller says of a document, and for which packs. What is left out or null stays as the registry says."""

    scope: Literal["all", "user", "session", "pack"] = "all"
    scope_id: Annotated[str, msgspec.Meta(max_length=200)] = ""
    enabled: bool | None = None
    tier: Literal["free", "paid"] | None = None
    unlocked: bool | None = None
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    description: Words | None = None
    reason: Words = ""


class DocumentOverlays(msgspec.Struct, frozen=True):
    """`effective` is the document for a pack that only the overlays of all packs apply to."""

    entry: RegistryEntry
    effective: EffectiveDocument
    overlays: Sequence[Overlay]


class Overlays:
    def __init__(self, database: Database, settings: PacksSettings) -> None:
        self._database = database
        self._settings = settings

    async def list(self, org_id: str | None, *, scope_id: str = "", limit: int = 1_000) -> tuple[list[DocumentOverlays], bool]:
        """The registry with its overlays, and whether there are more than `limit`."""
        registry, overlays = await self._database.read(partial(_read, org_id or "", scope_id, limit + 1))
        shown = overlays[:limit]
        for_all = [overlay for overlay in overlays if overlay.scope == "all"]
        documents = effective_documents(registry, for_all, self._settings)
        return [
            DocumentOverlays(one.entry, one, [overlay for overlay in shown if overlay.doc_id == one.doc_id])
            for one in documents
        ], len(overlays) > limit

    async def save(self, org_id: str | None, doc_id: str, sent: OverlaySent, actor: Actor) -> Overlay:
        """In place of the one that the document has for these packs. Raises UnknownDocument and InvalidArgument."""
        overlay = Overlay(doc_id=doc_id, **msgspec.structs.asdict(sent))
        if (overlay.scope == "all") != (overlay.scope_id == ""):
            raise InvalidArgument("scope_id names the user, session or pack; for the scope all it is empty")
        if all(getattr(overlay, name) is None for name in ("enabled", "tier", "unlocked", "title", "description")):
            raise InvalidArgument("an overlay says at least one of enabled, tier, unlocked, title and description")
        if any("\0" in text for text in (overlay.scope_id, overlay.title or "", overlay.description or "", overlay.reason)):
            raise InvalidArgument("a text of the overlay holds a NUL character")
        await self._database.run(partial(_save, org_id or "", overlay, actor), name="packs")
        return overlay

    async def delete(self, org_id: str | None, doc_id: str, scope: str, scope_id: str, actor: Actor) -> None:
        """Raises NotFound."""
        await self._database.run(partial(_delete, org_id or "", doc_id, scope, scope_id, actor), name="packs")


def _read_registry(org_id: str) -> Work[list[RegistryEntry]]:
    published = yield from versions.list_published(org_id)
    if REGISTRY not in published:
        return []
    return parse_registry((yield from versions.read_body(org_id, REGISTRY, published[REGISTRY].number)))


def _read(org_id: str, scope_id: str, limit: int) -> Work[tuple[list[RegistryEntry], list[Overlay]]]:
    registry = yield from _read_registry(org_id)
    return registry, (yield from store.list_overlays(org_id, scope_id, limit))


def _save(org_id: str, overlay: Overlay, actor: Actor) -> Work[None]:
    known = [entry.doc_id for entry in (yield from _read_registry(org_id))]
    if overlay.doc_id not in known:
        raise UnknownDocument(overlay.doc_id, known)
    before = yield from store.find_overlay(org_id, overlay.doc_id, overlay.scope, overlay.scope_id)
    yield from store.save_overlay(org_id, overlay, actor.name)
    yield from actor.record("overlay.save", overlay.doc_id, before=_audit_fields(before), after=_audit_fields(overlay))


def _delete(org_id: str, doc_id: str, scope: str, scope_id: str, actor: Actor) -> Work[None]:
    before = yield from store.find_overlay(org_id, doc_id, scope, scope_id)
    if before is None:
        raise NotFound(f"the document {doc_id[:100]!r} has no such overlay")
    yield from store.delete_overlay(org_id, doc_id, scope, scope_id)
    yield from actor.record("overlay.delete", doc_id, before=_audit_fields(before))


def _audit_fields(overlay: Overlay | None) -> dict[str, object] | None:
    return None if overlay is None else msgspec.to_builtins(overlay)

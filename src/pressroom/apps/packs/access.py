"""Which documents a pack may have: the registry with its overlays (R8, R35). Pure: values in, values out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from pressroom.apps.packs.config.registry import RegistryEntry
from pressroom.apps.packs.settings import PacksSettings

# The later wins: what is said of one pack counts more than what is said of all.
SCOPES = ("all", "user", "session", "pack")

type LockReason = Literal["DISABLED", "PAID_DOCS_HIDDEN", "PAID_DOCS_LOCKED"]


class Overlay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What differs from the registry for all packs, or for those of a user, of a session, or for one. None says nothing."""

    doc_id: str
    scope: Literal["all", "user", "session", "pack"] = "all"
    scope_id: str = ""
    enabled: bool | None = None
    tier: Literal["free", "paid"] | None = None
    unlocked: bool | None = None
    title: str | None = None
    description: str | None = None
    reason: str = ""


class DocumentAccess(msgspec.Struct, frozen=True):
    """As design 002's product shows it."""

    tier: Literal["free", "paid"]
    enabled: bool
    is_locked: bool
    reason: LockReason | None


class EffectiveDocument(msgspec.Struct, frozen=True):
    entry: RegistryEntry
    title: str
    description: str
    access: DocumentAccess

    @property
    def doc_id(self) -> str:
        return self.entry.doc_id

    @property
    def is_available(self) -> bool:
        return self.access.enabled and not self.access.is_locked

    @property
    def is_hidden(self) -> bool:
        """From holders of a pack's link."""
        return self.access.reason in ("DISABLED", "PAID_DOCS_HIDDEN")


def effective_documents(
    registry: Iterable[RegistryEntry], overlays: Iterable[Overlay], settings: PacksSettings
) -> list[EffectiveDocument]:
    """`overlays` are those that apply to the pack: of all packs, its user, its session and itself."""
    by_document: dict[str, list[Overlay]] = {}
    for overlay in sorted(overlays, key=lambda one: SCOPES.index(one.scope)):
        by_document.setdefault(overlay.doc_id, []).append(overlay)
    return [_apply(entry, by_document.get(entry.doc_id, ()), settings) for entry in registry]


def _apply(entry: RegistryEntry, overlays: Sequence[Overlay], settings: PacksSettings) -> EffectiveDocument:
    said: Mapping[str, object] = {
        name: value
        for overlay in overlays
        for name, value in msgspec.structs.asdict(overlay).items()
        if name in ("enabled", "tier", "unlocked", "title", "description") and value is not None
    }
    enabled = bool(said.get("enabled", entry.is_enabled))
    tier: Literal["free", "paid"] = "paid" if said.get("tier", entry.tier) == "paid" and not settings.force_all_free else "free"
    reason: LockReason | None = None
    if not enabled:
        reason = "DISABLED"
    elif tier == "paid" and not said.get("unlocked", False):
        reason = "PAID_DOCS_LOCKED" if settings.paid_docs_visible else "PAID_DOCS_HIDDEN"
    access = DocumentAccess(tier, enabled, reason is not None, reason)
    return EffectiveDocument(
        entry, str(said.get("title", entry.title)), str(said.get("description", entry.description)), access
    )

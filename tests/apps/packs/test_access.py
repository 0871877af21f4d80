"""Which documents a pack may have: the registry, its overlays, and two settings (R8, R35)."""

import pytest

from pressroom.apps.packs.access import Overlay, effective_documents
from pressroom.apps.packs.config.registry import RegistryEntry
from pressroom.apps.packs.settings import PacksSettings

FREE = RegistryEntry(doc_id="offer", title="Offer")
PAID = RegistryEntry(doc_id="offer", title="Offer", tier="paid")
OFF = RegistryEntry(doc_id="offer", title="Offer", is_enabled=False)


@pytest.mark.parametrize(
    ("entry", "overlays", "settings", "expected"),
    [
        pytest.param(FREE, [], {}, ("free", True, False, None), id="as the registry has it"),
        pytest.param(OFF, [], {}, ("free", False, True, "DISABLED"), id="disabled in the registry"),
        pytest.param(PAID, [], {}, ("paid", True, True, "PAID_DOCS_LOCKED"), id="paid documents are locked"),
        pytest.param(PAID, [], {"paid_docs_visible": False}, ("paid", True, True, "PAID_DOCS_HIDDEN"), id="or hidden"),
        pytest.param(PAID, [], {"force_all_free": True}, ("free", True, False, None), id="all are free"),
        pytest.param(OFF, [], {"force_all_free": True}, ("free", False, True, "DISABLED"), id="free is not enabled"),
        pytest.param(FREE, [{"enabled": False}], {}, ("free", False, True, "DISABLED"), id="disabled for all"),
        pytest.param(OFF, [{"enabled": True}], {}, ("free", True, False, None), id="an overlay wins over the registry"),
        pytest.param(FREE, [{"tier": "paid"}], {}, ("paid", True, True, "PAID_DOCS_LOCKED"), id="made paid"),
        pytest.param(PAID, [{"unlocked": True}], {}, ("paid", True, False, None), id="unlocked"),
        pytest.param(
            PAID,
            [{"scope": "pack", "scope_id": "p", "unlocked": True}, {"unlocked": False}],
            {},
            ("paid", True, False, None),
            id="what is said of one pack counts more than what is said of all, in any order",
        ),
        pytest.param(
            FREE,
            [{"enabled": False}, {"scope": "user", "scope_id": "u", "enabled": True}],
            {},
            ("free", True, False, None),
            id="a user more than all",
        ),
        pytest.param(
            FREE,
            [{"scope": "session", "scope_id": "s", "enabled": False}, {"scope": "user", "scope_id": "u", "enabled": True}],
            {},
            ("free", False, True, "DISABLED"),
            id="a session more than a user",
        ),
        pytest.param(
            FREE,
            [{"enabled": False}, {"scope": "pack", "scope_id": "p"}],
            {},
            ("free", False, True, "DISABLED"),
            id="None is silent",
        ),
    ],
)
def test_access(entry: RegistryEntry, overlays: list[dict[str, object]], settings: dict[str, bool], expected: object) -> None:
    said = [Overlay(**{"doc_id": "offer", **one}) for one in overlays]  # type: ignore[arg-type]

    (document,) = effective_documents([entry], said, PacksSettings(**settings))  # type: ignore[arg-type]

    access = document.access
    assert (access.tier, access.enabled, access.is_locked, access.reason) == expected
    assert document.is_available == (not access.is_locked)


def test_overlays_of_other_documents_change_nothing() -> None:
    (document,) = effective_documents([FREE], [Overlay(doc_id="cv", enabled=False)], PacksSettings())

    assert document.is_available


def test_title_and_description_of_the_most_particular_overlay() -> None:
    overlays = [
        Overlay(doc_id="offer", title="For all", description="d"),
        Overlay(doc_id="offer", scope="pack", scope_id="p", title="For one"),
    ]

    (document,) = effective_documents([FREE], overlays, PacksSettings())

    assert (document.title, document.description) == ("For one", "d")

"""The order in which editions are listed."""

from collections.abc import Sequence
from typing import Any

from pressroom.apps.docs.domain.versions import parse_semver
from pressroom.apps.docs.model import Edition, EditionKind

_KINDS = {kind: place for place, kind in enumerate(EditionKind)}


def sort_editions(editions: Sequence[Edition]) -> list[Edition]:
    """__main first, then by kind; of a kind the newest version first, and what is no version by its slug behind them."""
    return sorted(editions, key=_place_of)


def _place_of(edition: Edition) -> tuple[Any, ...]:
    numbers = _numbers_of(edition)
    return (_KINDS[edition.kind], numbers is None, [-number for number in numbers or ()], edition.slug.lower())


def _numbers_of(edition: Edition) -> list[int] | None:
    version = parse_semver(edition.slug)
    if version is not None:
        return [version.major, version.minor, version.patch, int(version.is_stable)]
    parts = edition.slug.removeprefix("v").split(".")
    return (
        [int(part) for part in parts] if all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts) else None
    )

"""In which order a project's editions are shown."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from pressroom.apps.docs.domain.versions import SemVer, parse_semver
from pressroom.apps.docs.model import Build, Edition, EditionKind

_NUMBERS = re.compile(r"(\d+)")


class GroupedEditions(msgspec.Struct, frozen=True, kw_only=True):
    """Editions that show a build, by kind; `main` also before its first build.

    Releases and the editions of major and minor versions: the newest version first. Drafts: the last changed first.
    Alternates: by title.
    """

    main: Edition | None
    releases: list[Edition]
    drafts: list[Edition]
    major: list[Edition]
    minor: list[Edition]
    alternates: list[Edition]


def group_editions(editions: Iterable[Edition], builds: Mapping[str, Build]) -> GroupedEditions:
    every = list(editions)
    shown = [edition for edition in every if edition.build in builds]

    def of(kind: EditionKind) -> list[Edition]:
        return [edition for edition in shown if edition.kind is kind]

    return GroupedEditions(
        main=next((edition for edition in every if edition.kind is EditionKind.MAIN), None),
        releases=newest_version_first(of(EditionKind.RELEASE), builds),
        drafts=sorted(of(EditionKind.DRAFT), key=lambda edition: (-edition.date_changed, edition.slug)),
        major=newest_version_first(of(EditionKind.MAJOR), builds),
        minor=newest_version_first(of(EditionKind.MINOR), builds),
        alternates=sorted(of(EditionKind.ALTERNATE), key=lambda edition: (natural_order(edition.title), edition.slug)),
    )


def newest_version_first(editions: Iterable[Edition], builds: Mapping[str, Build]) -> list[Edition]:
    """Those without a version come last, in the order of the numbers in their slugs."""
    by_slug = sorted(editions, key=lambda edition: natural_order(edition.slug), reverse=True)
    versions = {edition.id: version_of(edition, builds) for edition in by_slug}
    known = [(version, edition) for edition in by_slug if (version := versions[edition.id]) is not None]
    first: Callable[[tuple[SemVer, Edition]], Any] = lambda pair: pair[0]  # noqa: E731 - SemVer has only `<`
    ordered = [edition for _, edition in sorted(known, key=first, reverse=True)]
    return [*ordered, *(edition for edition in by_slug if versions[edition.id] is None)]


def version_of(edition: Edition, builds: Mapping[str, Build]) -> SemVer | None:
    """The version that an edition stands for: that of its stream, or of what it shows, or of its slug."""
    params = edition.tracking_params
    if params.major_version is not None:
        return SemVer(params.major_version, params.minor_version or 0, 0)
    build = builds.get(edition.build or "")
    return (parse_semver(build.git_ref) if build else None) or parse_semver(edition.slug) or _stream_of(edition.slug)


def natural_order(text: str) -> list[tuple[int, int, str]]:
    """`w_2026_2` comes before `w_2026_10`; case does not matter."""
    parts = _NUMBERS.split(text.lower())
    return [(0, int(part), "") if place % 2 else (1, 0, part) for place, part in enumerate(parts) if part]


def _stream_of(slug: str) -> SemVer | None:
    """`2` and `2.1` as the first version of the stream."""
    parts = slug.split(".")
    if len(parts) > 2 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    return SemVer(int(parts[0]), int(parts[1]) if len(parts) == 2 else 0, 0)

"""Which editions a build belongs to (Q21): a pure function of the build, the editions and the rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pressroom.apps.docs.domain import versions
from pressroom.apps.docs.domain.slugs import RewriteRules, SlugPreview, slug_problem
from pressroom.apps.docs.model import MAIN, AutoCreate, Edition, EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.store.editions import NewEdition, ShownBuild, slug_key
from pressroom.errors import InvalidArgument

LSST_MAIN = "main"  # the ref that an edition of mode lsst_doc shows until there is a version
BIGGEST_NUMBER = 2**53 - 1  # of a version, so that JSON holds it

STREAM_MODES = (TrackingMode.SEMVER_MAJOR, TrackingMode.SEMVER_MINOR)  # releases create editions of these
_PARSERS: dict[TrackingMode, Callable[[str], Any]] = {
    TrackingMode.LSST_DOC: versions.parse_lsst_doc,
    TrackingMode.EUPS_MAJOR_RELEASE: versions.parse_eups_major,
    TrackingMode.EUPS_WEEKLY_RELEASE: versions.parse_eups_weekly,
    TrackingMode.EUPS_DAILY_RELEASE: versions.parse_eups_daily,
    TrackingMode.SEMVER_RELEASE: versions.parse_release,
    TrackingMode.SEMVER_MAJOR: versions.parse_release,
    TrackingMode.SEMVER_MINOR: versions.parse_release,
}
_PARAMETERS: dict[TrackingMode, tuple[str, ...]] = {
    TrackingMode.GIT_REF: ("git_ref",),
    TrackingMode.ALTERNATE_GIT_REF: ("git_ref", "alternate_name"),
    TrackingMode.SEMVER_MAJOR: ("major_version",),
    TrackingMode.SEMVER_MINOR: ("major_version", "minor_version"),
}


class SkippedEdition(msgspec.Struct, frozen=True):
    """An edition that the build matches and does not move: `{"slug": "1", "reason": "…"}` in the progress."""

    slug: str
    reason: str


class TrackingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """`create`: editions to insert first (one with the slug may be there by then). `move`: slugs that are to show the build,
    the created ones included, and those that show it already: an earlier attempt may have moved them and not published."""

    create: list[NewEdition]
    move: list[str]
    skipped: list[SkippedEdition]
    preview: SlugPreview


def plan_editions(
    build: ShownBuild,
    editions: Sequence[Edition],
    shown: Mapping[str, ShownBuild],
    rules: RewriteRules,
    auto_create: AutoCreate,
) -> TrackingPlan:
    """`shown`: what each edition shows, by its id; one that shows nothing is not in it.

    A ref that a rule ignores moves nothing. A ref whose slug is invalid makes no edition; editions that follow the ref by their
    own parameters are moved all the same."""
    preview = rules.preview(build.git_ref, build.alternate_name)
    if preview.is_ignored:
        return TrackingPlan(create=[], move=[], skipped=[], preview=preview)
    live = [edition for edition in editions if edition.date_deleted is None]
    following = [edition for edition in live if follows(edition, shown.get(edition.id), build)]
    refused = {edition.slug: refusal(edition, shown.get(edition.id), build) for edition in following}
    wanted = _editions_to_create(build, following, preview, auto_create)
    taken = {slug_key(edition.slug): edition for edition in live}
    create = [new for new in _first_of_each_slug(wanted) if slug_key(new.slug) not in taken]
    occupied = {taken[slug_key(new.slug)].slug for new in wanted if slug_key(new.slug) in taken} - refused.keys()
    skipped = {slug: reason for slug, reason in refused.items() if reason}
    skipped |= {slug: f"there is an edition {slug} that follows other builds" for slug in occupied}
    move = [slug for slug, reason in refused.items() if reason is None] + [new.slug for new in create]
    return TrackingPlan(
        create=create,
        move=sorted(move, key=_order),
        skipped=[SkippedEdition(slug, skipped[slug]) for slug in sorted(skipped, key=_order)],
        preview=preview,
    )


def follows(edition: Edition, current: ShownBuild | None, build: ShownBuild) -> bool:
    """Whether an edition is for builds of this ref, be they newer or older than what it shows."""
    mode, parameters = edition.tracking_mode, edition.tracking_params
    if mode == TrackingMode.ALTERNATE_GIT_REF:
        return (build.git_ref, build.alternate_name) == (parameters.git_ref, parameters.alternate_name)
    if build.alternate_name is not None or mode == TrackingMode.MANUAL:  # the alternates of a project are its own (D24)
        return False
    if mode == TrackingMode.GIT_REF:
        return build.git_ref == parameters.git_ref
    version = _PARSERS[mode](build.git_ref)
    if mode == TrackingMode.LSST_DOC and build.git_ref == LSST_MAIN:
        return current is None or current.git_ref == LSST_MAIN
    if version is None:
        return False
    if mode in STREAM_MODES and version.major != parameters.major_version:
        return False
    return mode != TrackingMode.SEMVER_MINOR or version.minor == parameters.minor_version


def refusal(edition: Edition, current: ShownBuild | None, build: ShownBuild) -> str | None:
    """Why this edition may not come to show the build now, in words; None if it may, or if it shows the build already.

    Asked again in the transaction that moves it."""
    if current is not None and current.uid == build.uid:
        return None
    if edition.date_deleted is not None:
        return "was deleted"
    if edition.tracking_mode == TrackingMode.MANUAL:
        return "is moved by people only"
    if not follows(edition, current, build):
        return f"follows other builds than those of {_name(build)}"
    if edition.pinned:
        return f"is pinned to {_name(current)}" if current else "is pinned to show nothing"
    return None if current is None else _older(edition.tracking_mode, current, build)


def check_tracking(mode: TrackingMode, parameters: TrackingParams) -> None:
    """Raises InvalidArgument if parameters are missing that the mode compares with, or given that it does not know."""
    given = msgspec.to_builtins(parameters)
    used = _PARAMETERS.get(mode, ())
    for name in used:
        value = given.get(name)
        if value is None or value == "":
            raise InvalidArgument(f"tracking_params.{name}: the mode {mode} needs it")
        if isinstance(value, int) and not 0 <= value <= BIGGEST_NUMBER:
            raise InvalidArgument(f"tracking_params.{name}: 0 or more")
        if isinstance(value, str) and len(value) > versions.LONGEST_REF:
            raise InvalidArgument(f"tracking_params.{name}: at most {versions.LONGEST_REF} characters")
    for name in given:
        if name not in used:
            raise InvalidArgument(f"tracking_params.{name}: the mode {mode} does not use it")


def _older(mode: TrackingMode, current: ShownBuild, build: ShownBuild) -> str | None:
    """Versions decide where the mode has them, and where these are equal or missing the number of the build: it says in which
    order uploads were completed, without a clock (D23)."""
    parse = _PARSERS.get(mode)
    if parse is None:
        return _earlier(current, build)
    ours, theirs = _version(parse, build), _version(parse, current)
    if mode == TrackingMode.LSST_DOC and ours is None:
        return _earlier(current, build)  # main after main; follows() keeps it from a version
    if theirs is None or ours > theirs:
        return None
    return _earlier(current, build) if ours == theirs else f"shows {_name(current)}, which is a later version"


def _version(parse: Callable[[str], Any], build: ShownBuild) -> Any:
    """Also a prerelease can be shown, if people moved the edition to it."""
    return versions.parse_semver(build.git_ref) if parse is versions.parse_release else parse(build.git_ref)


def _earlier(current: ShownBuild, build: ShownBuild) -> str | None:
    if build.number > current.number:
        return None
    return f"shows {_name(current)} from build {current.number}, and this is build {build.number}"


def _editions_to_create(
    build: ShownBuild, following: Sequence[Edition], preview: SlugPreview, auto_create: AutoCreate
) -> list[NewEdition]:
    """What a build would create if every slug were free.

    The major and minor editions of a release do not count as editions of its ref, so that every release gets one, the first of
    a major version and the tenth."""
    wanted: list[NewEdition] = []
    allowed = auto_create.git_ref if build.alternate_name is None else auto_create.alternate
    if allowed and all(edition.tracking_mode in STREAM_MODES for edition in following):
        wanted += _edition_of_ref(build, preview)
    if auto_create.semver and build.alternate_name is None:
        wanted += _editions_of_release(build)
    return wanted


def _edition_of_ref(build: ShownBuild, preview: SlugPreview) -> list[NewEdition]:
    if preview.edition_slug is None or preview.edition_kind is None:
        return []
    return [
        NewEdition(
            slug=preview.edition_slug,
            title=preview.edition_slug,
            kind=preview.edition_kind,
            tracking_mode=TrackingMode.GIT_REF if build.alternate_name is None else TrackingMode.ALTERNATE_GIT_REF,
            tracking_params=TrackingParams(git_ref=build.git_ref, alternate_name=build.alternate_name),
        )
    ]


def _editions_of_release(build: ShownBuild) -> list[NewEdition]:
    version = versions.parse_release(build.git_ref)
    if version is None or max(version.major, version.minor) > BIGGEST_NUMBER:
        return []
    major, minor = version.major, version.minor
    new = [
        NewEdition(
            slug=f"{major}",
            title=f"Latest {major}.x",
            kind=EditionKind.MAJOR,
            tracking_mode=TrackingMode.SEMVER_MAJOR,
            tracking_params=TrackingParams(major_version=major),
        ),
        NewEdition(
            slug=f"{major}.{minor}",
            title=f"Latest {major}.{minor}.x",
            kind=EditionKind.MINOR,
            tracking_mode=TrackingMode.SEMVER_MINOR,
            tracking_params=TrackingParams(major_version=major, minor_version=minor),
        ),
    ]
    return [edition for edition in new if slug_problem(edition.slug) is None]


def _first_of_each_slug(wanted: Iterable[NewEdition]) -> list[NewEdition]:
    """A rewrite rule may have given the ref the slug of a stream: the rule decides."""
    first: dict[str, NewEdition] = {}
    for new in wanted:
        first.setdefault(slug_key(new.slug), new)
    return list(first.values())


def _order(slug: str) -> tuple[bool, str, str]:
    return slug != MAIN, slug_key(slug), slug


def _name(build: ShownBuild) -> str:
    return f"{build.git_ref} ({build.alternate_name})" if build.alternate_name else build.git_ref

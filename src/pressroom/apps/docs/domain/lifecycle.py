"""Which editions and builds lifecycle rules delete: a pure function of rules, rows and the time."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from pressroom.apps.docs.domain.rules import Rule, parse_rules, refuse
from pressroom.apps.docs.model import Build, BuildStatus, Edition, EditionKind, Org, Project, TrackingMode

FIELD = "lifecycle_rules"
DAY = 24 * 3600 * 1000  # milliseconds
LONGEST_UPLOAD = DAY  # a build that waits for its upload for longer gets none: the address has expired

type Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule deletes, with the rule and its parameters."""

    what: Literal["edition", "build"]
    id: str
    name: str  # the edition's slug, or the build's ref
    rule: str
    parameters: dict[str, Any]
    reason: str  # for people


class ProjectState(msgspec.Struct, frozen=True, kw_only=True):
    """What rules look at: the rows of one project, and the time."""

    editions: Sequence[Edition]  # not deleted
    builds: Sequence[Build]  # not deleted
    history: Mapping[str, Sequence[str]]
    now: int
    live_refs: frozenset[str] | None


class LifecycleRule(Rule, frozen=True, kw_only=True):
    """`find` yields what it deletes: the row and the reason."""

    def find(self, state: ProjectState) -> "Iterator[tuple[Edition | Build, str]]":
        raise NotImplementedError


class DraftInactivityRule(LifecycleRule, frozen=True, kw_only=True):
    """Drafts that have not changed for a while."""

    max_days_inactive: Annotated[int, msgspec.Meta(ge=1, le=36_500)]

    def find(self, state: ProjectState) -> Iterator[tuple[Edition | Build, str]]:
        for edition in _deletable_drafts(state.editions):
            if state.now - edition.date_changed > self.max_days_inactive * DAY:
                yield edition, f"a draft that has not changed for more than {_days(self.max_days_inactive)}"


class BuildHistoryOrphanRule(LifecycleRule, frozen=True, kw_only=True):
    """Builds that no edition shows, and none has among its last ones."""

    min_position: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]  # in the history; 1 is the newest
    min_age_days: Days

    def find(self, state: ProjectState) -> Iterator[tuple[Edition | Build, str]]:
        kept = self._builds_kept(state)
        for build in state.builds:
            age = state.now - (build.date_created if build.date_completed is None else build.date_completed)
            if build.uid not in kept and _is_settled(build, age) and age >= self.min_age_days * DAY:
                yield build, self._reason()

    def _reason(self) -> str:
        last = self.min_position - 1
        return f"no edition shows it or has it among its last {last:,} builds" if last else "no edition shows it"

    def _builds_kept(self, state: ProjectState) -> set[str]:
        """What is shown, the last builds of each edition, and all that an exempt edition has shown."""
        kept: set[str] = set()
        for edition in state.editions:
            shown = state.history.get(edition.id, ())
            kept.update(shown if edition.lifecycle_exempt else shown[: self.min_position - 1])
            if edition.build is not None:
                kept.add(edition.build)
        return kept


class RefDeletedRule(LifecycleRule, frozen=True, kw_only=True):
    """Drafts whose branch or tag is gone. Nothing, where the refs are not known."""

    def find(self, state: ProjectState) -> Iterator[tuple[Edition | Build, str]]:
        if state.live_refs is None:
            return
        for edition in _deletable_drafts(state.editions):
            git_ref = followed_ref(edition)
            if git_ref is not None and not is_live(git_ref, state.live_refs):
                yield edition, f"the repository has no branch or tag {git_ref} any more"


TYPES: dict[str, type[LifecycleRule]] = {
    "draft_inactivity": DraftInactivityRule,
    "build_history_orphan": BuildHistoryOrphanRule,
    "ref_deleted": RefDeletedRule,
}


class LifecycleRules:
    """Rules that were checked."""

    def __init__(self, rules: Sequence[dict[str, Any]]) -> None:
        """Raises InvalidArgument with the index and field of what is wrong."""
        parsed = parse_rules(FIELD, rules, TYPES)
        self._rules: dict[str, LifecycleRule] = {}
        for index, rule in enumerate(rules):
            if rule["type"] in self._rules:
                refuse(f"{FIELD}[{index}].type", f"there is another rule {rule['type']}; each type is given at most once")
            self._rules[rule["type"]] = parsed[index]

    @classmethod
    def of(cls, org: Org, project: Project) -> "LifecycleRules":
        """A project's own list takes the place of its organisation's, also if it is empty."""
        return cls(org.lifecycle_rules if project.lifecycle_rules is None else project.lifecycle_rules)

    @property
    def types(self) -> frozenset[str]:
        return frozenset(self._rules)

    def evaluate(
        self,
        editions: Sequence[Edition],
        builds: Sequence[Build],
        history: Mapping[str, Sequence[str]],  # by the id of the edition: uids of builds, newest first
        now: int,  # milliseconds
        live_refs: frozenset[str] | None = None,  # branches and tags of the repository; None: not known, nothing matches
        *,
        only: Collection[str] = tuple(TYPES),  # the types of rules to evaluate
    ) -> list[Deletion]:
        """In the order of the rules, each edition and build once. `history` is whole, with the builds that were deleted: they
        take their positions too."""
        state = ProjectState(
            editions=[edition for edition in editions if edition.date_deleted is None],
            builds=[build for build in builds if build.date_deleted is None],
            history=history,
            now=now,
            live_refs=live_refs,
        )
        rules = ((name, rule) for name, rule in self._rules.items() if name in only)
        return _once_each(_deletion(name, rule, row, reason) for name, rule in rules for row, reason in rule.find(state))


def followed_ref(edition: Edition) -> str | None:
    """The branch or tag that an edition follows by name, if it does."""
    by_name = edition.tracking_mode in (TrackingMode.GIT_REF, TrackingMode.ALTERNATE_GIT_REF)
    return edition.tracking_params.git_ref if by_name else None


def is_live(git_ref: str, live_refs: frozenset[str]) -> bool:
    """Short names are compared; a ref may have been given with its full one."""
    return git_ref in live_refs or git_ref.removeprefix("refs/heads/").removeprefix("refs/tags/") in live_refs


def _deletable_drafts(editions: Iterable[Edition]) -> Iterator[Edition]:
    return (edition for edition in editions if edition.kind == EditionKind.DRAFT and not edition.lifecycle_exempt)


def _is_settled(build: Build, age: int) -> bool:
    """A build that is being uploaded or processed is in no history yet."""
    if build.status == BuildStatus.PENDING:
        return age > LONGEST_UPLOAD
    return build.status != BuildStatus.PROCESSING


def _once_each(deletions: Iterable[Deletion]) -> list[Deletion]:
    first: dict[tuple[str, str], Deletion] = {}
    for deletion in deletions:
        first.setdefault((deletion.what, deletion.id), deletion)
    return list(first.values())


def _deletion(name: str, rule: LifecycleRule, row: Edition | Build, reason: str) -> Deletion:
    common = {"rule": name, "parameters": msgspec.to_builtins(rule), "reason": reason}
    if isinstance(row, Edition):
        return Deletion(what="edition", id=row.id, name=row.slug, **common)
    return Deletion(what="build", id=row.uid, name=row.git_ref, **common)


def _days(number: int) -> str:
    return "a day" if number == 1 else f"{number:,} days"

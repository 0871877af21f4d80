"""The slug of the edition that a git ref makes: rewrite rules, and what a slug may look like."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

import msgspec

from pressroom.apps.docs.domain.rules import Rule, parse_rules, refuse
from pressroom.apps.docs.model import EditionKind, Org, Project
from pressroom.errors import InvalidArgument, PackageMissing

type What = Literal["organisation", "project", "edition"]
type Source = Literal["org", "project", "default"]

FIELD = "slug_rewrite_rules"
PATTERN_MEMORY = 1024 * 1024  # of one regular expression, in bytes
LONGEST_EDITION_SLUG = 128
RESERVED = "__"
RESERVED_SLUGS = frozenset({"index.html", "switcher.json"})  # of editions: these are pages of the dashboard

_SLUGS: dict[What, tuple[re.Pattern[str], int, str]] = {
    "organisation": (re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]"), 64, "a to z, 0 to 9 and hyphens"),
    "project": (re.compile(r"[a-z0-9][a-z0-9-]*[a-z0-9]"), 128, "a to z, 0 to 9 and hyphens"),
    "edition": (
        re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]"),
        LONGEST_EDITION_SLUG,
        "letters a to z, digits, dots, underscores and hyphens",
    ),
}
_DERIVED = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")

type Text = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
type Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
type DerivedKind = Literal["draft", "release", "major", "minor", "alternate"]
type SlashReplacement = Literal["-", "_", "."]


class SlugPreview(msgspec.Struct, frozen=True, kw_only=True):
    """`edition_slug` is None if a rule ignores the ref, or if what it makes is not a slug (then `problem` says why)."""

    git_ref: str
    edition_slug: str | None
    edition_kind: EditionKind | None
    matched_rule: dict[str, Any] | None  # with its index
    rule_source: Source
    problem: str | None = None

    @property
    def is_ignored(self) -> bool:
        return self.edition_slug is None and self.problem is None


class RewriteRule(Rule, frozen=True, kw_only=True):
    """`derive` returns the part of a ref that makes the slug, or None if the rule does not match."""

    def check(self, path: str) -> None:
        """What the types of the fields cannot say. Raises InvalidArgument."""

    def derive(self, git_ref: str) -> str | None:
        raise NotImplementedError


class IgnoreRule(RewriteRule, frozen=True, kw_only=True):
    """A ref that matches makes no edition, and moves none. Case counts."""

    glob: Text

    def derive(self, git_ref: str) -> str | None:
        return git_ref if fnmatchcase(git_ref, self.glob) else None


class NamingRule(RewriteRule, frozen=True, kw_only=True):
    """One that makes an edition of the ref."""

    edition_kind: DerivedKind = "draft"
    slash_replacement: SlashReplacement = "-"


class PrefixStripRule(NamingRule, frozen=True, kw_only=True):
    prefix: Text

    def derive(self, git_ref: str) -> str | None:
        return git_ref.removeprefix(self.prefix) if git_ref.startswith(self.prefix) else None


class RegexRule(NamingRule, frozen=True, kw_only=True):
    """Matched from the beginning of the ref by RE2, which takes time in proportion to the length of the ref for any pattern."""

    pattern: Pattern

    def check(self, path: str) -> None:
        if "slug" not in _compile(f"{path}.pattern", self.pattern).groupindex:
            refuse(f"{path}.pattern", "it needs a group called slug: (?P<slug>…)")

    def derive(self, git_ref: str) -> str | None:
        try:
            match = _compile("pattern", self.pattern).match(git_ref)
        except UnicodeEncodeError:  # half of a surrogate pair, which is in no ref of git
            return None
        return (match["slug"] or "") if match else None


TYPES: dict[str, type[RewriteRule]] = {"ignore": IgnoreRule, "prefix_strip": PrefixStripRule, "regex": RegexRule}
_DEFAULT = PrefixStripRule(prefix="")


class RewriteRules:
    """Rules that were checked. The first that matches a ref decides."""

    def __init__(self, rules: Sequence[dict[str, Any]], *, source: Source) -> None:
        """Raises InvalidArgument with the index and field of what is wrong."""
        self._rules = parse_rules(FIELD, rules, TYPES)
        for index, rule in enumerate(self._rules):
            rule.check(f"{FIELD}[{index}]")
        self._written = rules
        self._source = source

    @classmethod
    def of(cls, org: Org, project: Project | None = None) -> "RewriteRules":
        """A project's own list takes the place of its organisation's, unless it is empty."""
        if project is not None and project.slug_rewrite_rules:
            return cls(project.slug_rewrite_rules, source="project")
        return cls(org.slug_rewrite_rules, source="org")

    def preview(self, git_ref: str, alternate_name: str | None = None) -> SlugPreview:
        for index, rule in enumerate(self._rules):
            derived = rule.derive(git_ref)
            if derived is not None:
                matched = {"index": index, **self._written[index]}
                return _preview(git_ref, alternate_name, derived, rule, matched, self._source)
        return _preview(git_ref, alternate_name, git_ref, _DEFAULT, None, "default")


def check_slug(what: What, slug: str) -> None:
    """Raises InvalidArgument that says what is allowed."""
    pattern, longest, allowed = _SLUGS[what]
    is_reserved = what == "edition" and slug.lower() in RESERVED_SLUGS
    if 2 <= len(slug) <= longest and pattern.fullmatch(slug) and not is_reserved:
        return
    reserved = "; names that begin with __ are reserved" if slug.startswith(RESERVED) else ""
    reserved = f"; {slug.lower()} is a page of the dashboard" if is_reserved else reserved
    raise InvalidArgument(
        f"slug: that of the {what} has 2 to {longest} characters: {allowed}, a letter or digit first and last{reserved}"
    )


def slug_problem(slug: str) -> str | None:
    """Why a slug that was derived cannot be that of an edition. It may have a single character."""
    if not slug:
        return "the slug would be empty"
    if len(slug) > LONGEST_EDITION_SLUG:
        return f"the slug would have {len(slug)} characters; the limit is {LONGEST_EDITION_SLUG}"
    if slug.startswith(RESERVED):
        return f"the slug would be {slug!r}, and names that begin with __ are reserved"
    if slug.lower() in RESERVED_SLUGS:
        return f"the slug would be {slug!r}, which is a page of the dashboard"
    if not _DERIVED.fullmatch(slug):
        _, _, allowed = _SLUGS["edition"]
        return f"the slug would be {slug!r}; it may have {allowed}, a letter or digit first and last"
    return None


def _preview(
    git_ref: str,
    alternate_name: str | None,
    derived: str,
    rule: RewriteRule,
    matched: dict[str, Any] | None,
    source: Source,
) -> SlugPreview:
    slug, kind, problem = None, None, None
    if isinstance(rule, NamingRule):
        slug = derived.replace("/", rule.slash_replacement)
        # Without a base there is no slug: nor should the alternate's name alone be one.
        slug = f"{alternate_name}--{slug}" if alternate_name and slug else slug
        problem = slug_problem(slug)
        kind = EditionKind(rule.edition_kind)
    return SlugPreview(
        git_ref=git_ref,
        edition_slug=None if problem else slug,
        edition_kind=None if problem else kind,
        matched_rule=matched,
        rule_source=source,
        problem=problem,
    )


def _compile(path: str, pattern: str) -> Any:
    """RE2 keeps the last patterns that it compiled."""
    try:
        import re2  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise PackageMissing("google-re2", "docs") from None
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY
    options.log_errors = False  # they would be printed
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as problem:
        refuse(path, f"no regular expression of RE2, which has no look-around and no back-references: {_reason(problem)}")


def _reason(problem: Exception) -> str:
    said = problem.args[0] if problem.args else ""
    return (said.decode(errors="replace") if isinstance(said, bytes) else str(problem))[:200]

"""Slugs: what they may look like, and which rule makes which of a ref (Q21)."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.apps.docs.domain.slugs import RewriteRules, SlugPreview, check_slug, slug_problem
from pressroom.apps.docs.model import EditionKind
from pressroom.errors import InvalidArgument
from tests.apps.docs.edge_stage import a_project, an_org

NO_RULES = RewriteRules([], source="org")
IGNORE = {"type": "ignore", "glob": "dependabot/*"}
TICKETS = {"type": "prefix_strip", "prefix": "tickets/"}
RELEASES = {"type": "regex", "pattern": r"^v(?P<slug>\d+\.\d+)", "edition_kind": "release"}


def rules(*list_of_rules: dict[str, Any]) -> RewriteRules:
    return RewriteRules(list_of_rules, source="project")


@pytest.mark.parametrize(
    ("git_ref", "slug"),
    [
        ("main", "main"),
        ("feature/a", "feature-a"),
        ("a/b/c", "a-b-c"),
        ("v1.2.3", "v1.2.3"),
        ("X", "X"),
        ("u/Some_One", "u-Some_One"),
    ],
)
def test_without_a_rule_slashes_become_hyphens_and_the_kind_is_draft(git_ref: str, slug: str) -> None:
    assert NO_RULES.preview(git_ref) == SlugPreview(
        git_ref=git_ref, edition_slug=slug, edition_kind=EditionKind.DRAFT, matched_rule=None, rule_source="default"
    )


@pytest.mark.parametrize(
    ("rule", "git_ref", "slug", "kind"),
    [
        (TICKETS, "tickets/DM-1", "DM-1", "draft"),
        (TICKETS, "tickets/DM/1", "DM-1", "draft"),
        ({**TICKETS, "slash_replacement": "_"}, "tickets/DM/1", "DM_1", "draft"),
        ({**TICKETS, "slash_replacement": "."}, "tickets/DM/1", "DM.1", "draft"),
        ({**TICKETS, "edition_kind": "release"}, "tickets/DM-1", "DM-1", "release"),
        (RELEASES, "v1.2.3", "1.2", "release"),
        ({"type": "regex", "pattern": "(?P<slug>r/.*)"}, "r/1/2", "r-1-2", "draft"),
        ({"type": "regex", "pattern": "(?P<slug>r/.*)", "slash_replacement": "."}, "r/1/2", "r.1.2", "draft"),
        ({"type": "regex", "pattern": "(?:a|b)(?P<slug>c)?d"}, "bcd", "c", "draft"),
    ],
)
def test_a_rule_that_matches_names_the_edition(rule: dict[str, Any], git_ref: str, slug: str, kind: str) -> None:
    preview = rules(rule).preview(git_ref)

    assert (preview.edition_slug, preview.edition_kind) == (slug, kind)
    assert preview.matched_rule == {"index": 0, **rule}
    assert preview.rule_source == "project"
    assert preview.problem is None


@pytest.mark.parametrize(
    ("rule", "git_ref"),
    [
        (IGNORE, "Dependabot/x"),
        (IGNORE, "x/dependabot/x"),
        (TICKETS, "tickets"),
        (TICKETS, "Tickets/DM-1"),
        (RELEASES, "xv1.2"),
        ({"type": "regex", "pattern": "(?P<slug>a)$"}, "ab"),
    ],
)
def test_a_rule_that_does_not_match_leaves_the_ref_to_the_default(rule: dict[str, Any], git_ref: str) -> None:
    """Case counts, and a regular expression is matched from the beginning of the ref."""
    preview = rules(rule).preview(git_ref)

    assert (preview.matched_rule, preview.rule_source) == (None, "default")
    assert preview.edition_slug == git_ref.replace("/", "-")


def test_a_ref_that_a_rule_ignores_has_no_slug() -> None:
    preview = rules(IGNORE).preview("dependabot/pip/x")

    assert preview == SlugPreview(
        git_ref="dependabot/pip/x",
        edition_slug=None,
        edition_kind=None,
        matched_rule={"index": 0, **IGNORE},
        rule_source="project",
    )
    assert preview.is_ignored


@pytest.mark.parametrize(
    ("of_project", "slug", "source"),
    [(None, "x", "org"), ([], "x", "org"), ([{"type": "ignore", "glob": "*"}], None, "project")],
)
def test_the_rules_of_a_project_take_the_place_of_its_organisations_unless_there_are_none(
    of_project: list[dict[str, Any]] | None, slug: str | None, source: str
) -> None:
    """In a job, and in what the command line says that the job will do."""
    org = an_org("acme", slug_rewrite_rules=[{"type": "prefix_strip", "prefix": "u/"}])
    project = a_project("acme", "guide", slug_rewrite_rules=of_project)

    preview = RewriteRules.of(org, project).preview("u/x")

    assert (preview.edition_slug, preview.rule_source) == (slug, source)


def test_the_first_rule_that_matches_decides() -> None:
    early = rules({"type": "ignore", "glob": "v0.*"}, RELEASES, {"type": "ignore", "glob": "v*"})

    assert early.preview("v0.1").is_ignored
    assert early.preview("v1.2").edition_slug == "1.2"
    assert early.preview("v1.2").matched_rule == {"index": 1, **RELEASES}
    assert early.preview("vault").is_ignored


def test_an_alternate_stands_before_the_slug_and_the_kind_is_the_rules() -> None:
    """D24: an edition of its own."""
    assert NO_RULES.preview("feature/a", "dark").edition_slug == "dark--feature-a"
    release = rules(RELEASES).preview("v1.2.3", "dark")
    assert (release.edition_slug, release.edition_kind) == ("dark--1.2", EditionKind.RELEASE)


@pytest.mark.parametrize(
    ("list_of_rules", "git_ref", "alternate", "said"),
    [
        ([], "__main", None, "reserved"),
        ([], "Index.html", None, "a page of the dashboard"),
        ([], "_x", None, "a letter or digit first"),
        ([], "x-", None, "a letter or digit first and last"),
        ([], "a b", None, "letters a to z"),
        ([], "ä", None, "letters a to z"),
        ([], "x" * 129, None, "129 characters"),
        ([], "a", "x y", "letters a to z"),
        ([], "a", "__main", "reserved"),
        ([TICKETS], "tickets/", None, "empty"),
        ([TICKETS], "tickets/", "dark", "empty"),
        ([{"type": "regex", "pattern": "a(?P<slug>b)?"}], "ac", None, "empty"),
    ],
)
def test_what_is_no_slug_is_a_problem_in_words(
    list_of_rules: list[dict[str, Any]], git_ref: str, alternate: str | None, said: str
) -> None:
    preview = rules(*list_of_rules).preview(git_ref, alternate)

    assert preview.edition_slug is None
    assert preview.edition_kind is None
    assert preview.problem
    assert said in preview.problem
    assert not preview.is_ignored


@pytest.mark.parametrize(
    ("list_of_rules", "path", "said"),
    [
        (["x"], "[0]", "an object with a type"),
        ([{}], "[0].type", "there is none"),
        ([IGNORE, {"type": "delete"}], "[1].type", "ignore, prefix_strip, regex; not 'delete'"),
        ([{"type": ["ignore"]}], "[0].type", "one of"),
        ([{"type": "ignore"}], "[0]", "missing required field `glob`"),
        ([{"type": "ignore", "glob": ""}], "[0].glob", "length >= 1"),
        ([{"type": "ignore", "glob": 1}], "[0].glob", "Expected `str`"),
        ([{"type": "ignore", "glob": "x", "globs": "y"}], "[0].globs", "no such field"),
        ([IGNORE, {**TICKETS, "edition_kind": "main"}], "[1].edition_kind", "main"),
        ([{**TICKETS, "slash_replacement": "/"}], "[0].slash_replacement", "/"),
        ([{"type": "regex", "pattern": "(?P<slug>"}], "[0].pattern", "missing )"),
        ([{"type": "regex", "pattern": "x"}], "[0].pattern", "group called slug"),
        ([{"type": "regex", "pattern": "(?P<name>x)"}], "[0].pattern", "group called slug"),
        ([IGNORE, {"type": "regex", "pattern": "(?P<slug>x)(?=y)"}], "[1].pattern", "look-around"),
        ([{"type": "regex", "pattern": "(?<!y)(?P<slug>x)"}], "[0].pattern", "look-around"),
        ([{"type": "regex", "pattern": r"(?P<slug>x)\1"}], "[0].pattern", "back-references"),
        ([{"type": "regex", "pattern": "(?P<slug>x)(?P=slug)"}], "[0].pattern", "back-references"),
        ([{"type": "regex", "pattern": "(?P<slug>((x{100}){100}){100})"}], "[0].pattern", "repetition"),
        ([{"type": "regex", "pattern": "(?P<slug>" + "x" * 1000 + ")"}], "[0].pattern", "length <= 1000"),
        ([{"type": "regex", "pattern": "(?P<slug>\ud800)"}], "[0].pattern", "surrogate"),
        ([IGNORE] * 101, "", "the limit is 100"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_its_index_and_field(list_of_rules: list[Any], path: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        RewriteRules(list_of_rules, source="org")

    assert str(refused.value).startswith(f"slug_rewrite_rules{path}: ")
    assert said in str(refused.value)


def test_a_pattern_that_backtracks_for_a_minute_elsewhere_is_quick() -> None:
    """Python's own `re` takes about a minute for this pair; the processor's time is counted, not the clock's."""
    hostile = rules({"type": "regex", "pattern": "^(?P<slug>(a+)+)$"})
    before = time.process_time()
    preview = hostile.preview("a" * 28 + "!")

    assert time.process_time() - before < 2
    assert preview.rule_source == "default"
    assert hostile.preview("a" * 29).edition_slug == "a" * 29


def test_a_glob_of_many_stars_is_quick() -> None:
    before = time.process_time()

    assert rules({"type": "ignore", "glob": "*a" * 120 + "b"}).preview("a" * 256).problem
    assert time.process_time() - before < 2


def test_half_of_a_surrogate_pair_in_a_ref_is_a_problem_and_no_crash() -> None:
    assert rules({"type": "regex", "pattern": "(?P<slug>.*)"}).preview("\ud800").problem


@given(st.text(max_size=140), st.none() | st.text(min_size=1, max_size=10))
def test_a_derived_slug_is_valid_or_a_problem(git_ref: str, alternate: str | None) -> None:
    preview = rules(TICKETS, RELEASES).preview(git_ref, alternate)

    assert (preview.edition_slug is None) == (preview.problem is not None) == (preview.edition_kind is None)
    if preview.edition_slug is not None:
        assert slug_problem(preview.edition_slug) is None
        assert "/" not in preview.edition_slug
    assert rules(TICKETS, RELEASES).preview(git_ref, alternate) == preview


@pytest.mark.parametrize(
    ("what", "slug"),
    [
        ("organisation", "ab"),
        ("organisation", "a" * 64),
        ("project", "my-docs"),
        ("project", "9" * 128),
        ("edition", "V1.2_x-y"),
        ("edition", "e" * 128),
        ("edition", "1.2"),
    ],
)
def test_slugs_that_may_be(what: Any, slug: str) -> None:
    check_slug(what, slug)


@pytest.mark.parametrize(
    ("what", "slug"),
    [
        ("organisation", "a"),
        ("organisation", "a" * 65),
        ("organisation", "Acme"),
        ("organisation", "ac.me"),
        ("organisation", "acme-"),
        ("project", ""),
        ("project", "p" * 129),
        ("project", "a_b"),
        ("project", "ab\n"),
        ("project", "../ab"),
        ("edition", "e"),
        ("edition", "e" * 129),
        ("edition", "__main"),
        ("edition", "__x"),
        ("edition", "index.html"),
        ("edition", "Switcher.json"),
        ("edition", "a/b"),
        ("edition", "äb"),
        ("edition", ".ab"),
    ],
)
def test_slugs_that_may_not_be(what: Any, slug: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{what} has 2 to"):
        check_slug(what, slug)

"""What lifecycle rules delete (Q29, Q30): tables of cases."""

from typing import Any

import pytest

from pressroom.apps.docs.domain.lifecycle import DAY, Deletion, LifecycleRules
from pressroom.apps.docs.model import Build, BuildStatus, Edition, EditionKind, TrackingMode, TrackingParams
from pressroom.errors import InvalidArgument

NOW = 1_000 * DAY
INACTIVITY = {"type": "draft_inactivity", "max_days_inactive": 30}
ORPHANS = {"type": "build_history_orphan", "min_position": 3, "min_age_days": 10}
REF_DELETED = {"type": "ref_deleted"}


def edition(slug: str, kind: str = "draft", **facts: Any) -> Edition:
    defaults: dict[str, Any] = {
        "id": f"id-{slug}",
        "project": "project",
        "slug": slug,
        "title": slug,
        "kind": EditionKind(kind),
        "tracking_mode": TrackingMode.GIT_REF,
        "tracking_params": TrackingParams(git_ref=slug),
        "lifecycle_exempt": False,
        "pinned": False,
        "build": None,
        "publish_status": None,
        "publish_seq": 0,
        "published_seq": 0,
        "publish_error": None,
        "ref_missing_since": None,
        "date_created": 0,
        "date_changed": NOW,
        "date_deleted": None,
    }
    return Edition(**(defaults | facts))


def build(uid: str, days: float = 100, **facts: Any) -> Build:
    """One that was completed so many days ago."""
    created = NOW - int(days * DAY)
    defaults: dict[str, Any] = {
        "uid": uid,
        "project": "project",
        "number": 1,
        "git_ref": "main",
        "alternate_name": None,
        "content_hash": "sha256:0",
        "status": BuildStatus.COMPLETED,
        "uploader": "ci",
        "annotations": {},
        "artifact": "artifact",
        "object_count": 1,
        "total_size": 1,
        "broken_links": 0,
        "error": None,
        "job_uid": None,
        "date_created": created,
        "date_uploaded": created,
        "date_completed": created,
        "date_deleted": None,
    }
    return Build(**(defaults | facts))


def deleted(rule: dict[str, Any], **state: Any) -> list[str]:
    defaults: dict[str, Any] = {"editions": [], "builds": [], "history": {}, "now": NOW}
    return [deletion.id for deletion in LifecycleRules([rule]).evaluate(**(defaults | state))]


@pytest.mark.parametrize(
    ("draft", "goes"),
    [
        (edition("x", date_changed=NOW - 30 * DAY - 1), True),
        (edition("x", date_changed=NOW - 30 * DAY), False),
        (edition("x", date_changed=NOW), False),
        (edition("x", date_changed=0, lifecycle_exempt=True), False),
        (edition("x", date_changed=0, date_deleted=NOW), False),
        (edition("x", "release", date_changed=0), False),
        (edition("x", "major", date_changed=0), False),
        (edition("x", "minor", date_changed=0), False),
        (edition("x", "alternate", date_changed=0), False),
        (edition("__main", "main", date_changed=0), False),
    ],
)
def test_drafts_that_have_not_changed_for_a_while(draft: Edition, goes: bool) -> None:
    assert bool(deleted(INACTIVITY, editions=[draft])) is goes


@pytest.mark.parametrize(
    ("position", "goes"),
    [(1, False), (2, False), (3, True), (4, True)],
)
def test_builds_go_from_the_position_that_the_rule_names(position: int, goes: bool) -> None:
    shown = ["a", "b", "c", "d"]
    shown[position - 1] = "old"

    assert (deleted(ORPHANS, editions=[edition("x")], builds=[build("old")], history={"id-x": shown}) == ["old"]) is goes


@pytest.mark.parametrize(
    ("one", "state", "goes"),
    [
        (build("old"), {}, True),  # never shown
        (build("old", days=10), {}, True),
        (build("old", days=9.9), {}, False),
        (build("old", date_deleted=NOW), {}, False),
        (build("old", status=BuildStatus.FAILED), {}, True),
        (build("old", status=BuildStatus.PROCESSING, date_completed=None), {}, False),
        (build("old", status=BuildStatus.PENDING, number=None, date_uploaded=None, date_completed=None), {}, True),
        (build("old", days=100, date_completed=NOW - DAY), {}, False),  # the age is that of its completion
        (build("old"), {"editions": [edition("x", build="old")]}, False),
        (build("old"), {"editions": [edition("x", build="old", date_deleted=NOW)]}, True),
        (build("old"), {"editions": [edition("x")], "history": {"id-x": ["old"]}}, False),
        (build("old"), {"editions": [edition("x", date_deleted=NOW)], "history": {"id-x": ["old"]}}, True),
        (build("old"), {"editions": [edition("x")], "history": {"id-x": ["a", "b", "old", "old"]}}, True),
        (build("old"), {"editions": [edition("x")], "history": {"id-x": ["a", "old", "b", "old"]}}, False),
        (build("old"), {"editions": [edition("x", lifecycle_exempt=True)], "history": {"id-x": ["a", "b", "c", "old"]}}, False),
        (
            build("old"),
            {"editions": [edition("x"), edition("y")], "history": {"id-x": ["a", "b", "old"], "id-y": ["old"]}},
            False,
        ),
        (
            build("old"),
            {"editions": [edition("x"), edition("y")], "history": {"id-x": ["a", "b", "old"], "id-y": ["c", "d", "old"]}},
            True,
        ),
    ],
)
def test_builds_that_no_edition_needs(one: Build, state: dict[str, Any], goes: bool) -> None:
    assert bool(deleted(ORPHANS, builds=[one], **state)) is goes


def test_a_build_that_waits_for_its_upload_is_no_orphan_at_once() -> None:
    rule = {"type": "build_history_orphan", "min_position": 1, "min_age_days": 0}
    waiting = build("new", days=0.5, status=BuildStatus.PENDING, date_completed=None)

    assert deleted(rule, builds=[waiting]) == []
    assert deleted(rule, builds=[build("done", days=0)]) == ["done"]


@pytest.mark.parametrize(
    ("draft", "live", "goes"),
    [
        (edition("gone"), frozenset({"main"}), True),
        (edition("main"), frozenset({"main"}), False),
        (edition("gone"), frozenset(), True),
        (edition("gone"), None, False),  # not known: nothing matches
        (edition("gone", lifecycle_exempt=True), frozenset(), False),
        (edition("gone", date_deleted=NOW), frozenset(), False),
        (edition("gone", "release"), frozenset(), False),
        (edition("__main", "main"), frozenset(), False),
        (edition("gone", tracking_mode=TrackingMode.MANUAL), frozenset(), False),
        (edition("gone", tracking_mode=TrackingMode.SEMVER_RELEASE), frozenset(), False),
        (
            edition(
                "x",
                tracking_mode=TrackingMode.ALTERNATE_GIT_REF,
                tracking_params=TrackingParams(git_ref="gone", alternate_name="dark"),
            ),
            frozenset({"main"}),
            True,
        ),
        (edition("x", tracking_params=TrackingParams(git_ref="refs/heads/main")), frozenset({"main"}), False),
        (edition("x", tracking_params=TrackingParams(git_ref="refs/tags/v1")), frozenset({"v1"}), False),
    ],
)
def test_drafts_whose_ref_is_gone(draft: Edition, live: frozenset[str] | None, goes: bool) -> None:
    assert bool(deleted(REF_DELETED, editions=[draft], live_refs=live)) is goes


def test_a_deletion_says_which_rule_and_why() -> None:
    """Q29: one event for each deletion, with the rule and its parameters."""
    rules = LifecycleRules([INACTIVITY, ORPHANS, REF_DELETED])
    found = rules.evaluate([edition("a", date_changed=0), edition("b")], [build("c")], {}, NOW, frozenset())

    assert found == [
        Deletion(
            what="edition",
            id="id-a",
            name="a",
            rule="draft_inactivity",
            parameters={"max_days_inactive": 30},
            reason="a draft that has not changed for more than 30 days",
        ),
        Deletion(
            what="build",
            id="c",
            name="main",
            rule="build_history_orphan",
            parameters={"min_position": 3, "min_age_days": 10},
            reason="no edition shows it or has it among its last 2 builds",
        ),
        Deletion(
            what="edition",
            id="id-b",
            name="b",
            rule="ref_deleted",
            parameters={},
            reason="the repository has no branch or tag b any more",
        ),
    ]


def test_the_audit_can_ask_for_its_rule_alone() -> None:
    """Q30: the audit deletes by `ref_deleted`, and only where a project has the rule."""
    drafts = [edition("a", date_changed=0)]
    both = LifecycleRules([INACTIVITY, REF_DELETED])

    assert [one.rule for one in both.evaluate(drafts, [], {}, NOW, frozenset(), only={"ref_deleted"})] == ["ref_deleted"]
    assert both.types == {"draft_inactivity", "ref_deleted"}
    assert LifecycleRules([INACTIVITY]).evaluate(drafts, [], {}, NOW, frozenset(), only={"ref_deleted"}) == []


def test_without_rules_nothing_goes() -> None:
    assert LifecycleRules([]).evaluate([edition("a", date_changed=0)], [build("c")], {}, NOW, frozenset()) == []


@pytest.mark.parametrize(
    ("list_of_rules", "path", "said"),
    [
        (["draft_inactivity"], "[0]", "an object"),
        ([{}], "[0].type", "there is none"),
        ([INACTIVITY, {"type": "delete_all"}], "[1].type", "draft_inactivity, build_history_orphan, ref_deleted"),
        ([{"type": "draft_inactivity"}], "[0]", "missing required field `max_days_inactive`"),
        ([{**INACTIVITY, "max_days": 1}], "[0].max_days", "no such field"),
        ([{**INACTIVITY, "max_days_inactive": 0}], "[0].max_days_inactive", ">= 1"),
        ([{**INACTIVITY, "max_days_inactive": "30"}], "[0].max_days_inactive", "Expected `int`"),
        ([{**INACTIVITY, "max_days_inactive": True}], "[0].max_days_inactive", "Expected `int`"),
        ([{**ORPHANS, "min_position": 0}], "[0].min_position", ">= 1"),
        ([{**ORPHANS, "min_age_days": -1}], "[0].min_age_days", ">= 0"),
        ([{"type": "ref_deleted", "grace": 1}], "[0].grace", "no such field"),
        ([INACTIVITY, ORPHANS, INACTIVITY], "[2].type", "at most once"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_its_index_and_field(list_of_rules: list[Any], path: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        LifecycleRules(list_of_rules)

    assert str(refused.value).startswith(f"lifecycle_rules{path}: ")
    assert said in str(refused.value)

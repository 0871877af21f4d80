"""Which editions a build moves and creates (Q21): tables of cases for every tracking mode."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.apps.docs.domain.slugs import RewriteRules
from pressroom.apps.docs.domain.tracking import TrackingPlan, check_tracking, plan_editions, refusal
from pressroom.apps.docs.model import MAIN, AutoCreate, Edition, EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.store.editions import ShownBuild
from pressroom.errors import InvalidArgument

NO_RULES = RewriteRules([], source="org")
NOTHING_NEW = AutoCreate(git_ref=False, semver=False, alternate=False)


def edition(slug: str = MAIN, mode: str = "git_ref", **facts: Any) -> Edition:
    parameters = {name: facts.pop(name) for name in TrackingParams.__struct_fields__ if name in facts}
    return Edition(
        id=f"id-{slug}",
        project="project",
        slug=slug,
        title=slug,
        kind=EditionKind.MAIN if slug == MAIN else EditionKind.DRAFT,
        tracking_mode=TrackingMode(mode),
        tracking_params=TrackingParams(**parameters),
        lifecycle_exempt=False,
        pinned=facts.get("pinned", False),
        build=None,
        publish_status=None,
        publish_seq=0,
        published_seq=0,
        publish_error=None,
        ref_missing_since=None,
        date_created=0,
        date_changed=0,
        date_deleted=facts.get("date_deleted"),
    )


def build(git_ref: str, number: int = 100, alternate: str | None = None) -> ShownBuild:
    return ShownBuild(f"uid-{git_ref}-{alternate}-{number}", git_ref, alternate, number)


MAIN_OF_MAIN = edition(MAIN, git_ref="main")
STREAM_1 = edition("1", "semver_major", major_version=1)
STREAM_1_2 = edition("1.2", "semver_minor", major_version=1, minor_version=2)


def plan(
    of: ShownBuild,
    *editions: Edition,
    shown: dict[str, ShownBuild] | None = None,
    rules: RewriteRules = NO_RULES,
    auto: AutoCreate | None = None,
) -> TrackingPlan:
    """`shown` by slug."""
    by_id = {f"id-{slug}": current for slug, current in (shown or {}).items()}
    return plan_editions(of, editions, by_id, rules, auto or AutoCreate())


def moved(current: ShownBuild | None, new: ShownBuild, mode: str, **facts: Any) -> bool:
    """Whether the only edition of a project comes to show a build."""
    shown = {MAIN: current} if current else {}
    return plan(new, edition(MAIN, mode, **facts), shown=shown, auto=NOTHING_NEW).move == [MAIN]


# (mode, parameters, what is shown, the build that comes, whether it moves)
CASES: list[tuple[str, dict[str, Any], ShownBuild | None, ShownBuild, bool]] = [
    ("git_ref", {"git_ref": "main"}, None, build("main"), True),
    ("git_ref", {"git_ref": "main"}, build("main", 5), build("main", 6), True),
    ("git_ref", {"git_ref": "main"}, build("main", 6), build("main", 5), False),  # D23: the later upload stays
    ("git_ref", {"git_ref": "main"}, build("dev", 6), build("main", 5), False),
    ("git_ref", {"git_ref": "main"}, build("dev", 5), build("main", 6), True),
    ("git_ref", {"git_ref": "main"}, None, build("Main"), False),
    ("git_ref", {"git_ref": "main"}, None, build("dev"), False),
    ("git_ref", {"git_ref": "main"}, None, build("main", alternate="dark"), False),  # D24
    ("alternate_git_ref", {"git_ref": "main", "alternate_name": "dark"}, None, build("main", alternate="dark"), True),
    ("alternate_git_ref", {"git_ref": "main", "alternate_name": "dark"}, None, build("main"), False),
    ("alternate_git_ref", {"git_ref": "main", "alternate_name": "dark"}, None, build("main", alternate="light"), False),
    ("alternate_git_ref", {"git_ref": "main", "alternate_name": "dark"}, None, build("dev", alternate="dark"), False),
    (
        "alternate_git_ref",
        {"git_ref": "main", "alternate_name": "dark"},
        build("main", 6, "dark"),
        build("main", 5, "dark"),
        False,
    ),
    ("lsst_doc", {}, None, build("main"), True),
    ("lsst_doc", {}, None, build("v1.0"), True),
    ("lsst_doc", {}, None, build("dev"), False),
    ("lsst_doc", {}, None, build("main", alternate="dark"), False),
    ("lsst_doc", {}, build("main", 5), build("main", 6), True),
    ("lsst_doc", {}, build("main", 6), build("main", 5), False),
    ("lsst_doc", {}, build("main", 6), build("v1.0", 5), True),  # a version always takes the place of main
    ("lsst_doc", {}, build("v1.0", 5), build("main", 6), False),  # and main never that of a version
    ("lsst_doc", {}, build("dev", 5), build("main", 6), False),
    ("lsst_doc", {}, build("dev", 6), build("v1.0", 5), True),
    ("lsst_doc", {}, build("v1.0", 5), build("v1.0.1", 6), True),
    ("lsst_doc", {}, build("v1.1", 5), build("v1.0.1", 6), False),
    ("lsst_doc", {}, build("v1.0", 5), build("1.0.0", 6), True),
    ("lsst_doc", {}, build("v1.9", 6), build("v1.10", 5), True),
    ("eups_major_release", {}, None, build("v24_1"), True),
    ("eups_major_release", {}, None, build("w_2026_01"), False),
    ("eups_major_release", {}, build("v24_1", 9), build("v24.2", 8), True),
    ("eups_major_release", {}, build("v9_1", 9), build("24_0", 8), True),
    ("eups_major_release", {}, build("v24_1", 8), build("v23_9", 9), False),
    ("eups_major_release", {}, build("main", 9), build("v23_9", 8), True),  # nothing to compare with
    ("eups_weekly_release", {}, None, build("w_2026_05"), True),
    ("eups_weekly_release", {}, build("w_2025_52", 9), build("w.2026.01", 8), True),
    ("eups_weekly_release", {}, build("w_2026_01", 8), build("w_2025_52", 9), False),
    ("eups_weekly_release", {}, None, build("d_2026_05_01"), False),
    ("eups_daily_release", {}, None, build("d_2026_05_01"), True),
    ("eups_daily_release", {}, build("d_2026_04_30", 9), build("d.2026.05.01", 8), True),
    ("eups_daily_release", {}, build("d_2026_05_01", 8), build("d_2026_04_30", 9), False),
    ("eups_daily_release", {}, None, build("w_2026_05"), False),
    ("eups_daily_release", {}, None, build("d_2026_05_01", alternate="dark"), False),  # D24
    ("semver_release", {}, None, build("v1.2.3"), True),
    ("semver_release", {}, None, build("1.2.3+5"), True),  # D33
    ("semver_release", {}, None, build("1.2"), False),
    ("semver_release", {}, None, build("v1.2.3-rc.1"), False),
    ("semver_release", {}, None, build("v2.0.0", alternate="dark"), False),  # D24
    ("semver_release", {}, build("1.9.0", 9), build("1.10.0", 8), True),  # the version decides, not the upload
    ("semver_release", {}, build("1.10.0", 8), build("1.9.1", 9), False),
    ("semver_release", {}, build("1.2.3", 8), build("1.2.3", 9), True),  # released again
    ("semver_release", {}, build("1.2.3", 9), build("1.2.3", 8), False),
    ("semver_release", {}, build("1.2.3+1", 8), build("1.2.3+2", 9), True),
    ("semver_release", {}, build("2.0.0-rc.1", 9), build("1.9.9", 8), False),  # people moved it to the prerelease
    ("semver_release", {}, build("2.0.0-rc.1", 9), build("2.0.0", 8), True),
    ("semver_release", {}, build("main", 9), build("1.0.0", 8), True),
    ("semver_major", {"major_version": 1}, None, build("v1.5.0"), True),
    ("semver_major", {"major_version": 1}, None, build("v2.0.0"), False),
    ("semver_major", {"major_version": 1}, None, build("v10.0.0"), False),
    ("semver_major", {"major_version": 0}, None, build("v0.1.0"), True),
    ("semver_major", {"major_version": 1}, build("1.5.0", 8), build("1.4.9", 9), False),
    ("semver_major", {"major_version": 1}, None, build("v1.5.0-rc.1"), False),
    ("semver_major", {"major_version": 1}, None, build("v1.5.0", alternate="dark"), False),  # D24
    ("semver_minor", {"major_version": 1, "minor_version": 2}, None, build("v1.2.0"), True),
    ("semver_minor", {"major_version": 1, "minor_version": 2}, None, build("v1.3.0"), False),
    ("semver_minor", {"major_version": 1, "minor_version": 2}, None, build("v2.2.0"), False),
    ("semver_minor", {"major_version": 1, "minor_version": 2}, build("1.2.9", 9), build("1.2.10", 8), True),
    ("semver_minor", {"major_version": 1, "minor_version": 2}, build("1.2.10", 8), build("1.2.9", 9), False),
    ("manual", {}, None, build("main"), False),
    ("manual", {}, None, build("v1.2.3"), False),
    ("manual", {}, None, build("main", alternate="dark"), False),
]


@pytest.mark.parametrize(("mode", "parameters", "current", "new", "moves"), CASES)
def test_a_mode_takes_the_builds_that_it_should(
    mode: str, parameters: dict[str, Any], current: ShownBuild | None, new: ShownBuild, moves: bool
) -> None:
    assert moved(current, new, mode, **parameters) is moves
    assert (refusal(edition(MAIN, mode, **parameters), current, new) is None) is moves


@pytest.mark.parametrize("mode", list(TrackingMode))
def test_every_mode_is_among_the_cases(mode: TrackingMode) -> None:
    assert any(case[0] == mode for case in CASES)


@pytest.mark.parametrize(("mode", "parameters", "current", "new", "moves"), CASES)
def test_a_pinned_edition_stays(
    mode: str, parameters: dict[str, Any], current: ShownBuild | None, new: ShownBuild, moves: bool
) -> None:
    assert not moved(current, new, mode, **parameters, pinned=True)
    assert refusal(edition(MAIN, mode, **parameters, pinned=True), current, new)


def test_an_edition_that_shows_the_build_is_published_again_by_the_next_attempt() -> None:
    """Q33: an attempt that moved it may have ended before it was published."""
    new = build("main", 7)

    assert plan(new, MAIN_OF_MAIN, shown={MAIN: new}).move == [MAIN]
    assert refusal(edition(MAIN, git_ref="main", pinned=True), new, new) is None


def test_reasons_are_in_words() -> None:
    skipped = plan(
        build("1.2.3", 8),
        edition(MAIN, "semver_release"),
        edition("1", "semver_major", major_version=1, pinned=True),
        edition("latest", git_ref="1.2.3"),
        shown={MAIN: build("2.0.0", 3), "1": build("1.0.0", 2), "latest": build("1.2.3", 9)},
        auto=NOTHING_NEW,
    ).skipped

    assert {one.slug: one.reason for one in skipped} == {
        MAIN: "shows 2.0.0, which is a later version",
        "1": "is pinned to 1.0.0",
        "latest": "shows 1.2.3 from build 9, and this is build 8",
    }
    assert refusal(edition("x", "manual"), None, build("main")) == "is moved by people only"
    assert refusal(MAIN_OF_MAIN, None, build("dev", alternate="dark")) == "follows other builds than those of dev (dark)"
    assert refusal(edition("x", git_ref="main", date_deleted=5), None, build("main")) == "was deleted"


def test_a_ref_without_an_edition_gets_one() -> None:
    made = plan(build("feature/a"), MAIN_OF_MAIN)

    (new,) = made.create
    assert (new.slug, new.title, new.kind) == ("feature-a", "feature-a", EditionKind.DRAFT)
    assert (new.tracking_mode, new.tracking_params) == (TrackingMode.GIT_REF, TrackingParams(git_ref="feature/a"))
    assert (made.move, made.skipped) == (["feature-a"], [])
    assert made.preview.edition_slug == "feature-a"


def test_a_ref_that_an_edition_follows_gets_none() -> None:
    made = plan(build("main"), MAIN_OF_MAIN)

    assert (made.create, made.move) == ([], [MAIN])


def test_a_ref_that_a_pinned_edition_follows_gets_none() -> None:
    made = plan(build("main"), edition(MAIN, git_ref="main", pinned=True))

    assert (made.create, made.move) == ([], [])
    assert [one.slug for one in made.skipped] == [MAIN]


def test_the_kind_and_slug_of_a_new_edition_are_the_rules() -> None:
    rules = RewriteRules([{"type": "prefix_strip", "prefix": "v", "edition_kind": "release"}], source="org")
    (new, *_) = plan(build("v1.2.3"), MAIN_OF_MAIN, rules=rules).create

    assert (new.slug, new.kind, new.tracking_params) == ("1.2.3", EditionKind.RELEASE, TrackingParams(git_ref="v1.2.3"))


def test_a_release_gets_its_major_and_minor_edition() -> None:
    made = plan(build("v2.1.0"), MAIN_OF_MAIN)

    assert [(new.slug, new.title, new.kind, new.tracking_mode, new.tracking_params) for new in made.create] == [
        ("v2.1.0", "v2.1.0", "draft", "git_ref", TrackingParams(git_ref="v2.1.0")),
        ("2", "Latest 2.x", "major", "semver_major", TrackingParams(major_version=2)),
        ("2.1", "Latest 2.1.x", "minor", "semver_minor", TrackingParams(major_version=2, minor_version=1)),
    ]
    assert made.move == ["2", "2.1", "v2.1.0"]


def test_every_release_gets_its_own_edition_also_when_its_streams_are_there() -> None:
    made = plan(build("v1.2.4"), MAIN_OF_MAIN, STREAM_1, STREAM_1_2, shown={"1": build("v1.3.0"), "1.2": build("v1.2.3")})

    assert [new.slug for new in made.create] == ["v1.2.4"]
    assert made.move == ["1.2", "v1.2.4"]
    assert [one.slug for one in made.skipped] == ["1"]


def test_a_release_that_the_main_edition_takes_gets_its_streams_alone() -> None:
    """The example of the design: three editions for v2.1.0."""
    made = plan(build("v2.1.0"), edition(MAIN, "semver_release"), STREAM_1)

    assert made.move == [MAIN, "2", "2.1"]
    assert [new.slug for new in made.create] == ["2", "2.1"]


@pytest.mark.parametrize("git_ref", ["v2.0.0-rc.1", "2.0", "v2", "main"])
def test_what_is_no_release_gets_no_major_and_minor_edition(git_ref: str) -> None:
    assert [new.slug for new in plan(build(git_ref)).create] == [git_ref]


def test_an_edition_with_the_slug_and_another_mode_is_left_alone() -> None:
    """Q21: what people set up is not taken over; nor is the branch of another ref with the same slug."""
    made = plan(build("v2.1.0"), edition("2", "manual"), edition("2.1", git_ref="old"), edition("V2.1.0", git_ref="V2.1.0"))

    assert (made.create, made.move) == ([], [])
    assert [one.slug for one in made.skipped] == ["2", "2.1", "V2.1.0"]


def test_two_refs_with_one_slug_do_not_share_an_edition() -> None:
    made = plan(build("feature-a"), edition("feature-a", git_ref="feature/a"))

    assert (made.create, made.move) == ([], [])
    assert made.skipped[0].reason == "there is an edition feature-a that follows other builds"


def test_the_slug_of_a_deleted_edition_is_free() -> None:
    """D27."""
    assert plan(build("dev"), edition("dev", git_ref="dev", date_deleted=5)).move == ["dev"]


def test_a_rule_that_gives_a_release_the_slug_of_its_stream_decides() -> None:
    rules = RewriteRules([{"type": "regex", "pattern": r"v(?P<slug>\d+)"}], source="org")
    made = plan(build("v2.1.0"), rules=rules)

    assert [(new.slug, new.tracking_mode) for new in made.create] == [("2", "git_ref"), ("2.1", "semver_minor")]


def test_an_alternate_gets_an_edition_of_its_own_and_nothing_else() -> None:
    """D24."""
    everything = [edition(f"e{index}", mode) for index, mode in enumerate(TrackingMode)]
    made = plan(build("v2.1.0", alternate="dark"), MAIN_OF_MAIN, edition("r", "semver_release"), *everything)

    (new,) = made.create
    assert (new.slug, new.tracking_mode) == ("dark--v2.1.0", TrackingMode.ALTERNATE_GIT_REF)
    assert new.tracking_params == TrackingParams(git_ref="v2.1.0", alternate_name="dark")
    assert (made.move, made.skipped) == (["dark--v2.1.0"], [])


@pytest.mark.parametrize(
    ("switches", "new", "slugs"),
    [
        ({"git_ref": False}, build("dev"), []),
        ({"git_ref": False}, build("v2.1.0"), ["2", "2.1"]),
        ({"semver": False}, build("v2.1.0"), ["v2.1.0"]),
        ({"git_ref": False, "semver": False}, build("v2.1.0"), []),
        ({"alternate": False}, build("dev", alternate="dark"), []),
        ({"alternate": False}, build("dev"), ["dev"]),
        ({"git_ref": False}, build("dev", alternate="dark"), ["dark--dev"]),
    ],
)
def test_creation_can_be_switched_off(switches: dict[str, bool], new: ShownBuild, slugs: list[str]) -> None:
    assert [made.slug for made in plan(new, auto=AutoCreate(**switches)).create] == slugs


def test_a_ref_that_a_rule_ignores_moves_nothing() -> None:
    rules = RewriteRules([{"type": "ignore", "glob": "*"}], source="org")
    made = plan(build("main"), MAIN_OF_MAIN, rules=rules)

    assert (made.create, made.move, made.skipped) == ([], [], [])
    assert made.preview.is_ignored


def test_a_ref_without_a_valid_slug_makes_no_edition_and_moves_those_that_follow_it() -> None:
    made = plan(build("_next"), edition(MAIN, git_ref="_next"), edition("next", git_ref="_next"))

    assert (made.create, made.move) == ([], [MAIN, "next"])
    assert plan(build("_next")).move == []
    assert made.preview.problem


def test_a_version_of_many_digits_makes_no_stream() -> None:
    assert [new.slug for new in plan(build("99999999999999999999.0.0")).create] == ["99999999999999999999.0.0"]
    assert plan(build(f"{'9' * 200}.0.0")).create == []


@given(
    st.permutations([MAIN_OF_MAIN, edition("r", "semver_release"), STREAM_1, STREAM_1_2, edition("b", git_ref="v1.2.3")]),
    st.sampled_from(["main", "v1.2.3", "1.2.4", "v1.3.0", "v2.0.0-rc.1", "feature/a"]),
)
def test_a_plan_does_not_depend_on_the_order_of_the_editions(editions: list[Edition], git_ref: str) -> None:
    """Q21: deterministic."""
    shown = {MAIN: build("main", 3), "1": build("v1.2.9", 4)}

    assert plan(build(git_ref), *editions, shown=shown) == plan(
        build(git_ref), *sorted(editions, key=lambda one: one.id), shown=shown
    )


@given(st.permutations([build(f"1.{minor}.{patch}", 3 * minor + patch + 1) for minor in range(3) for patch in range(3)]))
def test_in_whatever_order_releases_come_editions_end_at_the_newest_version(releases: list[ShownBuild]) -> None:
    """Q21: jobs of different refs run side by side."""
    editions = {one.slug: one for one in (edition(MAIN, git_ref="main"),)}
    shown: dict[str, ShownBuild] = {}
    for release in releases:
        made = plan(release, *editions.values(), shown=shown)
        for new in made.create:
            parameters = {name: getattr(new.tracking_params, name) for name in TrackingParams.__struct_fields__}
            editions[new.slug] = edition(new.slug, new.tracking_mode, **parameters)
        shown |= dict.fromkeys(made.move, release)

    assert {slug: current.git_ref for slug, current in shown.items()} == {
        "1": "1.2.2",
        **{f"1.{minor}": f"1.{minor}.2" for minor in range(3)},
        **{f"1.{minor}.{patch}": f"1.{minor}.{patch}" for minor in range(3) for patch in range(3)},
    }


@pytest.mark.parametrize(
    ("mode", "parameters"),
    [
        ("git_ref", {"git_ref": "main"}),
        ("alternate_git_ref", {"git_ref": "main", "alternate_name": "dark"}),
        ("semver_major", {"major_version": 0}),
        ("semver_minor", {"major_version": 1, "minor_version": 0}),
        ("lsst_doc", {}),
        ("manual", {}),
    ],
)
def test_parameters_that_a_mode_needs(mode: str, parameters: dict[str, Any]) -> None:
    check_tracking(TrackingMode(mode), TrackingParams(**parameters))


@pytest.mark.parametrize(
    ("mode", "parameters", "field"),
    [
        ("git_ref", {}, "git_ref"),
        ("git_ref", {"git_ref": ""}, "git_ref"),
        ("git_ref", {"git_ref": "x" * 257}, "git_ref"),
        ("git_ref", {"git_ref": "main", "alternate_name": "dark"}, "alternate_name"),
        ("alternate_git_ref", {"git_ref": "main"}, "alternate_name"),
        ("semver_major", {}, "major_version"),
        ("semver_major", {"major_version": -1}, "major_version"),
        ("semver_major", {"major_version": 2**53}, "major_version"),
        ("semver_minor", {"major_version": 1}, "minor_version"),
        ("semver_release", {"major_version": 1}, "major_version"),
        ("manual", {"git_ref": "main"}, "git_ref"),
    ],
)
def test_parameters_that_do_not_fit_a_mode_are_refused_by_name(mode: str, parameters: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"^tracking_params\.{field}: "):
        check_tracking(TrackingMode(mode), TrackingParams(**parameters))

"""Versions in git refs: the lists that semver.org publishes, and the names of LSST and EUPS releases (Q21, D33)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.apps.docs.domain.versions import (
    SemVer,
    parse_eups_daily,
    parse_eups_major,
    parse_eups_weekly,
    parse_lsst_doc,
    parse_release,
    parse_semver,
)

VALID = """
0.0.4 1.2.3 10.20.30 1.1.2-prerelease+meta 1.1.2+meta 1.1.2+meta-valid 1.0.0-alpha 1.0.0-beta 1.0.0-alpha.beta
1.0.0-alpha.beta.1 1.0.0-alpha.1 1.0.0-alpha0.valid 1.0.0-alpha.0valid 1.0.0-alpha-a.b-c-somethinglong+build.1-aef.1-its-okay
1.0.0-rc.1+build.1
2.0.0-rc.1+build.123 1.2.3-beta 10.2.3-DEV-SNAPSHOT 1.2.3-SNAPSHOT-123 1.0.0 2.0.0 1.1.7 2.0.0+build.1848 2.0.1-alpha.1227
1.0.0-alpha+beta 1.2.3----RC-SNAPSHOT.12.9.1--.12+788 1.2.3----R-S.12.9.1--.12+meta 1.2.3----RC-SNAPSHOT.12.9.1--.12
1.0.0+0.build.1-rc.10000aaa-kk-0.1 99999999999999999999999.999999999999999999.99999999999999999 1.0.0-0A.is.legal
"""

INVALID = """
1 1.2 1.2.3-0123 1.2.3-0123.0123 1.1.2+.123 +invalid -invalid -invalid+invalid -invalid.01 alpha alpha.beta alpha.beta.1 alpha.1
alpha+beta alpha_beta alpha. alpha.. beta 1.0.0-alpha_beta -alpha. 1.0.0-alpha.. 1.0.0-alpha..1 1.0.0-alpha...1 1.0.0-alpha....1
1.0.0-alpha.....1 1.0.0-alpha......1 1.0.0-alpha.......1 01.1.1 1.01.1 1.1.01 1.2.3.DEV 1.2-SNAPSHOT
1.2.31.2.3----RC-SNAPSHOT.12.09.1--..12+788 1.2-RC-SNAPSHOT -1.0.3-gamma+b7718 +justmeta 9.8.7+meta+meta
9.8.7-whatever+meta+meta
99999999999999999999999.999999999999999999.99999999999999999----RC-SNAPSHOT.12.09.1--------------------------------..12
"""

ORDERED = """
1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 2.0.0 2.1.0 2.1.1
"""

IDENTIFIERS = st.integers(0, 30) | st.sampled_from(["a", "b", "rc", "-", "0a", "A", "Z9", "alpha"])
SEMVERS = st.builds(
    SemVer, st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.lists(IDENTIFIERS, max_size=3).map(tuple)
)


def semver(git_ref: str) -> SemVer:
    version = parse_semver(git_ref)
    assert version is not None, git_ref
    return version


@pytest.mark.parametrize("text", VALID.split())
def test_what_semver_org_calls_valid_is_a_version_with_and_without_v(text: str) -> None:
    assert parse_semver(text) == parse_semver(f"v{text}") is not None


@pytest.mark.parametrize("text", INVALID.split())
def test_what_semver_org_calls_invalid_is_none(text: str) -> None:
    assert parse_semver(text) is None


@pytest.mark.parametrize(
    "text", ["", "v", "V1.2.3", "vv1.2.3", "1.2.3\n", " 1.2.3", "refs/tags/1.2.3", "1.2.3-", "1.2.3+", "١.٢.٣"]
)
def test_refs_that_only_look_like_versions_are_none(text: str) -> None:
    assert parse_semver(text) is None


def test_a_ref_that_no_build_can_have_is_no_version() -> None:
    assert parse_semver("1." * 5_000 + "1") is None
    assert parse_semver(f"{'9' * 5_000}.0.0") is None


def test_precedence_is_that_of_semver_org() -> None:
    """D33: numbers in prereleases are compared as numbers."""
    for lower, higher in itertools.combinations(map(semver, ORDERED.split()), 2):
        assert lower < higher
        assert higher > lower
        assert lower != higher
    assert semver("1.0.0-alpha.2") < semver("1.0.0-alpha.10")


def test_build_metadata_is_accepted_and_left_out_of_the_order() -> None:
    """D33."""
    assert semver("1.0.0+b1") == semver("1.0.0+b2") == semver("1.0.0")
    assert semver("1.0.0-rc.1+b1") == semver("1.0.0-rc.1")
    assert parse_release("v1.0.0+b1") == SemVer(1, 0, 0)


def test_a_prerelease_is_no_release() -> None:
    assert parse_release("2.0.0-rc.1") is None
    assert not semver("2.0.0-rc.1").is_stable
    assert semver("2.0.0").is_stable


@given(SEMVERS, SEMVERS, SEMVERS)
def test_the_order_is_total(first: SemVer, second: SemVer, third: SemVer) -> None:
    assert (first < second) + (first == second) + (first > second) == 1
    assert (first <= second) == (not first > second)
    if first <= second <= third:
        assert first <= third


@given(SEMVERS)
def test_a_version_is_read_from_what_it_prints(version: SemVer) -> None:
    assert parse_semver(str(version)) == version


@given(st.text(max_size=60) | st.from_regex(r"v?[0-9]{1,3}[._][0-9]{1,3}[._-]?[0-9a-z.+-]{0,9}", fullmatch=True))
def test_nothing_fails_at_any_text(text: str) -> None:
    for parse in (parse_semver, parse_lsst_doc, parse_eups_major, parse_eups_weekly, parse_eups_daily):
        parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v1.0", (1, 0, 0)),
        ("1.0", (1, 0, 0)),
        ("v1.2.3", (1, 2, 3)),
        ("10.20.30", (10, 20, 30)),
        ("01.2", (1, 2, 0)),
        ("main", None),
        ("v1", None),
        ("1.2.3.4", None),
        ("v1.2-rc1", None),
        ("1.2\n", None),
    ],
)
def test_versions_of_lsst_documents(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_lsst_doc(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v24_1", (24, 1)),
        ("24_1", (24, 1)),
        ("v24.1", (24, 1)),
        ("24.1", (24, 1)),
        ("24", None),
        ("24_1_2", None),
        ("w_24_1", None),
    ],
)
def test_major_releases_of_eups(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_eups_major(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w_2026_05", (2026, 5)),
        ("w.2026.05", (2026, 5)),
        ("w_2026_53", (2026, 53)),
        ("w_2026_00", None),
        ("w_2026_54", None),
        ("w_26_05", None),
        ("w_2026_5", None),
        ("d_2026_05", None),
        ("2026_05", None),
    ],
)
def test_weekly_releases_of_eups(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_eups_weekly(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d_2026_05_09", (2026, 5, 9)),
        ("d.2026.05.09", (2026, 5, 9)),
        ("d_2024_02_29", (2024, 2, 29)),
        ("d_2026_02_29", None),
        ("d_2026_13_01", None),
        ("d_0000_01_01", None),
        ("w_2026_05_09", None),
        ("d_2026_05", None),
    ],
)
def test_daily_releases_of_eups(text: str, expected: tuple[int, ...] | None) -> None:
    assert parse_eups_daily(text) == expected

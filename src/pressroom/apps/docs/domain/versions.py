"""Versions in git refs: SemVer 2.0, EUPS releases, and LSST documents."""

import re
from dataclasses import dataclass
from datetime import date
from functools import total_ordering
from typing import Any

LONGEST_REF = 256  # what a git ref of a build may have; longer ones are no version
WEEKS = range(1, 54)

_NUMBER = r"(?:0|[1-9][0-9]*)"
_PRERELEASE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_SEMVER = re.compile(
    rf"v?({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PRERELEASE}(?:\.{_PRERELEASE})*))?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
)
_LSST_DOC = re.compile(r"v?([0-9]+)\.([0-9]+)(?:\.([0-9]+))?")
_EUPS_MAJOR = re.compile(r"v?([0-9]+)[._]([0-9]+)")
_EUPS_WEEKLY = re.compile(r"w[._]([0-9]{4})[._]([0-9]{2})")
_EUPS_DAILY = re.compile(r"d[._]([0-9]{4})[._]([0-9]{2})[._]([0-9]{2})")

type Numbers = tuple[int, ...]


@total_ordering
@dataclass(frozen=True, slots=True)
class SemVer:
    """Compared by SemVer 2.0 precedence: build metadata is left out (D33)."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()

    @property
    def is_stable(self) -> bool:
        return not self.prerelease

    def __str__(self) -> str:
        release = f"{self.major}.{self.minor}.{self.patch}"
        return f"{release}-{'.'.join(map(str, self.prerelease))}" if self.prerelease else release

    def __lt__(self, other: "SemVer") -> bool:
        return self._precedence() < other._precedence()

    def _precedence(self) -> tuple[Any, ...]:
        """A release stands above its prereleases; in these, numbers below words, and a prefix below what it begins."""
        identifiers = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.prerelease)
        return self.major, self.minor, self.patch, self.is_stable, identifiers


def parse_semver(git_ref: str) -> SemVer | None:
    """`v1.2.3`, `1.2.3-rc.1+5`. None for what is no version."""
    match = _match(_SEMVER, git_ref)
    if match is None:
        return None
    major, minor, patch, prerelease = match.groups()
    identifiers = tuple(int(part) if part.isdigit() else part for part in prerelease.split(".")) if prerelease else ()
    return SemVer(int(major), int(minor), int(patch), identifiers)


def parse_release(git_ref: str) -> SemVer | None:
    """A SemVer version that is no prerelease."""
    version = parse_semver(git_ref)
    return version if version and version.is_stable else None


def parse_lsst_doc(git_ref: str) -> Numbers | None:
    """`v1.2`, `1.2.3`: major, minor and patch; a patch that is left out is 0."""
    return _numbers(_LSST_DOC, git_ref)


def version_text(git_ref: str) -> str | None:
    """`1.2.3` for `v1.2.3`, `1.2` for `1.2`. None for what is no version."""
    is_version = parse_semver(git_ref) is not None or parse_lsst_doc(git_ref) is not None
    return git_ref.removeprefix("v") if is_version else None


def parse_eups_major(git_ref: str) -> Numbers | None:
    """`v24_1`, `24.1`: major and minor."""
    return _numbers(_EUPS_MAJOR, git_ref)


def parse_eups_weekly(git_ref: str) -> Numbers | None:
    """`w_2026_05`, `w.2026.05`: year and week."""
    numbers = _numbers(_EUPS_WEEKLY, git_ref)
    return numbers if numbers and numbers[1] in WEEKS else None


def parse_eups_daily(git_ref: str) -> Numbers | None:
    """`d_2026_05_09`, `d.2026.05.09`: a day of the calendar."""
    numbers = _numbers(_EUPS_DAILY, git_ref)
    return numbers if numbers and _is_day(*numbers) else None


def _numbers(pattern: re.Pattern[str], git_ref: str) -> Numbers | None:
    match = _match(pattern, git_ref)
    return tuple(int(number) for number in match.groups(default="0")) if match else None


def _match(pattern: re.Pattern[str], git_ref: str) -> re.Match[str] | None:
    return pattern.fullmatch(git_ref) if len(git_ref) <= LONGEST_REF else None


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True

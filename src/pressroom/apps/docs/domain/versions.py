"""Versions in git refs: SemVer 2.0, EUPS releases, and LSST documents."""

import msgspec


class SemVer(msgspec.Struct, frozen=True, order=False):
    """Compared by SemVer 2.0 precedence: build metadata is left out (D33)."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()

    @property
    def is_stable(self) -> bool:
        return not self.prerelease

    def __lt__(self, other: "SemVer") -> bool:
        raise NotImplementedError


def parse_semver(git_ref: str) -> SemVer | None:
    """`v1.2.3`, `1.2.3-rc.1+5`. None for what is no version."""
    raise NotImplementedError

"""Which files differ between two builds."""

from collections.abc import Sequence

import msgspec

from pressroom.store.artifacts.artifacts import ArtifactFile


class ChangedFile(msgspec.Struct, frozen=True):
    path: str
    size_before: int
    size_after: int


class Comparison(msgspec.Struct, frozen=True):
    """Paths in order. `same` counts files that are equal."""

    added: list[str]
    removed: list[str]
    changed: list[ChangedFile]
    same: int


def compare_files(before: Sequence[ArtifactFile], after: Sequence[ArtifactFile]) -> Comparison:
    """By path and hash; no file is read."""
    old, new = ({file.path: file for file in files} for files in (before, after))
    both = sorted(old.keys() & new.keys())
    changed = [ChangedFile(path, old[path].size, new[path].size) for path in both if old[path].sha256 != new[path].sha256]
    return Comparison(
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
        changed=changed,
        same=len(both) - len(changed),
    )

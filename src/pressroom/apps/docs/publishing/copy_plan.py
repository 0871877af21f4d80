"""In which order a tree of files becomes another one, so that no reader meets a page whose assets are missing: pure functions.

New and changed assets come first, then pages from the deepest folders up, and the home page last. Pages that are not wanted any
more go before the assets that they use; those assets stay for a while, for readers whose page is a minute old.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from pressroom.store.artifacts.artifacts import ArtifactFile

HOME = "index.html"


class SiteRecord(msgspec.Struct, kw_only=True):
    """What is known of a site in a tree. It is written before and after each batch of writes, so that after a crash it says of
    each file that it is this one, or that it is unknown."""

    edition: str = ""  # the id of the edition that was published last
    seq: int = 0
    build: str | None = None
    complete: bool = False
    files: dict[str, str] = {}  # hash by path
    unknown: list[str] = []  # paths that were about to be written or removed
    orphans: dict[str, int] = {}  # assets that are not wanted, with the time since when

    def is_sure_of(self, path: str, sha256: str) -> bool:
        return self.files.get(path) == sha256 and path not in self.unknown


class CopyPlan(NamedTuple):
    in_the_way: Sequence[str]  # files where a folder is wanted, and the other way round
    writes: Sequence[Sequence[ArtifactFile]]  # the files of one step have no order
    old_pages: Sequence[str]
    old_assets: Sequence[str]

    @property
    def is_empty(self) -> bool:
        return not (self.in_the_way or self.writes or self.old_pages or self.old_assets)


def plan_copy(record: SiteRecord, wanted: Mapping[str, ArtifactFile]) -> CopyPlan:
    there = {*record.files, *record.unknown}
    changed = [file for path, file in wanted.items() if not record.is_sure_of(path, file.sha256)]
    changed.sort(key=lambda file: (_step(file.path), file.path))
    left = there - wanted.keys()
    in_the_way = _in_the_way(left, wanted.keys())
    gone = left - set(in_the_way)
    return CopyPlan(
        in_the_way=sorted(in_the_way),
        writes=[list(step) for _, step in groupby(changed, key=lambda file: _step(file.path))],
        old_pages=sorted((path for path in gone if is_page(path)), key=lambda path: (_step(path), path), reverse=True),
        old_assets=sorted(path for path in gone if not is_page(path)),
    )


def is_page(path: str) -> bool:
    return path.lower().endswith((".html", ".htm"))


def _step(path: str) -> tuple[int, int]:
    """Assets, pages by depth, the home page."""
    if not is_page(path):
        return 0, 0
    return (2, 0) if path == HOME else (1, -path.count("/"))


def _in_the_way(left: Collection[str], wanted: Collection[str]) -> list[str]:
    folders = {path[:place] for path in wanted for place, letter in enumerate(path) if letter == "/"}
    names = set(wanted)
    return [path for path in left if path in folders or any(parent in names for parent in _parents(path))]


def _parents(path: str) -> list[str]:
    return [path[:place] for place, letter in enumerate(path) if letter == "/"]

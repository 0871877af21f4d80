"""A tree of files that is checked after every change: what a reader who fetches all the time could meet."""

import re
from collections.abc import AsyncIterable, Callable
from pathlib import Path

from pressroom.apps.docs.publishing import PurgedFiles
from pressroom.apps.docs.publishing.places import FolderPlace, TreePlace
from pressroom.apps.docs.publishing.tree_paths import OWN_FILES

_USES = re.compile(rb'(?:href|src)="([^"]+)"')


class Killed(BaseException):
    """The process is gone: nothing that it does from here on has an effect."""


class WatchedPlace:
    """Calls `after` when something has changed. At the `dies_at`-th change the process is killed, before it or after it."""

    def __init__(
        self,
        place: TreePlace,
        after: Callable[[], None] = lambda: None,
        *,
        dies_at: int | None = None,
        dies_before: bool = False,
    ) -> None:
        self._place = place
        self._after = after
        self._dies_at = dies_at
        self._dies_before = dies_before
        self.changes = 0
        self.written: list[str] = []
        self.is_dead = False

    @property
    def name(self) -> str:
        return self._place.name

    async def read(self, path: str) -> bytes | None:
        self._require_life()
        return await self._place.read(path)

    async def write(self, path: str, data: bytes | AsyncIterable[bytes], media_type: str) -> None:
        number = self._begin()
        await self._place.write(path, data, media_type)
        self.written.append(path)
        self._end(number)

    async def move(self, old: str, new: str) -> bool:
        number = self._begin()
        moved = await self._place.move(old, new)
        self._end(number)
        return moved

    async def delete(self, path: str) -> None:
        number = self._begin()
        await self._place.delete(path)
        self._end(number)

    async def list_files(self, folder: str) -> list[str]:
        self._require_life()
        return await self._place.list_files(folder)

    async def list_folders(self, folder: str) -> list[str]:
        return await self._place.list_folders(folder)

    async def delete_folder(self, folder: str) -> PurgedFiles:
        return await self._place.delete_folder(folder)

    async def delete_temporary_files(self) -> None:
        await self._place.delete_temporary_files()

    async def close(self) -> None:
        await self._place.close()

    def _require_life(self) -> None:
        if self.is_dead:
            raise Killed

    def _begin(self) -> int:
        self._require_life()
        self.changes += 1
        if self._dies_before and self.changes == self._dies_at:
            self.is_dead = True
            raise Killed
        return self.changes

    def _end(self, number: int) -> None:
        self._require_life()
        self._after()
        if number == self._dies_at:
            self.is_dead = True
            raise Killed


def read_site(root: Path, site: str) -> dict[str, bytes]:
    """What readers get, by path, without the files of the dashboard."""
    below = root / site
    files = {str(path.relative_to(below)): path.read_bytes() for path in sorted(below.rglob("*")) if path.is_file()}
    return {path: data for path, data in files.items() if not path.startswith("v/") and path not in OWN_FILES}


def check_pages(root: Path, site: str) -> None:
    """Every page that is there has all its assets."""
    files = read_site(root, site)
    for path, data in files.items():
        if path.endswith(".html"):
            missing = [used.decode() for used in _USES.findall(data) if used.decode() not in files]
            assert not missing, f"{path} uses {missing}, which are not there"


def site(version: int, *, pages: int = 3, unchanged: int = 2) -> dict[str, bytes]:
    """A site of some version: each page uses an asset of its own version, named with it, and one that never changes."""
    files = {f"static/app-{version}.css": b"css %d" % version, f"static/app-{version}.js": b"js %d" % version}
    files |= {f"static/same-{number}.png": b"picture %d" % number for number in range(unchanged)}
    files["search.json"] = b"index %d" % version
    uses = f'<link href="static/app-{version}.css"><script src="static/app-{version}.js"></script><img src="static/same-0.png">'
    links = '<link href="search.json">'
    for number in range(pages):
        files[f"chapter/{number}/page-{number + version}.html"] = f"{version} {uses}{links}".encode()
    files["chapter/index.html"] = f"{version} {uses}".encode()
    files["index.html"] = f"home {version} {uses}{links}".encode()
    return files


def folder_of(root: Path, watch: Callable[[], None] = lambda: None, **death: int | bool | None) -> WatchedPlace:
    return WatchedPlace(FolderPlace(root), watch, **death)  # type: ignore[arg-type]

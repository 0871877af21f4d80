"""A folder with a site for each version, as tools for static hosting leave it: which of its folders are versions, which names
are aliases of these, and what is neither.

Links are not followed. One to another folder of the same place is an alias.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from pressroom.apps.docs.domain.links import is_page
from pressroom.apps.docs.domain.versions import SemVer, parse_semver
from pressroom.errors import InvalidArgument

MOST_VERSIONS = 500
ALIASES = ("latest", "stable", "current")  # in this order, what the main edition shows
VERSION_LIST = "versions.json"  # of mike: [{"version": "1.0", "title": "1.0", "aliases": ["latest"]}]

_MOST_LISTED = 20_000  # entries of a folder, in search of a page
_LARGEST_LIST = 1024 * 1024  # bytes
_VERSION_NAME = re.compile(r"v?[0-9]+([._-].*)?")
_SHORT_VERSION = re.compile(r"v?[0-9]{1,9}(\.[0-9]{1,9})?")


class VersionFolders(msgspec.Struct, frozen=True):
    """`versions` in the order in which they are imported, the newest last. `aliases`: what each name stands for. `ignored`: why
    what else is there is not imported."""

    versions: list[str]
    aliases: dict[str, str]
    ignored: dict[str, str]
    titles: dict[str, str]


class _ListedVersion(msgspec.Struct):
    version: str
    title: str = ""
    aliases: list[str] = []


def find_versions(folder: Path) -> VersionFolders:
    """Raises InvalidArgument for a folder without versions."""
    if not folder.is_dir():
        raise InvalidArgument(f"{folder}: there is no such folder")
    versions: list[str] = []
    aliases: dict[str, str] = {}
    ignored: dict[str, str] = {}
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_symlink():
                target = os.path.normpath(os.readlink(entry.path))
                aliases[entry.name] = target
            elif entry.is_dir():
                reason = _ignored(Path(entry.path))
                if reason:
                    ignored[entry.name] = reason
                else:
                    versions.append(entry.name)
    listed = _read_list(folder / VERSION_LIST)
    aliases |= {alias: one.version for one in listed for alias in one.aliases}
    versions = [name for name in versions if name not in aliases]
    links = aliases
    aliases = {alias: _follow(links, alias) for alias in links}
    for alias, target in list(aliases.items()):
        if target not in versions:
            ignored[alias] = f"it leads to {target[:200]!r}, which is no version"
            del aliases[alias]
    if not versions:
        hint = "; it is a single site: upload it" if (folder / "index.html").is_file() else ""
        raise InvalidArgument(f"{folder} has no folders with HTML pages, one for each version{hint}")
    if len(versions) > MOST_VERSIONS:
        raise InvalidArgument(f"{folder} has {len(versions):,} versions; the limit is {MOST_VERSIONS}")
    titles = {one.version: one.title for one in listed if one.title}
    return VersionFolders(sorted(versions, key=_order), aliases, ignored, titles)


def _follow(links: dict[str, str], alias: str) -> str:
    """`latest` may lead to `stable`, and that to a version; or back to `latest`."""
    seen = {alias}
    target = links[alias]
    while target in links and target not in seen:
        seen.add(target)
        target = links[target]
    return target


def is_release_name(name: str) -> bool:
    """Whether it looks like a release rather than a branch."""
    version = parse_semver(name)
    return version.is_stable if version else _VERSION_NAME.fullmatch(name) is not None


def newest_release(names: Iterable[str]) -> str | None:
    """`2.0` counts as `2.0.0`."""
    releases = [(version, name) for name in names if (version := _version(name)) and version.is_stable]
    return max(releases)[1] if releases else None


def _order(name: str) -> tuple[bool, SemVer, str]:
    """What is no version first: the last release is the newest build."""
    version = _version(name)
    return version is not None, version or SemVer(0, 0, 0), name


def _version(name: str) -> SemVer | None:
    version = parse_semver(name)
    if version is None and _SHORT_VERSION.fullmatch(name):
        major, minor, *_ = [*map(int, name.removeprefix("v").split(".")), 0]
        return SemVer(major, minor, 0)
    return version


def _ignored(folder: Path) -> str | None:
    if folder.name.startswith((".", "_")):
        return "hidden"
    try:
        has_page = any(is_page(name) for name in _names(folder))
    except OSError as reason:
        return f"it cannot be read: {reason.strerror}"
    return None if has_page else "it has no HTML page"


def _names(folder: Path) -> Iterator[str]:
    """Of its files, and of those of its folders; so many at most."""
    count = 0
    for _, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in files:
            count += 1
            if count > _MOST_LISTED:
                return
            yield name


def _read_list(path: Path) -> list[_ListedVersion]:
    """Empty, if it is not what mike writes."""
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST_LIST:
            return []
        return msgspec.convert(json.loads(path.read_bytes()), list[_ListedVersion])
    except (OSError, ValueError, RecursionError):
        return []

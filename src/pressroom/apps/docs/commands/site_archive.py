"""A built site as a tar.gz that depends on its files alone: names in order, no times, no owners, one gzip header.

The same files give the same bytes, so that an unchanged site has the same hash and need not be sent again.
"""

import gzip
import hashlib
import os
import stat
import tarfile
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, cast

import msgspec

from pressroom.errors import InvalidArgument

# Not part of a site, though they lie in its folder: repositories, caches of builders, files of file managers.
LEFT_OUT = (".git", ".hg", ".svn", ".doctrees", ".DS_Store", "Thumbs.db", "__pycache__")

_LEVEL = 6  # of zlib; part of the hash


class SiteFile(msgspec.Struct, frozen=True):
    name: str  # from the site's root, with slashes
    path: str


class PackedSite(msgspec.Struct, frozen=True):
    """`content_hash` and `archive_size` are of the archive, `files` and `size` of what it holds."""

    content_hash: str
    archive_size: int
    files: int
    size: int


def list_site(folder: Path, exclude: Sequence[str] = ()) -> list[SiteFile]:
    """The files of a site by name. `exclude`: patterns of names or of paths, such as `*.map` or `drafts/*`.

    Links are followed if they stay in the folder. Raises InvalidArgument, with the name, for what cannot be part of a site.
    """
    if not folder.is_dir():
        raise InvalidArgument(f"{folder}: there is no such folder" if not folder.exists() else f"{folder} is not a folder")
    files = sorted(_walk(folder, exclude), key=lambda file: file.name)
    if not files:
        raise InvalidArgument(f"{folder} has no files; was the site built?")
    _refuse_collisions(files)
    return files


def pack_site(files: Sequence[SiteFile], out: IO[bytes]) -> PackedSite:
    """Write the archive, file by file, from where `out` is."""
    hashing = _HashingWriter(out)
    total = 0
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=cast("IO[bytes]", hashing), mtime=0) as zipped:  # noqa: SIM117
        with tarfile.open(mode="w|", fileobj=zipped, format=tarfile.PAX_FORMAT) as archive:
            for file in files:
                total += _add_file(archive, file)
    return PackedSite(f"sha256:{hashing.hash.hexdigest()}", hashing.size, len(files), total)


def _add_file(archive: tarfile.TarFile, file: SiteFile) -> int:
    try:
        with open(file.path, "rb") as content:
            entry = tarfile.TarInfo(file.name)
            entry.size = os.fstat(content.fileno()).st_size
            entry.mode = 0o644
            archive.addfile(entry, content)
            if content.read(1):
                raise InvalidArgument(f"{file.name} grew while it was read; upload when the build has ended")
    except OSError as reason:
        what = reason.strerror or "it shrank while it was read; upload when the build has ended"
        raise InvalidArgument(f"{file.name} cannot be read: {what}") from None
    return entry.size


def _walk(root: Path, exclude: Sequence[str]) -> Iterator[SiteFile]:
    real_root = os.path.realpath(root)
    folders = [("", str(root), frozenset({real_root}))]
    while folders:
        prefix, folder, above = folders.pop()
        for entry in _scan(folder, prefix or "."):
            name = prefix + entry.name
            if entry.name in LEFT_OUT or any(fnmatchcase(name, one) or fnmatchcase(entry.name, one) for one in exclude):
                continue
            if any("\ud800" <= letter <= "\udfff" for letter in name):
                raise InvalidArgument(f"the name {name!r} is not UTF-8")
            real = os.path.realpath(entry.path)
            if entry.is_symlink():
                _check_link(name, real, real_root, above)
            mode = os.stat(entry.path).st_mode
            if stat.S_ISDIR(mode):
                folders.append((f"{name}/", entry.path, above | {real}))
            elif stat.S_ISREG(mode):
                yield SiteFile(name, entry.path)
            else:
                raise InvalidArgument(f"{name} is neither a file nor a folder; exclude it with --exclude {name!r}")


def _scan(folder: str, name: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as reason:
        raise InvalidArgument(f"{name} cannot be read: {reason.strerror}") from None


def _check_link(name: str, real: str, root: str, above: frozenset[str]) -> None:
    """What a link outside the folder points to was not meant to be published."""
    if not os.path.exists(real):
        raise InvalidArgument(f"{name} is a link that leads nowhere")
    if os.path.commonpath([root, real]) != root:
        raise InvalidArgument(f"{name} is a link out of the folder; copy what it points to, or use --exclude {name!r}")
    if real in above:
        raise InvalidArgument(f"{name} is a link to a folder that it is in")


def _refuse_collisions(files: Sequence[SiteFile]) -> None:
    """Before the upload, which would be refused for it."""
    seen: dict[str, str] = {}
    for file in files:
        key = unicodedata.normalize("NFC", file.name).casefold()
        if key in seen:
            raise InvalidArgument(f"{seen[key]!r} and {file.name!r} differ only in case or in the form of a letter")
        seen[key] = file.name


class _HashingWriter:
    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.hash = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        self.size += len(data)
        return self._out.write(data)

    def flush(self) -> None:
        self._out.flush()

"""Read an archive of a site: what of it may be published, and the refusal that names the entry of what may not.

Runs in a process of its own (unpacking_process.py): archives come from strangers, and `tarfile` reads what they say about
themselves into memory.
"""

import gzip
import hashlib
import tarfile
import unicodedata
import zlib
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from pressroom.errors import SourceInvalid

CHUNK = 256 * 1024
SMALL = 1024 * 1024  # bytes of a file that is read whole; a larger one is never a known one
BLOCKS = 64 * 1024  # bytes that are read at once: what follows damage in them is not named
HEADER_BYTES = 1024 * 1024  # of one extended header: names and attributes of one entry
PATH_BYTES = 1_024
NAME_BYTES = 255
DEPTH = 64
RATIO = 100  # bytes for each byte of the archive
RATIO_FROM = 16 * 1024 * 1024  # bytes; a small site may be as repetitive as it likes

_LONG_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


class ArchiveLimits(msgspec.Struct, frozen=True):
    files: int
    size: int  # bytes of all files


class UnpackedFile(msgspec.Struct, frozen=True, array_like=True):
    """`name` is that of the file in the folder that it was written to; equal ones are hard links in the archive. `sha256` is
    given for a known file, which was not written."""

    path: str
    name: str
    size: int
    sha256: str = ""


def unpack(
    archive: BinaryIO, folder: Path, limits: ArchiveLimits, known: Collection[bytes] = frozenset()
) -> list[UnpackedFile]:
    """Write the files of a tar.gz into a folder, under numbers; small ones with a known digest (SHA-256) are left out. Raises
    SourceInvalid, and OSError if they cannot be written."""
    data = _Decompressed(archive)
    contents = _Contents(folder, limits, data, known)
    try:
        with tarfile.open(fileobj=cast("BinaryIO", data), mode="r|", bufsize=BLOCKS, tarinfo=_TarEntry) as entries:
            while (entry := entries.next()) is not None:
                entries.members = []  # type: ignore[attr-defined]  # which would keep all of them in memory
                contents.add(entries, entry)
        data.read_to_end()
    except (tarfile.TarError, ValueError) as reason:  # tarfile reads the numbers of a sparse file without a check
        raise SourceInvalid(f"the archive is not a tar file, or it is damaged{contents.place}: {reason}") from None
    except EOFError:
        raise SourceInvalid(f"the archive ends too early{contents.place}; upload it again") from None
    except (gzip.BadGzipFile, zlib.error) as reason:
        raise SourceInvalid(f"the archive is not gzip, or it is damaged{contents.place}: {reason}") from None
    return contents.files()


class _Decompressed:
    """The tar file in the archive. Raises SourceInvalid when it is out of proportion to it."""

    def __init__(self, archive: BinaryIO) -> None:
        self._input = _Counted(archive)
        self._gzip = gzip.GzipFile(fileobj=self._input, mode="rb")  # type: ignore[call-overload]
        self._size = 0

    def read(self, size: int) -> bytes:
        data: bytes = self._gzip.read(size)
        self._size += len(data)
        self.require_proportion(self._size)
        return data

    def require_proportion(self, size: int) -> None:
        if size > RATIO_FROM and size > RATIO * self._input.size:
            raise SourceInvalid(f"the archive unpacks to more than {RATIO} times its size")

    def read_to_end(self) -> None:
        """So that the checksum behind the last file is compared."""
        while self.read(CHUNK):
            pass


class _Counted:
    def __init__(self, archive: BinaryIO) -> None:
        self._archive = archive
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        data = self._archive.read(size)
        self.size += len(data)
        return data


class _TarEntry(tarfile.TarInfo):
    """Refuses what tarfile would take for the end of the archive, and what it would read into memory."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> "_TarEntry":
        try:
            return super().fromtarfile(tarfile_)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError, tarfile.SubsequentHeaderError) as reason:  # type: ignore[attr-defined]
            raise tarfile.ReadError(str(reason)) from None
        except UnicodeDecodeError:
            raise SourceInvalid("the name of an entry is not UTF-8") from None

    def _proc_member(self, tarfile_: tarfile.TarFile) -> "tarfile.TarInfo":
        if self.size < 0:
            raise tarfile.ReadError(f"{shown(self.name)} has {self.size:,} bytes")
        if self.type in _LONG_HEADERS and self.size > HEADER_BYTES:
            raise SourceInvalid(f"{shown(self.name)}: an entry has a header of {self.size:,} bytes")
        return super()._proc_member(tarfile_)  # type: ignore[misc, no-any-return]


class _Contents:
    def __init__(self, folder: Path, limits: ArchiveLimits, data: _Decompressed, known: Collection[bytes]) -> None:
        self._folder = folder
        self._limits = limits
        self._data = data
        self._known = known
        self._entries = 0
        self._size = 0  # of all files, hard links included: each is a file of the site
        self._written = 0
        self._files: dict[str, UnpackedFile] = {}
        self._paths: dict[str, str] = {}  # by their form without regard to case
        self._last = ""

    @property
    def place(self) -> str:
        return f" after {shown(self._last)}" if self._last else ""

    def add(self, archive: tarfile.TarFile, entry: tarfile.TarInfo) -> None:
        self._entries += 1
        if self._entries > 2 * self._limits.files:  # folders too
            raise SourceInvalid(f"{shown(entry.name)}: the archive has more than {2 * self._limits.files:,} entries")
        path = clean_path(entry.name)
        if entry.isdir():
            return
        if entry.islnk():
            self._link(path, clean_path(entry.linkname))
        elif entry.isreg():
            self._write(archive, entry, path)
        else:
            raise SourceInvalid(f"{shown(entry.name)} is {_description(entry)}; an archive has files and folders only")
        self._last = path

    def _write(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, path: str) -> None:
        self._claim_path(path)
        self._count(path, entry.size)
        chunks = _chunks_of(archive, entry)
        first = next(chunks, b"")
        if self._known and len(first) == entry.size:
            digest = hashlib.sha256(first)
            if digest.digest() in self._known:
                self._files[path] = UnpackedFile(path, "", entry.size, digest.hexdigest())
                return
        name = str(self._entries)
        written = 0
        with open(f"{self._folder}/{name}", "xb") as file:
            for chunk in chain((first,), chunks):
                file.write(chunk)
                written += len(chunk)
                self._data.require_proportion(self._written + written)  # a sparse file has more than was read
        self._written += written
        if written != entry.size:
            raise SourceInvalid(f"{shown(path)} has {written:,} bytes, and its entry says {entry.size:,}")
        self._files[path] = UnpackedFile(path, name, written)

    def _link(self, path: str, target: str) -> None:
        linked = self._files.get(target)
        if linked is None:
            raise SourceInvalid(f"{shown(path)} is a hard link to {shown(target)}, which is no file before it in the archive")
        self._claim_path(path)
        self._count(path, linked.size)
        self._files[path] = msgspec.structs.replace(linked, path=path)

    def _count(self, path: str, size: int) -> None:
        self._size += size
        if self._size > self._limits.size:
            raise SourceInvalid(f"{shown(path)}: the files have more than {self._limits.size:,} bytes together")

    def _claim_path(self, path: str) -> None:
        """The last of several entries of one name counts, as tar has it. Other names must not look the same."""
        if not path:
            raise SourceInvalid("an entry that is a file has no name")
        taken = self._paths.setdefault(_looks(path), path)
        if taken != path:
            raise SourceInvalid(f"{shown(path)} and {shown(taken)} differ only in case or in their Unicode form")
        if path not in self._files and len(self._files) >= self._limits.files:
            raise SourceInvalid(f"{shown(path)}: the archive has more than {self._limits.files:,} files")

    def files(self) -> list[UnpackedFile]:
        """By path. Raises SourceInvalid for none, and for a file in the place of a folder."""
        if not self._files:
            raise SourceInvalid("the archive holds no files")
        for folder in self._folders():
            file = self._paths.get(_looks(folder))
            if file is not None:
                other = "" if file == folder else f" {shown(folder)}, which differs only in case or in its Unicode form"
                raise SourceInvalid(f"{shown(file)} is a file and a folder{other}")
        return [self._files[path] for path in sorted(self._files)]

    def _folders(self) -> set[str]:
        folders: set[str] = set()
        for path in self._files:
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
        return folders


def _chunks_of(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> Iterator[bytes]:
    """A small file comes whole, straight from the stream: `extractfile` puts three layers around it."""
    if 0 <= entry.size <= SMALL and not entry.issparse():
        stream = cast("BinaryIO", archive.fileobj)
        data = stream.read(entry.size)
        if len(data) != entry.size:
            raise tarfile.ReadError("unexpected end of data")
        yield data
        return
    source = archive.extractfile(entry)
    assert source is not None  # it is regular
    while data := source.read(CHUNK):
        yield data


def clean_path(name: str) -> str:
    """The path of an entry in the site; empty for the top folder. Raises SourceInvalid."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise SourceInvalid(f"{shown(name)}: the name is not UTF-8") from None
    if name.startswith("/"):
        raise SourceInvalid(f"{shown(name)} is an absolute path")
    if size > PATH_BYTES:
        raise SourceInvalid(f"{shown(name)}: a path has at most {PATH_BYTES:,} bytes")
    if "\\" in name or (not name.isprintable() and any(unicodedata.category(letter) == "Cc" for letter in name)):
        raise SourceInvalid(f"{shown(name)}: a path has no backslash and no control character")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise SourceInvalid(f"{shown(name)} leads out of the archive")
    if len(parts) > DEPTH:
        raise SourceInvalid(f"{shown(name)}: a path has at most {DEPTH} folders")
    if any(len(part.encode()) > NAME_BYTES for part in parts):
        raise SourceInvalid(f"{shown(name)}: a name has at most {NAME_BYTES} bytes")
    return "/".join(parts)


def _looks(path: str) -> str:
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def shown(name: str) -> str:
    """For messages: short, and in one line."""
    return ascii(name[:120]) if not name.isprintable() else repr(name[:120])


def _description(entry: tarfile.TarInfo) -> str:
    if entry.issym():
        return f"a symbolic link to {shown(entry.linkname)}"
    if entry.isdev():
        return "a device or a pipe"
    return f"of the type {entry.type!r}"

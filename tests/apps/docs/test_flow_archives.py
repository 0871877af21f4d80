"""What an archive may hold (D31): the entry that may not is named, and nothing of it is written outside of its folder."""

import gzip
import io
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from pressroom.apps.docs.uploads.archive import ArchiveLimits, clean_path, unpack
from pressroom.errors import SourceInvalid
from tests.apps.docs.flow_stage import SITE, archive_of, tar_of

LIMITS = ArchiveLimits(files=100, size=10_000_000)


def unpacked(archive: bytes, folder: Path, limits: ArchiveLimits = LIMITS) -> dict[str, bytes]:
    inside = folder / "inside"
    inside.mkdir()
    files = unpack(io.BytesIO(archive), inside, limits)
    assert [file.path for file in files] == sorted(file.path for file in files)
    assert all((inside / file.name).stat().st_size == file.size for file in files)
    return {file.path: (inside / file.name).read_bytes() for file in files}


def refusal_of(archive: bytes, folder: Path, limits: ArchiveLimits = LIMITS) -> str:
    with pytest.raises(SourceInvalid) as refused:
        unpacked(archive, folder, limits)
    assert {path.name for path in folder.iterdir()} == {"inside"}
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    return str(refused.value)


def entries(*made: tarfile.TarInfo | tuple[str, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=format) as archive:
        for one in made:
            if isinstance(one, tarfile.TarInfo):
                archive.addfile(one)
            else:
                entry = tarfile.TarInfo(one[0])
                entry.size = len(one[1])
                archive.addfile(entry, io.BytesIO(one[1]))
    return gzip.compress(packed.getvalue())


def special(name: str, type: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = type, target
    return entry


@pytest.mark.parametrize("top", ["", "./", ".//"])
def test_a_site_is_unpacked(tmp_path: Path, top: str) -> None:
    assert unpacked(archive_of(SITE, top=top), tmp_path) == SITE


def test_folders_are_no_files_and_paths_are_cleaned(tmp_path: Path) -> None:
    archive = entries(special("./", tarfile.DIRTYPE), special("a/", tarfile.DIRTYPE), ("a/./b//c.html", b"c"), ("d", b""))
    assert unpacked(archive, tmp_path) == {"a/b/c.html": b"c", "d": b""}


def test_of_two_entries_of_one_name_the_last_counts(tmp_path: Path) -> None:
    assert unpacked(entries(("a", b"old"), ("a", b"new")), tmp_path) == {"a": b"new"}


def test_a_hard_link_to_a_file_before_it_is_that_file(tmp_path: Path) -> None:
    archive = entries(("a", b"same"), special("b", tarfile.LNKTYPE, "a"))
    assert unpacked(archive, tmp_path) == {"a": b"same", "b": b"same"}


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "a way out": (lambda: entries(("../x", b"x")), "'../x' leads out of the archive"),
    "a way out in the middle": (lambda: entries(("a/../../x", b"x")), "'a/../../x' leads out"),
    "a folder outside": (lambda: entries(special("../x/", tarfile.DIRTYPE)), "leads out"),
    "an absolute path": (lambda: entries(("/etc/passwd", b"x")), "'/etc/passwd' is an absolute path"),
    "a symbolic link": (
        lambda: entries(special("a", tarfile.SYMTYPE, "/etc/passwd")),
        "'a' is a symbolic link to '/etc/passwd'",
    ),
    "a file through a link": (lambda: entries(special("a", tarfile.SYMTYPE, "/tmp"), ("a/x", b"x")), "symbolic link"),
    "a hard link outside": (lambda: entries(special("a", tarfile.LNKTYPE, "/etc/passwd")), "'/etc/passwd' is an absolute path"),
    "a hard link to nothing": (
        lambda: entries(special("a", tarfile.LNKTYPE, "b")),
        "'a' is a hard link to 'b', which is no file",
    ),
    "a character device": (lambda: entries(special("dev/null", tarfile.CHRTYPE)), "'dev/null' is a device"),
    "a block device": (lambda: entries(special("sda", tarfile.BLKTYPE)), "'sda' is a device"),
    "a pipe": (lambda: entries(special("pipe", tarfile.FIFOTYPE)), "'pipe' is a device or a pipe"),
    "an unknown type": (lambda: entries(special("odd", b"Z")), "of the type b'Z'"),
    "other case": (
        lambda: entries(("Index.html", b""), ("index.html", b"")),
        "'index.html' and 'Index.html' differ only in case",
    ),
    "other form": (
        lambda: entries(("\u00e9.html", b""), ("e\u0301.html", b"")),
        "differ only in case or in their Unicode form",
    ),
    "a file and a folder": (lambda: entries(("a", b""), ("a/b", b"")), "'a' is a file and a folder"),
    "a backslash": (lambda: entries(("a\\..\\b", b"")), "no backslash"),
    "a line break": (lambda: entries(("a\nb", b"")), r"'a\nb': a path has no backslash and no control character"),
    "a long path": (lambda: entries((f"{'a/' * 600}b", b"")), "a path has at most 1,024 bytes"),
    "a long name": (lambda: entries(("a" * 300, b"")), "a name has at most 255 bytes"),
    "a deep path": (lambda: entries((f"{'a/' * 70}b", b"")), "a path has at most 64 folders"),
    "a name that is no UTF-8": (lambda: entries(("a\udcff", b""), format=tarfile.GNU_FORMAT), "not UTF-8"),
    "nothing": (lambda: entries(), "holds no files"),
    "folders alone": (lambda: entries(special("a/", tarfile.DIRTYPE)), "holds no files"),
    "no gzip": (lambda: tar_of(SITE), "not gzip"),
    "no archive": (lambda: b"", "empty file"),
    "text": (lambda: b"<html></html>", "not gzip"),
    "gzip of text": (lambda: gzip.compress(b"<html></html>" * 100), "not a tar file"),
    "a truncated gzip": (lambda: archive_of(SITE)[:-20], "ends too early"),
    "half a gzip": (
        lambda: archive_of({"a": b"a", "b": random.Random(1).randbytes(400_000)})[:200_000],
        "ends too early after 'a'",
    ),
    "a wrong checksum": (lambda: archive_of(SITE)[:-8] + bytes(8), "damaged"),
    "a truncated tar": (lambda: gzip.compress(tar_of({"a": b"a" * 5_000})[:2_000]), "damaged"),
    "a damaged header": (lambda: gzip.compress(_with_damage(tar_of({"a": b"a", "b": b"b"}), 1024 + 150)), "damaged after 'a'"),
    "too many files": (lambda: entries(*((f"{number}.html", b"") for number in range(101))), "more than 100 files"),
    "too many folders": (
        lambda: entries(*(special(f"{number}/", tarfile.DIRTYPE) for number in range(300))),
        "more than 200 entries",
    ),
    "too much": (lambda: entries(("a", bytes(6_000_000)), ("b", bytes(6_000_000))), "'b': the files have more than 10,000,000"),
    "a long header": (lambda: entries(_with_comment("a", 1_100_000)), "has a header of"),
    "hard links to more than there may be": (
        lambda: entries(("a", bytes(6_000_000)), special("b", tarfile.LNKTYPE, "a")),
        "'b': the files have more than 10,000,000",
    ),
    "a file and a folder in another case": (
        lambda: entries(("API/index.html", b""), ("api", b"")),
        "'api' is a file and a folder 'API', which differs only in case",
    ),
    "a file and a folder above it in another form": (
        lambda: entries(("\u00e9", b""), ("e\u0301/a/b/c.html", b"")),
        "differs only in case or in its Unicode form",
    ),
    "a sparse file without its map": (lambda: entries(_sparse({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})), "damaged"),
    "a sparse file with words for numbers": (lambda: entries(_sparse({"GNU.sparse.map": "a,b"})), "damaged"),
    "a sparse file of words": (lambda: entries(_sparse({"GNU.sparse.size": "x"})), "damaged"),
    "a sparse file of less than nothing": (lambda: entries(_sparse({"GNU.sparse.size": "-5000000000"})), "its entry says"),
    "an entry of less than nothing": (lambda: entries(_sparse({"size": "-600"})), "its entry says -600"),
    "a header of less than nothing": (lambda: gzip.compress(_with_size(b"L", -1)), "damaged"),
}


def _with_damage(archive: bytes, at: int) -> bytes:
    return archive[:at] + bytes([archive[at] ^ 1]) + archive[at + 1 :]


def _with_comment(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.pax_headers = {"comment": "x" * size}
    return entry


def _sparse(headers: dict[str, str]) -> tarfile.TarInfo:
    entry = tarfile.TarInfo("sparse.html")
    entry.pax_headers = headers
    return entry


def _with_size(type: bytes, size: int) -> bytes:
    entry = tarfile.TarInfo("a")
    entry.type, entry.size = type, size
    return entry.tobuf(format=tarfile.GNU_FORMAT) + bytes(2048)


@pytest.mark.parametrize("what", REFUSED)
def test_what_may_not_be_published_is_named(tmp_path: Path, what: str) -> None:
    make, words = REFUSED[what]
    assert words in refusal_of(make(), tmp_path)


def test_the_size_in_an_entry_is_believed_before_its_bytes_are_written(tmp_path: Path) -> None:
    """A petabyte of zeros."""
    entry = tarfile.TarInfo("zeros")
    entry.size = 10**15
    archive = gzip.compress(entry.tobuf() + bytes(4096))
    assert "'zeros': the files have more than" in refusal_of(archive, tmp_path)


def test_an_archive_is_in_proportion_to_what_it_holds(tmp_path: Path) -> None:
    limits = ArchiveLimits(files=100, size=10**10)
    assert "more than 100 times its size" in refusal_of(entries(("zeros", bytes(20_000_000))), tmp_path, limits)


def test_a_sparse_file_counts_with_its_whole_size(tmp_path: Path) -> None:
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(50_000_000)
    packed = subprocess.run(
        ["tar", "--sparse", "--gzip", "--create", "--directory", tmp_path, "sparse"],
        check=True,
        capture_output=True,
    ).stdout
    sparse.unlink()
    assert "the files have more than" in refusal_of(packed, tmp_path)


def test_a_sparse_file_is_in_proportion_to_its_archive(tmp_path: Path) -> None:
    """A tar file of 10 KB whose one file would take 2 GB of the disk."""
    entry = tarfile.TarInfo("sparse.html")
    entry.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": "2000000000"}
    words = refusal_of(entries(entry), tmp_path, ArchiveLimits(files=100, size=10**10))
    assert "more than 100 times its size" in words


def test_a_file_that_cannot_be_written_is_no_fault_of_the_archive(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "1").touch()
    with pytest.raises(FileExistsError):
        unpack(io.BytesIO(archive_of(SITE)), inside, LIMITS)


def test_a_damaged_gzip_stream_inside_of_a_file_is_called_that(tmp_path: Path) -> None:
    packed = bytearray(archive_of({"a": random.Random(1).randbytes(200_000)}))
    packed[len(packed) - 6] ^= 1  # of the checksum at its end
    assert "not gzip, or it is damaged" in refusal_of(bytes(packed), tmp_path)


@pytest.mark.deep
def test_whatever_the_bytes_are_an_archive_is_read_or_refused(tmp_path: Path) -> None:
    """Headers are changed and their checksums made right again, so that the reader believes them."""
    dice = random.Random(11)
    kinds = ({}, {"GNU.sparse.map": "0,10,20,30"}, {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, {"path": "b.html"})
    for number in range(4_000):
        made = [_sparse(dice.choice(kinds)), special("c", dice.choice([b"S", b"L", b"x", b"g", b"1", b"5"]))]
        data = bytearray(gzip.decompress(entries(("a.html", bytes(700)), *made)))
        for _ in range(3):
            start = 512 * dice.randrange(len(data) // 512)
            data[start + dice.randrange(512)] = dice.choice([0, 0x2D, 0x30, 0x37, 0x80, 0xFF])
            header = bytes(data[start : start + 512])
            data[start + 148 : start + 156] = b"%06o\0 " % (256 + sum(header[:148]) + sum(header[156:]))
        inside = tmp_path / str(number)
        inside.mkdir()
        with suppress(SourceInvalid):
            unpack(io.BytesIO(gzip.compress(bytes(data), 1)), inside, LIMITS)
        shutil.rmtree(inside)


@pytest.mark.parametrize(
    "name", ["a", "a/b.html", "ä/ö", "a b", "x" * 255, "_static/a@2x.png", "index.html~", ".nojekyll", "C:/a"]
)
def test_these_paths_are_clean(name: str) -> None:
    assert clean_path(name) == name


TOOLS = {
    "GNU tar": ("tar", ["--create", "--gzip", "--file"], ["."]),
    "GNU tar in its oldest format": ("tar", ["--create", "--gzip", "--format=v7", "--file"], ["."]),
    "GNU tar in the format of POSIX": ("tar", ["--create", "--gzip", "--format=posix", "--file"], ["."]),
    "GNU tar in its own format": ("tar", ["--create", "--gzip", "--format=gnu", "--file"], ["."]),
    "GNU tar of ustar": ("tar", ["--create", "--gzip", "--format=ustar", "--file"], ["."]),
    "bsdtar": ("bsdtar", ["-c", "-z", "-f"], ["."]),
    "bsdtar with pax": ("bsdtar", ["-c", "-z", "--format=pax", "-f"], ["."]),
}


def _write_site(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


@pytest.mark.parametrize("tool", TOOLS)
def test_archives_of_other_programs_are_read(tmp_path: Path, tool: str) -> None:
    program, options, what = TOOLS[tool]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    long = {} if "oldest" in tool else {f"{'deep/' * 30}é{'x' * 40}.html": b"deep"}
    if "ustar" in tool:
        long = {f"{'deep/' * 25}x.html": b"deep"}
    files = SITE | long | {"empty.txt": b"", "big.bin": bytes(range(256)) * 2_000}
    site = tmp_path / "site"
    _write_site(site, files)
    archive = tmp_path / "site.tar.gz"
    subprocess.run([program, *options, archive, *what], check=True, cwd=site)
    packed = archive.read_bytes()
    archive.unlink()
    assert unpacked(packed, tmp_path) == files


def test_an_archive_of_7z_is_read(tmp_path: Path) -> None:
    program = shutil.which("7z") or shutil.which("7zz")
    if program is None:
        pytest.skip("7z is not installed")
    site = tmp_path / "site"
    _write_site(site, SITE)
    for made, source in (("site.tar", "."), ("site.tar.gz", "../site.tar")):
        subprocess.run([program, "a", f"../{made}", source], check=True, cwd=site, stdout=subprocess.DEVNULL)
    assert unpacked((tmp_path / "site.tar.gz").read_bytes(), tmp_path) == SITE


def test_several_gzip_streams_in_a_row_are_one_archive(tmp_path: Path) -> None:
    """As pigz and bgzip make them."""
    packed = tar_of(SITE)
    assert unpacked(gzip.compress(packed[:700]) + gzip.compress(packed[700:]), tmp_path) == SITE

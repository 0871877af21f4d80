"""What only a folder can do wrong."""

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from pressroom.artifacts.disk import Disk
from pressroom.clock import SystemClock
from pressroom.errors import NotFound, StoreFull, StoreUnavailable
from pressroom.sealing import Keyring

LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the path of a descriptor is read from /proc")

DIES = """
import asyncio, sys
from pressroom import failpoints
from pressroom.artifacts.disk import Disk
from pressroom.clock import SystemClock

failpoints.arm(sys.argv[2])

async def endless():
    while True:
        yield bytes(1024 * 1024)
        print("written", flush=True)

async def put():
    disk = Disk(sys.argv[1], SystemClock())
    await disk.put(b"hello" if sys.argv[3] == "bytes" else endless())

asyncio.run(put())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "artifacts"


@pytest.fixture
def disk(folder: Path) -> Disk:
    return Disk(folder, SystemClock())


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def folders(folder: Path) -> list[Path]:
    return [folder, *(path for path in folder.rglob("*") if path.is_dir())]


def dies(command: list[str]) -> int:
    return subprocess.run(command, check=False).returncode


def kill_after_three_lines(command: list[str]) -> None:
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            process.stdout.readline()
        process.kill()


async def read(disk: Disk, key: str) -> bytes:
    return b"".join([chunk async for chunk in await disk.get(key)])


async def in_pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 2):
        yield data[start : start + 2]


def sent(data: bytes, how: str) -> bytes | AsyncIterator[bytes]:
    return data if how == "bytes" else in_pieces(data)


class FileCalls(list[tuple[str, Path, int]]):
    """What was asked of the file system, in order: the call, the path, and the size of the file at that moment.

    A killed process leaves what it wrote in the kernel's cache, so only the order of these calls tells what a power loss
    would leave.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        fsync, rename, mkdir, link = os.fsync, os.rename, os.mkdir, os.link

        def recorded_fsync(descriptor: int) -> None:
            fsync(descriptor)
            found = os.fstat(descriptor)
            path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
            self.append(("fsync", path, 0 if stat.S_ISDIR(found.st_mode) else found.st_size))

        def recorded_rename(source: Path, target: str, *, dst_dir_fd: int) -> None:
            rename(source, target, dst_dir_fd=dst_dir_fd)
            self.append(("rename", Path(os.readlink(f"/proc/self/fd/{dst_dir_fd}")) / target, 0))

        def recorded_mkdir(path: str | Path, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
            mkdir(path, mode, dir_fd=dir_fd)
            self.append(("mkdir", Path(path) if dir_fd is None else Path(os.readlink(f"/proc/self/fd/{dir_fd}")) / path, 0))

        def recorded_link(source: Path, target: Path) -> None:
            link(source, target)
            self.append(("link", Path(target), 0))

        for name, replacement in [
            ("fsync", recorded_fsync),
            ("rename", recorded_rename),
            ("mkdir", recorded_mkdir),
            ("link", recorded_link),
        ]:
            monkeypatch.setattr(os, name, replacement)

    def after(self, call: str, path: Path) -> list[tuple[str, Path, int]]:
        return self[[one[:2] for one in self].index((call, path)) + 1 :]


@pytest.fixture
def calls(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> FileCalls:
    """The calls from here on: the folder is there already."""
    return FileCalls(monkeypatch)


@LINUX
@pytest.mark.parametrize("how", ["bytes", "stream"])
async def test_a_put_is_answered_when_the_bytes_and_their_name_are_on_the_disk(
    disk: Disk, folder: Path, calls: FileCalls, how: str
) -> None:
    blob = await disk.put(sent(b"hello", how))

    blobs, upper = folder / "blobs", folder / "blobs" / blob.key[:2]
    (_, written, size), *rest = calls
    assert (written.parent, size) == (folder / "tmp", 5), "all bytes, before the file gets its name"
    assert rest == [
        ("mkdir", upper, 0),
        ("fsync", blobs, 0),
        ("rename", upper / blob.key, 0),
        ("fsync", upper, 0),
    ]


@LINUX
@pytest.mark.parametrize("how", ["bytes", "stream"])
async def test_a_put_of_what_is_there_already_makes_sure_of_its_name(
    disk: Disk, folder: Path, calls: FileCalls, how: str
) -> None:
    """The process that renamed it may not have come to its own fsync of the folder yet."""
    blob = await disk.put(b"hello")
    calls.clear()

    await disk.put(sent(b"hello", how))

    assert calls == [("fsync", folder / "blobs" / blob.key[:2], 0)]


@LINUX
def test_a_new_artifact_folder_and_its_secret_are_on_the_disk_before_anything_is_put_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = FileCalls(monkeypatch)
    folder = tmp_path / "new" / "artifacts"

    Disk(folder, SystemClock())

    for call, path in [
        ("mkdir", tmp_path / "new"),
        ("mkdir", folder),
        ("mkdir", folder / "tmp"),
        ("mkdir", folder / "blobs"),
        ("link", folder / "secret"),
    ]:
        assert ("fsync", path.parent, 0) in calls.after(call, path), f"{path} would be lost with the power"
    assert calls[[one[0] for one in calls].index("link") - 1][2] == 32, "the secret is written before it gets its name"


@LINUX
def test_a_key_is_on_the_disk_before_anything_is_sealed_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = FileCalls(monkeypatch)
    key = tmp_path / "press.key"

    Keyring(file=key, creates=True).seal("secret", "")

    assert ("fsync", tmp_path, 0) in calls.after("link", key), "what was sealed could never be opened again"
    assert calls[[one[0] for one in calls].index("link") - 1][2] == len(key.read_bytes())


@pytest.mark.parametrize("how", ["bytes", "stream"])
@pytest.mark.parametrize("found", [b"", b"hell", b"hello, world"])
async def test_a_file_of_the_wrong_size_is_replaced_by_the_next_put(disk: Disk, folder: Path, how: str, found: bytes) -> None:
    """A power loss or a copy that was cut short may leave such a file. Its size tells, without reading it all."""
    blob = await disk.put(b"hello")
    (path,) = files(folder / "blobs")
    path.write_bytes(found)

    assert await disk.put(sent(b"hello", how)) == blob

    assert path.read_bytes() == b"hello"
    assert await disk.verify(blob.key)


@pytest.mark.parametrize(("point", "whole"), [("blob.temp_written", 0), ("blob.renamed", 1)])
async def test_a_put_that_is_killed_leaves_the_whole_file_or_none(folder: Path, disk: Disk, point: str, whole: int) -> None:
    command = [sys.executable, "-c", DIES, str(folder), f"{point}=kill", "bytes"]

    assert dies(command) == -signal.SIGKILL

    assert [path.read_bytes() for path in files(folder / "blobs")] == [b"hello"] * whole
    assert await disk.delete_temporary_files(0) == 1 - whole
    assert files(folder / "tmp") == []
    assert await read(disk, (await disk.put(b"hello")).key) == b"hello"


async def test_a_stream_that_is_killed_in_the_middle_leaves_nothing_under_a_final_name(folder: Path, disk: Disk) -> None:
    kill_after_three_lines([sys.executable, "-c", DIES, str(folder), "", "stream"])

    assert files(folder / "blobs") == []
    assert [path.stat().st_size > 0 for path in files(folder / "tmp")] == [True]
    assert await disk.delete_temporary_files(3600) == 0, "it may still be written to"
    assert await disk.delete_temporary_files(0) == 1


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a small file system")
    yield place
    subprocess.run(["umount", place], check=True)


async def test_a_full_disk_is_said_to_be_full_and_gets_its_room_back(small: Path) -> None:
    disk = Disk(small / "artifacts", SystemClock())

    async def pieces():
        for _ in range(8):
            yield os.urandom(512 * 1024)

    for data in (os.urandom(4 * 1024 * 1024), pieces()):
        with pytest.raises(StoreFull):
            await disk.put(data)
        assert files(small / "artifacts" / "tmp") == []

    assert (await disk.put(b"there is room for this")).size == 22


@pytest.mark.parametrize(("code", "error"), [(errno.ENOSPC, StoreFull), (errno.EIO, StoreUnavailable)])
async def test_what_fails_at_the_last_moment_leaves_nothing(
    disk: Disk, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(error):
            await disk.put(b"hello")

    assert files(folder / "tmp") == files(folder / "blobs") == []


async def test_a_symbolic_link_is_not_followed(disk: Disk, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hello")
    blob = await disk.put(b"hello")
    (path,) = files(folder / "blobs")

    path.unlink()
    path.symlink_to(secret)

    with pytest.raises(NotFound):
        await disk.get(blob.key)
    assert [one async for one in disk.list_blobs()] == []

    await disk.put(b"hello")  # replaces the link, not what it leads to

    assert not path.is_symlink()
    assert await read(disk, blob.key) == b"hello"
    await disk.delete([blob.key])
    assert secret.read_text() == "hello"


async def test_a_linked_folder_is_not_entered(disk: Disk, folder: Path, tmp_path: Path) -> None:
    blob = await disk.put(b"hello")
    elsewhere = tmp_path / "elsewhere"
    (folder / "blobs" / blob.key[:2]).rename(elsewhere)
    (folder / "blobs" / blob.key[:2]).symlink_to(elsewhere)

    with pytest.raises(NotFound):
        await disk.size(blob.key)
    with pytest.raises(StoreUnavailable):
        await disk.put(b"hello")
    await disk.delete([blob.key])

    assert [one async for one in disk.list_blobs()] == []
    assert len(files(elsewhere)) == 1


async def test_what_is_not_a_file_is_not_read(disk: Disk, folder: Path) -> None:
    blob = await disk.put(b"hello")
    (path,) = files(folder / "blobs")
    path.unlink()
    os.mkfifo(path)

    with pytest.raises(NotFound):
        await disk.get(blob.key)


async def test_damage_is_seen(disk: Disk, folder: Path) -> None:
    blob = await disk.put(b"hello")
    (path,) = files(folder / "blobs")
    path.write_bytes(b"jello")

    assert not await disk.verify(blob.key)


async def test_strange_files_are_not_listed(disk: Disk, folder: Path) -> None:
    blob = await disk.put(b"hello")
    (path,) = files(folder / "blobs")
    path.with_name("notes.txt").write_text("mine")
    (folder / "blobs" / "zz.txt").write_text("mine")

    assert [one.key async for one in disk.list_blobs()] == [blob.key]


async def test_nobody_else_may_read_the_folder(disk: Disk, folder: Path) -> None:
    await disk.put(b"hello")

    assert {stat.S_IMODE(path.stat().st_mode) for path in files(folder)} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders(folder)} == {0o700}


async def test_processes_that_share_a_folder_share_its_secret(disk: Disk, folder: Path, tmp_path: Path) -> None:
    blob = await disk.put(b"hello")
    url = await disk.url(blob.key, filename="a.txt")

    assert Disk(folder, SystemClock()).check_link(url).filename == "a.txt"
    with pytest.raises(NotFound):
        Disk(tmp_path / "another", SystemClock()).check_link(url)


async def test_a_file_that_the_disk_fails_to_open_does_not_pass_for_one_that_is_not_there(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = await disk.put(b"abc")
    really_open = os.open

    def fails(path: str | Path, *how: int, **where: int) -> int:
        if path == blob.key:
            raise OSError(errno.EIO, "Input/output error")
        return really_open(path, *how, **where)

    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(StoreUnavailable) as failure:
        await disk.size(blob.key)

    assert failure.value.dependency == "artifacts"


def test_a_secret_that_was_cut_short_is_told_as_trouble_with_the_artifacts(folder: Path, disk: Disk) -> None:
    (folder / "secret").write_bytes(b"short")

    with pytest.raises(StoreUnavailable, match="does not hold a secret") as failure:
        Disk(folder, SystemClock())

    assert failure.value.dependency == "artifacts"


@LINUX
async def test_what_is_no_file_is_refused_without_leaving_a_descriptor_open(folder: Path, disk: Disk) -> None:
    blob = await disk.put(b"abc")
    path = folder / "blobs" / blob.key[:2] / blob.key
    path.unlink()
    path.mkdir()
    before = os.listdir("/proc/self/fd")

    for _ in range(20):
        with pytest.raises(NotFound):
            await disk.size(blob.key)

    assert len(os.listdir("/proc/self/fd")) < len(before) + 20

"""Archives are unpacked in a process of its own, within limits of memory and time; large sites hold nobody up (D31)."""

import asyncio
import errno
import gzip
import hashlib
import io
import random
import tarfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pressroom.apps.docs.model import BuildStatus
from pressroom.apps.docs.uploads import archive as archive_module
from pressroom.apps.docs.uploads import unpacking
from pressroom.apps.docs.uploads.archive import UnpackedFile
from pressroom.apps.docs.uploads.unpacking import HashMismatch, KnownFile, unpacked
from pressroom.artifacts.disk import Disk
from pressroom.clock import SystemClock
from pressroom.errors import EngineCrashed, SourceInvalid, StoreUnavailable, Timeout, TooLarge
from pressroom.model import Status
from pressroom.renderers.sandbox.confined_run import run_confined
from tests.apps.docs.flow_stage import SITE, archive_of, docs_flow, hash_of, in_chunks, tar_of
from tests.loop_guard import _no_callback_holds_the_loop, own_work

__all__ = ["_no_callback_holds_the_loop"]

MODULE = "pressroom.apps.docs.uploads.unpacking_process"


async def unpack(folder: Path, archive: bytes, content_hash: str | None = None, **limits: int) -> dict[str, bytes]:
    limits = {"max_files": 1_000, "max_size": 100_000_000} | limits
    store = Disk(folder / "kept", SystemClock())
    try:
        async with unpacked(store, in_chunks(archive), content_hash or hash_of(archive), **limits) as files:
            return {file.path: file.source.read_bytes() for file in files if file.source is not None}
    finally:
        assert list((folder / "kept" / "tmp").iterdir()) == []


async def test_a_site_is_unpacked_in_a_process_of_its_own(tmp_path: Path) -> None:
    assert await unpack(tmp_path, archive_of(SITE)) == SITE


async def test_a_long_header_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """1.4 MB with a header of a gigabyte took 617 MB of a plain process."""
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 1_000_000_000
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        file.write(header.tobuf())
        for _ in range(100):
            file.write(bytes(1_000_000))
    with pytest.raises(SourceInvalid, match=r"a header of 1,000,000,000 bytes"):
        await unpack(tmp_path, packed.getvalue(), max_size=2**31)


async def test_what_needs_too_much_memory_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MEMORY", 1_000_000)
    with pytest.raises((TooLarge, EngineCrashed)):
        await unpack(tmp_path, archive_of({f"{number}.html": b"x" * 1_000 for number in range(900)}))


@pytest.mark.deep
async def test_headers_that_take_too_much_memory_together_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is short enough, and `tarfile` keeps those of the whole archive."""
    monkeypatch.setattr(unpacking, "MEMORY", 64 * 1024 * 1024)
    dice = random.Random(5)
    with own_work():
        headers = [tarfile.TarInfo.create_pax_global_header({f"k{n}": dice.randbytes(450_000).hex()}) for n in range(100)]
        archive = gzip.compress(b"".join([*headers, tar_of(SITE)]), 1)
    with pytest.raises(TooLarge, match="more memory"):
        await unpack(tmp_path, archive, max_size=2**31)


async def test_an_archive_that_is_not_the_announced_one_is_refused_whatever_it_holds(tmp_path: Path) -> None:
    for archive in (archive_of(SITE), b"no archive", archive_of({"../x": b""}), archive_of(SITE)[:-30]):
        with pytest.raises(HashMismatch):
            await unpack(tmp_path, archive, hash_of(b"another"))


async def test_an_archive_is_refused_early_and_read_to_its_end_all_the_same(tmp_path: Path) -> None:
    """Its hash is that of the whole upload."""
    archive = archive_of({"../x": b"", "big.bin": random.Random(1).randbytes(3_000_000)})
    with pytest.raises(SourceInvalid, match="leads out"):
        await unpack(tmp_path, archive)


async def test_known_files_are_not_unpacked(tmp_path: Path) -> None:
    large = random.Random(1).randbytes(archive_module.SMALL + 1)
    old = b'<meta charset="iso-8859-1">'
    site = SITE | {"large.bin": large, "copy.html": SITE["index.html"], "old.html": old}
    known = {
        hashlib.sha256(data).hexdigest(): KnownFile(len(data), media_type)
        for data, media_type in ((SITE["index.html"], "text/html"), (large, "text/css"), (old, "text/html; charset=iso-8859-1"))
    }
    store = Disk(tmp_path / "kept", SystemClock())
    archive = archive_of(site)
    async with unpacked(store, in_chunks(archive), hash_of(archive), max_files=10, max_size=10_000_000, known=known) as files:
        found = {file.path: None if file.source is None else file.source.read_bytes() for file in files}
        left_out = ("index.html", "copy.html", "old.html")  # a large one is not held in memory to be compared
        assert found == site | dict.fromkeys(left_out)
        media_types = {file.path: file.media_type for file in files}
        assert (media_types["copy.html"], media_types["old.html"]) == ("text/html", "text/html; charset=iso-8859-1")
        assert media_types["large.bin"] == "application/octet-stream"
        assert {file.path: (file.sha256, file.size) for file in files} == {
            path: (hashlib.sha256(data).hexdigest(), len(data)) for path, data in site.items()
        }


@pytest.mark.parametrize(
    "claimed",
    [
        UnpackedFile("x.html", "", 5, "0" * 64),  # is not among the known ones
        UnpackedFile("x.html", "", 6, hashlib.sha256(b"known").hexdigest()),
        UnpackedFile("../x.html", "", 5, hashlib.sha256(b"known").hexdigest()),
        UnpackedFile("x.html", "known", 32),
    ],
)
def test_the_process_cannot_name_a_file_that_is_not_known(tmp_path: Path, claimed: UnpackedFile) -> None:
    (tmp_path / unpacking.KNOWN).write_bytes(bytes(32))
    with pytest.raises((EngineCrashed, SourceInvalid)):
        unpacking._measure(tmp_path, (claimed,), {hashlib.sha256(b"known").hexdigest(): KnownFile(5, "text/html")})


async def never_ending() -> AsyncIterator[bytes]:
    yield gzip.compress(b"x")[:5]
    await asyncio.sleep(600)


async def test_a_process_that_waits_too_long_is_killed(tmp_path: Path) -> None:
    given = {"folder": str(tmp_path), "files": 1, "size": 1, "memory": 2**28}
    with pytest.raises(Timeout):
        await run_confined(MODULE, given, never_ending(), folder=tmp_path, seconds=2.0, output=1_000)


async def test_a_cancelled_caller_leaves_no_process(tmp_path: Path, eventually: Callable[..., Any]) -> None:
    given = {"folder": str(tmp_path), "files": 1, "size": 1, "memory": 2**28}
    running = asyncio.ensure_future(run_confined(MODULE, given, never_ending(), folder=tmp_path, seconds=600.0, output=1_000))
    await eventually(lambda: _processes_in(tmp_path))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert _processes_in(tmp_path) == []


def _processes_in(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def test_what_a_process_writes_is_limited(tmp_path: Path) -> None:
    archive = archive_of({f"{'x' * 200}{number}": b"" for number in range(100)})
    given = {"folder": str(tmp_path), "files": 1_000, "size": 1_000, "memory": 2**28}
    with pytest.raises(TooLarge):
        await run_confined(MODULE, given, in_chunks(archive), folder=tmp_path, seconds=60.0, output=1_000)


async def test_an_error_of_the_source_of_data_is_raised_as_it_is(tmp_path: Path) -> None:
    async def failing() -> AsyncIterator[bytes]:
        yield b"x"
        raise LookupError("gone")

    given = {"folder": str(tmp_path), "files": 1, "size": 1, "memory": 2**28}
    with pytest.raises(LookupError, match="gone"):
        await run_confined(MODULE, given, failing(), folder=tmp_path, seconds=60.0, output=1_000)


async def test_the_process_can_write_nowhere_else(tmp_path: Path) -> None:
    """Landlock; without it the test has nothing to show."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    given = {"folder": str(outside), "files": 100, "size": 10_000, "memory": 2**28}
    answer = await run_confined(MODULE, given, in_chunks(archive_of(SITE)), folder=inside, seconds=60.0, output=10_000)
    if b'"files":[[' in answer:
        pytest.skip("this kernel has no Landlock")
    assert msgspec.json.decode(answer)["errno"] == errno.EACCES
    assert list(outside.iterdir()) == []


async def test_a_disk_that_cannot_be_written_to_is_no_fault_of_the_archive(tmp_path: Path) -> None:
    """The job waits, and its upload stays."""

    class Broken(Disk):
        async def make_scratch_folder(self) -> Path:
            folder = await super().make_scratch_folder()
            (folder / "1").touch()
            return folder

    archive = archive_of(SITE)
    with pytest.raises(StoreUnavailable, match="File exists"):
        async with unpacked(
            Broken(tmp_path, SystemClock()), in_chunks(archive), hash_of(archive), max_files=10, max_size=10_000
        ):
            pass


@pytest.mark.deep
async def test_a_file_may_be_as_large_as_a_site(tmp_path: Path) -> None:
    """Other sandboxed processes write at most 256 MiB into a file."""
    limit = 300 * 1024 * 1024
    with own_work():
        archive = gzip.compress(tar_of({"video.mp4": random.Random(3).randbytes(8 * 1024 * 1024) * 34}), 1)
    store = Disk(tmp_path, SystemClock())
    async with unpacked(store, in_chunks(archive), hash_of(archive), max_files=10, max_size=limit) as files:
        assert [file.size for file in files] == [34 * 8 * 1024 * 1024]


@pytest.mark.deep
async def test_a_site_of_fifty_thousand_files_holds_no_other_writer_up(database: str) -> None:
    """Its rows are written in pieces: another writer comes in between, and sees them grow."""
    with own_work():
        archive = archive_of({f"{number % 100}/{number}.txt": str(number).encode() for number in range(50_000)})
    seen = set()
    async with docs_flow(database) as flow:
        build = await flow.start(await flow.upload(archive))
        while (await flow.build(build.uid)).artifact is None:
            assert (await flow.press.get(str(build.job_uid))).status is not Status.FAILED
            async with flow.press.transaction() as tx:
                seen.add((await tx.execute("SELECT count(*) FROM artifact_file"))[0][0])
        build, job = await flow.ended(build)
        assert (job.status, build.status) == (Status.COMPLETED, BuildStatus.COMPLETED), job.errors
        assert build.object_count == 50_000
        assert len(seen) > 20

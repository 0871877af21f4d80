"""The archive of a site: the same files give the same bytes, and what cannot be part of a site is named."""

import gzip
import io
import os
import tarfile
import time
from pathlib import Path

import pytest

from pressroom.apps.docs.commands.site_archive import PackedSite, list_site, pack_site
from pressroom.errors import InvalidArgument

SITE = {
    "index.html": "<h1>Guide</h1>",
    "b/page.html": "<p>b</p>",
    "a/page.html": "<p>a</p>",
    "objects.inv": "\x00\x01",
    "é.html": "e",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def pack(folder: Path, exclude: tuple[str, ...] = ()) -> tuple[PackedSite, bytes]:
    out = io.BytesIO()
    return pack_site(list_site(folder, exclude), out), out.getvalue()


def names(data: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return archive.getnames()


def test_the_archive_depends_on_nothing_but_the_files(tmp_path: Path) -> None:
    first = write(tmp_path / "first", SITE)
    second = write(tmp_path / "second", dict(reversed(SITE.items())))
    for path in second.rglob("*"):
        os.utime(path, (time.time() - 1e6, 7e8))
        path.chmod(0o700)

    packed, data = pack(first)
    again, others = pack(second)

    assert data == others
    assert packed == again
    assert (packed.files, packed.size, packed.archive_size) == (5, sum(len(text.encode()) for text in SITE.values()), len(data))
    assert names(data) == sorted(SITE)
    assert data[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # no time, no name


def test_entries_have_no_owner_and_no_time(tmp_path: Path) -> None:
    _, data = pack(write(tmp_path, SITE))

    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(data))) as archive:
        facts = {(one.mode, one.uid, one.gid, one.uname, one.gname, one.mtime) for one in archive}
        assert facts == {(0o644, 0, 0, "", "", 0)}
        assert {one.name: archive.extractfile(one).read().decode() for one in archive} == SITE  # type: ignore[union-attr]


def test_one_letter_changes_the_hash(tmp_path: Path) -> None:
    before, _ = pack(write(tmp_path, SITE))
    after, _ = pack(write(tmp_path, {"a/page.html": "<p>A</p>"}))

    assert before.content_hash != after.content_hash
    assert before.content_hash.startswith("sha256:")


def test_what_is_no_part_of_a_site_is_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        SITE | {".git/config": "", ".doctrees/environment.pickle": "", "x/.DS_Store": "", ".nojekyll": "", "a/b.map": ""},
    )
    write(tmp_path, {"drafts/page.html": "", "drafts/deep/page.html": ""})

    _, data = pack(tmp_path, ("*.map", "drafts/*"))

    assert names(data) == sorted([*SITE, ".nojekyll"])


def test_links_inside_the_folder_are_followed(tmp_path: Path) -> None:
    site = write(tmp_path / "site", {"1.2/index.html": "one"})
    (site / "latest").symlink_to("1.2")
    (site / "home.html").symlink_to("1.2/index.html")

    _, data = pack(site)

    assert names(data) == ["1.2/index.html", "home.html", "latest/index.html"]


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    site = write(tmp_path / "site", SITE)
    (tmp_path / "secret").write_text("key")
    (site / "a" / "leak.txt").symlink_to(tmp_path / "secret")

    with pytest.raises(InvalidArgument, match=r"a/leak\.txt is a link out of the folder"):
        list_site(site)
    assert len(list_site(site, ("a/leak.txt",))) == 5


@pytest.mark.parametrize(
    ("target", "said"), [("..", "a link to a folder that it is in"), ("nowhere", "a link that leads nowhere")]
)
def test_links_that_do_not_end_are_refused(tmp_path: Path, target: str, said: str) -> None:
    site = write(tmp_path, SITE)
    (site / "a" / "loop").symlink_to(target)

    with pytest.raises(InvalidArgument, match=f"a/loop is {said}"):
        list_site(site)


def test_names_that_collide_elsewhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"'Page\.html' and 'page\.html' differ only in case"):
        list_site(write(tmp_path, {"page.html": "", "Page.html": ""}))


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff.html", "wb"):
        pass

    with pytest.raises(InvalidArgument, match="is not UTF-8"):
        list_site(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"), [("nothing", "has no files"), ("nowhere", "no such folder"), ("file", "is not a folder")]
)
def test_a_folder_without_a_site_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "file").touch()

    with pytest.raises(InvalidArgument, match=said):
        list_site(tmp_path / name)


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    write(tmp_path, SITE)
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(InvalidArgument, match="pipe is neither a file nor a folder"):
        list_site(tmp_path)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    files = list_site(write(tmp_path, {"index.html": "x" * 100}))
    (tmp_path / "index.html").unlink()

    with pytest.raises(InvalidArgument, match=r"index\.html cannot be read: No such file"):
        pack_site(files, io.BytesIO())

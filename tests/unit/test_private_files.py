"""Files that hold secrets are ours alone, and files that are none of ours are not followed."""

import os
import stat
from pathlib import Path

import pytest

from pressroom import Pressroom
from pressroom.base.regular_files import NotRegular, read_regular, write_below
from pressroom.config import load_settings
from pressroom.errors import InvalidSettings


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _usual_umask() -> object:
    before = os.umask(0o022)
    yield
    os.umask(before)


async def test_a_new_database_is_for_our_own_user(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "press.db"
    async with Pressroom(f"sqlite:///{path}", workers=None):
        modes = {one.name: mode(one) for one in path.parent.iterdir() if one.is_file()}

    assert modes == {"press.db": 0o600, "press.db-wal": 0o600, "press.db-shm": 0o600}
    assert (mode(path.parent), mode(path.parent.parent)) == (0o700, 0o700)


async def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o755)
    async with Pressroom(f"sqlite:///{folder}/press.db", workers=None):
        pass

    assert mode(folder) == 0o755
    assert mode(folder / "press.db") == 0o600


async def test_an_older_database_is_closed_to_all_but_its_group(tmp_path: Path) -> None:
    path = tmp_path / "press.db"
    async with Pressroom(f"sqlite:///{path}", workers=None):
        pass
    path.chmod(0o664)
    async with Pressroom(f"sqlite:///{path}", workers=None):
        assert mode(path) == 0o660


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_a_settings_file_is_a_regular_file(tmp_path: Path, what: str) -> None:
    path = tmp_path / "pressroom.toml"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    else:
        path = Path("/dev/null")

    with pytest.raises(InvalidSettings, match="is not a regular file"):
        load_settings(environ={}, file=path)


def test_a_settings_file_may_be_a_link_to_one(tmp_path: Path) -> None:
    """As a volume of Kubernetes mounts them."""
    (tmp_path / "real.toml").write_text("workers = 3\n")
    (tmp_path / "pressroom.toml").symlink_to("real.toml")

    assert load_settings(environ={}, file=tmp_path / "pressroom.toml").workers == 3


def test_nothing_is_read_that_is_no_regular_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")

    assert read_regular(tmp_path / "file") == b"text"
    assert read_regular(tmp_path / "link", follow=True) == b"text"
    for name in ("link", "pipe"):
        with pytest.raises(NotRegular):
            read_regular(tmp_path / name)


@pytest.mark.parametrize("parts", [("page.md",), ("folder", "page.md"), ("folder", "deeper", "page.md")])
def test_nothing_is_written_through_a_link(tmp_path: Path, parts: tuple[str, ...]) -> None:
    """Whichever part of the path it is."""
    for depth in range(len(parts)):
        elsewhere, root = tmp_path / f"elsewhere{depth}", tmp_path / f"root{depth}"
        elsewhere.mkdir()
        (elsewhere / "page.md").write_text("theirs")
        link = root.joinpath(*parts[: depth + 1])
        link.parent.mkdir(parents=True)
        link.symlink_to(elsewhere / "page.md" if depth == len(parts) - 1 else elsewhere)

        with pytest.raises(NotRegular, match="a symbolic link"):
            write_below(root, parts, b"ours")
        assert [(one.name, one.read_text()) for one in elsewhere.iterdir()] == [("page.md", "theirs")]


def test_a_file_is_replaced_and_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("before")
    os.link(tmp_path / "page.md", tmp_path / "other name")

    write_below(tmp_path, ("page.md",), b"after")
    write_below(tmp_path, ("a", "b", "page.md"), b"deep")

    assert (tmp_path / "page.md").read_text() == "after"
    assert (tmp_path / "other name").read_text() == "before"
    assert (tmp_path / "a/b/page.md").read_text() == "deep"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "other name", "page.md"]

"""Repositories are read by the git protocol; addresses that are not public, and too much of anything, are refused."""

import asyncio
import contextlib
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from dulwich.objects import Commit, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from pressroom.apps.docs.git import git_process
from pressroom.apps.docs.git.addresses import GitAddressRefused, parse_git_address, repository_name
from pressroom.apps.docs.git.refs import check_ref
from pressroom.apps.docs.git.remote import GitRemote, KnownTree, RepositoryRefused, RepositoryUnreachable
from pressroom.apps.docs.operations.checks import check_git_url
from pressroom.apps.docs.settings import DocsSettings
from pressroom.errors import InvalidArgument
from tests.apps.docs.git_stage import (
    GitRepository,
    answering,
    counting,
    http_server,
    redirecting_to,
    served_by_dulwich,
    served_by_git,
    served_by_git_daemon,
)


@contextmanager
def in_a_folder(repository: GitRepository) -> Iterator[str]:
    yield repository.url


def a_remote(*allow: str) -> GitRemote:
    return GitRemote(DocsSettings(git_allow=allow))


@pytest.mark.parametrize("serve", [in_a_folder, served_by_dulwich, served_by_git, served_by_git_daemon])
async def test_refs_and_files_are_read_from_a_folder_over_http_and_over_git(
    serve: Callable[[GitRepository], AbstractContextManager[str]], tmp_path: Path
) -> None:
    repository = GitRepository(tmp_path)
    repository.push({"readme": "not part of it"})
    commit = repository.push({"template.toml": "one", "img/logo.svg": "<svg/>"}, root="docs/dash", tag="v1")
    remote = a_remote("127.0.0.1", str(tmp_path))
    with serve(repository) as url:
        refs = await remote.list_refs(url)
        fetched = await remote.fetch(url, "main", "/docs/dash")
        tagged = await remote.fetch(url, "refs/tags/v1", "/docs/dash")
        again = await remote.fetch(url, "main", "/docs/dash", KnownTree(fetched.commit, fetched.tree))

    assert refs.keys() >= {"refs/heads/main", "refs/tags/v1"}
    assert fetched.commit == tagged.commit == commit
    assert fetched.files == tagged.files == {"template.toml": b"one", "img/logo.svg": b"<svg/>"}
    assert again.files is None


async def test_a_commit_that_leaves_the_folder_as_it_was_is_known_by_its_tree(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    repository.push({"template.toml": "one"}, root="dash")
    remote = a_remote(str(tmp_path))
    first = await remote.fetch(repository.url, "main", "/dash")
    repository.push({"elsewhere": "changed"})

    second = await remote.fetch(repository.url, "main", "/dash", KnownTree(first.commit, first.tree))

    assert second.commit != first.commit
    assert second.tree == first.tree
    assert second.files is None


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "/etc",
        "http://127.0.0.1/x.git",
        "http://localhost/x.git",
        "git://10.1.2.3/x.git",
        "https://[::1]/x.git",
        "https://[::ffff:127.0.0.1]/x.git",
        "http://2130706433/x.git",
        "http://0x7f000001/x.git",
        "http://169.254.169.254/latest/meta-data",
        "https://user:word@example.org/x.git",
        "https://example.org",
        "https://example.org/x.git?service=a",
        "ssh://git@example.org/x.git",
        "git@example.org:acme/x.git",
        "ext::sh -c id",
        "--upload-pack=id",
        "",
        "https://example.org/" + "x" * 2000,
    ],
)
def test_an_address_that_is_private_or_not_read_is_refused(url: str) -> None:
    with pytest.raises(GitAddressRefused):
        parse_git_address(url, ())


def test_a_folder_beside_an_allowed_one_or_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "link").symlink_to("/etc")
    allow = (str(tmp_path / "git"),)

    assert parse_git_address(f"file://{tmp_path}/git/a.git", allow).path == f"{tmp_path}/git/a.git"
    for url in (f"{tmp_path}/git/../other", f"{tmp_path}/gitea", f"{tmp_path}/git/link"):
        with pytest.raises(GitAddressRefused):
            parse_git_address(url, allow)


async def test_a_redirect_to_an_address_that_is_not_allowed_is_not_followed() -> None:
    reached: list[str] = []
    with http_server(counting(reached)) as private, http_server(redirecting_to(f"{private}/x.git")) as allowed:
        remote = a_remote(allowed.removeprefix("http://"))

        with pytest.raises(GitAddressRefused):
            await remote.list_refs(f"{allowed}/x.git")

    assert reached == []


async def test_a_repository_that_is_not_there_or_never_answers_is_told_apart(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    repository.push({"a": "b"})
    remote = a_remote(str(tmp_path), "127.0.0.1")
    with pytest.raises(RepositoryRefused, match="no repository"):
        await remote.list_refs(str(tmp_path / "none.git"))
    with pytest.raises(RepositoryRefused, match="no branch or tag other"):
        await remote.fetch(repository.url, "other")
    with pytest.raises(RepositoryRefused, match="no folder /nowhere"):
        await remote.fetch(repository.url, "main", "/nowhere")
    with pytest.raises(RepositoryUnreachable):
        await remote.list_refs("http://127.0.0.1:9/x.git")


async def test_a_server_that_never_answers_is_given_up_with_its_process(tmp_path: Path) -> None:
    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    remote = GitRemote(DocsSettings(git_allow=("127.0.0.1",)), seconds=3)

    with pytest.raises(RepositoryUnreachable, match="within 3 s"):
        await remote.list_refs(f"git://127.0.0.1:{port}/x.git")
    server.close()


async def test_too_many_files_and_too_many_bytes_are_refused(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    repository.push({f"{number}.txt": "x" for number in range(git_process.MOST_FILES + 1)}, root="many")
    repository.push({"zeros.bin": bytes(git_process.LARGEST_TREE + 1)}, root="large")
    remote = a_remote(str(tmp_path))

    with pytest.raises(RepositoryRefused, match="more than 200 files"):
        await remote.fetch(repository.url, "main", "/many")
    with pytest.raises(RepositoryRefused, match="more than 5 MB"):
        await remote.fetch(repository.url, "main", "/large")


async def test_a_tree_that_contains_itself_in_every_way_is_not_walked_to_its_end(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    with Repo(repository.url) as bare:
        tree = Tree()
        bare.object_store.add_object(tree)
        for _ in range(15):
            above = Tree()
            for number in range(10):
                above.add(b"%d" % number, stat.S_IFDIR, tree.id)
            bare.object_store.add_object(above)
            tree = above
        commit = Commit()
        commit.tree, commit.message = tree.id, b"10**15 folders"
        commit.author = commit.committer = b"test <test@example.org>"
        commit.author_time = commit.commit_time = commit.author_timezone = commit.commit_timezone = 0
        bare.object_store.add_object(commit)
        bare.refs[Ref(b"refs/heads/main")] = commit.id

    with pytest.raises(RepositoryRefused, match="more than 20,000 files and folders"):
        await a_remote(str(tmp_path)).fetch(repository.url, "main")


async def test_names_that_cannot_be_shown_are_left_out(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path)
    repository.push({"a.html": "a", "\x1b[2J.html": "b", "c\nd.html": "c"})

    fetched = await a_remote(str(tmp_path)).fetch(repository.url, "main")

    assert fetched.files == {"a.html": b"a"}


async def test_of_endless_refs_none_is_read(tmp_path: Path) -> None:
    """The worker would have to hold all that the process of git answers."""
    repository = GitRepository(tmp_path)
    commit = repository.push({"a": "b"})
    packed = repository.bare / "packed-refs"
    remote = a_remote(str(tmp_path))

    packed.write_text(f"{commit} refs/heads/{'x' * 400}\n{commit} refs/heads/x\n{commit} refs/pull/1/head\n")
    assert await remote.list_refs(repository.url) == {"refs/heads/main": commit, "refs/heads/x": commit}
    packed.write_text("".join(f"{commit} refs/heads/{number:06}\n" for number in range(git_process.MOST_REFS)))
    with pytest.raises(RepositoryRefused, match="more than 100,000 branches and tags"):
        await remote.list_refs(repository.url)


@pytest.mark.parametrize(
    ("url", "is_kept"),
    [
        ("https://github.com/acme/guide.git", True),
        ("git@github.com:acme/guide.git", True),
        ("ssh://git@github.com/acme/guide@2", True),
        ("https://user:secret@github.com/acme/guide", False),
        ("HTTPS://secret@github.com/acme/guide", False),
        ("ssh://git:secret@github.com/acme/guide", False),
    ],
)
def test_an_address_with_a_secret_is_not_kept_where_readers_see_it(url: str, is_kept: bool) -> None:
    """L"""
    with contextlib.nullcontext() if is_kept else pytest.raises(InvalidArgument) as refused:
        assert check_git_url(url) == url
    assert refused is None or "secret@" not in str(refused.value)


@pytest.mark.parametrize(
    "ref", ["", "--upload-pack=id", "../x", "a..b", "a b", "x" * 300, "a\x07b", "a.lock", "@", "a~1", "/a"]
)
def test_a_ref_that_git_would_refuse_is_refused(ref: str) -> None:
    with pytest.raises(InvalidArgument):
        check_ref(ref)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Acme/Guide.git",
        "http://github.com:80/acme/guide",
        "git@github.com:acme/guide.git",
        "ssh://git@github.com:22/acme/guide.git",
        "git://github.com/acme/guide/",
    ],
)
def test_one_repository_has_many_addresses(url: str) -> None:
    assert repository_name(url) == "github.com/acme/guide"


@pytest.mark.parametrize("answers", [["10.1.2.3"], ["93.184.215.14", "127.0.0.1"], ["::ffff:169.254.169.254"], ["fe80::1%1"]])
def test_a_name_is_refused_if_one_of_its_addresses_is_not_public(answers: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in answers]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    git_process.pin_addresses(["allowed.example.org", "ported.example.org:8443"])

    for host, port in (("evil.example.org", 443), ("ported.example.org", 443), (answers[0], 443)):
        with pytest.raises(git_process.Refusal):
            socket.getaddrinfo(host, port)
    assert socket.getaddrinfo("allowed.example.org", 443)
    assert socket.getaddrinfo(b"ported.example.org", 8443)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"0000", b"zzzz", b"001e# service=git-upload-pack\n0000ffff" + b"x" * 100, b"0" * 1_000_000]
)
async def test_a_server_that_speaks_no_git_is_told_so(body: bytes) -> None:
    with http_server(answering(body)) as url, pytest.raises((RepositoryRefused, RepositoryUnreachable)):
        await a_remote("127.0.0.1").list_refs(f"{url}/x.git")

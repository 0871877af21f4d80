"""The branch or tag, and the commit, that a working tree has checked out. Read from `.git`, without a git binary."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import msgspec

from pressroom.errors import InvalidArgument

if TYPE_CHECKING:
    from dulwich.config import ConfigFile
    from dulwich.refs import Ref
    from dulwich.repo import Repo

NOT_OF_REFS = (b"partialclone", b"preciousobjects", b"noop", b"noop-v1")


class WorkingTree(msgspec.Struct, frozen=True):
    """`branch` is None where a commit is checked out by itself; then `tags` are those of that commit."""

    root: str
    branch: str | None
    tags: tuple[str, ...]
    commit: str | None  # None before the first
    remote: str | None  # the address of `origin`, without a password

    def ref(self) -> str:
        """Raises InvalidArgument if it is not clear."""
        if self.branch is not None:
            return self.branch
        if len(self.tags) == 1:
            return self.tags[0]
        if self.tags:
            raise InvalidArgument(f"{self.root} is at the tags {', '.join(self.tags)}; say which with --git-ref")
        raise InvalidArgument(f"{self.root} is at the commit {(self.commit or '')[:12]} and not on a branch; say --git-ref REF")


def read_working_tree(start: Path) -> WorkingTree | None:
    """Of the repository that a folder is in. None if it is in none, or if dulwich is not installed. Raises InvalidArgument if
    it cannot be read."""
    try:
        from dulwich.errors import NotGitRepository
        from dulwich.repo import Repo, UnsupportedExtension, UnsupportedVersion
    except ImportError:
        return None

    class RefsRepo(Repo):
        """dulwich opens no repository with an extension that it does not know. These change nothing about refs."""

        def get_config(self) -> "ConfigFile":
            config = super().get_config()
            for name, _ in [*config.items((b"extensions",))]:
                if name.lower() in NOT_OF_REFS:
                    config.remove((b"extensions",), name)
            return config

    try:
        with RefsRepo.discover(str(start)) as repository:
            return _describe(repository)
    except NotGitRepository:
        return None
    except (UnsupportedExtension, UnsupportedVersion, OSError, KeyError, ValueError) as reason:
        why = f"{type(reason).__name__}: {reason}"
        raise InvalidArgument(f"the git repository of {start} cannot be read ({why}); say --git-ref REF") from None


def _describe(repository: "Repo") -> WorkingTree:
    chain, commit = repository.refs.follow(b"HEAD")  # type: ignore[arg-type]
    target = chain[-1] if len(chain) > 1 else b""
    branch = target.removeprefix(b"refs/heads/") if target.startswith(b"refs/heads/") else None
    tags: list[str] = []
    if branch is None and commit is not None:
        names = [ref for ref in repository.refs.allkeys() if ref.startswith(b"refs/tags/")]
        tags = sorted(_decode(ref.removeprefix(b"refs/tags/")) for ref in names if _leads_to(repository, ref, commit))
    return WorkingTree(
        root=str(repository.path),
        branch=None if branch is None else _decode(branch),
        tags=tuple(tags),
        commit=None if commit is None else commit.decode("ascii"),
        remote=_read_remote(repository),
    )


def _leads_to(repository: "Repo", ref: "Ref", commit: bytes) -> bool:
    """A clone that is partial or shallow may lack what a tag leads to."""
    try:
        return repository.get_peeled(ref) == commit
    except KeyError:
        return False


def _read_remote(repository: "Repo") -> str | None:
    try:
        return without_password(_decode(repository.get_config().get((b"remote", b"origin"), b"url")))
    except (KeyError, ValueError):
        return None


def without_password(address: str) -> str:
    """Addresses of CI systems have tokens in them. Raises ValueError for what only looks like an address."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return address
    name = "" if parts.scheme in ("http", "https") else user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}@{host}" if name else host))


def _decode(name: bytes) -> str:
    return name.decode("utf-8", "replace")

"""The process that speaks git with one repository: started for one request, and killed at its time limit.

Whatever a repository sends can at most end this process: its memory and the files that it writes are limited. No name leads it
to an address that is not public, unless the operator named the host: it has no other way to find an address.
"""

import base64
import errno
import itertools
import json
import resource
import socket
import sys
from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_address
from typing import Any

import urllib3
from dulwich.client import GitClient, HTTPUnauthorized, TCPGitClient, Urllib3HttpGitClient
from dulwich.errors import GitProtocolError, NotGitRepository
from dulwich.object_store import BaseObjectStore
from dulwich.objects import Blob, Commit, Tag, Tree
from dulwich.repo import Repo

from pressroom.notify.addresses import is_public
from pressroom.renderers.sandbox.confinement import die_with_parent, limit_memory

MEMORY = 768 * 1024 * 1024
LARGEST_PACK = 64 * 1024 * 1024
MOST_REFS = 100_000
LONGEST_REF = 300  # bytes; an edition or a template follows none with a longer name
MOST_ENTRIES = 20_000  # of all trees that are walked: a tree may contain another one many times
MOST_FILES = 200
LARGEST_TREE = 5 * 1024 * 1024  # bytes of these files
DEEPEST = 20  # folders in folders
REDIRECTS = 3
CONNECT_WITHIN = 15.0  # seconds
READ_WITHIN = 45.0  # seconds without a byte: a server may have to pack a large repository first
_FOLDER, _FILES = 0o040000, (0o100644, 0o100755, 0o100664)


class Refusal(Exception):
    """`code` is one of those that `remote.py` knows."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> None:
    die_with_parent()
    limit_memory(MEMORY)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_PACK, LARGEST_PACK))
    request = json.loads(sys.stdin.buffer.read())
    answer = _answer(request)
    sys.stdout.buffer.write(json.dumps(answer).encode())


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    pin_addresses(request["allow"])
    try:
        with_refs = _list_refs if request["do"] == "refs" else _fetch
        return with_refs(request)
    except Refusal as refusal:
        return _failure(refusal.code, str(refusal))
    except MemoryError:
        return _failure("too_large", "the repository needs more memory than is allowed")
    except NotGitRepository:
        return _failure("not_found", "there is no repository at this address")
    except HTTPUnauthorized:
        return _failure("not_found", "the repository is not there, or it asks for a login; only public ones are read")
    except GitProtocolError as error:
        return _failure("unreachable", f"the repository does not answer as git: {_words(error)}")
    except OSError as error:
        if isinstance(error, socket.gaierror):
            return _failure("unreachable", "the name of the host was not found")
        if error.errno == errno.EFBIG:
            return _failure("too_large", f"the repository has more than {LARGEST_PACK // 1_048_576} MB at this ref")
        return _failure("unreachable", f"no connection to the repository: {error.strerror or type(error).__name__}")
    except Exception as error:  # a repository may send anything, and the libraries that read it raise anything
        return _failure("unreadable", f"what the repository sent cannot be read as git: {type(error).__name__}")


def _failure(code: str, message: str) -> dict[str, Any]:
    return {"error": code, "message": message}


def _words(error: Exception) -> str:
    """Without addresses of this network, which an error of a connection may name."""
    text = "".join(letter if letter.isprintable() else "�" for letter in str(error))
    if "timed out" in text:
        return "it takes too long"
    return "no connection" if "onnection" in text or "Max retries" in text else text[:200]


def pin_addresses(allow: Collection[str]) -> None:
    """From here on a name of a host leads to public addresses alone, and one bad address refuses all of them. What was checked
    is what is dialled: nothing resolves the name again."""
    resolve = socket.getaddrinfo

    def resolve_public(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        found = resolve(host, port, *args, **kwargs)
        name = host.decode() if isinstance(host, bytes) else str(host)
        shown = f"[{name}]" if ":" in name else name
        if shown not in allow and f"{shown}:{port}" not in allow:
            for *_, address in found:
                if not is_public(ip_address(str(address[0]).partition("%")[0])):
                    raise Refusal("refused", "the host, or one that it redirects to, has an address that is not public")
        return found

    socket.getaddrinfo = resolve_public


def _list_refs(request: dict[str, Any]) -> dict[str, Any]:
    """Branches and tags with what they point to."""
    if request["folder"]:
        with Repo(request["url"]) as repository:
            refs: Mapping[Any, Any] = repository.get_refs()
    else:
        client, path = _connect(request)
        refs = client.get_refs(path.encode(), ref_prefix=[b"refs/heads/", b"refs/tags/"]).refs
    found = {
        name.decode(errors="replace"): (sha or b"").decode()
        for name, sha in refs.items()
        if name.startswith((b"refs/heads/", b"refs/tags/")) and len(name) <= LONGEST_REF
    }
    if len(found) > MOST_REFS:
        raise Refusal("too_large", f"the repository has more than {MOST_REFS:,} branches and tags")
    return {"refs": found}


def _fetch(request: dict[str, Any]) -> dict[str, Any]:
    """The files below a folder of a ref. None if the commit or its folder is the one that is known."""
    if request["folder"]:
        with Repo(request["url"]) as repository:
            return _read(repository.object_store, _find_target(repository.get_refs(), request["names"]), request)
    with Repo.init_bare(request["scratch"]) as repository:
        client, path = _connect(request)
        chosen: list[bytes] = []

        def determine_wants(refs: Any, depth: int | None = None) -> list[Any]:  # noqa: ARG001 - dulwich passes it
            chosen.append(_find_target(refs, request["names"]))
            return [] if chosen[0].decode() == request["known_commit"] else chosen

        prefixes = [name.encode() for name in request["names"]]
        client.fetch(path, repository, determine_wants=determine_wants, depth=1, ref_prefix=prefixes)
        if not chosen:
            raise Refusal("no_ref", _no_ref(request["names"]))
        return _read(repository.object_store, chosen[0], request)


def _connect(request: dict[str, Any]) -> tuple[GitClient, str]:
    if request["scheme"] == "git":
        return TCPGitClient(request["host"], port=request["port"]), request["path"]
    pool = urllib3.PoolManager(
        retries=urllib3.Retry(total=REDIRECTS, connect=0, read=0, status=0, redirect=REDIRECTS),
        timeout=urllib3.Timeout(connect=CONNECT_WITHIN, read=READ_WITHIN),
    )
    return Urllib3HttpGitClient(request["url"], pool_manager=pool), request["url"]


def _find_target(refs: Any, names: list[str]) -> bytes:
    for name in names:
        if found := refs.get(name.encode()):
            return bytes(found)
    raise Refusal("no_ref", _no_ref(names))


def _no_ref(names: list[str]) -> str:
    return f"the repository has no branch or tag {names[0].removeprefix('refs/heads/')}"


def _read(store: BaseObjectStore, target: bytes, request: dict[str, Any]) -> dict[str, Any]:
    """`target` is what the ref names: a commit, or a tag of one."""
    if target.decode() == request["known_commit"]:
        return {"commit": request["known_commit"], "tree": request["known_tree"], "files": None}
    commit = store[target]  # type: ignore[index] # dulwich has a type of its own for ids
    while isinstance(commit, Tag):
        commit = store[commit.object[1]]
    if not isinstance(commit, Commit):
        raise Refusal("no_ref", "the ref does not lead to a commit")
    tree = _folder_of(store, commit.tree, request["root"])
    read = {"commit": commit.id.decode(), "tree": tree.decode()}
    if read["tree"] == request["known_tree"]:
        return {**read, "files": None}
    files = _checked(_walk(store, tree, "", 0, itertools.count(1)))
    return {**read, "files": {path: base64.b64encode(data).decode() for path, data in files}}


def _folder_of(store: Any, tree: bytes, root: str) -> bytes:
    for part in filter(None, root.split("/")):
        listed = store[tree]
        name = part.encode()
        if not isinstance(listed, Tree) or name not in listed or listed[name][0] != _FOLDER:
            raise Refusal("no_folder", f"the repository has no folder {root} at this ref")
        tree = bytes(listed[name][1])
    return tree


def _walk(store: Any, tree: bytes, prefix: str, depth: int, entries: Iterator[int]) -> Iterator[tuple[str, bytes]]:
    """Regular files. Links and submodules are left out: what they point to is not part of the tree. So are names that cannot
    be shown. `entries` counts those of all trees."""
    if depth > DEEPEST:
        raise Refusal("too_large", f"folders are nested more than {DEEPEST} deep")
    for entry in store[tree].items():
        if next(entries) > MOST_ENTRIES:
            raise Refusal("too_large", f"there are more than {MOST_ENTRIES:,} files and folders")
        path = prefix + entry.path.decode(errors="replace")
        if not path.isprintable():
            continue
        if entry.mode == _FOLDER:
            yield from _walk(store, entry.sha, f"{path}/", depth + 1, entries)
        elif entry.mode in _FILES:
            blob = store[entry.sha]
            assert isinstance(blob, Blob)
            yield path, blob.data


def _checked(files: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    size = 0
    for number, (path, data) in enumerate(files, 1):
        size += len(data)
        if number > MOST_FILES:
            raise Refusal("too_large", f"there are more than {MOST_FILES} files; keep a template in a folder of its own")
        if size > LARGEST_TREE:
            raise Refusal("too_large", f"the files have more than {LARGEST_TREE // 1_048_576} MB together")
        yield path, data


if __name__ == "__main__":
    main()

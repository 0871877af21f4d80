"""Read a git repository without a git binary: list its refs, or fetch the files of a ref."""

import asyncio
import base64
import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import msgspec

from pressroom.apps.docs.git.addresses import GitAddressRefused, parse_git_address
from pressroom.apps.docs.git.refs import check_ref, full_names
from pressroom.apps.docs.settings import DocsSettings
from pressroom.errors import PackageMissing, Refused, Transient

SECONDS = 60.0  # for one request, however slowly it is answered
AT_ONCE = 4  # processes
_INHERITED = ("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "PYTHONPATH", "VIRTUAL_ENV")


class RepositoryUnreachable(Transient):
    code = "repository_unreachable"


class RepositoryRefused(Refused):
    """It is there, and what was asked for is not, or is too large."""

    code = "repository_refused"
    status = 422


class FetchedTree(msgspec.Struct, frozen=True):
    """`files` by path below the folder; None if they are those of the known tree."""

    commit: str
    tree: str
    files: dict[str, bytes] | None


class KnownTree(msgspec.Struct, frozen=True):
    commit: str = ""
    tree: str = ""


UNKNOWN = KnownTree()


class GitRemote:
    """Every request has a process of its own, which ends with it."""

    def __init__(self, settings: DocsSettings, *, seconds: float = SECONDS) -> None:
        self._allow = settings.git_allow
        self._seconds = seconds
        self._room = asyncio.Semaphore(AT_ONCE)

    async def list_refs(self, url: str) -> dict[str, str]:
        """Full names of branches and tags. Raises GitAddressRefused, RepositoryUnreachable and RepositoryRefused."""
        answer = await self._ask(url, {"do": "refs"})
        refs: dict[str, str] = answer["refs"]
        return refs

    async def fetch(self, url: str, ref: str, root: str = "/", known: KnownTree = UNKNOWN) -> FetchedTree:
        """The files of a branch or tag below the folder `root`."""
        names = list(full_names(check_ref(ref)))
        wanted = {"do": "fetch", "names": names, "root": root, "known_commit": known.commit, "known_tree": known.tree}
        answer = await self._ask(url, wanted)
        files = answer["files"]
        decoded = None if files is None else {path: base64.b64decode(data) for path, data in files.items()}
        return FetchedTree(answer["commit"], answer["tree"], decoded)

    async def _ask(self, url: str, wanted: dict[str, Any]) -> dict[str, Any]:
        address = parse_git_address(url, self._allow)
        if find_spec("dulwich") is None:
            raise PackageMissing("dulwich", "docs")
        request = {
            **wanted,
            "url": address.url,
            "scheme": address.scheme,
            "host": address.host,
            "port": address.port,
            "path": address.path,
            "folder": not address.host,
            "allow": list(self._allow),
        }
        async with self._room:
            with tempfile.TemporaryDirectory(prefix="pressroom-git-", ignore_cleanup_errors=True) as scratch:
                answer = await _run(json.dumps(request | {"scratch": scratch}).encode(), scratch, self._seconds)
        match answer.get("error"):
            case None:
                return answer
            case "unreachable":
                raise RepositoryUnreachable(answer["message"])
            case "refused":
                raise GitAddressRefused(answer["message"])
        raise RepositoryRefused(answer["message"])


async def _run(request: bytes, scratch: str, seconds: float) -> dict[str, Any]:
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    # Its own session: whatever it may start ends with it. No file of the user's own settings for git is found.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # nothing is imported from the folder that it works in
        "-m",
        "pressroom.apps.docs.git.git_process",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment | {"HOME": scratch, "XDG_CONFIG_HOME": scratch, "TMPDIR": scratch, "GIT_CONFIG_NOSYSTEM": "1"},
        cwd=scratch,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            output, _ = await process.communicate(request)
    except TimeoutError:
        raise RepositoryUnreachable(f"the repository was not read within {seconds:g} s") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0 or not output:
        raise RepositoryRefused(f"the repository could not be read; the process ended with {process.returncode}")
    answer: dict[str, Any] = json.loads(output)
    return answer

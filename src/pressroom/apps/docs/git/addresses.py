"""Addresses of git repositories: which are read, and when two of them name the same repository (against SSRF).

An address is parsed here, and its host must be a public one unless `git_allow` names it. The process that speaks git checks
the addresses that the name leads to when it connects, also after a redirect (`git_process.py`).
"""

import re
from collections.abc import Collection
from pathlib import Path
from urllib.parse import unquote

import msgspec

from pressroom.errors import Refused
from pressroom.notify.addresses import AddressRefused, parse_target

LONGEST = 1_000
PORTS = {"https": 443, "http": 80, "git": 9418}

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_PORT = re.compile(r"(?:\[[^\]]*\]|[^/:\[\]]*)(?::(\d{1,5}))?(?:/|$)")
_SHORT_SSH = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(.+)")


class GitAddressRefused(Refused):
    code = "git_address_refused"
    status = 422


class GitAddress(msgspec.Struct, frozen=True):
    """`host` is empty for a folder of this machine, which is `path` then."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def url(self) -> str:
        """As git is given it."""
        if not self.host:
            return self.path
        shown = f"[{self.host}]" if ":" in self.host else self.host
        authority = shown if self.port == PORTS[self.scheme] else f"{shown}:{self.port}"
        return f"{self.scheme}://{authority}{self.path}"


def parse_git_address(url: str, allow: Collection[str]) -> GitAddress:
    """Raises GitAddressRefused, with what is allowed. `allow` is the setting `git_allow`: hosts, and folders."""
    if len(url) > LONGEST:
        raise GitAddressRefused(f"the git address has {len(url):,} characters; the limit is {LONGEST:,}")
    if url.startswith("/") or url.lower().startswith("file:"):
        return _parse_folder(url, allow)
    found = _SCHEME.fullmatch(url)
    scheme = found[1].lower() if found else ""
    if found is None or scheme not in PORTS:
        raise GitAddressRefused("a git address begins with https://, http:// or git://; others, such as ssh, are not read")
    if "?" in url:
        raise GitAddressRefused("a git address has no query (?…)")
    authority = found[2].split("/", 1)[0]
    port = _PORT.match(authority)
    try:
        # Whether TLS is spoken is for git to say. The port is checked as it will be used, except for the usual one.
        target = parse_target(f"https://{found[2]}", [*allow, *_with_usual_port(allow, scheme)])
    except AddressRefused as reason:
        raise GitAddressRefused(str(reason).replace("webhook_allow", "git_allow")) from None
    if not target.path.strip("/"):
        raise GitAddressRefused("the git address names a host and no repository, such as https://example.org/acme/guide.git")
    used = int(port[1]) if port and port[1] else PORTS[scheme]
    return GitAddress(scheme, target.host, used, target.path)


def repository_name(url: str) -> str:
    """`github.com/acme/guide`, however the repository is addressed: by which a webhook's repository is compared with ours."""
    text = url.strip()
    found = _SCHEME.fullmatch(text)
    if found is not None and found[1].lower() == "file":
        text = f"/{found[2].lstrip('/')}"
    elif found is not None:
        host, _, path = found[2].rpartition("@")[2].partition("/") if "@" in found[2].split("/")[0] else found[2].partition("/")
        text = f"{host.partition(':')[0] if not host.startswith('[') else host}/{path}"
    elif not text.startswith("/") and (short := _SHORT_SSH.fullmatch(text)):
        text = f"{short[1]}/{short[2]}"
    return text.lower().rstrip("/").removesuffix(".git").rstrip("/")


def _with_usual_port(allow: Collection[str], scheme: str) -> list[str]:
    """`git.internal:80` allows `http://git.internal/…`, which names no port."""
    ending = f":{PORTS[scheme]}"
    return [f"{one.removesuffix(ending)}:443" for one in allow if one.endswith(ending)]


def _parse_folder(url: str, allow: Collection[str]) -> GitAddress:
    path = url
    if not url.startswith("/"):
        found = _SCHEME.fullmatch(url)
        host, _, rest = found[2].partition("/") if found else ("?", "", "")
        if host not in ("", "localhost"):
            raise GitAddressRefused("the address of a folder is an absolute path, or file:// and one")
        path = "/" + unquote(rest)
    if "\0" in path:
        raise GitAddressRefused("the path has a NUL")
    folder = Path(path).resolve()
    if not any(folder.is_relative_to(Path(one).resolve()) for one in allow if one.startswith("/")):
        raise GitAddressRefused("folders of this machine are read only if they are named in docs.git_allow")
    return GitAddress("file", "", 0, str(folder))

"""Which project, and what of it, a request means: from its host name and its path."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from pressroom.apps.docs.model import Org
from pressroom.apps.docs.urls import path_prefix

MAX_PATH = 4096  # bytes, as sent
REMEMBERED_PATH = 512  # bytes
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,126}[a-z0-9])?")
_EDITION = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9_])?")
_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_NEVER_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f/\\]")
LOCALHOST = ".localhost"


class SitePlace(NamedTuple):
    """`org` is None where the host name tells only the project. `mount` is the path of the project's root, without the slash at
    its end. `rest` are the segments after it, and empty if that slash was left out."""

    org: str | None
    project: str
    mount: str
    rest: tuple[str, ...]


class MalformedPath(ValueError):
    """Not percent-encoded UTF-8."""


@lru_cache(maxsize=8192)
def split_path_cached(raw: bytes) -> tuple[str, ...] | None:
    """As split_path, for paths that are short enough to be remembered."""
    return split_path(raw)


def split_path(raw: bytes) -> tuple[str, ...] | None:
    """The decoded segments of a path; an empty last one stands for the slash at its end. None if no file can have such a name:
    segments are split before they are decoded, so that an encoded slash names nothing."""
    if _PERCENT.search(raw):
        raise MalformedPath
    try:
        segments = tuple(unquote_to_bytes(part).decode() for part in raw.removeprefix(b"/").split(b"/"))
    except UnicodeDecodeError:
        raise MalformedPath from None
    if any(part in ("", ".", "..") for part in segments[:-1]) or segments[-1] in (".", ".."):
        return None
    return None if any(_NEVER_IN_A_NAME.search(part) for part in segments) else segments


def is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


def is_edition_slug(text: str) -> bool:
    return _EDITION.fullmatch(text) is not None


class Domains:
    """The organisations with their domains. Of two that claim the same one, the one that was created first has it."""

    def __init__(self, orgs: Iterable[Org]) -> None:
        self._subdomains: dict[str, str] = {}
        self._prefixes: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.orgs: dict[str, Org] = {}
        for org in sorted(orgs, key=lambda org: (org.date_created, org.slug)):
            self.orgs[org.slug] = org
            domain = host_of(org.base_domain)
            if domain and org.url_scheme == "subdomain":
                self._subdomains.setdefault(domain, org.slug)
            elif domain:
                prefix = tuple(part for part in path_prefix(org).split("/") if part)
                self._prefixes.setdefault(domain, []).append((prefix, org.slug))
        for prefixes in self._prefixes.values():
            prefixes.sort(key=lambda one: -len(one[0]))  # the longest one that fits is meant; a stable sort

    def covers(self, host: str) -> bool:
        """Whether this host name is an organisation's. It then serves nothing else."""
        return host in self._prefixes or host in self._subdomains or host.partition(".")[2] in self._subdomains

    def find(self, host: str, segments: Sequence[str]) -> SitePlace | None:
        """On a host name that is an organisation's."""
        project, _, domain = host.partition(".")
        if (org := self._subdomains.get(domain)) is not None:
            return _named_by_host(org, project, segments)
        for prefix, org in self._prefixes.get(host, ()):
            if tuple(segments[: len(prefix)]) == prefix and len(segments) > len(prefix):
                return _named_by_path(org, segments, len(prefix))
        return None


def find_local(host: str, segments: Sequence[str]) -> SitePlace | None:
    """On a host name that belongs to no organisation: `{project}.localhost`, `{project}.{org}.localhost`, or
    `/{org}/{project}/` on any other."""
    if host.endswith(LOCALHOST):
        project, _, org = host.removesuffix(LOCALHOST).partition(".")
        return _named_by_host(org or None, project, segments) if is_slug(org) or not org else None
    if len(segments) < 2 or not is_slug(segments[0]):
        return None
    return _named_by_path(segments[0], segments, 1)


def _named_by_host(org: str | None, project: str, segments: Sequence[str]) -> SitePlace | None:
    return SitePlace(org, project, "", tuple(segments)) if is_slug(project) else None


def _named_by_path(org: str, segments: Sequence[str], before: int) -> SitePlace | None:
    project = segments[before]
    if not is_slug(project):
        return None
    mount = "".join(f"/{part}" for part in segments[: before + 1])
    return SitePlace(org, project, mount, tuple(segments[before + 1 :]))


@lru_cache(maxsize=1024)
def host_of(address: str) -> str:
    """A host name as it is compared: in lower case, without a port and without the dot of a root."""
    try:
        return (urlsplit(f"//{address}").hostname or "").removesuffix(".")
    except ValueError:
        return ""

"""What callers may say: refs, hashes, titles, addresses, annotations. Each check raises InvalidArgument and names the field."""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from pressroom.apps.docs.domain import tracking
from pressroom.apps.docs.model import EditionKind, TrackingMode, TrackingParams
from pressroom.apps.docs.store.editions import NewEdition
from pressroom.errors import InvalidArgument

REF_LIMIT = 256  # letters of a git ref
ALTERNATE_LIMIT = 128
TITLE_LIMIT = 256
ADDRESS_LIMIT = 2_048
ANNOTATIONS = 100  # of a build
ANNOTATION_BYTES = 16 * 1024  # all of a build's as JSON
RULES_BYTES = 64 * 1024
REASON_LIMIT = 500
LONGEST_RETENTION = 10 * 366 * 24 * 3600  # seconds
SLOTS = ("publishing_store", "staging_store", "cdn_service")

# As `git check-ref-format --allow-onelevel` has it.
_REF_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(/|$)|(^|/)\.|[./]$|^[/-]|^@$")
_ALTERNATE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_HOST = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,62})?(\.[a-z0-9]([a-z0-9-]{0,62})?)*", re.IGNORECASE)
_PREFIX = re.compile(r"/|(/[A-Za-z0-9][A-Za-z0-9._~-]*)+/")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")


class MainEditionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `default_edition_config` says of the edition __main of new projects."""

    title: str = "Main"
    tracking_mode: TrackingMode = TrackingMode.GIT_REF
    tracking_params: TrackingParams | None = None
    lifecycle_exempt: bool = True


def check_ref(git_ref: str, field: str = "git_ref") -> str:
    """A branch or tag by its short name, as git allows names of refs."""
    check_text(field, git_ref, REF_LIMIT)
    if not git_ref or _REF_REFUSED.search(git_ref):
        raise InvalidArgument(f"{field}: {git_ref[:80]!r} is not a name that git allows for a branch or tag")
    return git_ref


def check_alternate_name(name: str | None) -> str | None:
    if name is not None and (len(name) > ALTERNATE_LIMIT or not _ALTERNATE.fullmatch(name)):
        raise InvalidArgument(
            f"alternate_name: {name[:80]!r} is not 1 to {ALTERNATE_LIMIT} letters, digits, dots, dashes and underscores that "
            "begin and end with a letter or digit"
        )
    return name


def check_content_hash(content_hash: str) -> str:
    if not _HASH.fullmatch(content_hash):
        raise InvalidArgument(
            f"content_hash: {content_hash[:80]!r} is not `sha256:` and 64 lower-case hexadecimal digits, the archive's hash"
        )
    return content_hash


def check_annotations(annotations: Mapping[str, Any]) -> None:
    if len(annotations) > ANNOTATIONS:
        raise InvalidArgument(f"annotations: {len(annotations)} of them; a build has at most {ANNOTATIONS}")
    check_json("annotations", dict(annotations), ANNOTATION_BYTES)
    for name in annotations:
        check_text("annotations: a name", name, 100)


def check_json(field: str, value: Any, limit: int) -> None:
    """A value that both databases can keep as JSON, and that is not too large."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except RecursionError:
        raise InvalidArgument(f"{field}: nested too deeply") from None
    except (TypeError, ValueError) as reason:  # UnicodeEncodeError is one
        raise InvalidArgument(f"{field}: cannot be kept as JSON: {str(reason)[:200]}") from None
    if size > limit:
        raise InvalidArgument(f"{field}: {size:,} bytes as JSON; the limit is {limit:,}")
    if "\\u0000" in text:
        raise InvalidArgument(f"{field}: holds a NUL character")


def check_title(title: str, default: str) -> str:
    check_text("title", title, TITLE_LIMIT)
    return title.strip() or default


def check_text(field: str, text: str, limit: int) -> None:
    if len(text) > limit:
        raise InvalidArgument(f"{field}: {len(text):,} letters; the limit is {limit:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{field}: is not valid Unicode") from None
    if any(unicodedata.category(letter) == "Cc" for letter in text):
        raise InvalidArgument(f"{field}: holds a control character")


def check_reason(reason: str) -> str:
    check_text("reason", reason, REASON_LIMIT)
    return reason


def check_base_domain(domain: str) -> str:
    """A host, with a port if need be; a scheme before it and a slash after it are dropped."""
    bare = domain.strip().removeprefix("https://").removeprefix("http://").rstrip("/").lower()
    if not bare:
        return ""
    host, _, port = bare.partition(":")
    if not _HOST.fullmatch(host) or (port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536)):
        raise InvalidArgument(f"base_domain: {domain[:80]!r} is not a host name such as docs.example.org")
    return bare


def check_url_scheme(scheme: str) -> str:
    if scheme not in ("subdomain", "path_prefix"):
        raise InvalidArgument(f"url_scheme: {scheme[:80]!r} is not subdomain or path_prefix")
    return scheme


def check_root_path_prefix(prefix: str) -> str:
    normal = f"/{prefix.strip('/')}/" if prefix.strip("/") else "/"
    if len(normal) > 256 or not _PREFIX.fullmatch(normal):
        raise InvalidArgument(f"root_path_prefix: {prefix[:80]!r} is not a path such as /docs/")
    return normal


def check_retention(field: str, seconds: int) -> int:
    if not 0 <= seconds <= LONGEST_RETENTION:
        raise InvalidArgument(f"{field}: {seconds} is not 0 to {LONGEST_RETENTION:,} seconds")
    return seconds


def check_slots(slots: Mapping[str, str]) -> dict[str, str]:
    for slot, label in slots.items():
        if slot not in SLOTS:
            raise InvalidArgument(f"slots: there is no slot {slot[:80]!r}; there are {', '.join(SLOTS)}")
        if len(label) > 128 or not _LABEL.fullmatch(label):
            raise InvalidArgument(f"slots.{slot}: {label[:80]!r} is not the label of a service")
    return dict(slots)


def check_source_url(url: str) -> str:
    check_text("source_url", url, ADDRESS_LIMIT)
    if url and not _is_web_address(url):
        raise InvalidArgument(f"source_url: {url[:80]!r} is not an address that begins with https:// or http://")
    return url


def check_git_url(url: str) -> str:
    """Its form. Whether its host may be asked is looked at before each connection."""
    check_text("git_url", url, ADDRESS_LIMIT)
    if url and (url.startswith("-") or " " in url):
        raise InvalidArgument(f"git_url: {url[:80]!r} is not the address of a git repository")
    authority = re.split(r"[/?#]", url.partition("://")[2])[0]
    if "@" in authority and (url.lower().startswith("http") or ":" in authority.rpartition("@")[0]):
        raise InvalidArgument(
            "git_url: the address holds a user name, password or token, which readers of the project would see; leave it out"
        )
    return url


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def check_on_broken_links(choice: str) -> str:
    if choice not in ("warn", "hold"):
        raise InvalidArgument(f"on_broken_links: {choice[:80]!r} is not warn or hold")
    return choice


def check_tracking(mode: TrackingMode, params: TrackingParams) -> None:
    """A mode needs its parameters, and takes no others."""
    tracking.check_tracking(mode, params)
    if params.git_ref is not None:
        check_ref(params.git_ref, "tracking_params.git_ref")
    check_alternate_name(params.alternate_name)


def check_kind_of_slug(kind: EditionKind) -> None:
    """Of every edition but __main, whose slug no caller may give."""
    if kind is EditionKind.MAIN:
        raise InvalidArgument("kind: main is the kind of the edition __main alone")


def main_edition(*configs: Mapping[str, Any] | None) -> NewEdition:
    """The edition __main by the first config that is given. Raises InvalidArgument for one that is wrong."""
    given = next((config for config in configs if config is not None), {})
    try:
        config = msgspec.convert(given, MainEditionConfig)
    except msgspec.ValidationError as reason:
        raise InvalidArgument(f"default_edition_config: {reason}") from None
    params = config.tracking_params
    if params is None:
        params = TrackingParams(git_ref="main") if config.tracking_mode is TrackingMode.GIT_REF else TrackingParams()
    check_tracking(config.tracking_mode, params)
    return NewEdition(
        slug="__main",
        title=check_title(config.title, "Main"),
        kind=EditionKind.MAIN,
        tracking_mode=config.tracking_mode,
        tracking_params=params,
        lifecycle_exempt=config.lifecycle_exempt,
    )

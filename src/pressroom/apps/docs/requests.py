"""What callers send, over HTTP and from pages and commands. Unknown fields are refused."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pressroom.apps.docs.model import AutoCreate, EditionKind, TrackingMode, TrackingParams

type Rules = list[dict[str, Any]]


class OrgDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: str
    title: str = ""
    base_domain: str = ""
    url_scheme: str = "path_prefix"
    root_path_prefix: str = "/"
    slug_rewrite_rules: Rules = []
    lifecycle_rules: Rules = []
    auto_create: AutoCreate = AutoCreate()
    default_edition_config: dict[str, Any] | None = None
    purgatory_retention: int = 30 * 24 * 3600
    is_private: bool = False


class OrgChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str | UnsetType = UNSET
    base_domain: str | UnsetType = UNSET
    url_scheme: str | UnsetType = UNSET
    root_path_prefix: str | UnsetType = UNSET
    slug_rewrite_rules: Rules | UnsetType = UNSET
    lifecycle_rules: Rules | UnsetType = UNSET
    auto_create: AutoCreate | UnsetType = UNSET
    default_edition_config: dict[str, Any] | UnsetType | None = UNSET
    purgatory_retention: int | UnsetType = UNSET
    is_private: bool | UnsetType = UNSET
    slots: dict[str, str] | UnsetType = UNSET


class ProjectDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None means that the organisation's value holds."""

    slug: str
    title: str = ""
    source_url: str = ""
    git_url: str = ""
    slug_rewrite_rules: Rules | None = None
    lifecycle_rules: Rules | None = None
    auto_create: AutoCreate | None = None
    purgatory_retention: int | None = None
    on_broken_links: str = "warn"
    noindex: list[EditionKind] = []
    default_edition_config: dict[str, Any] | None = None  # of its edition __main


class ProjectChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: str | UnsetType = UNSET
    source_url: str | UnsetType = UNSET
    git_url: str | UnsetType = UNSET
    slug_rewrite_rules: Rules | UnsetType | None = UNSET
    lifecycle_rules: Rules | UnsetType | None = UNSET
    auto_create: AutoCreate | UnsetType | None = UNSET
    purgatory_retention: int | UnsetType | None = UNSET
    on_broken_links: str | UnsetType = UNSET
    noindex: list[EditionKind] | UnsetType = UNSET


class BuildDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    git_ref: str
    content_hash: str  # of the archive: "sha256:" and 64 hexadecimal digits
    alternate_name: str | None = None
    annotations: dict[str, Any] = {}


class EditionDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    slug: str
    title: str = ""
    kind: EditionKind = EditionKind.DRAFT
    tracking_mode: TrackingMode = TrackingMode.GIT_REF
    tracking_params: TrackingParams = TrackingParams()
    lifecycle_exempt: bool = False
    pinned: bool = False


class EditionChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`build` makes the edition show a build of its project, whatever it tracks; that is a job (Q25)."""

    title: str | UnsetType = UNSET
    kind: EditionKind | UnsetType = UNSET
    tracking_mode: TrackingMode | UnsetType = UNSET
    tracking_params: TrackingParams | UnsetType = UNSET
    lifecycle_exempt: bool | UnsetType = UNSET
    pinned: bool | UnsetType = UNSET
    build: str | UnsetType = UNSET


class Rollback(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """To a build that the edition has shown before. It stays there, unless `pinned` is false."""

    build: str
    pinned: bool = True


class TemplateDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a dashboard template is: a folder of a git repository at a branch or tag. `owner` and `repo` are short for the
    address of a repository on GitHub."""

    git_url: str = ""
    ref: str = "main"
    root_path: str = "/"
    owner: str = ""
    repo: str = ""

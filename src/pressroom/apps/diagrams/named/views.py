"""Named diagrams as the API takes and shows them."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pressroom.api.service import Service
from pressroom.apps.diagrams.named.diagrams import VersionHistory
from pressroom.apps.diagrams.named.embed_keys import embed_key
from pressroom.apps.diagrams.named.versions import DiagramSummary, NamedDiagram, Version
from pressroom.apps.diagrams.requests import Word
from pressroom.model import from_ms


class NewVersion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: Annotated[str, Meta(min_length=1)]
    format: Word
    options: dict[str, Any] = {}
    engine: Word | None = None


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """`superseded`: a newer version came before this one was rendered. A background job renders it afterwards."""

    number: int
    status: str
    format: str
    url: str
    error: str | None
    line: int | None
    column: int | None
    jobId: str | None  # noqa: N815
    createdAt: datetime  # noqa: N815
    settledAt: datetime | None  # noqa: N815


class NamedView(msgspec.Struct, frozen=True, kw_only=True):
    """`url` shows the latest good version, `good`. `embed` does so for those who have no token.

    `versions` are the latest fifty; the header `Link` leads to those before.
    """

    name: str
    version: int
    status: str
    good: int | None
    url: str
    embed: str
    source: str
    format: str
    options: dict[str, Any]
    engine: str | None
    createdAt: datetime  # noqa: N815
    changedAt: datetime  # noqa: N815
    versions: list[VersionView]


class NamedLine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    version: int
    status: str
    good: int | None
    format: str
    url: str
    createdAt: datetime  # noqa: N815
    changedAt: datetime  # noqa: N815


class NamedList(msgspec.Struct, frozen=True):
    items: list[NamedLine]
    next_cursor: str | None


def diagram_view(service: Service, named: NamedDiagram, history: VersionHistory) -> NamedView:
    newest = history.versions[0]
    url = f"{service.base_url}/a/{named.name}.svg"
    key = embed_key(named, service.keyring)
    return NamedView(
        name=named.name,
        version=newest.number,
        status=newest.status,
        good=history.good,
        url=url,
        embed=f"{url}?key={key}" if key else url,
        source=newest.text.source,
        format=newest.text.format,
        options=newest.text.options,
        engine=newest.text.engine,
        createdAt=from_ms(named.date_created),
        changedAt=from_ms(newest.date_created),
        versions=[_version_view(service, named, version) for version in history.versions],
    )


def _version_view(service: Service, named: NamedDiagram, version: Version) -> VersionView:
    error = version.error or {}
    return VersionView(
        number=version.number,
        status=version.status,
        format=version.text.format,
        url=f"{service.base_url}/a/{named.name}@{version.number}.svg",
        error=error.get("message"),
        line=error.get("line"),
        column=error.get("column"),
        jobId=version.job_uid and f"job_{version.job_uid}",
        createdAt=from_ms(version.date_created),
        settledAt=None if version.date_settled is None else from_ms(version.date_settled),
    )


def list_item(service: Service, one: DiagramSummary) -> NamedLine:
    return NamedLine(
        name=one.named.name,
        version=one.newest,
        status=one.status,
        good=one.good,
        format=one.format,
        url=f"{service.base_url}/a/{one.named.name}.svg",
        createdAt=from_ms(one.named.date_created),
        changedAt=from_ms(one.date_changed),
    )

"""Named diagrams in the database: units of work over names, versions and pictures."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from pressroom.apps.diagrams.named.etags import ANY, Condition, version_tag
from pressroom.errors import NotFound, VersionGone
from pressroom.model import Ending, Row, Statement, Status, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, link_digest, new_link
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 62
PRUNED_AT_ONCE = 100


class NamedDiagram(msgspec.Struct, frozen=True):
    """`link` and `sealed_link` are the key for those who show the picture without a token, as embed_keys.py says."""

    id: int
    org_id: str
    name: str
    link: str
    date_created: int
    sealed_link: str | None = None

    @property
    def holder(self) -> str:
        return f"diagram:{self.id}"


class DiagramText(msgspec.Struct, frozen=True):
    """What a version is made of."""

    source: str
    format: str
    options: dict[str, Any]
    engine: str | None = None


class Version(msgspec.Struct, frozen=True):
    number: int
    text: DiagramText
    status: str
    error: dict[str, Any] | None
    job_uid: str | None
    date_created: int
    date_settled: int | None


class DiagramSummary(msgspec.Struct, frozen=True):
    named: NamedDiagram
    newest: int
    status: str
    format: str
    date_changed: int
    good: int | None


class PictureTarget(msgspec.Struct, frozen=True):
    """The picture that a job renders, in its payload under `mark`. The `first` picture settles its version."""

    diagram: int
    number: int
    theme: str
    first: bool = False


def add_version(
    org_id: str, name: str, text: DiagramText, condition: Condition = ANY, *, key: Mapping[str, str | None] | None = None
) -> Work[tuple[NamedDiagram, Version, bool]]:
    """The version that holds this text, and whether it is a new one. The same text again is the same version.

    A client that repeats a request whose response was lost is not refused. `key` are the columns of the embed key,
    if the diagram is a new one.
    """
    moment = yield from now()
    key = key or {"link": new_link(), "sealed_link": None}
    yield Statement("diagrams.insert_diagram", {"org_id": org_id, "name": name, "now": moment, **key})
    named = yield from find_diagram(org_id, name)
    before = yield from list_versions(named, 1)
    is_there = bool(before) and before[0].text == text and before[0].status in ("pending", "completed")
    newest = before[0].number if before else 0
    state = version_tag(named.link, newest) if before else None
    (condition._replace(wanted=None) if is_there else condition).check(name, state, newest)
    if is_there:
        return named, before[0], False
    number = newest + 1
    yield Statement(
        "diagrams.insert_diagram_version",
        {
            "diagram": named.id,
            "number": number,
            "source": text.source,
            "format": text.format,
            "options": compact(text.options),
            "engine": text.engine,
            "now": moment,
        },
    )
    return named, (yield from get_version(named, number)), True


def set_version_job(named: NamedDiagram, number: int, job: str) -> Work[list[Version]]:
    """Store the job of a version. Returns older versions that had the same job: it renders the newer text now, and they
    need another."""
    yield Statement("diagrams.set_version_job", {"diagram": named.id, "number": number, "job_uid": job})
    rows = yield Statement("diagrams.list_displaced_versions", {"diagram": named.id, "number": number, "job_uid": job})
    return [_version_of_row(row) for row in rows]


def prune_versions(named: NamedDiagram, newest: int, keep: int) -> Work[None]:
    """Delete all but the newest `keep` versions and the latest good one."""
    shown = yield from find_good_version(named)
    bounds = {"last": newest - keep, "good": shown.number if shown else 0, "limit": PRUNED_AT_ONCE}
    if (yield Statement("diagrams.prune_diagram_versions", {"diagram": named.id, **bounds})):
        yield Statement("diagrams.release_lost_pictures", {"diagram": named.id, "holder": named.holder})


def find_diagram(org_id: str, name: str) -> Work[NamedDiagram]:
    rows = yield Statement("diagrams.find_diagram", {"org_id": org_id, "name": name})
    if not rows:
        raise NotFound(f"there is no diagram {name[:100]!r}")
    return NamedDiagram(*rows[0])


def find_by_link(name: str, link: str) -> Work[NamedDiagram]:
    rows = yield Statement("diagrams.find_diagram_by_link", {"name": name, "link": link, "digest": link_digest(link)})
    if not rows:
        raise NotFound(f"there is no diagram {name[:100]!r}")
    return NamedDiagram(*rows[0])


def get_version(named: NamedDiagram, number: int) -> Work[Version]:
    """Numbers are given in order, so one that is missing below the newest was there once."""
    rows = yield Statement("diagrams.find_diagram_version", {"diagram": named.id, "number": number})
    if rows:
        return _version_of_row(rows[0])
    newest = yield from list_versions(named, 1)
    if newest and number < newest[0].number:
        raise VersionGone(f"version {number} of {named.name} is no longer kept")
    raise NotFound(f"{named.name} has no version {number}")


def list_versions(named: NamedDiagram, limit: int, at: int | None = None) -> Work[list[Version]]:
    """Newest first, or from the version `at` downwards."""
    before = BEYOND if at is None else at + 1
    rows = yield Statement("diagrams.list_diagram_versions", {"diagram": named.id, "before": before, "limit": limit})
    return [_version_of_row(row) for row in rows]


def find_good_version(named: NamedDiagram) -> Work[Version | None]:
    rows = yield Statement("diagrams.find_good_version", {"diagram": named.id})
    return _version_of_row(rows[0]) if rows else None


def list_summaries(org_id: str, after: str, limit: int) -> Work[list[DiagramSummary]]:
    rows = yield Statement("diagrams.list_diagrams", {"org_id": org_id, "after": after, "limit": limit})
    return [DiagramSummary(NamedDiagram(*row[:6]), row[6], row[7], row[8], row[9], row[10]) for row in rows]


def find_picture(named: NamedDiagram, output: str, theme: str, number: int | None = None) -> Work[tuple[int, Artifact] | None]:
    """The picture of one version, or the newest of any."""
    asked: dict[str, str | int] = {"diagram": named.id, "output": output, "theme": theme}
    if number is None:
        rows = yield Statement("diagrams.find_latest_picture", asked)
    else:
        rows = yield Statement("diagrams.find_diagram_picture", asked | {"number": number})
    if not rows:
        return None
    return rows[0][0], (yield from artifacts.get(rows[0][1]))


def delete_diagram(named: NamedDiagram, condition: Condition = ANY) -> Work[None]:
    """The name with all its versions. Artifact cleanup deletes its pictures."""
    newest = (yield from list_versions(named, 1))[0].number
    condition.check(named.name, version_tag(named.link, newest), newest)
    yield Statement("diagrams.delete_diagram", {"id": named.id})
    yield from artifacts.release(named.holder)


def settle(ending: Ending) -> Work[None]:
    """In the transaction that ends a job: its picture belongs to its version, and is held for as long as the name stands."""
    target = _picture_target(ending.payload)
    if target is None:
        return
    # A payload is the caller's own words: it may name a diagram that is not theirs.
    if not (yield Statement("diagrams.owns_diagram", {"diagram": target.diagram, "org_id": ending.org_id or ""})):
        return
    moment = yield from now()
    place = {"diagram": target.diagram, "number": target.number, "now": moment}
    if ending.result is not None:
        artifact = ending.result["artifact"]
        output = ending.payload["output"]
        picture = place | {"output": output, "theme": target.theme, "artifact": artifact}
        if (yield Statement("diagrams.insert_diagram_picture", picture)):
            yield from artifacts.hold(f"diagram:{target.diagram}", artifact)
    if target.first:
        yield Statement("diagrams.settle_diagram_version", place | _outcome_columns(ending))


def _outcome_columns(ending: Ending) -> dict[str, str | None]:
    if ending.result is not None:
        return {"status": "completed", "error": None}
    error = ending.error or {"code": "cancelled", "message": "cancelled"}
    if ending.status is Status.CANCELLED and error.get("code") == "superseded":
        return {"status": "superseded", "error": None}
    return {"status": "failed", "error": compact({name: value for name, value in error.items() if name != "detail"})}


def _picture_target(payload: Any) -> PictureTarget | None:
    if not isinstance(payload, Mapping) or "mark" not in payload:
        return None
    try:
        return msgspec.convert(payload["mark"], PictureTarget)
    except msgspec.ValidationError:
        return None


def _version_of_row(row: Row) -> Version:
    number, source, format, options, engine, status, error, job_uid, created, settled = row
    text = DiagramText(source, format, json.loads(options), engine)
    return Version(number, text, status, json.loads(error) if error else None, job_uid, created, settled)

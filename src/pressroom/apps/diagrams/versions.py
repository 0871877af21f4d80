"""Named diagrams in the database: units of work over names, versions and pictures."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from pressroom.apps.diagrams.named_tags import ANY, Condition, state_of
from pressroom.errors import NotFound, VersionGone
from pressroom.model import Ending, Row, Statement, Status, Work
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact, link_digest, new_link
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

BEYOND = 1 << 62
PRUNED_AT_ONCE = 100


class Named(msgspec.Struct, frozen=True):
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


class Text(msgspec.Struct, frozen=True):
    """What a version is made of."""

    source: str
    format: str
    options: dict[str, Any]
    engine: str | None = None


class Version(msgspec.Struct, frozen=True):
    number: int
    text: Text
    status: str
    error: dict[str, Any] | None
    job_uid: str | None
    date_created: int
    date_settled: int | None


class Summary(msgspec.Struct, frozen=True):
    named: Named
    newest: int
    status: str
    format: str
    date_changed: int
    good: int | None


class Mark(msgspec.Struct, frozen=True):
    """Which picture a job makes. It travels in the payload; `first` is the one by which its version is settled."""

    diagram: int
    number: int
    theme: str
    first: bool = False


def add(
    org_id: str, name: str, text: Text, condition: Condition = ANY, *, key: Mapping[str, str | None] | None = None
) -> Work[tuple[Named, Version, bool]]:
    """The version that holds this text, and whether it is a new one. The same text again is the same version.

    Whoever sends it again because no answer came is not refused for having succeeded. `key` are the columns of the embed key,
    if the diagram is a new one.
    """
    moment = yield from now()
    key = key or {"link": new_link(), "sealed_link": None}
    yield Statement("diagrams.insert_diagram", {"org_id": org_id, "name": name, "now": moment, **key})
    named = yield from find(org_id, name)
    before = yield from latest(named, 1)
    is_there = bool(before) and before[0].text == text and before[0].status in ("pending", "completed")
    newest = before[0].number if before else 0
    state = state_of(named.link, newest) if before else None
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
    return named, (yield from version(named, number)), True


def point(named: Named, number: int, job: str) -> Work[list[Version]]:
    """Let a version name its job. Returns older ones that had the same job: it renders the newer text now, and they need
    another."""
    yield Statement("diagrams.point_diagram_version", {"diagram": named.id, "number": number, "job_uid": job})
    rows = yield Statement("diagrams.list_displaced_versions", {"diagram": named.id, "number": number, "job_uid": job})
    return [_version(row) for row in rows]


def prune(named: Named, newest: int, keep: int) -> Work[None]:
    """Let only so many versions stay, and the latest good one whichever it is."""
    shown = yield from good(named)
    bounds = {"last": newest - keep, "good": shown.number if shown else 0, "limit": PRUNED_AT_ONCE}
    if (yield Statement("diagrams.prune_diagram_versions", {"diagram": named.id, **bounds})):
        yield Statement("diagrams.release_lost_pictures", {"diagram": named.id, "holder": named.holder})


def find(org_id: str, name: str) -> Work[Named]:
    rows = yield Statement("diagrams.find_diagram", {"org_id": org_id, "name": name})
    if not rows:
        raise NotFound(f"there is no diagram {name[:100]!r}")
    return Named(*rows[0])


def find_by_link(name: str, link: str) -> Work[Named]:
    rows = yield Statement("diagrams.find_diagram_by_link", {"name": name, "link": link, "digest": link_digest(link)})
    if not rows:
        raise NotFound(f"there is no diagram {name[:100]!r}")
    return Named(*rows[0])


def version(named: Named, number: int) -> Work[Version]:
    """Numbers are given in order, so one that is missing below the newest was there once."""
    rows = yield Statement("diagrams.find_diagram_version", {"diagram": named.id, "number": number})
    if rows:
        return _version(rows[0])
    newest = yield from latest(named, 1)
    if newest and number < newest[0].number:
        raise VersionGone(f"version {number} of {named.name} is no longer kept")
    raise NotFound(f"{named.name} has no version {number}")


def latest(named: Named, limit: int, at: int | None = None) -> Work[list[Version]]:
    """Newest first, or from the version `at` downwards."""
    before = BEYOND if at is None else at + 1
    rows = yield Statement("diagrams.list_diagram_versions", {"diagram": named.id, "before": before, "limit": limit})
    return [_version(row) for row in rows]


def good(named: Named) -> Work[Version | None]:
    rows = yield Statement("diagrams.find_good_version", {"diagram": named.id})
    return _version(rows[0]) if rows else None


def summaries(org_id: str, after: str, limit: int) -> Work[list[Summary]]:
    rows = yield Statement("diagrams.list_diagrams", {"org_id": org_id, "after": after, "limit": limit})
    return [Summary(Named(*row[:6]), row[6], row[7], row[8], row[9], row[10]) for row in rows]


def picture(named: Named, output: str, theme: str, number: int | None = None) -> Work[tuple[int, Artifact] | None]:
    """The picture of one version, or the newest of any."""
    asked: dict[str, str | int] = {"diagram": named.id, "output": output, "theme": theme}
    if number is None:
        rows = yield Statement("diagrams.find_latest_picture", asked)
    else:
        rows = yield Statement("diagrams.find_diagram_picture", asked | {"number": number})
    if not rows:
        return None
    return rows[0][0], (yield from artifacts.get(rows[0][1]))


def delete(named: Named, condition: Condition = ANY) -> Work[None]:
    """The name with all its versions. Its pictures go when the collector comes."""
    newest = (yield from latest(named, 1))[0].number
    condition.check(named.name, state_of(named.link, newest), newest)
    yield Statement("diagrams.delete_diagram", {"id": named.id})
    yield from artifacts.release(named.holder)


def settle(ending: Ending) -> Work[None]:
    """In the transaction that ends a job: its picture belongs to its version, and is held for as long as the name stands."""
    mark = _mark(ending.payload)
    if mark is None:
        return
    # A payload is the caller's own words: it may name a diagram that is not theirs.
    if not (yield Statement("diagrams.owns_diagram", {"diagram": mark.diagram, "org_id": ending.org_id or ""})):
        return
    moment = yield from now()
    place = {"diagram": mark.diagram, "number": mark.number, "now": moment}
    if ending.result is not None:
        artifact = ending.result["artifact"]
        output = ending.payload["output"]
        picture = place | {"output": output, "theme": mark.theme, "artifact": artifact}
        if (yield Statement("diagrams.insert_diagram_picture", picture)):
            yield from artifacts.hold(f"diagram:{mark.diagram}", artifact)
    if mark.first:
        yield Statement("diagrams.settle_diagram_version", place | _told(ending))


def _told(ending: Ending) -> dict[str, str | None]:
    if ending.result is not None:
        return {"status": "completed", "error": None}
    error = ending.error or {"code": "cancelled", "message": "cancelled"}
    if ending.status is Status.CANCELLED and error.get("code") == "superseded":
        return {"status": "superseded", "error": None}
    return {"status": "failed", "error": compact({name: value for name, value in error.items() if name != "detail"})}


def _mark(payload: Any) -> Mark | None:
    if not isinstance(payload, Mapping) or "mark" not in payload:
        return None
    try:
        return msgspec.convert(payload["mark"], Mark)
    except msgspec.ValidationError:
        return None


def _version(row: Row) -> Version:
    number, source, format, options, engine, status, error, job_uid, created, settled = row
    text = Text(source, format, json.loads(options), engine)
    return Version(number, text, status, json.loads(error) if error else None, job_uid, created, settled)

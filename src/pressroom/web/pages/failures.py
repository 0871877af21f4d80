"""What fails, by what the errors have in common."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.base.failure_signature import normalize_message
from pressroom.errors import NotFound
from pressroom.store.jobs import queries
from pressroom.store.operators import failures
from pressroom.store.operators.failures import (
    FailureGroup,
    FailureOrigin,
    FailureSample,
    FailureWindow,
    WindowBars,
    parse_engines,
)
from pressroom.web.formatting import format_time
from pressroom.web.selection import DEFAULT_ORG
from pressroom.web.site import PageRequest, Site, page_error

PAGE_SIZE = 25  # groups
CONTEXT_LINES = 2  # lines before and after the one that is wrong
MAX_LINE_LENGTH = 200  # letters of a line of source
HOUR = 3_600_000  # milliseconds

WINDOWS = {
    "1h": FailureWindow(HOUR, 12),
    "24h": FailureWindow(24 * HOUR, 24),
    "7d": FailureWindow(7 * 24 * HOUR, 28),
    "all": FailureWindow(None, 24),
}
TITLES = {"1h": "the last hour", "24h": "the last 24 hours", "7d": "the last 7 days", "all": "all that is kept"}
ORDERS = {"last": "last seen", "count": "count"}
_SIGNATURE = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class FailureQuery:
    window: str
    sort: str
    kind: str
    org: str
    page: int

    def fields(self, **other: Any) -> dict[str, Any]:
        """As an address asks for it. What is usual is left out."""
        fields = {"window": self.window, "sort": self.sort, "kind": self.kind, "org": self.org, "page": self.page} | other
        usual = {"window": "24h", "sort": "last", "page": 1}
        return {name: value for name, value in fields.items() if value != usual.get(name, "")}


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/failures", show_all)
    site.get(routes, "/desk/failures/{print}", show_one)
    return routes


async def show_all(request: PageRequest) -> Response:
    query = _parse_query(request)
    org_id = _org_of(request, query)
    groups = await request.read(partial(failures.list_groups, WINDOWS[query.window], org_id))
    matching = sorted((one for one in groups.items if query.kind in ("", one.kind)), key=_sort_key(query.sort), reverse=True)
    shown = matching[(query.page - 1) * PAGE_SIZE : query.page * PAGE_SIZE]
    samples, origins = await request.read(partial(failures.load_samples, shown, org_id))
    return request.page(
        "failures.html",
        asked=query,
        found=groups,
        groups=[_group_row(one, groups, samples.get(one.print), origins.get(one.print)) for one in shown],
        matching=len(matching),
        more=len(matching) > query.page * PAGE_SIZE,
        kinds=sorted({one.kind for one in groups.items} | ({query.kind} - {""})),
        titles=TITLES,
        orders=ORDERS,
    )


async def show_one(request: PageRequest, print: str) -> Response:
    query = _parse_query(request)
    if not _SIGNATURE.fullmatch(print):
        raise NotFound(f"there are no failures {print[:50]}; a group is named by 16 letters, 0 to 9 and a to f")
    story = await request.read(partial(failures.load_details, print, WINDOWS[query.window], _org_of(request, query)))
    sample = next((one for one in story.newest if one.error.get("line")), story.newest[0])
    return request.page(
        "failure.html",
        asked=query,
        print=print,
        story=story,
        sample=sample,
        message=message_of(sample),
        bars=_chart_bars(story.columns, story.span),
        origin=_describe_origin(story.origin),
        excerpt=await _source_excerpt(request.site, sample),
        titles=TITLES,
    )


def _parse_query(request: PageRequest) -> FailureQuery:
    given = request.http.query_params
    window, sort = given.get("window") or "24h", given.get("sort") or "last"
    if window not in WINDOWS:
        raise page_error(f"window is one of {', '.join(WINDOWS)}")
    if sort not in ORDERS:
        raise page_error(f"sort is one of {', '.join(ORDERS)}")
    page = given.get("page") or "1"
    if not re.fullmatch("[1-9][0-9]{0,3}", page):
        raise page_error("page is a number from 1 to 9999")
    kind, org = given.get("kind", ""), given.get("org", "")
    if len(kind) > 100 or len(org) > 512 or "\0" in kind + org:
        raise page_error("kind has up to 100 letters, org up to 512, and neither has a NUL")
    return FailureQuery(window, sort, kind, org, int(page))


def _org_of(request: PageRequest, query: FailureQuery) -> str | None:
    """Members see their own, whatever they ask for."""
    if request.org_id is not None or not query.org:
        return request.org_id
    return "" if query.org == DEFAULT_ORG else query.org


def _sort_key(sort: str) -> Any:
    return (lambda one: (one.count, one.last)) if sort == "count" else (lambda one: (one.last, one.count))


def _group_row(
    group: FailureGroup, groups: failures.FailureGroups, sample: FailureSample | None, origin: FailureOrigin | None
) -> dict[str, Any]:
    return {
        "group": group,
        "sample": sample,
        "message": message_of(sample) if sample else "",
        "code": sample.error.get("code", "") if sample else "",
        "share": group.count / groups.total,
        "first": origin.first.ended if origin else None,
        "origin": _describe_origin(origin),
        "bars": _chart_bars(group.columns, groups.span),
    }


def message_of(failure: FailureSample) -> str:
    return normalize_message(failure.error.get("message", "")) or "(no message)"


def _chart_bars(columns: list[int], span: WindowBars) -> list[tuple[str, int, int]]:
    return [(format_time(span.bar_start(index)), count, 0) for index, count in enumerate(columns)]


def _describe_origin(origin: FailureOrigin | None) -> dict[str, str] | None:
    """The version that failed first, and what is known of the one before it, in words."""
    if origin is None or origin.first.version is None:
        return None
    version, before = origin.first.version, origin.before
    if before is None:
        return {"version": version, "short": _short_version(version), "words": ""}
    if before == version:
        return {"version": version, "short": _short_version(version), "words": "last success shortly before"}
    old, new = set(_version_parts(before)), set(_version_parts(version))
    replaced = ", ".join(one for one in _version_parts(before) if one not in new) or before
    return {
        "version": version,
        "short": ", ".join(one for one in _version_parts(version) if one not in old) or _short_version(version),
        "words": f"the version before had none ({replaced})",
    }


def _version_parts(version: str) -> list[str]:
    return [part for rest in parse_engines(version).values() for part in rest.split(", ")]


def _short_version(version: str) -> str:
    """The engine's own version, without those of what it is made of."""
    return "; ".join(f"{name}: {rest.split(', ')[0]}" if rest else name for name, rest in parse_engines(version).items())


async def _source_excerpt(site: Site, failure: FailureSample) -> list[tuple[int, str, bool]]:
    """The lines around the one that is wrong, each with its number; from the error if the source is not with the job."""
    line = failure.error.get("line")
    if not isinstance(line, int) or line < 1:
        return []
    try:
        payload = (await site.service.rendering.database.read(partial(queries.get, failure.uid))).payload
    except NotFound:  # its retention ended just now
        payload = None
    source = payload.get("source") if isinstance(payload, dict) else None
    lines = source.splitlines() if isinstance(source, str) else []
    if line > len(lines):
        excerpt = failure.error.get("excerpt")
        return [(line, str(excerpt)[:MAX_LINE_LENGTH], True)] if excerpt else []
    first = max(1, line - CONTEXT_LINES)
    return [
        (number, text[:MAX_LINE_LENGTH], number == line)
        for number, text in enumerate(lines[first - 1 : line + CONTEXT_LINES], first)
    ]

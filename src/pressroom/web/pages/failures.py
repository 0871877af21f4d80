"""What fails, by what the errors have in common."""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.routes import Routes
from pressroom.errors import NotFound
from pressroom.likeness import alike
from pressroom.store.jobs import queries
from pressroom.store.operators import failures
from pressroom.store.operators.failures import FailureSample, Group, Origin, Span, Window, engines_in
from pressroom.web.chosen import DEFAULT_ORG
from pressroom.web.desk import Desk, Visit, refuse
from pressroom.web.words import exact

PAGE = 25  # groups
AROUND = 2  # lines before and after the one that is wrong
LONGEST = 200  # letters of a line of source
HOUR = 3_600_000  # milliseconds

WINDOWS = {"1h": Window(HOUR, 12), "24h": Window(24 * HOUR, 24), "7d": Window(7 * 24 * HOUR, 28), "all": Window(None, 24)}
TITLES = {"1h": "the last hour", "24h": "the last 24 hours", "7d": "the last 7 days", "all": "all that is kept"}
ORDERS = {"last": "last seen", "count": "count"}
_PRINT = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Asked:
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


def router(desk: Desk) -> Routes:
    routes = Routes()
    read = desk.service.rendering.database.read

    async def show_all(visit: Visit) -> Response:
        asked = _asked(visit)
        org_id = _org_of(visit, asked)
        found = await read(partial(failures.groups, WINDOWS[asked.window], org_id))
        chosen = sorted((one for one in found.items if asked.kind in ("", one.kind)), key=_order(asked.sort), reverse=True)
        shown = chosen[(asked.page - 1) * PAGE : asked.page * PAGE]
        samples, origins = await read(partial(failures.samples, shown, org_id))
        return visit.page(
            "failures.html",
            asked=asked,
            found=found,
            groups=[_line(one, found, samples.get(one.print), origins.get(one.print)) for one in shown],
            matching=len(chosen),
            more=len(chosen) > asked.page * PAGE,
            kinds=sorted({one.kind for one in found.items} | ({asked.kind} - {""})),
            titles=TITLES,
            orders=ORDERS,
        )

    async def show_one(visit: Visit, print: str) -> Response:
        asked = _asked(visit)
        if not _PRINT.fullmatch(print):
            raise NotFound(f"there are no failures {print[:50]}; a group is named by 16 letters, 0 to 9 and a to f")
        story = await read(partial(failures.story, print, WINDOWS[asked.window], _org_of(visit, asked)))
        sample = next((one for one in story.newest if one.error.get("line")), story.newest[0])
        return visit.page(
            "failure.html",
            asked=asked,
            print=print,
            story=story,
            sample=sample,
            message=message_of(sample),
            bars=_bars(story.columns, story.span),
            origin=_origin(story.origin),
            excerpt=await _excerpt(desk, sample),
            titles=TITLES,
        )

    desk.get(routes, "/desk/failures", show_all)
    desk.get(routes, "/desk/failures/{print}", show_one)
    return routes


def _asked(visit: Visit) -> Asked:
    given = visit.request.query_params
    window, sort = given.get("window") or "24h", given.get("sort") or "last"
    if window not in WINDOWS:
        raise refuse(f"window is one of {', '.join(WINDOWS)}")
    if sort not in ORDERS:
        raise refuse(f"sort is one of {', '.join(ORDERS)}")
    page = given.get("page") or "1"
    if not re.fullmatch("[1-9][0-9]{0,3}", page):
        raise refuse("page is a number from 1 to 9999")
    kind, org = given.get("kind", ""), given.get("org", "")
    if len(kind) > 100 or len(org) > 512 or "\0" in kind + org:
        raise refuse("kind has up to 100 letters, org up to 512, and neither has a NUL")
    return Asked(window, sort, kind, org, int(page))


def _org_of(visit: Visit, asked: Asked) -> str | None:
    """Members see their own, whatever they ask for."""
    if visit.org_id is not None or not asked.org:
        return visit.org_id
    return "" if asked.org == DEFAULT_ORG else asked.org


def _order(sort: str) -> Any:
    return (lambda one: (one.count, one.last)) if sort == "count" else (lambda one: (one.last, one.count))


def _line(group: Group, found: failures.Groups, sample: FailureSample | None, origin: Origin | None) -> dict[str, Any]:
    return {
        "group": group,
        "sample": sample,
        "message": message_of(sample) if sample else "",
        "code": sample.error.get("code", "") if sample else "",
        "share": group.count / found.total,
        "first": origin.first.ended if origin else None,
        "origin": _origin(origin),
        "bars": _bars(group.columns, found.span),
    }


def message_of(failure: FailureSample) -> str:
    return alike(failure.error.get("message", "")) or "(no message)"


def _bars(columns: list[int], span: Span) -> list[tuple[str, int, int]]:
    return [(exact(span.bar_of(index)), count, 0) for index, count in enumerate(columns)]


def _origin(origin: Origin | None) -> dict[str, str] | None:
    """The version that failed first, and what is known of the one before it, in words."""
    if origin is None or origin.first.version is None:
        return None
    version, before = origin.first.version, origin.before
    if before is None:
        return {"version": version, "short": _short(version), "words": ""}
    if before == version:
        return {"version": version, "short": _short(version), "words": "last success shortly before"}
    old, new = set(_parts(before)), set(_parts(version))
    return {
        "version": version,
        "short": ", ".join(one for one in _parts(version) if one not in old) or _short(version),
        "words": f"the version before had none ({', '.join(one for one in _parts(before) if one not in new) or before})",
    }


def _parts(version: str) -> list[str]:
    return [part for rest in engines_in(version).values() for part in rest.split(", ")]


def _short(version: str) -> str:
    """The engine's own version, without those of what it is made of."""
    return "; ".join(f"{name}: {rest.split(', ')[0]}" if rest else name for name, rest in engines_in(version).items())


async def _excerpt(desk: Desk, failure: FailureSample) -> list[tuple[int, str, bool]]:
    """The lines around the one that is wrong, each with its number; from the error if the source is not with the job."""
    line = failure.error.get("line")
    if not isinstance(line, int) or line < 1:
        return []
    try:
        payload = (await desk.service.rendering.database.read(partial(queries.get, failure.uid))).payload
    except NotFound:  # its retention ended just now
        payload = None
    source = payload.get("source") if isinstance(payload, dict) else None
    lines = source.splitlines() if isinstance(source, str) else []
    if line > len(lines):
        excerpt = failure.error.get("excerpt")
        return [(line, str(excerpt)[:LONGEST], True)] if excerpt else []
    first = max(1, line - AROUND)
    return [(number, text[:LONGEST], number == line) for number, text in enumerate(lines[first - 1 : line + AROUND], first)]

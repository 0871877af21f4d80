"""Who did what here, and what it changed."""

import json
import re
from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.store.operators import audit
from pressroom.web.desk import Desk, Visit, refuse

PAGE = 50
LONGEST = 500
VALUE_SHOWN = 300  # letters
_FILTERS = ("who", "action", "target")


def router(desk: Desk) -> Routes:
    routes = Routes()
    desk.get(routes, "/desk/audit", show, needs=Scope.OPERATOR)
    return routes


async def show(visit: Visit) -> Response:
    query = visit.request.query_params
    asked = {name: value for name in _FILTERS if (value := _text(name, query.get(name, "")))}
    cursor = query.get("cursor", "")
    if cursor and not re.fullmatch("[0-9]{1,18}", cursor):
        raise refuse("that is not a cursor; follow the link to the next page")
    before = int(cursor) if cursor else audit.NEWEST
    unit = partial(audit.list_entries, org_id=visit.org_id, before=before, limit=PAGE + 1, **asked)
    found = await visit.desk.service.rendering.database.read(unit)
    older = found[PAGE - 1].id if len(found) > PAGE else None
    deeds = [(deed, changes(deed.before, deed.after)) for deed in found[:PAGE]]
    return visit.page("audit.html", deeds=deeds, asked=asked, cursor=older, first=bool(cursor), everywhere=audit.EVERYWHERE)


def _text(name: str, given: str) -> str:
    given = given.strip()
    if len(given) > LONGEST or not given.isprintable():
        raise refuse(f"{name} is one line of up to {LONGEST} printable characters; it is compared exactly")
    return given


def changes(before: Any, after: Any) -> list[tuple[str, str | None, str | None]]:
    """What differs, part by part: its name, what it was and what it is. None is where there was nothing, or is nothing now."""
    if before is None and after is None:
        return []
    if isinstance(before, dict | None) and isinstance(after, dict | None):
        was, has = before or {}, after or {}
        names = [*has, *(name for name in was if name not in has)]
        return [(name, _shown(was, name), _shown(has, name)) for name in names if _of(was, name) != _of(has, name)]
    return [("", None if before is None else _short(before), None if after is None else _short(after))]


_ABSENT = object()


def _of(values: dict[str, Any], name: str) -> Any:
    return values.get(name, _ABSENT)


def _shown(values: dict[str, Any], name: str) -> str | None:
    return _short(values[name]) if name in values else None


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_SHOWN else f"{text[:VALUE_SHOWN]}…"

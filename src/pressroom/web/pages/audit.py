"""Who did what here, and what it changed."""

import json
from functools import partial
from typing import Any

from starlette.responses import Response

from pressroom.api.access import Scope
from pressroom.api.paging import NUMBER
from pressroom.api.routes import Routes
from pressroom.store.operators import audit
from pressroom.web.site import PageRequest, Site, page_error

PAGE_SIZE = 50
MAX_LENGTH = 500
MAX_VALUE_LENGTH = 300  # letters
_FILTERS = ("who", "action", "target")


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/audit", show, needs=Scope.OPERATOR)
    return routes


async def show(request: PageRequest) -> Response:
    query = request.http.query_params
    filters = {name: value for name in _FILTERS if (value := _check_text(name, query.get(name, "")))}
    cursor = request.cursor(NUMBER)
    before = int(cursor) if cursor else audit.NEWEST
    unit = partial(audit.list_entries, org_id=request.org_id, before=before, limit=PAGE_SIZE + 1, **filters)
    entries = await request.read(unit)
    older = entries[PAGE_SIZE - 1].id if len(entries) > PAGE_SIZE else None
    deeds = [(deed, list_changes(deed.before, deed.after)) for deed in entries[:PAGE_SIZE]]
    return request.page("audit.html", deeds=deeds, asked=filters, cursor=older, first=bool(cursor), everywhere=audit.EVERYWHERE)


def _check_text(name: str, given: str) -> str:
    given = given.strip()
    if len(given) > MAX_LENGTH or not given.isprintable():
        raise page_error(f"{name} is one line of up to {MAX_LENGTH} printable characters; it is compared exactly")
    return given


def list_changes(before: Any, after: Any) -> list[tuple[str, str | None, str | None]]:
    """What differs, part by part: its name, what it was and what it is. None is where there was nothing, or is nothing now."""
    if before is None and after is None:
        return []
    if isinstance(before, dict | None) and isinstance(after, dict | None):
        was, has = before or {}, after or {}
        names = [*has, *(name for name in was if name not in has)]
        return [
            (name, _value_text(was, name), _value_text(has, name))
            for name in names
            if _value_or_absent(was, name) != _value_or_absent(has, name)
        ]
    return [("", None if before is None else _shorten_value(before), None if after is None else _shorten_value(after))]


_ABSENT = object()


def _value_or_absent(values: dict[str, Any], name: str) -> Any:
    return values.get(name, _ABSENT)


def _value_text(values: dict[str, Any], name: str) -> str | None:
    return _shorten_value(values[name]) if name in values else None


def _shorten_value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"

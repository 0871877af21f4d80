"""What the search box finds of named diagrams: by the name, or by the link that embeds it."""

from urllib.parse import quote

from pressroom.errors import NotFound
from pressroom.model import Statement, Work
from pressroom.store.artifacts.artifacts import link_digest, parse_link
from pressroom.store.operators.lookup import LookupResult, Viewer


def find_diagrams(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    rows = yield Statement("diagrams.find_diagram", {"name": text, "org_id": viewer.own_org})
    names = [row[2] for row in rows]
    try:
        link = parse_link(text)
    except NotFound:
        pass
    else:
        asked = {"link": link, "digest": link_digest(link), "org_id": viewer.own_org}
        names += [name for (name,) in (yield Statement("diagrams.search_diagram_by_link", asked))]
    return [_lookup_result(name) for name in dict.fromkeys(names)]


def _lookup_result(name: str) -> LookupResult:
    return LookupResult(what="diagram", name=name, about="a named diagram", path=f"/playground/names/{quote(name, safe='')}")

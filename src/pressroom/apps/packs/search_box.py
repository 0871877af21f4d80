"""What the search box finds of packs: one by its id or by the id of a file, or else packs by words of their titles."""

from pressroom.apps.packs import search, store
from pressroom.apps.packs.errors import PackNotFound
from pressroom.apps.packs.model import parse_id
from pressroom.base.search_terms import query_terms
from pressroom.model import Work
from pressroom.store.operators.lookup import SHOWN, LookupResult, Viewer


def find_packs(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    if found := (yield from _find_by_id(text, viewer.own_org)):
        return found
    terms = query_terms(text)
    titles = (yield from search.search_titles(viewer.own_org, terms, SHOWN)) if terms else []
    return [LookupResult(what="pack", name=pack, about=title, path=f"/library/{pack}") for pack, title in titles]


def _find_by_id(text: str, org_id: str) -> Work[list[LookupResult]]:
    try:
        id = parse_id(text)
        render = yield from store.find_render_of_file(id)
        pack = yield from store.get_pack(org_id, render.pack if render else id)
    except PackNotFound:
        return []
    if render is None:
        return [LookupResult(what="pack", name=pack.id, about=pack.title, path=f"/library/{pack.id}")]
    about = f"version {render.number} of {render.doc_id} in {pack.title or pack.id}"
    return [LookupResult(what="document", name=id, about=about, path=f"/library/{pack.id}/{render.doc_id}")]

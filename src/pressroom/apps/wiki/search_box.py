"""What the search box finds of the wiki: an article by its name."""

from pressroom.apps.wiki import store
from pressroom.apps.wiki.links import address_of
from pressroom.apps.wiki.model import clean_url
from pressroom.errors import InvalidArgument, NotFound
from pressroom.model import Work
from pressroom.store.operators.lookup import LookupResult, Viewer


def find_articles(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    try:
        article = yield from store.get(viewer.own_org, clean_url(text))
    except (InvalidArgument, NotFound):
        return []
    return [LookupResult(what="article", name=article.url, about=article.title, path=address_of(article.url))]

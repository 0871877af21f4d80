"""The wiki's part of the search box: an article by its name, or else articles by words of their titles."""

from pressroom.apps.wiki import store
from pressroom.apps.wiki.links import article_path
from pressroom.apps.wiki.model import Article, clean_url
from pressroom.base.search_terms import query_terms
from pressroom.errors import InvalidArgument
from pressroom.model import Work
from pressroom.store.operators.lookup import SHOWN, LookupResult, Viewer


def find_articles(text: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """A name that is typed in full finds its article alone, so that the search box leads there at once."""
    try:
        named = yield from store.find_article(viewer.own_org, clean_url(text))
    except InvalidArgument:
        named = None
    if named is not None:
        return [_lookup_result(named)]
    terms = query_terms(text)
    articles = (yield from store.search_titles(viewer.own_org, terms, SHOWN)) if terms else []
    return [_lookup_result(article) for article in articles]


def _lookup_result(article: Article) -> LookupResult:
    return LookupResult(what="article", name=article.url, about=article.title, path=article_path(article.url))

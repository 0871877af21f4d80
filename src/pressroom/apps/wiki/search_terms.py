"""The search terms of an article. base/search_terms.py has how a text is folded."""

from typing import NamedTuple

from pressroom.base.search_terms import index_text


class ArticleTerms(NamedTuple):
    """The search terms of an article."""

    title: str
    text: str


def article_terms(title: str, source: str) -> ArticleTerms:
    return ArticleTerms(index_text(title), index_text(source))

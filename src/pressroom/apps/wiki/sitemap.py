"""The sitemap: every article with when it changed, in files of ten thousand numbers, as sitemaps.org has them."""

from collections.abc import Iterable
from datetime import UTC
from xml.sax.saxutils import escape

from pressroom.apps.wiki.links import article_path
from pressroom.apps.wiki.model import Article

WHOLE = "sitemap.xml"
IDS_PER_FILE = 10_000  # the format allows 50,000 addresses, and 50 MB
MEDIA_TYPE = "application/xml"

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def parse_file_number(name: str) -> int | None:
    """The number of a file, 0 for the whole, or None if this is no file of a sitemap."""
    if name == WHOLE:
        return 0
    number = name.removeprefix("sitemap-").removesuffix(".xml")
    is_part = name == f"sitemap-{number}.xml" and number.isascii() and number.isdigit() and 0 < len(number) < 8
    return int(number) or None if is_part else None


def sitemap_file(base: str, listed: Iterable[Article]) -> str:
    lines = (
        f"<url><loc>{escape(base + article_path(article.url))}</loc>"
        f"<lastmod>{article.changed.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</lastmod></url>\n"
        for article in listed
    )
    return f"{_HEAD}<urlset {_SPACE}>\n{''.join(lines)}</urlset>\n"


def sitemap_index(base: str, last_article: int) -> str:
    """Of the files, where there are several."""
    files = range(1, (last_article - 1) // IDS_PER_FILE + 2)
    lines = (f"<sitemap><loc>{escape(base)}/wiki/sitemap-{number}.xml</loc></sitemap>\n" for number in files)
    return f"{_HEAD}<sitemapindex {_SPACE}>\n{''.join(lines)}</sitemapindex>\n"

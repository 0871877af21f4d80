"""What an article is, and what may be said in one."""

import hashlib
import unicodedata
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from pressroom.apps.wiki.search_terms import ArticleTerms, article_terms
from pressroom.base.combining_marks import stream_safe
from pressroom.errors import InvalidArgument, TooLarge
from pressroom.model import from_ms
from pressroom.renderers.markdown.engine import Markdown

TITLE_LIMIT = 200
COMMENT_LIMIT = 500
SOURCE_LIMIT = Markdown.limits.source
LONGEST_NAME = 4 * TITLE_LIMIT  # characters before they are composed: a letter and its marks become one
SPECIAL = "Special:"  # names that are pages of ours, and never articles
RESERVED_SUFFIXES = (".md", ".xml")  # so end the addresses of sources and of the sitemap

_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
_REFUSED = frozenset('<>[]{}|#?"\\')


class RenderStatus(StrEnum):
    QUEUED = "queued"  # created, and its render is pending
    RENDERED = "rendered"  # the HTML is current
    STALE = "stale"  # to be rendered when it is opened
    FAILED = "failed"  # the HTML, if any, is an older one


class Article(msgspec.Struct, frozen=True):
    """`head` is its newest revision, `shown` the newest that has HTML."""

    id: int
    org_id: str
    url: str
    title: str
    head: int
    shown: int | None
    date_created: int
    date_changed: int

    @property
    def changed(self) -> datetime:
        return from_ms(self.date_changed)

    @property
    def key(self) -> str:
        """Of several texts that wait, the key lets the newest be rendered; and never are two rendered at once."""
        return f"wiki:{self.id}"


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    article: int
    number: int
    title: str
    comment: str
    author: str
    source: str
    hash: str
    html: str | None
    headings: list[dict[str, Any]]
    error: dict[str, Any] | None
    renderer: str | None
    job_uid: str | None
    date_created: int
    date_rendered: int | None
    render_status: RenderStatus

    @property
    def created(self) -> datetime:
        return from_ms(self.date_created)


class ArticleDraft(msgspec.Struct, frozen=True):
    """A text to save, cleaned. `previous` is the revision that its author has read; 0 if there was none.

    `hash` and `words` are computed before the transaction, which blocks other writers.
    """

    url: str
    title: str
    source: str
    comment: str
    author: str
    previous: int
    hash: str
    terms: ArticleTerms


def source_hash(source: str) -> str:
    return hashlib.sha384(source.encode()).hexdigest()


def clean_url(text: str) -> str:
    """The name of an article as it stands in its address: underscores for spaces, and slashes for what is inside another.

    Raises InvalidArgument, which says what is wrong.
    """
    if len(text) > LONGEST_NAME:
        raise InvalidArgument(f"the name of an article has at most {TITLE_LIMIT} characters, not {len(text)}")
    url = "_".join(unicodedata.normalize("NFC", stream_safe(text)).replace("_", " ").split())
    if not url:
        raise InvalidArgument("an article needs a name")
    if len(url) > TITLE_LIMIT:
        raise InvalidArgument(f"the name of an article has at most {TITLE_LIMIT} characters, not {len(url)}")
    wrong = sorted({char for char in url if char in _REFUSED or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")})
    if wrong:
        raise InvalidArgument(f"the name of an article has no {' '.join(map(repr, wrong))}")
    if any(part.strip("._") == "" for part in url.split("/")):
        raise InvalidArgument("the parts of an article's name, between slashes, are not empty and more than dots")
    return url


def is_special_url(url: str) -> bool:
    return url.lower().startswith(SPECIAL.lower())


def title_from_url(url: str) -> str:
    return url.replace("_", " ")


def clean_line(text: str, limit: int, what: str) -> str:
    """One line of text that both databases can keep."""
    if len(text) > 100 * limit:
        raise InvalidArgument(f"the {what} has at most {limit} characters, not {len(text)}")
    line = " ".join(_strip_controls(text).split())
    if len(line) > limit:
        raise InvalidArgument(f"the {what} has at most {limit} characters, not {len(line)}")
    return line


def clean_source(text: str) -> str:
    """Lines end as they do on Unix; what no text has is taken out."""
    if len(text) > 2 * SOURCE_LIMIT:  # each line may end in two characters, of which one stays
        raise TooLarge(f"the text has {len(text):,} characters; an article has at most {SOURCE_LIMIT:,} bytes")
    source = _strip_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
    size = len(source.encode())
    if size > SOURCE_LIMIT:
        raise TooLarge(f"the text has {size:,} bytes; an article has at most {SOURCE_LIMIT:,}")
    return source


def _strip_controls(text: str) -> str:
    return text.encode(errors="replace").translate(None, _CONTROLS).decode()


def make_draft(url: str, source: str, *, title: str = "", comment: str = "", author: str, previous: int) -> ArticleDraft:
    """Raises InvalidArgument or TooLarge for what cannot be saved."""
    url = clean_url(url)
    if is_special_url(url):
        raise InvalidArgument(f"names that begin with {SPECIAL} are pages of the wiki itself")
    if url.lower().endswith(RESERVED_SUFFIXES):
        raise InvalidArgument(f"the name of an article does not end in {' or '.join(RESERVED_SUFFIXES)}")
    if previous < 0:
        raise InvalidArgument("previous is the number of the revision that was read, or 0")
    title = clean_line(title, TITLE_LIMIT, "title") or title_from_url(url)
    source = clean_source(source)
    return ArticleDraft(
        url,
        title,
        source,
        clean_line(comment, COMMENT_LIMIT, "comment"),
        clean_line(author, TITLE_LIMIT, "author"),
        previous,
        source_hash(source),
        article_terms(title, source),
    )

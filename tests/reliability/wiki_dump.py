"""What a database holds after a run of the wiki, as values for the judge."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from tests.reliability import dump
from tests.reliability.dump import Dump

ARTICLES = "SELECT url, head, shown FROM wiki_article ORDER BY id"
REVISIONS = """
SELECT url, number, source, html, job_uid, render_status, error ->> 'code'
  FROM wiki_revision
  JOIN wiki_source USING (article, number)
  LEFT JOIN wiki_html USING (article, number)
  JOIN wiki_article ON id = article
 ORDER BY id, number
"""


@dataclass(frozen=True)
class ArticleRow:
    url: str
    head: int
    shown: int | None


@dataclass(frozen=True)
class RevisionRow:
    article: str
    number: int
    source: str
    html: str | None
    job: str | None
    status: str
    error: str | None = None  # its code

    @property
    def name(self) -> str:
        return f"{self.article}@{self.number}"


@dataclass(frozen=True)
class WikiDump(Dump):
    articles: list[ArticleRow]
    revisions: list[RevisionRow]


def read(path: Path) -> WikiDump:
    with closing(apsw.Connection(str(path))) as connection:
        return WikiDump(
            **vars(dump.read(path)),
            articles=[ArticleRow(*row) for row in connection.execute(ARTICLES)],
            revisions=[RevisionRow(*row) for row in connection.execute(REVISIONS)],
        )


def heads(path: Path) -> list[RevisionRow]:
    """The newest revision of every article, while a server is still there."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(120_000)
        newest = dict(connection.execute("SELECT url, head FROM wiki_article"))
        rows = [RevisionRow(*row) for row in connection.execute(REVISIONS)]
    return [row for row in rows if row.number == newest.get(row.article)]

"""W28, W30: a database from before `render_status` gets it, with everything rendered; and nothing happens the second time."""

import asyncio
import itertools

import pytest

from pressroom import Pressroom, backends
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.apps.wiki.model import RenderStatus, make_draft, source_hash
from pressroom.config import Settings
from pressroom.store.engine import migrations
from pressroom.store.engine.schema import Schema
from tests import looking

FIXTURE = f"""
INSERT INTO wiki_article (url, title, head, shown, date_created, date_changed) VALUES ('Home', 'Home', 2, 2, 1, 2);
INSERT INTO wiki_revision (article, number, title, comment, author, length, hash, date_created, date_rendered)
VALUES (1, 1, 'Home', '', 'ada', 3, '{source_hash("one")}', 1, 1),
       (1, 2, 'Home', 'more', 'bob', 3, '{source_hash("two")}', 2, 2);
INSERT INTO wiki_source VALUES (1, 1, 'one'), (1, 2, 'two');
INSERT INTO wiki_html VALUES (1, 1, '<p>one</p>', '[]'), (1, 2, '<p>two</p>', '[]')
"""


@pytest.fixture(params=["file", "bare"])
def older(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a database as it was before, with an article of two revisions."""
    address = str(request.getfixturevalue(request.param))
    known = migrations.migrations

    def without_the_column(dialect: str, schema: Schema) -> list[migrations.Migration]:
        return list(itertools.takewhile(lambda one: one.name != "render_status", known(dialect, schema)))

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "migrations", without_the_column)
        asyncio.run(
            backends.migrate(Settings(database=address), BUILT_IN_SCHEMA)
        )  # a whole queue would want tables that come later
    for statement in FIXTURE.split(";"):
        looking.change(address, statement)
    return address


@pytest.fixture
def bare(on_server: str) -> str:
    """The address of a database without any table."""
    looking.empty(on_server)
    return on_server


def _open_and_close(address: str) -> None:
    async def both() -> None:
        async with Pressroom(address, workers=None):
            pass

    asyncio.run(both())


async def test_an_older_database_gets_the_column_and_old_rows_are_rendered(older: str) -> None:
    assert "render_status" not in _columns(older)
    for _ in range(2):
        async with Pressroom(older, workers=None) as press:
            reading = await press.app("wiki").articles.read(None, "Home")
            _, first = await press.app("wiki").articles.get_revision(None, "Home", 1)

        assert "render_status" in _columns(older)
        assert (reading.head.render_status, first.render_status) == (RenderStatus.RENDERED, RenderStatus.RENDERED)
        assert (reading.head.html, first.html) == ("<p>two</p>", "<p>one</p>")


async def test_what_is_written_then_goes_through_the_queue(older: str) -> None:
    async with Pressroom(older, workers=1) as press:
        draft = make_draft("Home", "three", author="ada", previous=2)
        posted = await press.app("wiki").articles.post(None, draft, wait=600)

    assert (posted.revision.number, posted.revision.render_status) == (3, RenderStatus.RENDERED)


@pytest.mark.parametrize("status", ["queued", "rendered", "stale", "failed"])
def test_a_status_has_one_of_four_values(older: str, status: str) -> None:
    """W29"""
    _open_and_close(older)
    looking.change(older, f"UPDATE wiki_revision SET render_status = '{status}'")
    with pytest.raises(Exception, match=r"(?i)check"):
        looking.change(older, "UPDATE wiki_revision SET render_status = 'done'")


def _columns(address: str) -> set[str]:
    if address.startswith("sqlite"):
        return {row[1] for row in looking.rows(address, "PRAGMA table_info(wiki_revision)")}
    asked = "SELECT column_name FROM information_schema.columns WHERE table_name = 'wiki_revision'"
    return {name for (name,) in looking.rows(address, asked)}

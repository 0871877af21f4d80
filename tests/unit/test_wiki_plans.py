"""What the wiki asks of many articles is found by an index, and costs no more with a hundred thousand of them."""

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore

ASKED = {
    "wiki.list_articles": ["wiki_article_org (org_id=? AND id>?)"],
    "wiki.list_sources": ["wiki_article_org (org_id=? AND id>?)"],
    "wiki.list_stale_articles": ["wiki_revision_stale (article>?)"],
    "wiki.list_stale_orgs": ["wiki_revision_stale"],
    "wiki.list_linking_articles": ["wiki_link_url (url=? AND article>?)"],
    "wiki.list_renderers": ["COVERING INDEX wiki_revision_renderer"],
    "wiki.mark_stale": ["wiki_revision_renderer (renderer=?)"],
    "wiki.mark_linking_stale": ["wiki_link_url (url=?)", "wiki_article USING INTEGER PRIMARY KEY"],
}
VALUES = dict.fromkeys(("org_id", "after", "limit", "url", "renderer", "urls"))


@pytest.mark.parametrize("statement", ASKED)
def test_a_page_of_many_is_found_by_an_index(statement: str) -> None:
    rows = (
        SteppedStore(schema=BUILT_IN_SCHEMA)
        .raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite', BUILT_IN_SCHEMA)[statement]}", VALUES)
        .fetchall()
    )
    plan = " | ".join(str(row[3]) for row in rows)

    for index in ASKED[statement]:
        assert index in plan
    assert "TEMP B-TREE FOR ORDER BY" not in plan
    assert "SCAN wiki_article" not in plan

"""Search reads the words of one build through an index, however many builds there are."""

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore

PLANS = {
    "docs.search_pages": ["docs_page_index VIRTUAL TABLE INDEX", "docs_page_text USING INTEGER PRIMARY KEY"],
    "docs.delete_page_texts": ["docs_page_text USING INDEX sqlite_autoindex_docs_page_text_1 (build=?)"],
    "docs.copy_page_texts": ["docs_page_text USING INDEX sqlite_autoindex_docs_page_text_1 (build=? AND path=?)"],
    "docs.find_indexed_build": [
        "docs_build USING INDEX docs_build_number (project=?",
        "docs_search USING PRIMARY KEY (build=?)",
    ],
    "docs.leave_search": ["docs_edition_build (build=?)"],
}
VALUES = {
    "build": "b",
    "source": "a",
    "words": '["a"]',
    "paths": '["a"]',
    "limit": 1,
    "characters": 1,
    "attempt": "a",
    "project": "",
    "now": 1,
}


@pytest.mark.parametrize("statement", PLANS)
def test_what_belongs_to_a_build_is_found_by_an_index(statement: str) -> None:
    raw = SteppedStore(schema=BUILT_IN_SCHEMA).raw
    rows = raw.execute(f"EXPLAIN QUERY PLAN {load('sqlite', BUILT_IN_SCHEMA)[statement]}", VALUES).fetchall()
    plan = " | ".join(str(row[3]) for row in rows)

    for index in PLANS[statement]:
        assert index in plan, plan
    assert "SCAN docs_page_text" not in plan

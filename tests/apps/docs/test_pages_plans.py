"""What pages ask of many rows is found by an index."""

import re

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore

ASKED = {
    "docs.summarise_projects": ["docs_build_created (project=?)", "docs_edition_slug (project=?)"],
    "docs.find_previous_build": ["docs_build_ref (project=? AND git_ref=? AND number<?)"],
    "docs.find_projects_by_prefix": ["docs_project_slug (org=? AND slug>?)"],
    "docs.find_named_build": ["docs_build USING INDEX", "docs_project USING INDEX"],
    "docs.list_job_phases": ["job_event_by_job (job_id=?)"],
    "docs.list_job_items": ["PRIMARY KEY (job_id=? AND claim=? AND noun=?)"],
    "docs.list_largest_files": ["PRIMARY KEY (artifact=?)"],
    "docs.measure_media_types": ["PRIMARY KEY (artifact=?)"],
}


@pytest.mark.parametrize("statement", ASKED)
def test_a_page_reads_what_it_shows_through_an_index(statement: str) -> None:
    text = load("sqlite", BUILT_IN_SCHEMA)[statement]
    values = dict.fromkeys(re.findall(r":(\w+)", text), "[]")
    rows = SteppedStore(schema=BUILT_IN_SCHEMA).raw.execute(f"EXPLAIN QUERY PLAN {text}", values).fetchall()
    plan = " | ".join(str(row[3]) for row in rows)

    assert all(index in plan for index in ASKED[statement]), plan
    assert not re.search(r"SCAN (docs_(?!org)|job|artifact)", plan), plan

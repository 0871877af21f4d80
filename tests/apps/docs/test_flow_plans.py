"""What jobs and lists ask of the database is found by indexes, however many builds and moves there have been."""

import re

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.apps.docs.store import builds, projects, purgatory
from pressroom.ids import new_uid
from pressroom.store.engine.statements import load
from pressroom.testing import SteppedStore

ASKED = {
    "docs.settle_publishing": "docs_history_publishing (job_uid=?)",
    "docs.settle_history": "docs_history_publishing (job_uid=?)",
    "docs.find_same_build": "docs_build_ref (project=? AND git_ref=?",
    "docs.list_abandoned_builds": "docs_build_open (date_created<?)",
    "docs.list_builds": "docs_build_listed (project=? AND uid<?)",
    "docs.list_lifecycle_builds": "docs_build_listed (project=? AND uid>?)",
    "docs.list_build_uids": "docs_build_listed (project=? AND uid>?)",
    "docs.leave_search": "docs_edition_build (build=?)",
    "docs.find_move_of_job": "docs_history USING PRIMARY KEY (edition=?)",
}


@pytest.mark.parametrize("statement", ASKED)
def test_it_goes_by_an_index(statement: str) -> None:
    text = load("sqlite", BUILT_IN_SCHEMA)[statement]
    rows = SteppedStore(schema=BUILT_IN_SCHEMA).raw.execute(
        f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(re.findall(r":(\w+)", text))
    )
    plan = " | ".join(str(row[3]) for row in rows.fetchall())

    assert ASKED[statement] in plan, plan
    assert not re.search(r"SCAN docs_(build|edition|history)|TEMP B-TREE", plan), plan


@pytest.mark.parametrize("last", [builds.LAST_UID, projects.LAST_ID, purgatory.LAST_ID])
def test_a_list_begins_behind_every_id_whatever_the_collation(last: str) -> None:
    """`~` did not: most collations have punctuation before the digits, so that on a PostgreSQL with one of those every list was
    empty. All have letters behind the digits, and ids begin with a time, and so with 0 to 7. The tests have C alone."""
    assert last.isascii()
    assert last[0].isalpha()
    assert new_uid()[0] in "01234567"

"""What a request at the edge asks of the database is found by indexes, however many builds and editions there are."""

from pathlib import Path

import apsw
import pytest

from pressroom import Pressroom
from pressroom.app import BUILT_IN_SCHEMA
from pressroom.store.engine.statements import load

PARAMETERS = ("org", "slug", "project", "slug_key", "uid", "artifact", "path", "gzip", "brotli", "folder_index", "limit")


@pytest.mark.parametrize(
    ("statement", "found_by"),
    [
        ("find_site_project", ["docs_project_slug (org=? AND slug=?)"]),
        ("list_orgs_with_project", ["docs_project_slug (org=? AND slug=?)"]),
        ("find_shown_edition", ["docs_edition_slug (project=? AND slug_key=?)", "docs_build_1 (uid=?)"]),
        ("find_served_build", ["docs_build_1 (uid=?)"]),
        ("find_site_files", ["artifact_file USING PRIMARY KEY (artifact=? AND path=?)"]),
        ("list_shown_editions", ["docs_edition_slug (project=?)"]),
        ("list_editions_with_page", ["docs_edition_slug (project=?)", "PRIMARY KEY (artifact=? AND path=?)"]),
    ],
)
async def test_each_look_up_goes_by_an_index(tmp_path: Path, statement: str, found_by: list[str]) -> None:
    path = tmp_path / "press.db"
    async with Pressroom(f"sqlite:///{path}", workers=None):
        pass
    sql = load("sqlite", BUILT_IN_SCHEMA)[f"docs.{statement}"]
    connection = apsw.Connection(str(path))
    try:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(PARAMETERS)).fetchall()
    finally:
        connection.close()

    steps = " | ".join(str(row[3]) for row in plan)
    assert all(index in steps for index in found_by), steps
    assert "SCAN docs_edition" not in steps
    assert "SCAN docs_build" not in steps
    assert "SCAN artifact_file" not in steps

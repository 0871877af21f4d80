"""`pressroom wiki`: folders become articles and articles become folders, on both databases."""

import json
import os
from functools import partial
from pathlib import Path

import pytest

from pressroom.apps.wiki.files import find_markdown_files
from pressroom.renderers.markdown.engine import Markdown
from tests.cli.conftest import Run

FILES = {
    "README.md": "# Welcome to *us*\n\nSee [[guide/Setup]] and [[guide]].\n",
    "guide/index.md": "The guide, without a heading.\n",
    "guide/Setup.md": "---\ntitle: 'How to set up'\n---\n\n```\n# not a heading\n```\n",
    "guide/What? [really].markdown": "# Odd names\n",
    "deep/er/日本.md": "\ufeff# With a mark\r\n\r\nof order\r\n",
    ".hidden/secret.md": "no",
    "notes.txt": "no",
}


@pytest.fixture
def run(give_on_database: Run) -> Run:
    return partial(give_on_database, "wiki")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path / "docs"


def files_in(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.md"))}


def test_a_folder_becomes_articles_and_the_same_again_is_nothing_new(run: Run, folder: Path, tmp_path: Path) -> None:
    first = run("import", "docs", "--wait", "--author", "ada")
    again = run("import", "docs", "--json")
    (folder / "guide/index.md").write_text("The guide, changed.\n")
    changed = json.loads(run("import", "docs", "--json")[1])
    out = run("export", "out")
    listed = json.loads((tmp_path / "out/wiki.json").read_text())
    back = json.loads(run("import", "out", "--json")[1])

    assert first[0] == 0
    assert "5 files: 5 new, 0 changed, 0 as they were\n5 rendered, 0 failed\n" in first[1]
    assert json.loads(again[1]) == {"files": 5, "created": 0, "changed": 0, "same": 5, "problems": {}}
    assert (changed["changed"], changed["same"]) == (1, 4)
    assert changed["batch"].startswith("job_")
    assert out == (0, "5 articles are in out\n", "")
    assert {name: named["title"] for name, named in listed.items()} == {
        "Home.md": "Welcome to us",
        "guide.md": "guide",
        "guide/Setup.md": "How to set up",
        "guide/What-_-really-.md": "Odd names",
        "deep/er/日本.md": "With a mark",
    }
    assert files_in(tmp_path / "out")["deep/er/日本.md"] == "# With a mark\n\nof order\n"
    assert (back["same"], back["files"]) == (5, 5)


def test_what_cannot_be_taken_is_told_with_its_place_and_the_rest_is_taken(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("good")
    (folder / "latin.md").write_bytes("one\ntwo caf\xe9".encode("latin-1"))
    (folder / "README.md").write_text("one")
    (folder / "index.md").write_text("two")
    (folder / "big.md").write_text("x" * (Markdown.limits.source + 1))
    (folder / f"{'n' * 240}.md").write_text("long")

    code, out, err = run("import", "docs")

    assert code == 9
    assert "6 files: 2 new" in out
    assert "latin.md: the file is not UTF-8 (line 2, column 8)\n" in err
    assert "index.md: it would be the article Home, which README.md is already\n" in err
    assert f"big.md: the text has {Markdown.limits.source + 1:,} bytes" in err
    assert "the name of an article has at most 200 characters" in err
    assert run("import", "nowhere") == (2, "", "pressroom: nowhere is not a folder [invalid_argument]\n")
    (folder / "wiki.json").write_text("[]")
    assert "is not a list of articles" in run("import", "docs")[2]


def test_symbolic_links_and_hidden_files_are_not_imported(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "docs", tmp_path / "elsewhere"
    (folder / "below").mkdir(parents=True)
    elsewhere.mkdir()
    for path in (folder / "a.md", folder / "below/b.MD", folder / ".c.md", elsewhere / "secret.md"):
        path.write_text("text")
    (folder / "linked.md").symlink_to(elsewhere / "secret.md")
    (folder / "linked").symlink_to(elsewhere)
    (folder / "below/back").symlink_to(folder)

    assert find_markdown_files(folder) == [("a.md",), ("below", "b.MD")]


def test_all_or_the_stale_are_rendered_again(run: Run, folder: Path) -> None:
    run("import", "docs", "--wait")
    code, out, _ = run("rerender", "--all", "--wait")
    stale = json.loads(run("rerender", "--stale", "--wait", "--json")[1])
    queued = run("rerender", "--all")
    which = run("rerender")

    assert (code, out) == (0, "5 rendered, 0 failed\n")
    assert (stale["rendered"], stale["failed"]) == (0, 0)
    assert "their renders are queued" in queued[1]
    assert which[0] == 2


def test_one_organisation_exports_its_own(run: Run, folder: Path, tmp_path: Path) -> None:
    run("import", "docs", "--org", "acme")

    assert run("export", "ours")[1] == "0 articles are in ours\n"
    assert run("export", "theirs", "--org", "acme")[1] == "5 articles are in theirs\n"


def test_what_could_not_be_rendered_is_named_with_its_reason(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.apps.wiki.renderers.OPTIONS", {"no such option": True})

    code, out, err = run("import", "docs", "--wait")

    assert code == 9
    assert "0 rendered, 5 failed" in out
    assert "Home@1: " in err
    assert "no such option" in err


def test_an_export_follows_no_link_and_an_import_reads_regular_files_only(run: Run, folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to("/etc/passwd")
    taken = json.loads(run("import", "docs", "--json")[1])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/guide").symlink_to(tmp_path / "elsewhere")
    refused = run("export", "out")
    (tmp_path / "docs/wiki.json").symlink_to("/etc/passwd")
    listed = run("import", "docs")

    assert taken["problems"] == {"pipe.md": "it cannot be read: not a regular file"}
    assert taken["created"] == 5
    assert refused[0] != 0
    assert "guide is a symbolic link" in refused[2]
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    assert "wiki.json cannot be read: a symbolic link" in listed[2]

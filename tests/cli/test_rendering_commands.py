"""`pressroom render`, `engines`, `check` and `fsck --artifacts`, as a person and as a script would use them."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom
from pressroom.cli.render import ENDINGS
from pressroom.renderers import catalogue

SOURCES = Path(__file__).parents[2] / "examples" / "sources"


def run(*arguments: str, stdin: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([sys.executable, "-m", "pressroom", *arguments], capture_output=True, input=stdin, check=False)


@pytest.fixture
def source(tmp_path: Path) -> Any:
    def write(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def test_a_file_is_rendered_to_what_the_name_says(tmp_path: Path) -> None:
    done = run("render", str(SOURCES / "clusters.dot"), "-o", str(tmp_path / "out.png"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_markdown_becomes_a_page_that_can_be_opened(tmp_path: Path) -> None:
    assert run("render", str(SOURCES / "report.md"), "-o", str(tmp_path / "out.html")).returncode == 0
    assert (tmp_path / "out.html").read_text().startswith("<!DOCTYPE html>")


def test_standard_input_and_output(tmp_path: Path) -> None:
    done = run("render", "-", "--from", "dot", "--to", "svg", "--option", "theme=dark", stdin=b"digraph { a [label=hello] }")
    assert b">hello<" in done.stdout
    assert b"warning: a picture without a title" in done.stderr


def test_a_wrong_source_is_pointed_at(source: Any) -> None:
    file = source("bad.dot", "digraph {\n  a -> \n}")
    done = run("render", file, "--to", "svg")
    assert done.returncode == 3
    assert done.stderr.decode().splitlines() == [
        f"{file}:3:1: error: syntax error: unexpected '}}'; expected a node [source_invalid]",
        "    }",
        "    ^",
    ]
    told = json.loads(run("render", file, "--to", "svg", "--json").stdout)
    assert (told["code"], told["line"], told["column"]) == ("source_invalid", 3, 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["render", "nothing.mmd", "--to", "svg"], "cannot be read"),
        (["render", str(SOURCES / "flow.mmd")], "say what to make"),
        (["render", str(SOURCES / "flow.mmd"), "--to", "docx"], "cannot be made into 'docx'"),
        (["render", str(SOURCES / "flow.mmd"), "--to", "svg", "--option", "colour=red"], "there is no option `colour`"),
        (["render", str(SOURCES / "flow.mmd"), "--to", "svg", "--option", "theme"], "is not NAME=VALUE"),
        (["render", "LICENSE", "--to", "svg"], "say --from LANGUAGE"),
        (["render", str(SOURCES / "flow.mmd"), "-o", "/nowhere/x.svg"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: list[str], words: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_every_example_has_a_language() -> None:
    for file in SOURCES.iterdir():
        assert any(file.name.endswith(ending) for ending in ENDINGS), file.name
    assert {catalogue.ALIASES.get(language, language) for language in ENDINGS.values()} == set(catalogue.languages())


def test_engines_are_listed_with_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path))
    monkeypatch.setenv("PRESSROOM_CHROMIUM", "/nowhere/chromium")
    listed = json.loads(run("engines", "--json").stdout)
    by_name = {engine["name"]: engine for engine in listed}
    assert list(by_name) == [engine.name for engine in catalogue.engines()]
    assert by_name["markdown"]["ready"]
    assert "comrak" in by_name["markdown"]["version"]
    assert not by_name["nomnoml"]["ready"]
    table = run("engines").stdout.decode()
    assert "pressroom engines install node" in table
    assert all(engine.name in table for engine in catalogue.engines())


@pytest.mark.deep
def test_check_renders_a_sample_with_every_engine(file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path))  # without the engines in Node: an absent engine is not a problem
    done = run("check", "--database", file, "--json")
    told = json.loads(done.stdout)
    states = {engine["name"]: engine["state"] for engine in told["engines"]}
    assert done.returncode == 0
    assert {states[name] for name in ("markdown", "html", "mermaid", "graphviz", "d2", "vega-lite", "vega", "svg")} == {"ready"}
    assert states["nomnoml"] == "absent"


def test_fsck_finds_an_artifact_whose_bytes_are_not_what_they_were(database: str) -> None:
    result, folder = asyncio.run(render_one(database))
    check = ("fsck", "--artifacts", "--database", database)
    assert b"every artifact has its bytes" in run(*check).stdout
    (file,) = folder.rglob(result["sha256"])
    file.chmod(0o600)
    file.write_bytes(b"y" * result["size"])
    assert b"corrupt" in run(*check).stdout
    file.unlink()
    done = run(*check)
    assert (done.returncode, b"missing" in done.stdout) == (1, True)


async def render_one(database: str) -> tuple[dict[str, Any], Path]:
    async with Pressroom(database, workers=1) as press:
        result = await press.wait(await press.render("markdown", "# x", "html"), timeout=60)
        return result, Path(press.settings.artifact_folder)

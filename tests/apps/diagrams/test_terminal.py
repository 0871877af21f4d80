"""`POST /render/terminal`: for those who look at a terminal."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.apps.diagrams.conftest import Staging

needs_chafa = pytest.mark.skipif(shutil.which("chafa") is None, reason="chafa is not installed")


@needs_chafa
async def test_a_diagram_is_drawn_by_every_protocol(staged: Staging) -> None:
    starts = {"symbols": "\x1b[", "sixel": "\x1bP", "sixels": "\x1bP", "kitty": "\x1b_G", "iterm": "\x1b]1337;"}
    async with staged(workers=2) as stage:
        for output, start in starts.items():
            answer = await stage.http.post(
                "/render/terminal", json={"source": "digraph { a -> b }", "format": "dot", "output": output, "width": 40}
            )
            assert answer.status_code == 200, answer.text
            assert start in answer.text[:200]
            assert answer.headers["content-type"] == "text/plain; charset=utf-8"

        plain = await stage.http.post("/render/terminal?format=dot&width=20", content="digraph { a -> b }")
        wide = await stage.http.post("/render/terminal?format=dot&width=60", content="digraph { a -> b }")
        assert len(plain.content) < len(wide.content)
        assert len((await stage.press.list()).jobs) == 1  # drawn once, shown in many ways


async def test_where_chafa_is_missing_it_is_a_501_that_names_the_command(
    staged: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    async with staged(workers=None) as stage:
        answer = await stage.http.post("/render/terminal?format=dot", content="digraph {}")

        assert (answer.status_code, answer.json()["code"]) == (501, "engine_missing")
        assert "apt install chafa" in answer.json()["detail"]


async def test_nothing_of_a_request_reaches_the_command_line_but_a_known_word_and_a_number(
    staged: Staging, easel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "chafa"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\ncat > /dev/null\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    async with staged() as stage:
        for query in ("output=symbols;id", "output=--help", "width=1;2", "width=-1", "width=501", "scale=5", "scale=x"):
            answer = await stage.http.post(f"/render/terminal?format=dot&{query}", content="digraph {}")
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_argument"), query
        await stage.http.post("/render/terminal?format=dot&output=kitty&width=33&title=--exec", content="--help")

        said = (tmp_path / "said").read_text()
        assert said == "--format kitty --size 33x33 --colors full --animate off -\n"


async def test_what_a_json_body_leaves_out_is_taken_from_the_query(
    staged: Staging, easel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "chafa"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\ncat > /dev/null\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    async with staged() as stage:
        body = {"source": "digraph {}", "format": "dot", "output": "iterm"}
        drawn = await stage.http.post("/render/terminal?output=kitty&width=33", json=body)
        wrong = await stage.http.post("/render/terminal?width=0", json=body | {"width": 80})

        assert (drawn.status_code, wrong.status_code) == (200, 400)
        assert (tmp_path / "said").read_text() == "--format iterm --size 33x33 --colors full --animate off -\n"


@pytest.mark.parametrize("body", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\nsleep 30 & sleep 30\n"])
async def test_a_chafa_that_fails_or_hangs_is_our_error_and_is_killed(
    staged: Staging, easel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    program = tmp_path / "chafa"
    program.write_text(body)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("pressroom.apps.diagrams.terminal.SECONDS", 0.2)
    async with staged() as stage:
        answer = await stage.http.post("/render/terminal?format=dot", content="digraph {}")

        assert answer.status_code == (504 if "sleep" in body else 500)

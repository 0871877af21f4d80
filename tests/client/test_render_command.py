"""`pressroom render --server`: the same command, the same words and the same exit codes, through a service."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pressroom import Pressroom
from pressroom.cli.main import main
from tests.client.stage import Served, until
from tests.servers import free_ports

SOURCES = Path(__file__).parents[2] / "examples" / "sources"

type Run = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run_command(*arguments: str) -> tuple[int, bytes, str]:
        monkeypatch.setattr(sys, "argv", ["pressroom", "render", *arguments])
        code = main()
        printed = capfdbinary.readouterr()
        return code, printed.out, printed.err.decode()

    return run_command


def test_a_file_is_rendered_by_the_service(run: Run, served: Served, tmp_path: Path) -> None:
    out = tmp_path / "out.svg"

    assert run(str(SOURCES / "clusters.dot"), "-o", str(out), "--server", served.url) == (0, b"", "")

    assert out.read_bytes().startswith(b"<svg") or b"<svg" in out.read_bytes()


@pytest.mark.parametrize("served", ["file"], indirect=True)
def test_the_environment_names_the_service(run: Run, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_URL", served.url)
    code, out, _ = run(str(SOURCES / "clusters.dot"), "--to", "svg")
    assert (code, b"<svg" in out) == (0, True)


@pytest.mark.parametrize("served", ["file"], indirect=True)
@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("bad.dot", "digraph {\n  a -> \n}", ["--to", "svg"]),
        ("bad.dot", "digraph {\n  a -> \n}", ["--to", "svg", "--json"]),
        ("plain.dot", "digraph { a }", ["--to", "svg"]),  # a warning: it has no title
        ("plain.dot", "digraph { a }", ["--to", "docx"]),
        ("plain.dot", "digraph { a }", ["--to", "svg", "--option", "colour=red"]),
        ("plain.dot", "digraph { a }", ["--to", "svg", "--engine", "nothing"]),
        ("page.md", "# x", ["--to", "html"]),
    ],
)
def test_it_says_and_makes_the_same_as_without_a_service(
    run: Run, served: Served, tmp_path: Path, name: str, text: str, arguments: list[str]
) -> None:
    (tmp_path / name).write_text(text)

    assert run(str(tmp_path / name), *arguments, "--server", served.url) == run(str(tmp_path / name), *arguments)


def test_no_service_is_told_in_one_line(run: Run) -> None:
    url = f"http://127.0.0.1:{free_ports(1)[0]}"
    code, _, said = run(str(SOURCES / "clusters.dot"), "--to", "svg", "--server", url)
    assert code == 4
    assert "no answer" in said
    assert said.count("\n") == 1


def test_what_is_no_address_is_wrong_usage(run: Run) -> None:
    code, _, said = run(str(SOURCES / "clusters.dot"), "--to", "svg", "--server", "nowhere")
    assert (code, "looks like http" in said) == (2, True)


@pytest.fixture
def paused(served: Served) -> Iterator[None]:
    """Nobody renders."""

    async def let(work: bool) -> None:
        async with Pressroom(served.database, workers=None) as press:
            await (press.resume("render") if work else press.pause("render"))

    asyncio.run(let(False))
    yield
    asyncio.run(let(True))


def _hear_interrupts() -> None:
    """A shell starts its background jobs, and all that they start, deaf to interrupts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.usefixtures("paused")
def test_an_interrupt_ends_the_waiting_and_not_the_job(served: Served, tmp_path: Path) -> None:
    (tmp_path / "a.dot").write_text(f"digraph {{ t{time.monotonic_ns()} }}")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pressroom", "render", "a.dot", "-o", "a.svg", "--server", served.url]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=theirs, env=os.environ | {"TERM": "xterm"}, preexec_fn=_hear_interrupts
    )
    os.close(theirs)
    said = b""
    while b"submitted" not in said and b"queued" not in said:  # at a terminal it tells how far it is
        said += os.read(ours, 1000)

    process.send_signal(signal.SIGINT)

    assert process.wait(300) == 130
    said += until(lambda: os.read(ours, 1000))
    os.close(ours)
    assert b"job_" in said
    assert b"goes on at" in said
    assert b"Traceback" not in said
    assert not (tmp_path / "a.svg").exists()

"""With `log_format = json` everything that `pressroom serve` and `pressroom work` write is one JSON object a line."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom import Pressroom, kind
from tests.processes.stage import ROOT

type Line = dict[str, Any]

# An application that writes plain text in every way that Python code can.
NOISY = """
import asyncio, gc, logging, sys, threading, warnings
from pressroom import kind

print("printed while it was imported")
warnings.warn("warned while it was imported")

def explode():
    raise ZeroDivisionError("exploded in a callback, a task and a thread")

async def explode_later():
    explode()

@kind("noisy")
async def noisy(job, payload):
    asyncio.get_running_loop().call_soon(explode)
    task = asyncio.create_task(explode_later())
    await asyncio.sleep(0.01)
    del task
    gc.collect()
    thread = threading.Thread(target=explode)
    thread.start()
    await asyncio.to_thread(thread.join)
    print("printed\\nin two lines")
    print("printed to standard error", file=sys.stderr)
    warnings.warn("warned in a job")
    logging.getLogger("noisy").warning("%d is no number", "this")

@kind("fails", max_attempts=1)
async def fails(job, payload):
    raise ValueError("a message\\nin two lines")
"""
SAID = (
    *("printed while it was imported", "warned while it was imported", "printed", "in two lines", "printed to standard error"),
    *("warned in a job", "Exception in callback", "Task exception was never retrieved", "ended by an unexpected error"),
    *("a line of the log could not be written", "ValueError: a message"),
)


class Output:
    """Both standard streams of a process, in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> list[Line]:
        """Every whole line. Fails at one that is not a line of a JSON log."""
        found = [json.loads(line) for line in self._path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        for line in found:
            assert {"ts", "level", "event"} <= line.keys(), line
            assert all(isinstance(line[name], str) for name in ("ts", "level", "event")), line
        return found

    def named(self, event: str) -> Line | None:
        return next((line for line in self.lines() if line["event"] == event), None)

    def has(self, words: str) -> bool:
        return any(words in f"{line['event']} {line.get('error', '')}" for line in self.lines())


def environ(folder: Path, **settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    ours = {"PRESSROOM_LOG_FORMAT": "json", "PRESSROOM_LEASE": "60", "PRESSROOM_HOME": str(folder)}
    path = {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "src")])}
    return kept | path | ours | settings


@contextmanager
def a_process(folder: Path, *arguments: str, **settings: str) -> Iterator[tuple[subprocess.Popen[bytes], Output]]:
    (folder / "noisy_kinds.py").write_text(NOISY)
    output = folder / f"{arguments[0]}.log"
    with output.open("wb") as file:
        command = [sys.executable, "-m", "pressroom", *arguments, "--import", "noisy_kinds"]
        process = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder, env=environ(folder, **settings))
        try:
            yield process, Output(output)
        finally:
            process.kill()
            process.wait()


def failed_start(folder: Path, *arguments: str, **settings: str) -> tuple[int, Output]:
    output = folder / "failed.log"
    with output.open("wb") as file:
        command = [sys.executable, "-m", "pressroom", *arguments]
        code = subprocess.call(command, stdout=file, stderr=file, cwd=folder, env=environ(folder, **settings), timeout=600)
    return code, Output(output)


@pytest.mark.parametrize("verbose", [(), ("-vv", "--json")], ids=["usual", "verbose"])
async def test_a_service_writes_json_from_its_start_to_its_stop(
    tmp_path: Path, eventually: Callable[..., Any], verbose: tuple[str, ...]
) -> None:
    with a_process(tmp_path, "serve", "--listen", "127.0.0.1:0", *verbose) as (process, output):
        started = await eventually(lambda: output.named("listening") or process.poll() is not None)
        async with httpx.AsyncClient(base_url=started["listening"], timeout=120) as client:
            for kind in ("noisy", "fails"):
                job = (await client.post("/jobs", json={"kind": kind, "payload": {}})).json()["id"]
                await client.get(f"/jobs/{job}?wait=60")
            refused = await client.post("/jobs", content=b"{", headers={"Content-Type": "application/json"})
            assert refused.status_code == 422
            with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
                connection.sendall(b"this is not HTTP\r\n\r\n")
                await asyncio.to_thread(connection.recv, 1000)
        process.terminate()
        code = await asyncio.to_thread(process.wait, 60)

        assert code == 0
        assert [words for words in SAID if not output.has(words)] == []


async def test_a_worker_writes_json_from_its_start_to_its_stop(
    tmp_path: Path, eventually: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    @kind("noisy")
    async def noisy(job: object, payload: object) -> None: ...

    @kind("fails", max_attempts=1)
    async def fails(job: object, payload: object) -> None: ...

    monkeypatch.chdir(tmp_path)
    async with Pressroom(f"sqlite:///{tmp_path}/pressroom.db", kinds=[noisy, fails], workers=None) as press:
        jobs = [await press.submit(name, {}) for name in ("noisy", "fails")]
        with a_process(tmp_path, "work") as (process, output):
            for job in jobs:
                await press.wait_until_ended(job, timeout=60)
            process.terminate()
            code = await asyncio.to_thread(process.wait, 60)

            assert code == 0
            assert output.named("working")["kinds"]
            assert [words for words in SAID if not output.has(words)] == []


@pytest.mark.parametrize(
    ("arguments", "settings", "code", "told"),
    [
        (("serve",), {"PRESSROOM_LEASE": "long", "PRESSROOM_GRACE": "-1"}, "invalid_settings", "PRESSROOM_LEASE: 'long'"),
        (("work", "--import", "broken"), {}, "invalid_settings", "'broken' failed while it was imported"),
        (("work", "--import", "absent"), {}, "invalid_settings", "'absent' cannot be imported"),
        (("work", "--database", "sqlite:///letter.txt"), {}, "not_a_database", "letter.txt"),
        (("serve", "--slots"), {}, "usage", "expected one argument"),
        (("serve", "--config", "torn.toml"), {"PRESSROOM_LOG_FORMAT": ""}, "invalid_settings", "torn.toml"),
    ],
)
def test_a_start_that_fails_is_told_as_json(
    tmp_path: Path, arguments: tuple[str, ...], settings: dict[str, str], code: str, told: str
) -> None:
    (tmp_path / "broken.py").write_text("print('before')\n1 / 0\n")
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam, " * 1000)
    (tmp_path / "torn.toml").write_text('log_format = "json"\nlease = \n')

    exit_code, output = failed_start(tmp_path, *arguments, **settings)

    assert exit_code == 2
    assert any(line.get("code") == code and told in line["event"] for line in output.lines()), output.lines()


def test_an_address_that_is_taken_is_told_as_json(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        code, output = failed_start(tmp_path, "serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")

    assert code != 0
    assert output.has("Address already in use")


def test_an_installation_that_cannot_be_imported_is_told_as_json(tmp_path: Path) -> None:
    """Before the command line is parsed: one of Pressroom's own packages is broken."""
    (tmp_path / "cronsim.py").write_text("raise RuntimeError('half an installation')\n")

    code, output = failed_start(tmp_path, "work")

    assert code == 1
    (line,) = output.lines()
    assert (line["level"], "half an installation" in line["error"]) == ("critical", True)


def test_commands_that_print_data_print_it_as_before(tmp_path: Path) -> None:
    """Only the log is JSON there: a table is not a log."""
    failed_start(tmp_path, "migrate")
    command = [sys.executable, "-m", "pressroom", "queue", "stats"]

    done = subprocess.run(command, cwd=tmp_path, env=environ(tmp_path), capture_output=True, text=True)

    assert done.stdout.startswith("0 queued, 0 running")
    assert done.stderr == ""

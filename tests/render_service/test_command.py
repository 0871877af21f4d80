"""`pressroom render-service`, as an operator starts it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.render_service.stage import HELLO, SLOW, TOKEN


@contextmanager
def started(folder: Path, *arguments: str, **environ: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, object]]]:
    command = [sys.executable, "-m", "pressroom", "render-service", *arguments, "--json"]
    process = subprocess.Popen(
        command, cwd=folder, env=os.environ | {"PRESSROOM_PRESSES": "1"} | environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield process, json.loads(line) if line else {}
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_it_needs_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not the address of the settings either: `pressroom serve` has that, and both may have the same environment."""
    environ = {"PRESSROOM_LISTEN": "0.0.0.0:8000", "PRESSROOM_DATABASE": "postgresql://nobody@127.0.0.1:1/none"}
    with started(tmp_path, "--listen", "127.0.0.1:0", **environ) as (process, told):
        made = httpx.post(f"{told['listening']}/render", json={"html": HELLO}, timeout=600, trust_env=False)
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=600)

    assert made.content.startswith(b"%PDF-")
    assert (code, told["needs_token"]) == (0, False)
    assert [*tmp_path.iterdir()] == []


def test_stopped_with_a_grace_it_lets_a_render_end_or_says_when_to_come_back(tmp_path: Path) -> None:
    with started(tmp_path, "--listen", "127.0.0.1:0", "--grace", "0.1", RENDER_TOKEN=TOKEN) as (process, told):
        with httpx.Client(trust_env=False, timeout=600, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
            figures = f"{told['listening']}/metrics"
            with client.stream("GET", figures):
                pass
            sending = subprocess.Popen(
                [sys.executable, "-c", _SEND, str(told["listening"]), TOKEN],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert sending.stdin is not None
            sending.stdin.write(SLOW)
            sending.stdin.close()
            while "slots_busy 1.0" not in client.get(figures).text:
                pass
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=600) == 0
        assert sending.stdout is not None
        answer = sending.stdout.read()
        sending.stdout.close()
        sending.wait(timeout=600)

    assert json.loads(answer) == [503, "queue_closed"]


_SEND = """
import json, sys, httpx
headers = {"Authorization": "Bearer " + sys.argv[2]}
answer = httpx.post(sys.argv[1] + "/render", json={"html": sys.stdin.read()}, headers=headers, timeout=600, trust_env=False)
print(json.dumps([answer.status_code, answer.json()["code"]]))
"""


def test_where_others_reach_it_it_wants_a_token(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pressroom", "render-service", "--listen", "0.0.0.0:0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert done.returncode == 2
    assert "set RENDER_TOKEN, or listen on 127.0.0.1" in done.stderr
    assert "Traceback" not in done.stderr

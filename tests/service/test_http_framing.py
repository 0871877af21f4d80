"""Bytes on a socket that are not quite HTTP, against a real `pressroom serve`; and what it says before anybody has a token."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def serving(home: Path, listen: str = "127.0.0.1:0", **env: str) -> Iterator[tuple[int, str]]:
    """The port of a server in a process of its own, and what it printed."""
    command = [sys.executable, "-m", "pressroom", "serve", "--no-workers", "--home", str(home), "--listen", listen]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PRESSROOM_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=clean | env) as process:
        assert process.stdout is not None
        said = ""
        try:
            while not re.search(r"(curl|token create) ", said):
                line = process.stdout.readline()
                assert line, said
                said += line
            found = re.search(r"http://[^\s]*?:(\d+)", said)
            assert found, said
            yield int(found[1]), said
        finally:
            process.terminate()
            process.wait(300)
    assert process.returncode == 0


def exchange(port: int, *parts: bytes, pause: float = 0.0, hang_up: bool = False) -> bytes:
    """`hang_up` says that nothing more will come, upon which a server need not answer any more."""
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
        except OSError:  # it has hung up on us, which is an answer
            pass
        answer = b""
        try:
            while chunk := connection.recv(65_536):
                answer += chunk
        except OSError:
            pass
        return answer


HEAD = b"POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
BODY = b'{"kind": "nobody"}'

FRAMES: dict[str, tuple[list[bytes], set[int]]] = {  # H1; 0 is a connection that was closed without a word
    "a whole request": ([HEAD + b"Content-Length: 18\r\n\r\n" + BODY], {422}),
    "a body shorter than it says": ([HEAD + b"Content-Length: 100\r\n\r\n" + BODY], {0, 400, 422}),
    "a body longer than it says": ([HEAD + b"Content-Length: 2\r\n\r\n{}" + b"x" * 1000], {400, 422}),
    "two lengths": ([HEAD + b"Content-Length: 2\r\nContent-Length: 18\r\n\r\n" + BODY], {400}),
    "a negative length": ([HEAD + b"Content-Length: -1\r\n\r\n"], {400}),
    "a length of letters": ([HEAD + b"Content-Length: ten\r\n\r\n"], {400}),
    "both length and chunks": ([HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], {400, 422}),
    "chunks with a trailer": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n12\r\n" + BODY + b"\r\n0\r\nX-A: b\r\n\r\n"], {422}),
    "a chunk of a wrong size": ([HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n0\r\n\r\n"], {0, 400}),
    "an unknown transfer encoding": ([HEAD + b"Transfer-Encoding: gzip\r\n\r\n"], {400, 501}),
    "a header of 200 KB": (
        [b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"y" * 200_000 + b"\r\n\r\n"],
        {0, 400, 431},
    ),
    "ten thousand headers": ([b"GET /livez HTTP/1.1\r\nConnection: close\r\n" + b"X: y\r\n" * 20_000 + b"\r\n"], {0, 400, 431}),
    "an address of 200 KB": ([b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"], {0, 400, 414, 431}),
    "a folded header": ([b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\nConnection: close\r\n\r\n"], {200, 400}),
    "a NUL in a header": ([b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n"], {400}),
    "a NUL in the path": ([b"GET /jobs/%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {404}),
    "a path that climbs": ([b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {404}),
    "no HTTP at all": ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"], {0, 400}),
    "no host": ([b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n"], {400}),
    "two hosts": ([b"GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {400}),
    "HTTP/0.9": ([b"GET /livez\r\n\r\n"], {400}),
    "HTTP/0.9 by its name": ([b"GET /livez HTTP/0.9\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {400}),
    "GET *": ([b"GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {400}),
    "OPTIONS *": ([b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {400}),
    "an authority": ([b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], {400}),
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("framing")) as (port, _):
        yield port


@pytest.mark.parametrize("frame", FRAMES)
def test_a_request_that_is_not_quite_http_is_refused(port: int, frame: str) -> None:
    parts, statuses = FRAMES[frame]

    answer = exchange(port, *parts, hang_up=frame == "a body shorter than it says")

    status = int(answer.split()[1]) if answer else 0
    assert status in statuses, answer[:500]
    assert not status or b"x-content-type-options: nosniff" in answer.partition(b"\r\n\r\n")[0].lower()
    if status == 400:
        head, _, told = answer.partition(b"\r\n\r\n")
        assert b"content-type: application/problem+json" in head.lower()
        assert json.loads(told)["status"] == 400
        assert json.loads(told)["code"] == "malformed_request"
    assert exchange(port, b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 200")


def test_a_body_in_pieces_is_a_body(port: int) -> None:
    parts = [HEAD + b"Content-Length: 18\r\n\r\n", BODY[:5], BODY[5:]]

    answer = exchange(port, *parts, pause=0.05)

    assert answer.startswith(b"HTTP/1.1 422")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "unknown_kind"


def test_a_service_for_others_without_a_token_says_how_to_make_one(tmp_path: Path) -> None:
    with serving(tmp_path, "0.0.0.0:0") as (port, said):
        assert "every request is answered with 401" in said
        command = re.search(r"pressroom token create .*", said)
        assert command
        request = b"GET /jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n"
        assert exchange(port, request % b"").startswith(b"HTTP/1.1 401")

        made = subprocess.run(
            f"{shlex.quote(sys.executable)} -m {command[0]}", shell=True, capture_output=True, text=True, check=True
        )

        token = made.stdout.strip().encode()
        assert exchange(port, request % (b"Authorization: Bearer %s\r\n" % token)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "size", "media_type"),
    [
        ("/jobs", 13_000_000, "application/json"),
        ("/jobs", 40_000_000, "application/json"),
        ("/desk/login", 200_000, "application/x-www-form-urlencoded"),
        ("/desk/login", 12_000_000, "application/x-www-form-urlencoded"),
    ],
)
def test_an_ordinary_client_reads_that_its_body_is_too_large(port: int, path: str, size: int, media_type: str) -> None:
    """It sends all of it before it reads: it must not be cut off meanwhile."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=b"x" * size, headers={"Content-Type": media_type}, method="POST"
    )

    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)

    assert refused.value.code == 413
    assert refused.value.read()


def test_a_login_that_is_half_sent_holds_no_more_than_its_limit(port: int) -> None:
    head = b"POST /desk/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n%s\r\n"

    for framing in (b"Content-Length: 12000000\r\n", b"Transfer-Encoding: chunked\r\n"):
        chunk = b"%x\r\n%s\r\n" % (100_000, b"x" * 100_000) if b"chunked" in framing else b"x" * 100_000
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(head % framing + chunk)  # and no more

            assert connection.recv(65_536).startswith(b"HTTP/1.1 413")

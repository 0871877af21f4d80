"""Requests as fast as a server answers them: by wrk where it is installed, and by a small client of ours where it is not."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import place
from bench.http_servers import cores

CONNECTIONS = 64


@dataclass(frozen=True)
class Ask:
    """One request, to be repeated."""

    method: str
    url: str
    body: str = ""
    media_type: str = "application/json"


def rate(ask: Ask, seconds: float, folder: Path) -> float:
    """Answers in a second, over 64 connections from the other core. Raises if one of them was not a success."""
    pin = ["taskset", "-c", str(cores()[1])]
    if shutil.which("wrk"):
        return _rate_by_wrk(pin, ask, seconds, folder)
    argv = [*pin, sys.executable, "-m", "bench.http_load", json.dumps(vars(ask)), str(seconds)]
    return float(subprocess.run(argv, cwd=place.ROOT, check=True, capture_output=True, text=True).stdout)


def generator() -> str:
    return "wrk" if shutil.which("wrk") else "an asyncio client"


def _rate_by_wrk(pin: list[str], ask: Ask, seconds: float, folder: Path) -> float:
    script = folder / "wrk.lua"
    script.write_text(
        f"wrk.method = {json.dumps(ask.method)}\nwrk.body = {json.dumps(ask.body)}\n"
        f'wrk.headers["Content-Type"] = {json.dumps(ask.media_type)}\n'
        if ask.body
        else ""
    )
    argv = [*pin, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(seconds))}s", "-s", str(script), ask.url]
    said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    if refused := re.search(r"Non-2xx or 3xx responses: (\d+)", said):
        raise RuntimeError(f"{refused[1]} answers of {ask.url} were no success:\n{said}")
    found = re.search(r"Requests/sec:\s+([\d.]+)", said)
    assert found is not None, said
    return float(found[1])


async def _rate_by_hand(ask: Ask, seconds: float) -> float:
    _, _, rest = ask.url.partition("://")
    host, _, path = rest.partition("/")
    name, _, port = host.partition(":")
    body = ask.body.encode()
    about = f"Host: {host}\r\nContent-Type: {ask.media_type}\r\nContent-Length: {len(body)}"
    head = f"{ask.method} /{path} HTTP/1.1\r\n{about}\r\n\r\n"
    loop = asyncio.get_running_loop()
    answered, until = 0, loop.time() + seconds

    async def connection() -> None:
        nonlocal answered
        reader, writer = await asyncio.open_connection(name, int(port))
        while loop.time() < until:
            writer.write(head.encode() + body)
            told = (await reader.readuntil(b"\r\n\r\n")).lower()
            if told[9:10] not in b"23":
                raise RuntimeError(f"{ask.url} answered {told[:200]!r}")
            length = re.search(rb"content-length: (\d+)", told)
            await reader.readexactly(int(length[1]) if length else 0)
            answered += 1
        writer.close()

    await asyncio.gather(*(connection() for _ in range(CONNECTIONS)))
    return answered / seconds


if __name__ == "__main__":
    print(asyncio.run(_rate_by_hand(Ask(**json.loads(sys.argv[1])), float(sys.argv[2]))))

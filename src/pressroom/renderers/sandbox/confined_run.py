"""Run a module of ours once in a process of its own: confined, and killed at its limits.

For work on bytes of strangers that no engine process can take: input that is longer than memory, or many files as output.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any

from pressroom.errors import EngineCrashed, Timeout, TooLarge
from pressroom.renderers.sandbox.process_tree import kill_process_tree
from pressroom.renderers.sandbox.python_process import READABLE_PATHS, python_command

log = logging.getLogger("pressroom.sandbox")

STDERR_BYTES = 64 * 1024
_READ_SIZE = 256 * 1024


async def run_confined(
    module: str, instructions: dict[str, Any], data: AsyncIterable[bytes], *, folder: Path, seconds: float, output: int
) -> bytes:
    """What `main` of a module writes to its standard output, at most `output` bytes. All of `data` is read, also if the process
    does not take it.

    `instructions` are its argument, with `reads` and `writes` for `confine`; it may write in `folder` alone. Raises Timeout,
    TooLarge and EngineCrashed.
    """
    given = {**instructions, "reads": [str(path) for path in READABLE_PATHS], "writes": [str(folder), "/dev/null"]}
    process = await asyncio.create_subprocess_exec(
        *python_command(module, given),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env={"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder), "TMPDIR": str(folder)},
        start_new_session=True,
        umask=0o077,
    )
    try:
        async with asyncio.timeout(seconds):
            answer, stderr = await _talk(process, data, output)
            code = await process.wait()
    except TimeoutError:
        raise Timeout(f"{module.rpartition('.')[2]} did not finish within {seconds:g} s") from None
    finally:
        if process.returncode is None:
            kill_process_tree(process.pid)
        await asyncio.shield(process.wait())
    if code != 0:
        log.error("%s ended with %s: %s", module, code, stderr.decode(errors="replace")[-2000:])
        raise EngineCrashed(f"{module.rpartition('.')[2]} ended with {_description(code)}")
    return answer


async def _talk(process: asyncio.subprocess.Process, data: AsyncIterable[bytes], output: int) -> tuple[bytes, bytes]:
    """What it writes to its standard output and, the end of it, to its standard error."""
    feeding = asyncio.ensure_future(_feed(process, data))
    reading = asyncio.ensure_future(_read(process.stdout, output))
    complaining = asyncio.ensure_future(_read_end(process.stderr, STDERR_BYTES))
    try:
        _, answer, stderr = await asyncio.gather(feeding, reading, complaining)
    finally:
        for task in (feeding, reading, complaining):
            task.cancel()
        await asyncio.gather(feeding, reading, complaining, return_exceptions=True)
    return answer, stderr


async def _feed(process: asyncio.subprocess.Process, data: AsyncIterable[bytes]) -> None:
    assert process.stdin is not None
    is_open = True
    async for chunk in data:
        if not is_open:
            continue
        try:
            process.stdin.write(chunk)
            await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):  # it has read enough to refuse it
            is_open = False
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.close()
        await process.stdin.wait_closed()


async def _read(pipe: asyncio.StreamReader | None, limit: int) -> bytes:
    assert pipe is not None
    read = bytearray()
    while chunk := await pipe.read(_READ_SIZE):
        read += chunk
        if len(read) > limit:
            raise TooLarge(f"a sandboxed process wrote more than {limit:,} bytes")
    return bytes(read)


async def _read_end(pipe: asyncio.StreamReader | None, limit: int) -> bytes:
    assert pipe is not None
    read = b""
    while chunk := await pipe.read(_READ_SIZE):
        read = (read + chunk)[-limit:]
    return read


def _description(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    return f"the signal {name}"

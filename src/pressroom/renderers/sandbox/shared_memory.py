"""What is costly to make and the same for every engine process of an engine, such as compiled code: made once for this process.

It may be native code, so no engine process may change what another gets. It is made outside of them, in a process of its own
that reads no source, and kept in memory that is sealed against writing, never in a file.
"""

import fcntl
import importlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence

from pressroom.renderers import Engine

log = logging.getLogger(__name__)

PREPARE_TIMEOUT = 60.0  # seconds

_lock = threading.Lock()
_memory_by_engine: dict[type[Engine], int | None] = {}


def has_prepare_step(engine: type[Engine]) -> bool:
    return engine.prepare.__func__ is not Engine.prepare.__func__ and hasattr(os, "memfd_create")  # type: ignore[attr-defined]


def prepared_memory(engine: type[Engine], command: Sequence[str]) -> int | None:
    """A file descriptor to read it from, or None: then each engine process makes its own. The first call takes as long as it
    takes.

    `command` runs `main` for the engine.
    """
    with _lock:
        if engine not in _memory_by_engine:
            _memory_by_engine[engine] = _run_prepare(engine, command)
        return _memory_by_engine[engine]


def _run_prepare(engine: type[Engine], command: Sequence[str]) -> int | None:
    try:
        completed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PREPARE_TIMEOUT)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as reason:
        log.warning("%s could not be prepared, so that its engine processes start slowly: %s", engine.name, reason)
        return None
    if completed.returncode != 0 or not completed.stdout:
        stderr = completed.stderr[-2000:].decode(errors="replace")
        log.warning("%s could not be prepared, so that its engine processes start slowly: %s", engine.name, stderr)
        return None
    return _make_sealed_memory(completed.stdout)


def _make_sealed_memory(data: bytes) -> int:
    memory = os.memfd_create("pressroom-prepared", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(memory), "wb") as file:
        file.write(data)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, seals)
    return memory


def read_memory(memory: int) -> bytes:
    """All engine processes share one offset in it, so none is moved."""
    return os.pread(memory, os.fstat(memory).st_size, 0)


def main(module: str, name: str) -> None:
    """In the process that makes it: write it to standard output, and let nothing else get there."""
    out = os.dup(1)
    os.dup2(2, 1)
    engine: type[Engine] = getattr(importlib.import_module(module), name)
    with os.fdopen(out, "wb") as file:
        file.write(engine.prepare() or b"")
    sys.stderr.flush()

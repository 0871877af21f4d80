"""Imports an application's modules in a child process with a time limit: their own code may hang or crash."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from pressroom import registry
from pressroom.renderers.sandbox.confinement import become_subreaper, die_with_parent
from pressroom.renderers.sandbox.process_tree import kill_process_tree

LIMIT = 30.0  # seconds for each module

# The child finds modules where this process finds them, ourselves among them.
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from pressroom.cli.import_check import report_problems
report_problems(sys.argv[2])
"""


def import_problems(modules: Sequence[str]) -> list[str]:
    """What keeps each of these modules from being imported, in a line. Every process that an import started is killed."""
    return [problem for name in modules for problem in _problems_of(name)]


def _problems_of(name: str) -> list[str]:
    command = [sys.executable, "-c", _CHILD, json.dumps(sys.path), name]
    with subprocess.Popen(  # noqa: S603
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as child:
        try:
            assert child.stdout is not None
            answer = _read_line(child.stdout.fileno(), time.monotonic() + LIMIT)
        finally:
            kill_process_tree(child.pid)
            code = child.wait()
    if answer is None:
        return [f"imports: {name!r} did not finish within {LIMIT:g} s while it was imported"]
    try:
        return list(json.loads(answer))
    except ValueError:
        return [f"imports: {name!r} ended its process while it was imported ({_describe_exit(code)})"]


def _read_line(descriptor: int, deadline: float) -> bytes | None:
    """Up to a line break or the end. None if neither came before the deadline."""
    read = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while not read.endswith(b"\n"):
            if not selector.select(max(0.0, deadline - time.monotonic())):
                return None
            piece = os.read(descriptor, 65_536)
            if not piece:
                break
            read += piece
    return read


def _describe_exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def report_problems(name: str) -> None:
    """In the child: import one module, write its problems to standard output, and wait to be killed with what it started."""
    die_with_parent()
    become_subreaper()
    answer = os.dup(1)
    with open(os.devnull, "r+b") as nowhere:  # what the module prints is not an answer
        os.dup2(nowhere.fileno(), 1)
    problems = registry.import_problems([name])
    with contextlib.suppress(BrokenPipeError):
        os.write(answer, json.dumps(problems).encode() + b"\n")
    while True:
        signal.pause()

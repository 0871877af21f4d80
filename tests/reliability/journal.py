"""What clients and handlers saw, written where no victim can take it along.

Every process appends to one file; each line is a single write, so that it is there whole or not at all, and stays when
its writer is killed a moment later. The lab, which outlives them all, syncs the file.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

type Kind = Literal["invoke", "ok", "fail", "info"]


class Line(msgspec.Struct, frozen=True):
    """One thing that happened. `invoke` begins an operation; `ok`, `fail` or nothing at all is how it ended."""

    at: int  # CLOCK_MONOTONIC, the same for all processes of the machine
    pid: int
    type: Kind
    do: str
    data: dict[str, Any]


class Journal:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        self._read = 0
        self._rest = b""

    def write(self, type: Kind, do: str, **data: Any) -> None:
        line = Line(time.monotonic_ns(), os.getpid(), type, do, data)
        os.write(self._file, msgspec.json.encode(line) + b"\n")

    def sync(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)

    def news(self) -> Iterator[Line]:
        """The lines that came since the last call."""
        while more := os.pread(self._file, 1 << 20, self._read):
            self._read += len(more)
            *lines, self._rest = (self._rest + more).split(b"\n")
            yield from map(_line, lines)


_line = msgspec.json.Decoder(Line).decode


def load(path: Path) -> list[Line]:
    lines = [_line(text) for text in path.read_bytes().splitlines()]
    return sorted(lines, key=lambda line: line.at)

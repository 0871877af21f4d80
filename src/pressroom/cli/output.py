"""What the commands print: data on standard output, everything else on standard error. With JSON logs, one log line each."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from pressroom.api import logs
from pressroom.cli.process_output import unwrapped
from pressroom.model import Event

_BAR = 24


class Output:
    """`as_log` is for commands whose output is collected as a JSON log: everything is one line of that log."""

    def __init__(self, *, as_json: bool, as_log: bool = False) -> None:
        self.as_json = as_json or as_log
        self.as_log = as_log
        self.live = sys.stdout.isatty() and not self.as_json and os.environ.get("TERM") != "dumb"

    def data(self, value: Any, event: str = "result") -> None:
        """One JSON value on one line. `event` is what a log calls it."""
        plain = msgspec.to_builtins(value)
        if self.as_log:
            self._log("info", event, **(plain if isinstance(plain, dict) else {"value": plain}))
        else:
            print(json.dumps(plain, ensure_ascii=False, default=str), flush=True)

    def warn(self, text: str) -> None:
        """A line that a log has as a warning. It is not part of the data."""
        if self.as_log:
            self._log("warning", text)
        elif not self.as_json:
            self.line(text)

    def line(self, text: str = "") -> None:
        print(_printable(text), flush=True)

    def note(self, text: str) -> None:
        """For people, and never for a pipe."""
        if self.as_log:
            self._log("info", text)
        else:
            print(_printable(text), file=sys.stderr, flush=True)

    def _log(self, level: str, event: str, **fields: Any) -> None:
        print(logs.json_line(level, event, **fields), file=unwrapped(sys.stdout), flush=True)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Columns as wide as they need to be; the last one is cut at the edge of a terminal."""
        cells = [header, *([("" if cell is None else _printable(str(cell))) for cell in row] for row in rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
        room = shutil.get_terminal_size((10_000, 24)).columns if self.live else 10_000
        for row in cells:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()[:room])


class EventPrinter:
    """Events as they come: a bar that moves in a terminal, plain lines elsewhere."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._bar_shown = False

    def show(self, event: Event) -> None:
        if self._output.as_json:
            self._output.data(event)
            return
        if self._output.live and event.type == "progress" and "total" in event.data:
            sys.stdout.write(f"\r\x1b[K{_printable(format_progress_bar(event.data))}")
            sys.stdout.flush()
            self._bar_shown = True
            return
        if self._bar_shown:
            sys.stdout.write("\n")
            self._bar_shown = False
        moment = event.at.strftime("%H:%M:%S.%f")[:-3]
        self._output.line(f"{moment}  {event.type:<22}{describe_event(event)}".rstrip())


def format_progress_bar(data: dict[str, Any]) -> str:
    done, total = data["done"], data["total"]
    filled = _BAR * done // total if total else _BAR
    return f"{'█' * filled}{'·' * (_BAR - filled)} {done}/{total} {data.get('message', '')}"


def describe_event(event: Event) -> str:
    data = dict(event.data)
    if "total" in data:
        return f"{data.get('phase', '')} {data['done']}/{data['total']} {data.get('message', '')}".strip()
    error = data.pop("error", None)
    parts = [f"{name}={value}" for name, value in data.items() if name != "items"]
    if isinstance(error, dict):
        place = f" (line {error['line']}, column {error.get('column', '?')})" if "line" in error else ""
        parts.append(f"{error.get('code')}: {error.get('message')}{place}")
    elif error:
        parts.append(str(error))
    return " ".join(parts)


def format_age(moment: datetime | None, now: datetime | None = None) -> str:
    if moment is None:
        return ""
    return format_duration((now or datetime.now(UTC)) - moment)


def format_duration(length: timedelta) -> str:
    seconds = max(0.0, length.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _printable(text: str) -> str:
    """Nothing that a job says may move the cursor or colour the terminal of who looks at it."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)

"""Standard output and standard error of a process whose log is JSON: one JSON object a line, from the first line on.

`start` is for programs, not for libraries: it changes the process's handlers, hooks and streams, and does not change them back.
"""

import atexit
import io
import logging
import sys
import threading
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO

from pressroom.api import logs

log = logging.getLogger("pressroom")

# Commands whose whole output a service manager collects as the log. What other commands print is data, and is left alone.
LOGGED_COMMANDS = ("serve", "work", "render-service", "demo", "promote", "migrate")
LONGEST_LINE = 64 * 1024  # characters that are printed without a line break before they become a line


class JsonLogHandler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Python's own prints a traceback as plain text."""
        line = logs.json_line(
            "error",
            f"a line of the log could not be written: {record.msg!r}",
            logger=record.name,
            error=logs.redacted(traceback.format_exc()),
        )
        with suppress(Exception):  # the stream is closed, or nothing reads it any more
            self.stream.write(f"{line}\n")
            self.flush()


class JsonLines(io.TextIOBase):
    """A standard stream that turns each line that is printed to it into a line of the JSON log."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self.stream = stream
        self._name = name
        self._unfinished = ""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._unfinished = (self._unfinished + text).split("\n")
            if len(self._unfinished) > LONGEST_LINE:
                lines, self._unfinished = [*lines, self._unfinished], ""
            for line in lines:
                self._write_line(line)
        return len(text)

    def finish_line(self) -> None:
        with self._lock:
            line, self._unfinished = self._unfinished, ""
            self._write_line(line)

    def _write_line(self, line: str) -> None:
        if line.strip():
            event = logs.redacted(line.rstrip("\r"))
            self.stream.write(f"{logs.json_line('info', event, logger=self._name)}\n")
            self.stream.flush()

    def flush(self) -> None:
        """Writes whole lines only: what has no line break yet is not an event yet."""
        self.stream.flush()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.stream.fileno()

    @property
    def buffer(self) -> Any:
        return self.stream.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding


def start_json_output(command: str | None) -> None:
    """Write the log, warnings and uncaught errors of this process as JSON; for `LOGGED_COMMANDS` also what is printed."""
    root = logging.getLogger()
    root.addHandler(JsonLogHandler(sys.stderr))
    logs.set_log_format("json")
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    sys.unraisablehook = _log_unraisable
    threading.excepthook = _log_uncaught_in_thread
    if command in LOGGED_COMMANDS:
        sys.stdout, sys.stderr = JsonLines(sys.stdout, "stdout"), JsonLines(sys.stderr, "stderr")
        atexit.register(sys.stdout.finish_line)
        atexit.register(sys.stderr.finish_line)


def is_json_output_started() -> bool:
    return any(isinstance(handler, JsonLogHandler) for handler in logging.getLogger().handlers)


def unwrapped(stream: TextIO) -> TextIO:
    """The stream itself, for a line that is JSON already."""
    return stream.stream if isinstance(stream, JsonLines) else stream


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        log.warning("interrupted")
    else:
        log.critical("ended by an unexpected error: %s", kind.__name__, exc_info=(kind, error, trace))


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None or issubclass(args.exc_type, SystemExit):
        return
    thread = "a thread" if args.thread is None else f"the thread {args.thread.name}"
    log.error("%s ended by an unexpected error", thread, exc_info=args.exc_value)


def _log_unraisable(args: "sys.UnraisableHookArgs") -> None:
    log.error("%s: %r", args.err_msg or "Exception ignored in", args.object, exc_info=args.exc_value)

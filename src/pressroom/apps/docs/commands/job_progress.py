"""How far a job is, for people: a line for each phase and for each edition, once, and a line that moves in a terminal."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pressroom.cli import exits
from pressroom.cli.output import Output, format_progress_bar
from pressroom.model import Job, Status


class JobState(msgspec.Struct, frozen=True, kw_only=True):
    """A job at a moment, the same from the database and from a service. `error` is what it failed of."""

    id: str
    kind: str
    status: Status
    phase: str | None
    progress: dict[str, Any] | None
    error: dict[str, Any] | None

    @property
    def exit_code(self) -> int:
        """Of a command that waited for the job."""
        match self.status:
            case Status.COMPLETED:
                return exits.OK
            case Status.COMPLETED_WITH_ERRORS:
                return exits.PARTIAL
            case _ if (self.error or {}).get("code") == "source_invalid":
                return exits.SOURCE_INVALID
            case _:
                return exits.FAILED


def state_of_job(job: Job) -> JobState:
    return JobState(
        id=job.uid,
        kind=job.kind.removeprefix("docs."),
        status=job.status,
        phase=job.phase,
        progress=job.progress,
        error=job.errors[-1] if job.errors else None,
    )


class StateReader:
    """What is new in a state of a job, in words. A job that is tried again tells its phases again."""

    def __init__(self) -> None:
        self._phase: str | None = None
        self._message: str | None = None
        self._told: set[tuple[str, str]] = set()
        self._queued = False

    def read(self, state: JobState) -> Iterator[str]:
        if state.status is Status.QUEUED:
            yield from self._read_queued(state)
            return
        progress = state.progress or {}
        message = progress.get("message")
        if state.phase is not None and (state.phase, message) != (self._phase, self._message):
            if state.phase != self._phase:
                self._told.clear()
            if state.phase != self._phase or message:
                yield f"{state.phase}: {message}" if message else state.phase
            self._phase, self._message = state.phase, message
        yield from self._read_items(progress)

    def _read_queued(self, state: JobState) -> Iterator[str]:
        if self._phase is not None:
            reason = (state.error or {}).get("message", "")
            yield f"it is tried again{f': {reason}' if reason else ''}"
            self._phase = None
        elif not self._queued:
            yield "queued"
        self._queued = True

    def _read_items(self, progress: Mapping[str, Any]) -> Iterator[str]:
        """Each edition (or project, or organisation) when it has ended."""
        noun = next((name.removesuffix("_total") for name in progress if name.endswith("_total")), None)
        if noun is None:
            return
        details = progress.get(f"{noun}_detail") or {}
        for slug in progress.get(f"{noun}_completed") or ():
            address = (details.get(slug) or {}).get("published_url")
            yield from self._once(slug, "completed", f"  {slug}: published{f' at {address}' if address else ''}", noun)
        for failed in progress.get(f"{noun}_failed") or ():
            yield from self._once(failed["slug"], "failed", f"  {failed['slug']}: failed, {failed['error']}", noun)
        for skipped in progress.get(f"{noun}_skipped") or ():
            yield from self._once(skipped["slug"], "skipped", f"  {skipped['slug']}: stays, {skipped['reason']}", noun)

    def _once(self, slug: str, what: str, line: str, noun: str) -> Iterator[str]:
        if (slug, what) not in self._told:
            self._told.add((slug, what))
            yield line if noun == "editions" else line.replace(": published", ": done")


class ProgressPrinter:
    """On standard error; nothing with `--json`."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._reader = StateReader()
        self._live = sys.stderr.isatty() and output.live
        self._quiet = output.as_json

    def show(self, state: JobState) -> None:
        if self._quiet:
            return
        lines = list(self._reader.read(state))
        if lines:
            self.end()
        for line in lines:
            self._output.note(line)
        if self._live and state.status is Status.IN_PROGRESS:
            sys.stderr.write(f"\r\x1b[K{_printable(_bar(state))}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _bar(state: JobState) -> str:
    progress = state.progress or {}
    noun = next((name.removesuffix("_total") for name in progress if name.endswith("_total")), None)
    if noun is not None:
        done = len(progress.get(f"{noun}_completed") or ()) + len(progress.get(f"{noun}_failed") or ())
        return format_progress_bar({"done": done, "total": progress[f"{noun}_total"], "message": noun})
    if progress.get("total"):
        return format_progress_bar({"done": progress.get("done", 0), "total": progress["total"], "message": state.phase or ""})
    return f"{state.phase or state.kind} …"


def _printable(text: str) -> str:
    return "".join(letter for letter in text if letter.isprintable())

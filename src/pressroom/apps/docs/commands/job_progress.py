"""How far a job is, for people: a line for each phase and for each edition, once, and a line that moves in a terminal."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from pressroom.cli import exits
from pressroom.cli.output import Output
from pressroom.model import Job, Status


class JobEvent(Protocol):
    """An event of a job, from the database or from a service."""

    @property
    def type(self) -> str: ...

    @property
    def data(self) -> dict[str, Any]: ...


class EndedJob(msgspec.Struct, frozen=True, kw_only=True):
    """How a job ended. `error` is what it failed of, `{code, message}`."""

    id: str
    kind: str
    status: Status
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

    def describe_error(self) -> str:
        """Empty if there is none."""
        if self.error is None or self.status is Status.COMPLETED:
            return ""
        code = f" [{self.error['code']}]" if self.error.get("code") else ""
        return f"{self.error.get('message') or 'it failed'}{code}"


def ended_job(job: Job) -> EndedJob:
    return EndedJob(
        id=job.uid, kind=job.kind.removeprefix("docs."), status=job.status, error=job.errors[-1] if job.errors else None
    )


class EventReader:
    """What an event says, in words. `phase` and `items` are what the job does now, for the line that moves."""

    def __init__(self) -> None:
        self.phase = ""
        self.items = 0  # that have ended in this phase
        self._message: str | None = None

    def read(self, event: JobEvent) -> Iterator[str]:
        data = event.data
        match event.type:
            case "queued":
                yield "queued"
            case "retrying":
                yield f"failed: {(data.get('error') or {}).get('message', '')}; it is tried again"
            case "phase":
                self.phase, self.items, self._message = str(data.get("phase", "")), 0, data.get("message")
                yield f"{self.phase}: {self._message}" if self._message else self.phase
            case "progress" if data.get("message") not in (None, self._message):
                self._message = data["message"]
                yield f"{self.phase}: {self._message}"
            case "item":
                self.items += 1
                yield _describe_item(data)

    def describe_now(self) -> str:
        return f"{self.phase}: {self.items} done" if self.items else f"{self.phase or 'waiting'} …"


def _describe_item(data: Mapping[str, Any]) -> str:
    """`editions` are published; projects and organisations are done."""
    if data.get("state") == "failed":
        return f"  {data.get('name')}: failed, {data.get('error')}"
    return f"  {data.get('name')}: {'published' if data.get('noun') == 'editions' else 'done'}"


class ProgressPrinter:
    """On standard error; nothing with `--json`."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._reader = EventReader()
        self._live = output.live and sys.stderr.isatty()

    def show(self, event: JobEvent) -> None:
        if self._output.as_json:
            return
        lines = list(self._reader.read(event))
        self.end()
        for line in lines:
            self._output.note(line)
        if self._live:
            sys.stderr.write("".join(letter for letter in self._reader.describe_now() if letter.isprintable()))
            sys.stderr.flush()

    def end(self) -> None:
        """Clear the line that moves."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

"""What a person reads while a job runs, and the exit code of the command that waited for it (Q8, Q24)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from pressroom.apps.docs.commands.job_progress import EndedJob, EventReader
from pressroom.cli import exits
from pressroom.model import Event, Status


def event(type: str, **data: Any) -> Event:
    return Event(1, 1, "01K", datetime.now(UTC), type, data)


def read(*events: Event) -> list[str]:
    reader = EventReader()
    return [line for one in events for line in reader.read(one)]


def test_each_phase_and_each_edition_is_told_once() -> None:
    lines = read(
        event("queued"),
        event("started", attempt=1),
        event("phase", phase="inventory", message="Reading the archive"),
        event("progress", message="Cataloging 1,247 objects"),
        event("progress", message="Cataloging 1,247 objects"),
        event("phase", phase="tracking"),
        event("phase", phase="editions"),
        event("item", noun="editions", name="__main", state="completed"),
        event("item", noun="editions", name="2.1", state="failed", error="the KV does not answer"),
        event("phase", phase="dashboard"),
        event("completed_with_errors"),
    )

    assert lines == [
        "queued",
        "inventory: Reading the archive",
        "inventory: Cataloging 1,247 objects",
        "tracking",
        "editions",
        "  __main: published",
        "  2.1: failed, the KV does not answer",
        "dashboard",
    ]


def test_another_attempt_tells_its_phases_again() -> None:
    lines = read(
        event("phase", phase="inventory"),
        event("retrying", error={"code": "unavailable", "message": "the store does not answer"}, wait=5),
        event("phase", phase="inventory"),
    )

    assert lines == ["inventory", "failed: the store does not answer; it is tried again", "inventory"]


def test_items_that_are_no_editions_are_not_published() -> None:
    assert read(event("item", noun="projects", name="guide", state="completed")) == ["  guide: done"]


@pytest.mark.parametrize(
    ("status", "error", "code", "said"),
    [
        ("completed", None, exits.OK, ""),
        ("completed", {"code": "unavailable", "message": "of an attempt before"}, exits.OK, ""),
        ("completed_with_errors", None, exits.PARTIAL, ""),
        ("failed", {"code": "source_invalid", "message": "no"}, exits.SOURCE_INVALID, "no [source_invalid]"),
        ("failed", {"code": None, "message": ""}, exits.FAILED, "it failed"),
        ("cancelled", None, exits.FAILED, ""),
    ],
)
def test_the_exit_code_is_that_of_the_job(status: str, error: dict[str, Any] | None, code: int, said: str) -> None:
    ended = EndedJob(id="01K", kind="build_processing", status=Status(status), error=error)

    assert (ended.exit_code, ended.describe_error()) == (code, said)

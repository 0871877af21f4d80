"""What a person reads while a job runs, and the exit code of the command that waited for it (Q8, Q24)."""

from typing import Any

import pytest

from pressroom.apps.docs.commands.job_progress import JobState, StateReader
from pressroom.cli import exits
from pressroom.model import Status

EDITIONS = {
    "editions_total": 3,
    "editions_completed": ["__main"],
    "editions_failed": [],
    "editions_in_progress": ["2", "2.1"],
    "editions_detail": {"__main": {"published_url": "http://127.0.0.1:8001/acme/guide/"}},
}


def state(
    status: str = "in_progress", phase: str | None = None, error: dict[str, Any] | None = None, **progress: Any
) -> JobState:
    return JobState(
        id="01K", kind="build_processing", status=Status(status), phase=phase, progress=progress or None, error=error
    )


def read(*states: JobState) -> list[str]:
    reader = StateReader()
    return [line for one in states for line in reader.read(one)]


def test_each_phase_and_each_edition_is_told_once() -> None:
    failed = EDITIONS | {
        "editions_completed": ["__main", "2"],
        "editions_failed": [{"slug": "2.1", "error": "the KV does not answer"}],
        "editions_skipped": [{"slug": "1", "reason": "2.1.0 is of another major"}],
    }

    lines = read(
        state("queued"),
        state("queued"),
        state(phase="inventory"),
        state(phase="inventory", message="Cataloging 1,247 objects"),
        state(phase="inventory", message="Cataloging 1,247 objects"),
        state(phase="tracking"),
        state(phase="editions", **EDITIONS),
        state(phase="editions", **EDITIONS),
        state(phase="editions", **failed),
        state(phase="dashboard"),
        state("completed_with_errors", phase="dashboard"),
    )

    assert lines == [
        "queued",
        "inventory",
        "inventory: Cataloging 1,247 objects",
        "tracking",
        "editions",
        "  __main: published at http://127.0.0.1:8001/acme/guide/",
        "  2: published",
        "  2.1: failed, the KV does not answer",
        "  1: stays, 2.1.0 is of another major",
        "dashboard",
    ]


def test_another_attempt_tells_its_phases_again() -> None:
    lines = read(
        state(phase="inventory"),
        state("queued", phase="inventory", error={"code": "unavailable", "message": "the store does not answer"}),
        state(phase="inventory"),
    )

    assert lines == ["inventory", "it is tried again: the store does not answer", "inventory"]


def test_items_that_are_no_editions_are_not_published() -> None:
    progress = {"projects_total": 1, "projects_completed": ["guide"], "projects_failed": []}

    assert read(state(phase="dashboard", **progress)) == ["dashboard", "  guide: done"]


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        ("completed", None, exits.OK),
        ("completed_with_errors", None, exits.PARTIAL),
        ("failed", {"code": "source_invalid"}, exits.SOURCE_INVALID),
        ("failed", {"code": "internal"}, exits.FAILED),
        ("cancelled", None, exits.FAILED),
    ],
)
def test_the_exit_code_is_that_of_the_job(status: str, error: dict[str, Any] | None, code: int) -> None:
    assert state(status, error=error).exit_code == code

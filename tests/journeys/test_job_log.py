"""Whoever reads the log sees how each attempt ended: one line with id, kind, subject, error code, attempt and duration."""

import logging
import re
from typing import Any

import pytest

from pressroom import Partial, Pressroom, kind
from pressroom.definitions import Backoff
from pressroom.errors import Backpressure, SourceInvalid, StoreFull, Transient
from pressroom.worker import judge


@kind("work", max_attempts=2, backoff=Backoff(base=0))
async def work(job: Any, payload: Any) -> Any:
    match payload:
        case "wrong":
            raise SourceInvalid("an arrow needs two ends\nand more lines", line=3)
        case "once" if job.attempt == 1:
            raise Transient("the other side is away")
        case "full" if not waited:
            waited.append(payload)
            raise Backpressure("no press is free", retry_after=0.0)
        case "away" if not waited:
            waited.append(payload)
            raise StoreFull("the disk has no room left", dependency="artifacts")
        case "partly":
            return Partial("made", ["a part failed"])
    return "made"


waited: list[str] = []


@pytest.mark.parametrize(
    ("payload", "lines"),
    [
        ("fine", ["INFO job_ID (work page 7) completed; attempt 1, TIME"]),
        ("wrong", ["WARNING job_ID (work page 7) failed: source_invalid: an arrow needs two ends; attempt 1, TIME"]),
        (
            "once",
            [
                "WARNING job_ID (work page 7) goes back to the queue: transient: the other side is away; attempt 1, TIME",
                "INFO job_ID (work page 7) completed; attempt 2, TIME",
            ],
        ),
        (
            "full",
            [
                "INFO job_ID (work page 7) was postponed: no press is free; attempt 1, TIME",
                "INFO job_ID (work page 7) completed; attempt 1, TIME",
            ],
        ),
        (
            "away",
            [
                "WARNING job_ID (work page 7) was postponed: artifacts: store_full: the disk has no room left; attempt 1, TIME",
                "INFO job_ID (work page 7) completed; attempt 1, TIME",
            ],
        ),
        ("partly", ["WARNING job_ID (work page 7) completed_with_errors: partial: a part failed; attempt 1, TIME"]),
    ],
)
async def test_every_attempt_leaves_one_line(
    database: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    payload: str,
    lines: list[str],
) -> None:
    waited.clear()
    monkeypatch.setattr(judge, "STORE_RETRY_DELAY", 0.0)
    caplog.set_level(logging.INFO, "pressroom.worker.report")
    async with Pressroom(database, kinds=[work], workers=1) as press:
        job = await press.submit("work", payload, subject="page 7")
        await press.wait_until_ended(job, timeout=60)
        await press.stop()

    told = [f"{one.levelname} {one.getMessage()}" for one in caplog.records if one.name == "pressroom.worker.report"]
    assert [re.sub(r"\d+\.\d{3} s$", "TIME", line.replace(job.uid, "ID")) for line in told] == lines

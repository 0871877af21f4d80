"""The kinds of an application that prints. They take their time, tell how far they are, and end as they were told.

`pressroom serve --import pressroom.demo.kinds` works on them at the pace of a person who watches.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from pressroom.definitions import Kind, Missed, Schedule
from pressroom.errors import EngineCrashed, SourceInvalid, TooLarge, Transient
from pressroom.model import OnKey
from pressroom.worker.judge import timeout_error

type Pace = Callable[[float], Awaitable[None]]

PAGES_AT_ONCE = 8


def make_kinds(pace: Pace) -> list[Kind]:
    """The kinds. `pace` is how their handlers sleep."""

    async def build_site(job: Any, payload: Any) -> dict[str, Any]:
        seconds, editions, pages = payload["seconds"], payload["editions"], payload["pages"]
        await job.phase("fetching", message=f"{payload['site']} at {payload['commit']}")
        await pace(seconds * 0.1)
        await job.items("editions", editions, phase="building")
        for edition in editions:
            await pace(seconds * 0.4 / len(editions))
            if edition in payload.get("broken", ()):
                await job.item_failed(edition, "guide/install.md:12: there is no page guide/requirements.md")
            else:
                await job.item_completed(edition)
        await job.phase("publishing", total=pages)
        for done in range(PAGES_AT_ONCE, pages + PAGES_AT_ONCE, PAGES_AT_ONCE):
            await pace(seconds * 0.5 * PAGES_AT_ONCE / pages)
            await job.progress(min(done, pages), message=f"page {min(done, pages)} of {pages}")
        return {"site": payload["site"], "pages": pages, "editions": editions}

    async def print_statement(job: Any, payload: Any) -> dict[str, Any]:
        await job.phase("laying out", message=payload["account"])
        await pace(payload["seconds"] * 0.6)
        _raise_requested_failure(job, payload)
        await job.phase("printing", total=payload["pages"])
        await pace(payload["seconds"] * 0.4)
        await job.progress(payload["pages"])
        return {"account": payload["account"], "pages": payload["pages"]}

    async def plan_statements(job: Any, payload: Any) -> dict[str, Any]:
        await job.phase("splitting", total=payload["accounts"], message=payload["month"])
        await pace(payload["seconds"])
        await job.progress(payload["accounts"])
        return {"month": payload["month"], "accounts": payload["accounts"]}

    async def send_newsletter(job: Any, payload: Any) -> dict[str, Any]:
        await job.phase("typesetting", total=payload["issues"])
        for _ in range(payload["issues"]):
            await pace(payload["seconds"] / payload["issues"])
            await job.step()
        return {"issue": payload["issue"]}

    async def index_pages(job: Any, payload: Any) -> dict[str, Any]:
        await job.phase("reading", total=payload["pages"])
        await pace(payload["seconds"])
        _raise_requested_failure(job, payload)
        await job.progress(payload["pages"])
        return {"pages": payload["pages"]}

    week = timedelta(days=7)
    return [
        Kind("site.build", build_site, max_attempts=2, timeout=900, retention=week, submit_scope="submitter"),
        Kind("statement", print_statement, max_attempts=3, timeout=120, retention=week, submit_scope="submitter", alert=True),
        Kind("statement.batch", plan_statements, max_attempts=1, retention=week, submit_scope="submitter"),
        Kind("newsletter", send_newsletter, retention=week, submit_scope="submitter"),
        Kind(
            "search.index", index_pages, max_attempts=2, timeout=60, retention=week, on_key=OnKey.SKIP, submit_scope="submitter"
        ),
    ]


def _raise_requested_failure(job: Any, payload: Any) -> None:
    """As the payload says, for as many attempts as it says."""
    trouble = payload.get("trouble")
    if trouble is None or job.attempt > payload.get("times", 99):
        return
    match trouble:
        case "fonts":
            raise Transient(f"the font service answered 503 for {payload['account']}")
        case "crash":
            raise EngineCrashed(f"the engine process died with signal 9 after {payload['pages'] * 37} MiB")
        case "slow":
            raise timeout_error(Kind(job.kind, _raise_requested_failure, timeout=60))
        case "template":
            raise SourceInvalid(
                "there is no value for `account.iban`", line=14, column=22, excerpt="  <td>{{ account.iban }}</td>"
            )
        case "large":
            raise TooLarge(f"{67_108_864 + payload['pages'] * 1_000_003:,} bytes of pages; the limit is 67,108,864")
        case _:
            raise KeyError(trouble)


site_build, statement, statement_batch, newsletter, search_index = make_kinds(asyncio.sleep)

nightly = Schedule("nightly handbook", "0 2 * * *", "site.build", {
    "site": "handbook", "commit": "main", "editions": ["main", "stable"], "pages": 120, "seconds": 95.0,
}, key="site handbook")  # fmt: skip
hourly = Schedule("search index", "*/20 * * * *", "search.index", {"pages": 640, "seconds": 12.0}, key="search index")
weekly = Schedule("newsletter", "0 7 * * 1", "newsletter", {"issue": "weekly", "issues": 12, "seconds": 60.0}, Missed.SKIP)
monthly = Schedule("month's statements", "30 5 1 * *", "statement.batch", {"month": "last", "accounts": 40, "seconds": 4.0})

SCHEDULES = [nightly, hourly, weekly, monthly]

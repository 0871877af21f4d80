"""Every page and every filter, by a name and an address. What an address names is there in a database of any size."""

from collections.abc import Iterator
from urllib.parse import urlencode

from bench.web_rows import KINDS, WORKERS, Rows, link_of, scattered, uid_of
from pressroom.base.failure_signature import failure_signature
from pressroom.model import from_ms


def pages(rows: Rows) -> Iterator[tuple[str, str]]:
    yield "overview", "/desk"
    yield from _lists_of_jobs(rows)
    yield from _single_jobs(rows)
    yield from _failures(rows)
    for name in ("queues", "workers", "schedules", "webhooks", "tokens", "audit"):
        yield name, f"/desk/{name}"
    yield "audit, one person", _asked("/desk/audit", who="operator 3")
    yield "audit, one action", _asked("/desk/audit", action="queue.pause")
    yield "audit, one target", _asked("/desk/audit", target=f"job_{uid_of(1 + scattered(1, 5) % rows.jobs)}")
    yield "audit, deep", _asked("/desk/audit", cursor=min(rows.jobs, 50_000) // 2)
    webhook = uid_of(1, 2)
    yield "webhook", f"/desk/webhooks/wh_{webhook}"
    yield "webhook, failed deliveries", _asked(f"/desk/webhooks/wh_{webhook}", state="failed")
    yield from _finds(rows)
    yield "playground", "/playground"
    yield "playground, names", "/playground/names"
    yield "playground, a name", "/playground/names/picture-2"


def _lists_of_jobs(rows: Rows) -> Iterator[tuple[str, str]]:
    jobs, an_hour_ago = "/desk/jobs", rows.now - 3_600_000
    yield "jobs", jobs
    yield "jobs, deep", _asked(jobs, cursor=rows.jobs // 2)
    yield "jobs, at the end", _asked(jobs, cursor=min(60, rows.jobs))
    for status in ("queued", "in_progress", "completed", "completed_with_errors", "failed", "cancelled"):
        yield f"jobs, {status}", _asked(jobs, status=status)
    yield "jobs, failed, deep", _asked(jobs, status="failed", cursor=rows.jobs // 2)
    for kind in dict.fromkeys(KINDS):
        yield f"jobs, kind {kind}", _asked(jobs, kind=kind)
    yield "jobs, a kind that is not there", _asked(jobs, kind="no.such.kind")
    yield "jobs, interactive", _asked(jobs, tier="interactive")
    for org in ("-", "acme", "org-07", "nobody"):
        yield f"jobs, org {org}", _asked(jobs, org=org)
    yield "jobs, a subject", _asked(jobs, subject=f"handbook/chapter-{scattered(rows.jobs // 2, 1) % 2000}")
    yield "jobs, a subject that is not there", _asked(jobs, subject="no such subject")
    yield "jobs, a key", _asked(jobs, key="site 40")
    yield "jobs, a key that is not there", _asked(jobs, key="no such key")
    yield "jobs, a parent", _asked(jobs, parent=uid_of(rows.jobs // 2 // 50 * 50 + 19))
    yield "jobs, a worker", _asked(jobs, worker=WORKERS[0])
    yield "jobs, a failure", _asked(jobs, failure=_print(rows))
    yield "jobs, from", _asked(jobs, **{"from": _moment(an_hour_ago)})
    yield "jobs, until", _asked(jobs, until=_moment(rows.now - 3 * 24 * 3_600_000))
    yield "jobs, failed of a kind and org", _asked(jobs, status="failed", kind="statement", org="acme")
    yield "bulk, failed", _asked("/desk/bulk", action="retry", status="failed", up_to=rows.jobs, as_of=rows.now)
    yield "bulk, everything queued", _asked("/desk/bulk", action="cancel", status="queued", up_to=rows.jobs, as_of=rows.now)


def _single_jobs(rows: Rows) -> Iterator[tuple[str, str]]:
    for status in ("completed", "failed", "queued", "in_progress"):
        yield f"a job, {status}", f"/desk/jobs/job_{uid_of(_numbered(rows, status))}"
    yield "a job that is not there", f"/desk/jobs/job_{uid_of(rows.jobs + 7)}"
    yield "a job, to be cloned", f"/desk/jobs/job_{uid_of(_numbered(rows, 'completed'))}/clone"


def _failures(rows: Rows) -> Iterator[tuple[str, str]]:
    yield "failures", "/desk/failures"
    for window in ("1h", "24h", "7d"):
        yield f"failures, {window}", _asked("/desk/failures", window=window)
    yield "a failure group", f"/desk/failures/{_print(rows)}"


def _finds(rows: Rows) -> Iterator[tuple[str, str]]:
    number = next(rows.made())
    for what, word in (
        ("a job's id", f"job_{uid_of(number)}"),
        ("an artifact", uid_of(number, 1)),
        ("a short link", link_of(number)),
        ("a hash", rows.blob_of(number)),
        ("a fingerprint", rows.fingerprint_of(number)),
        ("a key", "site 40"),
        ("a subject", f"handbook/chapter-{scattered(number, 1) % 2000}"),
        ("a diagram's name", "picture-2"),
        ("a failure", _print(rows)),
        ("nothing", "nothing-of-the-kind"),
    ):
        yield f"find {what}", _asked("/desk/find", q=word)


def _numbered(rows: Rows, status: str) -> int:
    """A job with this status, from the middle on: what is looked at was not looked at a moment ago."""
    return next(number for number in range(max(1, rows.jobs // 2), rows.jobs + 1) if rows.status(number) == status)


def _print(rows: Rows) -> str:
    """Of the largest group that there is."""
    failed = (number for number in range(1, rows.jobs + 1) if rows.status(number) == "failed")
    number = min((next(failed) for _ in range(5)), key=rows.group)
    error = rows.error_of(number)
    return failure_signature(KINDS[scattered(number, 1) % len(KINDS)], error["code"], error["message"])


def _moment(milliseconds: int) -> str:
    return from_ms(milliseconds).isoformat()


def _asked(path: str, **question: object) -> str:
    return f"{path}?{urlencode(question)}"

"""Somebody who comes when all is over, waits until nothing is open, and looks at every job that was acknowledged."""

import asyncio
import hashlib
import time
from collections.abc import Iterable, Mapping
from typing import Any

from tests.reliability.http_exchange import Unheard, exchange
from tests.reliability.journal import Journal

AT_ONCE = 8
MARK = b"nonce-"


async def run(port: int, journal: Journal, uids: Iterable[str], within: float, stopping: asyncio.Event) -> None:
    await _drained(port, journal, within)
    todo = iter(sorted(uids))

    async def eye() -> None:
        for uid in todo:
            try:
                await look(port, journal, uid)
            except Unheard:  # nobody kills any more: what ends too early has fewer bytes than it should
                journal.write("ok", "look", uid=uid, http=200, status=None, artifact="torn")

    await asyncio.gather(*(eye() for _ in range(AT_ONCE)))
    journal.write("info", "inspected")


async def _drained(port: int, journal: Journal, within: float) -> None:
    """Return when no job is open, or when so many seconds are over: then the judge says what is stuck."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            answer = await exchange(port, "GET", "/jobs?status=queued&status=in_progress&limit=1")
            if answer.status == 200 and not answer.json()["items"]:
                return
        except Unheard:
            pass  # it is still starting
        await asyncio.sleep(0.05)
    journal.write("info", "stuck")


async def look(port: int, journal: Journal, uid: str, wait: int = 0) -> None:
    """Tell the journal of a job, and of what its artifact's bytes are, as anybody sees them over HTTP."""
    answer = await exchange(port, "GET", f"/jobs/job_{uid}" + (f"?wait={wait}" if wait else ""))
    job = answer.json() if answer.status == 200 else {}
    seen = {"uid": uid, "http": answer.status, "status": job.get("status")}
    if job.get("status") == "completed" and "artifact" in job["result"]:
        seen |= await _read(port, job["result"])
    journal.write("ok", "look", **seen)


async def _read(port: int, result: Mapping[str, Any]) -> dict[str, Any]:
    """`nonce` is the word that a source carries into its artifact, whatever an engine puts around it."""
    answer = await exchange(port, "GET", f"/artifacts/{result['artifact']}")
    if answer.status != 200:
        return {"artifact": f"HTTP {answer.status}"}
    whole = hashlib.sha256(answer.body).hexdigest() == result["sha256"] and len(answer.body) == result["size"]
    nonce = answer.body.partition(MARK)[2][:16].decode("latin-1")
    return {"artifact": "whole" if whole else "torn", "nonce": nonce}

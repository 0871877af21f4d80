"""Somebody who comes when all is over, waits until nothing is open, and looks at all that was acknowledged."""

import asyncio
import base64
import hashlib
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Self

import msgspec

from tests.reliability.http_exchange import Answer, Unheard, exchange
from tests.reliability.http_wants import nonce_in
from tests.reliability.journal import Journal

AT_ONCE = 8


class Link(msgspec.Struct, frozen=True):
    """A short link as somebody was given it, and until when it was to last, in seconds."""

    name: str
    uid: str
    expires: float | None

    @classmethod
    def of(cls, told: Mapping[str, Any], uid: str) -> Self | None:
        if told.get("shortlink") is None:
            return None
        expires = told["expiresAt"] and datetime.fromisoformat(told["expiresAt"]).timestamp()
        return cls(told["shortlink"], uid, expires)


async def run(
    port: int, journal: Journal, uids: Iterable[str], links: Iterable[Link], ahead: float, within: float, _: asyncio.Event
) -> None:
    """`ahead` is by how much the server's clock is."""
    await drained(port, journal, within)
    todo = iter([*sorted(uids), *links])

    async def eye() -> None:
        for one in todo:
            uid = one.uid if isinstance(one, Link) else one
            try:
                await (visit(port, journal, one, ahead) if isinstance(one, Link) else look(port, journal, one, ahead=ahead))
            except Unheard:  # nobody kills any more: what ends too early has fewer bytes than it should
                journal.write("ok", "look", uid=uid, http=200, status=None, artifact="torn")

    await asyncio.gather(*(eye() for _ in range(AT_ONCE)))
    journal.write("info", "inspected")


async def drained(port: int, journal: Journal, within: float) -> None:
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


async def look(port: int, journal: Journal, uid: str, wait: int = 0, ahead: float = 0.0) -> None:
    """Tell the journal of a job, and of what its artifact's bytes are, as anybody sees them over HTTP."""
    answer = await exchange(port, "GET", f"/jobs/job_{uid}" + (f"?wait={wait}" if wait else ""))
    told = answer.json() if answer.status == 200 else {}
    job = told.get("job", told)  # a diagram's is told in the words of its app, with ours beside them
    seen = {"uid": uid, "http": answer.status, "status": job.get("status")}
    if job.get("status") == "completed" and "artifact" in job["result"]:
        seen |= await _read(port, job["result"])
    journal.write("ok", "look", **seen)
    if (link := Link.of(told, uid)) is not None:
        await visit(port, journal, link, ahead)


async def _read(port: int, result: Mapping[str, Any]) -> dict[str, Any]:
    answer = await exchange(port, "GET", f"/artifacts/{result['artifact']}")
    if answer.status != 200:
        return {"artifact": f"HTTP {answer.status}"}
    return _seen(answer, whole=_digest(answer) == result["sha256"] and len(answer.body) == result["size"])


async def visit(port: int, journal: Journal, link: Link, ahead: float = 0.0) -> None:
    """Tell the journal what a short link shows."""
    answer = await exchange(port, "GET", f"/d/{link.name}")
    seen = {"artifact": f"HTTP {answer.status}"} if answer.status != 200 else _seen(answer, whole=_is_as_labelled(answer))
    journal.write("ok", "visit", link=link, http=answer.status, wall=time.time() + ahead, **seen)


def _seen(answer: Answer, *, whole: bool) -> dict[str, Any]:
    nonce = nonce_in(answer.body.decode("latin-1"))
    return {"artifact": "whole" if whole else "torn", "nonce": nonce, "sha256": _digest(answer)}


def _is_as_labelled(answer: Answer) -> bool:
    digest = base64.b64encode(bytes.fromhex(_digest(answer))).decode()
    return answer.headers["etag"] == f'"sha256-{_digest(answer)}"' and answer.headers["content-digest"] == f"sha-256=:{digest}:"


def _digest(answer: Answer) -> str:
    return hashlib.sha256(answer.body).hexdigest()

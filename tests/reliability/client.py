"""A client that keeps a journal: what it asked for before it asks, what it was told after it was told."""

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pressroom import JobCancelled, JobFailed, NotFound, Pressroom, QueueClosed, Submitted, WaitTimeout
from pressroom.errors import Unavailable
from tests.reliability.journal import Journal


@dataclass(frozen=True)
class Receipt:
    """An acknowledged submit. `revision` orders what one client submitted for one key."""

    uid: str
    kind: str
    nonce: str
    revision: int


class Client:
    def __init__(self, press: Pressroom, journal: Journal) -> None:
        self._press = press
        self._journal = journal
        self._name = os.urandom(8).hex()  # a pid comes again, in a long run

    async def submit(
        self,
        kind: str,
        *,
        seconds: float = 0.0,
        fails: int = 0,
        letter: bool = False,
        gate: Path | None = None,
        **options: Any,
    ) -> Receipt | None:
        """Submit, and count it as acknowledged only once the library has returned. None if it refused.

        The job runs for some seconds once the gate, a file, is there; it fails as often as told.
        """
        nonce, revision = os.urandom(8).hex(), time.monotonic_ns()
        payload = {"kind": kind, "nonce": nonce, "revision": revision, "seconds": seconds, "fails": fails, "letter": letter}
        if gate is not None:
            payload["gate"] = str(gate)
        self._journal.write("invoke", "submit", nonce=nonce)
        try:
            submitted = await (self._send_letter if letter else self._press.submit)(kind, payload, **options)
        except Unavailable as refused:
            self._journal.write("fail", "submit", nonce=nonce, code=refused.code)
            return None
        receipt = Receipt(submitted.uid, kind, nonce, revision)
        self._journal.write("ok", "submit", nonce=nonce, uid=receipt.uid, kind=kind, revision=revision)
        return receipt

    async def _send_letter(self, kind: str, payload: dict[str, Any], **options: Any) -> Submitted:
        """A row of the application's own and the job, in one transaction."""
        async with self._press.transaction() as transaction:
            await transaction.execute("INSERT INTO letter (nonce) VALUES (:nonce)", {"nonce": payload["nonce"]})
            return await self._press.submit(kind, payload, within=transaction, **options)

    async def wait(self, receipt: Receipt, timeout: float = 10.0) -> None:
        asked = {"nonce": receipt.nonce, "uid": receipt.uid, "kind": receipt.kind, "revision": receipt.revision}
        self._journal.write("invoke", "wait", client=self._name, **asked)
        try:
            result = await self._press.wait(receipt.uid, timeout=timeout)
            self._journal.write("ok", "wait", nonce=receipt.nonce, revision=result["revision"])
        except (JobFailed, JobCancelled, NotFound, QueueClosed, WaitTimeout, asyncio.CancelledError) as ended:
            self._journal.write("fail", "wait", nonce=receipt.nonce, code=getattr(ended, "code", "left"))

    async def cancel(self, uid: str) -> None:
        self._journal.write("invoke", "cancel", uid=uid)
        try:
            job = await self._press.cancel(uid)
            self._journal.write("ok", "cancel", uid=uid, status=job.status, asked=job.cancel_requested)
        except (Unavailable, NotFound) as refused:  # not found: it ended and was pruned meanwhile
            self._journal.write("fail", "cancel", uid=uid, code=refused.code)

    def leave(self) -> None:
        """Whoever leaves has heard from everything that it waited for. Whoever dies has not."""
        self._journal.write("info", "left", client=self._name)

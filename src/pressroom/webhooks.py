"""The kind `webhook`: whoever asked to be told of a job's end is told, by a job.

What is owed is written by a trigger in the transaction that ends the job. A periodic task gives each debt its job, and the job
posts it. A crash at any point leaves the debt or the job; a receiver may be told twice, with the same webhook-id.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec

from pressroom.clock import Clock
from pressroom.errors import Backpressure, Cancelled, CannotUnseal, InvalidPayload, Refused, Transient
from pressroom.ids import new_uid
from pressroom.model import Ending, Kind, OnKey, Statement, Status, Work
from pressroom.notify import webhook as rules
from pressroom.notify.addresses import examine
from pressroom.notify.post import Answer, NoAnswer, Poster, Silence
from pressroom.request import Request, checked
from pressroom.sealing import Keyring
from pressroom.store import Database
from pressroom.store.jobs.submitting import NewJob
from pressroom.store.webhooks import webhooks
from pressroom.store.webhooks.secrets import count_unsealed_webhook_secrets, seal_webhook_secrets, webhook_context
from pressroom.store.webhooks.webhooks import DueDelivery, Parcel, Webhook, WebhookDelivery
from pressroom.worker.maintenance import if_leading, run_every
from pressroom.worker.worker import Worker

log = logging.getLogger("pressroom.webhooks")

NAME = "webhook"
TIMES = len(rules.SCHEDULE)
AT_ONCE = 4  # deliveries to one webhook; a slow receiver must not take every slot
WEBHOOK_SLOTS = 16  # deliveries at once in one process, beside the slots of its worker: they wait for others and take no core
QUIET = 60.0  # seconds for which one that did not answer is left alone, by all of its deliveries: each would wait as long
KEY_PATIENCE = 60.0  # seconds until a delivery is tried again whose secret this process cannot decrypt
OVERLAP = timedelta(days=1)  # both secrets sign
KEPT = timedelta(days=30)
DISPATCH_INTERVAL = 0.5
FORGET_INTERVAL = 600.0
BATCH = 200


class Undeliverable(Refused):
    """It is not tried again."""

    code = "undeliverable"


class _Order(msgspec.Struct, frozen=True):
    """What the job carries: names, and nothing that is worth stealing."""

    delivery: str
    webhook: str = ""


type MakeWorker = Callable[[], Worker]


class Webhooks:
    """`open` hands it the database; `start` begins the periodic tasks, in processes that work. With
    `make_worker` it delivers as well."""

    def __init__(
        self, clock: Clock, *, allow: Collection[str] = (), base_url: str = "", keyring: Keyring | None = None
    ) -> None:
        self.poster = Poster(allow)
        self._clock = clock
        self._base_url = base_url
        self._keyring = keyring or Keyring()
        self._quiet_until: dict[str, float] = {}
        self.worker: Worker | None = None  # until there is something to deliver here
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=TIMES,
            backoff=rules.Patience(),
            timeout=30,
            on_key=OnKey.LINE_UP,
            max_crashes=10,
            settling=_settle,
            pool="outbound",
        )

    def open(self, database: Database, announce: Callable[[], None]) -> None:
        self._database = database
        self._announce = announce
        self._make_worker: MakeWorker | None = None
        self.worker = None
        self._worker_lock = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, make_worker: MakeWorker | None, leads: Callable[[], bool] = lambda: True) -> None:
        self._make_worker = make_worker
        for seconds, task in (
            (DISPATCH_INTERVAL, if_leading(leads, self.dispatch)),
            (DISPATCH_INTERVAL, self.start_worker_if_due),
            (FORGET_INTERVAL, if_leading(leads, self.forget)),
        ):
            self._tasks.append(asyncio.create_task(run_every(seconds, task, self._stopping)))

    async def finish(self, grace: float, *, drain: bool) -> int:
        """As a worker stops: how many deliveries had to go back to the queue."""
        async with self._worker_lock:
            self._make_worker = None
            return 0 if self.worker is None else await self.worker.stop(grace, drain=drain)

    def stop_job(self, id: int) -> None:
        if self.worker is not None:
            self.worker.stop_job(id)

    async def stop(self) -> None:
        self._stopping.set()
        await asyncio.gather(*self._tasks)

    async def add(
        self, org_id: str | None, url: str, events: Sequence[str], kinds: Sequence[str] | None
    ) -> tuple[Webhook, str]:
        """A new webhook, and its secret, which is not shown again. Raises AddressRefused."""
        examine(url, self.poster.allow)
        secret, uid = rules.new_secret(), new_uid()
        sealed = self._keyring.seal(secret, webhook_context(uid))
        unit = partial(webhooks.add, uid, org_id or "", url, events, kinds, sealed)
        return await self._database.run(unit, name="webhook"), secret

    async def get(self, uid: str) -> Webhook:
        return await self._database.read(partial(webhooks.get, uid))

    async def list(self, org_id: str | None, *, after: str, limit: int) -> Sequence[Webhook]:
        """Those of an organisation, or of all if None."""
        return await self._database.read(partial(webhooks.list_all, org_id, after, limit))

    async def remove(self, webhook: Webhook) -> None:
        await self._database.run(partial(webhooks.remove, webhook.uid), name="webhook")

    async def enable(self, webhook: Webhook) -> Webhook:
        """Tell it again what happens from now on."""
        await self._database.run(partial(webhooks.disable, webhook.uid, None), name="webhook")
        return await self.get(webhook.uid)

    async def rotate(self, webhook: Webhook) -> str:
        """A new secret. For a day every delivery is signed with both, so that receivers can change theirs in peace."""
        secret = rules.new_secret()
        overlap = int(OVERLAP.total_seconds() * 1000)
        sealed = self._keyring.seal(secret, webhook_context(webhook.uid))
        await self._database.run(partial(webhooks.rotate, webhook.uid, sealed, overlap), name="webhook")
        return secret

    async def test(self, webhook: Webhook) -> WebhookDelivery:
        facts = {"message": "a test; nothing happened", "webhook": f"wh_{webhook.uid}"}
        unit = partial(webhooks.test, webhook, rules.TEST, facts, self._carrier)
        return await self._database.run(unit, name="webhook", after=lambda _: self._announce())

    async def delivery(self, uid: str) -> WebhookDelivery:
        return await self._database.read(partial(webhooks.delivery, uid))

    async def deliveries(self, webhook: Webhook, *, state: str | None, before: int, limit: int) -> Sequence[WebhookDelivery]:
        """Newest first."""
        return await self._database.read(partial(webhooks.deliveries, webhook.uid, state, before, limit))

    async def replay(self, delivery: WebhookDelivery) -> WebhookDelivery:
        """Deliver once more, with the same webhook-id."""
        unit = partial(webhooks.replay, delivery.uid, self._carrier, {NAME: self.kind})
        return await self._database.run(unit, name="webhook", after=lambda _: self._announce())

    async def dispatch(self) -> int:
        """Give every delivery that is owed its job. Looks before it writes: an idle process takes no lock."""
        sent = 0
        while await self._database.read(webhooks.any_due):
            sent += await self._database.run(partial(webhooks.dispatch, self._carrier, BATCH), name="webhook")
            self._announce()
        return sent

    async def start_worker_if_due(self) -> None:
        """Most processes never have a delivery, and need no second worker."""
        async with self._worker_lock:
            if self._make_worker is None or self.worker is not None or not await self._database.read(_any_ready):
                return
            worker = self._make_worker()
            await worker.start()
            self.worker = worker

    async def forget(self) -> int:
        kept_for = int(KEPT.total_seconds() * 1000)
        return await self._database.run(partial(webhooks.forget, kept_for, 5 * BATCH), name="webhook", durable=False)

    async def handle(self, job: Any, payload: Any) -> dict[str, Any]:
        try:
            order = msgspec.convert(payload, _Order)
        except msgspec.ValidationError as reason:
            raise InvalidPayload(f"a webhook's job names its delivery: {reason}") from None
        self._refuse_while_quiet(order.webhook)
        uid = order.delivery
        parcel = await self._take(uid, job)
        note = partial(webhooks.note, uid, job.uid)
        try:
            answer = await self._post(uid, parcel)
        except NoAnswer as reason:
            if isinstance(reason, Silence):
                self._quiet_until[parcel.webhook.uid] = time.monotonic() + QUIET
            await self._write(partial(note, None, None, str(reason)))
            raise
        verdict = rules.judge(answer, self._clock.now_ms() / 1000)
        await self._write(partial(note, answer.status, answer.excerpt, verdict.words))
        if verdict.meaning == "gone":
            await self._write(partial(webhooks.disable, parcel.webhook.uid, verdict.words))
        _raise_unless_delivered(verdict, parcel.attempt)
        return {"status": answer.status, "attempts": parcel.attempt}

    def _refuse_while_quiet(self, webhook: str) -> None:
        left = self._quiet_until.get(webhook, 0.0) - time.monotonic()
        if left > 0:
            raise Backpressure("the receiver did not answer a moment ago, and is left alone for a while", retry_after=left)
        self._quiet_until.pop(webhook, None)

    async def _take(self, uid: str, job: Any) -> Parcel:
        unit = partial(webhooks.take, uid, job.uid, job.org_id or "")
        parcel = await self._database.run(unit, name="webhook", durable=False)
        if parcel is None:
            raise Cancelled("the webhook was deleted, or the delivery is too old")
        if parcel.webhook.disabled_because is not None:
            raise Cancelled(f"the webhook is disabled: {parcel.webhook.disabled_because}")
        try:
            opened = [self._keyring.open(one, webhook_context(parcel.webhook.uid)) for one in parcel.secrets]
        except CannotUnseal as reason:  # it costs no attempt: the operator has to give this process the key
            log.error("a delivery waits: %s", reason)
            raise Backpressure(str(reason), retry_after=KEY_PATIENCE) from None
        return msgspec.structs.replace(parcel, secrets=opened)

    async def seal_stored_secrets(self) -> None:
        """Encrypt what an older version, or another key, has left."""
        if not await self._database.read(partial(count_unsealed_webhook_secrets, self._keyring.prefix)):
            return
        if not self._keyring.can_seal:
            log.warning("webhook secrets are stored as they are: set PRESSROOM_SECRET_KEY, the same in every process")
            return
        try:
            await self._database.run(partial(seal_webhook_secrets, self._keyring), name="webhook")
        except CannotUnseal as reason:
            log.error("webhook secrets stay as they are: %s", reason)

    async def _post(self, uid: str, parcel: Parcel) -> Answer:
        body = rules.payload(parcel.type, parcel.at, parcel.facts, self._base_url)
        headers = rules.headers(f"msg_{uid}", self._clock.now_ms() // 1000, body, parcel.secrets)
        return await self.poster.post(parcel.webhook.url, headers, body)

    async def _write(self, unit: Callable[[], Work[None]]) -> None:
        await self._database.run(unit, name="webhook", durable=False)

    def _carrier(self, due: DueDelivery) -> NewJob:
        request = Request(
            NAME,
            {"delivery": due.uid, "webhook": due.webhook},
            key=f"webhook {due.webhook} {due.id % AT_ONCE}",
            org_id=due.org_id or None,
            subject=f"{due.type} for wh_{due.webhook}",
        )
        return checked(request, {NAME: self.kind})


def _any_ready() -> Work[bool]:
    return bool((yield Statement("any_ready", {"kind": NAME})))


def _raise_unless_delivered(verdict: rules.Verdict, attempt: int) -> None:
    """A receiver that names a time is left alone until then. That costs the job no attempt, so they are counted here."""
    if verdict.meaning == "delivered":
        return
    words = verdict.words or ""
    if verdict.meaning == "gone" or attempt >= TIMES:
        raise Undeliverable(words)
    if verdict.wait:
        raise Backpressure(words, retry_after=max(verdict.wait, rules.SCHEDULE[attempt]))
    raise Transient(words)


def _settle(ending: Ending) -> Work[None]:
    uid = ending.payload.get("delivery") if isinstance(ending.payload, dict) else None
    if isinstance(uid, str):
        error = ending.error["message"] if ending.error and ending.status is Status.FAILED else None
        yield from webhooks.settle(uid, ending.uid, ending.status, error)

"""The kind `webhook`: a job for each delivery, which posts it to the receiver.

A trigger inserts the deliveries in the transaction that ends a job. A periodic task submits a webhook job for each. A crash
at any point leaves the delivery or its job; a receiver may get a delivery twice, with the same webhook-id.
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
from pressroom.definitions import Kind
from pressroom.errors import Backpressure, Cancelled, CannotUnseal, InvalidPayload, Refused, Transient
from pressroom.ids import new_uid
from pressroom.kinds.alert_webhook import AlertWebhook, refuse_change
from pressroom.model import Ending, OnKey, Statement, Status, Work
from pressroom.notify import standard_webhooks as rules
from pressroom.notify.addresses import parse_target
from pressroom.notify.webhook_client import NoResponse, ResponseTimeout, WebhookClient, WebhookResponse
from pressroom.sealing import Keyring
from pressroom.store import Database
from pressroom.store.jobs.submitting import CheckedJob
from pressroom.store.webhooks import webhooks
from pressroom.store.webhooks.secrets import count_unsealed_webhook_secrets, seal_webhook_secrets, webhook_context
from pressroom.store.webhooks.webhooks import DeliveryAttempt, DueDelivery, Webhook, WebhookDelivery
from pressroom.submission.request import Request, check_request
from pressroom.worker.maintenance import if_leading, run_every
from pressroom.worker.worker import Worker

log = logging.getLogger("pressroom.webhooks")

NAME = "webhook"
MAX_ATTEMPTS = len(rules.SCHEDULE)
MAX_PER_WEBHOOK = 4  # deliveries at once to one webhook; a slow receiver must not take every slot
WEBHOOK_SLOTS = (
    16  # deliveries at once in one process, beside the slots of its worker: they wait for the network and use little CPU
)
PAUSE_AFTER_TIMEOUT = 60.0  # seconds without further deliveries to a receiver that timed out: each would wait as long
KEY_RETRY_AFTER = 60.0  # seconds until a delivery is tried again whose secret this process cannot decrypt
SECRET_OVERLAP = timedelta(days=1)  # both secrets sign
DELIVERY_RETENTION = timedelta(days=30)
DISPATCH_INTERVAL = 0.5
FORGET_INTERVAL = 600.0
BATCH = 200


class Undeliverable(Refused):
    """It is not tried again."""

    code = "undeliverable"


class _DeliveryReference(msgspec.Struct, frozen=True):
    """The payload of the job: ids only, no URL and no secret."""

    delivery: str
    webhook: str = ""


type MakeWorker = Callable[[], Worker]


class Webhooks:
    """`open` takes the database; `start` begins the periodic tasks, in processes with workers. With a `make_worker`, this
    process delivers as well."""

    def __init__(
        self,
        clock: Clock,
        *,
        allow: Collection[str] = (),
        base_url: str = "",
        keyring: Keyring | None = None,
        alert_webhook: AlertWebhook | None = None,
    ) -> None:
        self.client = WebhookClient(allow)
        self._alert_webhook = alert_webhook or AlertWebhook()
        self._clock = clock
        self._base_url = base_url
        self._keyring = keyring or Keyring()
        self._paused_until: dict[str, float] = {}
        self.worker: Worker | None = None  # until there is something to deliver here
        self.kind = Kind(
            NAME,
            self.handle,
            max_attempts=MAX_ATTEMPTS,
            backoff=rules.WebhookBackoff(),
            timeout=30,
            on_key=OnKey.LINE_UP,
            max_crashes=10,
            settling=_settle,
            pool="outbound",
            uses_delivery=False,  # a receiver that is slow must not take the slots of other jobs
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
            (DISPATCH_INTERVAL, if_leading(leads, self.submit_due_deliveries)),
            (DISPATCH_INTERVAL, self.start_worker_if_due),
            (FORGET_INTERVAL, if_leading(leads, self.delete_old_deliveries)),
        ):
            self._tasks.append(asyncio.create_task(run_every(seconds, task, self._stopping)))

    async def stop_worker(self, grace: float, *, drain: bool) -> int:
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
        parse_target(url, self.client.allow)
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
        refuse_change(webhook)
        await self._database.run(partial(webhooks.remove, webhook.uid), name="webhook")

    async def enable(self, webhook: Webhook) -> Webhook:
        """Resume deliveries, of events from now on."""
        await self._database.run(partial(webhooks.set_disabled_reason, webhook.uid, None), name="webhook")
        return await self.get(webhook.uid)

    async def rotate(self, webhook: Webhook) -> str:
        """A new secret. For a day every delivery is signed with both, so that receivers have time to change theirs."""
        refuse_change(webhook)
        secret = rules.new_secret()
        overlap = int(SECRET_OVERLAP.total_seconds() * 1000)
        sealed = self._keyring.seal(secret, webhook_context(webhook.uid))
        await self._database.run(partial(webhooks.rotate, webhook.uid, sealed, overlap), name="webhook")
        return secret

    async def test(self, webhook: Webhook) -> WebhookDelivery:
        facts = {"message": "a test; nothing happened", "webhook": f"wh_{webhook.uid}"}
        unit = partial(webhooks.test, webhook, rules.TEST, facts, self._delivery_job)
        return await self._database.run(unit, name="webhook", after=lambda _: self._announce())

    async def delivery(self, uid: str) -> WebhookDelivery:
        return await self._database.read(partial(webhooks.delivery, uid))

    async def deliveries(self, webhook: Webhook, *, state: str | None, before: int, limit: int) -> Sequence[WebhookDelivery]:
        """Newest first."""
        return await self._database.read(partial(webhooks.deliveries, webhook.uid, state, before, limit))

    async def replay(self, delivery: WebhookDelivery) -> WebhookDelivery:
        """Deliver once more, with the same webhook-id."""
        unit = partial(webhooks.replay, delivery.uid, self._delivery_job, {NAME: self.kind})
        return await self._database.run(unit, name="webhook", after=lambda _: self._announce())

    async def submit_due_deliveries(self) -> int:
        """Give every delivery that is owed its job. Looks before it writes: an idle process takes no lock."""
        sent = 0
        while await self._database.read(webhooks.any_due_delivery):
            sent += await self._database.run(partial(webhooks.submit_due_deliveries, self._delivery_job, BATCH), name="webhook")
            self._announce()
        return sent

    async def start_worker_if_due(self) -> None:
        """Start the worker for deliveries once there is one: most processes never need it."""
        async with self._worker_lock:
            if self._make_worker is None or self.worker is not None or not await self._database.read(_has_ready_job):
                return
            worker = self._make_worker()
            await worker.start()
            self.worker = worker

    async def delete_old_deliveries(self) -> int:
        kept_for = int(DELIVERY_RETENTION.total_seconds() * 1000)
        return await self._database.run(
            partial(webhooks.delete_old_deliveries, kept_for, 5 * BATCH), name="webhook", durable=False
        )

    async def handle(self, job: Any, payload: Any) -> dict[str, Any]:
        try:
            order = msgspec.convert(payload, _DeliveryReference)
        except msgspec.ValidationError as reason:
            raise InvalidPayload(f"a webhook's job names its delivery: {reason}") from None
        self._refuse_while_paused(order.webhook)
        uid = order.delivery
        parcel = await self._begin_attempt(uid, job)
        note = partial(webhooks.record_response, uid, job.uid)
        try:
            answer = await self._post(uid, parcel)
        except NoResponse as reason:
            if isinstance(reason, ResponseTimeout):
                self._paused_until[parcel.webhook.uid] = time.monotonic() + PAUSE_AFTER_TIMEOUT
            await self._run_unit(partial(note, None, None, str(reason)))
            raise
        verdict = rules.judge_response(answer, self._clock.now_ms() / 1000)
        await self._run_unit(partial(note, answer.status, answer.excerpt, verdict.error))
        if verdict.meaning == "gone":
            await self._run_unit(partial(webhooks.set_disabled_reason, parcel.webhook.uid, verdict.error))
        _raise_unless_delivered(verdict, parcel.attempt)
        return {"status": answer.status, "attempts": parcel.attempt}

    def _refuse_while_paused(self, webhook: str) -> None:
        left = self._paused_until.get(webhook, 0.0) - time.monotonic()
        if left > 0:
            raise Backpressure("the receiver did not answer a moment ago, and is left alone for a while", retry_after=left)
        self._paused_until.pop(webhook, None)

    async def _begin_attempt(self, uid: str, job: Any) -> DeliveryAttempt:
        unit = partial(webhooks.begin_attempt, uid, job.uid, job.org_id or "")
        parcel = await self._database.run(unit, name="webhook", durable=False)
        if parcel is None:
            raise Cancelled("the webhook was deleted, or the delivery is too old")
        if parcel.webhook.disabled_because is not None:
            raise Cancelled(f"the webhook is disabled: {parcel.webhook.disabled_because}")
        if parcel.webhook.is_from_settings:
            return self._alert_webhook.complete(parcel)
        try:
            opened = [self._keyring.open(one, webhook_context(parcel.webhook.uid)) for one in parcel.secrets]
        except CannotUnseal as reason:  # it costs no attempt: the operator has to give this process the key
            log.error("a delivery waits: %s", reason)
            raise Backpressure(str(reason), retry_after=KEY_RETRY_AFTER) from None
        return msgspec.structs.replace(parcel, secrets=opened)

    async def seal_stored_secrets(self) -> None:
        """Encrypt secrets that are stored in plain text or under an older key."""
        if not await self._database.read(partial(count_unsealed_webhook_secrets, self._keyring.prefix)):
            return
        if not self._keyring.can_seal:
            log.warning("webhook secrets are stored as they are: set PRESSROOM_SECRET_KEY, the same in every process")
            return
        try:
            await self._database.run(partial(seal_webhook_secrets, self._keyring), name="webhook")
        except CannotUnseal as reason:
            log.error("webhook secrets stay as they are: %s", reason)

    async def declare_alert_webhook(self) -> None:
        await self._alert_webhook.declare(self._database)

    async def _post(self, uid: str, attempt: DeliveryAttempt) -> WebhookResponse:
        body = rules.encode_payload(attempt.type, attempt.at, attempt.facts, self._base_url)
        headers = rules.signed_headers(f"msg_{uid}", self._clock.now_ms() // 1000, body, attempt.secrets)
        return await self.client.post(attempt.webhook.url, headers, body)

    async def _run_unit(self, unit: Callable[[], Work[None]]) -> None:
        await self._database.run(unit, name="webhook", durable=False)

    def _delivery_job(self, due: DueDelivery) -> CheckedJob:
        request = Request(
            NAME,
            {"delivery": due.uid, "webhook": due.webhook},
            key=f"webhook {due.webhook} {due.id % MAX_PER_WEBHOOK}",
            org_id=due.org_id or None,
            subject=f"{due.type} for wh_{due.webhook}",
        )
        return check_request(request, {NAME: self.kind})


def _has_ready_job() -> Work[bool]:
    return bool((yield Statement("any_ready", {"kind": NAME})))


def _raise_unless_delivered(verdict: rules.ResponseVerdict, attempt: int) -> None:
    """A receiver that names a time is left alone until then. That costs the job no attempt, so they are counted here."""
    if verdict.meaning == "delivered":
        return
    words = verdict.error or ""
    if verdict.meaning == "gone" or attempt >= MAX_ATTEMPTS:
        raise Undeliverable(words)
    if verdict.retry_after:
        raise Backpressure(words, retry_after=max(verdict.retry_after, rules.SCHEDULE[attempt]))
    raise Transient(words)


def _settle(ending: Ending) -> Work[None]:
    uid = ending.payload.get("delivery") if isinstance(ending.payload, dict) else None
    if isinstance(uid, str):
        error = ending.error["message"] if ending.error and ending.status is Status.FAILED else None
        yield from webhooks.settle(uid, ending.uid, ending.status, error)

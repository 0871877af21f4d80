"""Standard Webhooks (standardwebhooks.com): payload, signature and retry schedule."""

import base64
import email.utils
import hashlib
import hmac
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pressroom.definitions import Backoff
from pressroom.model import VERSION, from_ms

if TYPE_CHECKING:
    from pressroom.notify.webhook_client import WebhookResponse

ALERT_RAISED = "alert.raised"
EVENTS = ("job.completed", "job.completed_with_errors", "job.failed", "job.cancelled", ALERT_RAISED)
TEST = "webhook.test"
BODY_LIMIT = 20_000
MAX_RETRY_AFTER = 24 * 3600.0

# Seconds before each attempt: at once, then 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. Three days in all.
SCHEDULE = (0.0, 5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)


@dataclass(frozen=True)
class WebhookBackoff(Backoff):
    """Waits as the schedule says."""

    def delay(self, failures: int, random: float) -> float:
        plain = SCHEDULE[min(failures, len(SCHEDULE) - 1)]
        return plain * (1 + self.jitter * (2 * random - 1))


class JobData(msgspec.Struct, frozen=True, kw_only=True):
    """The job that ended. `result` is left out (`result_omitted`) where it is too long; its `url` has it."""

    id: str
    kind: str
    status: str
    subject: str | None
    key: str | None
    project_id: str | None
    build_id: str | None
    attempts: int
    error: dict[str, Any] | None
    reason: str | None
    result: Any
    result_omitted: bool
    url: str
    date_created: datetime
    date_started: datetime | None
    date_completed: datetime | None


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What a receiver is sent when a job ended."""

    type: str
    timestamp: datetime
    data: JobData


class AlertData(msgspec.Struct, frozen=True, kw_only=True):
    """An open alert: failures of jobs of one organisation, kind, subject and code. `job_id` is the latest of these jobs."""

    id: int
    org_id: str | None
    kind: str
    subject: str | None
    code: str
    message: str
    count: int
    job_id: str
    url: str
    first_at: datetime
    last_at: datetime


class AlertPayload(msgspec.Struct, frozen=True, kw_only=True):
    """What a receiver is sent when an alert was raised."""

    type: str
    timestamp: datetime
    data: AlertData


def encode_payload(type: str, at: datetime, facts: Mapping[str, Any], base_url: str) -> bytes:
    """The body of a delivery, below 20 kB. The same facts make the same bytes."""
    if type == TEST:
        return msgspec.json.encode({"type": type, "timestamp": at, "data": facts})
    if type == ALERT_RAISED:
        return msgspec.json.encode(AlertPayload(type=type, timestamp=at, data=_alert_data(facts, base_url)))
    data = _job_data(facts, base_url)
    body = b""
    for version in (data, *_with_fewer_fields(data)):
        body = msgspec.json.encode(Payload(type=type, timestamp=at, data=version))
        if len(body) < BODY_LIMIT:
            break
    return body


def _with_fewer_fields(data: JobData) -> Iterator[JobData]:
    """The same data with fewer fields."""
    data = msgspec.structs.replace(data, result=None, result_omitted=True)
    yield data
    yield msgspec.structs.replace(data, error=data.error and {"code": data.error.get("code")})


def _job_data(facts: Mapping[str, Any], base_url: str) -> JobData:
    id = f"job_{facts['id']}"
    return JobData(
        id=id,
        kind=facts["kind"],
        status=facts["status"],
        subject=facts["subject"],
        key=facts["key"],
        project_id=facts["project_id"],
        build_id=facts["build_id"],
        attempts=facts["attempts"],
        error=facts["error"],
        reason=facts["last_error"],
        result=facts["result"],
        result_omitted=facts["result_omitted"],
        url=f"{base_url}/jobs/{id}",
        date_created=from_ms(facts["created"]),
        date_started=None if facts["started"] is None else from_ms(facts["started"]),
        date_completed=None if facts["completed"] is None else from_ms(facts["completed"]),
    )


def _alert_data(facts: Mapping[str, Any], base_url: str) -> AlertData:
    return AlertData(
        id=facts["alert"],
        org_id=facts["org_id"] or None,
        kind=facts["kind"],
        subject=facts["subject"] or None,
        code=facts["code"],
        message=facts["message"],
        count=facts["count"],
        job_id=f"job_{facts['id']}",
        url=f"{base_url}/desk/alerts",
        first_at=from_ms(facts["first"]),
        last_at=from_ms(facts["last"]),
    )


def new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def signed_headers(id: str, seconds: int, body: bytes, keys: Sequence[str]) -> dict[str, str]:
    """The headers of one attempt, signed with every secret that is valid now. Without any there is no signature."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Pressroom/{VERSION} (webhooks)",
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
    }
    if keys:
        headers["webhook-signature"] = " ".join(sign(key, id, seconds, body) for key in keys)
    return headers


def sign(secret: str, id: str, seconds: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


@dataclass(frozen=True)
class ResponseVerdict:
    """What an answer means. `wait` is how long the receiver asked us to stay away."""

    meaning: Literal["delivered", "gone", "refused"]
    error: str | None = None
    retry_after: float = 0.0


def judge_response(response: "WebhookResponse", now: float) -> ResponseVerdict:
    """Only 2xx is success. A redirect is a failure: its target would be unchecked."""
    if 200 <= response.status < 300:
        return ResponseVerdict("delivered")
    if response.status == 410:
        return ResponseVerdict("gone", "the receiver answered 410 Gone")
    words = f"the receiver answered {response.status}"
    if 300 <= response.status < 400:
        words += "; redirects are not followed"
    return ResponseVerdict("refused", words, retry_after_seconds(response.retry_after, now))


def retry_after_seconds(retry_after: str | None, now: float) -> float:
    """Seconds that a Retry-After header asks for, a day at most. 0 for none, or for one that cannot be read."""
    if not retry_after:
        return 0.0
    if retry_after.isascii() and retry_after.isdigit():
        return min(MAX_RETRY_AFTER, float(retry_after[:12]))
    try:
        moment = email.utils.parsedate_to_datetime(retry_after).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return min(MAX_RETRY_AFTER, max(0.0, moment - now))

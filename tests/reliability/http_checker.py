"""The judge of the lab over HTTP: what clients were told, what the database holds, and what is served, must agree."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.reliability import checker
from tests.reliability.dump import Dump, JobRow
from tests.reliability.http_wants import nonce_in
from tests.reliability.journal import Line
from tests.reliability.verdict import Findings

SHED = frozenset({429, 503})  # statuses by which a server says that it will not, now
UNLUCKY = frozenset({"worker_crash", "wait_timeout"})  # what whoever waits for a picture is told of workers that die


@dataclass(frozen=True)
class HttpVerdict(Findings):
    torn: list[str] = field(default_factory=list)
    unlike: list[str] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    rekeyed: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)

    unheard: int = 0
    saved: int = 0
    replayed: int = 0
    waited: int = 0
    parked: int = 0
    artifacts: int = 0
    links: int = 0


def judge(journal: Sequence[Line], dump: Dump) -> HttpVerdict:
    looks = [line for line in journal if line.do == "look"]
    visits = [line for line in journal if line.do == "visit"]
    acks = checker.acks(journal)
    return HttpVerdict(
        lost=lost(acks, looks, dump),
        stuck=checker.stuck(dump),
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        torn=sorted(_uids(looks, "torn") | _uids(visits, "torn")),
        unlike=unlike(journal, dump),
        unserved=unserved(looks, dump),
        gone=gone(acks, visits),
        crossed=crossed([*looks, *visits], dump),
        duplicated=duplicated(dump),
        rekeyed=rekeyed(acks),
        unexpected=unexpected(journal, dump),
        misanswered=misanswered(journal),
        left_behind=[one for line in journal if line.do == "remains" for one in line.data["processes"]],
        integrity=list(dump.complaints),
        acked=len(acks),
        unheard=sum(line.do == "unheard" for line in journal),
        recovered=recovered(acks, dump),
        saved=sum(ack.data["answer"] in ("hit", "joined") for ack in acks),
        replayed=sum(ack.data["replayed"] for ack in acks),
        waited=sum(ack.data["waited"] for ack in acks),
        parked=sum(job.status == "failed" and job.errors[-1]["code"] == "worker_crash" for job in dump.jobs),
        artifacts=len(_uids(looks, "whole")),
        links=len(_uids(visits, "whole")),
        done=checker.done(journal, dump),
    )


def lost(acks: Sequence[Line], looks: Sequence[Line], dump: Dump) -> list[str]:
    """Acknowledged, and not in the database, or there and not to be seen over HTTP."""
    invisible = {_uid(look) for look in looks if look.data["http"] == 404}
    return sorted({ack.data["uid"] for ack in acks} - (dump.by_uid.keys() - invisible))


def unserved(looks: Sequence[Line], dump: Dump) -> list[str]:
    """Acknowledged and completed, and its bytes were never read, or were refused when somebody asked."""
    refused = {_uid(look) for look in looks if look.data.get("artifact", "whole") not in ("whole", "torn")}
    looked_at = {_uid(look) for look in looks}
    read = {_uid(look) for look in looks if "artifact" in look.data}
    renders = {job.uid for job in dump.jobs if job.kind != "note" and job.status == "completed"}
    return sorted(refused | (looked_at & renders) - read)


def gone(acks: Sequence[Line], visits: Sequence[Line]) -> list[str]:
    """A short link that somebody was given, and that showed nothing before its time was over, or was never tried."""
    refused = {
        visit.data["link"]["name"]
        for visit in visits
        if visit.data["http"] not in SHED | {200} and visit.data["wall"] < (visit.data["link"]["expires"] or float("inf"))
    }
    given = {ack.data["link"]["name"] for ack in acks if ack.data["link"] is not None}
    return sorted(refused | given - {visit.data["link"]["name"] for visit in visits})


def unlike(journal: Sequence[Line], dump: Dump) -> list[str]:
    """Whole, and yet not what a press that nobody torments makes of the same source."""
    clean = {line.data["nonce"]: line.data["sha256"] for line in journal if line.do == "clean"}
    there = dump.by_uid
    return sorted(
        {
            _uid(line)
            for line in journal
            if line.data.get("artifact") == "whole"
            and _uid(line) in there
            and line.data["sha256"] != clean.get(nonce_of(there[_uid(line)]))
        }
    )


def crossed(seen: Sequence[Line], dump: Dump) -> list[str]:
    """The artifact is another source's."""
    there = dump.by_uid
    return sorted(
        {
            _uid(line)
            for line in seen
            if line.data.get("artifact") == "whole"
            and _uid(line) in there
            and line.data["nonce"] != nonce_of(there[_uid(line)])
        }
    )


def duplicated(dump: Dump) -> list[str]:
    """The same source completed twice, or one Idempotency-Key became two jobs. A job that failed may be asked for again."""
    kept = Counter(nonce_of(job) for job in dump.jobs if job.status == "completed" or job.kind == "note")
    return [nonce for nonce, count in kept.items() if count > 1]


def rekeyed(acks: Sequence[Line]) -> list[str]:
    """Two answers to one Idempotency-Key name two jobs."""
    named: dict[str, set[str]] = defaultdict(set)
    for ack in acks:
        if ack.data["key"] is not None:
            named[ack.data["key"]].add(ack.data["uid"])
    return [key for key, uids in named.items() if len(uids) > 1]


def unexpected(journal: Sequence[Line], dump: Dump) -> list[str]:
    asked = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "invoke"}
    return [job.uid for job in dump.jobs if nonce_of(job) not in asked]


def misanswered(journal: Sequence[Line]) -> list[str]:
    """Refused with a status that blames nobody who could mend it: every request here was right."""
    return [
        f"{line.data['nonce']} (HTTP {line.data['http']} {line.data['code']})"
        for line in journal
        if line.do == "submit" and line.type == "fail" and line.data["http"] not in SHED and line.data["code"] not in UNLUCKY
    ]


def recovered(acks: Sequence[Line], dump: Dump) -> int:
    """There, although nobody heard so."""
    heard = {ack.data["nonce"] for ack in acks}
    return sum(nonce_of(job) not in heard for job in dump.jobs)


def nonce_of(job: JobRow) -> str:
    return str(job.payload["nonce"]) if "nonce" in job.payload else nonce_in(job.payload["source"])


def _uid(seen: Line) -> str:
    """Of the job that was looked at, or that the link belongs to."""
    return str(seen.data["uid"] if seen.do == "look" else seen.data["link"]["uid"])


def _uids(seen: Sequence[Line], artifact: str) -> set[str]:
    return {_uid(line) for line in seen if line.data.get("artifact") == artifact}

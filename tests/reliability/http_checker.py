"""The judge of the lab over HTTP: what clients were told, what the database holds, and what is served, must agree."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from tests.reliability import checker
from tests.reliability.dump import Dump, JobRow
from tests.reliability.http_inspector import MARK
from tests.reliability.journal import Line

SHED = frozenset({429, 503})  # statuses by which a server says that it will not, now


@dataclass(frozen=True)
class HttpVerdict:
    """The offences, each with those who suffered it, and the figures that show whether the run was worth its time."""

    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    two_terminal: list[str] = field(default_factory=list)
    two_holders: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    duplicated: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)
    integrity: list[str] = field(default_factory=list)

    acked: int = 0
    unheard: int = 0
    recovered: int = 0
    saved: int = 0
    replayed: int = 0
    parked: int = 0
    artifacts: int = 0
    done: float = 0.0

    @property
    def offences(self) -> dict[str, list[str]]:
        return {each.name: getattr(self, each.name) for each in fields(self) if isinstance(getattr(self, each.name), list)}

    @property
    def clean(self) -> bool:
        return not any(self.offences.values())


def judge(journal: Sequence[Line], dump: Dump) -> HttpVerdict:
    looks = [line for line in journal if line.do == "look"]
    acks = checker.acks(journal)
    return HttpVerdict(
        lost=lost(acks, looks, dump),
        stuck=[job.uid for job in dump.jobs if not job.ended],
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        torn=_uids(looks, "torn"),
        unserved=unserved(looks, dump),
        crossed=crossed(looks, dump),
        duplicated=duplicated(dump),
        unexpected=unexpected(journal, dump),
        misanswered=misanswered(journal),
        left_behind=[one for line in journal if line.do == "remains" for one in line.data["processes"]],
        integrity=list(dump.complaints),
        acked=len(acks),
        unheard=sum(line.do == "unheard" for line in journal),
        recovered=recovered(acks, dump),
        saved=sum(ack.data["answer"] in ("hit", "joined") for ack in acks),
        replayed=sum(ack.data["replayed"] for ack in acks),
        parked=sum(job.status == "failed" and job.errors[-1]["code"] == "worker_crash" for job in dump.jobs),
        artifacts=len(_uids(looks, "whole")),
        done=checker.done(journal, dump),
    )


def lost(acks: Sequence[Line], looks: Sequence[Line], dump: Dump) -> list[str]:
    """Acknowledged, and not in the database, or there and not to be seen over HTTP."""
    invisible = {look.data["uid"] for look in looks if look.data["http"] == 404}
    return sorted({ack.data["uid"] for ack in acks} - (dump.by_uid.keys() - invisible))


def unserved(looks: Sequence[Line], dump: Dump) -> list[str]:
    """Acknowledged and completed, and its bytes were never read, or were refused when somebody asked."""
    refused = {look.data["uid"] for look in looks if look.data.get("artifact", "whole") not in ("whole", "torn")}
    looked_at = {look.data["uid"] for look in looks}
    read = {look.data["uid"] for look in looks if "artifact" in look.data}
    renders = {job.uid for job in dump.jobs if job.kind != "note" and job.status == "completed"}
    return sorted(refused | (looked_at & renders) - read)


def crossed(looks: Sequence[Line], dump: Dump) -> list[str]:
    """The artifact is another source's."""
    there = dump.by_uid
    return [
        look.data["uid"]
        for look in looks
        if look.data.get("artifact") == "whole"
        and look.data["uid"] in there
        and look.data["nonce"] != nonce_of(there[look.data["uid"]])
    ]


def duplicated(dump: Dump) -> list[str]:
    """The same source completed twice, or one Idempotency-Key became two jobs. A job that failed may be asked for again."""
    kept = Counter(nonce_of(job) for job in dump.jobs if job.status == "completed" or job.kind == "note")
    return [nonce for nonce, count in kept.items() if count > 1]


def unexpected(journal: Sequence[Line], dump: Dump) -> list[str]:
    asked = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "invoke"}
    return [job.uid for job in dump.jobs if nonce_of(job) not in asked]


def misanswered(journal: Sequence[Line]) -> list[str]:
    """Refused with a status that blames nobody who could mend it: every request here was right."""
    return [
        f"{line.data['nonce']} (HTTP {line.data['http']})"
        for line in journal
        if line.do == "submit" and line.type == "fail" and line.data["http"] not in SHED
    ]


def recovered(acks: Sequence[Line], dump: Dump) -> int:
    """There, although nobody heard so."""
    heard = {ack.data["nonce"] for ack in acks}
    return sum(nonce_of(job) not in heard for job in dump.jobs)


def nonce_of(job: JobRow) -> str:
    if "nonce" in job.payload:
        return str(job.payload["nonce"])
    return str(job.payload["source"].partition(MARK.decode())[2][:16])


def _uids(looks: Sequence[Line], artifact: str) -> list[str]:
    return sorted({look.data["uid"] for look in looks if look.data.get("artifact") == artifact})

"""The judge: nothing is lost or done twice, everything ends, and whoever was refused was refused in words that help."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.chaos.clients import LIMIT
from tests.reliability import checker
from tests.reliability.dump import Dump
from tests.reliability.http_checker import nonce_of
from tests.reliability.journal import Line
from tests.reliability.verdict import Findings


@dataclass(frozen=True)
class ChaosVerdict(Findings):
    stale_accepted: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    spoiled: list[str] = field(default_factory=list)
    unreachable: list[str] = field(default_factory=list)
    hung: list[str] = field(default_factory=list)

    refused: int = 0
    replayed: int = 0
    runs: int = 0
    mistakes: int = 0


def judge(journal: Sequence[Line], dump: Dump, *, services_die: bool = False) -> ChaosVerdict:
    """`services_die`: then a connection may be refused or end early; otherwise every request has its answer."""
    acks = checker.acks(journal)
    answers = [line for line in journal if line.do == "answer"]
    dump = only_of(journal, dump)
    return ChaosVerdict(
        lost=checker.lost(journal, dump),
        stuck=checker.stuck(dump),
        duplicated=sorted({*checker.duplicated(dump), *twice_the_same(dump)}),
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        stale_accepted=checker.stale_accepted(replace(dump, jobs=[job for job in dump.jobs if job.kind != "render"])),
        failed=[f"{job.uid} ({job.last_error})" for job in dump.jobs if job.ended and job.status != "completed"],
        integrity=list(dump.complaints),
        misanswered=[_told(line) for line in answers if line.data["http"] is not None and not _is_fair(line)],
        spoiled=[f"{_told(line)}, after a {line.data['follows']}" for line in answers if _is_spoiled(line)],
        unreachable=[_told(line) for line in answers if line.data["http"] is None and not services_die],
        hung=[_told(line) for line in answers if line.data["seconds"] >= LIMIT],
        acked=len(acks),
        recovered=len({nonce_of(job) for job in dump.jobs} - {ack.data["nonce"] for ack in acks}),
        refused=sum(line.data["http"] == 503 for line in answers),
        replayed=sum(ack.data["replayed"] for ack in acks),
        runs=sum(line.do == "run" for line in journal),
        mistakes=sum(line.data["expects"] is not None and line.data["http"] == line.data["expects"] for line in answers),
        done=1.0,
    )


def only_of(journal: Sequence[Line], dump: Dump) -> Dump:
    """Of all that the database holds, what these clients asked for."""
    asked = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "invoke"}
    jobs = [job for job in dump.jobs if nonce_of(job) in asked]
    ids, uids = {job.id for job in jobs}, {job.uid for job in jobs}
    return replace(
        dump,
        jobs=jobs,
        events=[event for event in dump.events if event.job_id in ids],
        publications=[row for row in dump.publications if row.uid in uids],
    )


def twice_the_same(dump: Dump) -> list[str]:
    """One request became two jobs."""
    return [nonce for nonce, count in Counter(map(nonce_of, dump.jobs)).items() if count > 1]


def _is_fair(answer: Line) -> bool:
    """Accepted, or refused for now and told when to come again. A mistake is refused as a mistake, or for now."""
    if answer.data["http"] == 503 and answer.data["again"] is not None:
        return True
    expects = answer.data["expects"]
    return answer.data["http"] in (200, 202) if expects is None else answer.data["http"] == expects


def _is_spoiled(answer: Line) -> bool:
    """A good submit that failed because of the mistake before it, and not because of what was broken just then."""
    return answer.data["follows"] is not None and answer.data["http"] is not None and not _is_fair(answer)


def _told(answer: Line) -> str:
    return f"{answer.data['nonce']} (HTTP {answer.data['http']} after {answer.data['seconds']} s: {answer.data['reason']})"

"""The judge: pure functions over what the clients saw, what the handlers did, and what the database holds.

Valid only after a drain. The words are Jepsen's where it has them: a job is *lost* if it was acknowledged and is not
there, *recovered* if it is there although nobody heard so (which is allowed), *unexpected* if nobody ever asked for it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.reliability.dump import Dump, JobRow
from tests.reliability.journal import Line
from tests.reliability.verdict import Findings
from tests.reliability.workload import POISON, PRUNED

ENDINGS = frozenset({"completed", "completed_with_errors", "failed", "cancelled"})
KEPT = frozenset({"completed", "completed_with_errors"})
LETTING_GO = ENDINGS | {"retrying", "postponed", "released", "lost"}


@dataclass(frozen=True)
class Verdict(Findings):
    lost_update: list[str] = field(default_factory=list)
    unpublished: list[str] = field(default_factory=list)
    stale_accepted: list[str] = field(default_factory=list)
    regress: list[str] = field(default_factory=list)
    stale_answer: list[str] = field(default_factory=list)
    waiter_unanswered: list[str] = field(default_factory=list)
    uncancelled: list[str] = field(default_factory=list)
    half_written: list[str] = field(default_factory=list)
    unparked: list[str] = field(default_factory=list)

    runs: int = 0
    stale_provoked: int = 0


def judge(journal: Sequence[Line], dump: Dump) -> Verdict:
    return Verdict(
        lost=lost(journal, dump),
        lost_update=lost_update(journal, dump),
        duplicated=duplicated(dump),
        unpublished=unpublished(dump),
        stuck=stuck(dump),
        two_terminal=two_terminal(dump),
        two_holders=two_holders(dump),
        stale_accepted=stale_accepted(dump),
        regress=regress(dump),
        stale_answer=stale_answer(journal),
        waiter_unanswered=waiter_unanswered(journal, dump),
        crossed=crossed(dump),
        uncancelled=uncancelled(journal, dump),
        half_written=half_written(dump),
        unexpected=unexpected(journal, dump),
        unparked=unparked(dump),
        integrity=list(dump.complaints),
        acked=len(acks(journal)),
        recovered=recovered(journal, dump),
        runs=sum(line.do == "run" for line in journal),
        stale_provoked=stale_provoked(journal),
        done=done(journal, dump),
    )


def acks(journal: Iterable[Line]) -> list[Line]:
    return [line for line in journal if line.do == "submit" and line.type == "ok"]


def lost(journal: Iterable[Line], dump: Dump) -> list[str]:
    """Acknowledged, and not there. What ended and was pruned has left its publication."""
    there = dump.by_uid.keys() | {row.uid for row in dump.publications if row.kind in PRUNED}
    return sorted({ack.data["uid"] for ack in acks(journal)} - there)


def lost_update(journal: Iterable[Line], dump: Dump) -> list[str]:
    """A revision was acknowledged, and the job that was to print it holds an older one."""
    there = dump.by_uid
    return [
        ack.data["uid"]
        for ack in acks(journal)
        if ack.data["kind"] == "page"
        and ack.data["uid"] in there
        and there[ack.data["uid"]].payload["revision"] < ack.data["revision"]
    ]


def duplicated(dump: Dump) -> list[str]:
    counts = Counter(row.uid for row in dump.publications)
    return [uid for uid, count in counts.items() if count > 1]


def unpublished(dump: Dump) -> list[str]:
    """Ended, while the rows that belong to its ending were not written."""
    written = {row.uid for row in dump.publications}
    return [job.uid for job in dump.jobs if job.ended and job.uid not in written]


def stuck(dump: Dump) -> list[str]:
    return [job.uid for job in dump.jobs if not job.ended]


def two_terminal(dump: Dump) -> list[str]:
    """More than one ending in the history, or another one than the row says."""
    endings: dict[int, list[str]] = defaultdict(list)
    for event in dump.events:
        if event.type in ENDINGS:
            endings[event.job_id].append(event.type)
    return [job.uid for job in dump.jobs if endings[job.id] != ([job.status] if job.ended else [])]


def two_holders(dump: Dump) -> list[str]:
    """A job began while it, or another one of its key, was still held by somebody."""
    jobs = {job.id: job for job in dump.jobs}
    held: dict[str, str] = {}
    offenders = []
    for event in dump.events:
        job = jobs.get(event.job_id)
        if job is None:  # the history of nobody: fsck says so
            continue
        thing = job.key or job.uid
        if event.type == "started":
            if thing in held:
                offenders.append(job.uid)
            held[thing] = job.uid
        elif event.type in LETTING_GO and held.get(thing) == job.uid:
            del held[thing]
    return offenders


def stale_accepted(dump: Dump) -> list[str]:
    """The result that was kept was made under another claim than the last."""
    return [job.uid for job in dump.jobs if _has_result(job) and job.result["token"] != job.claim]


def regress(dump: Dump) -> list[str]:
    """An older revision of a page was published after a newer one."""
    newest: dict[str, int] = {}
    offenders = []
    for row in dump.publications:
        if row.kind != "page" or row.status not in KEPT or row.key is None or row.revision is None:
            continue
        if row.revision < newest.get(row.key, 0):
            offenders.append(row.uid)
        newest[row.key] = max(row.revision, newest.get(row.key, 0))
    return offenders


def stale_answer(journal: Iterable[Line]) -> list[str]:
    """Somebody waited for a revision and was given an older one."""
    wanted = {
        line.data["nonce"]: line.data["revision"]
        for line in journal
        if line.do == "wait" and line.type == "invoke" and line.data.get("kind") == "page"
    }
    return [
        line.data["nonce"]
        for line in journal
        if line.do == "wait" and line.type == "ok" and line.data["revision"] < wanted.get(line.data["nonce"], 0)
    ]


def waiter_unanswered(journal: Sequence[Line], dump: Dump) -> list[str]:
    """Somebody waited to the end and heard nothing, or died waiting for a job that has no answer to come back for."""
    heard = {line.data["nonce"] for line in journal if line.do == "wait" and line.type != "invoke"}
    left = {line.data["client"] for line in journal if line.do == "left"}
    ended = {job.uid for job in dump.jobs if job.ended} | {row.uid for row in dump.publications}
    return [
        line.data["nonce"]
        for line in journal
        if line.do == "wait"
        and line.type == "invoke"
        and line.data["nonce"] not in heard
        and (line.data["client"] in left or line.data["uid"] not in ended)
    ]


def crossed(dump: Dump) -> list[str]:
    """The result is another payload's."""
    return [job.uid for job in dump.jobs if _has_result(job) and job.result["nonce"] != job.payload["nonce"]]


def uncancelled(journal: Iterable[Line], dump: Dump) -> list[str]:
    """A cancel was accepted, and the job ended in another way."""
    there = dump.by_uid
    return [
        line.data["uid"]
        for line in journal
        if line.do == "cancel"
        and line.type == "ok"
        and line.data["asked"]
        and line.data["uid"] in there
        and there[line.data["uid"]].status != "cancelled"
    ]


def half_written(dump: Dump) -> list[str]:
    """A held transaction left the application's row without the job, or a tick without its job, or the other way round."""
    sent = {job.payload["nonce"] for job in dump.jobs if job.payload.get("letter")}
    ticked = {job.uid for job in dump.jobs if job.kind == "tick"}
    return sorted((sent ^ set(dump.letters)) | (ticked ^ set(dump.ticks)))


def unexpected(journal: Iterable[Line], dump: Dump) -> list[str]:
    """Nobody asked for it, or whoever did was told that it failed."""
    asked = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "invoke"}
    refused = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "fail"}
    return [job.uid for job in dump.jobs if job.kind != "tick" and job.payload["nonce"] not in asked - refused]


def unparked(dump: Dump) -> list[str]:
    """Poison that was not parked as such."""
    return [
        job.uid
        for job in dump.jobs
        if job.kind == POISON and (job.status != "failed" or job.errors[-1]["code"] != "worker_crash")
    ]


def recovered(journal: Iterable[Line], dump: Dump) -> int:
    """There, although whoever submitted it died before hearing so."""
    heard = {line.data["nonce"] for line in journal if line.do == "submit" and line.type == "ok"}
    return sum(job.kind != "tick" and job.payload["nonce"] not in heard for job in dump.jobs)


def stale_provoked(journal: Iterable[Line]) -> int:
    """Late results that workers sent and the database refused."""
    refused: dict[str, int] = {}
    for line in journal:
        if line.do == "tally":
            refused[line.data["worker"]] = line.data["stale"]
    return sum(refused.values())


def done(journal: Sequence[Line], dump: Dump) -> float:
    """Which part of the jobs had ended when the last fault came. Under constant killing it would be none."""
    peace = next((line.data["wall"] * 1000 for line in journal if line.do == "peace"), float("inf"))
    before = [job for job in dump.jobs if job.date_completed is not None and job.date_completed <= peace]
    return len(before) / len(dump.jobs) if dump.jobs else 0.0


def _has_result(job: JobRow) -> bool:
    return job.status in KEPT and job.kind != "tick"

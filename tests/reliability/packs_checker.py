"""The judge of packs: what applications were told, what they downloaded, and what the database holds must agree.

Every version that was requested ends ready, or failed with an alert, or superseded by a newer one of its document. A ready one
has one file, whose bytes are a PDF with the recorded hash.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.reliability import checker
from tests.reliability.http_checker import SHED
from tests.reliability.journal import Line
from tests.reliability.packs_client import NOT_ASKED
from tests.reliability.packs_dump import PacksDump
from tests.reliability.verdict import Findings


@dataclass(frozen=True)
class PacksVerdict(Findings):
    gaps: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    unserved: list[str] = field(default_factory=list)
    unalerted: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)

    unheard: int = 0
    packs: int = 0
    ready: int = 0
    failed: int = 0
    superseded: int = 0
    retried: int = 0
    rescued: int = 0
    downloads: int = 0


def judge(journal: Sequence[Line], dump: PacksDump) -> PacksVerdict:
    outcomes = Counter(render.outcome for render in dump.renders)
    acked = _acked_renders(journal)
    created = {line.data["pack"] for line in journal if line.do == "create" and line.type == "ok"}
    return PacksVerdict(
        lost=sorted(created - dump.packs.keys()) + _lost_renders(acked, dump),
        stuck=stuck(dump),
        duplicated=duplicated(dump),
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        unexpected=unexpected(journal, dump),
        integrity=list(dump.complaints),
        gaps=gaps(dump),
        hidden=hidden(dump),
        torn=sorted({_name(line) for line in _downloads(journal) if line.data["http"] == 200 and not line.data["whole"]}),
        unserved=unserved(journal, dump),
        unalerted=unalerted(dump),
        misanswered=misanswered(journal),
        left_behind=[one for line in journal if line.do == "remains" for one in line.data["processes"]],
        acked=len(acked),
        recovered=len(dump.packs.keys() - created)
        + len({(one.pack, one.doc_id, one.number) for one in dump.renders} - acked.keys()),
        done=checker.done(journal, dump),
        unheard=sum(line.do == "unheard" for line in journal),
        packs=len(dump.packs),
        ready=outcomes["ready"],
        failed=outcomes["failed"],
        superseded=outcomes["superseded"],
        retried=sum(bool(job.errors) and job.status == "completed" for job in dump.jobs),
        rescued=sum(event.type == "lost" for event in dump.events),
        downloads=len(_downloads(journal)),
    )


def _acked_renders(journal: Sequence[Line]) -> dict[tuple[str, str, int], str]:
    """The job of each version that an answer named. The answer to a pack's call names none."""
    return {
        (line.data["pack"], job["doc_id"], job["version"] or 1): job["job_id"]
        for line in journal
        if line.do == "render" and line.type == "ok"
        for job in line.data["jobs"]
    }


def _lost_renders(acked: dict[tuple[str, str, int], str], dump: PacksDump) -> list[str]:
    """Acknowledged, and no version has that job."""
    known = {(render.pack, render.doc_id, render.job_id) for render in dump.renders}
    return sorted(f"{pack}/{doc}" for (pack, doc, _), job in acked.items() if (pack, doc, job) not in known)


def stuck(dump: PacksDump) -> list[str]:
    open_jobs = {job.uid for job in dump.jobs if not job.ended}
    waiting = [render.name for render in dump.renders if render.outcome is None or render.job_uid in open_jobs]
    newest = {(one.pack, one.doc_id): one.latest for one in dump.documents}
    # Whatever superseded a version is newer, so the newest one of a document is never superseded.
    given_up = [
        render.name
        for render in dump.renders
        if render.outcome == "superseded" and render.number == newest[render.pack, render.doc_id]
    ]
    return waiting + given_up


def duplicated(dump: PacksDump) -> list[str]:
    """One Idempotency-Key became two packs, a version has two files, or a file is that of two versions."""
    packs = [nonce for nonce, count in Counter(dump.packs.values()).items() if count > 1]
    ready = [render for render in dump.renders if render.outcome == "ready"]
    files = [file for file, count in Counter(render.file_id for render in ready).items() if count > 1]
    return packs + [str(file) for file in files] + [render.name for render in ready if render.artifacts != 1]


def unexpected(journal: Sequence[Line], dump: PacksDump) -> list[str]:
    asked = {line.data["nonce"] for line in journal if line.do == "create" and line.type == "invoke"}
    cancelled = [render.name for render in dump.renders if render.outcome == "cancelled"]
    return sorted(pack for pack, nonce in dump.packs.items() if nonce not in asked) + cancelled


def gaps(dump: PacksDump) -> list[str]:
    """The numbers of a document's versions are 1, 2, 3, …"""
    return [f"{pack}/{doc}" for (pack, doc), renders in _by_document(dump).items() if [*range(1, len(renders) + 1)] != renders]


def hidden(dump: PacksDump) -> list[str]:
    """The newest version or the newest good one is not what the document says (D21)."""
    good: dict[tuple[str, str], int] = {}
    for render in dump.renders:
        if render.outcome == "ready":
            good[render.pack, render.doc_id] = max(render.number, good.get((render.pack, render.doc_id), 0))
    by_document = _by_document(dump)
    return [
        f"{one.pack}/{one.doc_id}"
        for one in dump.documents
        if one.latest != max(by_document.get((one.pack, one.doc_id), [0])) or one.good != good.get((one.pack, one.doc_id))
    ]


def unserved(journal: Sequence[Line], dump: PacksDump) -> list[str]:
    """A link to a ready file opened nothing, or a ready file was not downloaded in the end."""
    since = next((line.at for line in journal if line.do == "inspecting"), float("inf"))
    served = {line.data["file_id"] for line in _downloads(journal) if line.at > since and line.data["http"] == 200}
    refused = {_name(line) for line in _downloads(journal) if line.data["http"] not in SHED | {200}}
    missing = {one.name for one in dump.renders if one.outcome == "ready" and one.file_id not in served}
    return sorted(refused | missing)


def unalerted(dump: PacksDump) -> list[str]:
    """R30: alerts count every failure."""
    failed = [job.uid for job in dump.jobs if job.kind == "packs.render" and job.status == "failed"]
    return failed if dump.alerted != len(failed) else []


def misanswered(journal: Sequence[Line]) -> list[str]:
    """Refused although every request was right: by anything but a server that has no room, or stops."""
    allowed = SHED | {NOT_ASKED}
    return [
        f"{line.do} {line.data.get('pack') or line.data.get('nonce') or line.data.get('path')} (HTTP {line.data['http']})"
        for line in journal
        if line.type == "fail" and line.do in ("create", "render", "read") and line.data["http"] not in allowed
    ]


def _by_document(dump: PacksDump) -> dict[tuple[str, str], list[int]]:
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for render in dump.renders:
        found[render.pack, render.doc_id].append(render.number)
    return {name: sorted(numbers) for name, numbers in found.items()}


def _downloads(journal: Sequence[Line]) -> list[Line]:
    return [line for line in journal if line.do == "download"]


def _name(line: Line) -> str:
    return f"{line.data['pack']}/{line.data['doc_id']}@{line.data['version']}"

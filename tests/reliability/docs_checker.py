"""The judge of documentation: what CI jobs were told, what readers saw, and what the database holds must agree.

Every build whose processing was acknowledged ends completed, or failed with its reason. A reader never sees files of two builds
under one, an older build after a newer one, or a 404 of a page that it has seen and that every build has.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.reliability import checker
from tests.reliability.docs_client import NOT_ASKED
from tests.reliability.docs_dump import BuildRow, DocsDump
from tests.reliability.http_checker import SHED
from tests.reliability.journal import Line
from tests.reliability.verdict import Findings

MAIN = "__main"


@dataclass(frozen=True)
class DocsVerdict(Findings):
    gaps: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    unpublished: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)

    unheard: int = 0
    builds: int = 0
    completed: int = 0
    failed: int = 0
    moves: int = 0
    retried: int = 0
    rescued: int = 0
    reads: int = 0


def judge(journal: Sequence[Line], dump: DocsDump) -> DocsVerdict:
    acked = {line.data["build"]: line.data["job"] for line in journal if line.do == "start" and line.type == "ok"}
    by_uid = {build.uid.lower(): build for build in dump.builds}
    numbered = [build for build in dump.builds if build.number is not None]
    return DocsVerdict(
        lost=sorted(uid for uid in acked if uid.lower() not in by_uid or by_uid[uid.lower()].number is None),
        stuck=[build.name for build in numbered if build.status not in ("completed", "failed")]
        + [job.uid for job in dump.jobs if not job.ended],
        duplicated=duplicated(dump),
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        integrity=list(dump.complaints),
        gaps=gaps(dump),
        unexplained=[one.name for one in numbered if one.status == "failed" and not (one.error or {}).get("message")],
        behind=behind(journal, dump),
        unpublished=[
            one.name
            for one in dump.editions
            if one.build and (one.publish_status, one.published_seq) != ("published", one.publish_seq)
        ],
        mixed=mixed(journal, by_uid),
        older=older(journal, by_uid),
        missing=missing(journal),
        misanswered=misanswered(journal),
        left_behind=[one for line in journal if line.do == "remains" for one in line.data["processes"]],
        acked=len(acked),
        recovered=len({build.uid.lower() for build in numbered} - {uid.lower() for uid in acked}),
        done=checker.done(journal, dump),
        unheard=sum(line.do == "unheard" for line in journal),
        builds=len(dump.builds),
        completed=sum(build.status == "completed" for build in dump.builds),
        failed=sum(build.status == "failed" for build in dump.builds),
        moves=len(dump.history),
        retried=sum(bool(job.errors) and job.status.startswith("completed") for job in dump.jobs),
        rescued=sum(event.type == "lost" for event in dump.events),
        reads=sum(line.do == "read" for line in journal),
    )


def duplicated(dump: DocsDump) -> list[str]:
    """One build of a CI job was processed as two. One that was announced twice, and uploaded once, is only forgotten."""
    processed = Counter(build.nonce for build in dump.builds if build.number is not None)
    return [nonce for nonce, count in processed.items() if count > 1]


def gaps(dump: DocsDump) -> list[str]:
    """The numbers of a project's builds are 1, 2, 3, …; an edition's moves too, and they never go back to an older build."""
    numbers = {build.uid: build.number or 0 for build in dump.builds}
    found = []
    by_project: dict[str, list[int]] = defaultdict(list)
    for build in dump.builds:
        if build.number is not None:
            by_project[build.project].append(build.number)
    found += [project for project, given in by_project.items() if sorted(given) != [*range(1, len(given) + 1)]]
    by_edition: dict[str, list[int]] = defaultdict(list)
    shown: dict[str, list[int]] = defaultdict(list)
    for row in dump.history:
        by_edition[row.edition].append(row.seq)
        shown[row.edition].append(numbers.get(row.build, 0))
    found += [edition for edition, seqs in by_edition.items() if seqs != [*range(1, len(seqs) + 1)]]
    return found + [edition for edition, order in shown.items() if order != sorted(order)]


def behind(journal: Sequence[Line], dump: DocsDump) -> list[str]:
    """__main shows the newest completed build: in the database, at the edge, and in the folder."""
    newest: dict[str, BuildRow] = {}
    for build in sorted((one for one in dump.builds if one.status == "completed"), key=lambda one: one.number or 0):
        newest[build.project] = build
    found = [
        edition.name
        for edition in dump.editions
        if edition.slug == MAIN and edition.project in newest and edition.build != newest[edition.project].uid
    ]
    return found + [
        f"{line.data['project']}/{line.data['path']} in the {line.data['place']}"
        for line in journal
        if line.do == "last" and line.data["project"] in newest and line.data["nonce"] != newest[line.data["project"]].nonce
    ]


def mixed(journal: Sequence[Line], builds: dict[str, BuildRow]) -> list[str]:
    """An answer names one build and has the bytes of another, or of none."""
    known = {build.nonce for build in builds.values()}
    found = []
    for line in _pages(journal):
        named = line.data["build"]
        build = builds.get((named or "").lower())
        wanted = line.data["nonce"] in known if named is None else build is not None and build.nonce == line.data["nonce"]
        if not wanted:
            found.append(f"{line.data['project']}/{line.data['path']}")
    return found


def older(journal: Sequence[Line], builds: dict[str, BuildRow]) -> list[str]:
    """One reader, one page: an older build after a newer one. An edge moves all pages at once, a folder one after the other."""
    numbers: dict[str, int] = defaultdict(int)  # a build may be announced twice: one of them is never uploaded, and has none
    for build in builds.values():
        numbers[build.nonce] = max(numbers[build.nonce], build.number or 0)
    newest: dict[tuple[int, str, str], int] = {}
    found = []
    for line in _pages(journal):
        number = numbers[line.data["nonce"]]
        page = "" if line.data["build"] is not None else line.data["path"]
        place = (line.data["edge"], line.data["project"], page)
        if number < newest.get(place, 0):
            found.append(f"{line.data['project']}/{line.data['path']}: {number} after {newest[place]}")
        newest[place] = max(number, newest.get(place, 0))
    return found


def _pages(journal: Sequence[Line]) -> list[Line]:
    return [line for line in journal if line.do == "read" and line.data["http"] == 200]


def missing(journal: Sequence[Line]) -> list[str]:
    """Any answer but the page, by an edge that has shown the project before, unless it has no room or stops."""
    shown: set[str] = set()
    found = []
    for line in journal:
        if line.do != "read":
            continue
        if line.data["http"] == 200:
            shown.add(line.data["project"])
        elif line.data["project"] in shown and line.data["http"] not in SHED:
            found.append(f"{line.data['project']}/{line.data['path']} (HTTP {line.data['http']})")
    return found


def misanswered(journal: Sequence[Line]) -> list[str]:
    """Refused although every request was right: by anything but a server that has no room, or stops."""
    allowed = SHED | {NOT_ASKED}
    return [
        f"{line.do} {line.data.get('nonce')} (HTTP {line.data['http']}) {line.data.get('detail', '')}"
        for line in journal
        if line.type == "fail" and line.do in ("announce", "upload", "start") and line.data["http"] not in allowed
    ]

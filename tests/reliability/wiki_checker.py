"""The judge of the wiki: what was said to whoever wrote and read, and what the database holds, must agree.

A text is known by its nonce. It is *lost* if its author was told that it is kept and it is not there word for word,
*recovered* if it is there although nobody heard so, which is allowed, *crossed* if its HTML is another's (D2), and *stuck* if
nobody will ever render it (D4).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tests.reliability import checker
from tests.reliability.http_checker import SHED
from tests.reliability.journal import Line
from tests.reliability.verdict import Findings
from tests.reliability.wiki_dump import RevisionRow, WikiDump
from tests.reliability.wiki_hand import NOBODY
from tests.reliability.wiki_texts import nonces_in

CONFLICT = 409
NOT_THERE = 404


@dataclass(frozen=True)
class WikiVerdict(Findings):
    overwritten: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    went_back: list[str] = field(default_factory=list)
    misanswered: list[str] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)

    unheard: int = 0
    left: int = 0
    conflicts: int = 0
    superseded: int = 0
    repeated: int = 0
    rerendered: int = 0
    parked: int = 0
    reads: int = 0
    revisions: int = 0


def judge(journal: Sequence[Line], dump: WikiDump) -> WikiVerdict:
    run = Run(journal, dump)
    return WikiVerdict(
        lost=lost(run),
        stuck=stuck(run),
        duplicated=[nonce for nonce, rows in run.kept.items() if len(rows) > 1],
        two_terminal=checker.two_terminal(dump),
        two_holders=checker.two_holders(dump),
        crossed=crossed(run),
        unexpected=unexpected(run),
        overwritten=overwritten(run),
        gaps=gaps(dump),
        went_back=went_back(run),
        misanswered=misanswered(journal),
        left_behind=[one for line in journal if line.do == "remains" for one in line.data["processes"]],
        integrity=list(dump.complaints),
        acked=len(run.acked),
        unheard=sum(line.do == "unheard" for line in journal),
        recovered=len(run.kept.keys() - run.acked.keys() - run.left),
        left=len(run.left & run.kept.keys()),
        conflicts=sum(line.data["http"] == CONFLICT for line in run.failed_saves),
        superseded=sum(row.status == "stale" and row.html is None for row in dump.revisions),
        repeated=sum(line.data["again"] for line in journal if line.do == "save" and line.type == "ok"),
        rerendered=sum(line.do == "render_again" and line.type == "ok" for line in journal),
        parked=sum(job.status == "failed" and job.errors[-1]["code"] == "worker_crash" for job in dump.jobs),
        reads=len(run.reads),
        revisions=len(dump.revisions),
        done=checker.done(journal, dump),
    )


@dataclass(frozen=True)
class Run:
    """A journal and what is left, by what the judge asks of them."""

    journal: Sequence[Line]
    dump: WikiDump

    @cached_property
    def posts(self) -> dict[str, dict[str, Any]]:
        """What was to be saved, by its nonce. Each was made from one revision, however often the button was pressed."""
        return {line.data["nonce"]: line.data for line in self._saves("invoke")}

    @cached_property
    def acked(self) -> dict[str, Line]:
        return {line.data["nonce"]: line for line in reversed(self._saves("ok"))}

    @cached_property
    def failed_saves(self) -> list[Line]:
        return self._saves("fail")

    @cached_property
    def refused(self) -> set[str]:
        """Texts whose author was told, each time that they pressed the button, that they are not kept."""
        pressed = Counter(line.data["nonce"] for line in self._saves("invoke"))
        pressed.subtract(line.data["nonce"] for line in self.failed_saves if line.data["http"] in (CONFLICT, NOBODY))
        return {nonce for nonce, unclear in pressed.items() if not unclear}

    @cached_property
    def left(self) -> set[str]:
        """Texts whose author did not wait for an answer."""
        return {line.data["nonce"] for line in self.journal if line.do == "left"} - self.acked.keys()

    @cached_property
    def kept(self) -> dict[str, list[RevisionRow]]:
        found: dict[str, list[RevisionRow]] = defaultdict(list)
        for row in self.dump.revisions:
            found[_nonce(row)].append(row)
        return dict(found)

    @cached_property
    def nonces(self) -> dict[tuple[str, int], str]:
        """By article and number."""
        return {(row.article, row.number): _nonce(row) for row in self.dump.revisions}

    @cached_property
    def reads(self) -> list[Line]:
        return [line for line in self.journal if line.do == "read" and line.data["http"] == 200]

    def _saves(self, type: str) -> list[Line]:
        return [line for line in self.journal if line.do == "save" and line.type == type]


def lost(run: Run) -> list[str]:
    """Acknowledged, and not there word for word; or there, and somebody who came later was told that there is no article."""
    gone = [
        nonce
        for nonce, ack in run.acked.items()
        if (ack.data["article"], run.posts[nonce]["source"])
        not in {(row.article, row.source) for row in run.kept.get(nonce, [])}
    ]
    known_since: dict[str, int] = {}
    for ack in run.acked.values():
        known_since[ack.data["article"]] = min(ack.at, known_since.get(ack.data["article"], ack.at))
    unseen = {
        line.data["article"]
        for line in run.journal
        if line.do == "read"
        and line.data["http"] == NOT_THERE
        and line.data["began"] > known_since.get(line.data["article"], float("inf"))
    }
    return sorted(gone) + sorted(unseen)


def stuck(run: Run) -> list[str]:
    """Jobs that are open; revisions that say `queued` while no job is; and newest revisions that were not rendered.

    What counts is how the newest ones were before anybody opened them, because a page that is opened is rendered then. One
    whose workers died too often was given up, and said so: it must be there once somebody pressed the button.
    """
    unfinished = [job.uid for job in run.dump.jobs if not job.ended]
    forgotten = [row.name for row in run.dump.revisions if row.status == "queued" and row.job not in unfinished]
    newest = {(article.url, article.head) for article in run.dump.articles}
    bare = [row.name for row in run.dump.revisions if (row.article, row.number) in newest and row.status != "rendered"]
    unopened = [
        f"{head['article']}@{head['number']}"
        for line in run.journal
        if line.do == "heads"
        for head in line.data["heads"]
        if head["status"] != "rendered" and (head["status"], head["error"]) != ("failed", "worker_crash")
    ]
    return sorted({*unfinished, *forgotten, *bare, *unopened})


def crossed(run: Run) -> list[str]:
    """HTML that is another revision's, in a row or before somebody's eyes, or is called by the number of another."""
    kept = [row.name for row in run.dump.revisions if row.html is not None and nonces_in(row.html) != [_nonce(row)]]
    return sorted({*kept, *(name for line in run.reads for name in _miscalled(run, line))})


def _miscalled(run: Run, read: Line) -> Iterable[str]:
    article, asked, seen = read.data["article"], read.data["revision"], read.data["seen"]
    numbers = [*seen["said"], *([] if asked is None else [asked])]
    if not seen["said"]:
        yield f"{article}@?"
    for number in numbers:
        if seen["nonces"] != [run.nonces.get((article, number))]:
            yield f"{article}@{number}"


def unexpected(run: Run) -> list[str]:
    """There, although nobody wrote it, or its author was told that it met a conflict."""
    written = {(post["article"], post["source"]) for nonce, post in run.posts.items() if nonce not in run.refused}
    return [row.name for row in run.dump.revisions if (row.article, row.source) not in written]


def overwritten(run: Run) -> list[str]:
    """A text is not the one after the revision that its author had read."""
    return [
        row.name
        for nonce, rows in run.kept.items()
        for row in rows
        if nonce in run.posts and row.number != run.posts[nonce]["previous"] + 1
    ]


def gaps(dump: WikiDump) -> list[str]:
    """The revisions of an article are not 1, 2, 3 … to the newest."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for row in dump.revisions:
        numbers[row.article].append(row.number)
    return [article.url for article in dump.articles if sorted(numbers[article.url]) != list(range(1, article.head + 1))]


def went_back(run: Run) -> list[str]:
    """What an article shows is not the newest that was rendered; or somebody was shown HTML that is older than what somebody
    had been shown before they asked, or heard of nothing as new as what they had just saved."""
    newest: dict[str, int] = {}
    for row in run.dump.revisions:
        if row.html is not None:
            newest[row.article] = max(row.number, newest.get(row.article, 0))
    behind = {article.url for article in run.dump.articles if article.shown != newest.get(article.url)}
    return sorted(behind | _shown_older(run) | _shown_without_their_own(run))


def _shown_older(run: Run) -> set[str]:
    """Sources do not count: while nothing was ever rendered a page shows the newest text, and later the first HTML there is."""
    looks = [line for line in run.reads if line.data["revision"] is None and line.data["seen"]["rendered"]]
    ended = iter(sorted(looks, key=lambda line: line.at))
    earlier = next(ended, None)
    newest: dict[str, int] = {}
    offenders = set()
    for look in sorted(looks, key=lambda line: int(line.data["began"])):
        while earlier is not None and earlier.at < look.data["began"]:
            article = earlier.data["article"]
            newest[article] = max(newest.get(article, 0), *earlier.data["seen"]["said"], 0)
            earlier = next(ended, None)
        if max(look.data["seen"]["said"], default=0) < newest.get(look.data["article"], 0):
            offenders.add(look.data["article"])
    return offenders


def _shown_without_their_own(run: Run) -> set[str]:
    return {
        line.data["article"]
        for line in run.reads
        for row in run.kept.get(line.data["after"] or "", [])
        if line.data["seen"]["newest"] < row.number
    }


def misanswered(journal: Sequence[Line]) -> list[str]:
    """Refused with a status that blames nobody who could mend it: every request here was right."""
    allowed = {
        "save": SHED | {303, CONFLICT, NOBODY},
        "read": SHED | {200, NOT_THERE},
        "render_again": SHED | {303},
        "page": SHED | {NOT_THERE},
    }
    return [
        f"{line.do} {line.data['article']} (HTTP {line.data['http']})"
        for line in journal
        if line.do in allowed and "http" in line.data and line.data["http"] not in allowed[line.do]
    ]


def _nonce(row: RevisionRow) -> str:
    return "".join(nonces_in(row.source))

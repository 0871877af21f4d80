"""The crash lab of the wiki: the servers and workers of the lab over HTTP, with people who write and read articles."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pressroom.app import BUILT_IN
from pressroom.apps.wiki import renderers
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.web import site
from tests.reliability import victims, wiki_dump, wiki_inspector, wiki_nemesis
from tests.reliability.http_lab import DRAIN_LIMIT, HttpLab
from tests.reliability.journal import Line
from tests.reliability.slot import Toll
from tests.reliability.victims import Victim
from tests.reliability.wiki_desk import WikiDesk
from tests.reliability.wiki_dump import WikiDump

PACKAGES = tuple((name, f"pressroom.apps.{name}") for name in BUILT_IN)
TEMPLATES = tuple(f"wiki/{name}.html" for name in ("article", "conflict", "edit", "missing", "rerender"))


class WikiLab(HttpLab):
    team = wiki_nemesis.TEAM
    fates = wiki_nemesis.FATES
    far_behind = 4  # of an article there are rarely more than two jobs, however much is written

    def __init__(self, folder: Path, seed: int, show: Callable[[Toll, int], None]) -> None:
        super().__init__(folder, seed, show)
        self._began: dict[int, int] = {}  # when the lab first looked at a process
        self._heard: dict[int, int] = {}  # when somebody last had an answer from a port
        _warm_up()

    def dump(self) -> WikiDump:
        return wiki_dump.read(self.database)

    def hear(self, line: Line) -> None:
        if line.do == "save" and line.type == "ok":
            self._acked[line.data["nonce"]] = None
        if "port" in line.data:
            self._heard[line.data["port"]] = line.at

    def _answers(self, victim: Victim, port: int) -> bool:
        """A save is three questions, one after the other. If no server lived to answer any, nothing would be tested."""
        began = self._began.setdefault(victim.pid, time.monotonic_ns())
        return self._heard.get(port, 0) > began

    def _clients(self) -> Victim:
        writers = WikiDesk(list(self._ports.values()), self.journal, f"{self._seed}/desk")
        return victims.start(writers.run, self.log)

    def _inspect(self) -> None:
        self._let_see(lambda port: partial(wiki_inspector.run, port, self.journal, self.database, DRAIN_LIMIT))


def _warm_up() -> None:
    """What every server would else do for itself: to compile templates takes longer than to fill them."""
    templates = site._make_environment(PACKAGES)
    for name in TEMPLATES:
        templates.get_template(name)
    documents.engines_of(documents.make_plan(RenderRequest("markdown", "html", b"", renderers.OPTIONS)))

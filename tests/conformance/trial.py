"""Draw a whole corpus through the presses, and look at what came out."""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.etree import ElementTree

from pressroom.errors import PressroomError
from pressroom.renderers import Rendered, catalogue
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.conformance.diagrams import Diagram

AT_ONCE = 4
UNSEEN = ("title", "desc", "style", "metadata", "defs")


@dataclass
class Trial:
    drawn: dict[str, Rendered] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        return len(self.drawn) + len(self.failed)

    def warned(self, code: str) -> list[str]:
        return [name for name, rendered in self.drawn.items() if any(notice.code == code for notice in rendered.warnings)]


async def draw(engine: str, corpus: Iterable[Diagram], *, presses: int = 2) -> Trial:
    """Every diagram as an SVG in the light theme, or with its error."""
    box, waiting, trial = EnginePools(presses), deque(corpus), Trial()

    async def draw_some() -> None:
        while waiting:
            diagram = waiting.popleft()
            try:
                rendered = await box.render(catalogue.get_engine(engine), diagram.source.encode(), "svg", {"theme": "light"})
                trial.drawn[diagram.name] = rendered
            except PressroomError as error:
                trial.failed[diagram.name] = f"{error.code}: {error}"

    try:
        await asyncio.gather(*(draw_some() for _ in range(AT_ONCE)))
    finally:
        await box.close()
    return trial


def letters(rendered: Rendered) -> Counter[str]:
    """The letters and digits that a reader sees, however the engine broke them into lines and elements."""
    root = ElementTree.fromstring(rendered.data)
    return Counter(re.sub(r"\W", "", "".join(_seen(root))))


def _seen(element: ElementTree.Element) -> Iterable[str]:
    if element.tag.rpartition("}")[2] in UNSEEN:
        return
    yield element.text or ""
    for child in element:
        yield from _seen(child)
        yield child.tail or ""

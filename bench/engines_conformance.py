"""How many examples of others come out as they should: the figures of docs/conformance.md."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.engines import EngineSizes, here
from bench.figure import Figure, say
from pressroom.renderers.markdown.engine import Markdown, MarkdownOptions
from tests.conformance import diagrams, specs, trial
from tests.conformance.diagrams import Diagram
from tests.conformance.registries import OutOfReach
from tests.conformance.trial import Trial


def shares(folder: Path, sizes: EngineSizes) -> Iterator[Figure]:
    for measure in (_commonmark, _gfm, _graphviz, _d2, _mermaid):
        try:
            yield from measure(sizes)
        except OutOfReach as reason:
            say(f"  a corpus is out of reach, so it is left out: {reason}")


def _commonmark(sizes: EngineSizes) -> Iterator[Figure]:
    yield _as_specified("CommonMark 0.31.2, as specified", "commonmark", specs.commonmark(), "all its examples", "1")


def _gfm(sizes: EngineSizes) -> Iterator[Figure]:
    extended = [example for example in specs.gfm() if example.extension]
    yield _as_specified("GFM 0.29, as specified", "gfm", specs.gfm(), "all its examples; docs/conformance.md explains the rest")
    yield _as_specified("GFM 0.29, extensions alone", "gfm", extended, "its examples of tables, tasks, links, ...")


def _as_specified(name: str, flavour: Any, examples: Sequence[specs.Example], against: str, aim: str = "") -> Figure:
    engine, options = Markdown(), MarkdownOptions(flavour=flavour, sanitise=False, highlight=False)
    right = sum(engine.to_html(example.markdown, options) == example.html for example in examples)
    return Figure(name, right, len(examples), "examples", against, aim)


def _graphviz(sizes: EngineSizes) -> Iterator[Figure]:
    drawn = _drawn("graphviz", diagrams.graphviz())
    if drawn:
        yield _share(drawn, "Graphviz drawn by graphviz", "the examples of graphviz-doc and the graphs of pydot's tests")
        plain = len(drawn.drawn) - len(drawn.warned("html_left_out"))
        yield Figure("Graphviz drawn with nothing simplified", plain, drawn.tried, "diagrams", "the same")


def _d2(sizes: EngineSizes) -> Iterator[Figure]:
    drawn = _drawn("d2", diagrams.d2())
    if drawn:
        yield _share(drawn, "D2 drawn by d2", "erdantic's test suite and the pages of packages that draw D2")


def _mermaid(sizes: EngineSizes) -> Iterator[Figure]:
    what = "Mermaid's examples, its page, and merm's test suite"
    ours, theirs = _drawn("mermaid", diagrams.mermaid()), _drawn("mermaid-browser", diagrams.mermaid()[:: sizes.one_in])
    if ours:
        yield _share(ours, "Mermaid drawn by mermaid", what)
    if theirs:
        yield _share(theirs, "Mermaid drawn by mermaid-browser", what)
    if ours and theirs:
        both = sorted(ours.drawn.keys() & theirs.drawn.keys())
        yield _agree("the same letters in both", both, lambda name: _letters_agree(ours, theirs, name))
        yield _agree("a size within a tenth in both", both, lambda name: _sizes_agree(ours, theirs, name))


def _drawn(engine: str, corpus: Sequence[Diagram]) -> Trial | None:
    if not here(engine):
        return None
    result = asyncio.run(trial.draw(engine, corpus))
    for name, error in sorted(result.failed.items()):
        say(f"  {engine} does not draw {name}: {error.splitlines()[0]}")
    return result


def _share(result: Trial, name: str, against: str) -> Figure:
    return Figure(name, len(result.drawn), result.tried, "diagrams", against)


def _agree(name: str, both: Sequence[str], same: Callable[[str], bool]) -> Figure:
    different = [one for one in both if not same(one)]
    say(f"  Mermaid, not {name}: {', '.join(different) or 'none'}")
    return Figure(f"Mermaid, {name}", len(both) - len(different), len(both), "diagrams", "those that both engines draw")


def _letters_agree(ours: Trial, theirs: Trial, name: str) -> bool:
    return trial.letters(ours.drawn[name]) == trial.letters(theirs.drawn[name])


def _sizes_agree(ours: Trial, theirs: Trial, name: str) -> bool:
    one, other = ours.drawn[name].details, theirs.drawn[name].details
    return all(0.9 <= one[side] / other[side] <= 1.1 for side in ("width", "height"))

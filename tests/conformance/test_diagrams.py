"""Diagrams of others: they are drawn, or it is known why not. `./dev bench engines` draws all of them, by every engine."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance import diagrams, differences, trial
from tests.depth import by_depth

type Fetched = Callable[..., Any]


@pytest.mark.parametrize(
    ("engine", "corpus", "known", "one_in"),
    [
        ("mermaid", diagrams.mermaid, differences.MERMAID, by_depth(32, 1)),
        pytest.param("mermaid-browser", diagrams.mermaid, differences.MERMAID_BROWSER, 16, marks=pytest.mark.deep),
        pytest.param("graphviz", diagrams.graphviz, differences.GRAPHVIZ, 8, marks=pytest.mark.deep),
        pytest.param("d2", diagrams.d2, differences.D2, 4, marks=pytest.mark.deep),
    ],
)
async def test_diagrams_of_others_are_drawn(
    fetched: Fetched, engine_here: Callable[[str], None], engine: str, corpus: Any, known: dict[str, str], one_in: int
) -> None:
    engine_here(engine)
    sample = fetched(corpus)[::one_in]

    result = await trial.draw(engine, sample)

    assert result.tried == len(sample) > 5
    assert {name: error for name, error in result.failed.items() if name not in known} == {}


@pytest.mark.deep
async def test_the_default_engine_writes_the_same_text_into_a_mermaid_diagram_as_mermaid_does(
    fetched: Fetched, engine_here: Callable[[str], None]
) -> None:
    engine_here("mermaid-browser")
    sample = [one for one in fetched(diagrams.mermaid)[::16] if differences.MADE_UP_NAMES not in one.name.lower()]

    ours, theirs = await trial.draw("mermaid", sample), await trial.draw("mermaid-browser", sample)

    for name in ours.drawn.keys() & theirs.drawn.keys():
        assert trial.letters(ours.drawn[name]) == trial.letters(theirs.drawn[name]), name

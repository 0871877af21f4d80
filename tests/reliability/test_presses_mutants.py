"""Sources that are almost right crash nothing of ours, hang nothing, and get a typed answer.

`python -m tests.reliability.presslab --mutants 5000` does the same with more of them.
"""

import os
from itertools import islice
from pathlib import Path

import pytest

from pressroom.renderers import catalogue
from pressroom.renderers.node import install as node_install
from pressroom.renderers.node import installation as node_places
from tests.depth import by_depth
from tests.reliability.press_mutants import mutants, try_mutants

KEPT = Path(__file__).parents[2] / ".cache" / "engines"
SEED = 20261116
MANY = int(os.environ.get("PRESSROOM_MUTANTS", by_depth("30", "1000")))

# These take a tenth of a second and more for one source; the lab gives them as many as the others.
FEWER = {"html-browser": 10, "mermaid-browser": 25, "d2": 10, "vega": 5, "vega-lite": 5, "plantuml": 10, "bytefield": 10}


@pytest.fixture(autouse=True, scope="module")
def _engines() -> None:
    os.environ.setdefault("PRESSROOM_ENGINES", str(KEPT))
    if node_places.find_node() is not None:
        node_install.install()


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", [engine.name for engine in catalogue.engines()])
async def test_mutated_sources_get_a_typed_answer(name: str) -> None:
    if missing := catalogue.get_engine(name).missing():
        pytest.skip(missing.what)
    count = MANY if "PRESSROOM_MUTANTS" in os.environ else max(5, MANY // FEWER.get(name, 1))

    toll = await try_mutants(name, count, SEED)

    assert not toll.objections(), toll.figures()


def test_a_seed_gives_the_same_mutants_again() -> None:
    sources = ["# one\n\ntwo 3\n", "four"]

    assert [*mutants(sources, 50, 7)] == [*mutants(sources, 50, 7)]
    assert [*islice(mutants(sources, 50, 7), 20)] != [*islice(mutants(sources, 50, 8), 20)]

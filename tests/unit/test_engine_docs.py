"""docs/engines.md tells of every engine, every option and every alias."""

from pathlib import Path

import pytest

from pressroom.renderers import Engine, catalogue

DOCS = (Path(__file__).parents[2] / "docs" / "engines.md").read_text()


@pytest.mark.parametrize("engine", list(catalogue.engines()), ids=lambda engine: engine.name)
def test_every_engine_and_option_is_documented(engine: type[Engine]) -> None:
    for name in (engine.name, engine.takes, *engine.Options.__struct_fields__):
        assert f"`{name}`" in DOCS, f"docs/engines.md does not mention {name}"


def test_every_other_word_for_a_language_is_documented() -> None:
    for alias in catalogue.ALIASES:
        assert f"`{alias}`" in DOCS

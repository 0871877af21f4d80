"""Every engine with less time than it has in earnest: a press that hangs is not waited for half a minute.

A press loads these by name, so they are made when they are asked for: `hasty.get_engine("svg")` here, `Hasty_svg` inside.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any
from unittest import mock

from pressroom.renderers import Engine, catalogue
from pressroom.renderers.sandbox import engine_process

SECONDS = 20.0
START_WITHIN = 300.0


@cache
def get_engine(name: str) -> type[Engine]:
    module, _, attribute = catalogue._ENGINES[name].partition(":")
    real = getattr(importlib.import_module(f"pressroom.renderers.{module}"), attribute)
    return type(
        "Hasty_" + name.replace("-", "_"), (real,), {"__module__": __name__, "limits": replace(real.limits, seconds=SECONDS)}
    )


def __getattr__(name: str) -> Any:
    if name.startswith("Hasty_"):
        return get_engine(name.removeprefix("Hasty_").replace("_", "-"))
    raise AttributeError(name)


@contextmanager
def catalogue_of_hasty_engines() -> Iterator[None]:
    """Whoever asks the catalogue gets these."""
    catalogue.engine_for.cache_clear()
    with (
        mock.patch.object(catalogue, "get_engine", get_engine),
        mock.patch.object(engine_process, "START_WITHIN", START_WITHIN),
    ):
        yield
    catalogue.engine_for.cache_clear()

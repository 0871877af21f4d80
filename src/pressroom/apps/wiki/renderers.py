"""What a page was made by, in a line of text: the shape of our pages, how the engine was asked, and each engine's version.

A page is stale when its line would be another today. An engine that is not installed here is ignored: another worker has it.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from pressroom.errors import PressroomError
from pressroom.renderers import catalogue

SHAPE = "1"  # of what we make of an engine's HTML; with another number every page is made again
OPTIONS: dict[str, Any] = {"diagrams": True, "theme": "auto"}


def renderer_name(engines: Mapping[str, str]) -> str:
    asked = hashlib.sha256(repr(sorted(OPTIONS.items())).encode()).hexdigest()[:8]
    versions = (f"{engine}={version.replace(' ', '_')}" for engine, version in sorted(engines.items()))
    return " ".join([f"shape={SHAPE}", f"asked={asked}", *versions])


def is_current(renderer: str) -> bool:
    said = dict(part.partition("=")[::2] for part in renderer.split(" "))
    engines = {engine: _version_or(engine, version) for engine, version in said.items() if engine not in ("shape", "asked")}
    return renderer_name(engines) == renderer


def _version_or(name: str, default: str) -> str:
    try:
        engine = catalogue.get_engine(name)
        return default if engine.missing() else engine.version()
    except PressroomError:
        return default

"""Mermaid by mmdr, for the machines that merman has no wheel for. It takes its configuration from the source alone."""

import importlib
import json
import re
from typing import Any

from pressroom.errors import EngineCrashed
from pressroom.renderers.source_errors import source_error

FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n.*?\n---[ \t]*\n", re.DOTALL)
OWN_IDS = re.compile(r'(?<=id=")merman|(?<=#)merman(?![\w]*[A-Z])')


class Mmdr:
    def __init__(self) -> None:
        self._mmdr = importlib.import_module("mmdr")

    def draw(self, source: str, config: dict[str, Any], label: str, *, plain: bool) -> str:  # noqa: ARG002  # it is always plain
        front = FRONT_MATTER.match(source)
        at = front.end() if front else 0
        directive = f"%%{{init: {json.dumps(config)}}}%%\n"
        try:
            drawn = self._mmdr.render(source[:at] + directive + source[at:]).svg()
        except ValueError as error:
            raise source_error(source, str(error)[:500]) from None
        except BaseException as error:
            if type(error).__name__ == "PanicException":
                raise EngineCrashed("the engine gave up on this source") from error
            raise
        return OWN_IDS.sub(label, str(drawn))

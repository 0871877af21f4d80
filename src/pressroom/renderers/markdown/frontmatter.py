"""The block of YAML at the top of a Markdown source."""

import datetime
from typing import Any

import msgspec
import yaml

from pressroom.errors import TooLarge
from pressroom.renderers.source_errors import source_error

LIMIT = 64 * 1024
DEPTH = 20


class FrontMatter(msgspec.Struct, frozen=True):
    values: dict[str, Any]

    @property
    def title(self) -> str | None:
        return _as_text(self.values.get("title"))

    @property
    def lang(self) -> str | None:
        return _as_text(self.values.get("lang") or self.values.get("language"))


NONE = FrontMatter({})


def parse(source: str) -> FrontMatter:
    block = _front_matter_block(source)
    if block is None:
        return NONE
    if len(block) > LIMIT:
        raise TooLarge(f"the front matter has {len(block):,} characters; the limit is {LIMIT:,}")
    try:
        values = yaml.load(block, Loader=_Loader)  # noqa: S506 - a safe loader that is stricter still
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        line, column = (mark.line + 2, mark.column + 1) if mark else (1, 1)
        raise source_error(source, f"the front matter is not YAML: {wrong.problem}", line, column) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        raise source_error(source, "the front matter is not YAML that can be read", 1, 1) from None
    if values is None:
        return NONE
    if not isinstance(values, dict):
        raise source_error(source, "the front matter is not a list of names with their values", 2, 1)
    return FrontMatter({str(name): _to_json_value(value, DEPTH) for name, value in values.items()})


def _front_matter_block(source: str) -> str | None:
    if not source.startswith(("---\n", "---\r\n")):
        return None
    lines = source.splitlines(keepends=True)
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return "".join(lines[1:number])
    return None


class _Loader(yaml.SafeLoader):
    """Without aliases: ten lines of them can stand for a billion values."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not allowed here", event.start_mark)
        return super().compose_node(parent, index)


def _to_json_value(value: Any, depth: int) -> Any:
    """As JSON can say it."""
    if depth == 0:
        raise TooLarge(f"the front matter is nested more than {DEPTH} deep")
    match value:
        case dict():
            return {str(name): _to_json_value(inner, depth - 1) for name, inner in value.items()}
        case list() | tuple() | set():
            return [_to_json_value(inner, depth - 1) for inner in value]
        case datetime.date():
            return value.isoformat()
        case None | bool() | str():
            return value
        case int() if abs(value) < 2**53:
            return value
        case float() if value == value and abs(value) != float("inf"):
            return value
        case _:
            return str(value)


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None

"""Lists of rules as they are written: checked, each refusal with the index and field of what is wrong."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from pressroom.errors import InvalidArgument

MOST_RULES = 100
_PROBLEM = re.compile(r"(?P<message>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule. Its `type` is the key of its class in a table."""


def parse_rules[R: Rule](field: str, rules: Sequence[Any], types: Mapping[str, type[R]]) -> list[R]:
    """`field` is what the list is called in a request. Raises InvalidArgument: `slug_rewrite_rules[1].glob: …`."""
    if len(rules) > MOST_RULES:
        raise InvalidArgument(f"{field}: {len(rules):,} rules; the limit is {MOST_RULES}")
    return [_parse(f"{field}[{index}]", rule, types) for index, rule in enumerate(rules)]


def refuse(path: str, problem: str) -> NoReturn:
    raise InvalidArgument(f"{path}: {problem}")


def _parse[R: Rule](path: str, rule: Any, types: Mapping[str, type[R]]) -> R:
    known = ", ".join(types)
    if not isinstance(rule, dict):
        refuse(path, f"a rule is an object with a type, one of {known}")
    kind = rule.get("type")
    if not isinstance(kind, str) or kind not in types:
        given = "there is none" if kind is None else f"not {str(kind)[:100]!r}"
        refuse(f"{path}.type", f"one of {known}; {given}")
    try:
        return msgspec.convert({key: value for key, value in rule.items() if key != "type"}, types[kind])
    except msgspec.ValidationError as problem:
        refuse(*_located(path, str(problem)))


def _located(path: str, problem: str) -> tuple[str, str]:
    """The path of the field, and what is wrong with it."""
    parts = _PROBLEM.fullmatch(problem)
    message, inner = (parts["message"], parts["path"] or "") if parts else (problem, "")
    unknown = _UNKNOWN_FIELD.fullmatch(message)
    if unknown:
        return f"{path}{inner}.{unknown[1][:100]}", "there is no such field"
    return f"{path}{inner}", message

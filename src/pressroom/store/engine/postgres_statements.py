"""Statements as PostgreSQL takes them: named parameters, text without NUL, and statements that are sent in one message."""

import hashlib
import re
from functools import cache
from typing import Any, NamedTuple

from pressroom.store.engine.statements import load

_TESTED = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*) IS NULL")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_][a-z0-9_]*)")
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


class TranslatedSql(NamedTuple):
    """A statement as psycopg takes it. `tested` are parameters of which it asks whether they are NULL."""

    sql: str
    tested: frozenset[str]


@cache
def translate_parameters(text: str) -> TranslatedSql:
    """`:name` as psycopg writes it; two colons are a cast. A NULL has no type by which PostgreSQL could compare it to NULL, so
    the answer to `:name IS NULL` is a parameter of its own."""
    tested = frozenset(_TESTED.findall(text))
    text = _TESTED.sub(r":\1__is_null", text.replace("%", "%%"))
    return TranslatedSql(_PARAMETER.sub(r"%(\1)s", text), tested)


class SingleMessageStatement:
    """A statement that is sent in one message with BEGIN and COMMIT, where parameters cannot be bound.

    It is sent by its name if the session has prepared it, or in full.

    The name holds a hash of the text, so that it never means a statement of another version in a session that both have used.
    """

    def __init__(self, name: str, text: str) -> None:
        self._text = text
        self._parameters = list(dict.fromkeys(_PARAMETER.findall(text)))
        self.session_name = f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def prepare(self) -> str:
        numbered = _PARAMETER.sub(lambda found: f"${self._parameters.index(found[1]) + 1}", self._text)
        return f"PREPARE {self.session_name} AS {numbered}"

    def execute(self, literals: dict[str, str]) -> str:
        return f"EXECUTE {self.session_name} ({', '.join(literals[name] for name in self._parameters)})"

    def inline_sql(self, literals: dict[str, str]) -> str:
        return _PARAMETER.sub(lambda found: literals[found[1]], self._text)


@cache
def single_message_statements() -> dict[str, SingleMessageStatement]:
    """By name. One may have another inside."""
    texts = load("postgres")
    claim_next = texts["claim_next"].replace(":now", "(SELECT now FROM clock)")
    composed = {
        "submit_in_one_round_trip": texts["submit_in_one_round_trip"],
        "claim_in_one_round_trip": texts["claim_in_one_round_trip"].replace("/* claim_next */", claim_next),
    }
    return {name: SingleMessageStatement(name, text) for name, text in composed.items()}


def with_null_tests(params: Any, text: TranslatedSql) -> Any:
    params = without_nul(params)
    return params | {f"{name}__is_null": params[name] is None for name in text.tested} if text.tested else params


def without_nul(params: Any) -> Any:
    """PostgreSQL's text has no NUL, neither plain nor in JSON: a replacement character takes its place."""
    if not any(isinstance(value, str) and ("\0" in value or "\\u0000" in value) for value in params.values()):
        return params
    return {name: text_without_nul(value) if isinstance(value, str) else value for name, value in params.items()}


def text_without_nul(text: str) -> str:
    return _NUL.sub(r"\1\\ufffd", text.replace("\0", "\ufffd"))

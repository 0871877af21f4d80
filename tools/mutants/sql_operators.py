"""Small mistakes in a statement of SQL, found by its tokens and not by a grammar: that serves both dialects."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tools.mutants.mutation import Mutation, describe

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)|(?P<text>'(?:[^']|'')*'|"[^"]*")|(?P<parameter>(?<!:):[a-z_]\w*)|(?P<word>[A-Za-z_]\w*)
    |(?P<number>\d+)|(?P<mark>::|\#?->>?|\#>>?|=>|<=|>=|<>|!=|\|\||.)""",
    re.VERBOSE | re.DOTALL,
)
_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_EXTREMES = {"min": "max", "max": "min"}
# What ends one condition of several.
_ENDS = frozenset(
    [
        "AND",
        "OR",
        "WHERE",
        "ON",
        "HAVING",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "SELECT",
        "FROM",
        "SET",
        "GROUP",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "RETURNING",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "WINDOW",
        "FOR",
        "JOIN",
        "LEFT",
        "INNER",
        "CROSS",
        "DO",
        "VALUES",
        "IF",
        "LOOP",
        ",",
        ";",
    ]
)
_AFTER_ORDER_BY = frozenset(["LIMIT", "OFFSET", "RETURNING", "UNION", "FOR", "ROWS", "RANGE", ";"])
_AFTER_SET = frozenset(["WHERE", "FROM", "RETURNING", ";"])


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int

    @property
    def word(self) -> str:
        return self.text.upper() if self.kind in ("word", "mark") else ""


def find_sql_mutations(path: str, source: bytes) -> list[Mutation]:
    text = source.decode()
    if not text.isascii():  # positions are counted in bytes; a comment with a dash is no reason to give up
        text = "".join(letter if letter.isascii() else "?" * len(letter.encode()) for letter in text)
    tokens = _tokenize(text)
    found = []
    for operator, start, end, new, around in _find(tokens):
        if new == "":
            start, end = _with_spaces(text, start, end)
        replacement = new.encode()
        old_text, new_text = describe(source, start, end, replacement, around)
        line = text.count("\n", 0, start + len(text[start:end]) - len(text[start:end].lstrip())) + 1
        found.append(Mutation(path, operator, start, end, replacement, line, line, line, False, old_text, new_text))
    return found


type _Change = tuple[str, int, int, str, tuple[int, int]]


def _find(tokens: list[_Token]) -> Iterator[_Change]:
    for index, token in enumerate(tokens):
        around = _around(tokens, index)
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.text in _BOUNDARIES:
            yield "boundary", token.start, token.end, _BOUNDARIES[token.text], around
        elif token.word in ("AND", "OR") and not _is_of_between(tokens, index) and tokens[index - 1].word != "CREATE":
            yield from _drop_operand(tokens, index)
        elif token.word == "ORDER" and following is not None and following.word == "BY":
            yield from _change_order(tokens, index + 2)
        elif token.word == "LIMIT" and following is not None and following.kind in ("number", "parameter"):
            new = str(int(following.text) + 1) if following.kind == "number" else f"{following.text} + 1"
            yield "limit", following.start, following.end, new, (token.start, following.end)
        elif token.word == "NULL" and [one.word for one in tokens[index - 2 : index]] == ["IS", "NOT"]:
            yield "null", tokens[index - 2].start, token.end, "IS NULL", around
        elif token.word == "NULL" and tokens[index - 1].word == "IS" and tokens[index - 2].kind != "parameter":
            yield "null", tokens[index - 1].start, token.end, "IS NOT NULL", around
        elif token.word == "EXISTS" and tokens[index - 1].word == "NOT" and tokens[index - 2].word != "IF":
            yield "negation", tokens[index - 1].start, token.end, "EXISTS", around
        elif token.text.lower() in _EXTREMES and following is not None and following.text == "(":
            if not _has_comma(tokens, index + 1):
                yield (
                    "extremes",
                    token.start,
                    token.end,
                    _EXTREMES[token.text.lower()],
                    (token.start, _closing(tokens, index + 1)),
                )
        elif token.word == "SET" and following is not None:
            yield from _drop_assignment(tokens, index + 1)
        elif token.word == "SKIP" and following is not None and following.word == "LOCKED":
            yield "lock", token.start, following.end, "", around
        elif token.word == "LEFT" and following is not None and following.word == "JOIN":
            yield "join", token.start, following.end, "JOIN", around
        elif token.word == "DISTINCT" and tokens[index - 1].word == "SELECT":
            yield "distinct", token.start, token.end, "", around


def _drop_operand(tokens: list[_Token], index: int) -> Iterator[_Change]:
    """What stands right of this AND or OR; and what stands left of it, if it is the first of its row."""
    connective = tokens[index]
    last = index
    while last + 1 < len(tokens) and not _ends_condition(tokens, last + 1, connective.depth):
        last += 1
    first = index
    while first > 0 and not _ends_condition(tokens, first - 1, connective.depth):
        first -= 1
    if first == index or last == index or (tokens[first].kind == "parameter" and tokens[first + 1].word == "IS"):
        return  # the second: `:kind IS NULL OR kind = :kind` is one condition, and is dropped as a whole
    around = (tokens[first].start, tokens[last].end)
    yield "operand", connective.start, tokens[last].end, "", around
    if tokens[first - 1].word not in ("AND", "OR") or _is_of_between(tokens, first - 1):
        yield "operand", tokens[first].start, tokens[index + 1].start, "", around


def _ends_condition(tokens: list[_Token], index: int, depth: int) -> bool:
    token = tokens[index]
    if token.depth != depth:
        return token.depth < depth
    return token.word in _ENDS and not _is_of_between(tokens, index)


def _is_of_between(tokens: list[_Token], index: int) -> bool:
    """`BETWEEN a AND b`: this AND connects no conditions."""
    if tokens[index].word != "AND":
        return False
    for earlier in reversed(tokens[:index]):
        if earlier.depth < tokens[index].depth or (earlier.depth == tokens[index].depth and earlier.word in _ENDS):
            return False
        if earlier.depth == tokens[index].depth and earlier.word == "BETWEEN":
            return True
    return False


def _change_order(tokens: list[_Token], index: int) -> Iterator[_Change]:
    terms = _split(tokens, index, _AFTER_ORDER_BY)
    for term in terms:
        around = (term[0].start, term[-1].end)
        words = [token.word for token in term]
        if "DESC" in words:
            token = term[words.index("DESC")]
            yield "order", token.start, token.end, "", around
        elif "ASC" in words:
            token = term[words.index("ASC")]
            yield "order", token.start, token.end, "DESC", around
        elif "NULLS" not in words:
            yield "order", term[-1].end, term[-1].end, " DESC", around
    if len(terms) > 1:
        yield "order", terms[-2][-1].end, terms[-1][-1].end, "", (terms[-2][0].start, terms[-1][-1].end)


def _drop_assignment(tokens: list[_Token], index: int) -> Iterator[_Change]:
    assignments = _split(tokens, index, _AFTER_SET)
    if len(assignments) < 2 or any(len(one) < 3 or one[1].text != "=" for one in assignments):
        return
    for number, one in enumerate(assignments):
        start = one[0].start if number == 0 else assignments[number - 1][-1].end
        end = assignments[1][0].start if number == 0 else one[-1].end
        yield "assignment", start, end, "", (one[0].start, one[-1].end)


def _split(tokens: list[_Token], index: int, ends: frozenset[str]) -> list[list[_Token]]:
    """The parts of a list that begins here, between commas, until it ends."""
    if index >= len(tokens):
        return []
    depth = tokens[index].depth
    parts: list[list[_Token]] = [[]]
    for token in tokens[index:]:
        if token.depth < depth or (token.depth == depth and token.word in ends):
            break
        if token.depth == depth and token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _has_comma(tokens: list[_Token], opening: int) -> bool:
    depth = tokens[opening].depth
    for token in tokens[opening + 1 :]:
        if token.depth == depth:
            return False
        if token.depth == depth + 1 and token.text == ",":
            return True
    return False


def _closing(tokens: list[_Token], opening: int) -> int:
    depth = tokens[opening].depth
    return next(token.end for token in tokens[opening:] if token.text == ")" and token.depth == depth)


def _around(tokens: list[_Token], index: int) -> tuple[int, int]:
    first, last = max(0, index - 3), min(len(tokens) - 1, index + 3)
    return tokens[first].start, tokens[last].end


def _with_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """What is dropped takes the space before it along, so that the rest reads as if it had never been there."""
    while start > 0 and text[start - 1] in " \t" and (end == len(text) or text[end] in " \t\n);,"):
        start -= 1
    return start, end


def _tokenize(text: str) -> list[_Token]:
    """A parenthesis has the depth of what is around it, so that it ends what stands within it."""
    tokens, depth = [], 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "skip"
        if kind == "skip":
            continue
        depth -= match[0] == ")"
        tokens.append(_Token(kind, match[0], match.start(), match.end(), depth))
        depth += match[0] == "("
    return tokens

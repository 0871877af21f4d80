"""Finds the place where a text stops being DOT. Graphviz as WebAssembly only says that it does.

It follows the grammar of graphviz.org/doc/info/lang.html, and is asked only after Graphviz has refused a source.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_NESTING = 200

SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|(?m:^)#[^\n]*)+", re.DOTALL)
TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")
      | (?P<id>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]* | -?(?:\.\d+|\d+(?:\.\d*)?))
      | (?P<mark>->|--|[][{};,:=+])""",
    re.VERBOSE | re.DOTALL,
)
KEYWORDS = frozenset({"strict", "graph", "digraph", "node", "edge", "subgraph"})


@dataclass(frozen=True)
class DotToken:
    kind: str  # "id", "keyword", "end", or the mark itself
    text: str
    at: int


class DotSyntaxError(Exception):
    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def find_syntax_error(source: str) -> DotSyntaxError | None:
    """The first thing that is not DOT, or None if there is none to be seen."""
    try:
        _DotParser(source).graph()
    except DotSyntaxError as found:
        return found
    return None


def body_offset(source: str) -> int | None:
    """Where the first statement of the graph may stand: just after its opening brace."""
    try:
        return next((token.at + 1 for token in tokenize(source) if token.kind == "{"), None)
    except DotSyntaxError:
        return None


def graph_name(source: str) -> str | None:
    """What the graph is called in its own source."""
    try:
        words = [token for token, _ in zip(tokenize(source), range(3), strict=False)]
    except DotSyntaxError:
        return None
    named = next((token for token in words if token.kind in ("id", "{")), None)
    return named.text.strip('"') if named and named.kind == "id" else None


def html_labels(source: str) -> list[DotToken]:
    try:
        return [token for token in tokenize(source) if token.kind == "id" and token.text.startswith("<")]
    except DotSyntaxError:
        return []


def quote_id(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def tokenize(source: str) -> Iterator[DotToken]:
    at = 0
    while at < len(source):
        if space := SPACE.match(source, at):
            at = space.end()
        elif source[at] == "<":
            end = _html_end(source, at)
            yield DotToken("id", source[at:end], at)
            at = end
        elif found := TOKEN.match(source, at):
            yield _token(found)
            at = found.end()
        else:
            raise DotSyntaxError(_describe_unreadable(source, at), at)
    yield DotToken("end", "end of the source", at)


def _token(found: re.Match[str]) -> DotToken:
    text = found[0]
    if found["mark"]:
        return DotToken(text, text, found.start())
    return DotToken("keyword" if text.lower() in KEYWORDS else "id", text, found.start())


def _html_end(source: str, at: int) -> int:
    depth = 0
    for bracket in re.compile("[<>]").finditer(source, at):
        depth += 1 if bracket[0] == "<" else -1
        if depth == 0:
            return bracket.end()
    raise DotSyntaxError("this HTML label is never closed", at)


def _describe_unreadable(source: str, at: int) -> str:
    if source[at] == '"':
        return "this string is never closed"
    if source.startswith("/*", at):
        return "this comment is never closed"
    return f"unexpected {source[at]!r}"


class _DotParser:
    def __init__(self, source: str) -> None:
        self._tokens = tokenize(source)
        self._now = next(self._tokens)
        self._edge = "->"

    def graph(self) -> None:
        if self._is_next("keyword", "strict"):
            self._advance()
        kind = self._now.text.lower()
        if self._now.kind != "keyword" or kind not in ("graph", "digraph"):
            raise self._unexpected_error("graph or digraph")
        self._edge = "->" if kind == "digraph" else "--"
        self._advance()
        if self._now.kind == "id":
            self._advance()
        self._statements(0)

    def _statements(self, depth: int) -> None:
        self._expect("{")
        while self._now.kind != "}":
            if self._now.kind == "end":
                raise self._unexpected_error("a closing }")
            self._statement(depth)
            if self._now.kind == ";":
                self._advance()
        if depth:
            self._advance()

    def _statement(self, depth: int) -> None:
        if self._now.kind == "keyword" and self._now.text.lower() in ("graph", "node", "edge"):
            self._advance()
            self._attributes()
            return
        self._end_of_edge(depth)
        if self._now.kind == "=":
            self._advance()
            self._id("a value")
            return
        while self._now.kind in ("->", "--"):
            if self._now.kind != self._edge:
                graph = "digraph" if self._edge == "->" else "graph"
                raise DotSyntaxError(f"a {graph} has {self._edge}, not {self._now.text}", self._now.at)
            self._advance()
            self._end_of_edge(depth)
        if self._now.kind == "[":
            self._attributes()

    def _end_of_edge(self, depth: int) -> None:
        """A node with its port, a subgraph, or several of them with commas between."""
        while True:
            if self._is_next("keyword", "subgraph") or self._now.kind == "{":
                self._subgraph(depth + 1)
            else:
                self._id("a node")
                for _ in range(2):
                    if self._now.kind == ":":
                        self._advance()
                        self._id("a port")
            if self._now.kind != ",":
                return
            self._advance()

    def _subgraph(self, depth: int) -> None:
        if depth > MAX_NESTING:
            raise DotSyntaxError(f"subgraphs are nested more than {MAX_NESTING} deep", self._now.at)
        if self._now.kind == "keyword":
            self._advance()
            if self._now.kind == "id":
                self._advance()
            if self._now.kind != "{":
                return
        self._statements(depth)

    def _attributes(self) -> None:
        while self._now.kind == "[":
            self._advance()
            while self._now.kind != "]":
                self._id("an attribute or ]")
                self._expect("=")
                self._id("a value")
                if self._now.kind in (",", ";"):
                    self._advance()
            self._advance()

    def _id(self, wanted: str) -> None:
        if self._now.kind != "id":
            raise self._unexpected_error(wanted)
        self._advance()
        while self._now.kind == "+":
            self._advance()
            self._id("a string")

    def _expect(self, kind: str) -> None:
        if self._now.kind != kind:
            raise self._unexpected_error(kind)
        self._advance()

    def _is_next(self, kind: str, text: str) -> bool:
        return self._now.kind == kind and self._now.text.lower() == text

    def _advance(self) -> None:
        self._now = next(self._tokens, DotToken("end", "end of the source", self._now.at))

    def _unexpected_error(self, wanted: str) -> DotSyntaxError:
        found = self._now.text if self._now.kind == "end" else repr(self._now.text[:40])
        return DotSyntaxError(f"unexpected {found}; expected {wanted}", self._now.at)

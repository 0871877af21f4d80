"""One small mistake: a range of bytes of a file and what to write there instead. The rest of the file stays byte for byte."""

import ast
import difflib
from dataclasses import dataclass

SHOWN = 60


@dataclass(frozen=True)
class Mutation:
    """`first_line` to `last_line` is the statement around it: a test that executes none of these lines cannot notice it.

    `at_import` says that the statement runs when the module is imported, so that no test can be seen to execute it.
    """

    path: str
    operator: str
    start: int
    end: int
    replacement: bytes
    line: int
    first_line: int
    last_line: int
    at_import: bool
    old: str
    new: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.replacement + source[self.end :]

    def diff(self, source: bytes) -> str:
        before, after = source.decode().splitlines(), self.apply(source).decode().splitlines()
        return "\n".join(difflib.unified_diff(before, after, self.path, self.path, n=2, lineterm=""))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.old} -> {self.new or '(dropped)'}"


def describe(source: bytes, start: int, end: int, replacement: bytes, around: tuple[int, int]) -> tuple[str, str]:
    """The text of `around` before and after, on one line each and not too long."""
    first, last = min(start, around[0]), max(end, around[1])
    old = source[first:last]
    new = source[first:start] + replacement + source[end:last]
    return _shorten(old, start - first), _shorten(new, start - first)


def _shorten(text: bytes, change: int) -> str:
    """On one line, and if that is too long, a window of it around the change."""
    line, place = " ".join(text.decode().split()), len(" ".join(text[:change].decode().split()))
    if len(line) > SHOWN and place > SHOWN // 2:
        line = "…" + line[place - SHOWN // 2 :]
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def is_valid_python(mutation: Mutation, source: bytes) -> bool:
    """Whether the changed file can be compiled and means something else than before."""
    changed = mutation.apply(source)
    try:
        compile(changed, mutation.path, "exec", dont_inherit=True)
        return ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False

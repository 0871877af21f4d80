"""Reads as much of D2 as it takes to keep it from the files of the machine: imports and icons.

The program reads both from disk, icons even when it is told not to bundle them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A text that no import and no key can be in: block strings with their many fences, strings and comments.
BLOCK_COMMENT = re.compile(r'""".*?(?:"""|\Z)', re.DOTALL)
COMMENT = re.compile(r"(?:(?<=\s)|(?<=^)|(?<=[;{}]))#[^\n]*")
FENCE = re.compile(r"\|+[^\w\s|\"']*")
STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'")

IMPORT = re.compile(r"(?:\.\.\.)?@(?=[\w\"'./~$-])")
ICON = re.compile(r"i(?:\\\s*)?c(?:\\\s*)?o(?:\\\s*)?n[ \t]*:[ \t]*", re.IGNORECASE)  # a backslash may hide in a word
VALUE = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\n]|'')*'|(?:\$\{[^}\n]*\}|[^\n;}#])*")
BOARDS = re.compile(r"^[ \t]*(?:layers|scenarios|steps)[ \t]*:[ \t]*\{", re.MULTILINE)

FENCES = str.maketrans("([{<", ")]}>")
STARTS_A_VALUE = frozenset(":;{[\n")
STARTS_A_KEY = frozenset(".;{}\n&\\")

# One transparent pixel.
NOTHING = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII="


@dataclass(frozen=True)
class SourceElement:
    kind: str  # "import" or "icon"
    at: int
    text: str


def find_elements(source: str) -> Iterator[SourceElement]:
    """Every import, and every icon that is not embedded, in the order in which they stand."""
    at, before = 0, "\n"  # before: the last thing that counts
    while at < len(source):
        if before in STARTS_A_VALUE and (found := IMPORT.match(source, at)):
            yield SourceElement("import", at, found[0] + source[found.end() :].split("\n", 1)[0][:80])
            at, before = found.end(), "@"
        elif before in STARTS_A_KEY and (found := ICON.match(source, at)):
            value = VALUE.match(source, found.end())
            text = value[0].strip() if value else ""
            if text and not text.lstrip("\"'").lower().startswith("data:image/"):
                yield SourceElement("icon", found.end(), value[0].rstrip() if value else "")
            at, before = (value.end() if value else found.end()), "v"
        elif (end := _skip_text(source, at, before)) > at:
            at, before = end, "v" if source[at] not in "#" else before
        else:
            if not source[at].isspace() or source[at] == "\n":
                before = source[at]
            at += 1


def without_icons(source: str) -> str:
    parts, done = [], 0
    for found in find_elements(source):
        if found.kind == "icon":
            parts += [source[done : found.at], f'"{NOTHING}"']
            done = found.at + len(found.text)
    return "".join(parts) + source[done:]


def _skip_text(source: str, at: int, before: str) -> int:
    if found := BLOCK_COMMENT.match(source, at) or COMMENT.match(source, at) or STRING.match(source, at):
        return found.end()
    if source[at] == "|" and before == ":" and (fence := FENCE.match(source, at)):
        bare = fence[0].lstrip("|")
        closing = bare[::-1].translate(FENCES) + "|" * (len(fence[0]) - len(bare))
        end = source.find(closing, fence.end())
        return end + len(closing) if end >= 0 else len(source)
    return at

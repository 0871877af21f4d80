"""Where a mistake is in the source. Mermaid counts lines after it has taken out the front matter, directives and comments."""

import re

from pressroom.errors import SourceInvalid
from pressroom.renderers.source_errors import line_and_column, source_error

# As Mermaid's own preprocessing has them, in its order.
TAKEN_OUT = (
    re.compile(r"\A-{3}\s*\n.*?\n-{3}\s*\n+", re.DOTALL),
    re.compile(r"%{2}\{\s*(?:\w+\s*:|\w+)\s*(?:\w+|(?:(?!\}%{2}).)*)\s*(?:\}%{2})?", re.DOTALL),
    re.compile(r"^\s*%%(?!\{)[^\n]+\n?", re.MULTILINE),
    re.compile(r"\A\s+"),
)
SAID_IN_WORDS = re.compile(r"on line:? ?(\d+)(?:, column:? ?(\d+))?", re.IGNORECASE)
LONGEST = 500


def locate_error(source: str, message: str, line: int | None, column: int | None) -> SourceInvalid:
    if line is None and (said := SAID_IN_WORDS.search(message)):
        line, column = int(said[1]), int(said[2]) if said[2] else None
    if line is None:
        return SourceInvalid(_strip_markup(message))
    return source_error(source, _strip_markup(message), *_clamp_to_source(source, line, column))


def _clamp_to_source(source: str, line: int, column: int | None) -> tuple[int, int | None]:
    text, origins = source, list(range(len(source)))
    for pattern in TAKEN_OUT:
        for found in reversed(list(pattern.finditer(text))):
            del origins[found.start() : found.end()]
        text = pattern.sub("", text)
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return source.count("\n") + 1, None
    start = sum(len(before) + 1 for before in lines[: line - 1])
    offset = start + min((column or 1) - 1, len(lines[line - 1]))
    # At the end of the text stands nothing, so its place is right after the last letter.
    at = origins[offset] if offset < len(origins) else (origins[-1] + 1 if origins else 0)
    found_line, found_column = line_and_column(source, at)
    return found_line, found_column if column is not None else None


def _strip_markup(message: str) -> str:
    """Without Mermaid's own line number, which is not the one in the source, and without its picture of the place."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    expected = [line for line in lines if line.startswith("Expecting")]
    return (expected[-1] if expected else " ".join(lines))[:LONGEST] or "the diagram cannot be read"

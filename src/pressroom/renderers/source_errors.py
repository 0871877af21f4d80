"""Where in a source something is wrong: the line, the column, and the text that stands there."""

from pressroom.errors import SourceInvalid

EXCERPT_LIMIT = 200


def source_error(source: str, message: str, line: int | None = None, column: int | None = None) -> SourceInvalid:
    """An error that points into the source. Lines and columns count from 1; what lies outside of the source is not told."""
    lines = source.split("\n")
    if line is None or not 1 <= line <= len(lines):
        return SourceInvalid(message)
    text = lines[line - 1].rstrip("\r")
    if column is not None and not 1 <= column <= len(text) + 1:
        column = None
    return SourceInvalid(message, line=line, column=column, excerpt=_excerpt_around(text, column))


def line_and_column(source: str, offset: int) -> tuple[int, int]:
    before = source[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def offset_of_byte(source: str, position: int) -> int:
    """The index into the text of a position that was counted in UTF-8 bytes."""
    return len(source.encode()[:position].decode(errors="ignore"))


def _excerpt_around(text: str, column: int | None) -> str:
    if len(text) <= EXCERPT_LIMIT:
        return text
    start = max(0, (column or 1) - 1 - EXCERPT_LIMIT // 2)
    return text[start : start + EXCERPT_LIMIT]

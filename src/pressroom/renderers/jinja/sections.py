"""Documents of sections, without a template of their own: `{"title", "sections", "meta"}` becomes a template and its data.

The template is the same for all and escapes what it prints, so no text of a document is ever part of a template.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from pressroom.errors import InvalidArgument

MOST_SECTIONS = 1_000
MOST_COLUMNS = 100
TYPES = ("text", "bullets", "table")


def template_of(document: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The source and the option `data` for the engine jinja. Raises InvalidArgument with a JSON pointer to what is wrong."""
    if not isinstance(document, Mapping):
        raise _invalid("", "an object with title and sections")
    if unknown := document.keys() - {"title", "sections", "meta"}:
        raise _invalid(f"/{_escaped(min(unknown))}", "left out: a document has title, sections and meta")
    title = _text(document.get("title", ""), "/title")
    sections = _list(document.get("sections"), "/sections", MOST_SECTIONS)
    data = {
        "title": title,
        "sections": [_section(section, f"/sections/{place}") for place, section in enumerate(sections)],
        "meta": _meta({} if document.get("meta") is None else document["meta"]),
    }
    return _template(), data


@cache
def _template() -> str:
    return resources.files(__package__).joinpath("sections.html").read_text(encoding="utf-8")


def _section(section: Any, pointer: str) -> dict[str, Any]:
    if not isinstance(section, Mapping):
        raise _invalid(pointer, "an object with a type")
    kind = section.get("type")
    read = {"text": _text_section, "bullets": _bullets_section, "table": _table_section}.get(
        kind if isinstance(kind, str) else ""
    )
    if read is None:
        raise _invalid(f"{pointer}/type", f"one of {', '.join(TYPES)}")
    title = _text(section.get("title", section.get("heading", "")), f"{pointer}/title")
    return {"type": kind, "title": title} | read(section, pointer)


def _text_section(section: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """Paragraphs are separated by empty lines."""
    name = _first_of(section, ("text", "content", "body"), pointer)
    text = _text(section[name], f"{pointer}/{name}").replace("\r\n", "\n")
    return {"paragraphs": [part.strip("\n") for part in text.split("\n\n") if part.strip()]}


def _bullets_section(section: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    name = _first_of(section, ("items", "bullets"), pointer)
    items = _list(section[name], f"{pointer}/{name}")
    return {"items": [_text(item, f"{pointer}/{name}/{place}") for place, item in enumerate(items)]}


def _table_section(section: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    """Rows are lists, or objects whose keys are the columns."""
    rows = _list(section.get("rows"), f"{pointer}/rows")
    name = "columns" if "columns" in section else "headers"
    columns = _list(section.get(name, []), f"{pointer}/{name}", MOST_COLUMNS)
    if not columns and rows and isinstance(rows[0], Mapping):
        columns = list(rows[0])
    names = [_text(column, f"{pointer}/{name}/{place}") for place, column in enumerate(columns)]
    return {"columns": names, "rows": [_row(row, names, f"{pointer}/rows/{place}") for place, row in enumerate(rows)]}


def _row(row: Any, columns: list[str], pointer: str) -> list[str]:
    if isinstance(row, Mapping):
        if unknown := row.keys() - set(columns):
            raise _invalid(f"{pointer}/{_escaped(min(unknown))}", f"one of the columns: {', '.join(columns)}")
        return [_text(row.get(column), f"{pointer}/{_escaped(column)}") for column in columns]
    cells = _list(row, pointer, MOST_COLUMNS)
    if columns and len(cells) != len(columns):
        raise _invalid(pointer, f"{len(columns)} cells, one for each column; there are {len(cells)}")
    return [_text(cell, f"{pointer}/{place}") for place, cell in enumerate(cells)]


def _meta(meta: Any) -> list[list[str]]:
    if not isinstance(meta, Mapping):
        raise _invalid("/meta", "an object")
    return [[str(name), _text(value, f"/meta/{_escaped(name)}")] for name, value in meta.items()]


def _first_of(section: Mapping[str, Any], names: tuple[str, ...], pointer: str) -> str:
    found = next((name for name in names if name in section), None)
    if found is None:
        raise _invalid(f"{pointer}/{names[0]}", "given")
    return found


def _text(value: Any, pointer: str) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float() if value == value and abs(value) != float("inf"):
            return str(value)
    raise _invalid(pointer, "a text or a number")


def _list(value: Any, pointer: str, most: int = 100_000) -> list[Any]:
    if not isinstance(value, list):
        raise _invalid(pointer, "a list")
    if len(value) > most:
        raise _invalid(pointer, f"a list of at most {most:,}; it has {len(value):,}")
    return value


def _escaped(name: object) -> str:
    """A name in a JSON pointer (RFC 6901)."""
    return str(name)[:100].replace("~", "~0").replace("/", "~1")


def _invalid(pointer: str, wanted: str) -> InvalidArgument:
    return InvalidArgument(f"{pointer or 'the document'} must be {wanted}")

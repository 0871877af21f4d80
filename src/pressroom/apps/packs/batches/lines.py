"""The lines of an upload: NDJSON with an object for each pack, or CSV with a row for each. Read in pieces, never as a whole."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from pressroom.apps.packs.model import PackDraft
from pressroom.errors import InvalidArgument

type LineFormat = Literal["ndjson", "csv"]

FIELDS = ("title", "session_id", "user", "lang")
_BOM = b"\xef\xbb\xbf"


class BatchLine(msgspec.Struct, frozen=True):
    """A line by its number in the file, with its pack or with what is wrong with it."""

    number: int
    draft: PackDraft | None
    problem: str = ""


def read_lines(path: Path, format: LineFormat, limit: int) -> Iterator[BatchLine]:
    """`limit` is how many bytes one line may have. Lines that are empty are left out. Blocks: for a thread."""
    with path.open("rb") as file:
        yield from _read_ndjson(file, limit) if format == "ndjson" else _read_csv(file, limit)


def count_lines(path: Path, format: LineFormat, limit: int) -> int:
    return sum(1 for _ in read_lines(path, format, limit))


def check_header(format: LineFormat, first_bytes: bytes) -> None:
    """Of an upload that begins with these bytes. Raises InvalidArgument."""
    if not first_bytes.removeprefix(_BOM).strip():
        raise InvalidArgument("the upload is empty; send one pack a line")
    if format == "csv":
        try:
            text = first_bytes.removeprefix(_BOM).decode("utf-8", errors="surrogateescape")
            _check_columns(next(csv.reader(text.splitlines(keepends=True)), []))
        except csv.Error as error:
            raise InvalidArgument(f"the first row cannot be read: {error}") from None


def _read_ndjson(file: BinaryIO, limit: int) -> Iterator[BatchLine]:
    number = 0
    while line := file.readline(limit + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(_BOM)
        if len(line) > limit and not line.endswith(b"\n"):
            while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
                pass
            yield BatchLine(number, None, f"the line has more than {limit:,} bytes")
        elif line.strip():
            yield _parse_object(number, line)


def _parse_object(number: int, line: bytes) -> BatchLine:
    try:
        return BatchLine(number, msgspec.json.decode(line, type=PackDraft))
    except msgspec.ValidationError as error:
        return BatchLine(number, None, str(error))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return BatchLine(number, None, f"the line is not JSON: {error}")


def _read_csv(file: BinaryIO, limit: int) -> Iterator[BatchLine]:
    """The first row names the columns: `data` with JSON, or paths of the data such as `person.name`, beside FIELDS."""
    reader = csv.reader(_text_lines(file, limit))
    columns: list[str] = []
    while True:
        number = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield BatchLine(number, None, f"the row cannot be read: {error}")
            continue
        if row is None:
            return
        if not columns:
            columns = [name.strip() for name in row]
            _check_columns(columns)
        elif any(cell.strip() for cell in row):
            yield _parse_row(number, columns, row)


def _text_lines(file: BinaryIO, limit: int) -> Iterator[str]:
    first = True
    while line := file.readline(limit):
        if first:
            line, first = line.removeprefix(_BOM), False
        yield line.decode("utf-8", errors="surrogateescape")


def _check_columns(columns: list[str]) -> None:
    names = [name.strip() for name in columns]
    if not any(names):
        raise InvalidArgument("the first row of a CSV file names its columns")
    if twice := next((name for place, name in enumerate(names) if name in names[:place]), None):
        raise InvalidArgument(f"the column {twice[:100]!r} stands twice")
    paths = [name for name in names if name not in FIELDS]
    if "data" in paths and len(paths) > 1:
        raise InvalidArgument(f"beside the column data there is none for {paths[0 if paths[0] != 'data' else 1][:100]!r}")
    if empty := next((name for name in paths if not all(name.split("."))), None):
        raise InvalidArgument(f"{empty[:100]!r} is not the name of a column; write person.name")
    for name in paths:
        if inside := next((other for other in paths if other.startswith(f"{name}.")), None):
            raise InvalidArgument(f"the columns {name[:100]!r} and {inside[:100]!r} cannot both be")


def _parse_row(number: int, columns: list[str], row: list[str]) -> BatchLine:
    if len(row) != len(columns):
        return BatchLine(number, None, f"the row has {len(row)} cells, and there are {len(columns)} columns")
    if any("\udc80" <= letter <= "\udcff" for cell in row for letter in cell):
        return BatchLine(number, None, "the row is not UTF-8")
    cells = dict(zip(columns, row, strict=True))
    fields = {name: cells.pop(name) for name in FIELDS if name in cells}
    try:
        data = json.loads(cells["data"]) if "data" in cells else _nest(cells)
    except (json.JSONDecodeError, RecursionError) as error:
        return BatchLine(number, None, f"the column data is not JSON: {error}")
    if not isinstance(data, dict):
        return BatchLine(number, None, "the column data is not a JSON object")
    return BatchLine(number, PackDraft(data=data, **fields))


def _nest(cells: dict[str, str]) -> dict[str, Any]:
    """`{"person.name": "Anna"}` as `{"person": {"name": "Anna"}}`."""
    data: dict[str, Any] = {}
    for path, cell in cells.items():
        *outer, name = path.split(".")
        place = data
        for part in outer:
            place = place.setdefault(part, {})
        place[name] = cell
    return data

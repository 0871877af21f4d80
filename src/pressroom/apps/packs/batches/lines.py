"""The lines of an upload: NDJSON with an object for each pack, or CSV with a row for each. Read in pieces, never as a whole."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from pressroom.apps.packs.model import PackDraft
from pressroom.errors import InvalidArgument

type LineFormat = Literal["ndjson", "csv"]

FIELDS = ("title", "session_id", "user", "lang")
MOST_COLUMNS = 1_000
LONGEST_COLUMN = 500  # characters of a name
_BOM = b"\xef\xbb\xbf"
_SKIPPED_AT_ONCE = 64 * 1024


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
            _check_columns(next(csv.reader(io.StringIO(text, newline="\n")), []))
        except csv.Error as error:
            raise InvalidArgument(f"the first row {_csv_problem(error)}") from None


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
    csv.field_size_limit(max(csv.field_size_limit(), limit))  # of a cell; the limit of its row counts
    lines = _TableLines(file, limit)
    reader = csv.reader(lines)
    columns: list[str] = []
    while True:
        number = lines.begin_row()
        try:
            row = next(reader, None)
        except csv.Error as error:
            problem = f"the row {_csv_problem(error)}"
            if not columns:
                raise InvalidArgument(problem) from None
            yield BatchLine(number, None, problem)
            continue
        if row is None:
            return
        if not columns:
            columns = [name.strip() for name in row]
            _check_columns(columns)
        elif any(cell.strip() for cell in row):
            yield _parse_row(number, columns, row)


def _csv_problem(error: csv.Error) -> str:
    return f"cannot be read: {str(error).partition(' - ')[0]}"  # without how a program would read it


class _TableLines:
    """The lines of a table, for `csv.reader`. A row may be of several; one of more than `limit` bytes raises csv.Error, and
    the next line is that of the row behind it."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._limit = self._left = limit
        self._quotes = 0
        self._lines = 0  # that were read to their ends
        self._first = 1

    def begin_row(self) -> int:
        """The number of its first line, from 1."""
        self._left, self._quotes = self._limit, 0
        self._first = self._lines + 1
        return self._first

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        is_first = self._lines == 0
        line = self._read(self._left + 1)
        if not line:
            raise StopIteration
        self._left -= len(line)
        if self._left < 0:
            self._skip_row(line)
            left_out = "" if self._lines <= self._first else f"; lines {self._first} to {self._lines} are left out"
            raise csv.Error(f"it has more than {self._limit:,} bytes{left_out}")
        return (line.removeprefix(_BOM) if is_first else line).decode("utf-8", errors="surrogateescape")

    def _read(self, most: int) -> bytes:
        line = self._file.readline(most)
        self._quotes += line.count(b'"')
        self._lines += line.endswith(b"\n")
        return line

    def _skip_row(self, line: bytes) -> None:
        """A line ends a row unless it ends inside of quotes."""
        while line and not (line.endswith(b"\n") and self._quotes % 2 == 0):
            line = self._read(_SKIPPED_AT_ONCE)


def _check_columns(columns: list[str]) -> None:
    names = [name.strip() for name in columns]
    if not any(names):
        raise InvalidArgument("the first row of a CSV file names its columns")
    if len(names) > MOST_COLUMNS or len(max(names, key=len)) > LONGEST_COLUMN:
        raise InvalidArgument(
            f"a CSV file has at most {MOST_COLUMNS:,} columns, whose names have at most {LONGEST_COLUMN} characters"
        )
    if len(known := set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgument(f"the column {twice!r} stands twice")
    paths = [name for name in names if name not in FIELDS]
    if "data" in known and len(paths) > 1:
        raise InvalidArgument(f"beside the column data there is none for {paths[0 if paths[0] != 'data' else 1]!r}")
    if empty := next((name for name in paths if not all(name.split("."))), None):
        raise InvalidArgument(f"{empty!r} is not the name of a column; write person.name")
    for name in paths:
        parts = name.split(".")
        if outer := known & {".".join(parts[:count]) for count in range(1, len(parts))} - {*FIELDS}:
            raise InvalidArgument(f"the columns {min(outer)!r} and {name!r} cannot both be")


def _parse_row(number: int, columns: list[str], row: list[str]) -> BatchLine:
    if len(row) != len(columns):
        return BatchLine(number, None, f"the row has {len(row)} cells, and there are {len(columns)} columns")
    if any("\udc80" <= letter <= "\udcff" for cell in row for letter in cell):
        return BatchLine(number, None, "the row is not UTF-8")
    cells = dict(zip(columns, row, strict=True))
    fields = {name: cells.pop(name) for name in FIELDS if name in cells}
    try:
        data = json.loads(cells["data"]) if "data" in cells else _nest(cells)
    except (ValueError, RecursionError) as error:
        return BatchLine(number, None, f"the column data is not JSON: {str(error).partition('; use sys.')[0]}")
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

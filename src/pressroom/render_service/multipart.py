"""`multipart/form-data` (RFC 7578) from a body that is in memory and whose length is bounded."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from pressroom.api.problems import HttpError

MOST_PARTS = 1_000
PART_HEAD_LIMIT = 8 * 1024  # bytes
NAME_LIMIT = 255  # characters of a file's name

_BOUNDARY = re.compile(r"""boundary=(?:"([^"]{1,70})"|([^\s";,]{1,70}))""", re.IGNORECASE)
_PARAMETER = re.compile(r"""; *(filename\*|filename|name)=(?:"((?:[^"\\]|\\.)*)"|([^\s";]*))""", re.IGNORECASE)


class FormPart(NamedTuple):
    """A field, or a file if it has a file name."""

    name: str
    filename: str | None
    data: bytes


def parse_form(content_type: str, body: bytes) -> list[FormPart]:
    """Raises HttpError 400 and 415."""
    media_type, _, parameters = content_type.partition(";")
    found = _BOUNDARY.search(parameters)
    if media_type.strip().lower() != "multipart/form-data" or found is None:
        raise HttpError(415, "unsupported_media_type", f"send multipart/form-data with a boundary, not {content_type[:100]!r}")
    delimiter = b"\r\n--" + (found[1] or found[2]).encode("latin-1", "replace")
    parts: list[FormPart] = []
    framed = b"\r\n" + body
    start = framed.find(delimiter)
    while start >= 0:
        start += len(delimiter)
        if framed[start : start + 2] == b"--":
            return parts
        end = framed.find(delimiter, start)
        if end < 0:
            break
        if len(parts) == MOST_PARTS:
            raise _malformed(f"it has more than {MOST_PARTS:,} parts")
        parts.append(_parse_part(framed, start, end))
        start = end
    raise _malformed("it ends before its last boundary")


def _parse_part(framed: bytes, start: int, end: int) -> FormPart:
    start = framed.find(b"\r\n", start, end)  # what follows the boundary is padding
    after = framed.find(b"\r\n\r\n", start, end) if start >= 0 else -1
    if not 0 <= after - start <= PART_HEAD_LIMIT:
        raise _malformed("a part has no head, or one that is too long")
    name, filename = _names_of(framed[start:after].decode(errors="replace"))
    if name is None:
        raise _malformed("a part has no name")
    return FormPart(name, filename, framed[after + 4 : end])


def _names_of(head: str) -> tuple[str | None, str | None]:
    for line in head.split("\r\n"):
        header, _, value = line.partition(":")
        if header.strip().lower() != "content-disposition":
            continue
        pairs = ((match[1].lower(), match[2], match[3]) for match in _PARAMETER.finditer(value))
        told = {name: plain if quoted is None else _unescape(quoted) for name, quoted, plain in pairs}
        extended = told.get("filename*", "").split("'", 2)
        filename = unquote(extended[2]) if len(extended) == 3 else told.get("filename")
        return told.get("name"), None if filename is None else _checked(filename)
    return None, None


def _unescape(quoted: str) -> str:
    """Clients write a quotation mark as %22, or with a backslash in front."""
    return re.sub(r"\\(.)", r"\1", quoted).replace("%22", '"')


def _checked(filename: str) -> str:
    if not filename or len(filename) > NAME_LIMIT or not filename.isprintable():
        raise _malformed(f"a file has a name of 1 to {NAME_LIMIT} printable characters, not {filename[:40]!r}")
    return filename


def _malformed(reason: str) -> HttpError:
    return HttpError(400, "invalid_form", f"the form cannot be read: {reason}")

"""The name under which a browser saves a download (RFC 6266). It may come from any caller."""

import unicodedata
from urllib.parse import quote

LIMIT = 150  # characters; a file system takes 255 bytes, and one letter may be four


def content_disposition(filename: str | None) -> str:
    """`attachment`, with the name twice if it is not plain ASCII: for old browsers and for all others."""
    name = safe_filename(filename or "")
    if not name:
        return "attachment"
    ascii_name = "".join(letter if letter.isascii() and letter not in '"\\%' else "_" for letter in name)
    if ascii_name == name:
        return f'attachment; filename="{name}"'
    return f"attachment; filename=\"{ascii_name}\"; filename*=UTF-8''{quote(name, safe='')}"


def safe_filename(filename: str) -> str:
    """A name without folders, without what is not printed (a right-to-left override hides an extension), and not hidden."""
    visible = "".join(letter for letter in filename if unicodedata.category(letter)[0] != "C")
    name = visible.replace("\\", "/").rpartition("/")[2].strip().lstrip(".").strip()
    if len(name) <= LIMIT:
        return name
    stem, dot, extension = name.rpartition(".")
    kept = dot + extension if stem and len(extension) <= 10 else ""
    return name[: LIMIT - len(kept)] + kept

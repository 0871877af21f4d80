"""`header.html` and `footer.html` as templates of our printer, which takes plain markup and no style sheets."""

import re

from pressroom.api.problems import HttpError

_LIMIT = 100_000  # characters; as in DocumentOptions

# Chromium's printer fills in elements of these classes; ours knows words in braces.
_FILLED = {"pageNumber": "{page}", "totalPages": "{pages}", "title": "{title}", "date": "{date}"}
_EMPTY_ELEMENT = re.compile(r"<(\w{1,20})(\s[^<>]*)>\s*</\1\s*>")
_CLASS = re.compile(r"""(?<![\w-])class\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)""", re.IGNORECASE)
_BLOCKS = re.compile(r"<(/?)(?:header|footer|section|main|article|nav|aside|center|figure|ul|ol|li|h[1-6])\b", re.IGNORECASE)
_SPANS = re.compile(r"<(/?)(?:a|font|label|code|time|mark|cite)\b", re.IGNORECASE)


def to_template(name: str, data: bytes) -> str:
    text = data.decode(errors="replace")
    if len(text) > _LIMIT:
        raise HttpError(400, "invalid_form", f"{name} has {len(text):,} characters; the limit is {_LIMIT:,}")
    text = _EMPTY_ELEMENT.sub(_fill, text)
    return _SPANS.sub(r"<\1span", _BLOCKS.sub(r"<\1div", text))


def _fill(element: re.Match[str]) -> str:
    classes = _CLASS.search(element[2])
    words = classes[1].strip("\"'").split() if classes else []
    filled = next((_FILLED[word] for word in words if word in _FILLED), None)
    return element[0] if filled is None else f"<{element[1]}{element[2]}>{filled}</{element[1]}>"


def shows_date(template: str) -> bool:
    return "{date}" in template

"""Control characters in the text of a page."""

import re

# A terminal's control characters mean nothing to a browser, but what is copied from a page ends in terminals.
_CONTROL_PICTURES = {chr(number): chr(0x2400 + number) for number in range(32) if chr(number) not in "\t\n\f\r"}
_CONTROL_PICTURES |= {chr(number): "\ufffd" for number in range(0x7F, 0xA0)}
_ONE_BYTE_CONTROLS = bytes(ord(control) for control in _CONTROL_PICTURES if control.isascii())
_TWO_BYTE_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]")  # U+0080 to U+009F in UTF-8


def replace_control_characters(text: str) -> bytes:
    """In UTF-8. `str.translate` takes seconds for a page of some megabytes that is not ASCII; these look through it quickly."""
    page = text.encode(errors="replace")
    if len(page.translate(None, _ONE_BYTE_CONTROLS)) == len(page) and not _TWO_BYTE_CONTROLS.search(page):
        return page
    for control, shown in _CONTROL_PICTURES.items():
        if control in text:
            text = text.replace(control, shown)
    return text.encode(errors="replace")

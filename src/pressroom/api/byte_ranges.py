"""Which bytes of a file a request asks for."""

import re

from pressroom.api.problems import HttpError

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def requested_range(asked: str | None, condition: str | None, size: int, tag: str) -> tuple[int, int]:
    """The one range of a `Range` header, unless its `If-Range` names other bytes than `tag`. Several ranges, or one that cannot
    be read, are answered with the whole. Raises HttpError 416."""
    found = _RANGE.fullmatch((asked or "").strip()) if condition is None or condition == tag else None
    if found is None or found[1] == found[2] == "":
        return 0, size
    if found[1] == "":
        start, stop = max(0, size - int(found[2])), size
    else:
        start, stop = int(found[1]), size if found[2] == "" else min(size, int(found[2]) + 1)
    if start >= size or stop <= start:
        raise HttpError(416, "range_not_satisfiable", f"there are {size:,} bytes", {"Content-Range": f"bytes */{size}"})
    return start, stop

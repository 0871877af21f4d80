"""Times, sizes and counts as people read them."""

from datetime import UTC, datetime, timedelta

from markupsafe import Markup

_STEPS = [(60, "s", 1), (3600, "min", 60), (86400, "h", 3600), (float("inf"), "d", 86400)]
_GLYPHS = {
    "queued": "◔",
    "in_progress": "▶",
    "completed": "✓",
    "completed_with_errors": "⚠",
    "failed": "✕",
    "cancelled": "⊘",
}


def format_duration(seconds: float | timedelta | None) -> str:
    """Two figures at most: `850 ms`, `3.2 s`, `4 min 12 s`, `2 h 5 min`, `3 d 4 h`. Never negative: clocks may disagree."""
    if seconds is None:
        return ""
    length = max(0.0, seconds.total_seconds() if isinstance(seconds, timedelta) else seconds)
    if length < 1:
        return f"{length * 1000:.0f} ms"
    if length < 10:
        return f"{length:.1f} s"
    for (_, unit, size), (_, smaller, part) in zip(_STEPS[1:], _STEPS, strict=False):
        if length < size:
            return f"{length:.0f} s"
        if length < size * (60 if size < 3600 else 24 if size < 86400 else float("inf")):
            whole, rest = int(length // size), int(length % size // part)
            return f"{whole} {unit} {rest} {smaller}" if rest else f"{whole} {unit}"
    return f"{length / 86400:.0f} d"


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age_element(moment: datetime | None, now: datetime | None = None) -> Markup:
    """How long ago or ahead, in an element that tells the exact time when pointed at and stays right while the page is open."""
    if moment is None:
        return Markup('<span class="none">never</span>')
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        moment.astimezone(UTC).isoformat(timespec="milliseconds"),
        format_time(moment),
        format_age(moment, now or datetime.now(UTC)),
    )


def format_age(moment: datetime, now: datetime) -> str:
    seconds = (now - moment).total_seconds()
    if abs(seconds) < 1:
        return "now"
    for limit, unit, size in _STEPS:
        if abs(seconds) < limit:
            number = int(abs(seconds) // size)
            return f"{number} {unit} ago" if seconds > 0 else f"in {number} {unit}"
    raise AssertionError("the last step has no limit")


def format_size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:,.0f} {unit}" if unit == "B" or count >= 100 else f"{count:,.1f} {unit}"


def format_count(count: int, *, capped: bool = False) -> str:
    return f"{count:,}{'+' if capped else ''}"


def format_percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def status_element(name: str) -> Markup:
    """A sign, a word and a colour: any one of them is enough to tell."""
    return Markup('<span class="status {0}"><span aria-hidden="true">{1}</span> {2}</span>').format(
        name, _GLYPHS.get(name, "•"), name.replace("_", " ")
    )


FILTERS = {
    "duration": format_duration,
    "exact": format_time,
    "ago": age_element,
    "size": format_size,
    "number": format_count,
    "percent": format_percent,
    "status": status_element,
}

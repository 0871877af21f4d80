"""Where a queued job stands, and how long the latest of its kind took."""

import msgspec

from pressroom.model import Statement, Work

LOOKED_AT = 200  # ended jobs of the kind
COUNTED = 10_000  # jobs ahead; more are not counted


class QueuePosition(msgspec.Struct, frozen=True):
    """`p50` and `p90` are seconds until it has ended; None while there is no history."""

    ahead: int
    p50: float | None = None
    p90: float | None = None


def find_queue_position(id: int, slots: int) -> Work[QueuePosition | None]:
    """None if the job does not wait any more."""
    rows = yield Statement("count_ahead", {"id": id, "limit": COUNTED})
    if not rows or rows[0][0] is None:
        return None
    ahead, kind = rows[0]
    lengths = sorted(length for (length,) in (yield Statement("latest_durations", {"kind": kind, "limit": LOOKED_AT})))
    if not lengths:
        return QueuePosition(ahead)
    mean = sum(lengths) / len(lengths)
    waiting = ahead * mean / slots
    return QueuePosition(ahead, _seconds(waiting + _quantile(lengths, 0.5)), _seconds(waiting * 1.3 + _quantile(lengths, 0.9)))


def _quantile(ordered: list[int], share: float) -> int:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _seconds(milliseconds: float) -> float:
    return round(milliseconds / 1000, 3)

"""Cron expressions for people: in words, and when they tick next."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from cronsim import CronSim, CronSimError

MAX_LENGTH = 200  # characters; who writes more means a program, and reading it would be work for nothing


@dataclass(frozen=True)
class CronDescription:
    """`words` is empty where there are none, and `next` None where the expression never ticks, or not within fifty years."""

    words: str = ""
    next: datetime | None = None
    is_tick: bool = False  # whether `after` itself was one
    error: str = ""


@lru_cache(maxsize=2_000)
def describe_cron(cron: str, after: datetime) -> CronDescription:
    """What an expression says, and its first tick after a moment. Never raises, whatever is written there."""
    if len(cron) > MAX_LENGTH:
        return CronDescription(error=f"it is longer than {MAX_LENGTH} characters")
    moment = after.astimezone(UTC)
    try:
        simulated = CronSim(cron, moment)
        tick = next(simulated, None)
        earlier = next(CronSim(cron, moment - timedelta(seconds=1)), None)
    except (CronSimError, ValueError, AssertionError, OverflowError) as reason:
        return CronDescription(error=str(reason) or "it cannot be read")
    return CronDescription(_describe_simulated(simulated), tick, earlier == moment)


def _describe_simulated(simulated: CronSim) -> str:
    try:
        return simulated.explain()
    except Exception:
        # It ticks, but has words only for what people usually write. As written it can still be read.
        return ""

"""Waiting longer each time, but never for ever."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom import Backoff


def test_the_wait_doubles_up_to_the_cap() -> None:  # R27's 1, 2, 4, … 60
    backoff = Backoff(base=1, cap=60, jitter=0)

    assert [backoff.delay(n, 0.5) for n in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True), st.floats(0, 1))
def test_jitter_spreads_the_wait_and_keeps_it_in_bounds(failures: int, luck: float, jitter: float) -> None:
    delay = Backoff(base=1, cap=60, jitter=jitter).delay(failures, luck)

    assert 0 <= delay <= 60 * (1 + jitter)


def test_luck_places_the_wait_within_the_jitter() -> None:
    backoff = Backoff(base=10, jitter=0.1)

    assert (backoff.delay(1, 0), backoff.delay(1, 0.5)) == (9, 10)

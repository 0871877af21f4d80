"""How deep the tests go: the quick suite on every change, the deep one before an issue is called resolved.

What decides where a test goes:
- A test is quick unless it is marked `deep`. It is marked `deep` when it needs more than about five seconds of processor time,
  or when a quicker test makes the same statement and this one says it at more length (more databases, deliveries, engines).
- A test that generates its cases takes their number from `by_depth`: few on every change, many when it counts.
- A test on both databases goes to PostgreSQL in the quick suite if it lies in one of `ON_BOTH_DATABASES`, or if it is one in
  four of the others, chosen by its name.
`./dev test` prints the processor time of the whole run and the ten slowest tests, so that growth is noticed.
"""

import os
import zlib

VARIABLE = "PRESSROOM_TEST_DEPTH"
ON_BOTH_DATABASES = ("tests/contract/", "tests/delivery/", "tests/journeys/")
SAMPLE = 4


def is_deep() -> bool:
    return os.environ.get(VARIABLE) == "deep"


def by_depth[T](quick: T, deep: T) -> T:
    return deep if is_deep() else quick


def is_quick_on_postgres(node_id: str) -> bool:
    """The same tests on every machine and in every run, so that a failure can be repeated."""
    return node_id.startswith(ON_BOTH_DATABASES) or zlib.crc32(node_id.encode()) % SAMPLE == 0

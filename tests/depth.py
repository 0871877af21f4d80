"""How deep the tests go: the quick suite on every change, the deep one before an issue is called resolved.

What decides where a test goes:
- A test is quick unless it is marked `deep`. It is marked `deep` when it needs more than about three seconds of processor time,
  or when a quicker test makes the same statement and this one says it at more length (more databases, deliveries, engines).
- A test that generates its cases takes their number from `by_depth`: few on every change, many when it counts.
- A test with many cases of one rule (attacks times engines) is marked `sampled(n)`: the quick suite runs one case in n.
- A test on both databases goes to PostgreSQL in the quick suite if it lies in one of `ON_BOTH_DATABASES`, or if it is one in
  ten of the others, chosen by its name.
`./dev test` prints the processor time of the whole run and the ten slowest tests, so that growth is noticed.
"""

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable

import pytest

VARIABLE = "TEST_DEPTH"  # without our prefix: an unknown setting is an error
ON_BOTH_DATABASES = ("tests/contract/", "tests/delivery/")
ONE_IN = 10


def is_deep() -> bool:
    return os.environ.get(VARIABLE) == "deep"


def by_depth[T](quick: T, deep: T) -> T:
    return deep if is_deep() else quick


def left_to_the_deep_suite(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """The same tests on every machine and in every run, so that a failure can be repeated."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    left_out = set()
    for item in items:
        if item.get_closest_marker("deep") or _is_deep_on_postgres(item):
            left_out.add(item)
        elif item.get_closest_marker("sampled") and hasattr(item, "callspec"):
            cases[_function(item)].append(item)
    for function, those in cases.items():
        one_in = those[0].get_closest_marker("sampled").args[0]
        first = min(_number(function) % one_in, len(those) - 1)
        left_out |= set(those) - set(those[first::one_in])
    return left_out


def _is_deep_on_postgres(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    on_both = item.nodeid.startswith(ON_BOTH_DATABASES) or _number(item.nodeid) % ONE_IN == 0
    return "on_server" in (parameters.get("database"), parameters.get("anywhere")) and not on_both


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _number(name: str) -> int:
    return zlib.crc32(name.encode())

"""Equal inputs have equal fingerprints, different inputs never do."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom.base.fingerprint import fingerprint

values = st.one_of(
    st.binary(max_size=8),
    st.text(max_size=8),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(0, 2), max_size=2),
)
inputs = st.dictionaries(st.text(max_size=3), values, max_size=3)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(inputs, inputs)
def test_fingerprints_are_equal_exactly_when_inputs_are(one: dict[str, Any], other: dict[str, Any]) -> None:  # I10
    same = _typed(one) == _typed(other)

    assert (fingerprint(one).digest == fingerprint(other).digest) == same


def _typed(fields: dict[str, Any]) -> dict[str, tuple[type, Any]]:
    """b"a", "a" and ["a"] are three inputs."""
    return {name: (type(value), value) for name, value in fields.items()}


def test_fields_cannot_run_into_each_other() -> None:  # D10
    assert fingerprint({"a": "x|y", "b": "z"}).digest != fingerprint({"a": "x", "b": "y|z"}).digest


def test_nothing_is_normalised() -> None:  # D10
    sources = [
        "graph TD\nA-->B",
        "graph TD A-->B",
        "graph TD\r\nA-->B",
        "graph TD\nA-->B\n",
        " graph TD\nA-->B",
        "é",
        "e\u0301",
    ]

    assert len({fingerprint({"source": source}).digest for source in sources}) == len(sources)


def test_the_order_of_fields_and_of_keys_within_them_does_not_matter() -> None:
    one = fingerprint({"a": {"x": 1, "y": 2}, "b": "c"})
    other = fingerprint({"b": "c", "a": {"y": 2, "x": 1}})

    assert one.digest == other.digest


def test_a_miss_names_the_fields_that_differ() -> None:
    old = fingerprint({"source": "a", "theme": "dark", "version": "1"})
    new = fingerprint({"source": "a", "theme": "light", "font": "x", "version": "1"})

    assert new.differs_from(old.fields) == ["font", "theme"]

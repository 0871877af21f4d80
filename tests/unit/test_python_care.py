"""What `pressroom check` says of the Python that runs it."""

import pytest

from pressroom.store.engine.python_health import examine_python


@pytest.mark.parametrize("version", [(3, 12, 9), (3, 13, 2), (3, 14, 0)])
def test_a_patched_python_is_well(version: tuple[int, int, int]) -> None:
    finding = examine_python(version)

    assert finding.well
    assert finding.warning == ""


@pytest.mark.parametrize(
    ("version", "least", "holes"),
    [
        ((3, 12, 0), "3.12.9", ["CVE-2024-4032", "CVE-2024-7592", "CVE-2024-12254"]),
        ((3, 12, 4), "3.12.9", ["CVE-2024-7592", "CVE-2024-12254"]),
        ((3, 12, 6), "3.12.9", ["CVE-2024-12254"]),
        ((3, 13, 1), "3.13.2", ["CVE-2024-12254"]),
    ],
)
def test_a_python_with_known_holes_is_warned_of_and_still_works(
    version: tuple[int, int, int], least: str, holes: list[str]
) -> None:
    finding = examine_python(version)

    assert finding.well
    assert f"upgrade to {least} or newer" in finding.warning
    assert [word.rstrip(":") for word in finding.warning.split() if word.startswith("CVE-")] == holes


def test_an_old_python_is_a_problem() -> None:
    assert not examine_python((3, 11, 9)).well

"""The command line."""

from typing import Any


def main(*_: Any) -> int:
    return 0

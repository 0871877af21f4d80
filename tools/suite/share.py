"""A pytest plug-in that takes test files, or parts of them ("tests/test_a.py 1/4"), from a list that several processes share.

A process imports a file when it takes it. Under pytest-xdist each process collects all of them, and sends every report to one
more process (docs/decisions.md).
"""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", type=Path, default=None, help="a file with the names of test files, one a line")


def pytest_configure(config: pytest.Config) -> None:
    if (path := config.getoption("--share")) is not None:
        config.pluginmanager.register(Share(path))


class Share:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = sorted({line.partition(" ")[0] for line in left(path)})
        self._nodes: dict[Path, pytest.Collector] = {}
        self._collected = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """All files at once, so that they have their folders and fixtures in common; none of them is imported yet."""
        found = session.perform_collect(self._files, genitems=False) if self._files else []
        self._nodes = {node.path: node for node in found if isinstance(node, pytest.Collector)}
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests of one file after the other. The next test is known before one ends, for pytest then tears down only
        what the next one does not use: a server that serves the whole session goes on."""
        items = self._items(session)
        item = next(items, None)
        while item is not None:
            nextitem = next(items, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            item = nextitem
        session.testscollected = self._collected or 1  # a process that came too late for a file has not failed
        return True

    def _items(self, session: pytest.Session) -> Iterator[pytest.Item]:
        while line := take(self._path):
            file, _, part = line.partition(" ")
            items = list(session.genitems(self._nodes[session.config.invocation_params.dir / file]))
            session.config.hook.pytest_collection_modifyitems(session=session, config=session.config, items=items)
            items = part_of(items, part)
            self._collected += len(items)
            yield from items


def part_of(items: list[pytest.Item], part: str) -> list[pytest.Item]:
    """Every n-th test of a file, from the k-th on, for the part "k/n". All of them for no part."""
    if not part:
        return items
    first, parts = map(int, part.split("/"))
    return items[first - 1 :: parts]


def left(path: Path) -> list[str]:
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        return file.read().splitlines()


def take(path: Path) -> str:
    """Remove the first line of a file and return it, whoever else does so. Without any it is empty."""
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        first, _, rest = file.read().partition("\n")
        file.seek(0)
        file.truncate()
        file.write(rest)
    return first

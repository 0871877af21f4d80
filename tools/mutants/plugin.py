"""pytest in the scratch tree: runs the chosen tests in the given order, and reports each as soon as it has ended.

It is copied there as `_mutants_plugin`, beside the recorder. The file that MUTANTS_ORDERS names holds the orders.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest


class Plugin:
    def __init__(self, orders: dict[str, Any]) -> None:
        tests = orders["tests"]
        self._deep = orders["deep"]
        self._order = None if tests is None else {test: number for number, test in enumerate(tests)}
        self._report = os.open(orders["report"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._module = sys.modules.get("_mutants_recorder")
        if self._module is not None:
            self._module.recorder.keep_in_memory()
            self._others = self._module.OtherProcesses(orders["executed"])

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        order = self._order
        chosen = [item for item in items if self._deep or item.get_closest_marker("deep") is None]
        if order is not None:
            chosen = sorted((item for item in chosen if item.nodeid in order), key=lambda item: order[item.nodeid])
        config.hook.pytest_deselected(items=[item for item in items if item not in {*chosen}])
        items[:] = chosen

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(event="failed", test=report.nodeid or "collection", text=str(report.longrepr)[-2000:])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._write(event="started", test=item.nodeid)
        began, cpu = time.monotonic(), sum(os.times()[:4])
        if self._module is not None:
            self._module.recorder.restart()
        try:
            return (yield)
        finally:
            seconds, cpu = time.monotonic() - began, sum(os.times()[:4]) - cpu
            self._write(event="ended", test=item.nodeid, seconds=seconds, cpu=cpu, lines=self._executed())

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self) -> bool:
        """No limits of wall time: this machine may be busy, and a test that hangs is noticed by its idleness."""
        return True

    def _executed(self) -> dict[str, str]:
        if self._module is None:
            return {}
        lines = self._module.recorder.lines_since_restart()
        self._module.merge(lines, self._others.take())
        return _as_hex(lines)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._write(event="failed", test=report.nodeid, text=str(report.longrepr)[-2000:])
        elif report.skipped:
            self._write(event="skipped", test=report.nodeid)

    def pytest_sessionfinish(self) -> None:
        if self._module is not None:
            self._write(event="living", lines=_as_hex(self._others.of_living))
        self._write(event="finished")

    def _write(self, **line: object) -> None:
        os.write(self._report, json.dumps(line).encode() + b"\n")


def _as_hex(lines: dict[str, int]) -> dict[str, str]:
    return {path: f"{bits:x}" for path, bits in lines.items()}


def pytest_configure(config: pytest.Config) -> None:
    with open(os.environ["MUTANTS_ORDERS"]) as file:
        config.pluginmanager.register(Plugin(json.load(file)), "mutants")

"""A pytest plug-in that writes one line of JSON for each report, with the processor time that the test took.

Processor time is that of the process and of the children it has waited for, so it says what a test costs on a busy machine too.
"""

import json
import resource
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

import pytest

CPU = "cpu"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--report-file", type=Path, default=None, help="where to write the reports, one line of JSON each")


def pytest_configure(config: pytest.Config) -> None:
    path = config.getoption("--report-file")
    if path is not None:
        config.pluginmanager.register(ReportWriter(path.open("w")))
    config.pluginmanager.register(CpuMeter())


class CpuMeter:
    def __init__(self) -> None:
        self._before = cpu_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            now = cpu_seconds()
            report.user_properties = [*report.user_properties, (CPU, round(now - self._before, 3))]
            self._before = now
        return report


class ReportWriter:
    def __init__(self, file: TextIO) -> None:
        self._file = file

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(report.nodeid, "collect", "failed", 0.0, 0.0, str(report.longrepr))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cpu = dict(report.user_properties).get(CPU, 0.0)
        text = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr or "")
        output = "".join(f"\n--- {name} ---\n{content}" for name, content in report.sections) if report.failed else ""
        self._write(report.nodeid, report.when or "", report.outcome, report.duration, float(str(cpu)), text + output)

    def _write(self, test: str, when: str, outcome: str, seconds: float, cpu: float, text: str) -> None:
        line = {"test": test, "when": when, "outcome": outcome, "seconds": round(seconds, 3), "cpu": cpu, "text": text}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def cpu_seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

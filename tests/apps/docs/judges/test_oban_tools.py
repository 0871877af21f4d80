"""Oban's own command line and its helpers for tests, on builds that oban delivers (Q1)."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oban import testing

from pressroom.apps.docs.model import BuildStatus
from pressroom.model import Status
from tests.apps.docs.flow_stage import SITE, docs_flow
from tests.delivery.oban.stage import PERFORM, Tables, client
from tests.patience import be_patient

type Eventually = Callable[..., Any]

SCHEMA = "jobs_of_oban"
OBAN = Path(sys.executable).with_name("oban")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


def oban_command(*arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OBAN_", "PRESSROOM_"))}
    return subprocess.Popen([OBAN, *arguments], env=plain, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


@pytest.mark.deep
async def test_builds_are_delivered_by_tables_that_obans_command_has_made(
    on_server: str, tmp_path: Path, eventually: Eventually
) -> None:
    """And an oban of its own (`oban start`) on our queues, which an operator may have started by mistake, ends no build."""
    tables = Tables(on_server, SCHEMA)
    tables.do(f"CREATE SCHEMA {SCHEMA}")  # which the command expects
    installing = oban_command("install", "--dsn", on_server, "--prefix", SCHEMA)
    said, _ = await asyncio.to_thread(installing.communicate)
    assert installing.returncode == 0, said
    settings = {"delivery": "oban", "oban_schema": SCHEMA, "home": str(tmp_path), "lease": 60.0, "poll_interval": 0.02}

    async with docs_flow(on_server, workers=None, **settings) as flow, client(tables) as oban:
        build = await flow.submit(SITE)
        (row,) = tables.jobs()
        await testing.assert_enqueued(oban=oban, worker=PERFORM, queue=row["queue"], args=row["args"])
        starting = oban_command("start", "--dsn", on_server, "--prefix", SCHEMA, "--queues", f"{row['queue']}:1", cwd=tmp_path)
        try:
            await eventually(lambda: tables.jobs()[0]["state"] not in ("available", "executing"))
        finally:
            starting.send_signal(signal.SIGTERM)
            await asyncio.to_thread(starting.communicate)
        assert tables.jobs()[0]["state"] == "scheduled"
    async with docs_flow(on_server, **settings) as flow:
        build, job = await flow.ended(build)

    assert (job.status, build.status) == (Status.COMPLETED, BuildStatus.COMPLETED), job.errors

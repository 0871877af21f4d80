"""A database that `pressroom demo` filled moves to a server like any other: its invented workers hold up no promotion."""

import asyncio
import sys
from pathlib import Path

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.cli.main import main
from pressroom.config import Settings
from pressroom.demo import fill, sources
from pressroom.store.engine import postgres_health
from tests import looking
from tests.promote.same import assert_same


def _tell_nothing(what: str, done: int, total: int) -> None: ...


@pytest.mark.deep
def test_a_demo_is_promoted(
    on_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sources, "GOOD", ((1, sources.make_service_map),))
    monkeypatch.setattr(sources, "BROKEN", ((1, sources.make_broken_arrow),))
    source = f"sqlite:///{tmp_path / 'press.db'}"
    asyncio.run(fill.fill_database(Settings(database=source), jobs=25, seed=1, add=False, report=_tell_nothing))
    monkeypatch.setattr(sys, "argv", ["pressroom", "promote", "--database", source, "--to", on_server])

    code = main()

    assert code == 0, capsys.readouterr().err
    assert_same(source, on_server)
    assert looking.rows(on_server, "SELECT count(*) FROM job WHERE status = 'in_progress'") != [(0,)]
    assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []

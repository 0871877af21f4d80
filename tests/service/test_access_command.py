"""A command that a service does not let in says what to do, and ends with a code of its own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from pressroom import Pressroom
from pressroom.api.access import Scope
from pressroom.api.tokens import new_secret
from pressroom.cli import exits
from pressroom.cli.main import main
from pressroom.errors import DatabasePromoted, DatabaseTooNew, InvalidArgument, PackageMissing
from tests.client.stage import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = {"AUTH_ENABLED": "true", "AUTH_USER": "anna", "AUTH_PASS": "secret"}  # so that writing needs a token even here
    with Served(tmp_path_factory.mktemp("served"), **settings) as service:
        yield service


async def token_of(database: str, scope: Scope) -> str:
    async with Pressroom(database, workers=None) as press:
        return (await press.tokens.create(scope)).secret


@pytest.mark.parametrize(
    ("token", "words"),
    [("none", "PRESSROOM_TOKEN"), ("wrong", "PRESSROOM_TOKEN"), ("viewer", "pressroom token create --scope submitter")],
)
def test_a_token_that_will_not_do_is_told_with_what_would(
    token: str,
    words: str,
    served: Served,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PRESSROOM_TOKEN", raising=False)
    if token != "none":
        secret = new_secret() if token == "wrong" else asyncio.run(token_of(served.database, Scope.VIEWER))
        monkeypatch.setenv("PRESSROOM_TOKEN", secret)
    (tmp_path / "a.dot").write_text("digraph { a }")

    code = main(["render", str(tmp_path / "a.dot"), "--to", "svg", "--server", served.url])

    assert code == exits.NOT_ALLOWED == 7
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_what_is_refused_for_another_reason_is_wrong_usage() -> None:
    assert exits.exit_code_for(InvalidArgument("no")) == exits.USAGE
    # systemd starts a service again unless the code is 2: these would fail at every start
    for error in (DatabaseTooNew("x"), DatabasePromoted("a", "b"), PackageMissing("uvicorn", "service")):
        assert exits.exit_code_for(error) == exits.USAGE == 2

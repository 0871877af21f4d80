"""`pressroom webhooks`: what the service offers, for whoever sits at the database."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pressroom import Pressroom
from pressroom.app import BUILT_IN
from pressroom.cli.main import main
from tests.service.webhook_stage import shout

type Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def run(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def run_command(*argv: str) -> tuple[int, Any, str]:
        """Its exit code, what it printed as JSON, and what it said."""
        code = main(["webhooks", *argv, "--json", "--database", database])
        out, said = capsys.readouterr()
        return code, [json.loads(line) for line in out.splitlines()], said

    return run_command


def test_a_webhook_is_added_listed_and_removed(run: Run) -> None:
    code, (made,), _ = run("add", "https://example.org/hook", "--event", "job.failed", "--kind", "render", "--org", "acme")
    run("add", "https://example.org/other")

    assert code == 0
    assert made["secret"].startswith("whsec_")
    _, (listed,), _ = run("list")
    assert [one["url"] for one in listed] == ["https://example.org/hook", "https://example.org/other"]
    assert listed[0] == {name: value for name, value in made.items() if name != "secret"}
    assert (listed[0]["events"], listed[0]["kinds"], listed[0]["org"]) == (["job.failed"], ["render"], "acme")
    assert len(listed[1]["events"]) == 5
    _, (of_acme,), _ = run("list", "--org", "acme")
    assert [one["id"] for one in of_acme] == [made["id"]]

    assert run("remove", made["id"])[0] == 0
    assert len(run("list")[1][0]) == 1


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("add", "http://127.0.0.1/"), 2, "https://"),
        (("remove", "wh_nobody"), 6, "no such webhook"),
        (("deliveries", "wh_nobody"), 6, "no such webhook"),
        (("replay", "msg_nobody"), 6, "no such delivery"),
    ],
)
def test_what_cannot_be_is_said(run: Run, argv: tuple[str, ...], code: int, words: str) -> None:
    run("add", "https://example.org/hook")

    assert run(*argv)[0] == code
    assert words in run(*argv)[2]


def test_deliveries_are_listed_and_replayed(run: Run, database: str) -> None:
    _, (made,), _ = run("add", "https://example.org/hook")
    asyncio.run(_submit_and_cancel(database))

    _, (found,), _ = run("deliveries", made["id"])
    assert [(one["type"], one["state"], one["attempts"]) for one in found] == [("job.cancelled", "waiting", 0)]
    assert run("deliveries", made["id"], "--state", "failed")[1] == [[]]

    code, (again,), _ = run("replay", found[0]["id"])
    assert code == 0
    assert again["id"] == found[0]["id"], "the receiver sees the same webhook-id"
    assert asyncio.run(_kind_of(database, again["delivered_by"])) == "webhook"


async def _submit_and_cancel(database: str) -> None:
    async with Pressroom(database, kinds=[shout], apps=BUILT_IN, workers=None) as press:
        await press.cancel(await press.submit("shout", "hi"))


async def _kind_of(database: str, job: str) -> str:
    async with Pressroom(database, workers=None) as press:
        return (await press.get(job)).kind


def test_a_person_sees_a_table_and_the_secret_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path)]
    main(["webhooks", "add", "https://example.org/hook", *home])
    added, note = capsys.readouterr()
    main(["webhooks", "list", *home])
    listed, _ = capsys.readouterr()

    id, secret = added.split()
    assert "only now" in note
    assert id in listed
    assert secret not in listed

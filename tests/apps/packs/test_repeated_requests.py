"""A pack that is asked for twice with one Idempotency-Key is made once, also if the server failed between pack and answer."""

from typing import Any

import pytest

from pressroom.store.access import idempotency
from tests.apps.packs.conftest import DATA, Staging


async def test_a_pack_whose_caller_was_not_answered_is_made_once(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is kept in the transaction that makes the pack: it used to be kept after it."""

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    headers = {"Idempotency-Key": "one pack"}
    async with staged(workers=None) as stage:
        with monkeypatch.context() as broken:
            broken.setattr(idempotency, "save_reply", fail)
            failed = await stage.http.post("/packs", json={"data": DATA}, headers=headers)

        answers = [await stage.http.post("/packs", json={"data": DATA}, headers=headers) for _ in range(2)]

        assert failed.status_code == 500
        assert [answer.status_code for answer in answers] == [201, 201]
        assert answers[0].json() == answers[1].json()
        assert len((await stage.http.get("/packs")).json()["items"]) == 1

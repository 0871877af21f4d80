"""Secrets are told to whoever owns them, once, and to no log, row, event, error or metric."""

import io
import json
import logging
from pathlib import Path

import pytest

from pressroom import config
from pressroom.api import logs
from pressroom.api.access import Scope
from tests.service.access_stage import all_bytes, on_stage

CANARIES = {
    "s3_access_key": "canary-s3-access",
    "s3_secret_key": "canary-s3-secret",
    "auth_pass": "canary-basic-password",
}
KEY = "canary-idempotency-key"


@pytest.mark.parametrize("form", ["json", "text"])
async def test_a_run_that_is_full_of_secrets_tells_none(database: str, tmp_path: Path, form: str) -> None:  # L
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    formatters = [one.formatter for one in root.handlers]
    logs.set_log_format(form)
    told = []
    try:
        async with on_stage(database, auth_enabled=True, auth_user="anna", **CANARIES) as stage:
            secret = await stage.token(Scope.ADMIN, everywhere=True)
            revoked = await stage.token(Scope.ADMIN)
            await stage.press.tokens.revoke(revoked[:9])
            async with stage.client(secret) as client:
                for body in ("done", "fail"):
                    headers = {"Idempotency-Key": KEY + body}
                    new = {"kind": "shout", "payload": body, "max_attempts": 1}
                    submitted = await client.post("/jobs", json=new, headers=headers)
                    told += [submitted, await client.get(f"/jobs/{submitted.json()['id']}?wait=60")]
                told.append(await client.post("/jobs", json={"kind": "shout"}, headers={"Idempotency-Key": KEY + "done"}))
                told += [await client.get(path) for path in ("/jobs", "/metrics", "/health", "/openapi.json")]
                told.append(await client.get("/jobs", auth=("anna", CANARIES["auth_pass"])))
                told.append(await client.get("/jobs", headers={"Authorization": f"Bearer {revoked}"}))
            described = str(config.describe_settings(stage.press.settings)) + repr(stage.press.settings)
            logging.getLogger("pressroom").warning("calling %s with Bearer %s", "postgresql://u:canary-dsn@h/d", secret)
            try:
                raise ValueError(f"GET https://s3/x?X-Amz-Signature=canary-signature refused for {secret}")
            except ValueError:
                logging.getLogger("pressroom").exception("failed")
    finally:
        for one, formatter in zip(root.handlers, formatters, strict=True):
            one.setFormatter(formatter)
        root.removeHandler(handler)
        root.setLevel(level)

    secrets = [*CANARIES.values(), secret, revoked, "canary-dsn", "canary-signature"]
    rows = all_bytes(database, tmp_path)
    answers = "".join(f"{answer.headers}{answer.text}" for answer in told)
    for canary in secrets:
        assert canary not in written.getvalue(), canary
        assert canary not in answers
        assert canary.encode() not in rows
        assert canary not in described
    assert KEY not in written.getvalue() + answers
    assert "failed as it was told to" in written.getvalue(), "what happened is told"
    if form == "json":
        lines = [json.loads(line) for line in written.getvalue().splitlines()]
        assert all({"ts", "level", "event"} <= line.keys() for line in lines)
        assert any("ms" in line and "request_id" in line for line in lines)
        assert any("job_id" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Authorization: Basic YW5uYTpzZWNyZXQ=", "Authorization: Basic ***"),
        ("postgresql://anna:secret@host/db", "postgresql://anna:***@host/db"),
        ("https://s3/x?X-Amz-Signature=abc&a=1", "https://s3/x?X-Amz-Signature=***&a=1"),
        ("{'idempotency-key': 'abc'}", "{'idempotency-key': ***'}"),
        ("the job_01M7H882JME00A03846EDQN000 is done", "the job_01M7H882JME00A03846EDQN000 is done"),
    ],
)
def test_what_an_exception_quotes_is_masked(text: str, kept: str) -> None:
    assert logs.redacted(text) == kept

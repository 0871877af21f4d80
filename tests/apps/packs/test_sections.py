"""Documents whose content comes with the request: `POST /render/jobs`, as design 002's product takes them."""

from typing import Any

import httpx
import pytest

from pressroom.errors import Transient
from tests.apps.packs.conftest import Stage, Staging

SECTIONS = [
    {"type": "text", "title": "Decisions", "text": "The offer is sent <b>on Monday</b>. {{ 7 * 7 }}"},
    {"type": "bullets", "items": ["Anna", "Ben"]},
    {"type": "table", "columns": ["what", "until"], "rows": [["offer", "Monday"]]},
]


async def send(client: httpx.AsyncClient, pack: str, doc_id: str = "minutes", **fields: Any) -> httpx.Response:
    sent = {"pack_id": pack, "session_id": "s-1", "doc_id": doc_id, "title": "Minutes", "sections": SECTIONS} | fields
    return await client.post("/render/jobs", json=sent)


async def ended(stage: Stage, job: str) -> dict[str, Any]:
    await stage.press.wait_until_ended(job, timeout=120)
    return dict((await stage.http.get(f"/render/jobs/{job}")).json())


async def test_sections_become_a_pdf_of_the_pack(staged: Staging) -> None:
    """Without a registry; the text of a section is never part of a template."""
    async with staged() as stage:
        pack = await stage.new_pack()

        sent = await send(stage.http, pack, meta={"author": "Anna"})
        shown = await ended(stage, sent.json()["job_id"])

        assert (sent.status_code, sent.json()["version"]) == (202, 1)
        assert (shown["status"], shown["session_id"], shown["doc_id"], shown["config"]) == ("ready", "s-1", "minutes", {})
        link = (await stage.http.get(f"/files/{shown['file_id']}/download")).json()["url"]
        assert (await stage.http.get(link)).content.startswith(b"%PDF")
        assert (await send(stage.http, pack)).json()["version"] == 2


async def test_a_failed_one_is_requeued_with_the_same_content(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged() as stage:
        await stage.configure()
        pack = await stage.new_pack()
        whole = stage.app.rendering.document_renderer.render_pdf

        async def fail(*_: object, **__: object) -> Any:
            raise Transient("the renderer is away")

        monkeypatch.setattr("pressroom.definitions.Backoff.delay", lambda *_: 0.0)
        monkeypatch.setattr(stage.app.rendering.document_renderer, "render_pdf", fail)
        failed = await ended(stage, (await send(stage.http, pack)).json()["job_id"])
        monkeypatch.setattr(stage.app.rendering.document_renderer, "render_pdf", whole)

        requeued = (await stage.http.post(f"/admin/render-jobs/{failed['job_id']}/requeue")).json()
        again = await ended(stage, requeued["job_id"])

        assert (failed["status"], again["status"], again["retry_of"]) == ("failed", "ready", failed["job_id"])
        assert again["config_snapshot"] == failed["config_snapshot"]


async def test_content_and_documents_that_cannot_be(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        await stage.configure("red")
        pack, foreign = await stage.new_pack(user="u-1"), await stage.new_pack(stage.client("red"))

        for answer, status, code in (
            (await send(stage.http, pack, sections=[{"type": "picture"}]), 422, "invalid_argument"),
            (await send(stage.http, pack, doc_id="../x"), 422, "invalid_body"),
            (await send(stage.http, pack, doc_id="retired"), 400, "DOCUMENT_DISABLED"),
            (await send(stage.http, pack, doc_id="report"), 403, "DOCUMENT_LOCKED"),
            (await send(stage.http, foreign), 404, "not_found"),
            (await send(stage.http, "no-id"), 404, "not_found"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (status, code)
        other = await stage.http.post(
            "/render/jobs", json={"pack_id": pack, "doc_id": "minutes", "sections": []}, headers={"Pressroom-User": "u-2"}
        )
        assert other.status_code == 403

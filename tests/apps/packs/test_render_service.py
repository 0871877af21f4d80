"""Documents of packs that a render service prints (R21), and what its answers mean for them."""

import pytest

from pressroom.apps.packs.settings import PacksSettings
from tests.apps.packs.conftest import Staging
from tests.render_service.stage import TOKEN, on_stage, pretended_service, response


async def test_a_pack_is_printed_by_the_render_service(staged: Staging) -> None:
    """R21: with the engines of the service on record, not those of the worker."""
    async with on_stage(render_token=TOKEN) as service, staged(render_url=service.url, render_token=TOKEN) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render")
        documents = await stage.settled(pack)

        link = (await stage.http.get(f"/files/{documents['offer']['file_id']}/download")).json()
        assert (await stage.http.get(link["url"])).content.startswith(b"%PDF-")
        assert [documents[name]["status"] for name in ("offer", "checklist")] == ["ready", "ready"]
        assert service.renders("completed") == 2
        assert stage.press.rendering.presses.pools().keys() <= {"jinja"}  # which reads templates when they are published


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        ("422 No", b"their s3cret words", "the render service cannot render this source (422)"),  # R28
        ("500 Oh", b"their s3cret words", "the render service failed (500)"),
        ("200 OK", b"<html>s3cret", "the render service answered with something that is no PDF"),  # R22
    ],
)
async def test_a_document_that_the_service_does_not_print_fails_in_our_words(
    staged: Staging, status: str, body: bytes, told: str
) -> None:
    """D22."""
    once = PacksSettings(max_attempts=1)
    async with pretended_service(response(status, body)) as url, staged(render_url=url, settings=once) as stage:
        await stage.configure()
        pack = await stage.new_pack()
        await stage.http.post(f"/packs/{pack}/render/offer")
        document = (await stage.settled(pack))["offer"]
        listed = (await stage.http.get(f"/packs/{pack}/documents")).text

    assert (document["status"], document["attempts"], document["last_error"]) == ("failed", 1, told)
    assert "s3cret" not in listed

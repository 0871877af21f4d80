"""How each refusal of the packs app comes about, for tests/service/test_refusals_then_submits.py."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from pressroom.apps.packs.composition import Compositions, TemplateAnalysis
from pressroom.apps.packs.config.configuration import Configuration
from pressroom.apps.packs.input_check import FieldUse

REGISTRY = [
    {"doc_id": "offer", "title": "Offer"},
    {"doc_id": "off", "title": "Off", "is_enabled": False},
    {"doc_id": "paid", "title": "Paid", "tier": "paid"},
    {"doc_id": "dangling", "title": "Without a template", "template": "dangling"},
]

type Provocation = Callable[[Any], Awaitable[httpx.Response]]
PROVOCATIONS: dict[tuple[int, str], Provocation] = {}


def provokes(status: int, code: str) -> Callable[[Provocation], Provocation]:
    def register(provocation: Provocation) -> Provocation:
        PROVOCATIONS[status, code] = provocation
        return provocation

    return register


def packs_app(scene: Any) -> Any:
    return scene.stage.press.app("packs")


async def new_pack(scene: Any) -> str:
    response = await scene.api.post("/packs", json={"data": {}}, headers={"Pressroom-User": "u-1"})
    return str(response.json()["pack_id"])


@contextmanager
def reading(scene: Any, *fields: str) -> Iterator[None]:
    """Templates are not analysed by an engine here: they read these fields."""

    async def analyse(*_: object) -> TemplateAnalysis:
        return TemplateAnalysis(fields=[FieldUse(field) for field in fields])

    with scene.monkeypatch.context() as patch:
        patch.setattr(Compositions, "analyse_texts", analyse)
        yield


async def configure(scene: Any) -> Configuration:
    configuration: Configuration = packs_app(scene).configuration
    with reading(scene):
        for key in ("template:offer", "template:off", "template:paid", "template:dangling"):
            await configuration.put(None, key, "<p>{{ name }}</p>", author="test")
        await configuration.put(None, "documents_registry", json.dumps(REGISTRY), author="test")
    return configuration


async def render(scene: Any, doc_id: str, *fields: str) -> httpx.Response:
    await configure(scene)
    packs_app(scene).packs.compositions._analyses.clear()
    with reading(scene, *fields):
        response: httpx.Response = await scene.api.post(f"/packs/{await new_pack(scene)}/render/{doc_id}")
    return response


@provokes(409, "REGISTRY_EMPTY")
async def _(scene: Any) -> httpx.Response:
    await packs_app(scene).configuration.put(None, "documents_registry", "[]", author="test")
    response: httpx.Response = await scene.api.post(f"/packs/{await new_pack(scene)}/render")
    return response


@provokes(404, "unknown_document")
async def _(scene: Any) -> httpx.Response:
    return await render(scene, "ofer")


@provokes(400, "DOCUMENT_DISABLED")
async def _(scene: Any) -> httpx.Response:
    return await render(scene, "off")


@provokes(403, "DOCUMENT_LOCKED")
async def _(scene: Any) -> httpx.Response:
    return await render(scene, "paid")


@provokes(422, "NEEDS_INPUT")
async def _(scene: Any) -> httpx.Response:
    return await render(scene, "offer", "person.name")


@provokes(409, "template_unusable")
async def _(scene: Any) -> httpx.Response:
    """A registry whose template is not published cannot be published either, unless it was before the check was made."""
    await configure(scene)
    packs_app(scene).packs.compositions._analyses.clear()
    with reading(scene), scene.monkeypatch.context() as patch:

        async def analyse(*_: object) -> TemplateAnalysis:
            return TemplateAnalysis(templates=["gone"])

        patch.setattr(Compositions, "analyse_texts", analyse)
        response: httpx.Response = await scene.api.post(f"/packs/{await new_pack(scene)}/render/dangling")
    return response


@provokes(409, "documents_not_ready")
async def _(scene: Any) -> httpx.Response:
    await configure(scene)
    response: httpx.Response = await scene.api.post(f"/packs/{await new_pack(scene)}/bundle")
    return response


@provokes(412, "data_version_conflict")
async def _(scene: Any) -> httpx.Response:
    pack = await new_pack(scene)
    response: httpx.Response = await scene.api.put(f"/packs/{pack}/data", json={"data": {}}, headers={"If-Match": '"7"'})
    return response


@provokes(422, "user_missing")
async def _(scene: Any) -> httpx.Response:
    response: httpx.Response = await scene.api.get("/me/packs")
    return response


@provokes(422, "invalid_body")
async def _(scene: Any) -> httpx.Response:
    response: httpx.Response = await scene.api.post("/packs", json={"data": 5})
    return response


@provokes(409, "not_publishable")
async def _(scene: Any) -> httpx.Response:
    await scene.api.post("/admin/config/strings/draft", json={"body": "[]"})
    response: httpx.Response = await scene.api.post("/admin/config/strings/1/publish")
    return response


@provokes(400, "INVALID_STATUS")
async def _(scene: Any) -> httpx.Response:
    job = (await render(scene, "offer")).json()["job_id"]
    response: httpx.Response = await scene.api.post(f"/admin/render-jobs/{job}/requeue")
    return response


@provokes(409, "ALREADY_IN_PROGRESS")
async def _(scene: Any) -> httpx.Response:
    first = (await render(scene, "offer")).json()
    await scene.stage.press.cancel(first["job_id"])
    await scene.api.post(f"/packs/{first['pack_id']}/render/offer")
    response: httpx.Response = await scene.api.post(f"/admin/render-jobs/{first['job_id']}/requeue")
    return response


@provokes(415, "unsupported_batch_type")
async def _(scene: Any) -> httpx.Response:
    response: httpx.Response = await scene.api.post("/packs/batches", json={"data": {}})
    return response

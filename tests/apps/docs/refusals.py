"""How each refusal of the docs app comes about, for tests/service/test_refusals_then_submits.py."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx

from pressroom import artifact_lifecycle
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import editions
from pressroom.apps.docs.store.builds import Inventory, complete_build, get_build_by_uid, record_inventory, start_build
from pressroom.ids import new_uid
from pressroom.store.artifacts import artifacts

SETTINGS = DocsSettings(webhook_secret="secret")
PROJECT = "/orgs/acme/projects/guide"
SECRET = {"access_key_id": "an-id", "secret_access_key": "a-secret"}
SERVICE = {
    "label": "sites",
    "provider": "aws_s3",
    "config": {"bucket": "sites"},
    "credential_label": "keys",
}

type Provocation = Callable[[Any], Awaitable[httpx.Response]]
PROVOCATIONS: dict[tuple[int, str], Provocation] = {}
# What no caller of the HTTP interface meets, and what tests it.
NOT_PROVOKED = {
    (413, "upload_too_large"): "the limit of its body comes before it; tests/apps/docs/test_http_builds.py",
    (414, "path_too_long"): "only the edge answers it; tests/apps/docs/test_edge_hostile.py",
    (422, "hash_mismatch"): "how a build ends; tests/apps/docs/test_flow_archives.py",
    (422, "repository_refused"): "how a sync ends; tests/apps/docs/test_git_sync.py",
    (422, "template_failed"): "how a sync or a dashboard ends; tests/apps/docs/test_dash_render.py",
    (503, "keys_unavailable"): "only where Vault or the file of keys is gone; tests/apps/docs/test_credentials_http.py",
}


def provokes(status: int, code: str) -> Callable[[Provocation], Provocation]:
    def register(provocation: Provocation) -> Provocation:
        PROVOCATIONS[status, code] = provocation
        return provocation

    return register


def docs_app(scene: Any) -> Any:
    return scene.stage.press.app("docs")


async def furnish(scene: Any) -> None:
    """An organisation with a project. They may be there already."""
    await scene.api.post("/admin/orgs", json={"slug": "acme"})
    await scene.api.post("/orgs/acme/projects", json={"slug": "guide"})


async def announce(scene: Any) -> Any:
    await furnish(scene)
    body = {"git_ref": "main", "content_hash": f"sha256:{new_uid().lower().ljust(64, '0').translate(_HEXADECIMAL)}"}
    response = await scene.api.post(f"{PROJECT}/builds", json=body)
    return response.json()


_HEXADECIMAL = str.maketrans("ghjkmnpqrstvwxyz", "0123456789abcdef")


async def shown_build(scene: Any) -> str:
    """A completed build, which __main shows."""
    uid = (await announce(scene))["id"]
    database = docs_app(scene).core.database

    async def run(unit: Callable[[], Any]) -> Any:
        return await database.run(unit, name="test")

    build = await database.read(partial(get_build_by_uid, uid))
    blobs = docs_app(scene).core.rendering.blobs
    file = await artifact_lifecycle.store_file(blobs, database, "index.html", b"<p>", media_type="text/html")
    draft = artifact_lifecycle.bundle_draft([file], media_type="application/x-site", with_link=False)
    await run(partial(artifacts.record, draft, holder=f"test:{draft.uid}"))
    await run(partial(start_build, build, new_uid()))
    inventory = Inventory(artifact=draft.uid, object_count=1, total_size=draft.size, broken_links=0, problems=[])
    await run(partial(record_inventory, uid, inventory))
    await run(partial(complete_build, uid))
    main = await database.read(partial(editions.get_edition, build.project, "__main"))
    move = editions.EditionMove(
        edition=main.id,
        expected_seq=main.publish_seq,
        build=uid,
        artifact=draft.uid,
        trigger="build",
        actor="test",
        job_uid=None,
    )
    await run(partial(editions.move_edition, move))
    return str(uid)


@provokes(409, "slug_taken")
async def _(scene: Any) -> httpx.Response:
    await furnish(scene)
    return await scene.api.post("/admin/orgs", json={"slug": "acme"})  # type: ignore[no-any-return]


@provokes(409, "org_in_use")
async def _(scene: Any) -> httpx.Response:
    await furnish(scene)
    return await scene.api.delete("/admin/orgs/acme")  # type: ignore[no-any-return]


@provokes(403, "main_edition")
async def _(scene: Any) -> httpx.Response:
    await furnish(scene)
    return await scene.api.delete(f"{PROJECT}/editions/__main")  # type: ignore[no-any-return]


@provokes(409, "not_uploaded")
async def _(scene: Any) -> httpx.Response:
    build = await announce(scene)
    return await scene.api.patch(f"{PROJECT}/builds/{build['id']}", json={"status": "uploaded"})  # type: ignore[no-any-return]


@provokes(409, "build_not_usable")
async def _(scene: Any) -> httpx.Response:
    build = await announce(scene)
    return await scene.api.patch(f"{PROJECT}/editions/__main", json={"build": build["id"]})  # type: ignore[no-any-return]


@provokes(409, "build_in_use")
async def _(scene: Any) -> httpx.Response:
    return await scene.api.delete(f"{PROJECT}/builds/{await shown_build(scene)}")  # type: ignore[no-any-return]


@provokes(422, "git_address_refused")
async def _(scene: Any) -> httpx.Response:
    await furnish(scene)
    body = {"git_url": "file:///etc"}
    return await scene.api.put(f"{PROJECT}/dashboard-template", json=body)  # type: ignore[no-any-return]


async def add_credential(scene: Any) -> httpx.Response:
    await furnish(scene)
    await docs_app(scene).credentials.rotate_keys(actor="test")  # a server has none until then
    body = {"label": "keys", "provider": "aws", "credentials": SECRET}
    return await scene.api.post("/orgs/acme/credentials", json=body)  # type: ignore[no-any-return]


@provokes(409, "label_taken")
async def _(scene: Any) -> httpx.Response:
    await add_credential(scene)
    return await add_credential(scene)


@provokes(409, "credential_in_use")
async def _(scene: Any) -> httpx.Response:
    await add_credential(scene)
    await scene.api.post("/orgs/acme/services", json=SERVICE)
    return await scene.api.delete("/orgs/acme/credentials/keys")  # type: ignore[no-any-return]


@provokes(409, "provider_mismatch")
async def _(scene: Any) -> httpx.Response:
    await add_credential(scene)
    body = SERVICE | {"label": "other", "provider": "fastly", "config": {"service_id": "7"}}
    return await scene.api.post("/orgs/acme/services", json=body)  # type: ignore[no-any-return]


@provokes(409, "service_in_use")
async def _(scene: Any) -> httpx.Response:
    await add_credential(scene)
    await scene.api.post("/orgs/acme/services", json=SERVICE)
    await scene.api.patch("/orgs/acme", json={"slots": {"publishing_store": "sites"}})
    answer: httpx.Response = await scene.api.delete("/orgs/acme/services/sites")
    await scene.api.patch("/orgs/acme", json={"slots": {}})
    return answer


async def deliver(scene: Any, body: bytes, secret: str, id: str = "") -> httpx.Response:
    signature = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    headers = {"X-GitHub-Event": "ping", "X-Hub-Signature-256": signature, "Content-Type": "application/json"}
    headers |= {"X-GitHub-Delivery": id} if id else {}
    return await scene.api.post("/hooks/git", content=body, headers=headers)  # type: ignore[no-any-return]


@provokes(401, "signature_invalid")
async def _(scene: Any) -> httpx.Response:
    return await deliver(scene, b"{}", "another secret")


@provokes(409, "delivery_differs")
async def _(scene: Any) -> httpx.Response:
    await deliver(scene, b"{}", SETTINGS.webhook_secret, "a-delivery")
    return await deliver(scene, b'{"zen": "1"}', SETTINGS.webhook_secret, "a-delivery")

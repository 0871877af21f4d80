"""A service with the docs app, over HTTP but without a socket, and two organisations."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from pressroom import Pressroom
from pressroom.api.access import Caller, Gate, Scope
from pressroom.api.service import Service
from pressroom.apps.docs.app import DocsApp
from pressroom.apps.docs.settings import DocsSettings
from pressroom.serving import make_service

ROLES = {"reader": Scope.VIEWER, "uploader": Scope.SUBMITTER, "admin": Scope.OPERATOR}
TOKENS = {
    f"{org}-{role}": Caller(f"{org}'s {role}", scope, org_id=org) for org in ("red", "blue") for role, scope in ROLES.items()
} | {
    "superadmin": Caller("the superadmin", Scope.ADMIN, everywhere=True),
    "nobodys": Caller("of the default organisation", Scope.ADMIN),
}
BASE = "http://127.0.0.1:8000"
SITE = {"index.html": b"<h1>The guide</h1>", "guide/setup.html": b"<h1>Set-up</h1>", "style.css": b"h1 { color: teal }"}


@dataclass
class DocsStage:
    press: Pressroom
    app: DocsApp
    service: Service
    asgi: Any

    def client(self, token: str | None = "superadmin") -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.ASGITransport(app=self.asgi, client=("203.0.113.9", 1234))
        return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers, timeout=120)

    async def furnish(self, *orgs: str, project: str = "guide") -> None:
        """Organisations with a project each."""
        for org in orgs:
            await send(self.client(), "POST", "/admin/orgs", 201, slug=org, title=f"The {org} ones")
            await send(self.client(), "POST", f"/orgs/{org}/projects", 201, slug=project, title=f"{org}'s {project}")

    async def upload(self, org: str = "red", git_ref: str = "main", site: Mapping[str, bytes] = SITE, **fields: Any) -> Any:
        """Announce a build of a site, upload it, and tell so: the build."""
        uploader, archive = self.client(f"{org}-uploader"), packed(site)
        draft = {"git_ref": git_ref, "content_hash": hash_of(archive)} | fields
        made = await send(uploader, "POST", f"/orgs/{org}/projects/guide/builds", 201, **draft)
        stored = await self.client(None).put(made["upload_url"], content=archive)
        assert stored.status_code == 204, stored.text
        return await send(uploader, "PATCH", made["self_url"], 202, status="uploaded")

    async def ended(self, url: str, token: str = "superadmin") -> Any:
        """A job, once it has ended."""
        await self.press.wait_until_ended(url.rpartition("/")[2], timeout=300)
        return await send(self.client(token), "GET", url)


async def send(client: httpx.AsyncClient, method: str, path: str, expected: int = 200, /, **body: Any) -> Any:
    """The decoded answer, which must have this status."""
    response = await client.request(method, path, json=body or None)
    assert response.status_code == expected, f"{method} {path}: {response.status_code} {response.text}"
    return response.json() if response.content else None


async def code_of(client: httpx.AsyncClient, method: str, path: str, /, **body: Any) -> tuple[int, str]:
    """The status and code of a refusal."""
    response = await client.request(method, path, json=body or None)
    assert response.status_code >= 400, response.text
    return response.status_code, response.json()["code"]


def packed(site: Mapping[str, bytes]) -> bytes:
    """The same bytes each time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in site.items():
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def hash_of(archive: bytes) -> str:
    return f"sha256:{hashlib.sha256(archive).hexdigest()}"


async def _lookup(token: str) -> Caller | None:
    return TOKENS.get(token)


@asynccontextmanager
async def docs_stage(
    database: str, *, workers: int | None = None, settings: DocsSettings | None = None, **options: Any
) -> AsyncIterator[DocsStage]:
    sections = {"docs": settings or DocsSettings()}
    options = {"poll_interval": 0.05} | options
    async with Pressroom(database, workers=workers, apps=["docs"], sections=sections, **options) as press:
        service, asgi = make_service(press)
        service.gate = Gate(_lookup)
        app = press.app("docs")
        assert isinstance(app, DocsApp)
        yield DocsStage(press, app, service, asgi)

"""A CI job that announces a build, uploads its archive and asks for it to be processed; it tells the journal what it heard."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.reliability.docs_sites import PROJECTS, REF, Archive
from tests.reliability.http_exchange import Answer, Unheard, Unreachable, exchange
from tests.reliability.journal import Journal

NOT_ASKED = 0  # instead of a status: nothing listened
JSON = "application/json"


class DocsClient:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def announce(self, port: int, project: str, nonce: str, archive: Archive) -> tuple[str, str] | None:
        """The build of a nonce, and where its archive goes. None if that was not heard."""
        body = {"git_ref": REF, "content_hash": archive.content_hash, "annotations": {"nonce": nonce}}
        told = {"project": project, "nonce": nonce}
        path = f"/orgs/{PROJECTS[project]}/projects/{project}/builds"
        answer = await self._send(port, "POST", path, "announce", told, msgspec.json.encode(body))
        if answer is None or answer.status != 201:
            return None
        build: dict[str, Any] = answer.json()
        return str(build["id"]), str(build["upload_url"])

    async def upload(self, port: int, nonce: str, url: str, archive: Archive) -> bool:
        """Whether it was heard that the archive is there."""
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = await self._send(port, "PUT", path, "upload", {"nonce": nonce}, archive.data, media_type="application/gzip")
        return answer is not None and answer.status < 300

    async def start(self, port: int, project: str, uid: str, nonce: str) -> bool:
        told = {"project": project, "build": uid, "nonce": nonce}
        path = f"/orgs/{PROJECTS[project]}/projects/{project}/builds/{uid}"
        answer = await self._send(port, "PATCH", path, "start", told, b'{"status": "uploaded"}')
        if answer is None or answer.status >= 300:
            return False
        self._journal.write("ok", "start", **told, job=answer.json()["queue_url"].rsplit("/", 1)[-1])
        return True

    async def _send(
        self,
        port: int,
        method: str,
        path: str,
        do: str,
        told: dict[str, Any],
        body: bytes,
        *,
        media_type: str = JSON,
    ) -> Answer | None:
        headers = {"Content-Type": media_type}
        try:
            answer = await exchange(port, method, path, body, headers)
        except Unreachable:
            self._journal.write("fail", do, **told, http=NOT_ASKED)
            return None
        except Unheard as reason:
            self._journal.write("info", "unheard", **told, reason=str(reason))
            return None
        self._journal.write("info", "answered", port=port)
        if answer.status >= 400:
            detail = answer.body.decode(errors="replace")[:300]
            self._journal.write("fail", do, **told, http=answer.status, detail=detail)
        return answer

"""An application that makes packs, has their documents rendered and downloads them, and tells the journal what it heard."""

import hashlib
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.reliability.http_exchange import Answer, Unheard, Unreachable, exchange
from tests.reliability.journal import Journal

NOT_ASKED = 0  # instead of a status: nothing listened
JSON = "application/json"


class PacksClient:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def create_pack(self, port: int, nonce: str) -> str | None:
        """The pack of a nonce, which is its Idempotency-Key. None if it was not heard, and may be there or not."""
        self._journal.write("invoke", "create", nonce=nonce)
        body = {"title": nonce, "data": {"name": nonce}}
        answer = await self._post(port, "/packs", "create", {"nonce": nonce}, body, key=nonce)
        if answer is None or answer.status != 201:
            return None
        pack = str(answer.json()["pack_id"])
        self._journal.write("ok", "create", nonce=nonce, pack=pack)
        return pack

    async def render(self, port: int, pack: str, doc_id: str | None, key: str) -> bool:
        """Request one document, or all. Whether the answer was heard."""
        path = f"/packs/{pack}/render" + (f"/{doc_id}" if doc_id else "")
        answer = await self._post(port, path, "render", {"pack": pack}, {}, key=key)
        if answer is None or answer.status != 200:
            return False
        told = answer.json()
        jobs = told["jobs"] if doc_id is None else [{"doc_id": doc_id, "job_id": told["job_id"], "version": told["version"]}]
        named = [{name: job.get(name) for name in ("doc_id", "job_id", "version")} for job in jobs]
        self._journal.write("ok", "render", pack=pack, jobs=named)
        return True

    async def look_at(self, port: int, pack: str) -> None:
        """Every version of every document as it is told, and the bytes of each that is ready."""
        listed = await self._get(port, f"/packs/{pack}/documents")
        if listed is None:
            return
        for document in listed["documents"]:
            found = await self._get(port, f"/packs/{pack}/documents/{document['doc_id']}")
            for version in [] if found is None else found["versions"]:
                if version["status"] == "ready":
                    await self._download(port, pack, document["doc_id"], version)

    async def _download(self, port: int, pack: str, doc_id: str, version: dict[str, Any]) -> None:
        link = await self._get(port, f"/files/{version['file_id']}/download")
        if link is None:
            return
        parts = urlsplit(link["url"])
        try:
            answer = await exchange(port, "GET", f"{parts.path}?{parts.query}" if parts.query else parts.path)
        except Unheard:
            return
        digest = hashlib.sha256(answer.body).hexdigest()
        whole = answer.body.startswith(b"%PDF") and digest == version["sha256"]
        seen = {"pack": pack, "doc_id": doc_id, "version": version["version"], "file_id": version["file_id"]}
        self._journal.write("ok", "download", **seen, http=answer.status, whole=whole)

    async def _get(self, port: int, path: str) -> Any:
        try:
            answer = await exchange(port, "GET", path)
        except Unheard:
            return None
        self._journal.write("info", "answered", port=port)
        if answer.status != 200:
            self._journal.write("fail", "read", path=path, http=answer.status)
            return None
        return answer.json()

    async def _post(self, port: int, path: str, do: str, told: dict[str, Any], body: Any, *, key: str) -> Answer | None:
        headers = {"Content-Type": JSON, "Idempotency-Key": key}
        try:
            answer = await exchange(port, "POST", path, msgspec.json.encode(body), headers)
        except Unreachable:
            self._journal.write("fail", do, **told, http=NOT_ASKED)
            return None
        except Unheard as reason:
            self._journal.write("info", "unheard", **told, reason=str(reason))
            return None
        self._journal.write("info", "answered", port=port)
        if answer.status >= 400:
            self._journal.write("fail", do, **told, http=answer.status, detail=answer.body.decode(errors="replace")[:300])
        return answer

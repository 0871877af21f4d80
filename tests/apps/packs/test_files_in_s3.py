"""Files of packs in a bucket, on a real S3 server: where they lie, and by which links they are downloaded (R5, R39)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx
import pytest

from pressroom.artifacts.s3 import S3, Bucket
from pressroom.clock import SystemClock
from tests import looking
from tests.apps.packs.conftest import on_stage
from tests.apps.packs.fake_render_service import PDF, fake_render_service
from tests.apps.packs.test_deliveries import configured_pack, request
from tests.servers import S3Server

PUBLIC = "files.example.test:8333"  # as browsers reach the bucket


@dataclass
class MovableClock(SystemClock):
    """The machine's clock, and a test may move it."""

    _offset: int = 0


@dataclass
class Bucketful:
    """A pack with two ready files in a bucket, and the links to them."""

    server: S3Server
    links: dict[str, str]
    expired_link: str
    told: dict[str, Any]
    jobs: dict[str, str]
    bucket: Bucket

    async def fetch(self, link: str) -> httpx.Response:
        """As a browser does for which the public name leads to the server."""
        parts = urlsplit(link)
        inside = urlunsplit(parts._replace(scheme="http", netloc=urlsplit(self.server.endpoint).netloc))
        async with httpx.AsyncClient(trust_env=False, timeout=60) as browser:
            return await browser.get(inside, headers={"Host": parts.netloc})


@asynccontextmanager
async def _bucketful(file: str, server: S3Server, home: str) -> AsyncIterator[Bucketful]:
    prefix = f"packs/{uuid4().hex}"
    bucket = Bucket(*server, prefix=prefix)
    settings = {
        "s3_endpoint": server.endpoint,
        "s3_presign_endpoint": f"http://{PUBLIC}",
        "s3_bucket": server.bucket,
        "s3_access_key": server.access_key,
        "s3_secret_key": server.secret_key,
        "s3_prefix": prefix,
    }
    clock = MovableClock()
    async with (
        fake_render_service() as printing,
        on_stage(file, render_url=printing.url, home=home, clock=clock, **settings) as stage,
    ):
        pack = await configured_pack(stage)
        for doc_id in ("note", "receipt"):
            await request(stage, pack, doc_id)
        documents = await stage.settled(pack)
        told = {doc_id: await _link(stage, document) for doc_id, document in documents.items()}
        clock._offset = -601_000
        expired = (await _link(stage, documents["note"]))["url"]
        yield Bucketful(
            server,
            {doc_id: link["url"] for doc_id, link in told.items()},
            expired,
            told["note"],
            {doc_id: one["job_id"] for doc_id, one in documents.items()},
            bucket,
        )


async def _link(stage: Any, document: dict[str, Any]) -> dict[str, Any]:
    response = await stage.http.get(f"/files/{document['file_id']}/download")
    assert response.status_code == 200, response.text
    return dict(response.json())


async def test_files_lie_in_the_bucket_and_are_downloaded_by_links_of_ten_minutes(
    file: str, s3_server: S3Server, tmp_path: Any
) -> None:
    """R5, R39: put by one address, downloaded by the other, and by whoever has the link."""
    async with _bucketful(file, s3_server, str(tmp_path)) as bucketful:
        parts = urlsplit(bucketful.links["note"])
        pdf = await bucketful.fetch(bucketful.links["note"])
        late = await bucketful.fetch(bucketful.expired_link)

    assert parts.netloc == PUBLIC
    assert "X-Amz-Expires=600" in parts.query
    assert bucketful.told["expires_in_sec"] == 600
    assert (pdf.status_code, pdf.content, pdf.headers["content-type"]) == (200, PDF, "application/pdf")
    assert 'filename="note.pdf"' in pdf.headers["content-disposition"]
    assert late.status_code == 403, "its ten minutes were over a second ago"
    assert not list(tmp_path.glob("**/blobs/*")), "nothing lies in a folder"


async def test_a_file_lies_under_its_job_and_document_in_the_bucket(file: str, s3_server: S3Server, tmp_path: Any) -> None:
    """R23, R24: for programs that read the bucket by the keys of design 002, which `artifact_files` tells."""
    async with _bucketful(file, s3_server, str(tmp_path)) as bucketful:
        keys = sorted(f"renders/{job}/{doc_id}.pdf" for doc_id, job in bucketful.jobs.items())
        told = [key for (key,) in looking.rows(file, "SELECT key FROM artifact_files ORDER BY key")]
        sizes = [await S3(bucketful.bucket, SystemClock()).alias_size(key) for key in keys]

    assert told == keys
    assert sizes == [len(PDF), len(PDF)]


@pytest.mark.parametrize("change", ["another file", "signature", "lifetime", "no signature"])
async def test_a_link_that_was_changed_opens_nothing(file: str, s3_server: S3Server, tmp_path: Any, change: str) -> None:
    """R5: the bucket refuses it."""
    async with _bucketful(file, s3_server, str(tmp_path)) as bucketful:
        link = bucketful.links["note"]
        parts = urlsplit(link)
        changed = {
            "another file": urlunsplit(parts._replace(path=f"{parts.path[:-1]}{'0' if parts.path[-1] != '0' else '1'}")),
            "signature": f"{link[:-1]}{'0' if link[-1] != '0' else '1'}",
            "lifetime": link.replace("X-Amz-Expires=600", "X-Amz-Expires=6000"),
            "no signature": urlunsplit(parts._replace(query="")),
        }[change]
        refused = await bucketful.fetch(changed)

    assert changed != link
    assert refused.status_code == 403
    assert b"%PDF" not in refused.content

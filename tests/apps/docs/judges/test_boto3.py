"""boto3 beside our own S3: it signs as we sign, uploads to our addresses, and reads the sites that are copied to a bucket."""

import asyncio
import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from pressroom.apps.docs.credentials.model import CredentialDraft, ServiceDraft
from pressroom.apps.docs.model import MAIN
from pressroom.apps.docs.settings import DocsSettings
from pressroom.artifacts.credentials import Credentials
from pressroom.artifacts.presign import presign_put
from pressroom.model import Status
from tests.apps.docs.flow_stage import SITE, archive_of, docs_flow
from tests.apps.docs.judges.judge_programs import judges_python, run_judge
from tests.apps.docs.pubs_stage import pubs_stage
from tests.servers import S3Server

type Reached = Callable[..., Any]

CLIENT = Path(__file__).with_name("boto3_client.py")


def boto3(server: S3Server, do: str, **asked: Any) -> Any:
    instructions = server._asdict() | asked | {"do": do}
    return json.loads(run_judge(CLIENT, stdin=json.dumps(instructions)))


@pytest.mark.deep
@pytest.mark.parametrize("key", ["__staging/01K.tar.gz", "a b/ü+%/é~.tar.gz"])
def test_boto3_signs_the_same_address_for_an_upload(reached: Reached, key: str) -> None:
    reached(judges_python)
    server = S3Server("http://127.0.0.1:1", "artifacts", "AKIA-test", "secret/+=")
    now = datetime(2026, 2, 13, 12, 30, 15, tzinfo=UTC)
    keys = Credentials(server.access_key, server.secret_key)

    theirs = boto3(server, "sign", key=key, moment=now.isoformat(), seconds=3600, media_type="application/gzip")
    path = theirs.partition("?")[0]
    ours = presign_put(path, keys, "us-east-1", now=now, seconds=3600, content_type="application/gzip")

    assert parse_qs(urlsplit(ours).query) == parse_qs(urlsplit(theirs).query)
    assert ours.partition("?")[0] == path


@pytest.mark.deep
async def test_boto3_uploads_to_a_presigned_address(file: str, s3_server: S3Server, reached: Reached) -> None:
    reached(judges_python)
    prefix = f"docs/{uuid4().hex}"
    settings = {"s3_endpoint": s3_server.endpoint, "s3_bucket": s3_server.bucket, "s3_prefix": prefix}
    settings |= {"s3_access_key": s3_server.access_key, "s3_secret_key": s3_server.secret_key}
    archive = archive_of(SITE)
    async with docs_flow(file, **settings) as flow:
        announced = await flow.announce(archive)
        place = {"key": f"{prefix}/__staging/{announced.build.uid}.tar.gz", "url": announced.upload_url}
        told = await asyncio.to_thread(boto3, s3_server, "put", data=base64.b64encode(archive).decode(), **place)
        build, job = await flow.ended(await flow.start(announced.build))
        read = await flow.read(build, "index.html")

    assert told == [403, 200, len(archive), "application/gzip"]  # the type is signed
    assert job.status is Status.COMPLETED, job.errors
    assert read == SITE["index.html"]


@pytest.mark.deep
async def test_boto3_reads_a_copied_site(file: str, s3_server: S3Server, reached: Reached) -> None:
    reached(judges_python)
    prefix = f"sites-{uuid4().hex}"
    files = {
        **SITE,
        "a b/100% ü.html": b"<p>names</p>",
        "objects.inv": b"# Sphinx inventory version 2\n",
        "CNAME": b"example.org",
    }
    async with pubs_stage(file, settings=DocsSettings(publish_allow=(s3_server.endpoint.removeprefix("http://"),))) as stage:
        org = await stage.new_org()
        keys = {"access_key_id": s3_server.access_key, "secret_access_key": s3_server.secret_key}
        await stage.app.credentials.create("acme", CredentialDraft(label="k", provider="s3", credentials=keys), actor="anna")
        config = {"endpoint": s3_server.endpoint, "bucket": s3_server.bucket, "prefix": prefix}
        draft = ServiceDraft(label="sites", provider="minio", config=config, credential_label="k")
        await stage.app.services.create("acme", draft, actor="anna")
        org = await stage.save_org(org, slots={"publishing_store": "sites"})
        project = await stage.new_project()
        (publisher,) = await stage.app.publishers.of(org)
        await publisher.publish(await stage.move(project, MAIN, await stage.build(project, files)))
        found = await asyncio.to_thread(boto3, s3_server, "read", prefix=f"{prefix}/guide/")

    data = {path: base64.b64decode(content) for path, (content, _, _) in found.items()}
    assert data | files == data
    assert found["index.html"][1:] == ["text/html; charset=utf-8", "max-age=60"]
    assert found["_static/site.css"][1] == "text/css; charset=utf-8"
    assert found["objects.inv"][1] == found["CNAME"][1] == "application/octet-stream"

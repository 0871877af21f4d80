"""Intentions as requests. Nothing is sent here."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from pressroom.client.docs.responses import RemoteBuild, RemoteQueueJob
from pressroom.client.exchange import HttpCall
from pressroom.errors import InvalidArgument

UPLOAD_TIMEOUT = 120.0  # seconds in which nothing of an archive moves
_CHUNK = 1024 * 1024

type Archive = bytes | Path


def project_path(org: str, project: str, *parts: str) -> str:
    return "/".join(("/orgs", _part(org), "projects", _part(project), *map(_part, parts)))


def get(path: str, params: Mapping[str, str] | None = None) -> HttpCall:
    return HttpCall("GET", path, params=tuple((params or {}).items()))


def send(method: str, path: str, body: Mapping[str, Any], *, repeatable: bool = True, key: str | None = None) -> HttpCall:
    """`key` makes a request that is sent twice happen once."""
    try:
        encoded = msgspec.json.encode(body)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidArgument(f"this cannot be sent as JSON: {reason}") from None
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": f'"{key}"'})
    return HttpCall(method, path, headers=headers, body=encoded, repeatable=repeatable)


def put_archive(url: str, archive: Archive) -> HttpCall:
    """To the address that the service named, which may be that of an object store: no token goes there."""
    headers = {"Content-Type": "application/gzip"}
    return HttpCall("PUT", url, headers=headers, body=archive, timeout=UPLOAD_TIMEOUT, with_token=False)


def get_queue_job(id: str) -> HttpCall:
    return HttpCall("GET", f"/queue/jobs/{_part(id)}")


def hash_archive(archive: Archive) -> str:
    """Reads the file, if it is one."""
    digest = hashlib.sha256()
    if isinstance(archive, bytes):
        digest.update(archive)
    else:
        with archive.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def job_id_of(job: str | RemoteQueueJob | RemoteBuild) -> str:
    """Raises InvalidArgument for a build that waits for its upload: no job processes it yet."""
    if not isinstance(job, RemoteBuild):
        return str(job)
    if job.queue_url is None:
        raise InvalidArgument(f"no job processes the build {job.id} yet")
    return id_of_job(job.queue_url)


def id_of_job(queue_url: str) -> str:
    return urlsplit(queue_url).path.rpartition("/")[2]


def _part(name: str) -> str:
    return quote(name, safe="")

"""What was rendered, and the names it is found by. Units of work over artifacts, their files, short links and holds.

A handler puts bytes and returns a `ArtifactDraft` of the artifact in its result; its kind's settling hook records it, in the
transaction that ends the job. An artifact never changes. It lives as long as its job, as a hold, and until it expires,
whichever is longest.
"""

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec

from pressroom.errors import Expired, InvalidArgument, NotFound
from pressroom.ids import new_uid
from pressroom.model import Row, Statement, Work, from_ms
from pressroom.store.artifacts import blobs
from pressroom.store.artifacts.blobs import BlobName
from pressroom.store.jobs.rows import compact
from pressroom.store.jobs.transitions import now

CONDEMNED = 1  # the expiry of an artifact that is being deleted: it may lack files already
OUTPUT = "output"  # the artifact that a job is there to make, and that a cache hit answers with

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
_LINK_LENGTH = 13  # 65 bits: not to be guessed, and without collisions
_READ_AS = str.maketrans("ilo", "110")


class ArtifactFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of an artifact that has many."""

    path: str
    sha256: str
    generation: int
    size: int
    media_type: str

    @property
    def blob(self) -> BlobName:
        return BlobName(self.sha256, self.generation)


class ArtifactDraft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An artifact whose bytes were put and which no row knows yet. Its uid and link are final: a result may name them."""

    uid: str = msgspec.field(default_factory=new_uid)
    link: str | None = None
    name: str = OUTPUT
    sha256: str | None = None
    generation: int = 0
    size: int
    media_type: str
    filename: str | None = None
    files: list[ArtifactFile] = []


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """`sha256` and `generation` are None if it has many files. `org_id` is None for the default organisation. With None for
    `expires_at` it is kept as long as its job and its holds.
    """

    uid: str
    name: str
    sha256: str | None
    generation: int | None
    files: int
    size: int
    media_type: str
    filename: str | None
    org_id: str | None
    job_uid: str | None
    date_created: datetime
    expires_at: datetime | None

    @property
    def blob(self) -> BlobName:
        """Where its bytes are. Raises NotFound if it has many files: ask for one of those."""
        if self.sha256 is None or self.generation is None:
            raise NotFound(f"artifact {self.uid} has {self.files} files; ask for one of them by its path")
        return BlobName(self.sha256, self.generation)


class Expiry(msgspec.Struct, frozen=True):
    """When an artifact, and its short link, expires. None: with its job and its holds."""

    at: datetime | None
    is_over: bool


def new_link() -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(_LINK_LENGTH))


def link_digest(link: str) -> str:
    """A hash that looks like a link. A link has 65 random bits, so that a longer one would protect it no better."""
    number = int.from_bytes(hashlib.sha256(b"pressroom link " + link.encode(errors="replace")).digest())
    return "".join(_LETTERS[number >> 5 * place & 31] for place in range(_LINK_LENGTH))


def parse_link(text: str) -> str:
    """A link as typed by a person: case does not matter, nor do i, l and o for 1, 1 and 0. Raises NotFound."""
    link = text.lower().translate(_READ_AS)
    if len(link) != _LINK_LENGTH or not set(link) <= set(_LETTERS):
        raise NotFound("there is no such link")
    return link


def record(
    draft: ArtifactDraft,
    *,
    job: str | None = None,
    org_id: str | None = None,
    keep_for: int | None = None,
    holder: str | None = None,
) -> Work[Artifact]:
    """Insert an artifact with its link, files and hold. Raises BlobGone if its bytes were collected since they were put.

    It expires with the cache entry of its job, if there is one, and `keep_for` milliseconds from now if not. None: with its
    job and its holds.
    """
    if job is None and keep_for is None and holder is None:
        raise InvalidArgument("an artifact needs a job, a time to live or a holder; else it would be collected at once")
    moment = yield from now()
    yield from _require_live_blobs(draft)
    expires_at = yield from _cache_expiry_or(draft, job, None if keep_for is None else moment + keep_for)
    yield Statement(
        "insert_artifact",
        {
            "uid": draft.uid,
            "name": draft.name,
            "sha256": draft.sha256,
            "files": len(draft.files),
            "size": draft.size,
            "media_type": draft.media_type,
            "filename": draft.filename,
            "org_id": org_id or "",
            "job_uid": job,
            "now": moment,
            "expires_at": expires_at,
        },
    )
    if draft.files:
        files = [(part.path, part.sha256, part.size, part.media_type) for part in draft.files]
        yield Statement("insert_artifact_files", {"uid": draft.uid, "files": compact(files)})
    if draft.link is not None:
        link = {"link": draft.link, "artifact": draft.uid, "org_id": org_id or "", "now": moment}
        yield Statement("insert_short_link", link)
    if holder is not None:
        yield from hold(holder, draft.uid)
    return (yield from _find_one("find_artifact", {"uid": draft.uid, "now": moment}, draft.uid, include_expired=True))


def _require_live_blobs(draft: ArtifactDraft) -> Work[None]:
    if draft.files:
        for part in draft.files:
            check_file_path(part.path)
        yield from blobs.require_all_live((part.blob, part.size) for part in draft.files)
    elif draft.sha256 is not None:
        yield from blobs.require_live(BlobName(draft.sha256, draft.generation), draft.size)
    else:
        raise InvalidArgument("an artifact has a blob or files")


def check_file_path(path: str) -> None:
    if "\0" in path or "\\" in path or not all(part not in ("", ".", "..") for part in path.split("/")):
        raise InvalidArgument(f"{path[:80]!r} is not the path of a file in an artifact; use one like img/logo.svg")


def _cache_expiry_or(draft: ArtifactDraft, job: str | None, default: int | None) -> Work[int | None]:
    if job is None:
        return default
    is_output = draft.name == OUTPUT
    cached = yield Statement(
        "point_cache",
        {"artifact": draft.uid if is_output else None, "link": draft.link if is_output else None, "job_uid": job},
    )
    return cached[0][0] if cached else default


def result_with_artifacts(*drafts: ArtifactDraft, **more: Any) -> dict[str, Any]:
    """What a handler returns so that its kind's settling hook finds its drafts. The first is named on top, for readers of the
    result.
    """
    first = drafts[0]
    return {"artifact": first.uid, "short_link": first.link, "artifacts": msgspec.to_builtins(drafts)} | more


def get(uid: str) -> Work[Artifact]:
    """An artifact of any organisation, by its uid. Raises NotFound, and Expired. A hold outlives the expiry."""
    moment = yield from now()
    return (yield from _find_one("find_artifact", {"uid": uid, "now": moment}, uid))


def expiry_of(uid: str) -> Work[Expiry | None]:
    """None for an artifact that is not there."""
    moment = yield from now()
    rows = yield Statement("find_artifact", {"uid": uid, "now": moment})
    if not rows:
        return None
    expires_at = rows[0][11]
    return Expiry(None if expires_at is None else from_ms(expires_at), expires_at is not None and expires_at <= moment)


def by_link(link: str) -> Work[Artifact]:
    """An artifact by its short link, which is all that its holder needs to know. Raises NotFound and Expired."""
    moment = yield from now()
    return (yield from _find_one("find_artifact_by_link", {"link": parse_link(link), "now": moment}, "link"))


def of_job(job: str) -> Work[list[Artifact]]:
    """What a job made and what is not expired."""
    moment = yield from now()
    rows = yield Statement("list_artifacts_of_job", {"job_uid": job, "now": moment})
    return [_artifact(row) for row in rows if not row[-1]]


def _find_one(statement: str, params: dict[str, str | int], name: str, *, include_expired: bool = False) -> Work[Artifact]:
    rows = yield Statement(statement, params)
    if not rows:
        raise NotFound(f"there is no such {name}" if name == "link" else f"there is no artifact {name[:80]!r}")
    if rows[0][-1] and not include_expired:
        raise Expired(f"this {name} has expired" if name == "link" else f"artifact {name} has expired")
    return _artifact(rows[0])


def _artifact(row: Row) -> Artifact:
    uid, name, sha256, generation, files, size, media_type, filename, org_id, job_uid, created, expires_at, _ = row
    return Artifact(
        uid=uid,
        name=name,
        sha256=sha256,
        generation=generation,
        files=files,
        size=size,
        media_type=media_type,
        filename=filename,
        org_id=org_id or None,
        job_uid=job_uid,
        date_created=from_ms(created),
        expires_at=None if expires_at is None else from_ms(expires_at),
    )


def files_of(uid: str, *, after: str = "", limit: int = 1_000) -> Work[list[ArtifactFile]]:
    """The files of an artifact, by path; the next page begins after the last one's path."""
    rows = yield Statement("list_artifact_files", {"uid": uid, "after": after, "limit": limit})
    return [_part(row) for row in rows]


def file_of(uid: str, path: str) -> Work[ArtifactFile]:
    rows = yield Statement("find_artifact_file", {"uid": uid, "path": path})
    if not rows:
        raise NotFound(f"artifact {uid} has no file {path[:200]!r}")
    return _part(rows[0])


def _part(row: Row) -> ArtifactFile:
    path, sha256, generation, size, media_type = row
    return ArtifactFile(path=path, sha256=sha256, generation=generation, size=size, media_type=media_type)


def hold(holder: str, uid: str) -> Work[None]:
    """Keep an artifact for as long as `holder` ("edition:42") stands. Holding it twice is holding it once."""
    moment = yield from now()
    rows = yield Statement("find_artifact", {"uid": uid, "now": moment})
    if not rows or rows[0][11] == CONDEMNED:
        raise NotFound(f"there is no artifact {uid[:80]!r}")
    yield Statement("hold_artifact", {"holder": holder, "artifact": uid, "now": moment})


def release(holder: str, uid: str | None = None) -> Work[int]:
    """Let go of one artifact, or of all that `holder` held. Returns how many those were."""
    if uid is None:
        return len((yield Statement("release_holder", {"holder": holder})))
    return len((yield Statement("release_artifact", {"holder": holder, "artifact": uid})))


def delete_files_of_unreferenced(limit: int) -> Work[int]:
    """Delete some files of artifacts that nothing needs any more, before `delete_unreferenced` deletes these: one of them may
    have 50,000. Returns how many files."""
    moment = yield from now()
    found = yield Statement("list_files_of_dead", {"now": moment, "limit": limit})
    if found:
        yield Statement("condemn_artifacts", {"uids": compact(sorted({uid for uid, _, _ in found}))})
        yield Statement("delete_artifact_files", {"files": compact([(uid, path) for uid, path, _ in found])})
        yield from blobs.mark_unreferenced(sorted({sha256 for _, _, sha256 in found}))
    return len(found)


def delete_unreferenced(limit: int) -> Work[int]:
    """Delete artifacts that nothing needs any more and mark the blobs that this leaves without any. Returns how many."""
    moment = yield from now()
    dead = [uid for (uid,) in (yield Statement("list_dead_artifacts", {"now": moment, "limit": limit}))]
    if dead:
        yield from delete_artifacts(dead)
    return len(dead)


def delete_artifacts(uids: Sequence[str]) -> Work[None]:
    """Delete artifacts with their links and files. The database refuses while one of them is held."""
    left = yield Statement("list_blobs_of", {"uids": compact(uids)})
    yield Statement("delete_artifacts", {"uids": compact(uids)})
    yield from blobs.mark_unreferenced(list(chain.from_iterable(left)))

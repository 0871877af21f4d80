"""What a job made, and how a browser may look at it: pictures as pictures, pages in a frame in which nothing runs."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import msgspec
from starlette.responses import Response

from pressroom.api.artifacts import send
from pressroom.api.service import Service
from pressroom.errors import NotFound, PressroomError
from pressroom.model import Job
from pressroom.renderers import Notice
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import OUTPUT, Artifact, ArtifactFile
from pressroom.web.desk import Visit, refuse

THUMB = 512 * 1024  # bytes; a list of fifty pictures should not be a download
READ = 64 * 1024  # bytes of text that a page shows
MOST = 1_000_000  # pixels of a side; what says that it has more is no picture
HEAD = 4096  # bytes in which a picture says how large it is

# Its own organisation's, so no cache between may keep it; and a browser that changed hands asks again.
_CACHE = "private, max-age=3600"
_FRAMED = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"
# A sandbox would keep the browser's own viewer out. What is in a PDF runs in that viewer, never in our origin.
_FRAMED_PDF = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'"
_BOX = re.compile(r'<svg\b[^>]*?\bviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)[ ,]+([\d.]+)"')
_PNG = b"\x89PNG\r\n\x1a\n"


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact as a page shows it. `shows` says how: image, html, pdf, text, or not at all."""

    artifact: Artifact
    shows: str
    size: tuple[int, int] | None = None  # pixels
    text: str | None = None


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a result says about itself. An application's may say anything: what is not as a render's is left out."""

    artifact: str | None
    short_link: str | None
    warnings: list[Notice]
    engines: dict[str, str]
    details: dict[str, Any]

    @property
    def plain_details(self) -> dict[str, str]:
        """Without its size, which is told with the type."""
        plain = [(name, value) for name, value in self.details.items() if isinstance(value, str | int | float)]
        told = [(name, f"{value:g}" if isinstance(value, float) else str(value)) for name, value in plain]
        return {name: words for name, words in told if name not in ("width", "height")}

    @property
    def pixels(self) -> tuple[int, int] | None:
        size = [self.details.get(name) for name in ("width", "height")]
        wide, high = [round(side) if isinstance(side, int | float) and 0 < side < MOST else 0 for side in size]
        return (wide, high) if wide and high else None


def told_by(job: Job) -> Told:
    result = job.result if isinstance(job.result, dict) else {}
    return Told(
        artifact=_as(str, result.get("artifact"), None),
        short_link=_as(str, result.get("short_link"), None),
        warnings=_as(list[Notice], result.get("warnings"), []),
        engines=_as(dict[str, str], result.get("engines"), {}),
        details=_as(dict[str, Any], result.get("details"), {}),
    )


def _as[T](wanted: Any, value: Any, otherwise: T) -> T:
    try:
        return cast("T", msgspec.convert(value, wanted))
    except msgspec.ValidationError:
        return otherwise


def shows(media_type: str) -> str:
    plain = media_type.partition(";")[0].strip().lower()
    match plain:
        case "image/svg+xml" | "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif":
            return "image"
        case "text/html":
            return "html"
        case "application/pdf":
            return "pdf"
        case "text/plain" | "application/json" | "text/markdown" | "text/csv":
            return "text"
        case _:
            return ""


def outputs_of(job: Job, made: Sequence[Artifact]) -> list[Artifact]:
    """What it made, the output first. A long source is kept as an artifact as well, and is not one of them."""
    source = job.payload.get("source_artifact") if isinstance(job.payload, dict) else None
    return sorted((one for one in made if one.uid != source), key=lambda one: (one.name != OUTPUT, one.name))


async def looked_at(service: Service, artifact: Artifact, job: Job) -> Output:
    """With what its first bytes tell. A store that does not answer costs the page no more than that."""
    how = shows(artifact.media_type)
    if artifact.files:
        return Output(artifact=artifact, shows="")
    try:
        if how == "image":
            size = _pixels(await _bytes(service, artifact, HEAD))
            told = told_by(job).pixels if artifact.name == OUTPUT and artifact.media_type == "image/svg+xml" else None
            return Output(artifact=artifact, shows=how, size=told or size)
        if how == "text":
            data = await _bytes(service, artifact, READ)
            return Output(artifact=artifact, shows=how, text=data.decode(errors="replace"))
    except PressroomError:
        return Output(artifact=artifact, shows="")
    return Output(artifact=artifact, shows=how)


async def _bytes(service: Service, artifact: Artifact, most: int) -> bytes:
    chunks = await service.rendering.read(artifact, 0, min(most, artifact.size))
    return b"".join([chunk async for chunk in chunks])


def _pixels(head: bytes) -> tuple[int, int] | None:
    if head.startswith(_PNG) and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    found = _BOX.search(head.decode(errors="replace"))
    return (round(float(found[1])), round(float(found[2]))) if found else None


async def sent(visit: Visit, job: Job) -> Response:
    """The bytes, as the service sends artifacts. `?thumb=1` is for lists: a small picture or nothing."""
    artifact = await _asked_for(visit, job)
    if _is_thumb(visit) and (shows(artifact.media_type) != "image" or artifact.size > THUMB):
        raise NotFound("there is no small picture of this")
    response = await send(visit.desk.service, visit.request, artifact, cache=_CACHE)
    response.headers["Vary"] = "Cookie"
    return response


async def framed(visit: Visit, job: Job) -> Response:
    """A page or a PDF for a frame of ours. It may show itself, and nothing else."""
    artifact = await _asked_for(visit, job)
    how = shows(artifact.media_type)
    if how not in ("html", "pdf"):
        raise NotFound("only pages and PDFs are shown in a frame")
    response = await send(visit.desk.service, visit.request, artifact, cache=_CACHE)
    response.headers["Content-Security-Policy"] = _FRAMED if how == "html" else _FRAMED_PDF
    response.headers["Content-Disposition"] = "inline"
    response.headers["Vary"] = "Cookie"
    return response


async def _asked_for(visit: Visit, job: Job) -> Artifact:
    """One of the artifacts of this job, by `?name=`, and one of its files, by `?file=`."""
    asked = visit.request.query_params
    database = visit.desk.service.rendering.database
    found = outputs_of(job, await database.read(partial(artifacts.of_job, job.uid)))
    name = asked.get("name")
    artifact = next((one for one in found if name in (None, one.name)), None)
    if artifact is None:
        raise NotFound("this job has no such output; it made none, or it has expired")
    path = asked.get("file")
    if path is None:
        artifact.blob  # noqa: B018 - raises NotFound for one that has many files
        return artifact
    if "\0" in path or not artifact.files:
        raise NotFound("this output has no such file")
    return _as_artifact(artifact, await database.read(partial(artifacts.file_of, artifact.uid, path)))


def _as_artifact(whole: Artifact, part: ArtifactFile) -> Artifact:
    return msgspec.structs.replace(
        whole,
        sha256=part.sha256,
        generation=part.generation,
        files=0,
        size=part.size,
        media_type=part.media_type,
        filename=part.path.rpartition("/")[2],
    )


def _is_thumb(visit: Visit) -> bool:
    asked = visit.request.query_params.get("thumb", "0")
    if asked not in ("0", "1"):
        raise refuse("thumb is 1, or left out")
    return asked == "1"

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
from pressroom.web.site import PageRequest, page_error

MAX_THUMBNAIL_BYTES = 512 * 1024  # bytes; a list of fifty pictures should not be a download
MAX_TEXT_BYTES = 64 * 1024  # bytes of text that a page shows
MAX_SIDE = 1_000_000  # pixels of a side; what says that it has more is no picture
IMAGE_HEADER_BYTES = 4096  # bytes in which a picture says how large it is

# Its own organisation's, so no cache between may keep it; and a browser that changed hands asks again.
_CACHE_CONTROL = "private, max-age=3600"
_HTML_FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"
)
# A sandbox would keep the browser's own viewer out. What is in a PDF runs in that viewer, never in our origin.
_PDF_FRAME_POLICY = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'"
_VIEW_BOX = re.compile(r'<svg\b[^>]*?\bviewBox="[-\d.]+[ ,]+[-\d.]+[ ,]+([\d.]+)[ ,]+([\d.]+)"')
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class OutputPreview(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact as a page shows it. `shows` says how: image, html, pdf, text, or not at all."""

    artifact: Artifact
    shows: str
    size: tuple[int, int] | None = None  # pixels
    text: str | None = None


class JobOutput(msgspec.Struct, frozen=True, kw_only=True):
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
        wide, high = [round(side) if isinstance(side, int | float) and 0 < side < MAX_SIDE else 0 for side in size]
        return (wide, high) if wide and high else None


def parse_render_result(job: Job) -> JobOutput:
    result = job.result if isinstance(job.result, dict) else {}
    return JobOutput(
        artifact=_convert_or_default(str, result.get("artifact"), None),
        short_link=_convert_or_default(str, result.get("short_link"), None),
        warnings=_convert_or_default(list[Notice], result.get("warnings"), []),
        engines=_convert_or_default(dict[str, str], result.get("engines"), {}),
        details=_convert_or_default(dict[str, Any], result.get("details"), {}),
    )


def _convert_or_default[T](target_type: Any, value: Any, default: T) -> T:
    try:
        return cast("T", msgspec.convert(value, target_type))
    except msgspec.ValidationError:
        return default


def preview_type(media_type: str) -> str:
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


def output_first(job: Job, artifacts: Sequence[Artifact]) -> list[Artifact]:
    """What it made, the output first. A long source is kept as an artifact as well, and is not one of them."""
    source = job.payload.get("source_artifact") if isinstance(job.payload, dict) else None
    return sorted((one for one in artifacts if one.uid != source), key=lambda one: (one.name != OUTPUT, one.name))


async def load_preview(service: Service, artifact: Artifact, job: Job) -> OutputPreview:
    """With what its first bytes tell. A store that does not answer costs the page no more than that."""
    preview = preview_type(artifact.media_type)
    if artifact.files:
        return OutputPreview(artifact=artifact, shows="")
    try:
        if preview == "image":
            size = _image_size(await _read_bytes(service, artifact, IMAGE_HEADER_BYTES))
            declared_size = (
                parse_render_result(job).pixels if artifact.name == OUTPUT and artifact.media_type == "image/svg+xml" else None
            )
            return OutputPreview(artifact=artifact, shows=preview, size=declared_size or size)
        if preview == "text":
            data = await _read_bytes(service, artifact, MAX_TEXT_BYTES)
            return OutputPreview(artifact=artifact, shows=preview, text=data.decode(errors="replace"))
    except PressroomError:
        return OutputPreview(artifact=artifact, shows="")
    return OutputPreview(artifact=artifact, shows=preview)


async def _read_bytes(service: Service, artifact: Artifact, limit: int) -> bytes:
    chunks = await service.rendering.read(artifact, 0, min(limit, artifact.size))
    return b"".join([chunk async for chunk in chunks])


def _image_size(head: bytes) -> tuple[int, int] | None:
    if head.startswith(_PNG_SIGNATURE) and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    found = _VIEW_BOX.search(head.decode(errors="replace"))
    return (round(float(found[1])), round(float(found[2]))) if found else None


async def send_output(request: PageRequest, job: Job) -> Response:
    """The bytes, as the service sends artifacts. `?thumb=1` is for lists: a small picture or nothing."""
    artifact = await _requested_artifact(request, job)
    if _is_thumb(request) and (preview_type(artifact.media_type) != "image" or artifact.size > MAX_THUMBNAIL_BYTES):
        raise NotFound("there is no small picture of this")
    response = await send(request.site.service, request.http, artifact, cache=_CACHE_CONTROL)
    response.headers["Vary"] = "Cookie"
    return response


async def send_framed(request: PageRequest, job: Job) -> Response:
    """A page or a PDF for a frame of ours. It may show itself, and nothing else."""
    artifact = await _requested_artifact(request, job)
    preview = preview_type(artifact.media_type)
    if preview not in ("html", "pdf"):
        raise NotFound("only pages and PDFs are shown in a frame")
    response = await send(request.site.service, request.http, artifact, cache=_CACHE_CONTROL)
    response.headers["Content-Security-Policy"] = _HTML_FRAME_POLICY if preview == "html" else _PDF_FRAME_POLICY
    response.headers["Content-Disposition"] = "inline"
    response.headers["Vary"] = "Cookie"
    return response


async def _requested_artifact(request: PageRequest, job: Job) -> Artifact:
    """One of the artifacts of this job, by `?name=`, and one of its files, by `?file=`."""
    query = request.http.query_params
    database = request.site.service.rendering.database
    found = output_first(job, await database.read(partial(artifacts.of_job, job.uid)))
    name = query.get("name")
    artifact = next((one for one in found if name in (None, one.name)), None)
    if artifact is None:
        raise NotFound("this job has no such output; it made none, or it has expired")
    path = query.get("file")
    if path is None:
        artifact.blob  # noqa: B018 - raises NotFound for one that has many files
        return artifact
    if "\0" in path or not artifact.files:
        raise NotFound("this output has no such file")
    return _file_as_artifact(artifact, await database.read(partial(artifacts.file_of, artifact.uid, path)))


def _file_as_artifact(bundle: Artifact, part: ArtifactFile) -> Artifact:
    return msgspec.structs.replace(
        bundle,
        sha256=part.sha256,
        generation=part.generation,
        files=0,
        size=part.size,
        media_type=part.media_type,
        filename=part.path.rpartition("/")[2],
    )


def _is_thumb(request: PageRequest) -> bool:
    query = request.http.query_params.get("thumb", "0")
    if query not in ("0", "1"):
        raise page_error("thumb is 1, or left out")
    return query == "1"

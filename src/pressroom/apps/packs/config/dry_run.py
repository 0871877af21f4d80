"""A dry run: documents are made from the samples of the registry with a version that need not be published. Nothing is kept."""

import asyncio
import base64
import time
from collections.abc import Mapping
from functools import partial

import msgspec

from pressroom.apps.packs.composition import DEFAULT_LANG, FINAL_ERRORS, Composition, Compositions
from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.checks import require_key
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import ConfigProblem, RegistryEntry, find_registry_problems, parse_registry
from pressroom.apps.packs.config.versions import PublishedVersion
from pressroom.apps.packs.errors import RegistryEmpty, TemplateUnusable, UnknownDocument
from pressroom.apps.packs.input_check import find_missing
from pressroom.apps.packs.renders import make_request
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.kinds.rendering import Rendering
from pressroom.model import Work
from pressroom.renderers import Notice, documents
from pressroom.renderers.documents import RenderRequest
from pressroom.renderers.pdf.engine import Pdf
from pressroom.store import Database

MOST_DOCUMENTS = 20
PICTURE_WIDTH = 480


class DryRunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """`picture` is page 1 as a data URL; null where the engine `pdf` cannot draw it. `problem` says why there is no file."""

    doc_id: str
    ok: bool
    size: int | None = None
    pages: int | None = None
    milliseconds: int | None = None
    warnings: list[Notice] = []
    missing: list[str] = []
    picture: str | None = None
    problem: ConfigProblem | None = None


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """`left_out` counts documents that use the version and were not made: there were too many for one answer."""

    key: str
    number: int
    documents: list[DryRunDocument]
    left_out: int


class _Candidate(msgspec.Struct, frozen=True):
    """The configuration as it would be if the version were published."""

    published: Mapping[str, PublishedVersion]
    registry: list[RegistryEntry]


class DryRuns:
    def __init__(self, database: Database, rendering: Rendering, compositions: Compositions) -> None:
        self._database = database
        self._rendering = rendering
        self._compositions = compositions

    async def run(self, org_id: str | None, key: str, number: int, *, doc_id: str = "", lang: str = "") -> DryRun:
        """Of every document that uses the version, or of the one that is named. Raises NotFound, UnknownDocument,
        RegistryEmpty, and InvalidArgument for a registry that cannot be read."""
        candidate = await self._database.read(partial(_read_candidate, org_id or "", require_key(key), number))
        lang = lang or (key.partition(":")[2] if key.startswith("strings:") else DEFAULT_LANG)
        entries = [entry for entry in candidate.registry if doc_id in ("", entry.doc_id)]
        if not entries:
            raise UnknownDocument(doc_id, [entry.doc_id for entry in candidate.registry]) if doc_id else RegistryEmpty
        made: list[DryRunDocument] = []
        left_out = 0
        for entry in entries:
            try:
                composition = await self._compositions.find(self._database, org_id or "", entry, candidate.published, lang)
            except TemplateUnusable as error:
                if doc_id or key in (REGISTRY, entry.template_key):
                    made.append(_failed(entry, error))
                continue
            if not doc_id and key not in composition.config:
                continue
            if len(made) == MOST_DOCUMENTS:
                left_out += 1
                continue
            made.append(await self._make(org_id or "", entry, composition, lang))
        return DryRun(key=key, number=number, documents=made, left_out=left_out)

    async def _make(self, org_id: str, entry: RegistryEntry, composition: Composition, lang: str) -> DryRunDocument:
        numbers = {key: number for key, number in composition.config.items() if number}
        bodies = await self._database.read(partial(versions.read_bodies, org_id, numbers))
        missing = await asyncio.to_thread(find_missing, composition.analysis.fields, entry.required, entry.sample)
        began = time.perf_counter()
        try:
            rendered = await self._rendering.preview(documents.prepare(make_request(entry, bodies, entry.sample, lang)))
        except PressroomError as error:
            return _failed(entry, error, missing)
        return DryRunDocument(
            doc_id=entry.doc_id,
            ok=True,
            size=len(rendered.data),
            pages=rendered.details.get("pages"),
            milliseconds=round((time.perf_counter() - began) * 1000),
            warnings=list(rendered.warnings[:100]),
            missing=missing,
            picture=await self._draw(rendered.data),
        )

    async def _draw(self, pdf: bytes) -> str | None:
        if Pdf.missing():
            return None
        request = RenderRequest("pdf", "png", pdf, {"page": 1, "width": PICTURE_WIDTH})
        try:
            drawn = await self._rendering.preview(documents.prepare(request))
        except FINAL_ERRORS:  # a page that is too large for a picture is no fault of the document
            return None
        return f"data:image/png;base64,{base64.b64encode(drawn.data).decode()}"


def _failed(entry: RegistryEntry, error: PressroomError, missing: list[str] | None = None) -> DryRunDocument:
    line, column = getattr(error, "line", None), getattr(error, "column", None)
    problem = ConfigProblem(code=error.code, message=str(error), line=line, column=column)
    return DryRunDocument(doc_id=entry.doc_id, ok=False, missing=missing or [], problem=problem)


def _read_candidate(org_id: str, key: str, number: int) -> Work[_Candidate]:
    version = yield from versions.get_version(org_id, key, number)
    published = yield from versions.list_published(org_id)
    published[key] = PublishedVersion(version.number, version.sha256)
    if REGISTRY not in published:
        raise RegistryEmpty
    body = yield from versions.read_body(org_id, REGISTRY, published[REGISTRY].number)
    if key == REGISTRY and (problems := list(find_registry_problems(body))):
        raise InvalidArgument(f"version {number} of the registry cannot be read: {problems[0].message}")
    return _Candidate(published, parse_registry(body))

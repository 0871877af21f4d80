"""What a document is made of: the published versions that its template reaches, and the fields that those read."""

from collections.abc import Mapping
from functools import partial

import msgspec
from cachetools import LRUCache

from pressroom.apps.packs.config import versions
from pressroom.apps.packs.config.registry import KEY as REGISTRY
from pressroom.apps.packs.config.registry import RegistryEntry
from pressroom.apps.packs.config.versions import PublishedVersion
from pressroom.apps.packs.errors import TemplateUnusable
from pressroom.apps.packs.input_check import FieldUse
from pressroom.errors import EngineMissing, Refused, SourceInvalid, TooLarge
from pressroom.kinds.rendering import Rendering
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.store import Database

CACHED = 5_000  # analyses: two or three of each document of several registries, of which each may have 500
MOST_TEMPLATES = 50
DEFAULT_LANG = "en"

# Of a text. Others say that it could not be looked at now, as there was no room, or the process was stopped.
FINAL_ERRORS = (Refused, SourceInvalid, TooLarge, EngineMissing)

type Published = Mapping[str, PublishedVersion]


class TemplateAnalysis(msgspec.Struct, frozen=True):
    """What the jinja engine says of a template: the fields and strings it reads, and the templates that it names."""

    fields: list[FieldUse] = []
    strings: list[str] = []
    templates: list[str] = []


class Composition(msgspec.Struct, frozen=True):
    """`config` has the number of each version; 0 for strings that there are none of, so that their coming is noticed."""

    config: dict[str, int]
    analysis: TemplateAnalysis


class Compositions:
    """Analyses are remembered by the texts that they are of, so that a pack is planned without an engine most of the time."""

    def __init__(self, rendering: Rendering) -> None:
        self._rendering = rendering
        self._analyses: LRUCache[tuple[str, ...], TemplateAnalysis] = LRUCache(CACHED)

    async def find(self, database: Database, org_id: str, entry: RegistryEntry, published: Published, lang: str) -> Composition:
        """Raises TemplateUnusable, and what says that a template cannot be analysed now."""
        for key in (entry.template_key, entry.style_key):
            if key is not None and key not in published:
                raise TemplateUnusable(entry.doc_id, f"{key} is not published")
        used = [entry.template_key]
        while True:
            analysis = await self._analyse(database, org_id, entry, published, used)
            reached = [f"template:{name}" for name in analysis.templates]
            new = [key for key in dict.fromkeys(reached) if key not in used]
            if unpublished := [key for key in new if key not in published]:
                raise TemplateUnusable(entry.doc_id, f"{unpublished[0]}, which its template includes, is not published")
            if not new:
                break
            used += new
            if len(used) > MOST_TEMPLATES:
                raise TemplateUnusable(entry.doc_id, f"its template includes more than {MOST_TEMPLATES} others")
        strings = ["strings", f"strings:{lang or DEFAULT_LANG}"]
        keys = [REGISTRY, *used, *([entry.style_key] if entry.style_key else []), *strings]
        return Composition({key: published[key].number if key in published else 0 for key in keys}, analysis)

    async def _analyse(
        self, database: Database, org_id: str, entry: RegistryEntry, published: Published, used: list[str]
    ) -> TemplateAnalysis:
        name = tuple(published[key].sha256 for key in used) + tuple(used)
        if name in self._analyses:
            return self._analyses[name]
        numbers = {key: published[key].number for key in used}
        bodies = await database.read(partial(versions.read_bodies, org_id, numbers))
        try:
            analysis = await self.analyse_texts(bodies.pop(entry.template_key), bodies)
        except FINAL_ERRORS as error:
            raise TemplateUnusable(entry.doc_id, str(error)) from error
        self._analyses[name] = analysis
        return analysis

    async def analyse_texts(self, template: str, others: Mapping[str, str]) -> TemplateAnalysis:
        """`others` by their keys. Templates that are named and are not among them are listed all the same."""
        templates = {key.removeprefix("template:"): body for key, body in others.items()}
        request = RenderRequest("jinja", "json", template.encode(), {"templates": templates})
        rendered = await self._rendering.preview(documents.prepare(request))
        return msgspec.json.decode(rendered.data, type=TemplateAnalysis)

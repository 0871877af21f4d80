"""The registry of documents: what a pack consists of. A JSON list under the key `documents_registry` (R7)."""

import hashlib
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from pressroom.base.json_text import canonical
from pressroom.errors import InvalidArgument, TooLarge
from pressroom.renderers import catalogue

KEY = "documents_registry"
MOST_DOCUMENTS = 500
MOST_REQUIRED = 500
DOC_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[\])?(\.[A-Za-z_][A-Za-z0-9_]*(\[\])?)*")

type DocId = Annotated[str, msgspec.Meta(pattern=DOC_ID)]
type Name = Annotated[str, msgspec.Meta(pattern=r"^([a-z0-9][a-z0-9_.-]{0,63})?$")]


class RegistryEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """`template` is the name of a `template:` key, by default the document's own id; `style` that of a `style:` key."""

    doc_id: DocId
    title: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    description: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    is_enabled: bool = True
    tier: Literal["free", "paid"] = "free"
    template: Name = ""
    style: Name = ""
    engine: Literal["html", "html-browser"] = "html"
    options: dict[str, Any] = {}
    required: list[str] = []
    sample: dict[str, Any] = {}

    @property
    def template_key(self) -> str:
        return f"template:{self.template or self.doc_id}"

    @property
    def sha256(self) -> str:
        """Of all that the document's bytes depend on, besides the texts that it names."""
        made_of = [self.template_key, self.style_key, self.engine, self.options]
        return hashlib.sha256(canonical(made_of).encode()).hexdigest()

    @property
    def style_key(self) -> str | None:
        return f"style:{self.style}" if self.style else None


class ConfigProblem(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What is wrong with a version of the configuration. `path` is a JSON pointer, or the name of a template."""

    code: str
    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None


def parse_registry(body: str) -> list[RegistryEntry]:
    """Raises msgspec.ValidationError and msgspec.DecodeError; a published registry has no problems."""
    return msgspec.json.decode(body, type=list[RegistryEntry])


def find_registry_problems(body: str) -> Iterator[ConfigProblem]:
    """All that is wrong with a registry on its own, without looking at other keys."""
    try:
        items = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        yield _syntax_problem(body, error)
        return
    except RecursionError:
        yield ConfigProblem(code="invalid_json", message="this is nested too deeply")
        return
    if not isinstance(items, list):
        yield ConfigProblem(code="not_a_list", message="the registry is a JSON list of documents")
        return
    if len(items) > MOST_DOCUMENTS:
        yield ConfigProblem(code="too_many", message=f"the registry has {len(items)} documents; the limit is {MOST_DOCUMENTS}")
        return
    seen: dict[str, int] = {}
    for place, item in enumerate(items):
        try:
            entry = msgspec.convert(item, RegistryEntry)
        except msgspec.ValidationError as error:
            message, _, where = str(error).partition(" - at `$")
            yield ConfigProblem(code="invalid_document", message=message, path=f"/{place}{_pointer(where.rstrip('`'))}")
            continue
        first = seen.setdefault(entry.doc_id, place)
        if first != place:
            message = f"the document {entry.doc_id!r} stands twice; the other is number {first + 1}"
            yield ConfigProblem(code="duplicate_document", message=message, path=f"/{place}/doc_id")
        yield from _find_entry_problems(place, entry)


def _find_entry_problems(place: int, entry: RegistryEntry) -> Iterator[ConfigProblem]:
    try:
        catalogue.get_engine(entry.engine).check(b"", "pdf", entry.options)
    except (InvalidArgument, TooLarge) as error:
        yield ConfigProblem(code="invalid_options", message=str(error), path=f"/{place}/options")
    if len(entry.required) > MOST_REQUIRED:
        message = f"it requires {len(entry.required):,} fields; the limit is {MOST_REQUIRED}"
        yield ConfigProblem(code="too_many", message=message, path=f"/{place}/required")
    for number, path in enumerate(entry.required[:MOST_REQUIRED]):
        if not _FIELD.fullmatch(path):
            message = f"{path[:100]!r} is not the path of a field; write person.name, or items[].price"
            yield ConfigProblem(code="invalid_field", message=message, path=f"/{place}/required/{number}")


def _syntax_problem(body: str, error: msgspec.DecodeError) -> ConfigProblem:
    found = re.search(r"\(byte (\d+)\)", str(error))
    before = body.encode()[: int(found[1])].decode(errors="replace") if found else ""
    line = before.count("\n") + 1 if found else None
    column = len(before) - before.rfind("\n") if found else None
    return ConfigProblem(code="invalid_json", message=f"this is not JSON: {error}", line=line, column=column)


def _pointer(path: str) -> str:
    """`.options.page[0]`, as msgspec writes it, as `/options/page/0`."""
    return re.sub(r"\[(\d+|\.\.\.)\]", r"/\1", path).replace(".", "/")

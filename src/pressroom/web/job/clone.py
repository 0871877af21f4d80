"""The form that makes another job of one. It is checked as a submit over HTTP is, and the old job stays as it is."""

import json
from typing import Any

import msgspec

from pressroom.api.service import Service
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.model import Answer, Job, OnKey, Submitted, Tier
from pressroom.renderers import catalogue
from pressroom.renderers.documents import RenderRequest
from pressroom.rendering import Payload
from pressroom.web.forms import Form

EDITED = 1024 * 1024  # bytes of source that a text area can bear; a longer one is taken along as it is


class Mistyped(InvalidArgument):
    """What stands in a field of the form cannot be read. `line` and `column` are places in that field."""

    def __init__(self, field: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.line = line
        self.column = column


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The fields as they were typed. `source` is None where it is taken along unseen."""

    subject: str
    key: str
    tier: str
    max_attempts: str
    payload: str = ""
    language: str = ""
    output: str = ""
    engine: str = ""
    filename: str = ""
    options: str = ""
    source: str | None = None


def is_render(service: Service, job: Job) -> bool:
    return job.kind in service.rendering.kinds and _payload_of(job) is not None


def draft_of(service: Service, job: Job, source: bytes | None) -> Draft:
    """The form as it is first shown: the old job's own words."""
    usual: dict[str, Any] = {
        "subject": job.subject or "",
        "key": job.key or "",
        "tier": Tier(job.tier).name.lower(),
        "max_attempts": str(job.max_attempts),
    }
    payload = _payload_of(job)
    if payload is None or not is_render(service, job):
        return Draft(**usual, payload=pretty(job.payload))
    return Draft(
        **usual,
        language=payload.language,
        output=payload.output,
        engine=payload.engine or "",
        filename=payload.filename or "",
        options=pretty(payload.options) if payload.options else "{}",
        source=_as_typed(source),
    )


def draft_from(form: Form) -> Draft:
    names = [name for name in Draft.__struct_fields__ if name != "source"]
    has_source = any(name == "source" for name, _ in form.items())
    return Draft(**{name: form.get(name) for name in names}, source=form.get("source") if has_source else None)


async def submitted(service: Service, job: Job, draft: Draft, source: bytes | None, *, request_id: str) -> Submitted:
    """The new job, or what it came to. Raises PressroomError with what is wrong with the form."""
    how = _how(job, draft) | {"trace": {"request_id": request_id}}
    _refuse_to_replace(service, job, how.get("key"))
    if is_render(service, job):
        text = draft.source.encode() if draft.source is not None else source
        if text is None:
            raise Mistyped("source", "the source of the old job is gone; render a new one in the playground")
        asked = RenderRequest(
            draft.language.strip(), draft.output.strip(), text, _options(draft.options), draft.engine.strip() or None
        )
        filename = draft.filename.strip() or None
        answer = await service.rendering.submit(service.queue, asked, filename=filename, kind=job.kind, **how)
    else:
        answer = await service.queue.submit(job.kind, _json("payload", draft.payload), **how)
    service.metrics.submitted.labels(answer.kind, answer.answer.value).inc()
    return answer


def notice(answer: Submitted, old: Job) -> str:
    match answer.answer:
        case Answer.NEW:
            return f"This is the new job. It names {old} as the one that it came from."
        case Answer.HIT:
            return "There was nothing to render: this job has made the same already."
        case Answer.JOINED:
            return "This job makes the same just now, so that no other was needed."
        case Answer.COALESCED:
            return "This job waited under the same key. It now has what you typed, and its earlier payload is gone."
        case Answer.SKIPPED:
            return "This job waits under the same key, so that nothing was submitted."


def place_of(error: PressroomError) -> tuple[str, int | None, int | None]:
    """The field that an error is about, as far as that is known, and where in it."""
    return getattr(error, "field", ""), getattr(error, "line", None), getattr(error, "column", None)


def languages() -> list[str]:
    return catalogue.languages()


def outputs() -> list[str]:
    return sorted({output for engine in catalogue.engines() for output in engine.makes} | {"pdf"})


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _payload_of(job: Job) -> Payload | None:
    try:
        return msgspec.convert(job.payload, Payload)
    except msgspec.ValidationError:
        return None


def _as_typed(source: bytes | None) -> str | None:
    if source is None or len(source) > EDITED:
        return None
    try:
        return source.decode()
    except UnicodeDecodeError:
        return None


def _how(job: Job, draft: Draft) -> dict[str, Any]:
    """It belongs to whom the old one belongs, and is its child."""
    given = {
        "subject": draft.subject.strip() or None,
        "key": draft.key.strip() or None,
        "project_id": job.project_id,
        "build_id": job.build_id,
        "org_id": job.org_id,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    return chosen | {"tier": _tier(draft.tier), "max_attempts": _attempts(draft.max_attempts), "parent": job}


def _refuse_to_replace(service: Service, job: Job, key: str | None) -> None:
    """A submit under the key of a job that waits may take that job's place. A clone leaves the old one alone."""
    kind = service.queue.kinds.get(job.kind)
    if key is not None and key == job.key and not job.status.ended and (kind is None or kind.on_key is OnKey.COALESCE):
        raise Mistyped("key", f"{job} is still open under this key, and this would take its place; leave the key empty")


def _tier(typed: str) -> Tier:
    try:
        return Tier[typed.upper()]
    except KeyError:
        raise Mistyped("tier", "a tier is interactive or background") from None


def _attempts(typed: str) -> int:
    text = typed.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= 1000):
        raise Mistyped("max_attempts", "attempts are a whole number from 1 to 1000")
    return int(text)


def _options(typed: str) -> dict[str, Any]:
    options = _json("options", typed.strip() or "{}")
    if not isinstance(options, dict):
        raise Mistyped("options", 'options are a JSON object, such as {"theme": "dark"}')
    return options


def _json(field: str, typed: str) -> Any:
    try:
        return json.loads(typed, parse_constant=_no_number)
    except json.JSONDecodeError as reason:
        words = f"the {field} is not JSON: {reason.msg}"
        raise Mistyped(field, words, reason.lineno, reason.colno) from None
    except (ValueError, RecursionError) as reason:
        raise Mistyped(field, f"the {field} is not JSON that can be kept: {reason}") from None


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")

"""The form that makes another job of one. It is checked as a submit over HTTP is, and the old job stays as it is."""

import json
from typing import Any

import msgspec

from pressroom.api.service import Service
from pressroom.errors import InvalidArgument, PressroomError
from pressroom.kinds.rendering import RenderJobPayload
from pressroom.model import Answer, Job, OnKey, Submitted, Tier
from pressroom.renderers import catalogue
from pressroom.renderers.documents import RenderRequest
from pressroom.web.forms import Form

MAX_EDITABLE_BYTES = 1024 * 1024  # bytes of source that a text area can bear; a longer one is taken along as it is


class FormFieldError(InvalidArgument):
    """What stands in a field of the form cannot be read. `line` and `column` are places in that field."""

    def __init__(self, field_name: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.field = field_name
        self.line = line
        self.column = column


class CloneForm(msgspec.Struct, frozen=True, kw_only=True):
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


def prefill_form(service: Service, job: Job, source: bytes | None) -> CloneForm:
    """The form as it is first shown: the old job's own words."""
    common: dict[str, Any] = {
        "subject": job.subject or "",
        "key": job.key or "",
        "tier": Tier(job.tier).name.lower(),
        "max_attempts": str(job.max_attempts),
    }
    payload = _payload_of(job)
    if payload is None or not is_render(service, job):
        return CloneForm(**common, payload=format_json(job.payload))
    return CloneForm(
        **common,
        language=payload.language,
        output=payload.output,
        engine=payload.engine or "",
        filename=payload.filename or "",
        options=format_json(payload.options) if payload.options else "{}",
        source=_editable_text(source),
    )


def read_form(form: Form) -> CloneForm:
    names = [name for name in CloneForm.__struct_fields__ if name != "source"]
    has_source = any(name == "source" for name, _ in form.items())
    return CloneForm(**{name: form.get(name) for name in names}, source=form.get("source") if has_source else None)


async def submit_clone(service: Service, job: Job, form: CloneForm, source: bytes | None, *, request_id: str) -> Submitted:
    """The new job, or what it came to. Raises PressroomError with what is wrong with the form."""
    options = _submit_options(job, form) | {"trace": {"request_id": request_id}}
    _refuse_to_replace(service, job, options.get("key"))
    if is_render(service, job):
        text = form.source.encode() if form.source is not None else source
        if text is None:
            raise FormFieldError("source", "the source of the old job is gone; render a new one in the playground")
        asked = RenderRequest(
            form.language.strip(), form.output.strip(), text, _parse_options(form.options), form.engine.strip() or None
        )
        filename = form.filename.strip() or None
        answer = await service.rendering.submit(service.queue, asked, filename=filename, kind=job.kind, **options)
    else:
        answer = await service.queue.submit(job.kind, _parse_json("payload", form.payload), **options)
    service.metrics.submitted.labels(answer.kind, answer.answer.value).inc()
    return answer


def describe_answer(answer: Submitted, old: Job) -> str:
    match answer.answer:
        case Answer.NEW:
            return f"New job submitted. It names {old} as the one that it came from."
        case Answer.HIT:
            return "Answered from the cache: this job has the same input."
        case Answer.JOINED:
            return "Joined this job, which has the same input and has not ended."
        case Answer.COALESCED:
            return "Merged into this queued job of the same key. Its earlier payload was replaced."
        case Answer.SKIPPED:
            return "Nothing was submitted: this job of the same key is still queued."


def error_location(error: PressroomError) -> tuple[str, int | None, int | None]:
    """The field that an error is about, as far as that is known, and where in it."""
    return getattr(error, "field", ""), getattr(error, "line", None), getattr(error, "column", None)


def outputs() -> list[str]:
    return sorted({output for engine in catalogue.engines() for output in engine.makes} | {"pdf"})


def format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _payload_of(job: Job) -> RenderJobPayload | None:
    try:
        return msgspec.convert(job.payload, RenderJobPayload)
    except msgspec.ValidationError:
        return None


def _editable_text(source: bytes | None) -> str | None:
    if source is None or len(source) > MAX_EDITABLE_BYTES:
        return None
    try:
        return source.decode()
    except UnicodeDecodeError:
        return None


def _submit_options(job: Job, form: CloneForm) -> dict[str, Any]:
    """The clone keeps the organisation, project and build of the old job, and is its child."""
    given = {
        "subject": form.subject.strip() or None,
        "key": form.key.strip() or None,
        "project_id": job.project_id,
        "build_id": job.build_id,
        "org_id": job.org_id,
    }
    options = {name: value for name, value in given.items() if value is not None}
    return options | {"tier": _parse_tier(form.tier), "max_attempts": _parse_max_attempts(form.max_attempts), "parent": job}


def _refuse_to_replace(service: Service, job: Job, key: str | None) -> None:
    """A submit under the key of a job that waits may take that job's place. A clone leaves the old one alone."""
    kind = service.queue.kinds.get(job.kind)
    if key is not None and key == job.key and not job.status.ended and (kind is None or kind.on_key is OnKey.COALESCE):
        raise FormFieldError("key", f"{job} is still open under this key, and this would take its place; leave the key empty")


def _parse_tier(text: str) -> Tier:
    try:
        return Tier[text.upper()]
    except KeyError:
        raise FormFieldError("tier", "a tier is interactive or background") from None


def _parse_max_attempts(text: str) -> int:
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= 1000):
        raise FormFieldError("max_attempts", "attempts are a whole number from 1 to 1000")
    return int(text)


def _parse_options(text: str) -> dict[str, Any]:
    options = _parse_json("options", text.strip() or "{}")
    if not isinstance(options, dict):
        raise FormFieldError("options", 'options are a JSON object, such as {"theme": "dark"}')
    return options


def _parse_json(field: str, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as reason:
        message = f"the {field} is not JSON: {reason.msg}"
        raise FormFieldError(field, message, reason.lineno, reason.colno) from None
    except (ValueError, RecursionError) as reason:
        raise FormFieldError(field, f"the {field} is not JSON that can be kept: {reason}") from None


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")

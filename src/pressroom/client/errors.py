"""Problems as errors: the service's code becomes the class that the library raises, with the service's words."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from pressroom import errors
from pressroom.client.exchange import HttpAnswer
from pressroom.errors import Ended, JobCancelled, JobFailed, NotFound, PressroomError, Refused, SourceInvalid, Unavailable


class Unreachable(Unavailable):
    """No answer: the connection was refused or broke, or the answer took too long."""

    code = "unreachable"


class InvalidAnswer(PressroomError):
    """An answer that is not understood: not from a Pressroom, or from one that is much newer."""

    code = "garbled_answer"
    status = 502


def error_from_answer(answer: HttpAnswer) -> PressroomError:
    """The error that an answer tells."""
    problem = _problem_document(answer)
    code = str(problem.get("code") or f"http_{answer.status}")
    detail = _detail_text(problem.get("detail")) or f"the server answered {answer.status}"
    error = _new_error(_error_class(code, answer.status, problem), detail)
    if error.code != code:
        error.code = code  # type: ignore[misc]  # on the instance: a code that this version has no class for
    error.status = answer.status  # type: ignore[misc]
    vars(error)["problem"] = problem
    _set_error_fields(error, problem, retry_after(answer))
    return error


def _detail_text(detail: Any) -> str:
    """A text, or a list of `{type, msg, loc}` as routes of documentation answer with."""
    if not isinstance(detail, list):
        return str(detail or "")
    return "; ".join(str(one.get("msg", one)) if isinstance(one, dict) else str(one) for one in detail)


def problem_of(error: PressroomError) -> Mapping[str, Any]:
    """The problem document that an error was made of. Empty if it came about in this process."""
    found: Mapping[str, Any] = vars(error).get("problem", {})
    return found


def ended_error(id: str, status: str, error: Mapping[str, Any] | None) -> Ended:
    """What waiting for a job that came to nothing raises, as in the library."""
    kind = JobCancelled if status == "cancelled" else JobFailed
    return kind(id.removeprefix("job_"), dict(error or {}))


def retry_after(answer: HttpAnswer, at: datetime | None = None) -> float | None:
    """Seconds, as the header says them or as the date that it names is away."""
    given = answer.headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit() and len(given) < 10:
        return float(given)
    try:
        return max(0.0, (parsedate_to_datetime(given) - (at or datetime.now(UTC))).total_seconds())
    except (TypeError, ValueError):
        return None


def is_problem(answer: HttpAnswer) -> bool:
    return answer.headers.get("content-type", "").startswith("application/problem+json")


def _problem_document(answer: HttpAnswer) -> dict[str, Any]:
    try:
        problem = msgspec.json.decode(answer.body) if is_problem(answer) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return problem if isinstance(problem, dict) else {}


def _error_class(code: str, status: int, problem: Mapping[str, Any]) -> type[PressroomError]:
    """By its code; a code that we do not know still says by its status what the reader can do."""
    if code == "cancelled" and problem.get("job_id"):
        return JobCancelled
    if code in _BY_CODE:
        return _BY_CODE[code]
    if problem.get("job_id"):
        return JobFailed
    match status:
        case 404 | 410:
            return NotFound
        case 429 | 502 | 503 | 504:
            return Unavailable
        case _ if 400 <= status < 500:
            return Refused
        case _:
            return PressroomError


def _new_error(kind: type[PressroomError], detail: str) -> PressroomError:
    """Without its own constructor: the message was composed where it happened."""
    error = kind.__new__(kind)
    error.args = (detail,)
    return error


def _set_error_fields(error: PressroomError, problem: Mapping[str, Any], seconds: float | None) -> None:
    """Whatever the class promises to carry."""
    uid = str(problem.get("job_id") or "").removeprefix("job_")
    match error:
        case SourceInvalid():
            error.line, error.column, error.excerpt = problem.get("line"), problem.get("column"), problem.get("excerpt")
        case Ended():
            names = ("code", "line", "column", "excerpt")
            error.error = {"message": str(error)} | {name: problem[name] for name in names if problem.get(name) is not None}
            error.uid = uid
        case errors.WaitTimeout():
            error.uid = uid
        case errors.StopTimeout():
            error.released = 0
        case errors.InvalidSettings():
            error.problems = [str(error)]
    if isinstance(error, Unavailable | errors.Backpressure):
        vars(error)["retry_after"] = 1.0 if seconds is None else seconds


def _subclasses(kind: type[PressroomError]) -> Iterator[type[PressroomError]]:
    yield kind
    for one in kind.__subclasses__():
        if one.__module__ == errors.__name__:
            yield from _subclasses(one)


_BY_CODE = {kind.code: kind for kind in _subclasses(PressroomError) if "code" in vars(kind)}

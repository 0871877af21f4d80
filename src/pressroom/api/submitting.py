"""Refuses jobs of kinds that a caller may not submit, whichever route they use. Every route that submits asks here."""

from collections.abc import Callable, Mapping

from pressroom.api.access import Caller, Scope
from pressroom.api.problems import HttpError
from pressroom.definitions import Kind
from pressroom.submission.scope import scope_to_repeat


def require_submit(caller: Caller, kinds: Mapping[str, Kind], name: str) -> None:
    """For a payload that the caller wrote. An unknown kind is refused later, by the queue. Raises HttpError 403."""
    kind = kinds.get(name)
    if kind is None:
        return
    if kind.submit_scope is None:
        words = f"jobs of the kind {name} are submitted by Pressroom itself, not over HTTP; see submit_scope in docs/library.md"
        raise HttpError(403, "forbidden", words)
    _require(caller, name, kind.submit_scope)


def require_repeat(caller: Caller, kinds: Mapping[str, Kind], name: str) -> None:
    """For a job that is run again as it was. Raises HttpError 403."""
    _require(caller, name, scope_to_repeat(kinds.get(name)))


def may_submit(caller: Caller, kinds: Mapping[str, Kind], name: str) -> bool:
    return _is_allowed(require_submit, caller, kinds, name)


def may_repeat(caller: Caller, kinds: Mapping[str, Kind], name: str) -> bool:
    return _is_allowed(require_repeat, caller, kinds, name)


def _is_allowed(
    require: Callable[[Caller, Mapping[str, Kind], str], None], caller: Caller, kinds: Mapping[str, Kind], name: str
) -> bool:
    try:
        require(caller, kinds, name)
    except HttpError:
        return False
    return True


def _require(caller: Caller, name: str, needed: str) -> None:
    if caller.scope < Scope[needed.upper()]:
        words = f"jobs of the kind {name} need the scope {needed}; yours is {caller.scope.name.lower()}"
        raise HttpError(403, "forbidden", words)

"""Which scope a caller from outside needs to submit a job of a kind, or to run one again as it was."""

from collections.abc import Callable, Mapping

from pressroom.definitions import SUBMIT_SCOPES, Kind

OPERATOR = "operator"


def scope_to_repeat(kind: Kind | None) -> str:
    """For a retry, or a schedule that is run by hand: the payload stays the one that our own code made.

    A kind that is submitted by its own code alone, or that this process does not know, needs an operator.
    """
    return (kind.submit_scope if kind is not None else None) or OPERATOR


def may_repeat(kinds: Mapping[str, Kind], scope: str) -> Callable[[str], bool]:
    """Whether a caller with this scope may run jobs again, asked by the name of their kind."""

    def allowed(name: str) -> bool:
        needed = scope_to_repeat(kinds.get(name))
        return scope in SUBMIT_SCOPES and SUBMIT_SCOPES.index(scope) >= SUBMIT_SCOPES.index(needed)

    return allowed

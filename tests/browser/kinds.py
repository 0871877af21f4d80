"""Kinds of the service that the browser visits."""

from typing import Any

from pressroom import SourceInvalid, kind


@kind("bill", alert=True)
def bill(job: object, payload: Any) -> None:
    raise SourceInvalid("the bill cannot be made")

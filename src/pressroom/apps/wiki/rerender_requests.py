"""An order to render many articles again, as the job `wiki.rerender` carries it."""

from typing import Any, Literal

import msgspec

from pressroom.errors import InvalidPayload

NAME = "wiki.rerender"

type Which = Literal["all", "stale", "linking", "import"]


class RerenderRequest(msgspec.Struct, frozen=True):
    """`url` is the article that those which are `linking` refer to. An `import` has queued its renders itself."""

    which: Which
    url: str | None = None

    @property
    def key(self) -> str:
        return f"wiki:{self.which}:{self.url or ''}"

    @property
    def subject(self) -> str:
        if self.which == "import":
            return f"import {self.url}"
        what = {"all": "all articles", "stale": "stale articles", "linking": f"articles that refer to {self.url}"}
        return f"render {what[self.which]} again"


def parse_request(payload: Any) -> RerenderRequest:
    try:
        return msgspec.convert(payload, RerenderRequest)
    except msgspec.ValidationError as reason:
        raise InvalidPayload(f"this is no order to render again: {reason}") from None

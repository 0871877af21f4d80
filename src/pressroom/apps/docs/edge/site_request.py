"""A request for something of a project that the reader may see."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pressroom.apps.docs.edge.answers import EdgeAnswer, RequestHeaders, redirect
from pressroom.apps.docs.edge.sites import SiteProject
from pressroom.apps.docs.model import Org

FOR_A_MINUTE = "max-age=60"


@dataclass(frozen=True)
class SiteRequest:
    """`mount` is the path of the project's root, without the slash at its end; `rest` are the segments after it."""

    org: Org
    project: SiteProject
    mount: str
    rest: Sequence[str]
    headers: RequestHeaders
    query: bytes
    is_head: bool

    def cache_control(self, lifetime: str) -> str:
        return f"private, {lifetime}" if self.org.is_private else lifetime

    def vary(self, *names: str) -> dict[str, str]:
        """The header `Vary`, if the answer depends on these headers of the request, or on who reads."""
        varies = [*names, *(("Authorization", "Cookie") if self.org.is_private else ())]
        return {"Vary": ", ".join(varies)} if varies else {}

    def redirect_to_slash(self, last: str, *, status: int = 301) -> EdgeAnswer:
        """Relative: neither the host name nor the path that a proxy may have cut off is known here."""
        query = f"?{self.query.decode('latin-1')}" if self.query else ""
        return redirect(status, f"./{quote(last)}/{query}", {"Cache-Control": self.cache_control(FOR_A_MINUTE)})

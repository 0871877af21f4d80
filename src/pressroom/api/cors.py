"""Web pages of other origins that may read and submit (PRESSROOM_CORS_ORIGINS). None, unless the operator names them."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send

from pressroom.api.routing import Application

METHODS = ("GET", "HEAD", "POST", "PUT")
SENT = ("Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID", "Prefer", "Range", "X-Request-Id")
READ = (
    *("Location", "Retry-After", "ETag", "Cache-Status", "X-Request-Id", "Link", "Content-Digest", "Content-Range"),
    *("Idempotency-Replayed", "Preference-Applied", "RateLimit", "RateLimit-Policy"),
)
AN_HOUR = 3600

_APART = ("/webhooks", "/metrics")  # never for another site's page: webhook targets and the service's own measurements


def add_cors(app: Application, origins: Sequence[str]) -> None:
    """To be called last, because what stands around all else also answers for what refuses."""
    if origins:
        app.add_middleware(
            _RestrictedCors,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=SENT,
            expose_headers=READ,
            max_age=AN_HOUR,
        )


class _RestrictedCors(CORSMiddleware):
    """Without credentials: a token travels in a header that a page sets itself, never in a cookie that a browser adds."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_APART):
            await self.app(scope, receive, send)
            return
        await super().__call__(scope, receive, send)

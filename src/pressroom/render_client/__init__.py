"""PDF files for jobs: made by the presses of this process, or by the render service that `render_url` names.

Both print the same document for the same request, and what is a final error for one is final for the other.
docs/render-service.md has the table of what each answer of the service becomes.
"""

from typing import TYPE_CHECKING, Any, Protocol

from pressroom.config import Settings
from pressroom.errors import InvalidSettings
from pressroom.render_client.local import EnginePoolsForJob, LocalRenderer
from pressroom.renderers import Rendered
from pressroom.renderers.documents import RenderRequest

if TYPE_CHECKING:
    from pressroom.render_client.remote import RemoteRenderer


class DocumentRenderer(Protocol):
    async def render_pdf(self, request: RenderRequest, *, job: Any = None) -> Rendered:
        """The PDF of a request. Its details are `pages`, and `engines` with their versions by name. `job` is the running job,
        whose tier and organisation decide on its turn.

        Cancelled, it stops the render, wherever that runs. Raises AttemptError or Refused.
        """
        ...

    async def close(self) -> None: ...


def make_document_renderer(settings: Settings, engine_pools_for_job: EnginePoolsForJob) -> DocumentRenderer:
    """Raises InvalidSettings if `render_url` is set and the package that it needs is missing."""
    if not settings.render_url:
        return LocalRenderer(engine_pools_for_job)
    return make_remote_renderer(settings)


def make_remote_renderer(settings: Settings) -> "RemoteRenderer":
    try:
        from pressroom.render_client.remote import RemoteRenderer
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("pressroom"):
            raise
        raise InvalidSettings([f"render_url: needs the package {missing.name}; pip install 'pressroom[client]'"]) from None
    return RemoteRenderer(settings.render_url, token=settings.render_token, timeout=settings.render_timeout)

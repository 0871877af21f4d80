"""One page of a template, rendered by the template engine in its own process."""

from collections.abc import Mapping
from typing import Any

from pressroom.apps.docs.dashboards.template import InlinedAssets, PageTemplate
from pressroom.apps.docs.errors import TemplateFailed
from pressroom.errors import EngineCrashed, InvalidArgument, SourceInvalid, Timeout, TooLarge
from pressroom.kinds.rendering import Rendering
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest


async def render_page(
    rendering: Rendering, template: PageTemplate, included: Mapping[str, str], context: Mapping[str, Any]
) -> bytes:
    """Raises TemplateFailed for what is the template's fault: an error, a loop without an end, too much of anything."""
    assets = InlinedAssets(template.assets)
    options = {"data": {**context, "assets": assets.data}, "templates": dict(included)}
    try:
        prepared = documents.prepare(RenderRequest("jinja", "html", template.source.encode(), options))
        rendered = await rendering.preview(prepared)
        return assets.inline(rendered.data.decode()).encode()
    except SourceInvalid as error:
        place = f", line {error.line}" if error.line else ""
        raise TemplateFailed(f"{template.name}{place}: {error}") from None
    except (TooLarge, Timeout, EngineCrashed, InvalidArgument) as error:
        raise TemplateFailed(f"{template.name}: {error}") from None

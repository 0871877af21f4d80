"""One page of a template, rendered by the template engine in its own process."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from pressroom.apps.docs.dashboards.template import InlinedAssets, PageTemplate
from pressroom.apps.docs.errors import TemplateFailed
from pressroom.errors import EngineCrashed, InvalidArgument, SourceInvalid, Timeout, TooLarge
from pressroom.kinds.rendering import Rendering
from pressroom.renderers import documents
from pressroom.renderers.documents import RenderRequest
from pressroom.web.control_characters import replace_control_characters

_INCLUDED = re.compile(r"template '(.*?)': (.*)", re.DOTALL)


async def render_page(
    rendering: Rendering, template: PageTemplate, included: Mapping[str, str], context: Mapping[str, Any]
) -> bytes:
    """Raises TemplateFailed for what is the template's fault: an error, a loop without an end, too much of anything."""
    assets = InlinedAssets(template.assets)
    options = {"data": {**context, "assets": assets.data}, "templates": dict(included)}
    try:
        request = RenderRequest("jinja", "html", template.source.encode(), options)
        rendered = await rendering.preview(await asyncio.to_thread(documents.prepare, request))
        return await asyncio.to_thread(lambda: replace_control_characters(assets.inline(rendered.data.decode())))
    except SourceInvalid as error:
        raise TemplateFailed(_located(template.name, error)) from None
    except (TooLarge, Timeout, EngineCrashed, InvalidArgument) as error:
        raise TemplateFailed(f"{template.name}: {error}") from None


def _located(name: str, error: SourceInvalid) -> str:
    """The engine names a template that was included, and knows no name of the one that includes it."""
    line = f", line {error.line}" if error.line else ""
    included = _INCLUDED.match(str(error))
    return f"{included[1]}{line}: {included[2]}" if included else f"{name}{line}: {error}"

"""Where `pressroom serve` serves sites."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from pressroom.app import Listener
from pressroom.apps.docs.edge.making import make_edge
from pressroom.apps.docs.edge.sites import any_org
from pressroom.apps.docs.settings import DocsSettings
from pressroom.config.addresses import split_host_and_port

if TYPE_CHECKING:
    from pressroom.apps.docs.app import DocsApp

SETTING = "PRESSROOM_DOCS_LISTEN"
DEFAULT_LISTEN = DocsSettings().listen


def edge_listeners(app: "DocsApp") -> Iterable[Listener]:
    """At the default address once there is an organisation: a service without documentation opens no second port, and is not
    disturbed by what else listens there. At an address of the settings from the start."""
    settings = app.settings
    if not settings.listen:
        return
    host, port = split_host_and_port(settings.listen)
    is_default = settings.listen == DEFAULT_LISTEN
    yield Listener(
        host=host,
        port=port,
        application=make_edge(app.core, app.dashboards),
        about="sites",
        setting=SETTING,
        optional=is_default,
        is_needed=partial(_has_orgs, app) if is_default else None,
    )


async def _has_orgs(app: "DocsApp") -> bool:
    return await app.core.database.read(any_org)

"""What the pages of settings share."""

from urllib.parse import quote

from pressroom.apps.packs.actor import Actor
from pressroom.web.site import PageRequest


def actor_of(request: PageRequest) -> Actor:
    caller = request.caller
    return Actor(name=caller.name, audit_org=caller.audit_org, request_id=request.http.state.request_id)


def key_address(key: str) -> str:
    return f"/library/settings/{quote(key)}"

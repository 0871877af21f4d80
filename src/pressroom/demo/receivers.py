"""Those who are told by webhook. They are not there: each answers as its address says, and nothing leaves the machine."""

from collections.abc import Mapping
from random import Random
from urllib.parse import urlsplit

from pressroom.notify.webhook_client import NoResponse, WebhookClient, WebhookResponse

WELL = "https://hooks.acme.example/pressroom"
BUSY = "https://ci.northwind.example/hooks/renders"
GONE = "https://old.globex.example/notify"
SILENT = "https://status.press.example/in"


class Receivers(WebhookClient):
    def __init__(self, rng: Random) -> None:
        super().__init__()
        self._luck = rng

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookResponse:  # noqa: ARG002
        match urlsplit(url).hostname or "":
            case "hooks.acme.example":
                return WebhookResponse(204, None, "")
            case "ci.northwind.example" if self._luck.random() < 0.5:
                return WebhookResponse(503, None, "upstream connect error or disconnect/reset before headers")
            case "ci.northwind.example":
                return WebhookResponse(200, None, '{"ok":true}')
            case "old.globex.example":
                return WebhookResponse(410, None, "this endpoint was retired")
            case _:
                raise NoResponse("the connection was refused")

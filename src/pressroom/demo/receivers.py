"""Those who are told by webhook. They are not there: each answers as its address says, and nothing leaves the machine."""

from collections.abc import Mapping
from random import Random
from urllib.parse import urlsplit

from pressroom.notify.post import Answer, NoAnswer, Poster

WELL = "https://hooks.acme.example/pressroom"
BUSY = "https://ci.northwind.example/hooks/renders"
GONE = "https://old.globex.example/notify"
SILENT = "https://status.press.example/in"


class Receivers(Poster):
    def __init__(self, luck: Random) -> None:
        super().__init__()
        self._luck = luck

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:  # noqa: ARG002
        match urlsplit(url).hostname or "":
            case "hooks.acme.example":
                return Answer(204, None, "")
            case "ci.northwind.example" if self._luck.random() < 0.5:
                return Answer(503, None, "upstream connect error or disconnect/reset before headers")
            case "ci.northwind.example":
                return Answer(200, None, '{"ok":true}')
            case "old.globex.example":
                return Answer(410, None, "this endpoint was retired")
            case _:
                raise NoAnswer("the connection was refused")

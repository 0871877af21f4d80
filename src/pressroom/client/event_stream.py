"""Server-sent events, from bytes as they come."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ServerSentEvent:
    id: str
    type: str
    data: str


class EventStreamParser:
    """Bytes in, whole frames out. A frame that was cut off by the end of a stream is not one: its event comes again."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._type = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        # A lone \r may be half of a \r\n whose other half is still to come; our server sends \n, and proxies do not change it.
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [frame for line in lines if (frame := self._feed_line(line.removesuffix(b"\r").decode(errors="replace")))]

    def _feed_line(self, line: str) -> ServerSentEvent | None:
        if not line:
            return self._end_event()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "id":
                self._id = value
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
        return None  # a comment, which has no name, keeps the connection open and says nothing

    def _end_event(self) -> ServerSentEvent | None:
        type, data = self._type, self._data
        self._type, self._data = "", []
        return ServerSentEvent(self._id, type or "message", "\n".join(data)) if data else None

"""Server-sent events, from bytes as they come."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Frame:
    id: str
    type: str
    data: str


class Frames:
    """Bytes in, whole frames out. A frame that was cut off by the end of a stream is not one: its event comes again."""

    def __init__(self) -> None:
        self._rest = b""
        self._id = ""
        self._type = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Frame]:
        # A lone \r may be half of a \r\n whose other half is still to come; our server sends \n, and proxies do not change it.
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return [frame for line in lines if (frame := self._line(line.removesuffix(b"\r").decode(errors="replace")))]

    def _line(self, line: str) -> Frame | None:
        if not line:
            return self._frame()
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

    def _frame(self) -> Frame | None:
        type, data = self._type, self._data
        self._type, self._data = "", []
        return Frame(self._id, type or "message", "\n".join(data)) if data else None

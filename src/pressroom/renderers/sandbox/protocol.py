"""Messages between an engine process and its owner: frames of MessagePack, each with its length in front."""

from typing import Any

import msgspec

from pressroom.errors import EngineCrashed, EngineMissing, PressroomError, SourceInvalid, Timeout, TooLarge
from pressroom.renderers import Notice, Rendered


class EngineRequest(msgspec.Struct, frozen=True, array_like=True):
    number: int
    output: str
    options: dict[str, Any]
    source: bytes


class ProcessReady(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The engine is loaded and has rendered its sample. `layers` are the restrictions that are in force."""

    layers: list[str]


class RenderSuccess(msgspec.Struct, frozen=True, array_like=True, tag=True):
    number: int
    data: bytes
    media_type: str
    warnings: list[Notice]
    details: dict[str, Any]
    seconds: float

    def rendered(self) -> Rendered:
        return Rendered(self.data, self.media_type, self.warnings, self.details)


class RenderFailure(msgspec.Struct, frozen=True, array_like=True, tag=True):
    number: int  # 0: the engine process could not start
    code: str
    message: str
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None

    def error(self) -> PressroomError:
        if self.code == SourceInvalid.code:
            return SourceInvalid(self.message, line=self.line, column=self.column, excerpt=self.excerpt)
        return _ERRORS.get(self.code, EngineCrashed)(self.message)


_ERRORS: dict[str, type[PressroomError]] = {kind.code: kind for kind in (Timeout, TooLarge, EngineCrashed, EngineMissing)}


def failed_message(number: int, error: PressroomError) -> RenderFailure:
    if isinstance(error, SourceInvalid):
        return RenderFailure(number, error.code, str(error), error.line, error.column, error.excerpt)
    return RenderFailure(number, error.code, str(error))


type ChildMessage = ProcessReady | RenderSuccess | RenderFailure

_encoder = msgspec.msgpack.Encoder()
request_decoder: msgspec.msgpack.Decoder[EngineRequest] = msgspec.msgpack.Decoder(EngineRequest)
message_decoder: msgspec.msgpack.Decoder[ChildMessage] = msgspec.msgpack.Decoder(ChildMessage)


def encode_frame(message: EngineRequest | ChildMessage) -> bytes:
    body = _encoder.encode(message)
    return len(body).to_bytes(4, "little") + body


class FrameDecoder:
    """Cuts a stream of bytes into frames. Raises EngineCrashed for a frame above the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        buffer = self._buffer
        buffer += data
        frames = []
        start = 0
        while len(buffer) - start >= 4:
            size = int.from_bytes(buffer[start : start + 4], "little")
            if size > self._limit:
                raise EngineCrashed("the engine process sent more than it may")
            if len(buffer) - start - 4 < size:
                break
            frames.append(bytes(buffer[start + 4 : start + 4 + size]))
            start += 4 + size
        if start:
            del buffer[:start]
        return frames

"""The DevTools protocol over two pipes: JSON texts, each ended by a NUL byte. No port, so no other process can connect."""

import json
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from pressroom.errors import EngineCrashed, Timeout

CHUNK = 1 << 20
BACKLOG = 256 << 20  # bytes of one message. A browser that says more is not believed.

type Handler = Callable[[dict[str, Any]], None]


class ProtocolError(Exception):
    """The browser understood, and said no."""


class DevtoolsPipe:
    """Both ends are polled together: a browser that hangs must not make us hang in a write."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        os.set_blocking(to_browser, False)
        os.set_blocking(from_browser, False)
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()
        self._searched = 0
        self._complete: deque[bytes] = deque()

    def send(self, message: bytes) -> None:
        self._outgoing = memoryview(bytes(self._outgoing) + message + b"\0")

    def receive(self, deadline: float) -> bytes:
        while self._outgoing or not self._complete:
            self._exchange(deadline)
        return self._complete.popleft()

    def flush(self, deadline: float) -> None:
        while self._outgoing:
            self._exchange(deadline)

    def close(self) -> None:
        os.close(self._to)
        os.close(self._from)

    def _exchange(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        writing = [self._to] if self._outgoing else []
        readable, writable, _ = select.select([self._from], writing, [], max(0.0, left))
        if not readable and not writable and left <= 0:
            raise Timeout("the browser did not answer in time")
        try:
            if writable:
                self._outgoing = self._outgoing[os.write(self._to, self._outgoing[:CHUNK]) :]
            if readable:
                self._split_messages(os.read(self._from, CHUNK))
        except (BrokenPipeError, ConnectionResetError):
            raise EngineCrashed("the browser is gone") from None

    def _split_messages(self, data: bytes) -> None:
        if not data:
            raise EngineCrashed("the browser is gone")
        self._incoming += data
        while (end := self._incoming.find(b"\0", self._searched)) >= 0:
            self._complete.append(bytes(self._incoming[:end]))
            del self._incoming[: end + 1]
            self._searched = 0
        self._searched = len(self._incoming)
        if self._searched > BACKLOG:
            raise EngineCrashed("the browser said more than we can hold")


class DevtoolsConnection:
    """Calls and their answers. Events go to handlers while an answer is waited for; a handler must not wait itself."""

    def __init__(self, pipe: DevtoolsPipe) -> None:
        self._pipe = pipe
        self._last = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._awaited: set[int] = set()
        self._handlers: dict[tuple[str, str], Handler] = {}
        self.deadline = 0.0

    def on(self, session: str, event: str, handler: Handler) -> None:
        self._handlers[session, event] = handler

    def remove_handlers(self, session: str) -> None:
        self._handlers = {key: handler for key, handler in self._handlers.items() if key[0] != session}

    def send_without_reply(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> int:
        """Say it and go on. Whatever the browser answers is dropped, unless `answer` asks for it."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self._pipe.send(msgspec.json.encode(message))
        return self._last

    def call(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        return self.wait_for_reply(self.send_command(method, params, session))

    def send_command(self, method: str, params: dict[str, Any] | None = None, session: str = "") -> int:
        """Say it now and wait later, with `answer`: many questions then cost one round trip."""
        number = self.send_without_reply(method, params, session)
        self._awaited.add(number)
        return number

    def wait_for_reply(self, number: int) -> dict[str, Any]:
        self.receive_until(lambda: number in self._answers)
        self._awaited.discard(number)
        said = self._answers.pop(number)
        if "error" in said:
            raise ProtocolError(str(said["error"].get("message", said["error"])))
        result: dict[str, Any] = said.get("result", {})
        return result

    def receive_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._handle_message(self._pipe.receive(self.deadline))

    def flush(self) -> None:
        """Send what was told now, and not with the next question."""
        self._pipe.flush(self.deadline)

    def close(self) -> None:
        self._pipe.close()

    def _handle_message(self, text: bytes) -> None:
        message = _parse_message(text)
        if "id" in message:
            if message["id"] in self._awaited:
                self._answers[message["id"]] = message
        elif handler := self._handlers.get((message.get("sessionId", ""), message.get("method", ""))):
            handler(message.get("params", {}))


def _parse_message(text: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    try:
        # A script that cuts text by its length may cut through a character: half an emoji is no Unicode, but Python reads it.
        read = json.dumps(json.loads(text.decode(errors="replace")), ensure_ascii=False)
        return msgspec.json.decode(read.encode(errors="replace"), type=dict[str, Any])
    except (msgspec.MsgspecError, ValueError):
        raise EngineCrashed("the browser said something that is not JSON") from None

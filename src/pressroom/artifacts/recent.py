"""Bytes that were asked for lately, up to so many of them."""

from collections import OrderedDict


class Recent:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._bytes: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        data = self._bytes.get(key)
        if data is not None:
            self._bytes.move_to_end(key)
        return data

    def put(self, key: str, data: bytes) -> None:
        if key in self._bytes or len(data) > self._limit:
            return
        self._bytes[key] = data
        self._held += len(data)
        while self._held > self._limit:
            _, oldest = self._bytes.popitem(last=False)
            self._held -= len(oldest)

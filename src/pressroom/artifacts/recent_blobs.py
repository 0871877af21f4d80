"""Bytes that were asked for lately, up to so many of them."""

from cachetools import LRUCache


class RecentBlobs(LRUCache[str, bytes]):
    def __init__(self, limit: int) -> None:
        super().__init__(limit, getsizeof=len)

    def put(self, key: str, data: bytes) -> None:
        if len(data) <= self.maxsize:
            self[key] = data

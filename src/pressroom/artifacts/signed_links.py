"""Links that we sign ourselves, for bytes that we serve ourselves."""

import base64
import hashlib
import hmac
import json
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from pressroom.artifacts import is_key
from pressroom.clock import Clock
from pressroom.errors import NotFound

_FIELDS = ("expires", "type", "name", "signature")


class SignedLink(NamedTuple):
    """What a link allows: these bytes, under this type and name."""

    key: str
    media_type: str
    filename: str | None


class Signer:
    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._secret = secret
        self._clock = clock

    def sign(self, link: SignedLink, *, seconds: int) -> str:
        """The end of a link: the key and a query."""
        expires = str(self._clock.now_ms() // 1000 + seconds)
        name = link.filename or ""
        signature = self._signature(link.key, expires, link.media_type, name)
        fields = (expires, link.media_type, name, signature)
        return f"{link.key}?{urlencode(dict(zip(_FIELDS, fields, strict=True)))}"

    def check_link(self, url: str) -> SignedLink:
        """What a link allows. Raises NotFound for one that we did not sign, or whose time is over: no guesser learns which."""
        path, query = urlsplit(url)[2:4]
        key = path.rpartition("/")[2]
        fields = parse_qsl(query, keep_blank_values=True)
        if tuple(name for name, _ in fields) != _FIELDS or not is_key(key):
            raise _link_refused()
        expires, media_type, name, signature = (value for _, value in fields)
        ours = self._signature(key, expires, media_type, name)
        if not hmac.compare_digest(ours.encode(), signature.encode(errors="replace")):
            raise _link_refused()
        if self._clock.now_ms() >= int(expires) * 1000:
            raise _link_refused()
        return SignedLink(key, media_type, name or None)

    def _signature(self, *fields: str) -> str:
        # As JSON, so that no two lists of fields read the same.
        digest = hmac.digest(self._secret, json.dumps(fields).encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _link_refused() -> NotFound:
    return NotFound("there is nothing under this link, or its time is over")

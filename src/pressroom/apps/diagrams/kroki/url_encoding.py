"""A diagram that travels in a URL: deflated, then in base64 with the letters that a URL may hold."""

import base64
import binascii
import re
import string
import zlib

from pressroom.errors import InvalidArgument, TooLarge

ENCODED_LIMIT = 32 * 1024  # eight times what Kroki takes by default; past it a diagram is better posted

_BASE64 = re.compile(r"[A-Za-z0-9_-]+")
_URL_LETTERS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
_PLANTUML_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase + "-_"
_FROM_PLANTUML = str.maketrans(_PLANTUML_LETTERS, _URL_LETTERS)

_ZLIB, _BARE, _GZIP = zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS | 16


class _Undecodable(Exception):
    pass


def decode_source(encoded: str, *, limit: int, plantuml: bool = False) -> bytes:
    """The source, which is UTF-8 and has at most `limit` bytes. Raises InvalidArgument or TooLarge.

    `plantuml` allows PlantUML's own encoding besides, which has the same letters in another order and no checksum.
    """
    text = encoded.strip().rstrip("=").replace("+", "-").replace("/", "_")
    readings = [(text, _ZLIB), (text, _BARE), (text, _GZIP)]
    if plantuml:
        readings.insert(1, (text.removeprefix("~1").translate(_FROM_PLANTUML), _BARE))
    reason = _Undecodable("it is empty")
    for letters, framing in readings if text else ():
        try:
            return _decode_source(letters, framing, limit)
        except _Undecodable as error:
            reason = error if framing == _ZLIB else reason  # report the error of the usual encoding
    raise InvalidArgument(f"the source cannot be decoded: {reason}; deflate it, then write it in URL-safe base64")


def _decode_source(letters: str, framing: int, limit: int) -> bytes:
    if not _BASE64.fullmatch(letters):
        raise _Undecodable("it holds characters that are not base64")
    try:
        packed = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    except binascii.Error:
        raise _Undecodable("it is not a whole number of base64 characters") from None
    source = _inflate(packed, framing, limit)
    try:
        source.decode()
    except UnicodeDecodeError:
        raise _Undecodable("it is not text in UTF-8") from None
    return source


def _inflate(packed: bytes, framing: int, limit: int) -> bytes:
    """Never makes more than the limit: a kilobyte may claim to be a gigabyte."""
    stream = zlib.decompressobj(framing)
    try:
        source = stream.decompress(packed, limit + 1)
    except zlib.error:
        raise _Undecodable("it is not deflated") from None
    if len(source) > limit:
        raise TooLarge(f"the source has more than {limit:,} bytes when it is inflated")
    if not stream.eof:
        raise _Undecodable("it ends too early")
    return source

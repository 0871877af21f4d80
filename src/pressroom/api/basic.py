"""Basic authentication, for clients of the diagrams service that know nothing else (AUTH_ENABLED, AUTH_USER, AUTH_PASS)."""

import base64
import binascii
import hashlib
import hmac

from pressroom.api.access import Caller, Scope


class BasicAuth:
    """One user, who may submit into the default organisation."""

    def __init__(self, user: str, password: str) -> None:
        self._expected = _digest(f"{user}:{password}".encode())
        self._caller = Caller(user, Scope.SUBMITTER)

    def caller(self, credentials: str) -> Caller | None:
        """Who these base64 letters name, or None. Every wrong answer takes the same time."""
        try:
            given = base64.b64decode(credentials, validate=True)
        except (binascii.Error, ValueError):
            return None
        return self._caller if hmac.compare_digest(_digest(given), self._expected) else None


def _digest(credentials: bytes) -> bytes:
    """Of one length, because a comparison of two lengths ends early."""
    return hashlib.sha256(credentials).digest()

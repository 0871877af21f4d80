"""Settings of alerts: where they are posted, and how long they are kept."""

import base64
import binascii
from dataclasses import dataclass

from pressroom.config.declaration import Alias, DeclaredSettings, ValueCheck, setting

A_DAY = 24 * 3600.0
_SECRET_PREFIX = "whsec_"  # noqa: S105


def _is_address(text: str) -> bool:
    return not text or text.startswith(("https://", "http://"))


def _is_signing_secret(text: str) -> bool:
    """Standard Webhooks: 24 to 64 bytes in Base64."""
    if not text:
        return True
    try:
        key = base64.b64decode(text.removeprefix(_SECRET_PREFIX), validate=True)
    except binascii.Error:
        return False
    return text.startswith(_SECRET_PREFIX) and 24 <= len(key) <= 64


@dataclass(frozen=True)
class AlertSettings(DeclaredSettings):
    alert_webhook_url: str = setting(
        "",
        "every alert of every organisation is posted here ([webhooks.md](webhooks.md#alerts)). It follows the rules of "
        "webhooks: https and public, unless `webhook_allow` names its host. Never shown or logged. Every process that "
        "works has the same",
        ValueCheck(_is_address, "the address must begin with https://, or with http:// for a host in webhook_allow"),
        aliases=(Alias("ALERT_WEBHOOK_URL"),),
        secret=True,
    )
    alert_webhook_secret: str = setting(
        "",
        "signs what is posted to `alert_webhook_url`: `whsec_` and 24 to 64 bytes in Base64 (`openssl rand -base64 32`). "
        "Without it these requests are not signed. Never shown",
        ValueCheck(_is_signing_secret, "a secret is whsec_ and 24 to 64 bytes in Base64"),
        aliases=(Alias("ALERT_WEBHOOK_SECRET"),),
        secret=True,
    )
    alert_retention: float = setting(
        30 * A_DAY,
        "seconds for which an acknowledged alert is kept, a day at least; open ones are kept until they are acknowledged",
        ValueCheck(lambda value: value >= A_DAY, "{:g} s is less than a day (86400)"),
    )

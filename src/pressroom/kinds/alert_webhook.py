"""The address that the settings name for alerts: a webhook of every organisation. Only the settings know its URL and secret."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import msgspec

from pressroom.config import Settings
from pressroom.errors import Backpressure, InvalidSettings, Refused
from pressroom.notify.addresses import AddressRefused, parse_target
from pressroom.notify.standard_webhooks import ALERT_RAISED
from pressroom.store import Database
from pressroom.store.webhooks import webhooks
from pressroom.store.webhooks.webhooks import DeliveryAttempt, Webhook

RETRY_AFTER = 60.0  # seconds until a delivery is tried again by a process that may know the address
UNSET = "alert_webhook_url is not set"


class SetBySettings(Refused):
    code = "set_by_settings"
    status = 409


@dataclass(frozen=True)
class AlertWebhook:
    """Without a `url` there is none. Neither field may be logged."""

    url: str = ""
    secret: str = ""

    @property
    def shown_url(self) -> str | None:
        """The address without its path and query, which may be secrets."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…" if self.url else None

    async def declare(self, database: Database) -> None:
        """Before the first job of this process can fail. The process that was started last decides."""
        await database.run(partial(webhooks.declare_alert_webhook, self.shown_url, [ALERT_RAISED], UNSET), name="webhook")

    def complete(self, attempt: DeliveryAttempt) -> DeliveryAttempt:
        """With the address and the secret of this process's settings. Raises Backpressure, which costs no attempt."""
        if not self.url:
            raise Backpressure("this process has no alert_webhook_url; set it as in the others", retry_after=RETRY_AFTER)
        webhook = msgspec.structs.replace(attempt.webhook, url=self.url)
        return msgspec.structs.replace(attempt, webhook=webhook, secrets=[self.secret] if self.secret else [])


def alert_webhook_of(settings: Settings) -> AlertWebhook:
    """Raises InvalidSettings."""
    if settings.alert_webhook_url:
        _check(settings.alert_webhook_url, settings.webhook_allow)
    return AlertWebhook(settings.alert_webhook_url, settings.alert_webhook_secret)


def _check(url: str, allow: Collection[str]) -> None:
    try:
        parse_target(url, allow)
    except AddressRefused as reason:
        raise InvalidSettings([f"alert_webhook_url: {reason}"]) from None


def refuse_change(webhook: Webhook) -> None:
    """Raises SetBySettings."""
    if webhook.is_from_settings:
        raise SetBySettings("this webhook is set by alert_webhook_url and alert_webhook_secret; change these settings")

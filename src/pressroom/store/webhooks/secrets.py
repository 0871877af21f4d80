"""Webhook secrets as rows: encrypted, if there is a key to encrypt with (see sealing.py)."""

from pressroom.model import Statement, Work
from pressroom.sealing import Keyring


def webhook_context(uid: str) -> str:
    return f"webhook {uid}"


def count_unsealed_webhook_secrets(prefix: str) -> Work[int]:
    """How many do not begin like this."""
    ((count,),) = yield Statement("count_unsealed_webhook_secrets", {"prefix": prefix})
    return int(count)


def seal_webhook_secrets(keyring: Keyring) -> Work[int]:
    """Encrypt what an older version stored as it is, or what another key has encrypted."""
    rows = yield Statement("list_unsealed_webhook_secrets", {"prefix": keyring.prefix})
    for webhook, secret in rows:
        context = webhook_context(webhook)
        sealed = keyring.seal(keyring.open(secret, context), context)
        yield Statement("seal_webhook_secret", {"webhook": webhook, "secret": secret, "sealed": sealed})
    return len(rows)

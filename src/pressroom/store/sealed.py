"""Secrets as rows: webhook secrets are encrypted, and embed keys of named diagrams hashed and encrypted.

The hash of an embed key is in the column `link` of a diagram, by which it is found, and the encrypted key in `sealed_link`, so
that an owner can be shown it again. Without a key to encrypt with (see sealing.py), `link` is the embed key itself and
`sealed_link` is NULL.
"""

from pressroom.model import Statement, Work
from pressroom.sealing import Keyring
from pressroom.store.artifacts import link_digest, new_link


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


def embed_key_context(digest: str) -> str:
    return f"embed key {digest}"


def new_embed_key(keyring: Keyring) -> dict[str, str | None]:
    """The columns of a new diagram."""
    return embed_key_columns(new_link(), keyring)


def embed_key_columns(key: str, keyring: Keyring) -> dict[str, str | None]:
    if not keyring.can_seal:
        return {"link": key, "sealed_link": None}
    digest = link_digest(key)
    return {"link": digest, "sealed_link": keyring.seal(key, embed_key_context(digest))}


def any_unsealed_embed_key() -> Work[bool]:
    return bool((yield Statement("any_unsealed_embed_key")))


def seal_embed_keys(keyring: Keyring) -> Work[int]:
    """Hash and encrypt the keys that an older version stored as they are."""
    rows = yield Statement("list_unsealed_embed_keys")
    for id, key in rows:
        yield Statement("seal_embed_key", {"id": id, "key": key, **embed_key_columns(key, keyring)})
    return len(rows)

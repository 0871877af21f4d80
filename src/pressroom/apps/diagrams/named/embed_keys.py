"""The key with which a page shows a named diagram without a token (`?key=`), for those who own the diagram.

Its hash is in the column `link` of a diagram, by which it is found, and the encrypted key in `sealed_link`, so that an owner
can be shown it again. Without a key to encrypt with (see sealing.py), `link` is the embed key and `sealed_link` is NULL.
"""

from pressroom.apps.diagrams.named.versions import NamedDiagram
from pressroom.errors import CannotUnseal
from pressroom.model import Statement, Work
from pressroom.sealing import Keyring
from pressroom.store.artifacts.artifacts import link_digest, new_link


def embed_key(named: NamedDiagram, keyring: Keyring) -> str:
    """Empty if it was encrypted with a key that this process does not have; the diagram itself is shown all the same."""
    if named.sealed_link is None:
        return named.link
    try:
        return keyring.open(named.sealed_link, _seal_context(named.link))
    except CannotUnseal:
        return ""


def new_embed_key(keyring: Keyring) -> dict[str, str | None]:
    """The columns of a new diagram."""
    return _key_columns(new_link(), keyring)


def any_unsealed_embed_key() -> Work[bool]:
    return bool((yield Statement("diagrams.any_unsealed_embed_key")))


def seal_embed_keys(keyring: Keyring) -> Work[int]:
    """Hash and encrypt the keys that an older version stored as they are."""
    rows = yield Statement("diagrams.list_unsealed_embed_keys")
    for id, key in rows:
        yield Statement("diagrams.seal_embed_key", {"id": id, "key": key, **_key_columns(key, keyring)})
    return len(rows)


def _key_columns(key: str, keyring: Keyring) -> dict[str, str | None]:
    if not keyring.can_seal:
        return {"link": key, "sealed_link": None}
    digest = link_digest(key)
    return {"link": digest, "sealed_link": keyring.seal(key, _seal_context(digest))}


def _seal_context(digest: str) -> str:
    return f"embed key {digest}"

"""The key with which a page shows a named diagram without a token (`?key=`), for those who own the diagram."""

from pressroom.apps.diagrams.versions import Named
from pressroom.errors import CannotUnseal
from pressroom.sealing import Keyring
from pressroom.store.sealed import embed_key_context


def key_of(named: Named, keyring: Keyring) -> str:
    """Empty if it was encrypted with a key that this process does not have; the diagram itself is shown all the same."""
    if named.sealed_link is None:
        return named.link
    try:
        return keyring.open(named.sealed_link, embed_key_context(named.link))
    except CannotUnseal:
        return ""

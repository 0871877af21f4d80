"""What others wrote is in the tree as they published it."""

import hashlib

from tools import vendor

# Of the file that `python -m tools.vendor` makes. It changes when a version there does, and not otherwise.
DIGEST = "3e07711d9cb347a7e85eca7f259a6c741a91356dc18ea3a6e2097e189f60985f"


def test_the_bundle_is_what_was_published() -> None:
    data = vendor.TARGET.read_bytes()

    assert data.decode().startswith(vendor.heading())
    assert hashlib.sha256(data).hexdigest() == DIGEST

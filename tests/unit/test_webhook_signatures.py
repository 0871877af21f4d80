from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook

from pressroom.notify import standard_webhooks
from tests.depth import by_depth


@settings(max_examples=by_depth(30, 500))
@given(st.text(), st.integers(0, 4_102_444_800), st.uuids())
def test_our_signature_is_the_one_of_the_library(body: str, seconds: int, id: object) -> None:
    secret = standard_webhooks.new_secret()
    signature = standard_webhooks.sign(secret, f"msg_{id}", seconds, body.encode())
    assert signature == Webhook(secret).sign(f"msg_{id}", datetime.fromtimestamp(seconds, UTC), body)

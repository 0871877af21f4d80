"""A render is prepared once in the process that takes the request, and handed on."""

import pytest

from tools import trace_request


@pytest.mark.deep
async def test_a_miss_is_prepared_once() -> None:
    request, job = await trace_request.trace()
    once = {"planned": 1, "checked": 1, "engines found": 1}
    # A hit is answered without a transaction, so a miss asks the cache again in the transaction that submits.
    assert trace_request.counts_of(request) == once | {"fingerprinted": 1, "cache asked": 2}
    assert trace_request.counts_of(job) == once | {"fingerprinted": 0, "cache asked": 0}

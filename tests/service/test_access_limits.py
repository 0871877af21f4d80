"""How many requests a minute: 429 is the caller's quota, and every answer tells how they stand."""

import pytest

from pressroom.api.access import Scope
from pressroom.api.limits import Buckets, Quotas, network_of
from tests.service.access_stage import on_stage


class Watch:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_with_requests_and_fills_with_time() -> None:
    watch = Watch()
    bucket = Buckets("token", 60, watch)

    taken = [bucket.take("a") for _ in range(61)]

    assert [one.left for one in taken[:3]] == [59, 58, 57]
    assert not taken[59].refused
    assert taken[60].refused
    assert taken[60].wait == 1, "one drop a second falls back"
    assert not bucket.take("b").refused, "everybody has their own"
    watch.now += 1
    assert not bucket.take("a").refused
    assert bucket.take("a").refused
    watch.now += 3600
    assert bucket.take("a").left == 59, "it holds no more than its quota"
    watch.now -= 100
    assert bucket.take("a").left == 58, "a clock that goes back takes nothing away"


def test_what_is_remembered_of_callers_is_bounded() -> None:
    bucket = Buckets("address", 10)
    for number in range(20_000):
        bucket.take(str(number))

    assert len(bucket) == 10_000


def test_a_caller_that_keeps_coming_is_not_forgotten_for_others() -> None:
    bucket = Buckets("address", 10, Watch())
    for _ in range(10):
        bucket.take("busy")

    for number in range(25_000):
        bucket.take(str(number))
        if number % 5_000 == 0:
            assert bucket.take("busy").refused, "it was seen more lately than those that came once"


async def test_a_token_past_its_quota_is_told_when_to_come_back(file: str) -> None:
    async with on_stage(file, works=False, rate_limit=2) as stage:
        ours, other = await stage.token(Scope.VIEWER), await stage.token(Scope.VIEWER)
        async with stage.client(ours) as client, stage.client(other) as neighbour:
            first, second, third = [await client.get("/jobs") for _ in range(3)]
            elsewhere = await neighbour.get("/jobs")

    assert [one.status_code for one in (first, second, third)] == [200, 200, 429]
    assert first.headers["ratelimit-policy"] == '"token";q=2;w=60'
    assert first.headers["ratelimit"] == '"token";r=1;t=30'
    assert third.headers["content-type"] == "application/problem+json"
    assert third.json()["code"] == "quota_exceeded"
    assert third.json()["retryable"] is True
    assert third.headers["ratelimit"].startswith('"token";r=0;t=')
    assert int(third.headers["retry-after"]) >= int(third.headers["ratelimit"].rpartition("=")[2])
    assert elsewhere.status_code == 200


async def test_a_page_that_asks_twice_who_sent_a_request_counts_it_once(file: str) -> None:
    async with on_stage(file, works=False, rate_limit=60) as stage, stage.client(await stage.token(Scope.VIEWER)) as client:
        page = await client.get("/desk/jobs")

    assert page.status_code == 200
    assert page.headers["ratelimit"] == '"token";r=59;t=1'


async def test_an_address_is_counted_before_anybody_asks_for_a_token(file: str) -> None:
    async with on_stage(file, works=False, rate_limit_address=2) as stage:
        async with stage.client() as guesser:
            answers = [await guesser.get("/jobs", headers={"Authorization": f"Bearer {n}"}) for n in range(3)]
            alive = await guesser.get("/livez")
        async with stage.client(address=("203.0.113.10", 1)) as neighbour:
            assert (await neighbour.get("/jobs")).status_code == 401

    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert answers[2].headers["ratelimit-policy"] == '"address";q=2;w=60'
    assert answers[2].headers["x-request-id"] == answers[2].json()["request_id"]
    assert alive.status_code == 200, "probes are not counted"


async def test_addresses_of_one_network_of_ipv6_are_one(file: str) -> None:
    async with on_stage(file, works=False, rate_limit_address=1) as stage:
        statuses = []
        for address in ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1"):
            async with stage.client(address=(address, 1)) as client:
                statuses.append((await client.get("/jobs")).status_code)

    assert statuses == [401, 429, 401]


@pytest.mark.parametrize(
    ("listen", "settings", "limited"),
    [
        ("127.0.0.1:8000", {"rate_limit": None, "rate_limit_address": None}, (False, False)),
        ("127.0.0.1:8000", {"rate_limit": 5, "rate_limit_address": 5}, (True, True)),
        ("0.0.0.0:8000", {"rate_limit": None, "rate_limit_address": None}, (True, True)),
        ("0.0.0.0:8000", {"rate_limit": 0, "rate_limit_address": 0}, (False, False)),
    ],
)
async def test_nobody_is_counted_on_the_loopback_unless_it_is_asked_for(file, listen, settings, limited) -> None:  # type: ignore[no-untyped-def]
    async with on_stage(file, works=False, listen=listen, **settings) as stage:
        quotas: Quotas = stage.service.quotas
        assert (quotas.tokens is not None, quotas.addresses is not None) == limited


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),  # as a socket for both protocols names it: the /64 would be all of IPv4
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_a_caller_is_counted_by_its_address_or_by_its_network_of_ipv6(host: str, network: str) -> None:
    assert network_of(host) == network

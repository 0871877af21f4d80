"""Credentials that expire are renewed before they do, once for all callers, and never on the event loop."""

import asyncio
import threading

import pytest

from pressroom.artifacts import LINK_SECONDS
from pressroom.artifacts.credentials import RENEW_BEFORE, RETRY_EVERY, Credentials, RenewedCredentials
from pressroom.errors import S3CredentialsExpired, S3CredentialsFailed, S3CredentialsMissing, StoreUnavailable
from pressroom.testing import ManualClock

HOUR = 3600.0


class Source:
    """Credentials that live for an hour, each with a number."""

    def __init__(self, clock: ManualClock, lifetime: float | None = HOUR) -> None:
        self.clock = clock
        self.lifetime = lifetime
        self.fetched = 0
        self.threads: set[int] = set()
        self.failure: Exception | None = None
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __call__(self) -> Credentials:
        self.fetched += 1
        self.threads.add(threading.get_ident())
        self.may_answer.wait(60)
        if self.failure is not None:
            raise self.failure
        expires_at = None if self.lifetime is None else self.clock.now_ms() / 1000 + self.lifetime
        return Credentials(f"key-{self.fetched}", "s3cret", "t0ken", expires_at, "a test")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def source(clock: ManualClock) -> Source:
    return Source(clock)


@pytest.fixture
def credentials(source: Source, clock: ManualClock) -> RenewedCredentials:
    return RenewedCredentials(source, clock)


async def key_of(credentials: RenewedCredentials) -> str:
    return (await credentials.current()).access_key


async def renewed(credentials: RenewedCredentials) -> None:
    """The renewal that a caller did not wait for."""
    assert credentials._renewal is not None
    await credentials._renewal


async def test_many_callers_wait_for_one_fetch_in_a_thread(source: Source, credentials: RenewedCredentials) -> None:
    source.may_answer.clear()
    callers = [asyncio.create_task(key_of(credentials)) for _ in range(50)]
    while not source.fetched:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    callers[0].cancel()  # does not cancel it for the others
    await asyncio.sleep(0)
    source.may_answer.set()

    assert await asyncio.gather(*callers[1:]) == ["key-1"] * 49
    assert source.fetched == 1
    assert threading.get_ident() not in source.threads


async def test_they_are_renewed_before_they_expire_and_callers_do_not_wait(
    source: Source, credentials: RenewedCredentials, clock: ManualClock
) -> None:
    assert await key_of(credentials) == "key-1"
    clock.advance(seconds=HOUR - RENEW_BEFORE - 1)
    assert await key_of(credentials) == "key-1"
    assert source.fetched == 1

    clock.advance(seconds=1)
    assert await key_of(credentials) == "key-1"
    await renewed(credentials)
    assert await key_of(credentials) == "key-2"
    assert RENEW_BEFORE > LINK_SECONDS  # so that a link that is made just before still lives as long as others


async def test_a_renewal_that_fails_matters_only_when_they_have_expired(
    source: Source, credentials: RenewedCredentials, clock: ManualClock
) -> None:
    await key_of(credentials)
    source.failure = S3CredentialsFailed("STS does not answer")
    clock.advance(seconds=HOUR - RENEW_BEFORE)

    assert await key_of(credentials) == "key-1"
    await renewed(credentials)
    for _ in range(5):  # not tried again at once
        assert await key_of(credentials) == "key-1"
    assert source.fetched == 2
    clock.advance(seconds=RETRY_EVERY)
    assert await key_of(credentials) == "key-1"
    await renewed(credentials)
    assert source.fetched == 3

    clock.advance(seconds=RENEW_BEFORE)
    with pytest.raises(S3CredentialsExpired, match=r"from a test expired at 2027-01-15T09:00:00Z .*: STS does not answer"):
        await credentials.current()
    with pytest.raises(S3CredentialsExpired):
        credentials.cached()

    source.failure = None
    clock.advance(seconds=1)
    assert await key_of(credentials) == "key-5"


async def test_what_was_never_there_is_told_with_its_cause_and_looked_for_again(
    source: Source, credentials: RenewedCredentials, clock: ManualClock
) -> None:
    with pytest.raises(S3CredentialsMissing):
        credentials.cached()

    source.failure = S3CredentialsMissing("there are no S3 credentials")
    for _ in range(3):
        with pytest.raises(S3CredentialsMissing, match="there are no S3 credentials"):
            await credentials.current()
    assert source.fetched == 1

    source.failure = ZeroDivisionError("s3cret")
    clock.advance(seconds=1)
    with pytest.raises(StoreUnavailable, match=r"ZeroDivisionError$"):
        await credentials.current()

    source.failure = None
    clock.advance(seconds=1)
    assert await key_of(credentials) == "key-3"


async def test_those_without_an_expiry_are_read_again_now_and_then(clock: ManualClock) -> None:
    """Whoever rotates the keys in a shared file does not restart us."""
    source = Source(clock, lifetime=None)
    credentials = RenewedCredentials(source, clock)
    assert await key_of(credentials) == "key-1"
    clock.advance(seconds=61)
    await credentials.current()
    await renewed(credentials)
    assert await key_of(credentials) == "key-2"

    source.failure = S3CredentialsFailed("the file is being written")
    clock.advance(days=1)
    assert await key_of(credentials) == "key-2"
    await renewed(credentials)
    assert await key_of(credentials) == "key-2"


async def test_an_instance_that_returns_the_old_ones_is_not_asked_by_every_caller(
    source: Source, credentials: RenewedCredentials, clock: ManualClock
) -> None:
    old = await credentials.current()
    clock.advance(seconds=HOUR - RENEW_BEFORE)
    source.fetched = 0
    answers = iter([old, old])
    credentials._fetch = lambda: next(answers)
    for _ in range(5):
        assert await credentials.current() == old
        await renewed(credentials)
    assert len(list(answers)) == 1


async def test_those_that_live_for_a_few_minutes_are_renewed_at_half_their_time(
    clock: ManualClock, source: Source, credentials: RenewedCredentials
) -> None:
    source.lifetime = RENEW_BEFORE / 2
    assert await key_of(credentials) == "key-1"

    clock.advance(seconds=source.lifetime / 2 - 1)
    await key_of(credentials)
    await renewed(credentials)
    assert (await key_of(credentials), source.fetched) == ("key-1", 1)
    clock.advance(seconds=1)
    await key_of(credentials)
    await renewed(credentials)

    assert (await key_of(credentials), source.fetched) == ("key-2", 2)


async def test_a_clock_that_was_set_back_does_not_keep_them_from_being_looked_for(
    source: Source, credentials: RenewedCredentials, clock: ManualClock
) -> None:
    source.failure = S3CredentialsMissing("none yet")
    with pytest.raises(S3CredentialsMissing):
        await credentials.current()
    clock.advance(days=-1)
    source.failure = None
    assert await key_of(credentials) == "key-2"


def test_neither_the_secret_nor_the_token_is_shown() -> None:
    shown = repr(Credentials("AKIA", "a-s3cret", "a-t0ken", 1.0, "a test"))
    assert "a-s3cret" not in shown
    assert "a-t0ken" not in shown

"""Links for downloading: they work for a while, for what they were made for, and for nothing else."""

import asyncio
from urllib.parse import urlsplit

import pytest

from pressroom.artifacts import LINK_SECONDS, Blob, key_of
from pressroom.artifacts.disposition import content_disposition
from pressroom.artifacts.s3 import S3
from pressroom.artifacts.signed_links import SignedLink, Signer
from pressroom.errors import InvalidArgument, NotFound
from pressroom.testing import ManualClock
from tests.contract.conftest import Shelf


@pytest.fixture
def blob(shelf: Shelf) -> Blob:
    return asyncio.run(shelf.blobs.put(b"<svg/>"))


def link(shelf: Shelf, blob: Blob, **asked: str | int) -> str:
    return asyncio.run(shelf.blobs.url(blob.key, **asked))


def test_a_link_gives_the_bytes_under_the_type_and_name_that_it_was_made_for(shelf: Shelf, blob: Blob) -> None:
    answer = shelf.fetch(link(shelf, blob, media_type="image/svg+xml", filename="Übersicht & Plan.svg"))

    assert (answer.status, answer.body, answer.media_type) == (200, b"<svg/>", "image/svg+xml")
    assert answer.disposition == (
        "attachment; filename=\"_bersicht & Plan.svg\"; filename*=UTF-8''%C3%9Cbersicht%20%26%20Plan.svg"
    )


def test_a_link_needs_no_name(shelf: Shelf, blob: Blob) -> None:
    answer = shelf.fetch(link(shelf, blob))

    assert (answer.status, answer.media_type, answer.disposition) == (200, "application/octet-stream", "attachment")


def test_a_link_works_for_its_time_and_no_longer(shelf: Shelf, blob: Blob) -> None:
    shelf.clock.advance(minutes=-9)
    young = link(shelf, blob)
    shelf.clock.advance(minutes=-2)
    old = link(shelf, blob)
    shelf.clock.advance(minutes=11)

    assert shelf.fetch(young).status == 200
    assert shelf.fetch(old).status == {"disk": 404, "s3": 403}[shelf.kind]


def test_a_link_of_ours_works_until_the_last_millisecond_of_its_time() -> None:
    clock = ManualClock(1_700_000_000_000)
    signer = Signer(b"secret", clock)
    allowed = SignedLink(key_of("0" * 64, 0), "image/svg+xml", "a.svg")
    url = f"/blobs/{signer.sign(allowed, seconds=LINK_SECONDS)}"

    assert signer.check_link(url) == allowed
    clock.advance(seconds=LINK_SECONDS - 0.001)
    assert signer.check_link(url) == allowed
    clock.advance(seconds=0.001)
    with pytest.raises(NotFound):
        signer.check_link(url)
    clock.advance(hours=24)
    with pytest.raises(NotFound):
        signer.check_link(url)


def test_a_link_that_was_made_within_a_second_works_no_longer_than_its_time() -> None:
    clock = ManualClock(1_700_000_000_999)
    signer = Signer(b"secret", clock)
    url = f"/blobs/{signer.sign(SignedLink(key_of('0' * 64, 0), 'text/plain', None), seconds=60)}"

    clock.advance(seconds=59)
    assert signer.check_link(url).filename is None
    clock.advance(seconds=1)
    with pytest.raises(NotFound):
        signer.check_link(url)


def test_a_link_cannot_be_changed(shelf: Shelf, blob: Blob) -> None:
    other = asyncio.run(shelf.blobs.put(b"<secret/>"))
    url = link(shelf, blob, media_type="image/svg+xml", filename="a.svg")
    _, _, path, query, _ = urlsplit(url)
    fields = query.split("&")

    changed = [url.replace(blob.key, other.key), url.replace(path, path + "-1"), url.partition("?")[0]]
    for number, field in enumerate(fields):
        without = [*fields[:number], *fields[number + 1 :]]
        changed.append(url.replace(query, "&".join(without)))
        changed.append(url.replace(field, field[:-1] + ("0" if field[-1] != "0" else "1")))

    assert shelf.fetch(url).status == 200
    assert {shelf.fetch(one).status for one in changed} <= {400, 403, 404}


def test_a_link_to_nothing_gives_nothing(shelf: Shelf) -> None:
    assert shelf.fetch(link(shelf, Blob("0" * 64, 0))).status == 404


@pytest.mark.parametrize(
    "media_type", ["", "text", "text/html\r\nSet-Cookie: x", 'text/html; charset=utf-8; x="\n"', "a" * 300]
)
def test_what_is_no_media_type_is_refused(shelf: Shelf, blob: Blob, media_type: str) -> None:
    with pytest.raises(InvalidArgument):
        link(shelf, blob, media_type=media_type)


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("plan.pdf", 'attachment; filename="plan.pdf"'),
        ('a"\r\nSet-Cookie: x', "attachment; filename=\"a_Set-Cookie: x\"; filename*=UTF-8''a%22Set-Cookie%3A%20x"),
        ("../../etc/passwd", 'attachment; filename="passwd"'),
        ("C:\\boot.ini", 'attachment; filename="boot.ini"'),
        (".htaccess", 'attachment; filename="htaccess"'),
        ("50%.pdf", "attachment; filename=\"50_.pdf\"; filename*=UTF-8''50%25.pdf"),
        ("evil\u202efdp.exe", 'attachment; filename="evilfdp.exe"'),
        ("\ud800.pdf", 'attachment; filename="pdf"'),
        ("..", "attachment"),
        ("", "attachment"),
        ("x" * 300 + ".pdf", f'attachment; filename="{"x" * 146}.pdf"'),
    ],
)
def test_a_name_can_do_no_harm_in_a_header(filename: str, expected: str) -> None:
    assert content_disposition(filename) == expected
    assert content_disposition(filename).isascii()


def test_browsers_are_sent_to_the_address_that_they_can_reach(shelf: Shelf, blob: Blob) -> None:
    if shelf.bucket is None:
        return
    port = shelf.bucket.endpoint.rpartition(":")[2]
    public = S3(
        type(shelf.bucket)(**{**vars(shelf.bucket), "presign_endpoint": f"localhost:{port}", "use_ssl": False}), shelf.clock
    )

    url = asyncio.run(public.url(blob.key, media_type="image/svg+xml"))

    assert url.startswith(f"http://localhost:{port}/artifacts/test/")
    assert shelf.fetch(url).body == b"<svg/>"
    assert "a-test-secret" not in url + repr(shelf.bucket)

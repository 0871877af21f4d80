"""Whom a webhook may lead to. The letters are those of the catalogue of bad input."""

import asyncio
from ipaddress import ip_address
from typing import Any

import pytest

from pressroom.notify.addresses import AddressRefused, is_public, parse_target, resolve_public
from pressroom.notify.webhook_client import NoResponse, WebhookClient
from tests.service.webhook_stage import NAME, Resolver, receiving, trusting

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "url",
    [
        # N1: this machine
        "https://127.0.0.1/",
        "https://localhost/",
        "https://a.localhost/",
        "https://[::1]/",
        "https://0.0.0.0/",
        # N2: IPv4 as no person writes it
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://127.1/",
        "https://127.0.1/",
        "https://127.0.0.1./",
        "https://example.com./",
        "https://１２７.0.0.1/",
        "https://127。0。0。1/",
        "https://example.0x1/",
        "https://1.2.3.4.5/",
        "https://999.1.1.1/",
        # N3: IPv4 in IPv6, and nowhere
        "https://[::ffff:169.254.169.254]/",
        "https://[::ffff:7f00:1]/",
        "https://[::]/",
        "https://[::127.0.0.1]/",
        # N4: other ways to wrap an address
        "https://[2002:7f00:1::]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b:1::1]/",
        "https://[fec0::1]/",
        "https://[fe80::1]/",
        "https://[fe80::1%25eth0]/",
        "https://[fd00::1]/",
        "https://[2001::1]/",
        "https://[2001:db8::1]/",
        "https://[100::1]/",
        "https://[ff02::1]/",
        # private, shared, documentation, multicast
        "https://10.0.0.1/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.64.0.1/",
        "https://192.0.2.1/",
        "https://198.18.0.1/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        # N9: https only
        "http://example.com/",
        "HTTP://example.com/",
        # N10: other schemes, user names, fragments, back slashes
        "gopher://example.com/",
        "ftp://example.com/",
        "dict://example.com:11211/",
        "jar:https://example.com!/",
        "blob:https://example.com/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://user@127.0.0.1/",
        "https://user:secret@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com#@127.0.0.1/",
        "https://example.com/#x",
        "\\\\host\\share",
        "https:\\\\example.com\\",
        "https://example.com\\@127.0.0.1/",
        "//example.com/",
        "https:/example.com/",
        "https:///x",
        "https://",
        "",
        # ports of other services, and none at all
        "https://example.com:22/",
        "https://example.com:25/",
        "https://example.com:80/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:99999/",
        "https://example.com:+443/",
        # what would end up in a header
        "https://example.com/\r\nX: y",
        "https://example.com/a b",
        "https://example.com/\0",
        "https://exa mple.com/",
        "https://-example.com/",
        "https://example..com/",
        "https://exa_mple.com/",
        "https://intranet/",
        f"https://{'a' * 64}.com/",
        f"https://example.com/{'a' * 2048}",
    ],
)
def test_an_address_that_leads_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        parse_target(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://example.com", "example.com", 443, "/"),
        ("HTTPS://Example.COM/A?b=c@d", "example.com", 443, "/A?b=c@d"),
        ("https://example.com?x", "example.com", 443, "/?x"),
        ("https://example.com:8443/hook", "example.com", 8443, "/hook"),
        ("https://xn--bcher-kva.example/%C3%BC", "xn--bcher-kva.example", 443, "/%C3%BC"),
        (f"https://{PUBLIC}/", PUBLIC, 443, "/"),
        (f"https://[::ffff:{PUBLIC}]/", PUBLIC, 443, "/"),
        ("https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", 443, "/"),
    ],
)
def test_a_public_address_is_taken_as_it_is(url: str, host: str, port: int, path: str) -> None:
    target = parse_target(url)

    assert (target.host, target.port, target.path, target.trusted) == (host, port, path, False)


def test_the_operator_may_name_hosts_that_are_private_and_speak_http() -> None:
    allow = ("127.0.0.1:9000", "hooks.internal", "[::1]")

    assert parse_target("http://127.0.0.1:9000/x", allow).trusted
    assert parse_target("http://hooks.internal:81/", allow).trusted
    assert parse_target("https://[::1]/", allow).trusted
    for other in (
        "http://127.0.0.1:9001/",
        "http://127.0.0.2:9000/",
        "http://hooks.internal.evil.com/",
        "ftp://hooks.internal/",
    ):
        with pytest.raises(AddressRefused):
            parse_target(other, allow)


def test_an_empty_list_of_hosts_allows_none() -> None:
    """Another product took two empty lists for permission to go anywhere (CVE-2026-39383)."""
    with pytest.raises(AddressRefused):
        parse_target("http://127.0.0.1/", ())


@pytest.mark.parametrize(
    ("address", "public"),
    [
        (PUBLIC, True),
        ("8.8.8.8", True),
        ("::ffff:8.8.8.8", True),
        ("2606:4700::1111", True),
        ("::ffff:10.0.0.1", False),
        ("::a00:1", False),
        ("2001:20::1", False),
        ("3fff::1", False),
        ("192.88.99.1", False),
        ("240.0.0.1", False),
        ("100.127.255.255", False),
        ("4000::1", False),
    ],
)
def test_public_means_globally_routable_unicast(address: str, public: bool) -> None:
    assert is_public(ip_address(address)) is public


@pytest.mark.parametrize(
    "answers",
    [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["10.0.0.1", PUBLIC], [PUBLIC, "::ffff:169.254.169.254"], ["fe80::1%eth0"], []],
)
async def test_one_bad_address_in_the_answer_rejects_all(answers: list[str]) -> None:  # N6
    with pytest.raises(AddressRefused):
        await resolve_public(parse_target("https://rebind.example.com/"), Resolver(answers))


async def test_a_name_that_changes_its_mind_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:  # N6
    """Resolved once; the address that was checked is the one that is dialled. The next attempt checks anew."""
    dialled: list[str] = []

    async def dial(host: str, *_: Any, **__: Any) -> Any:
        dialled.append(host)
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio, "open_connection", dial)
    resolver = Resolver([PUBLIC], ["127.0.0.1"])
    client = WebhookClient(resolve=resolver)

    with pytest.raises(NoResponse, match="no connection"):
        await client.post("https://rebind.example.com/", {}, b"{}")
    assert (dialled, resolver.asked) == ([PUBLIC], 1)

    with pytest.raises(NoResponse, match="not public"):
        await client.post("https://rebind.example.com/", {}, b"{}")
    assert dialled == [PUBLIC]


async def test_the_checked_address_is_dialled_and_the_certificate_is_for_the_name() -> None:
    async with receiving(tls=True) as receiver:
        allow = (f"{NAME}:{receiver.port}", f"other.example.com:{receiver.port}")
        client = WebhookClient(allow, tls=trusting(), resolve=Resolver(["127.0.0.1"]))

        assert (await client.post(f"https://{NAME}:{receiver.port}/hook?a=b", {}, b"{}")).status == 204
        assert receiver.received[0].path == "/hook?a=b"
        assert receiver.received[0].headers["host"] == f"{NAME}:{receiver.port}"

        with pytest.raises(NoResponse, match="certificate"):
            await client.post(f"https://other.example.com:{receiver.port}/hook", {}, b"{}")
        with pytest.raises(NoResponse, match="certificate"):
            await WebhookClient(allow, resolve=Resolver(["127.0.0.1"])).post(f"https://{NAME}:{receiver.port}/", {}, b"{}")
        assert len(receiver.received) == 1


async def test_a_host_that_may_be_named_must_still_be_named_in_full() -> None:
    """A name of somebody else's that points at the same machine is judged by its address."""
    async with receiving(tls=True) as receiver:
        client = WebhookClient((f"127.0.0.1:{receiver.port}",), tls=trusting(), resolve=Resolver(["127.0.0.1"]))

        with pytest.raises(NoResponse, match="not public"):
            await client.post(f"https://{NAME}:{receiver.port}/hook", {}, b"{}")

        assert receiver.connections == 0


async def test_provisional_answers_are_passed_over_however_many_there_are() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 102 Processing\r\n\r\n" * 3 + b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        assert (await WebhookClient((place,)).post(f"http://{place}/", {}, b"")).status == 204

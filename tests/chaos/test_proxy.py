"""The proxy does to connections what it says, and reads along well enough to know a commit."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial

import psycopg
import pytest

from tests import looking
from tests.chaos.commits import OVER, Commits
from tests.chaos.proxy import Proxy, Words


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that says what it hears."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=say_again, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def say_again(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        while piece := connection.recv(1024):
            connection.sendall(piece)


def connected(proxy: Proxy) -> "closing[socket.socket]":
    return closing(socket.create_connection(("127.0.0.1", proxy.port), timeout=60))


def said(client: socket.socket, words: bytes) -> bytes:
    client.sendall(words)
    return client.recv(1024)


def test_in_fair_weather_everything_passes(echo: int) -> None:
    with Proxy(echo) as proxy, connected(proxy) as client:
        assert said(client, b"hello") == b"hello"


def test_whoever_is_refused_is_reset_and_nobody_gets_in_until_it_is_mended(echo: int) -> None:
    with Proxy(echo) as proxy:
        with connected(proxy) as client:
            assert said(client, b"hello") == b"hello"
            proxy.refuse()
            with pytest.raises(ConnectionError):
                said(client, b"there?") or said(client, b"there?")
        with pytest.raises(ConnectionRefusedError):
            connected(proxy)
        proxy.mend()
        with connected(proxy) as client:
            assert said(client, b"hello") == b"hello"


def test_what_stalls_goes_on_when_it_is_mended(echo: int) -> None:
    with Proxy(echo) as proxy, connected(proxy) as client:
        proxy.stall()
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            said(client, b"hello")
        proxy.mend()
        client.settimeout(60)
        assert client.recv(1024) == b"hello"


def test_a_half_open_connection_carries_one_way(echo: int) -> None:
    with Proxy(echo) as proxy, connected(proxy) as client:
        proxy.half_open()
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            said(client, b"lost")
        proxy.mend()
        client.settimeout(60)
        assert said(client, b"found") == b"found"


def test_a_reset_ends_connections_and_lets_new_ones_in(echo: int) -> None:
    with Proxy(echo) as proxy, connected(proxy) as client:
        assert said(client, b"hello") == b"hello"
        proxy.reset()
        with pytest.raises(ConnectionError):
            said(client, b"there?") or said(client, b"there?")
        with connected(proxy) as another:
            assert said(another, b"hello") == b"hello"


@pytest.mark.parametrize("pieces", [[b"COMMIT"], [b"COM", b"MIT"], [b"xCOMM", b"I", b"Ty"]])
def test_words_are_seen_however_they_are_cut_into_pieces(pieces: list[bytes]) -> None:
    watch = Words(b"COMMIT")

    assert [watch.sees(piece) for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_it_cuts_as_often_as_it_was_told_and_delivers_or_not(echo: int) -> None:
    with Proxy(echo, partial(Words, b"now")) as proxy:
        proxy.cut()
        with connected(proxy) as client, pytest.raises(ConnectionError):
            said(client, b"now") or said(client, b"again")
        with connected(proxy) as client:
            assert said(client, b"now") == b"now"
    assert (proxy.seen, proxy.cuts) == (2, 1)


class TestACommit:
    """I2: whether a commit that was not answered was done is for the server to know."""

    @pytest.fixture
    def table(self, on_server: str) -> str:
        looking.change(on_server, "CREATE TABLE public.word (word TEXT)")
        return on_server

    def behind(self, address: str, proxy: Proxy) -> "psycopg.Connection[tuple[int]]":
        host, _, database = address.rpartition("/")
        place = f"{host.rpartition(':')[0]}:{proxy.port}/{database}"
        return psycopg.connect(place, autocommit=True, prepare_threshold=2)

    @pytest.mark.parametrize("sent", ["one by one", "in a pipeline", "in one message"])
    @pytest.mark.parametrize("delivered", [True, False])
    def test_is_seen_and_cut_in_whichever_way_it_is_sent(self, table: str, sent: str, delivered: bool) -> None:
        with Proxy(_port(table), Commits, OVER) as proxy, closing(self.behind(table, proxy)) as connection:
            for number in range(4):  # from the third on, the statement is known by its name alone
                self.insert(connection, f"heard {number}", sent)
            assert proxy.seen >= 4  # one that comes in two pieces, to be prepared and to be carried out, is seen twice
            proxy.cut(delivered=delivered)
            with pytest.raises(psycopg.OperationalError):
                self.insert(connection, "unheard", sent)
            assert proxy.cuts == 1

        there = {word for (word,) in looking.rows(table, "SELECT word FROM public.word")}
        assert ("unheard" in there) == delivered

    def insert(self, connection: "psycopg.Connection[tuple[int]]", word: str, sent: str) -> None:
        if sent == "in one message":
            connection.execute(f"BEGIN; INSERT INTO public.word VALUES ('{word}'); COMMIT", prepare=False)
            return
        connection.execute("BEGIN", prepare=False)
        if sent == "one by one":
            connection.execute("INSERT INTO public.word VALUES (%s)", (word,))
            connection.execute("COMMIT", prepare=False)
            return
        with connection.pipeline():
            connection.execute("INSERT INTO public.word VALUES (%s)", (word,))
            connection.execute("COMMIT")


def _port(address: str) -> int:
    return int(address.rpartition("/")[0].rpartition(":")[2])

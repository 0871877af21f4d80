"""`./dev smoke packs`: run deploy/smoke-packs.sh against a server, a worker and a render service of their own."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
START_LIMIT = 300.0  # seconds, on a busy machine


def smoke_packs() -> int:
    with TemporaryDirectory(prefix="pressroom-smoke-") as home, ExitStack() as running:
        server, printer = (f"127.0.0.1:{_free_port()}" for _ in range(2))
        environ = os.environ | {"PRESSROOM_HOME": home, "RENDER_URL": f"http://{printer}", "PRESSROOM_PRESSES": "1"}
        running.enter_context(_process(["render-service", "--listen", printer], environ))
        serving = running.enter_context(_process(["serve", "--no-workers", "--listen", server], environ))
        _wait_until_ready(f"http://{server}/readyz", serving)
        running.enter_context(_process(["work", "--pool", "render"], environ))
        return subprocess.run([ROOT / "deploy/smoke-packs.sh", f"http://{server}"], env=environ, check=False).returncode


@contextmanager
def _process(argv: list[str], environ: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "pressroom", *argv]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_until_ready(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=10).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"{url} was never ready")


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    if sys.argv[1:] != ["packs"]:
        sys.exit("./dev smoke packs")
    sys.exit(smoke_packs())

"""`pressroom serve` as a process, on a database of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.servers import free_ports


@dataclass
class Served:
    url: str
    home: Path
    process: "subprocess.Popen[bytes]"
    environ: dict[str, str]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(300)

    def start(self) -> None:
        with (self.home / "log.txt").open("ab") as log:
            command = [sys.executable, "-m", "pressroom", "serve"]
            self.process = subprocess.Popen(command, env=self.environ, stdout=log, stderr=log)
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/livez", timeout=60).status_code == 200:
                    return
            except httpx.HTTPError:
                time.sleep(0.05)
        raise AssertionError((self.home / "log.txt").read_text()[-4000:])


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[Served]:
    (port,) = free_ports(1)
    plain = {name: value for name, value in os.environ.items() if not re.match("PRESSROOM_(?!ENGINES)", name)}
    patient = {
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PRESSROOM_IMPORTS": "tests.patient_service,tests.browser.kinds",
        "PRESSROOM_LEASE": "60",
    }
    environ = plain | patient | {"PRESSROOM_HOME": str(home), "PRESSROOM_LISTEN": f"127.0.0.1:{port}"} | settings
    served = Served(f"http://127.0.0.1:{port}", home, None, environ)  # type: ignore[arg-type]
    served.start()
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
            served.process.wait()

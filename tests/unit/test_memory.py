"""What a large form needed is given back, whatever thread has read it."""

import platform
import subprocess
import sys

import pytest

READ_LARGE_FORMS = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from pressroom.api.memory import return_large_blocks
from pressroom.web.forms import _parse_fields

THREADS = 6

def resident():
    return int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0]) / 1024

if sys.argv[1] == "returned":
    return_large_blocks()
form = b"source=" + b"%0D%0A" * 500_000
together = threading.Barrier(THREADS)

def read(_):
    together.wait()
    _parse_fields(bytes(form))

before = resident()
with ThreadPoolExecutor(THREADS) as threads:
    list(threads.map(read, range(THREADS)))
    print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="is about the memory of glibc")
def test_threads_that_have_read_large_forms_keep_no_memory() -> None:
    grown = {}
    for how in ("kept", "returned"):
        done = subprocess.run([sys.executable, "-c", READ_LARGE_FORMS, how], capture_output=True, text=True, check=True)
        grown[how] = float(done.stdout)

    assert grown["returned"] < 15, grown
    assert grown["kept"] > grown["returned"] + 10, f"this test shows nothing any more: {grown}"

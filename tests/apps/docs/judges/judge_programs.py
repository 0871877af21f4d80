"""The environment `judges` (requirements/judges.txt): Sphinx with its themes, MkDocs Material, sphobjinv and boto3.

Neither Pressroom nor its quick suite needs any of them.
"""

import fcntl
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.conformance.registries import ROOT, OutOfReach

LIMIT = 900  # seconds
# They reach this machine alone, and what they build has the same bytes each time.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
OFFLINE |= {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
REPEATABLE = {"SOURCE_DATE_EPOCH": "1577836800", "PYTHONHASHSEED": "0", "TZ": "UTC", "NO_MKDOCS_2_WARNING": "1"}


@cache
def judges_python() -> Path:
    """The interpreter of the environment, which is made if need be. Raises OutOfReach."""
    cache_folder = ROOT / ".cache"
    cache_folder.mkdir(exist_ok=True)
    with (cache_folder / "env-judges.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        made = subprocess.run([ROOT / "dev", "environment", "judges"], capture_output=True, text=True, timeout=LIMIT)
    if made.returncode:
        raise OutOfReach(f"the environment `judges` cannot be made: {made.stderr[-500:]}")
    return Path(made.stdout.split("\n")[-2])


def run_judge(*arguments: str | Path, environ: dict[str, str] | None = None, stdin: str = "") -> str:
    """What `python …` of the environment writes. Raises OutOfReach, and AssertionError if the program fails."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PRESSROOM_"))}
    command: Sequence[str | Path] = [judges_python(), *arguments]
    settings = plain | OFFLINE | REPEATABLE | (environ or {})
    done = subprocess.run(command, env=settings, input=stdin, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout

"""Whether a server, folder or package that the settings name can be used: a stable code for each cause, and how to mend it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pressroom.errors import InvalidSettings, PressroomError, Timeout, Unavailable

log = logging.getLogger("pressroom")

PROBE_TIMEOUT = 5.0  # seconds that one probe may take

PACKAGE_MISSING = "package_missing"
PROBE_FAILED = "probe_failed"

# Public: these codes are in docs/errors.md and never change.
MENDS: dict[str, str] = {
    "s3_unreachable": "start the S3 server, or correct s3_endpoint and s3_use_ssl",
    "s3_bucket_missing": "create the bucket, or correct s3_bucket",
    "s3_access_key_unknown": "correct s3_access_key, or the credentials that were found on this machine",
    "s3_secret_wrong": "correct s3_secret_key, or the credentials that were found on this machine",
    "s3_credentials_missing": "set s3_access_key and s3_secret_key, or give the process credentials as docs/settings.md says",
    "s3_credentials_failed": "see the message, and docs/settings.md, S3 credentials",
    "s3_credentials_expired": "find out why they were not renewed: see the message, and docs/settings.md, S3 credentials",
    "s3_access_denied": "allow this access key to list the bucket and to get, put and delete its objects",
    "s3_clock_skewed": "set the clock of this machine: S3 refuses signatures that are off by more than 15 minutes",
    "s3_refused": "see the S3 server's documentation for this error code, and check s3_endpoint and s3_region",
    "redis_unreachable": "start Redis, or correct redis_url",
    "redis_auth_failed": "correct the user and password in redis_url",
    "redis_command_denied": "allow this Redis user the commands and the keys that docs/redis.md names",
    "redis_loading": "wait until Redis has loaded its data",
    "redis_read_only": "let redis_url name the primary and not a replica",
    "redis_full": "give Redis more memory (maxmemory), or use it for less",
    "redis_refused": "see the message, and docs/redis.md",
    "oban_tables_missing": "start a Pressroom process with a role that may create tables; it makes them (docs/oban.md)",
    "oban_triggers_missing": "start a Pressroom process with delivery = oban and a role that owns the tables; it makes them",
    "oban_schema_outdated": "install the schema of the oban version that is installed here (docs/oban.md)",
    "oban_schema_mismatch": "give every process the same oban_schema, or move to another schema as docs/oban.md says",
    "render_unreachable": "start the render service, or correct render_url",
    "render_service_unknown": "let render_url name a Pressroom render service",
    "render_token_refused": "give this process and the render service the same render_token",
    "render_service_failing": "see the log of the render service, and docs/errors.md for its code",
    "import_failed": "correct the module, or the setting imports",
    "privileges_missing": "grant what docs/deployment.md lists for this role",
    "store_full": "free some space",
    "store_read_only": "let this user write to the folder, or name another one in the setting artifacts",
    "store_unavailable": "see the message, and docs/errors.md",
    PACKAGE_MISSING: "install the package that the message names",
    Timeout.code: f"find out why it does not answer within {PROBE_TIMEOUT:g} s",
    PROBE_FAILED: "see the log: this error was not expected",
}


class DependencyFailed(Unavailable):
    """`problem` is one of the codes in `MENDS`. The message holds no secrets."""

    code = "dependency_failed"

    def __init__(self, problem: str, message: str) -> None:
        super().__init__(message)
        self.problem = problem


class DependencyStatus(NamedTuple):
    """`code` is None if the dependency can be used."""

    name: str
    code: str | None
    detail: str

    @property
    def remedy(self) -> str:
        return "" if self.code is None else MENDS.get(self.code, f"see docs/errors.md, {self.code}")


type Probe = Callable[[], Awaitable[str]]
"""Uses a dependency, and returns what it is, for people. Raises PressroomError if it cannot be used."""


async def run_probe(name: str, probe: Probe) -> DependencyStatus:
    """Never raises, and takes no longer than `PROBE_TIMEOUT`."""
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            return DependencyStatus(name, None, await probe())
    except DependencyFailed as failed:
        return DependencyStatus(name, failed.problem, str(failed))
    except TimeoutError:
        return DependencyStatus(name, Timeout.code, f"no answer within {PROBE_TIMEOUT:g} s")
    except InvalidSettings as invalid:  # a package that the setting needs
        return DependencyStatus(name, PACKAGE_MISSING, str(invalid))
    except PressroomError as failed:
        return DependencyStatus(name, failed.code, str(failed))
    except Exception as unexpected:  # its text may hold an address with a password
        log.exception("the probe of %s failed", name)
        return DependencyStatus(name, PROBE_FAILED, type(unexpected).__name__)

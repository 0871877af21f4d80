"""All settings of the core in one value, and what follows from several of them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pressroom.config.addresses import is_postgres, mask_password, split_host_and_port
from pressroom.config.alert_settings import AlertSettings
from pressroom.config.artifact_settings import ArtifactSettings
from pressroom.config.declaration import DeclaredSettings
from pressroom.config.queue_settings import QueueSettings
from pressroom.config.service_settings import ServiceSettings

KEY_FILE = "pressroom.key"
SLOTS_PER_PRESS = 8
FEWEST_SLOTS = 16  # more than the diagrams that are rendered at once by default; that limit would have no effect otherwise


@dataclass(frozen=True)
class Settings(AlertSettings, ArtifactSettings, ServiceSettings, QueueSettings):  # fields come in the reverse order
    sections: Mapping[str, DeclaredSettings] = field(default_factory=dict)  # by the name of each app that has settings
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def problems(self) -> Iterator[str]:
        """What is wrong with the values, alone and together, those of the apps included."""
        yield from super().problems()
        if self.poll_interval > self.lease / 3:
            yield f"poll_interval: {self.poll_interval:g} s is too long for a lease of {self.lease:g} s; use at most a third"
        if self.delivery == "redis" and not self.redis_url.startswith(("redis://", "rediss://", "unix://")):
            yield f"redis_url: {mask_password(self.redis_url)!r} is not an address; use redis://HOST:PORT/0"
        if self.delivery == "oban" and not self.on_postgres:
            yield "delivery: oban delivers on PostgreSQL only; set database to postgresql://USER@HOST/NAME"
        if self.auth_enabled and not (self.auth_user and self.auth_pass):
            yield "auth_user and auth_pass: are needed when auth_enabled is set"
        if self.s3_bucket and not self.s3_endpoint:
            yield "s3_endpoint: is needed when s3_bucket is set"
        if self.s3_bucket and self.s3_secret_key and not self.s3_access_key:
            yield "s3_access_key: is needed when s3_secret_key is set"
        if self.s3_bucket and self.s3_access_key and not self.s3_secret_key:
            yield "s3_secret_key: is needed when s3_access_key is set"
        for app, section in self.sections.items():
            yield from (f"[{app}] {problem}" for problem in section.problems())

    @property
    def on_postgres(self) -> bool:
        return is_postgres(self.database)

    @property
    def database_label(self) -> str:
        """Where the database is, for people: a file, or an address without its password."""
        return mask_password(self.database) if self.on_postgres else self.path

    @property
    def path(self) -> str:
        """The SQLite file, or `:memory:`. One that is named without a folder lies in `home`."""
        path = self.database.removeprefix("sqlite:///")
        return str(Path(self.home) / path) if self.home and path != ":memory:" else path

    @property
    def address(self) -> tuple[str, int]:
        return split_host_and_port(self.listen)

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Where a worker process answers with its metrics, if anywhere."""
        return split_host_and_port(self.metrics_listen) if self.metrics_listen else None

    @property
    def artifact_folder(self) -> str:
        """Beside the database, unless it is set. A database in memory has its artifacts in a temporary folder: ''."""
        if self.artifacts or self.path == ":memory:":
            return self.artifacts
        if self.on_postgres:
            return str(Path(self.home) / "pressroom.artifacts")
        return str(Path(self.path).with_suffix(".artifacts"))

    @property
    def artifact_location(self) -> str:
        """Where artifacts go, as it is told to people."""
        if self.s3_bucket:
            prefix = f"/{self.s3_prefix.strip('/')}" if self.s3_prefix else ""
            return (
                f"artifacts in the bucket {self.s3_bucket}{prefix} at {mask_password(self.s3_endpoint) or 'the usual endpoint'}"
            )
        return f"artifacts in {self.artifact_folder or 'a temporary folder'}"

    @property
    def key_file(self) -> Path | None:
        """Where the key lies that encrypts secrets, unless `secret_key` is set. A database in memory has none."""
        if self.on_postgres:
            return Path(self.home) / KEY_FILE
        return None if self.path == ":memory:" else Path(self.path).with_suffix(".key")

    @property
    def slots(self) -> int:
        """Jobs in progress at once. By default several for each press, so that jobs commit while others are rendered."""
        return self.workers or max(FEWEST_SLOTS, SLOTS_PER_PRESS * self.press_count)

    @property
    def press_count(self) -> int:
        """Processes that render at once, for each engine."""
        return self.presses or os.cpu_count() or 1

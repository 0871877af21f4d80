"""Settings of rendering, of the cache, and of the place where artifacts are stored."""

import re
from dataclasses import dataclass

from pressroom.config.declaration import Alias, DeclaredSettings, ValueCheck, between, positive, setting

# Without a name and password: logs and pages show addresses, and the token has a setting of its own.
_SERVICE_URL = re.compile(r"https?://[^/?#@\s]+(/[^?#\s]*)?")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}")


@dataclass(frozen=True)
class ArtifactSettings(DeclaredSettings):
    presses: int = setting(
        0,
        "processes that may render at once for each engine; 0 is one per core. They start when there is work and exit "
        "after five idle minutes. With two or more, one is kept for interactive renders. Waiting for an engine process does "
        "not count against a job's time limit",
        between(0, 1000, zero="one per core"),
        aliases=(Alias("RENDER_WORKERS"),),
        file_alias="render_workers",
    )
    render_url: str = setting(
        "",
        "a render service ([render-service.md](render-service.md)), such as `http://render:8010`, that makes PDF files for the "
        "workers of this process. Needs the extra `client`",
        ValueCheck(
            lambda value: not value or _SERVICE_URL.fullmatch(value), "{!r} is not an address such as http://render:8010"
        ),
        aliases=(Alias("RENDER_URL"),),
        shown_default="this process makes them",
    )
    render_timeout: float = setting(
        120.0,
        "seconds that the render service has for one document, from the connection to the last byte",
        between(1, 3600, unit="s"),
        aliases=(Alias("RENDER_TIMEOUT_SEC"),),
    )
    render_token: str = setting(
        "",
        "the token that `pressroom render-service` asks for, and that workers send to `render_url`: 16 characters or more. "
        "Off the loopback the service does not start without it. Never shown",
        ValueCheck(lambda value: not value or _TOKEN.fullmatch(value), "a token has 16 to 512 letters, digits and -._~+/="),
        aliases=(Alias("RENDER_TOKEN"),),
        secret=True,
    )
    cache_ttl: float = setting(
        7 * 24 * 3600.0,
        "how long an output is found again by its input; its short link works for as long",
        positive(unit="s"),
    )
    cache_limit: int = setting(
        10 * 1024**3,
        "bytes that the cache may hold; beyond it the least recently used entries are evicted. Links kept in the "
        "playground are neither counted nor evicted. 0 is no limit",
        ValueCheck(lambda value: value >= 0, "{} is not 0 (no limit) or a number of bytes"),
    )
    artifacts: str = setting(
        "",
        "the folder that keeps what was rendered, unless `s3_bucket` is set",
        shown_default="beside the database: `pressroom.artifacts`",
    )
    s3_bucket: str = setting(
        "",
        "keep artifacts in this bucket instead of a folder",
        variable="S3_BUCKET",
    )
    s3_endpoint: str = setting(
        "",
        "the server of the bucket, as this process reaches it",
        variable="S3_ENDPOINT",
        aliases=(Alias("S3_ENDPOINT_URL"),),
    )
    s3_presign_endpoint: str = setting(
        "",
        "the same server as browsers reach it, for presigned links",
        variable="S3_PRESIGN_ENDPOINT",
        shown_default="`s3_endpoint`",
    )
    s3_access_key: str = setting(
        "",
        "the id of the key; never shown. Without credentials here they come from the environment or the role of the "
        "machine: see [S3 credentials](#s3-credentials)",
        variable="S3_ACCESS_KEY",
        secret=True,
    )
    s3_secret_key: str = setting(
        "",
        "the secret of the key; never shown",
        variable="S3_SECRET_KEY",
        secret=True,
    )
    s3_use_ssl: bool = setting(
        True,
        "for an endpoint that names no scheme",
        variable="S3_USE_SSL",
    )
    s3_region: str = setting(
        "us-east-1",
        "the region that requests are signed for",
        variable="S3_REGION",
    )
    s3_prefix: str = setting(
        "",
        "in front of every key, for a bucket that is shared",
        variable="S3_PREFIX",
    )

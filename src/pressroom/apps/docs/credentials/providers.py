"""What credentials and services may look like: the fields of each provider."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from pressroom.errors import InvalidArgument

LABEL = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
LONGEST_SECRET = 16_384  # characters; the key file of a service account has 2,400

# By the provider: the fields of a credential, each a text.
CREDENTIAL_FIELDS: Mapping[str, tuple[str, ...]] = {
    "aws": ("access_key_id", "secret_access_key"),
    "bearer": ("token",),
    "cloudflare": ("api_token",),
    "fastly": ("api_token",),
    "gcp": ("service_account_json",),
    "s3": ("access_key_id", "secret_access_key"),
}

type Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1_024)]
type Prefix = Annotated[str, msgspec.Meta(max_length=512)]


class _Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class FolderConfig(_Config, frozen=True):
    """A folder of this machine, below one that the setting `publish_allow` names."""

    path: Text


class AwsBucketConfig(_Config, frozen=True):
    bucket: Text
    region: Text = "us-east-1"
    prefix: Prefix = ""


class BucketConfig(_Config, frozen=True):
    """A bucket of a server that speaks S3."""

    endpoint: Text
    bucket: Text
    region: Text = "us-east-1"
    prefix: Prefix = ""


class GoogleBucketConfig(_Config, frozen=True):
    bucket: Text
    prefix: Prefix = ""


class RedisConfig(_Config, frozen=True):
    """`prefix` begins the keys: `docs` makes `docs:{org}`."""

    url: Text
    user: Annotated[str, msgspec.Meta(max_length=256)] = ""
    prefix: Text = "docs"


class HttpPurgeConfig(_Config, frozen=True):
    """Where surrogate keys and addresses are POSTed to."""

    url: Text


class FastlyConfig(_Config, frozen=True):
    service_id: Text


class CloudFrontConfig(_Config, frozen=True):
    distribution_id: Text


class GoogleCdnConfig(_Config, frozen=True):
    project: Text
    url_map: Text


class CloudflareWorkersConfig(_Config, frozen=True):
    account_id: Text
    namespace_id: Text
    zone_id: Text = "-"


class Route53Config(_Config, frozen=True):
    hosted_zone_id: Text


class CloudflareDnsConfig(_Config, frozen=True):
    zone_id: Text


class ServiceProvider(msgspec.Struct, frozen=True):
    """`credential` is the provider whose credentials it takes, or None for one that takes none. `publishes`: there is a
    publisher for it, so that an organisation can use it."""

    category: str
    config: type[_Config]
    credential: str | None
    needs_credential: bool = True
    publishes: bool = False


SERVICE_PROVIDERS: Mapping[str, ServiceProvider] = {
    "folder": ServiceProvider("object_storage", FolderConfig, None, needs_credential=False, publishes=True),
    "aws_s3": ServiceProvider("object_storage", AwsBucketConfig, "aws", publishes=True),
    "cloudflare_r2": ServiceProvider("object_storage", BucketConfig, "s3", publishes=True),
    "minio": ServiceProvider("object_storage", BucketConfig, "s3", publishes=True),
    "gcs": ServiceProvider("object_storage", GoogleBucketConfig, "gcp"),
    "redis": ServiceProvider("key_value", RedisConfig, "bearer", needs_credential=False, publishes=True),
    "http_purge": ServiceProvider("cdn", HttpPurgeConfig, "bearer", needs_credential=False, publishes=True),
    "fastly": ServiceProvider("cdn", FastlyConfig, "fastly"),
    "cloudfront": ServiceProvider("cdn", CloudFrontConfig, "aws"),
    "google_cloud_cdn": ServiceProvider("cdn", GoogleCdnConfig, "gcp"),
    "cloudflare_workers": ServiceProvider("cdn", CloudflareWorkersConfig, "cloudflare"),
    "route53": ServiceProvider("dns", Route53Config, "aws"),
    "cloudflare_dns": ServiceProvider("dns", CloudflareDnsConfig, "cloudflare"),
}

# By the slot of an organisation: the categories of services that it takes.
SLOTS: Mapping[str, tuple[str, ...]] = {
    "publishing_store": ("object_storage", "key_value"),
    "staging_store": ("object_storage",),
    "cdn_service": ("cdn",),
    "dns_service": ("dns",),
}
NEEDS_PUBLISHER = ("publishing_store", "cdn_service")


def check_label(label: str) -> str:
    if not LABEL.fullmatch(label):
        raise InvalidArgument(
            "a label has up to 64 lower-case letters, digits, dots, dashes and underscores, and begins and ends with a letter "
            "or digit"
        )
    return label


def check_secret(provider: str, secret: Mapping[str, Any]) -> dict[str, str]:
    """Raises InvalidArgument. The message names no field and no value that the caller sent: one of them is a secret."""
    if provider not in CREDENTIAL_FIELDS:
        raise InvalidArgument(f"the provider of a credential is one of {', '.join(sorted(CREDENTIAL_FIELDS))}")
    fields = CREDENTIAL_FIELDS[provider]
    if set(secret) != set(fields) or not all(_is_secret_text(secret[name], provider) for name in fields):
        raise InvalidArgument(
            f"credentials of the provider {provider} have {' and '.join(fields)}, each a text of 1 to {LONGEST_SECRET:,} "
            "characters without control characters"
        )
    return {name: str(secret[name]) for name in fields}


def _is_secret_text(value: object, provider: str) -> bool:
    """A key file of Google's has lines; every other secret may stand in a header."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_SECRET:
        return False
    if provider == "gcp":
        return all(letter.isprintable() or letter in "\n\r\t" for letter in value)
    return value.isascii() and value.isprintable() and " " not in value


def service_provider(name: str) -> ServiceProvider:
    if name not in SERVICE_PROVIDERS:
        raise InvalidArgument(f"the provider of a service is one of {', '.join(sorted(SERVICE_PROVIDERS))}")
    return SERVICE_PROVIDERS[name]


def check_config(provider: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Raises InvalidArgument."""
    try:
        checked = msgspec.convert(config, service_provider(provider).config)
    except msgspec.ValidationError as error:
        raise InvalidArgument(f"config of {provider}: {error}") from None
    values: dict[str, Any] = msgspec.to_builtins(checked)
    if any(not text.isprintable() for text in values.values()):
        raise InvalidArgument(f"config of {provider}: a value has control characters")
    return values

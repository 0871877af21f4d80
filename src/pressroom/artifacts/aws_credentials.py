"""Where S3 credentials come from when the settings have none: the sources that AWS's own tools use, in the same order.

Everything here blocks; `RenewedCredentials` calls it in a thread. No message holds a secret or a token.
"""

import configparser
import html
import json
import re
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import datetime
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from pressroom.artifacts.credentials import Credentials
from pressroom.errors import S3CredentialsFailed, S3CredentialsMissing

METADATA = "http://169.254.169.254"
METADATA_IPV6 = "http://[fd00:ec2::254]"
METADATA_TIMEOUT = 2.0  # seconds; on machines that are no instances nothing answers at all
METADATA_TOKEN_SECONDS = 300  # for the three requests that follow
CONTAINER = "http://169.254.170.2"
# Plain HTTP with the token of the container is sent nowhere else: this machine, ECS, and EKS by IPv4 and IPv6.
CONTAINER_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"})
TIMEOUT = 4.0  # seconds, for the container's endpoint and STS
ANSWER_LIMIT = 128 * 1024  # bytes


def find_credentials(environ: Mapping[str, str], region: str) -> Credentials:
    """Of the first source that is set up. One that is set up and fails is an error: the next one may be another identity.

    `region` is where STS is asked, unless the environment names one. Raises S3CredentialsMissing and S3CredentialsFailed.
    """
    found = (
        _from_environment(environ)
        or _from_profile(environ)
        or _from_web_identity(environ, region)
        or _from_container(environ)
        or _from_instance(environ)
    )
    if found is None:
        raise S3CredentialsMissing(
            "there are no S3 credentials: s3_access_key and s3_secret_key are not set, and neither are AWS_ACCESS_KEY_ID, a "
            "profile in the shared credentials file, AWS_WEB_IDENTITY_TOKEN_FILE or AWS_CONTAINER_CREDENTIALS_…_URI; "
            f"{_why_no_instance(environ)}"
        )
    return found


def _from_environment(environ: Mapping[str, str]) -> Credentials | None:
    access_key, secret_key = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if not access_key and not secret_key:
        return None
    if not access_key or not secret_key:
        missing = "AWS_SECRET_ACCESS_KEY" if access_key else "AWS_ACCESS_KEY_ID"
        raise S3CredentialsFailed(f"{missing} is not set, and the other half of the key is")
    token, expiration = environ.get("AWS_SESSION_TOKEN") or None, environ.get("AWS_CREDENTIAL_EXPIRATION")
    expires_at = _parse_expiration(expiration, "the environment (AWS_CREDENTIAL_EXPIRATION)") if expiration else None
    return Credentials(access_key, secret_key, token, expires_at, "the environment (AWS_ACCESS_KEY_ID)")


def _from_profile(environ: Mapping[str, str]) -> Credentials | None:
    """Keys in a shared credentials file. A profile that names a role, SSO or a program instead is not supported."""
    named, path = environ.get("AWS_PROFILE"), _shared_file(environ)
    profile = named or "default"
    section = _read_profiles(path).get(profile, {})
    access_key, secret_key = section.get("aws_access_key_id"), section.get("aws_secret_access_key")
    if not access_key and not secret_key and not named:
        return None
    if not access_key or not secret_key:
        raise S3CredentialsFailed(
            f"the profile {profile!r} has no aws_access_key_id and aws_secret_access_key in {path}; roles, SSO and programs "
            "that a profile may name instead are not supported"
        )
    token = section.get("aws_session_token") or None
    return Credentials(access_key, secret_key, token, origin=f"the profile {profile} of {path}")


def _read_profiles(path: Path | None) -> Mapping[str, Mapping[str, str]]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text(encoding="utf-8") if path is not None else "")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error) as reason:
        raise S3CredentialsFailed(f"{path} cannot be read as a credentials file: {type(reason).__name__}") from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _shared_file(environ: Mapping[str, str]) -> Path | None:
    named, home = environ.get("AWS_SHARED_CREDENTIALS_FILE"), environ.get("HOME")
    if named:
        return Path(home or "", named[2:]) if named.startswith("~/") else Path(named)
    return Path(home, ".aws", "credentials") if home else None


def _from_web_identity(environ: Mapping[str, str], region: str) -> Credentials | None:
    file, role = environ.get("AWS_WEB_IDENTITY_TOKEN_FILE"), environ.get("AWS_ROLE_ARN")
    if not file:
        return None
    if not role:
        raise S3CredentialsFailed("AWS_ROLE_ARN is not set, and AWS_WEB_IDENTITY_TOKEN_FILE is")
    query = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": "2011-06-15",
        "RoleArn": role,
        "RoleSessionName": environ.get("AWS_ROLE_SESSION_NAME") or "pressroom",
        "WebIdentityToken": _read_token(file),
    }
    address = _sts_address(environ, region)
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/xml"}
    answer = _send(address, "POST", form, urlencode(query).encode(), what="STS", proxies=True)
    if answer.status != 200:
        code = _xml_value(answer.text, "Code") or f"HTTP {answer.status}"
        raise S3CredentialsFailed(f"STS at {address} did not let this process assume the role {role}: {code[:100]}")
    names = ("AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
    values = {name: _xml_value(answer.text, name) for name in names}
    return _temporary_credentials(values, "SessionToken", origin=f"the role {role}, by web identity", what=f"STS at {address}")


def _sts_address(environ: Mapping[str, str], region: str) -> str:
    named = environ.get("AWS_ENDPOINT_URL_STS") or environ.get("AWS_ENDPOINT_URL")
    if named:
        return named
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or region
    return f"https://sts.{region}.amazonaws.com{'.cn' if region.startswith('cn-') else ''}/"


def _from_container(environ: Mapping[str, str]) -> Credentials | None:
    relative, full = environ.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"), environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    if not relative and not full:
        return None
    address = f"{CONTAINER}{relative}" if relative else str(full)
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in CONTAINER_HOSTS):
        raise S3CredentialsFailed(
            f"AWS_CONTAINER_CREDENTIALS_FULL_URI names {parts.hostname!r}; plain HTTP is for this machine, ECS and EKS only"
        )
    headers = {"Accept": "application/json"}
    file, token = environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"), environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
    if file:
        token = _read_token(file)
    if token:
        if not token.isprintable():
            raise S3CredentialsFailed("the container's authorization token is no single line of text")
        headers["Authorization"] = token
    what = "the container's credentials endpoint"
    answer = _send(address, "GET", headers, what=what)
    if answer.status != 200:
        raise S3CredentialsFailed(f"{what} answered with HTTP {answer.status}")
    return _temporary_credentials(_json_object(answer, what), "Token", origin=what, what=what)


def _from_instance(environ: Mapping[str, str]) -> Credentials | None:
    """The role of an EC2 instance, by version 2 of its metadata service. None where there is no such service, and no role."""
    if _is_metadata_disabled(environ):
        return None
    base, what = _metadata_address(environ), "the instance's metadata service"
    lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": str(METADATA_TOKEN_SECONDS)}
    try:
        session = _send(f"{base}/latest/api/token", "PUT", lifetime, what=what, timeout=METADATA_TIMEOUT)
    except S3CredentialsFailed:
        return None
    if session.status != 200 or not session.text.isprintable():
        raise S3CredentialsFailed(f"{what} at {base} gave no session token: HTTP {session.status}")
    headers = {"X-aws-ec2-metadata-token": session.text}
    path = f"{base}/latest/meta-data/iam/security-credentials/"
    listed = _send(path, "GET", headers, what=what, timeout=METADATA_TIMEOUT)
    role = listed.text.strip().partition("\n")[0]
    if listed.status == 404 or (listed.status == 200 and not role):
        return None
    if listed.status == 200:
        listed = _send(f"{path}{quote(role, safe='')}", "GET", headers, what=what, timeout=METADATA_TIMEOUT)
    if listed.status != 200:
        raise S3CredentialsFailed(f"{what} at {base} answered with HTTP {listed.status}")
    values = _json_object(listed, what)
    if values.get("Code", "Success") != "Success":
        raise S3CredentialsFailed(f"{what} has no credentials for the role {role}: {str(values['Code'])[:100]}")
    return _temporary_credentials(values, "Token", origin=f"the role {role} of this instance", what=what)


def _metadata_address(environ: Mapping[str, str]) -> str:
    by_ipv6 = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "").lower() == "ipv6"
    named = environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT")
    return (named or (METADATA_IPV6 if by_ipv6 else METADATA)).rstrip("/")


def _is_metadata_disabled(environ: Mapping[str, str]) -> bool:
    return environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true"


def _why_no_instance(environ: Mapping[str, str]) -> str:
    if _is_metadata_disabled(environ):
        return "the instance's metadata is not asked (AWS_EC2_METADATA_DISABLED)"
    return f"there is no instance with a role at {_metadata_address(environ)}"


class _HttpAnswer(NamedTuple):
    status: int
    text: str


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is not carried to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _send(
    url: str,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
    *,
    what: str,
    timeout: float = TIMEOUT,
    proxies: bool = False,
) -> _HttpAnswer:
    """`proxies` are those of the environment. Metadata is only to be had from this machine, and never asked through one."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise S3CredentialsFailed(f"the address of {what} does not begin with http:// or https://")
    handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
    if not proxies:
        handlers.append(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, body, dict(headers), method=method)  # noqa: S310 - the scheme is checked above
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as answer:
            return _HttpAnswer(answer.status, answer.read(ANSWER_LIMIT).decode(errors="replace"))
    except urllib.error.HTTPError as refused:
        with refused:
            return _HttpAnswer(refused.code, refused.read(ANSWER_LIMIT).decode(errors="replace"))
    except (OSError, HTTPException, ValueError) as reason:
        cause = getattr(reason, "reason", reason)
        raise S3CredentialsFailed(f"{what} does not answer: {type(cause).__name__}") from None


def _read_token(file: str) -> str:
    """Reads the file each time: the issuer of the tokens replaces it."""
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as reason:
        raise S3CredentialsFailed(f"the token file {file} cannot be read: {type(reason).__name__}") from None


def _json_object(answer: _HttpAnswer, what: str) -> dict[str, Any]:
    try:
        values = json.loads(answer.text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise S3CredentialsFailed(f"{what} did not answer with a JSON object")
    return values


def _xml_value(text: str, name: str) -> str | None:
    """STS answers with one flat element for each value; no parser is needed that could be led astray."""
    found = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", text)
    return html.unescape(found[1]) if found else None


def _temporary_credentials(values: Mapping[str, Any], token: str, *, origin: str, what: str) -> Credentials:
    texts = [values.get(name) for name in ("AccessKeyId", "SecretAccessKey", token, "Expiration")]
    if not all(isinstance(text, str) and text for text in texts):
        raise S3CredentialsFailed(f"{what} answered without a key, a secret, a token or an expiry")
    access_key, secret_key, session_token, expiration = map(str, texts)
    return Credentials(access_key, secret_key, session_token, _parse_expiration(expiration, what), origin)


def _parse_expiration(text: str, what: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise S3CredentialsFailed(f"{what}: the expiry of the credentials is not a time with a time zone")
    return moment.timestamp()

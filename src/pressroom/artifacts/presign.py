"""Links that an S3 server checks: Signature Version 4 in the query.

obstore signs links too, but not ones that say under which type and name the bytes are served.
"""

import hashlib
import hmac
from datetime import datetime
from urllib.parse import parse_qs, quote, urlsplit

from pressroom.artifacts.credentials import Credentials


def presign_url(
    url: str, credentials: Credentials, region: str, *, now: datetime, seconds: int, response_headers: dict[str, str]
) -> str:
    """A link for GET on `url`. `response_headers` holds the headers that the server should answer with
    (`response-content-type`, ...).

    A server refuses it once the credentials have expired, so it says no later time.
    """
    return _sign("GET", url, credentials, region, now, seconds, response_headers, {})


def presign_put(url: str, credentials: Credentials, region: str, *, now: datetime, seconds: int, content_type: str) -> str:
    """A link for PUT on `url`, with this `Content-Type` and no other."""
    return _sign("PUT", url, credentials, region, now, seconds, {}, {"content-type": content_type})


def _sign(
    method: str,
    url: str,
    credentials: Credentials,
    region: str,
    now: datetime,
    seconds: int,
    query_fields: dict[str, str],
    headers: dict[str, str],
) -> str:
    """`headers` are signed with the host, and so must be sent as they are."""
    left = credentials.seconds_left(now.timestamp())
    seconds = max(1, int(min(left, seconds)))
    parts = urlsplit(url)
    scope = f"{now:%Y%m%d}/{region}/s3/aws4_request"
    moment = f"{now:%Y%m%dT%H%M%SZ}"
    signed = {**headers, "host": parts.netloc}
    names = ";".join(sorted(signed))
    fields = query_fields | {
        "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": moment,
        "X-Amz-Expires": str(seconds),
        "X-Amz-SignedHeaders": names,
    }
    if credentials.session_token is not None:
        fields["X-Amz-Security-Token"] = credentials.session_token
    query = "&".join(sorted(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in fields.items()))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    request = f"{method}\n{parts.path}\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), hashlib.sha256)
    signature = hmac.digest(key, to_sign.encode(), hashlib.sha256).hex()
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}&X-Amz-Signature={signature}"


def max_lifetime(url: str) -> int | None:
    """The seconds for which a presigned link works; None for a link of another kind."""
    values = parse_qs(urlsplit(url).query).get("X-Amz-Expires")
    return int(values[0]) if values else None

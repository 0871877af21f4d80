"""Fakes of the AWS endpoints that hand out credentials: instance metadata, a container's endpoint and STS, on 127.0.0.1.

The real ones exist only inside of AWS. What they hand out may be real: `session_credentials` gets some from the S3 server.
"""

import hashlib
import hmac
import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.servers import S3Server

ROLE = "press-role"
CONTAINER_TOKEN = "a-container-token"
METADATA_TOKEN = "a-metadata-token"
WEB_TOKEN = "a-web-identity-token"


@dataclass
class FakeAws:
    """`keys` is what is handed out, as `AccessKeyId`, `SecretAccessKey`, `Token` and `Expiration`."""

    keys: dict[str, str]
    address: str = ""
    is_failing: bool = False
    has_role: bool = True
    requests: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, str]:
        self.requests.append(f"{method} {path}")
        if self.is_failing:
            return 500, "<ErrorResponse><Error><Code>InternalFailure</Code></Error></ErrorResponse>"
        if method == "POST":
            return self._assume_role({name: values[0] for name, values in parse_qs(body.decode()).items()})
        if path == "/container":
            return (200, json.dumps(self.keys)) if headers["Authorization"] == CONTAINER_TOKEN else (403, "")
        return self._metadata(method, path, headers)

    def _metadata(self, method: str, path: str, headers: Any) -> tuple[int, str]:
        if (method, path) == ("PUT", "/latest/api/token"):
            return (200, METADATA_TOKEN) if headers["X-aws-ec2-metadata-token-ttl-seconds"] else (400, "")
        if headers["X-aws-ec2-metadata-token"] != METADATA_TOKEN:
            return 401, ""
        if path == "/latest/meta-data/iam/security-credentials/":
            return (200, ROLE) if self.has_role else (404, "")
        if path == f"/latest/meta-data/iam/security-credentials/{ROLE}":
            return 200, json.dumps({"Code": "Success", "Type": "AWS-HMAC"} | self.keys)
        return 404, ""

    def _assume_role(self, form: dict[str, str]) -> tuple[int, str]:
        self.forms.append(form)
        if form["WebIdentityToken"] != WEB_TOKEN:
            return (
                400,
                "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>s3cret</Message></Error></ErrorResponse>",
            )
        names = {"Token": "SessionToken"}
        inner = "".join(f"<{names.get(name, name)}>{value}</{names.get(name, name)}>" for name, value in self.keys.items())
        result = f"<AssumeRoleWithWebIdentityResult><Credentials>{inner}</Credentials></AssumeRoleWithWebIdentityResult>"
        return 200, f"<AssumeRoleWithWebIdentityResponse>{result}</AssumeRoleWithWebIdentityResponse>"


@contextmanager
def fake_aws(keys: dict[str, str]) -> Iterator[FakeAws]:
    aws = FakeAws(keys)

    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, text = aws.answer(self.command, self.path, self.headers, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_POST = _reply  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        aws.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield aws
        finally:
            server.shutdown()
            thread.join()


def made_up_keys(expires: datetime) -> dict[str, str]:
    return {
        "AccessKeyId": "ASIAFAKE",
        "SecretAccessKey": "a-made-up-s3cret",
        "Token": "a-made-up-t0ken+/=",
        "Expiration": f"{expires:%Y-%m-%dT%H:%M:%SZ}",
    }


def session_credentials(server: S3Server) -> dict[str, str]:
    """Temporary credentials of the S3 server itself, which are valid for 15 minutes and only with their session token."""
    query = {"Action": "AssumeRole", "Version": "2011-06-15", "RoleSessionName": "tests", "DurationSeconds": "900"}
    host, body, now = urlsplit(server.endpoint).netloc, urlencode(query).encode(), datetime.now(UTC)
    moment, scope = f"{now:%Y%m%dT%H%M%SZ}", f"{now:%Y%m%d}/us-east-1/sts/aws4_request"
    headers = {"content-type": "application/x-www-form-urlencoded", "host": host, "x-amz-date": moment}
    signed = ";".join(headers)
    lines = "".join(f"{name}:{value}\n" for name, value in headers.items())
    request = f"POST\n/\n\n{lines}\n{signed}\n{hashlib.sha256(body).hexdigest()}"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{server.secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), hashlib.sha256)
    signature = hmac.digest(key, to_sign.encode(), hashlib.sha256).hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={server.access_key}/{scope}, SignedHeaders={signed}, Signature={signature}"
    )
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    assert answer.status == 200, text
    found = {name: re.search(f"<{name}>([^<]+)</{name}>", text) for name in _STS_NAMES}
    return {_STS_NAMES[name]: value[1] for name, value in found.items() if value is not None}


_STS_NAMES = {
    "AccessKeyId": "AccessKeyId",
    "SecretAccessKey": "SecretAccessKey",
    "SessionToken": "Token",
    "Expiration": "Expiration",
}

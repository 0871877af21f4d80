"""Why an S3 server refused a request: obstore's message holds the server's answer, with its error code."""

import re

from obstore.exceptions import BaseError

from pressroom.base.dependencies import DependencyFailed

_CODE = re.compile(r"<Code>\s*([A-Za-z0-9.]{1,100})\s*</Code>")
EXPIRED = ("ExpiredToken", "TokenRefreshRequired")  # codes of S3
_PROBLEMS = {
    "NoSuchBucket": ("s3_bucket_missing", "there is no such bucket"),
    "InvalidAccessKeyId": ("s3_access_key_unknown", "the server does not know the access key"),
    "SignatureDoesNotMatch": ("s3_secret_wrong", "the secret key does not belong to the access key"),
    "AccessDenied": ("s3_access_denied", "the access key is not allowed to {action}"),
    "AllAccessDisabled": ("s3_access_denied", "the access key is not allowed to {action}"),
    **dict.fromkeys(EXPIRED, ("s3_credentials_expired", "the session token has expired")),
    "InvalidToken": ("s3_access_key_unknown", "the server does not know the session token"),
    "RequestTimeTooSkewed": ("s3_clock_skewed", "the clocks of this machine and of the server differ"),
}


def error_code(error: BaseException) -> str | None:
    """The `<Code>` of the server's answer, if it sent one."""
    found = _CODE.search(str(error))
    return found[1] if found else None


def as_dependency_failed(error: BaseException, place: str, action: str) -> DependencyFailed:
    """`place` is the bucket and the server. Obstore's own message is left out: it may hold more than is to be shown."""
    code = error_code(error)
    if code in _PROBLEMS:
        problem, message = _PROBLEMS[code]
        return DependencyFailed(problem, f"{place}: {message.format(action=action)} ({code})")
    if code is not None:
        return DependencyFailed("s3_refused", f"{place}: the server refused to {action} ({code})")
    status = re.search(r"non-2xx status code: (\d{3})", str(error))
    if status and status[1] == "403":
        return DependencyFailed("s3_access_denied", f"{place}: the access key is not allowed to {action} (HTTP 403)")
    if status:
        return DependencyFailed("s3_refused", f"{place}: the server refused to {action} (HTTP {status[1]})")
    if isinstance(error, BaseError):
        return DependencyFailed("s3_unreachable", f"{place}: the server cannot be reached")
    return DependencyFailed("s3_refused", f"{place}: the server's answer to {action} was not understood")

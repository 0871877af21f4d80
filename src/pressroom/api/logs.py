"""What the log says: one line an event, as text or as JSON, and no secret in either."""

import json
import logging
import re
import traceback
from datetime import UTC, datetime

# The last line of defence: secrets are not logged in the first place, but an exception may quote what it was given.
_SECRETS = [
    (re.compile(r"\bpr_([0-9A-Za-z]{6})[0-9A-Za-z]{34}\b"), r"pr_\1***"),
    (re.compile(r"\bwhsec_[A-Za-z0-9+/=_-]+"), "whsec_***"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._~-]{4,}"), r"\1 ***"),
    (re.compile(r"(://[^\s/:@]*):[^\s/@]+@"), r"\1:***@"),
    (re.compile(r"(?i)\b(X-Amz-[A-Za-z-]+|signature|sig|token|secret|password)=[^\s&\"']+"), r"\1=***"),
    (re.compile(r"(?i)(idempotency-key['\"]?\s*[:=]\s*)['\"]?[^\s,'\"]+"), r"\1***"),
]  # fmt: skip
_JOB = re.compile(r"\bjob_[0-9A-Z]{26}\b")
_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def write(form: str) -> None:
    """Have every line of the log written like this from here on."""
    formatter = AsJson() if form == "json" else AsText(_TEXT)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(formatter)


def redacted(text: str) -> str:
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class AsText(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class AsJson(logging.Formatter):
    """`ts`, `level`, `logger`, `event`; `request_id`, `job_id` and `ms` where they are known; `error` with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        event = record.getMessage()
        line = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": event,
        }
        for name in ("request_id", "job_id", "ms"):
            if (value := getattr(record, name, None)) is not None:
                line[name] = value
        if "job_id" not in line and (found := _JOB.search(event)):
            line["job_id"] = found[0]
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json.dumps({name: redacted(value) if isinstance(value, str) else value for name, value in line.items()})

"""What the log says: one line an event, as text or as JSON, and no secret in either."""

import json
import logging
import re
import traceback
from datetime import UTC, datetime
from typing import Any

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
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"
_FIELDS = ("request_id", "job_id", "ms")  # attributes of a record that a JSON line has as well


def set_log_format(log_format: str) -> None:
    """Write every line of the log as `text` or as `json` from here on."""
    formatter = JsonFormatter() if log_format == "json" else TextFormatter(_TEXT)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(formatter)


def json_line(level: str, event: str, *, logger: str = "pressroom", at: datetime | None = None, **fields: Any) -> str:
    """One line of a JSON log. `fields` come after `ts`, `level`, `logger` and `event`, and nothing is masked."""
    ts = (at or datetime.now(UTC)).isoformat(timespec="milliseconds")
    return json.dumps({"ts": ts, "level": level, "logger": logger, "event": event} | fields, default=str)


def redacted(text: str) -> str:
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class TextFormatter(logging.Formatter):
    """One line an event; the lines of a traceback follow, each set in. Control characters are escaped in both.

    A request chooses its path and much of what an error says. Neither may forge a line or speak to a terminal.
    """

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return escaped(super().formatMessage(record))

    def formatException(self, info: Any) -> str:  # noqa: N802
        return "\n".join(f"  {escaped(line)}" for line in super().formatException(info).split("\n"))


def escaped(text: str) -> str:
    """The text with its control characters, line breaks and marks of direction as they are written in Python."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class JsonFormatter(logging.Formatter):
    """`ts`, `level`, `logger`, `event`; `request_id`, `job_id` and `ms` where they are known; `error` with its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        event = record.getMessage()
        fields = {name: value for name in _FIELDS if (value := getattr(record, name, None)) is not None}
        if "job_id" not in fields and (found := _JOB.search(event)):
            fields["job_id"] = found[0]
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json_line(
            record.levelname.lower(),
            redacted(event),
            logger=record.name,
            at=datetime.fromtimestamp(record.created, UTC),
            **{name: redacted(value) if isinstance(value, str) else value for name, value in fields.items()},
        )

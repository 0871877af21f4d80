"""The signature of an error: messages that differ only in numbers, names and places have the same one."""

import hashlib
import re

GAP = "…"  # stands for whatever differs
READ = 1_000  # letters of a message that are looked at
KEPT = 240

# One pass, the longest things first: what was replaced by one of them is not looked at by the next.
_DIFFERS = re.compile(
    r"""
    [a-z][a-z0-9+.-]{1,20}://[^\s"'`<>]+                              # an address
    | "[^"]*" | `[^`]*` | “[^”]*” | «[^»]*» | ‘[^’]*’                 # what is quoted,
    | (?<!\w)'[^']*'(?!\w)                                            # but not from one apostrophe to another
    | \b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b
    | \b(?:[a-z]{1,8}_)?[0-9A-HJKMNP-TV-Z]{26}\b                      # our own ids
    | (?<![\w/.~])(?:~|\.{1,2})?/[\w.@%+~/-]+                         # a path,
    | \b[a-z]:\\[^\s:*?"<>|]+                                         # also of Windows,
    | (?<![\w/.@+-])[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]+\.[a-z]\w{0,4}\b # or one that begins anywhere and ends in a file
    | \b0x[0-9a-f]+\b
    | \b(?=[a-f]*[0-9])[0-9a-f]{7,}\b
    | \b\d{4}-\d\d-\d\d(?:[t\ ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?)?
    | (?:(?<!\w)[-+])?\bv?\d[\d,._:]*(?<![,._:])(?:e[-+]?\d+)?
      (?:\s?(?:%|(?:[kmg]i?b|b|bytes?|characters?|px|pt|ns|[µu]s|ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?)\b))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNSEEN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x09\x0b-\x1f\x7f]")
_SEVERAL = re.compile(rf"{GAP}(?:(?:, | and | or |,| ){GAP})+")


def normalize_message(message: str) -> str:
    """The first line of a message, without what differs from one time to the next."""
    seen = _UNSEEN.sub(" ", message[:READ])
    line = next((line for line in seen.split("\n") if line.strip()), "")
    common = " ".join(_DIFFERS.sub(GAP, line).split())
    return _SEVERAL.sub(GAP, common)[:KEPT]


def failure_signature(kind: str, code: str, message: str) -> str:
    """16 letters that failures of one kind have in common when their codes are equal and their messages alike."""
    return hashlib.sha256("\0".join((kind, code, normalize_message(message))).encode(errors="replace")).hexdigest()[:16]

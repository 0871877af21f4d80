"""Names of git refs, as people write them."""

import re

from pressroom.errors import InvalidArgument

LONGEST = 256
# What git itself refuses (git help check-ref-format), and what a command line would take for an option.
_REFUSED = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:^|/)\.|\.lock(?:/|$)|^-|^/|/$|\.$|^@$")


def check_ref(ref: str) -> str:
    """The short name of a branch or tag: `refs/heads/main` is `main`. Raises InvalidArgument."""
    short = short_name(ref)
    if not short or len(short) > LONGEST or not short.isprintable() or _REFUSED.search(short):
        raise InvalidArgument(f"{ref[:80]!r} is not the name of a branch or tag; use one like main or v1.2.0")
    return short


def short_name(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/tags/")


def full_names(ref: str) -> tuple[str, str]:
    """A branch goes before a tag of its name."""
    return f"refs/heads/{ref}", f"refs/tags/{ref}"

"""What stands in articles: every text has a nonce, which its own HTML must show and no other may."""

import os
import re

from tests.reliability.http_wants import MARK

ARTICLES = ("Home", "Ink", "Paper")  # few, so that many hands meet in them

_NONCE = re.compile(rf"{MARK}([0-9a-f]{{16}})")


def new_nonce() -> str:
    return os.urandom(8).hex()


def text_of(nonce: str, refers_to: str = "Home") -> str:
    return f"# {MARK}{nonce}\n\nSee [[{refers_to}]].\n\n- {MARK}{nonce}\n"


def nonces_in(text: str) -> list[str]:
    return sorted(set(_NONCE.findall(text)))

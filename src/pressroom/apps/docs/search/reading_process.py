"""The process that reads the text of some pages: confined, without network, with limits on memory and time.

Reads pages from its standard input (uploads/page_stream.py). Writes a list of PageText as JSON to its standard output.
"""

import os
import sys
from typing import Any, BinaryIO

import msgspec

from pressroom.apps.docs.search.page_text import PageText, read_text
from pressroom.apps.docs.uploads.page_stream import receive_pages
from pressroom.renderers.sandbox.confinement import confine, limit_memory


def main(instructions: dict[str, Any]) -> None:
    confine(instructions["reads"], instructions["writes"])
    limit_memory(instructions["memory"])
    out = os.dup(1)
    os.dup2(2, 1)
    texts = read_texts(sys.stdin.buffer, instructions["characters"])
    with os.fdopen(out, "wb") as file:
        file.write(msgspec.json.encode(texts))


def read_texts(stream: BinaryIO, characters: int) -> list[PageText]:
    """Until there are so many characters."""
    _, pages = receive_pages(stream)
    texts: list[PageText] = []
    for path, page in pages:
        text = read_text(path, page) if page and characters > 0 else None
        if text is not None:
            characters -= len(text.excerpt) + len(text.words)
            texts.append(text)
    return texts

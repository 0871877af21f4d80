"""What is changed in a PDF after Chromium has printed it: nothing in it may tell when, or in which browser, it was made.

Every replacement is as long as what it replaces, so that the table of offsets at the end of the file stays true.
"""

import re

_OBJECT = re.compile(rb"\s*\d+ \d+ obj\b(.*?)\bendobj\b", re.DOTALL)
_DATE = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)[^()\\]*(?=\))")
# Where tags name a node, and not where an author does: a heading may well be called node00000001.
_NODE = re.compile(rb"(?:(?<=/ID )|(?<=\[)|(?<=\) )|(?<= R )|(?<=\n))\(node(\d{8,})\)")
EPOCH = b"19700101000000+00'00'"


class NotAPdf(Exception):
    pass


def count_pages(pdf: bytes) -> int:
    """How many pages, by way of the catalogue: text in a document may look like anything, so nothing is searched for."""
    root = _read_object(pdf, _parse_number(_trailer(pdf), rb"/Root (\d+) 0 R"))
    return _parse_number(_read_object(pdf, _parse_number(root, rb"/Pages (\d+) 0 R")), rb"/Count (\d+)")


def without_time(pdf: bytes) -> bytes:
    trailer = _trailer(pdf)
    start = _offset(pdf, _parse_number(trailer, rb"/Info (\d+) 0 R"))
    end = pdf.index(b"endobj", start)
    return pdf[:start] + _DATE.sub(_epoch_of_same_length, pdf[start:end]) + pdf[end:]


def with_nodes_renumbered(pdf: bytes) -> bytes:
    """The tags name the nodes of the page by numbers that count on through the browser's life. Here they count from one.

    Their order stays: the table that finds a node by its number is sorted.
    """
    numbers = sorted(set(_NODE.findall(pdf)))
    ranks = {number: b"%0*d" % (len(number), rank) for rank, number in enumerate(numbers, start=1)}
    return _NODE.sub(lambda found: b"(node%s)" % ranks[found.group(1)], pdf)


def make_deterministic(pdf: bytes) -> bytes:
    """The bytes that the same page always gives."""
    return with_nodes_renumbered(without_time(pdf))


def _epoch_of_same_length(found: re.Match[bytes]) -> bytes:
    length = len(found.group()) - len(found.group(1))
    return found.group(1) + EPOCH[:length].ljust(length, b"0")


def _trailer(pdf: bytes) -> bytes:
    return pdf[pdf.rfind(b"trailer") :]


def _parse_number(text: bytes, pattern: bytes) -> int:
    found = re.search(pattern, text)
    if not found:
        raise NotAPdf(f"there is no {pattern.decode()}")
    return int(found.group(1))


def _offset(pdf: bytes, number: int) -> int:
    table = _parse_number(_trailer(pdf), rb"startxref\s+(\d+)")
    head = re.compile(rb"xref\s+0 \d+\s*\n").match(pdf, table)
    if not head:
        raise NotAPdf("there is no table of offsets")
    entry = head.end() + 20 * number
    return int(pdf[entry : entry + 10])


def _read_object(pdf: bytes, number: int) -> bytes:
    found = _OBJECT.match(pdf, _offset(pdf, number))
    if not found:
        raise NotAPdf(f"there is no object {number}")
    return found.group(1)

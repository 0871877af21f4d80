"""Gives a PDF of svg2pdf, which is what vl-convert draws with, bytes that are always the same.

It walks hash tables whose order differs with every call: the lists of resources, and the order in which fonts are written and
numbered. Here lists are sorted, and objects are numbered and written in the order in which they are reached from the root.
"""

import re

RESOURCES = re.compile(rb"(?:\n +/[A-Za-z]+\d+ \d+ 0 R)+")
REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*\Z")
ENTRIES = re.compile(rb"xref\s+0 \d+\s+((?:\d{10} \d{5} [nf]\s*)+)trailer")
OBJECT = re.compile(rb"(\d+) 0 obj\b(.*?)endobj\s*\Z", re.DOTALL)


def make_deterministic(pdf: bytes) -> bytes:
    start = START.search(pdf)
    table = ENTRIES.match(pdf, int(start[1])) if start else None
    if not start or not table:
        return pdf
    objects = _parse_objects(pdf, table[1], int(start[1]))
    trailer = pdf[table.end() : start.start()]
    order = _reachable_order(trailer, objects)
    numbers = {old: new for new, old in enumerate(order, 1)}
    return _write_pdf(pdf[: pdf.index(b"\n", 8) + 1], [objects[old] for old in order], trailer, numbers)


def _parse_objects(pdf: bytes, entries: bytes, end: int) -> dict[int, bytes]:
    offsets = sorted(int(offset) for offset, kind in re.findall(rb"(\d{10}) \d{5} ([nf])", entries) if kind == b"n")
    found = (OBJECT.match(pdf[at:until]) for at, until in zip(offsets, [*offsets[1:], end], strict=True))
    return {int(match[1]): _sort_resources(match[2]) for match in found if match}


def _sort_resources(body: bytes) -> bytes:
    head, stream, data = _split_stream(body)
    return RESOURCES.sub(lambda found: b"\n".join(sorted(found[0].split(b"\n"))), head) + stream + data


def _split_stream(body: bytes) -> tuple[bytes, bytes, bytes]:
    """What is written as text, and the stream behind it, in which any byte may stand."""
    return body.partition(b"stream\n")


def _reachable_order(trailer: bytes, objects: dict[int, bytes]) -> list[int]:
    order: dict[int, None] = {}
    pending = [int(number) for number in reversed(REFERENCE.findall(trailer))]
    while pending:
        number = pending.pop()
        if number in objects and number not in order:
            order[number] = None
            pending.extend(int(found) for found in reversed(REFERENCE.findall(_split_stream(objects[number])[0])))
    return list(order)


def _write_pdf(header: bytes, bodies: list[bytes], trailer: bytes, numbers: dict[int, int]) -> bytes:
    def renumbered(text: bytes) -> bytes:
        return REFERENCE.sub(lambda found: b"%d 0 R" % numbers.get(int(found[1]), 0), text)

    pdf, offsets = bytearray(header), []
    for number, body in enumerate(bodies, 1):
        head, stream, data = _split_stream(body)
        offsets.append(len(pdf))
        pdf += b"%d 0 obj%sendobj\n" % (number, renumbered(head) + stream + data)
    start = len(pdf)
    pdf += b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(bodies) + 1)
    pdf += b"".join(b"%010d 00000 n\r\n" % offset for offset in offsets)
    size = re.sub(rb"/Size \d+", b"/Size %d" % (len(bodies) + 1), renumbered(trailer))
    return bytes(pdf + b"trailer" + size + b"startxref\n%d\n%%%%EOF\n" % start)

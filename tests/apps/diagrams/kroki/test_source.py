"""Sources in URLs: what is decoded, and what is refused."""

import base64
import gzip
import zlib

import pytest

from pressroom.apps.diagrams.kroki.url_encoding import decode_source
from pressroom.errors import InvalidArgument, TooLarge

SOURCE = b"digraph G {\n  Hello->World // \xc3\xa9\n}"
LIMIT = 1_000_000


def encode(source: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(source, 9)).decode()


def test_what_kroki_documents_is_what_its_clients_send():
    documented = "eNpLyUwvSizIUHBXqPZIzcnJ17ULzy_KSanlAgB1EAjQ"

    assert decode_source(documented, limit=LIMIT) == b"digraph G {Hello->World}\n"


@pytest.mark.parametrize(
    "spelt",
    [
        pytest.param(lambda text: text, id="as it is"),
        pytest.param(lambda text: text.rstrip("="), id="without padding"),
        pytest.param(lambda text: text.rstrip("=") + "====", id="with too much of it"),
        pytest.param(lambda text: text.replace("-", "+").replace("_", "/"), id="in the letters of plain base64"),
        pytest.param(lambda text: f" {text}\n", id="with white space around it"),
    ],
)
def test_base64_is_read_in_all_its_spellings(spelt):
    source = bytes(range(32, 127)) * 3  # its encoding has both of the letters that differ

    assert decode_source(spelt(encode(source)), limit=LIMIT) == source


def test_a_bare_deflate_stream_is_read_as_well():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bare = base64.urlsafe_b64encode(packer.compress(SOURCE) + packer.flush()).decode()

    assert decode_source(bare, limit=LIMIT) == SOURCE


@pytest.mark.parametrize("level", [0, 1, 6, 9])
@pytest.mark.parametrize("window", [9, 15])
def test_zlib_is_read_whatever_its_header_says_of_level_and_window(level, window):
    packer = zlib.compressobj(level, zlib.DEFLATED, window)
    packed = base64.urlsafe_b64encode(packer.compress(SOURCE) + packer.flush()).decode()

    assert decode_source(packed, limit=LIMIT) == SOURCE


def test_gzip_is_read_as_well_and_its_bombs_are_stopped():
    assert decode_source(base64.urlsafe_b64encode(gzip.compress(SOURCE)).decode(), limit=LIMIT) == SOURCE

    with pytest.raises(TooLarge):
        decode_source(base64.urlsafe_b64encode(gzip.compress(b"x" * 50_000_000)).decode(), limit=LIMIT)


@pytest.mark.parametrize("prefix", ["", "~1"])
def test_plantuml_may_come_in_its_own_encoding(prefix):
    of_its_documentation = f"{prefix}SyfFKj2rKt3CoKnELR1Io4ZDoSa70000"

    assert decode_source(of_its_documentation, limit=LIMIT, plantuml=True) == b"Bob -> Alice : hello"


@pytest.mark.parametrize(
    ("encoded", "reason"),
    [
        ("", "empty"),
        ("====", "empty"),
        ("not/../base64!", "characters that are not base64"),
        ("<svg>", "characters that are not base64"),
        ("\0", "characters that are not base64"),
        ("é", "characters that are not base64"),
        ("abcde", "not a whole number"),
        ("aGVsbG8gd29ybGQ", "not deflated"),
        (encode(SOURCE)[:-8], "ends too early"),
        (encode(b"\xff\xfe\x00"), "not text in UTF-8"),
    ],
)
def test_garbage_is_refused_with_a_reason(encoded, reason):
    for plantuml in (False, True):
        with pytest.raises(InvalidArgument, match=reason):
            decode_source(encoded, limit=LIMIT, plantuml=plantuml)


def test_a_zip_bomb_is_stopped_while_it_inflates():
    bomb = encode(b"\0" * 50_000_000)

    with pytest.raises(TooLarge, match="more than 1,000,000 bytes"):
        decode_source(bomb, limit=LIMIT)


def test_a_source_of_exactly_the_limit_is_taken():
    assert len(decode_source(encode(b"x" * 1000), limit=1000)) == 1000

    with pytest.raises(TooLarge):
        decode_source(encode(b"x" * 1001), limit=1000)

"""Kroki's HTTP interface, asked of a server that runs."""

import base64
import itertools
import socket
import zlib
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

from pressroom.apps.diagrams.kroki.types import LANGUAGES, engine_of

DOT = "digraph G {Hello->World}"
BROWSER_IMAGE = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"
BROWSER_PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

_numbers = itertools.count()


def encode(source: str | bytes) -> str:
    data = source.encode() if isinstance(source, str) else source
    return base64.urlsafe_b64encode(zlib.compress(data, 9)).decode()


def fresh() -> str:
    """A source that the server has not seen."""
    return f"digraph {{ n{next(_numbers)} -> unseen }}"


def newest_job(kroki: httpx.Client) -> object:
    return kroki.get(f"{kroki.base_url.copy_with(path='/jobs')}?limit=1").raise_for_status().json()["items"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("type", LANGUAGES)
def test_every_type_is_drawn_by_get_and_by_post(kroki: httpx.Client, type: str):
    sample = engine_of(type).sample

    got = kroki.get(f"/{type}/svg/{encode(sample)}")
    posted = kroki.post(f"/{type}/svg", content=sample, headers={"Content-Type": "text/plain"})

    assert (got.status_code, got.headers["content-type"]) == (200, "image/svg+xml")
    assert "<svg" in got.text
    assert posted.content == got.content


@pytest.mark.parametrize(
    ("format", "media_type", "magic"),
    [("svg", "image/svg+xml", b"<svg"), ("png", "image/png", b"\x89PNG"), ("pdf", "application/pdf", b"%PDF-")],
)
def test_every_format_has_its_media_type(kroki: httpx.Client, format: str, media_type: str, magic: bytes):
    answer = kroki.get(f"/graphviz/{format}/{encode(DOT)}")

    assert answer.headers["content-type"] == media_type
    assert magic in answer.content[:200]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/", {"json": {"diagram_source": DOT, "diagram_type": "graphviz", "output_format": "svg"}}),
        ("", {"json": {"diagram_source": DOT, "diagram_type": "graphviz", "output_format": "svg"}}),
        ("/graphviz", {"json": {"diagram_source": DOT, "output_format": "svg"}}),
        ("/graphviz/svg", {"json": {"diagram_source": DOT}}),
        ("/graphviz/svg", {"json": {"diagram_source": DOT, "diagram_options": None, "something": "else"}}),
        ("/graphviz", {"content": DOT, "headers": {"Accept": "image/svg+xml"}}),
        ("/graphviz", {"content": DOT, "headers": {"Accept": "image/jpeg, image/svg+xml;q=0.5, image/png;q=0.1"}}),
        ("/graphviz", {"content": DOT}),
        ("/graphviz/svg", {"content": DOT, "headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    ],
)
def test_a_diagram_may_be_posted_in_all_of_krokis_ways(kroki: httpx.Client, path: str, sent: dict[str, object]):
    url = str(kroki.base_url).rstrip("/") + path
    answer = kroki.post(url, **sent)  # type: ignore[arg-type]

    assert answer.status_code == 200
    assert answer.content == kroki.get(f"/graphviz/svg/{encode(DOT)}").content


def test_the_accepted_type_chooses_the_format(kroki: httpx.Client):
    png = kroki.post("/graphviz", content=DOT, headers={"Accept": "image/png"})
    refused = kroki.post("/graphviz", content=DOT, headers={"Accept": "audio/ogg"})

    assert png.headers["content-type"] == "image/png"
    assert refused.status_code == 400
    assert "Accept one of: image/svg+xml" in refused.text


def test_options_come_by_query_by_header_and_by_json_and_the_later_wins(either: httpx.Client):
    circle = "digraph { a -> b -> c -> d -> a }"
    url = f"/graphviz/svg/{encode(circle)}"
    drawn = {layout: either.get(url, params={"layout": layout}).content for layout in ("dot", "circo", "neato")}
    assert len(set(drawn.values())) == 3

    by_query = either.post("/graphviz/svg?LAYOUT=neato", content=circle)
    by_header = either.post("/graphviz/svg?layout=neato", content=circle, headers={"Kroki-Diagram-Options-Layout": "circo"})
    by_json = either.post(
        "/graphviz/svg?layout=neato",
        json={"diagram_source": circle, "diagram_options": {"Layout": "dot"}},
        headers={"Kroki-Diagram-Options-Layout": "circo"},
    )

    assert [by_query.content, by_header.content, by_json.content] == [drawn["neato"], drawn["circo"], drawn["dot"]]


def test_unknown_options_are_ignored_and_named(kroki: httpx.Client):
    answer = kroki.get(f"/graphviz/svg/{encode(DOT)}", params={"node-attribute-shape": "rect", "bad\r\nname": "x"})

    assert answer.content == kroki.get(f"/graphviz/svg/{encode(DOT)}").content
    assert answer.headers["pressroom-ignored-options"] == "node-attribute-shape"


def test_a_theme_of_plantuml_is_applied_and_moves_no_line_of_an_error(kroki: httpx.Client):
    source, broken = "@startuml\nA -> B\n@enduml", "@startuml\nA -> B\nthis is not a diagram\n@enduml"

    plain = kroki.post("/plantuml/svg", content=source)
    themed = kroki.post("/plantuml/svg?theme=cerulean", content=source)
    failed = kroki.post("/plantuml/svg?theme=cerulean", content=broken)

    assert themed.status_code == 200
    assert themed.content != plain.content
    assert failed.status_code == 400
    assert "line 3" in failed.text


def test_the_second_answer_comes_from_the_cache_and_a_known_one_is_a_304(either: httpx.Client):
    url = f"/graphviz/svg/{encode(fresh())}"

    first, second = either.get(url), either.get(url)
    third = either.get(url, headers={"If-None-Match": first.headers["etag"]})
    head = either.head(url)

    assert first.headers["cache-status"].startswith("pressroom; fwd=miss")
    assert second.headers["cache-status"].startswith("pressroom; hit")
    assert first.headers["etag"] == second.headers["etag"]
    assert first.headers["etag"].startswith('"sha256-')
    assert first.headers["cache-control"] == "public, max-age=432000"
    assert (third.status_code, third.content, third.headers["etag"]) == (304, b"", first.headers["etag"])
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(first.content)))


def test_only_what_the_url_says_in_full_is_for_shared_caches(kroki: httpx.Client):
    url = f"/graphviz/svg/{encode(DOT)}"
    option = {"Kroki-Diagram-Options-Layout": "neato"}

    def cached(answer: httpx.Response) -> str:
        return answer.headers["cache-control"]

    assert cached(kroki.get(url, params={"layout": "neato"})) == "public, max-age=432000"
    assert cached(kroki.get(url, params={"layout": "neato"}, headers=option)) == "public, max-age=432000"
    assert cached(kroki.get(url, headers=option)) == "private, no-cache"
    assert cached(kroki.post("/graphviz/svg", content=DOT)) == "private, no-cache"


def test_thirty_callers_who_ask_for_the_same_make_one_render(either: httpx.Client):
    url = f"/graphviz/svg/{encode(fresh())}"
    jobs = f"{str(either.base_url).removesuffix('/kroki/')}/jobs?kind=diagram&limit=200"
    before = len(httpx.get(jobs, timeout=60).json()["items"])

    with ThreadPoolExecutor(30) as callers:
        answers = list(callers.map(lambda _: either.get(url), range(30)))

    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len(httpx.get(jobs, timeout=60).json()["items"]) == before + 1


def test_a_wrong_source_is_a_400_with_a_text_that_says_where(either: httpx.Client):
    answer = either.post("/graphviz/svg", content="digraph {\n  a -> -> b\n}")

    assert (answer.status_code, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert answer.text.startswith("Error 400: ")
    assert "line 2" in answer.text
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "text/plain; charset=utf-8"),
        ("text/plain, application/json;q=0.5", "text/plain; charset=utf-8"),
        (BROWSER_PAGE, "text/plain; charset=utf-8"),
        ("application/problem+json", "application/problem+json"),
        ("application/json", "application/json"),
        ("image/svg+xml", "image/svg+xml"),
        ("image/*", "image/svg+xml"),
        (BROWSER_IMAGE, "image/svg+xml"),
    ],
)
def test_an_error_comes_in_the_form_that_was_asked_for(kroki: httpx.Client, accept: str, media_type: str):
    answer = kroki.get(f"/graphviz/svg/{encode('digraph { a -> -> b }')}", headers={"Accept": accept})

    assert (answer.status_code, answer.headers["content-type"]) == (400, media_type)
    assert (answer.headers["cache-control"], answer.headers["vary"]) == ("no-store", "Accept")
    if media_type == "image/svg+xml":
        assert "source_invalid" in answer.text
    if media_type == "application/json":
        assert answer.json()["error"]["code"] == 400
        assert "(line 1" in answer.json()["error"]["message"]
    if media_type == "application/problem+json":
        assert (answer.json()["code"], answer.json()["line"]) == ("source_invalid", 1)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        (f"/graphviz/svg/{encode(b'{' * 10_000_000)}", 413, "more than 1,048,576 bytes when it is inflated"),
        ("/graphviz/svg/not-a-diagram", 400, "cannot be decoded"),
        ("/graphviz/svg/", 400, "it is empty"),
        (f"/graphviz/svg/{encode('   ')}", 400, "the source is empty"),
        ("/graphviz/svg/%00%ff", 400, "cannot be decoded"),
        ("/graphviz/svg/..%2f..%2fetc%2fpasswd", 400, "cannot be decoded"),
        (f"/graphviz/svg/{'A' * 33_000}", 414, "post it instead"),
        (f"/graphviz/jpeg/{encode(DOT)}", 400, "though Kroki has it: 'jpeg' for graphviz. Must be one of: svg, png, pdf"),
        (f"/graphviz/webp/{encode(DOT)}", 400, "Unsupported output format: 'webp' for graphviz"),
        (f"/MERMAID/svg/{encode(DOT)}", 404, "Unsupported diagram type: 'MERMAID'. Must be one of: bytefield"),
        (f"/ditaa/svg/{encode(DOT)}", 404, "though Kroki has it"),
        (f"/graphviz/svg/{encode(DOT)}?layout=tala", 400, "it is one of: dot, neato"),
    ],
)
def test_what_cannot_be_is_refused_at_once(kroki: httpx.Client, path: str, status: int, words: str):
    before = newest_job(kroki)

    answer = kroki.get(path)

    assert answer.status_code == status
    assert words in answer.text
    assert newest_job(kroki) == before


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/", b"", 400),
        ("/", b"{}", 400),
        ("/", b"digraph {}", 400),
        ("/", b'{"diagram_type": 1, "diagram_source": []}', 400),
        ("/", b'{"diagram_type": "cobol", "diagram_source": "a"}', 400),
        ("/cobol", b"a", 404),
        ("/cobol/svg", b"", 404),
        ("/", b'{"diagram_type": "graphviz", "output_format": "svg"}', 400),
        ("/", b'{"diagram_type": "graphviz", "diagram_source": "\\ud800", "output_format": "svg"}', 400),
        ("/", b'{"diagram_type": "graphviz", "diagram_source": "a", "diagram_options": ' + b"[" * 10_000, 400),
        ("/", b'{"diagram_type": "graphviz", "diagram_source": "a", "diagram_options": {"layout": 1e400}}', 400),
        ("/graphviz/svg", b"", 400),
        ("/graphviz/svg", b"\xff\xfe\xfd", 400),
        ("/graphviz/svg", b"digraph { a\x00b }", 400),
        ("/graphviz/svg", b"a" * 2_000_000, 413),
        ("/graphviz/svg", b"a" * 13_000_000, 413),
        ("/graphviz/txt", b"digraph {}", 400),
        ("/graphviz", b"\x1f\x8b" + b"\0" * 100, 400),
    ],
)
def test_bad_bodies_get_a_text_and_never_a_500(kroki: httpx.Client, path: str, body: bytes, status: int):
    answer = kroki.post(path, content=body, headers={"Content-Type": "text/plain"})

    assert answer.status_code == status
    assert answer.text.startswith(f"Error {status}: ")


def test_a_url_of_64_kilobytes_is_refused(kroki: httpx.Client):
    address = urlsplit(str(kroki.base_url))
    with socket.create_connection((address.hostname, address.port), timeout=120) as connection:
        connection.sendall(b"GET /kroki/graphviz/svg/" + b"A" * 70_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

        assert connection.recv(12) in (b"HTTP/1.1 414", b"HTTP/1.1 400")  # by us, or by the server beneath


@pytest.mark.parametrize("path", ["/health", "/healthz", "/v1/health"])
def test_health_names_the_version_of_each_service(kroki: httpx.Client, path: str):
    answer = kroki.get(path)

    assert answer.headers["content-type"] == "application/health+json"
    assert answer.json()["status"] == "pass"
    assert answer.json()["version"].keys() == LANGUAGES.keys() | {"kroki"}
    assert answer.json()["version"]["kroki"].keys() == {"number", "build_hash"}


def test_methods_that_are_not_there_are_405_with_those_that_are(kroki: httpx.Client):
    answers = [kroki.post("/health"), kroki.put(f"/graphviz/svg/{encode(DOT)}"), kroki.get("/graphviz/svg")]

    assert [(answer.status_code, answer.headers["allow"]) for answer in answers] == [
        (405, "GET"),
        (405, "GET, HEAD"),
        (405, "POST"),
    ]


def test_the_start_says_what_there_is(kroki: httpx.Client):
    address = str(kroki.base_url).rstrip("/")
    start, bare, head = kroki.get(f"{address}/"), kroki.get(address), kroki.head(f"{address}/")

    assert (start.status_code, bare.text, head.status_code) == (200, start.text, 200)
    for type in LANGUAGES:
        assert f"  {type}: svg, png, pdf" in start.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "Request body must not be empty."),
        (b'{"diagram_type": "graphviz"}', "Field diagram_source must not be empty."),
        (b'{"diagram_source": "digraph {}"}', "Field diagram_type must not be empty."),
    ],
)
def test_what_is_missing_is_named_in_krokis_words(kroki: httpx.Client, body: bytes, words: str):
    assert kroki.post("/", content=body).text == f"Error 400: {words}\n"


def test_base64_is_the_png_as_a_data_address(kroki: httpx.Client):
    source = encode("@startuml\nA -> B : in base64\n@enduml")
    png, text = kroki.get(f"/plantuml/png/{source}"), kroki.get(f"/plantuml/base64/{source}")

    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert text.text == f"data:image/png;base64,{base64.b64encode(png.content).decode()}"
    assert text.headers["cache-control"] == "public, max-age=432000"
    assert text.headers["etag"] != png.headers["etag"]
    again = kroki.get(f"/plantuml/base64/{source}", headers={"If-None-Match": text.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_openapi_document_describes_it(kroki: httpx.Client):
    paths = httpx.get(f"{str(kroki.base_url).removesuffix('/kroki/')}/openapi.json", timeout=60).json()["paths"]

    ours = {path: sorted(methods) for path, methods in paths.items() if path.startswith("/kroki")}
    assert ours == {
        "/kroki/": ["get", "post"],
        "/kroki/health": ["get"],
        "/kroki/{type}": ["post"],
        "/kroki/{type}/{format}": ["post"],
        "/kroki/{type}/{format}/{encoded}": ["get"],
    }

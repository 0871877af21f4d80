"""C4 by its library, which a source includes by name and which is put into it here: nothing is fetched and nothing is read."""

import base64
import re
import zlib

import httpx
import pytest

from pressroom.apps.diagrams.kroki import c4, expanded_source

INCLUDES = [
    "!include <C4/C4_Container>",
    "!include <c4/C4_Container.puml>",
    "!include C4_Container.puml",
    "!includeurl https://raw.githubusercontent.com/plantuml-stdlib/C4-PlantUML/master/C4_Container.puml",
    "  !include_once ./lib/c4_container.puml # by hand",
]
BODY = """Person(reader, "Reader")
System_Boundary(shop, "Bookshop") {
    Container(web, "Web application", "Python", "Sells books")
}
Rel(reader, web, "Buys", "HTTPS")
SHOW_LEGEND()
"""


def encode(source: str) -> str:
    return base64.urlsafe_b64encode(zlib.compress(source.encode(), 9)).decode()


@pytest.mark.parametrize("include", INCLUDES)
def test_a_part_is_known_by_the_library_or_by_its_file(include: str):
    assert c4.included_part(include.encode()) == "C4_Container.puml"


@pytest.mark.parametrize(
    "line",
    [
        "!include /etc/passwd",
        "!include <C4/../../etc/passwd>",
        "!include <C4/C4_Nothing>",
        "!include <awslib/AWSCommon>",
        "!include https://example.org/c4.txt",
        "!include C4_Container.puml/../../secret",
        "' !include <C4/C4_Container>",
        "Person(a, '!include <C4/C4_Container>')",
        "!include " + "C4" * 500_000,
        "!include " + "/C4" * 300_000,
    ],
)
def test_nothing_else_is_put_in(line: str):
    assert c4.included_part(line.encode()) is None
    assert expanded_source.expand_plantuml(line.encode(), None).source == line.encode()


def test_a_part_comes_with_those_that_it_needs_and_each_comes_once():
    twice = b"@startuml\n!include <C4/C4_Container>\n!include <C4/C4_Context>\n@enduml\n"

    source = expanded_source.expand_plantuml(twice, None).source

    assert b"!include" not in source
    assert source.count(b"!function C4Version()") == 1
    assert b"Container_Boundary" in source


def test_every_line_knows_which_of_the_authors_it_stands_for():
    written = expanded_source.expand_plantuml(b"@startuml\n!include <C4/C4>\nA -> B\n@enduml", "!theme plain")
    lines = written.source.splitlines()

    assert lines[1] == b"!theme plain"
    assert written.author_line(1) == 1
    assert written.author_line(lines.index(b"A -> B") + 1) == 3
    assert written.author_line(lines.index(b"!function C4Version()") + 1) == 2
    assert written.author_line(len(lines)) == 4


def test_a_source_that_needs_nothing_is_left_as_it_is():
    source = b"\r\n @startuml\r\nA -> B\r@enduml"

    assert expanded_source.expand_plantuml(source, None) == (source, ())
    assert expanded_source.expand_plantuml(source, "!theme plain").source == b"\r\n @startuml\r\n!theme plain\nA -> B\r@enduml"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("type", ["c4plantuml", "plantuml"])
def test_c4_is_drawn(kroki: httpx.Client, type: str):
    answer = kroki.get(f"/{type}/svg/{encode(f'@startuml{chr(10)}{INCLUDES[0]}{chr(10)}{BODY}@enduml')}")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml"), answer.text
    words = " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", answer.text))
    for expected in ("Reader", "Bookshop", "Sells", "[HTTPS]", "Legend"):
        assert expected in words


def test_a_mistake_is_told_by_the_authors_own_line(kroki: httpx.Client):
    wrong = "\n".join(["@startuml", INCLUDES[3], 'Person(a, "A")', "this is not a diagram", "@enduml"])

    answer = kroki.post("/c4plantuml/svg?theme=plain", content=wrong)

    assert answer.status_code == 400
    assert "(line 4" in answer.text


def test_what_is_not_of_c4_cannot_be_included(kroki: httpx.Client):
    answer = kroki.post("/c4plantuml/svg", content="@startuml\n!include <awslib/AWSCommon>\nA -> B\n@enduml")

    assert answer.status_code == 400
    assert "reads from outside of the source" in answer.text

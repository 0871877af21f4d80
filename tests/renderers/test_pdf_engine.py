"""Several PDF files become one, and what others read in it is what was asked for."""

import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pikepdf
import pytest
from pdfminer.high_level import extract_text
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfparser import PDFParser
from PIL import Image
from pypdf import PdfReader

from pressroom.errors import EngineMissing, PressroomError, SourceInvalid, TooLarge
from pressroom.renderers import Limits, Missing, catalogue
from pressroom.renderers.html import Html
from pressroom.renderers.pdf import container, pack_pdfs
from pressroom.renderers.pdf.engine import Pdf
from pressroom.renderers.sandbox.engine_pools import EnginePools
from tests.renderers.pdf_files import (
    CATALOGUE,
    HELLO,
    ONE_PAGE,
    PAGE,
    blank,
    bomb,
    deep_outline,
    engine,
    make,
    print_pages,
    raw,
    saved,
    stream,
    with_field,
)


def offer_and_contract(**options: Any) -> PdfReader:
    parts = [print_pages("Annex", 2), print_pages("Contract", 3)]
    titles = [{"title": "The offer"}, {"title": "Договор", "state": "draft"}]
    return PdfReader(io.BytesIO(make(parts, documents=titles, **options).data), strict=True)


def bookmarks_of(reader: PdfReader) -> list[tuple[int, str, int]]:
    """Depth, title and page from 1, as pypdf reads them."""

    def flat(items: Any, depth: int = 1) -> Any:
        for item in items:
            if isinstance(item, list):
                yield from flat(item, depth + 1)
            else:
                yield depth, item.title, (reader.get_destination_page_number(item) or 0) + 1

    return list(flat(reader.outline))


def targets_of(reader: PdfReader, number: int) -> list[int | str]:
    """Where the links of a page lead: to a page from 1, or to an address."""
    found: list[int | str] = []
    for link in (one.get_object() for one in reader.pages[number - 1].get("/Annots", [])):
        action = link.get("/A", {})
        if "/URI" in action:
            found.append(action["/URI"])
            continue
        where = link["/Dest"] if "/Dest" in link else action["/D"]
        target = reader.named_destinations[where].dest_array if isinstance(where, str) else where
        found.append(reader.get_page_number(target[0].get_object()) + 1)
    return found


def test_titles_become_bookmarks_with_each_documents_own_outline_below() -> None:
    with pikepdf.open(io.BytesIO(print_pages("Annex", 3))) as pdf:
        with pdf.open_outline() as outline:
            chapter = pikepdf.OutlineItem("Chapter", 1)
            chapter.children.append(pikepdf.OutlineItem("Section", 2))
            outline.root.append(chapter)
        first = saved(pdf)

    merged = make([first, first], documents=[{"title": "One"}, {"title": "שתיים"}]).data

    expected = [
        (1, "One", 1), (2, "Chapter", 2), (3, "Section", 3),
        (1, "שתיים", 4), (2, "Chapter", 5), (3, "Section", 6),
    ]  # fmt: skip
    assert bookmarks_of(PdfReader(io.BytesIO(merged), strict=True)) == expected
    judge = PDFDocument(PDFParser(io.BytesIO(merged)))
    assert [(depth, title) for depth, title, *_ in judge.get_outlines()] == [row[:2] for row in expected]


def test_without_titles_the_outlines_stand_side_by_side() -> None:
    reader = PdfReader(io.BytesIO(make([deep_outline(1), deep_outline(0)]).data))

    assert [(depth, title) for depth, title, _ in bookmarks_of(reader)] == [(1, "b0"), (2, "end"), (1, "end")]


def test_the_contents_name_and_link_the_page_that_each_document_begins_on() -> None:
    reader = offer_and_contract(contents=True, contents_title="Inhalt", page_numbers=True, lang="de")

    contents = extract_text(io.BytesIO(make_bytes(reader)), page_numbers=[0])
    lines = [line for line in contents.splitlines() if line.strip()]
    assert lines[0] == "Inhalt"
    assert lines[1].startswith("The offer ..")
    assert lines[1].endswith("..2")
    assert lines[2].startswith("Договор draft ..")
    assert lines[2].endswith("..4")
    assert targets_of(reader, 1) == [2, 4]
    assert "Annex 1" in reader.pages[1].extract_text()
    assert "Contract 1" in reader.pages[3].extract_text()
    assert bookmarks_of(reader) == [(1, "Inhalt", 1), (1, "The offer", 2), (1, "Договор", 4)]
    assert reader.root_object["/Lang"] == "de"


def make_bytes(reader: PdfReader) -> bytes:
    assert isinstance(reader.stream, io.BytesIO)
    return reader.stream.getvalue()


def test_contents_that_take_two_pages_count_both() -> None:
    parts = [blank()] * 60
    made = make(parts, documents=[{"title": f"Document {number}"} for number in range(60)], contents=True)

    assert made.details["contents_pages"] == 2
    reader = PdfReader(io.BytesIO(made.data))
    assert [*targets_of(reader, 1), *targets_of(reader, 2)] == list(range(3, 63))
    assert "Document 59" in reader.pages[1].extract_text()
    assert reader.pages[1].extract_text().rstrip().endswith(".62")


def test_a_title_in_the_contents_is_text() -> None:
    title = "<b>&amp;</style><script>{x}</script> \\"
    reader = PdfReader(io.BytesIO(make([HELLO], documents=[{"title": title, "state": "<i>"}], contents=True).data))

    assert title in reader.pages[0].extract_text()
    assert "<i>" in reader.pages[0].extract_text()


def test_page_numbers_run_on_over_the_whole_file() -> None:
    reader = offer_and_contract(contents=True, page_numbers=True)

    for number, page in enumerate(reader.pages, 1):
        assert f"{number} / 6" in page.extract_text()
    assert reader.page_labels == ["1", "2", "3", "4", "5", "6"]


ROTATED = [(0, 595, 842), (90, 595, 842), (180, 842, 595), (270, 612, 792)]


@pytest.mark.parametrize(("rotation", "width", "height"), ROTATED)
@pytest.mark.parametrize("box", [None, (100, 50, 500, 550)])
def test_numbers_and_stamps_lie_as_a_reader_sees_the_page(
    rotation: int, width: int, height: int, box: tuple[int, ...] | None
) -> None:
    made = make([blank(width, height, rotation, box)], page_numbers=True)
    picture = picture_of(made.data)
    left, top, right, bottom = ink_of(picture)
    assert abs((left + right) / 2 - picture.width / 2) < 3
    assert picture.height * 0.95 < top < bottom < picture.height
    assert right - left > 1.5 * (bottom - top)  # the letters stand upright

    stamped = picture_of(make([blank(width, height, rotation, box)], stamp="DRAFT").data)
    left, top, right, bottom = ink_of(stamped)
    assert abs((left + right) / 2 - stamped.width / 2) < stamped.width * 0.03
    assert abs((top + bottom) / 2 - stamped.height / 2) < stamped.height * 0.03
    half = (stamped.width // 2, stamped.height // 2)
    assert ink_of(stamped.crop((0, 0, half[0] // 2, half[1] // 2))) == (0, 0, 0, 0)  # it rises from the left to the right
    assert ink_of(stamped.crop((half[0], 0, stamped.width, half[1]))) != (0, 0, 0, 0)


def picture_of(pdf: bytes, page: int = 1) -> Image.Image:
    return Image.open(io.BytesIO(make([pdf], "png", page=page, width=500).data)).convert("L")


def ink_of(picture: Image.Image) -> tuple[int, int, int, int]:
    return picture.point([255] * 245 + [0] * 11).getbbox() or (0, 0, 0, 0)


def test_a_stamp_depends_on_the_state_of_a_document() -> None:
    documents = [{"state": "draft"}, {"state": "final"}, {"state": "other"}]
    made = make([blank()] * 3, documents=documents, stamp="КОПИЯ", stamps={"draft": "DRAFT", "final": ""})

    reader = PdfReader(io.BytesIO(made.data))
    assert [page.extract_text().strip() for page in reader.pages] == ["DRAFT", "", "КОПИЯ"]


def test_a_stamp_behind_is_covered_by_what_the_page_draws() -> None:
    page = raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"/Contents 4 0 R", stream(b"1 g 0 0 200 100 re f")])

    assert ink_of(picture_of(make([page], stamp="X", stamp_behind=True).data)) == (0, 0, 0, 0)
    assert ink_of(picture_of(make([page], stamp="X").data)) != (0, 0, 0, 0)


def test_what_a_page_leaves_behind_does_not_move_its_number() -> None:
    wild = raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"/Contents 4 0 R", stream(b"q q 9 0 0 9 50 50 cm 1 0 0 rg")])

    left, top, right, _ = ink_of(picture_of(make([wild], page_numbers=True).data))

    assert top > 200
    assert abs((left + right) / 2 - 250) < 3


def test_links_lead_to_the_same_page_though_names_are_the_same_in_both_documents() -> None:
    reader = offer_and_contract()

    assert targets_of(reader, 1) == [2, "https://example.org/Annex"]
    assert targets_of(reader, 3) == [5, "https://example.org/Contract"]


def test_names_that_only_an_address_uses_are_kept() -> None:
    named = raw([CATALOGUE % b"/Names<</Dests<</Names[(summary)[3 0 R/Fit]]>>>>", ONE_PAGE, PAGE % b""])

    reader = PdfReader(io.BytesIO(make([blank(), named, named]).data))

    assert reader.get_destination_page_number(reader.named_destinations["summary"]) == 1


def test_form_fields_of_one_name_get_two() -> None:
    made = make([with_field("name"), with_field("name"), with_field("other")])

    assert list(PdfReader(io.BytesIO(made.data)).get_fields() or ()) == ["name", "name+1", "other"]
    assert [notice.code for notice in made.warnings] == ["field_renamed"]
    assert "part 2: the form field 'name' is now 'name+1'" in made.warnings[0].message


def test_scripts_and_actions_that_start_programs_are_left_out() -> None:
    script = b"<</S/JavaScript/JS(app.alert\\(1\\))>>"
    links = (
        b"/AA<</O%s>>/Annots[<</Subtype/Link/Rect[0 0 9 9]/A%s>><</Subtype/Link/Rect[0 0 9 9]/A<</S/Launch/F(x)>>>>"
        b"<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(https://example.org/)/Next%s>>>>]" % (script, script, script)
    )
    made = make([raw([CATALOGUE % (b"/OpenAction" + script), ONE_PAGE, PAGE % links])])

    assert [notice.code for notice in made.warnings] == ["active_content"]
    with pikepdf.open(io.BytesIO(made.data)) as pdf:
        text = saved(pdf, qdf=True, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    assert b"JavaScript" not in text
    assert b"Launch" not in text
    assert b"https://example.org/" in text


def test_attached_files_are_kept_and_of_equal_names_both() -> None:
    with pikepdf.open(io.BytesIO(HELLO)) as pdf:
        pdf.attachments["invoice.xml"] = b"<invoice/>"
        attached = saved(pdf)

    with pikepdf.open(io.BytesIO(make([attached, attached, HELLO]).data)) as merged:
        assert list(merged.attachments) == ["invoice.xml", "invoice.xml.1"]
        assert {one.get_file().read_bytes() for one in merged.attachments.values()} == {b"<invoice/>"}


@pytest.mark.parametrize("default", [b"/OFF[5 0 R]", b"/BaseState/OFF"])
def test_what_a_file_hides_in_a_layer_stays_hidden(default: bytes) -> None:
    layers = b"/OCProperties<</OCGs[5 0 R]/D<<%s>>>>" % default
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Properties<</L 5 0 R>>>>>>"
    drawing = stream(b"/OC /L BDC 0 0 99 99 re f EMC")
    hidden = raw([CATALOGUE % layers, ONE_PAGE, page, drawing, b"<</Type/OCG/Name(Internal)>>"])

    merged = make([HELLO, hidden, hidden]).data

    assert ink_of(picture_of(merged, 2)) == ink_of(picture_of(merged, 3)) == (0, 0, 0, 0)


def test_it_is_said_when_tags_and_signatures_are_lost() -> None:
    entries = b"/StructTreeRoot<</Type/StructTreeRoot>>/MarkInfo<</Marked true>>/AcroForm<</Fields[4 0 R]/SigFlags 3>>"
    field = b"<</Type/Annot/Subtype/Widget/FT/Sig/T(s)/V<</Type/Sig>>/Rect[0 0 0 0]/P 3 0 R>>"

    made = make([HELLO, raw([CATALOGUE % entries, ONE_PAGE, PAGE % b"/Annots[4 0 R]", field])])

    assert [notice.code for notice in made.warnings] == ["tags_lost", "signature_lost"]


def encrypted(**passwords: str) -> bytes:
    with pikepdf.open(io.BytesIO(HELLO)) as pdf:
        return saved(pdf, encryption=pikepdf.Encryption(**passwords))


BAD = {
    "not a PDF": (lambda: b"<html>", "part 2 is damaged"),
    "cut off": (lambda: HELLO[:-60], "part 2 is damaged: can't find startxref"),
    "wrong offset": (lambda: HELLO.replace(b"0000000101", b"0000000111"), "part 2 is damaged"),
    "a page that is not there": (
        lambda: raw([CATALOGUE % b"", b"<</Type/Pages/Kids[3 0 R 9 0 R]/Count 2>>", PAGE % b""]),
        "part 2 is damaged: it names 2 pages and has 1",
    ),
    "no pages": (lambda: raw([CATALOGUE % b"", b"<</Type/Pages/Kids[]/Count 0>>"]), "part 2 has no pages"),
    "pages in a loop": (
        lambda: raw([CATALOGUE % b"", b"<</Type/Pages/Kids[3 0 R 2 0 R]/Count 9>>", PAGE % b""]),
        "part 2 is damaged: Loop",
    ),
    "password": (lambda: encrypted(owner="a", user="b"), "part 2 is encrypted; save it without a password first"),
    "restricted by its owner": (lambda: encrypted(owner="a", user=""), "part 2 is encrypted"),
}


@pytest.mark.parametrize("output", ["pdf", "txt"])
@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_merged_is_named_by_its_number(name: str, output: str) -> None:
    make_part, words = BAD[name]

    with pytest.raises(SourceInvalid) as caught:
        make([HELLO, make_part()], output)

    assert words in str(caught.value)
    assert " at 0x" not in str(caught.value)


@pytest.mark.parametrize(
    ("entries", "words"),
    [(b"/Contents 4 0 R", "the contents of page 1 cannot be unpacked"), (b"/X 4 0 R", "object 4 cannot be unpacked")],
)
def test_what_cannot_be_unpacked_is_refused(entries: bytes, words: str) -> None:
    page = raw([CATALOGUE % b"", ONE_PAGE, PAGE % entries, stream(b"no zlib", b"/Filter/FlateDecode")])

    with pytest.raises(SourceInvalid, match=f"part 2 is damaged: {words}"):
        make([HELLO, page, HELLO])


def test_what_no_page_needs_is_left_out_unread() -> None:
    """Only what is copied is unpacked."""
    page = raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"", stream(b"no zlib", b"/Filter/FlateDecode")])

    assert b"no zlib" not in make([page]).data


def test_json_says_what_is_in_each_part() -> None:
    made = make([print_pages("Annex", 1, page="A5"), blank(300, 200, 90), encrypted(owner="a", user="b")], "json", text=True)

    said = json.loads(made.data)
    annex, empty, locked = said["parts"]
    assert said["page_count"] == 2
    assert (annex["title"], annex["encrypted"]) == ("Annex", False)
    assert annex["pages"][0]["text"].startswith("Annex 1\nlast out")
    assert (round(annex["pages"][0]["width"]), round(annex["pages"][0]["height"])) == (420, 595)
    assert empty["pages"] == [{"width": 200.0, "height": 300.0, "rotation": 90, "text": ""}]
    assert locked == {"encrypted": True, "needs_password": True, "pages": []}
    assert json.loads(make([deep_outline(1)], "json").data)["parts"][0]["outline"] == [
        {"title": "b0", "depth": 1, "page": 1},
        {"title": "end", "depth": 2, "page": None},
    ]


def test_text_has_a_form_feed_between_two_pages() -> None:
    assert make([HELLO, blank(), HELLO], "txt").data == b"Hello\f\fHello"


def test_a_picture_is_of_one_page_counted_through_all_parts() -> None:
    made = make([blank(100, 100), HELLO], "png", page=2, width=400)

    with Image.open(io.BytesIO(made.data)) as picture:
        assert picture.size == (400, 200)
    with pytest.raises(SourceInvalid, match="there is no page 3; there are 2"):
        make([blank(), HELLO], "png", page=3)


def test_a_picture_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pdf, "limits", Limits(pixels=1_000))

    with pytest.raises(TooLarge, match="pixels"):
        make([HELLO], "png")


def test_two_files_are_compared_by_page() -> None:
    first, second = print_pages("Annex", 1), print_pages("Order", 2)

    said = json.loads(make([first, second], "json", compare=True).data)
    assert (said["same"], said["page_counts"]) == (False, [1, 2])
    assert [page["same"] for page in said["pages"]] == [False, False]
    assert said["pages"][0]["before"].startswith("Annex 1")
    assert said["pages"][0]["after"].startswith("Order 1")
    assert said["pages"][1]["before"] is None
    assert json.loads(make([first, first], "json", compare=True).data)["same"] is True


def test_in_an_overlay_what_went_is_red_and_what_came_is_green() -> None:
    def bar(left: int) -> bytes:
        return raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"/Contents 4 0 R", stream(b"%d 0 50 100 re f" % left)])

    made = make([bar(0), bar(25)], "png", overlay=True, width=200)

    with Image.open(io.BytesIO(made.data)) as picture:
        colours = [picture.getpixel((x, 50)) for x in (10, 40, 60, 150)]
    assert colours == [(255, 0, 0), (0, 0, 0), (0, 255, 0), (255, 255, 255)]
    assert made.details["changed"] == 0.25
    assert make([bar(0), bar(0)], "png", overlay=True).details["changed"] == 0
    with pytest.raises(SourceInvalid, match="two PDF files are compared, not 1"):
        make([HELLO], "png", overlay=True)


TITLES = [{"title": "A"}, {"title": "B"}]
ALL_OPTIONS = {"contents": True, "page_numbers": True, "stamp": "DRAFT", "title": "All", "documents": TITLES}

IN_ANOTHER_PROCESS = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.renderers.test_pdf_engine import digest
source = bytes.fromhex(sys.stdin.read())
print(digest(source), digest(source) == digest(source))
"""


def digest(source: bytes) -> str:
    data = engine().render(source, "pdf", msgspec.convert(ALL_OPTIONS, Pdf.Options)).data
    return hashlib.sha256(data).hexdigest()


def test_the_same_input_gives_the_same_bytes_in_two_processes() -> None:
    """In fresh processes, as engines run in. In this one other tests may have set up fonts of their own."""
    source = pack_pdfs([print_pages("Annex", 2), with_field("name")])
    program = [sys.executable, "-c", IN_ANOTHER_PROCESS, str(Path(__file__).parents[2])]
    places = ({"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}, {"PYTHONHASHSEED": "8", "TZ": "UTC"})
    digests = [
        subprocess.run(
            program, env=place | {"HOME": "/nonexistent"}, input=source.hex(), capture_output=True, text=True, check=True
        ).stdout
        for place in places
    ]

    assert digests[0] == digests[1]
    assert digests[0].endswith(" True\n")


def many_pages() -> bytes:
    kids = b" ".join(b"%d 0 R" % number for number in range(3, 5_003))
    return raw([CATALOGUE % b"", b"<</Type/Pages/Kids[%s]/Count 5000>>" % kids, *[PAGE % b""] * 5_000])


def chain(length: int) -> bytes:
    """Objects that each refer to the next. qpdf copies them by functions that call themselves, which ended the process."""
    return raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"/X 4 0 R", *(b"<</N %d 0 R>>" % n for n in range(5, length + 5)), b"null"])


def content_bomb() -> bytes:
    return raw([CATALOGUE % b"", ONE_PAGE, PAGE % b"/Contents 4 0 R", stream(bomb(300), b"/Filter/FlateDecode")])


def picture_bomb() -> bytes:
    picture = b"/Subtype/Image/Width 20000/Height 20000/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>"
    return raw([CATALOGUE % b"", ONE_PAGE, page, stream(b"200 0 0 100 0 0 cm /I Do"), stream(bomb(382), picture)])


def names_in_a_loop() -> bytes:
    link = b"/Annots[<</Subtype/Link/Rect[0 0 1 1]/Dest(a)>>]"
    return raw([CATALOGUE % b"/Names<</Dests 4 0 R>>", ONE_PAGE, PAGE % link, b"<</Kids[4 0 R]/Limits[(a)(z)]>>"])


def bookmarks_in_a_loop() -> bytes:
    item = b"<</Title(x)/Next 5 0 R/First 4 0 R>>"
    return raw([CATALOGUE % b"/Outlines 4 0 R", ONE_PAGE, PAGE % b"", b"<</First 5 0 R>>", item])


def wrong_types() -> bytes:
    page = b"/CropBox 7/Rotate(x)/UserUnit/q/Annots[<</A 5/AA 6>>]/Contents[]"
    entries = b"/Outlines 7/Names[1]/Dests(x)/Lang 4/AcroForm[]/PageLabels 3"
    return raw([CATALOGUE % entries, ONE_PAGE, PAGE % page])


HOSTILE: dict[str, tuple[Callable[[], bytes], type[PressroomError] | None]] = {
    "too many pages": (many_pages, TooLarge),
    "a chain of references": (lambda: chain(100_000), None),
    "too many objects": (lambda: chain(500_001), TooLarge),
    "a bomb of drawing": (content_bomb, TooLarge),
    "a bomb in a picture": (picture_bomb, None),
    "a deep outline": (lambda: deep_outline(30_000), None),
    "bookmarks in a loop": (bookmarks_in_a_loop, None),
    "names in a loop": (names_in_a_loop, None),
    "values of wrong types": (wrong_types, None),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_merged_or_refused_in_words(name: str) -> None:
    build, error = HOSTILE[name]
    if error is None:
        assert engine().render(build(), "pdf", msgspec.convert({"page_numbers": True, "contents": True}, Pdf.Options)).data
        return
    with pytest.raises(error):
        make([build()], page_numbers=True)


def test_a_deep_outline_is_cut_to_a_depth_that_viewers_survive() -> None:
    depths = [depth for depth, *_ in bookmarks_of(PdfReader(io.BytesIO(make([deep_outline(60)]).data)))]

    assert len(depths) == 61
    assert max(depths) == 32


async def test_it_works_in_the_box_and_outlives_what_breaks_it() -> None:
    presses = EnginePools(1)
    try:
        source = pack_pdfs([HELLO, print_pages("Annex", 2)])
        for output in Pdf.makes:
            options = ALL_OPTIONS if output == "pdf" else {}
            assert (await presses.render(Pdf, source, output, options)).data
        with pytest.raises(SourceInvalid, match="part 1 is damaged"):
            await presses.render(Pdf, b"\xff\xfe no text either", "pdf")
        assert {"network", "files"} <= set(presses.pools()["pdf"].processes[0].layers) or sys.platform != "linux"
    finally:
        await presses.close()


PACKED = pack_pdfs([HELLO])


@pytest.mark.parametrize("source", [b"", pack_pdfs([]), PACKED[:-1], PACKED[:30], PACKED + b"x"])
def test_a_source_that_is_cut_off_or_empty_is_refused(source: bytes) -> None:
    with pytest.raises(SourceInvalid):
        container.unpack_pdfs(source)


def test_packed_files_are_unpacked_as_they_were() -> None:
    assert container.unpack_pdfs(pack_pdfs([HELLO, b"", b"x"])) == [HELLO, b"", b"x"]
    assert container.unpack_pdfs(HELLO) == [HELLO]


def test_titles_must_be_as_many_as_the_files() -> None:
    with pytest.raises(SourceInvalid, match="there are 1 entries for 2 PDF files; give one for each, or none"):
        make([HELLO, HELLO], documents=[{"title": "One"}])


WRONG_OPTIONS = [{"page": 0}, {"width": 0}, {"lang": "<x>"}, {"documents": [{"name": "x"}]}, {"stamp": "x" * 201}]


@pytest.mark.parametrize("options", WRONG_OPTIONS)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(options, Pdf.Options)


def test_where_the_html_engine_is_missing_files_are_merged_and_nothing_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Html, "missing", lambda: Missing("no plutoprint", "install it"))

    assert make([HELLO, HELLO]).details["pages"] == 2
    with pytest.raises(EngineMissing, match="printed by the engine html, which cannot work here: no plutoprint"):
        make([HELLO], page_numbers=True)


def test_a_language_of_bytes_is_offered_in_no_form() -> None:
    assert "pdf" not in catalogue.languages()
    assert "pdf" in [engine.name for engine in catalogue.engines()]

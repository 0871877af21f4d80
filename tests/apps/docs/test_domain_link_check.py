"""The links of a site are checked in a process of its own, whatever its pages are."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pressroom.apps.docs.uploads import page_stream
from pressroom.apps.docs.uploads.html_page import read_links
from pressroom.apps.docs.uploads.link_check import LinkReport, check_links
from pressroom.store.artifacts.artifacts import ArtifactFile

SPHINX_PAGE = """<!DOCTYPE html>
<html lang="en" data-content_root="../">
<head>
<meta charset="utf-8"><title>Start &mdash; guide 1.0</title>
<link rel="stylesheet" type="text/css" href="../_static/pygments.css?v=03e43079">
<script src="../_static/doctools.js?v=9bcbadda"></script>
<link rel="index" title="Index" href="../genindex.html"><link rel="next" title="Next" href="next.html">
</head>
<body>
<div class="related" role="navigation"><ul><li><a href="../genindex.html" accesskey="I">index</a></li></ul></div>
<section id="start"><span id="old-name"></span><a name="older"></a>
<h1>Start<a class="headerlink" href="#start" title="Link to this heading">¶</a></h1>
<p><a class="reference internal" href="../index.html#welcome"><span class="std std-ref">Welcome</span></a>
<a class="reference external" href="https://www.sphinx-doc.org/">Sphinx</a> <img alt="a" src="../_images/a.png">
<a href='#old-name'>here</a> <A HREF=#older>there</A> <a href="../genindex.html#S">S</a></p></section>
</body></html>"""
SPHINX = {
    "index.html": '<section id="welcome"><a href="guide/start.html#start">Start</a> <a href="guide/">Guide</a></section>',
    "genindex.html": '<h2 id="S">S</h2><a href="guide/start.html#start">start</a><a href="#Symbols">Symbols</a>',
    "guide/start.html": SPHINX_PAGE,
    "guide/index.html": '<meta http-equiv="refresh" content="0; url=start.html"><a href="gone.html">gone</a>',
    "guide/next.html": "",
    "_static/pygments.css": "",
    "_static/doctools.js": "",
    "_images/a.png": "",
}


def file(path: str, size: int = 0) -> ArtifactFile:
    return ArtifactFile(path=path, sha256=path, generation=0, size=size, media_type="text/html")


def reader(site: dict[str, str | bytes]) -> Callable[[ArtifactFile], Awaitable[bytes]]:
    async def read(one: ArtifactFile) -> bytes:
        content = site[one.path]
        return content.encode() if isinstance(content, str) else content

    return read


async def check(site: dict[str, str | bytes], seconds: float = 300.0) -> LinkReport:
    return await check_links([file(path) for path in site], reader(site), seconds=seconds)


async def test_a_site_of_sphinx() -> None:
    report = await check(dict(SPHINX))

    assert report.broken == 2
    assert report.problems == [
        {"page": "genindex.html", "link": "#Symbols", "reason": "the page has no such anchor"},
        {"page": "guide/index.html", "link": "gone.html", "reason": "there is no such file"},
    ]
    assert report.pages == 4  # an empty page has no links


async def test_a_site_without_pages_needs_no_process() -> None:
    assert await check({"a.txt": "x"}) == LinkReport(broken=0, problems=[], pages=0)


async def test_two_hundred_problems_are_told_of_a_thousand() -> None:
    report = await check({"index.html": "".join(f'<a href="{number}.html">x</a>' for number in range(1_000))})

    assert (report.broken, len(report.problems)) == (1_000, 200)


@pytest.mark.parametrize(
    "page",
    [
        b"\x00\xff\xfe<a href=x.html>",
        b"<" * 200_000,
        b"<a " * 100_000,
        b"<a href='" + b"x" * 1_000_000,
        b"<div>" * 100_000,
        b"<!--" * 100_000,
        b"<a href=x.html" + b" a" * 100_000 + b">",
        b"&#x41;" * 100_000,
        b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><p>&b;",
        b"<!DOCTYPE html SYSTEM 'file:///etc/passwd'><a href=x.html>",
        b"<table>" * 20_000 + b"<a href=x.html>",
        b"<meta charset=utf-7><a href=x.html>",
        b"<meta charset=hex><a href=x.html>",
        b"<meta charset='no such'><a href=x.html>",
        b"\xff\xfe<\x00a\x00>\x00",
        b" ",
    ],
)
async def test_whatever_a_page_holds_the_others_are_checked(page: bytes) -> None:
    report = await check({"a.html": page, "b.html": b'<a href="gone.html">x</a>'})

    assert {"page": "b.html", "link": "gone.html", "reason": "there is no such file"} in report.problems


async def test_pages_in_other_encodings() -> None:
    latin = '<meta charset="iso-8859-1"><a href="grün.html">x</a><a href="#weiß">y</a><p id="weiß">'.encode("latin-1")
    report = await check({"a.html": latin, "grün.html": '<meta charset="utf-8"><a href="a.html#weiß">x</a>'})

    assert report.problems == []


async def test_a_page_that_names_utf_16_and_is_not_in_it_is_read_as_utf_8() -> None:
    report = await check({"a.html": '<meta charset="utf-16"><a href="#weiß">y</a><p id="weiß"><a href="gone.html">x</a>'})

    assert [problem["link"] for problem in report.problems] == ["gone.html"]


async def test_a_check_that_takes_too_long_is_given_up_and_the_site_is_not_refused() -> None:
    never = asyncio.Event()

    async def read(_: ArtifactFile) -> bytes:
        await never.wait()
        return b""

    report = await check_links([file("a.html")], read, seconds=0.5)

    assert (report.broken, report.problems) == (0, [])
    assert "did not finish" in report.unchecked


async def test_a_page_that_is_too_large_is_left_out() -> None:
    site = {"a.html": '<a href="b.html#x">x</a>', "b.html": "never read"}
    report = await check_links([file("a.html"), file("b.html", page_stream.LARGEST_PAGE + 1)], reader(dict(site)))

    assert (report.broken, report.pages) == (0, 1)
    assert report.unchecked == "pages that are empty or too large: 1"


async def test_what_reading_raises_is_raised() -> None:
    async def read(_: ArtifactFile) -> bytes:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        await check_links([file("a.html")], read)


async def test_files_are_read_ahead_and_not_all_at_once() -> None:
    running = most = 0

    async def read(_: ArtifactFile) -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _step in range(10):
            await asyncio.sleep(0)
        running -= 1
        return b"<p>"

    await check_links([file(f"{number}.html") for number in range(100)], read)

    assert 1 < most <= page_stream.AT_ONCE


def test_links_of_every_element_that_loads_or_leads() -> None:
    page = read_links(
        b'<base href="x/"><base href="y/"><a href=1></a><area href=2><link href=3><img src=4><script src=5></script>'
        b"<iframe src=6></iframe><video src=7><source src=8><track src=9></video><audio src=10></audio><embed src=11>"
        b"<object data=12></object><a name=n></a><p id=i><map name=m></map><!-- <a href=no> -->"
        b"<script>'<a href=no>'</script><textarea><a href=no></textarea>"
        b'<a href="&#x31;3&amp;">'
    )

    assert [link.url for link in page.links] == [*map(str, range(1, 13)), "13&"]
    assert [link.url for link in page.links if link.is_anchor] == ["1", "2", "13&"]
    assert page.anchors == {"n", "i"}
    assert page.base == "x/"

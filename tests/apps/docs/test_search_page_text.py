"""What search reads of a page: what it says, without what stands around it on every page."""

import pytest

from pressroom.apps.docs.search.page_text import LONGEST_TEXT, is_searched, read_text

SPHINX = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Start &mdash; guide 1.0 documentation</title><style>p { color: red }</style>
<script>var words = "not text";</script></head>
<body><div class="related" role="navigation"><ul><li><a href="../genindex.html">index of all</a></li></ul></div>
<div class="document"><div class="body" role="main"><section id="start">
<h1>Getting <em>st</em>arted<a class="headerlink" href="#start" title="Link to this heading">¶</a></h1>
<p>Install <code class="docutils literal"><span class="pre">pressroom</span></code>, then<br>go on.</p>
<ul><li>one</li><li>two</li></ul>
<div class="highlight"><pre><span class="k">def</span> <span class="nf">main</span><span class="p">():</span></pre></div>
</section></div></div>
<div class="sphinxsidebar" role="navigation"><h3>On this page</h3></div>
<footer>Copyright</footer></body></html>"""


def text_of(page: str | bytes) -> tuple[str, str]:
    text = read_text("x.html", page if isinstance(page, bytes) else page.encode())
    assert text is not None
    return text.heading, text.excerpt


def test_a_page_of_sphinx() -> None:
    assert text_of(SPHINX) == ("Getting started", "Getting started Install pressroom, then go on. one two def main():")


@pytest.mark.parametrize(
    ("page", "heading", "text"),
    [
        ("<p>just this", "x.html", "just this"),
        ("<title>The title</title><p>text", "The title", "text"),
        ("<title>The title</title><h1></h1><h1>Second</h1><p>text", "Second", "Second text"),
        ("<header>Site</header><main><header><h1>Page</h1></header>text</main>", "Page", "Page text"),
        ("<nav>no</nav><aside>no</aside><p>yes</p><footer>no</footer><p hidden>no</p>", "x.html", "yes"),
        ("<h1>Site</h1><main><h2>Page <i>one</i></h2><h2>no</h2>text</main>", "Page one", "Page one no text"),
        ("<h2>Part</h2><h1>Page</h1>text", "Page", "Part Page text"),
        ("<p>a</p><p>b</p>", "x.html", "a b"),
        ("<p>a<b>b</b>c", "x.html", "abc"),
        ("<p>&lt;b&gt; &amp; &#x41;", "x.html", "<b> & A"),
        ("<svg><title>no</title><text>no</text></svg><p>yes", "x.html", "yes"),
    ],
)
def test_the_heading_and_the_text(page: str, heading: str, text: str) -> None:
    assert text_of(page) == (heading, text)


@pytest.mark.parametrize(
    "page",
    [
        "",
        " ",
        "<html></html>",
        '<meta http-equiv="refresh" content="0; url=start.html">',
        '<meta http-equiv="Refresh" content="0; url=start.html"><p>Redirecting to start.html',
        "<script>text</script>",
        '<meta name="robots" content="NoIndex, nofollow"><p>text',
    ],
)
def test_a_page_without_text_is_not_searched(page: str) -> None:
    assert read_text("x.html", page.encode()) is None


def test_a_long_page_is_read_to_a_limit() -> None:
    text = read_text("x.html", b"<p>word</p>" * 100_000)

    assert text is not None
    assert len(text.words) <= LONGEST_TEXT
    assert len(text.excerpt) == 16_000


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("index.html", True),
        ("guide/start.html", True),
        ("genindex.html", False),
        ("genindex-A.html", False),
        ("py-modindex.html", False),
        ("search.html", False),
        ("404.html", False),
        ("_modules/x.html", False),
        ("guide/_static/x.html", False),
    ],
)
def test_what_is_generated_beside_the_pages_is_not_searched(path: str, expected: bool) -> None:
    assert is_searched(path) is expected

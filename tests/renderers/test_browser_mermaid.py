"""Mermaid in the browser: well-formed pictures, mistakes with their place, and no way for a diagram to do more than draw."""

import io
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest
from PIL import Image

from pressroom.errors import SourceInvalid, Timeout, TooLarge, Unusable
from pressroom.renderers.browser.browser import Browser
from pressroom.renderers.browser.mermaid import MAX_TEXT, PAGE, MermaidBrowser, MermaidBrowserOptions
from pressroom.renderers.browser.mermaid_errors import locate_error
from pressroom.renderers.node import install as node_install
from tests.renderers.browser_canary import NEEDS_CHROMIUM, Canary, opened_canary

# A press has one thread. Here the canary listens in a second one, and Python would rather that nobody forked beside it.
pytestmark = [NEEDS_CHROMIUM, pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")]

KEPT = Path(__file__).parents[2] / ".cache" / "engines"

FLOW = "flowchart LR\n  A[One <br> two] --> B{Three}\n  B -->|no| C((four))"
DIAGRAMS = {
    "flowchart": FLOW,
    "sequence": "sequenceDiagram\n  Alice->>Bob: Hello<br/>there\n  Bob-->>Alice: Hi",
    "class": "classDiagram\n  Animal <|-- Duck\n  Animal : +int age",
    "state": "stateDiagram-v2\n  [*] --> Still\n  Still --> [*]",
    "er": "erDiagram\n  CUSTOMER ||--o{ ORDER : places",
    "gantt": "gantt\n  dateFormat YYYY-MM-DD\n  section S\n  A task :a1, 2014-01-01, 30d\n  Next :after a1, 20d",
    "mindmap": "mindmap\n  root((m))\n    One\n    Two",
    "pie": 'pie title Pets\n  "Dogs" : 3\n  "Cats" : 1',
    "gitgraph": "gitGraph\n  commit\n  branch b\n  commit",
    "math": 'flowchart LR\n  A["$$x^2$$"] --> B',
}
ATTACKS = {
    "X5-href": 'flowchart LR\n  A --> B\n  click A href "javascript:alert(1)"',
    "X5-call": "flowchart LR\n  A --> B\n  click A call alert(1)",
    "X5-loose": '%%{init: {"securityLevel": "loose"}}%%\nflowchart LR\n  A["<img src=x onerror=alert(1)>"] --> B',
    "X5-theme-css": '%%{init: {"themeCSS": "* { background: url(http://CANARY/) }"}}%%\nflowchart LR\n  A --> B',
    "X5-font": '%%{init: {"fontFamily": "x; } * { background: url(\'http://CANARY/\') "}}%%\nflowchart LR\n  A --> B',
    "X5-variables": '%%{init: {"theme": "base", "themeVariables": {"primaryColor": "url(http://CANARY/)"}}}%%\n'
    "flowchart LR\n  A --> B",
    "X5-class": "flowchart LR\n  A --> B\n  classDef x fill:#f00,background:url(http://CANARY/)\n  class A x",
    "X4-label": 'flowchart LR\n  A["<script>alert(1)</script><iframe src=http://CANARY/></iframe><svg onload=alert(1)>"] --> B',
    "X4-sequence": "sequenceDiagram\n  Alice->>Bob: <img src=http://CANARY/ onerror=alert(1)>",
    "D1-image": 'flowchart LR\n  A@{ img: "http://CANARY/x.png", label: "x", w: 60, h: 60 } --> B',
}


@pytest.fixture(scope="module")
def engines() -> Iterator[Path]:
    """Installed once for all test runs, if it is not here yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRESSROOM_ENGINES", str(KEPT))
        try:
            node_install.install()
        except Unusable as reason:
            if MermaidBrowser.missing():
                pytest.skip(f"Mermaid cannot be installed: {reason}")
        yield KEPT


@pytest.fixture(scope="module")
def engine(engines: Path) -> Iterator[MermaidBrowser]:
    engine = MermaidBrowser(Browser(network=True))
    yield engine
    engine.close()


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    with opened_canary(tmp_path) as canary:
        yield canary


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", DIAGRAMS)
def test_a_diagram_becomes_a_well_formed_picture(engine: MermaidBrowser, kind: str) -> None:
    rendered = engine.render(DIAGRAMS[kind], "svg", MermaidBrowserOptions(title="What it shows"))

    root = ElementTree.fromstring(rendered.data)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert float(root.attrib["width"]) == pytest.approx(rendered.details["width"], abs=0.01)
    assert "What it shows" in rendered.data.decode()
    assert len(list(root.iter())) > 5


@pytest.mark.deep
def test_the_same_source_gives_the_same_bytes_in_two_browsers(engine: MermaidBrowser) -> None:
    other = MermaidBrowser()

    for kind, output in (("gantt", "svg"), ("mindmap", "svg"), ("sequence", "png"), ("flowchart", "pdf")):
        first = engine.render(DIAGRAMS[kind], output, MermaidBrowserOptions()).data
        assert first == other.render(DIAGRAMS[kind], output, MermaidBrowserOptions()).data
    other.close()


def test_pictures_and_pages_have_the_size_of_the_drawing(engine: MermaidBrowser) -> None:
    drawn = engine.render(FLOW, "svg", MermaidBrowserOptions()).details
    png = Image.open(io.BytesIO(engine.render(FLOW, "png", MermaidBrowserOptions(scale=2.0)).data))
    narrow = Image.open(io.BytesIO(engine.render(FLOW, "png", MermaidBrowserOptions(width=300)).data))
    pdf = pypdf.PdfReader(io.BytesIO(engine.render(FLOW, "pdf", MermaidBrowserOptions(title="Flow")).data))

    assert png.size == pytest.approx((drawn["width"] * 2, drawn["height"] * 2), abs=2)
    assert narrow.width == pytest.approx(300, abs=1)
    assert len(pdf.pages) == 1
    assert float(pdf.pages[0].mediabox.width) == pytest.approx(drawn["width"] * 0.75, abs=1.5)
    assert "four" in pdf.pages[0].extract_text()


def test_themes_are_light_dark_or_both(engine: MermaidBrowser) -> None:
    light, dark, both = (
        engine.render(FLOW, "svg", MermaidBrowserOptions(theme=theme)).data for theme in ("light", "dark", "auto")
    )

    assert light != dark
    assert b"prefers-color-scheme" in both
    assert len(both) > len(light)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_diagram_brings_no_script_and_asks_no_server(engine: MermaidBrowser, canary: Canary, attack: str) -> None:
    source = canary.fill(ATTACKS[attack])

    for output in ("svg", "png") if attack.startswith("D1") else ("svg",):
        try:
            rendered = engine.render(source, output, MermaidBrowserOptions())
        except SourceInvalid:
            continue  # refused is as good
        if output == "svg":
            for element in ElementTree.fromstring(rendered.data).iter():
                name = element.tag.rpartition("}")[2].lower()
                assert name not in ("script", "iframe", "object", "embed")
                assert not [key for key in element.attrib if key.lower().startswith("on") or key == "src"]
                assert element.attrib.get("href", "data:").startswith("data:")
                assert "javascript:" not in str(element.attrib).lower()
                assert canary.address not in str(element.attrib) + (element.text or "" if name == "style" else "")
    assert canary.hits == 0


def test_markup_that_slips_through_finds_nothing_that_would_run_it(engine: MermaidBrowser) -> None:
    """Mermaid has had such holes, and will have more. The page's policy is what stands behind it."""
    engine.render(FLOW, "svg", MermaidBrowserOptions())
    with engine._browser.shared_page(300) as page:
        page.wait_until_reset()
        page.show(PAGE)
        page.run(
            """() => { const run = "document.title = 'ran'";
            document.body.innerHTML = `<img src="data:," onerror="${run}"><svg onload="${run}">`;
            const s = document.createElement("script"); s.textContent = run; document.body.append(s);
            return new Promise((done) => setTimeout(done, 100)) }"""
        )

        assert page.run("() => document.title") == ""
        page.reset()


def test_a_diagram_leaves_nothing_for_the_next_one(engine: MermaidBrowser) -> None:
    before = engine.render(FLOW, "svg", MermaidBrowserOptions()).data
    engine.render('%%{init: {"theme": "forest", "flowchart": {"nodeSpacing": 300}}}%%\n' + FLOW, "svg", MermaidBrowserOptions())
    with engine._browser.shared_page(300) as page:
        page.wait_until_reset()
        page.run("() => { Object.prototype.theme = 'dark'; Array.prototype.map = () => []; delete globalThis.mermaid }")
        page.reset()

    assert engine.render(FLOW, "svg", MermaidBrowserOptions()).data == before


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("flowchart LR\n A --> B\n B -- [[[ C", 3, 12),
        ("---\ntitle: x\n---\n%% a comment\nflowchart LR\n\n %% another\n A --> B\n A -- [[[ C", 9, 12),
        ('%%{init: {"theme": "dark"}}%%\nsequenceDiagram\n A->>B: x\n A->?B', 4, 5),
        ("pie title x\n dogs 3", 2, 2),
        ("nonsense", None, None),
    ],
)
def test_a_mistake_is_told_with_its_place(engine: MermaidBrowser, source: str, line: int | None, column: int | None) -> None:
    with pytest.raises(SourceInvalid) as told:
        engine.render(source, "svg", MermaidBrowserOptions())

    assert (told.value.line, told.value.column) == (line, column)
    assert told.value.excerpt == (source.split("\n")[line - 1] if line else None)


def test_a_place_past_the_end_is_the_end() -> None:
    wrong = locate_error("%% c\nflowchart LR\n A -->", "Expecting a node", 99, 1)

    assert (wrong.line, wrong.column) == (3, None)


def test_a_mistake_beside_an_emoji_is_told(engine: MermaidBrowser) -> None:
    """Mermaid quotes a fixed number of UTF-16 units before a mistake, and so may begin with half of a character."""
    with pytest.raises(SourceInvalid) as told:
        engine.render("pie showData\n >   : 👩\u200d👩\u200d👧40.5\n", "svg", MermaidBrowserOptions())

    assert told.value.line == 2


def test_an_empty_source_is_told(engine: MermaidBrowser) -> None:
    with pytest.raises(SourceInvalid, match="empty"):
        engine.render(" \n ", "svg", MermaidBrowserOptions())


def test_d2_diagrams_that_are_too_large_are_refused(engine: MermaidBrowser) -> None:
    many = "flowchart LR\n" + "\n".join(f"A{n} --> A{n + 1}" for n in range(2_100))
    with pytest.raises(TooLarge, match="edges"):
        engine.render(many, "svg", MermaidBrowserOptions())
    with pytest.raises(TooLarge, match="characters"):
        engine.render("flowchart LR\n" + "%" * 300_000, "svg", MermaidBrowserOptions())
    with pytest.raises(TooLarge, match=r"pixels|px"):
        engine.render(
            "flowchart LR\n" + "\n".join(f"A{n} --> A{n + 1}" for n in range(150)), "png", MermaidBrowserOptions(scale=8.0)
        )


@pytest.mark.parametrize(
    "source",
    [
        "gantt\n  dateFormat YYYY-MM-DD\n  excludes monday, tuesday, wednesday, thursday, friday, saturday, sunday\n"
        "  section S\n  A :a1, 2014-01-02, 30d",
        "xychart-beta\n  x-axis 1 --> 1\n  y-axis 1 --> 1\n  line [1, 2]",
    ],
)
def test_d2_a_diagram_that_never_ends_is_given_up_and_the_next_one_works(
    engine: MermaidBrowser, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    engine.render(FLOW, "svg", MermaidBrowserOptions())
    monkeypatch.setattr(engine, "limits", replace(MermaidBrowser.limits, seconds=2.0), raising=False)

    with suppress(SourceInvalid, Timeout):
        engine.render(source, "svg", MermaidBrowserOptions())

    monkeypatch.undo()
    assert engine.render(FLOW, "svg", MermaidBrowserOptions()).data


def test_today_is_not_drawn_and_that_is_told(engine: MermaidBrowser) -> None:
    rendered = engine.render(DIAGRAMS["gantt"], "svg", MermaidBrowserOptions())

    assert "no_today" in [notice.code for notice in rendered.warnings]
    assert b'class="today"' not in rendered.data


def test_without_the_npm_package_the_command_that_installs_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSROOM_ENGINES", str(tmp_path))

    missing = MermaidBrowser.missing()

    assert missing is not None
    assert missing.install == "pressroom engines install node"


def test_the_version_names_mermaid_and_the_browser(engines: Path) -> None:
    assert "mermaid 12." in MermaidBrowser.version()
    assert "chromium 1" in MermaidBrowser.version()


def test_as_many_characters_as_the_limit_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Needs no browser: what is within the limit gets as far as drawing."""

    class Drawing(Exception):
        pass

    def draw(*_: object) -> None:
        raise Drawing

    monkeypatch.setattr(MermaidBrowser, "_draw", draw)
    start = "flowchart LR\n"
    with pytest.raises(Drawing):
        MermaidBrowser().render(start + "é" * (MAX_TEXT - len(start)), "svg", MermaidBrowserOptions())
    with pytest.raises(TooLarge, match="characters"):
        MermaidBrowser().render(start + "é" * (MAX_TEXT - len(start) + 1), "svg", MermaidBrowserOptions())

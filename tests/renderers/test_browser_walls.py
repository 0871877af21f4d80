"""A page in the browser reaches no file and no server, whatever it tries. Criteria F1-F5, N1-N4, N7, N8, N10, X1, X4, X6, X8.

The browser here runs without the namespace that takes the network away: the other walls must hold without it.
"""

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest

from pressroom.renderers.browser import launch as browser_launch
from pressroom.renderers.browser.browser import Browser
from pressroom.renderers.browser.launch import ChromiumProcess
from pressroom.renderers.browser.options import DocumentOptions
from pressroom.renderers.browser.pdf import HtmlBrowser
from tests.renderers.browser_canary import NEEDS_CHROMIUM, SECRET, Canary, opened_canary

# A press has one thread. Here the canary listens in a second one, and Python would rather that nobody forked beside it.
pytestmark = [NEEDS_CHROMIUM, pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")]

FILES = {
    "F1-iframe": "<iframe src='file://SECRET'></iframe>",
    "F1-img": "<img src='file://SECRET'>",
    "F1-link": "<link rel=stylesheet href='file://SECRET'>",
    "F1-object": "<object data='file://SECRET'>x</object>",
    "F1-embed": "<embed src='file://SECRET'>",
    "F1-script": "<script src='file://SECRET'></script>",
    "F1-css-url": "<style>body { background: url(file://SECRET) }</style>",
    "F1-css-import": "<style>@import 'file://SECRET';</style>",
    "F1-font-face": "<style>@font-face { font-family: x; src: url(file://SECRET) } body { font-family: x }</style><p>text",
    "F1-svg-image": "<svg><image href='file://SECRET' width=9 height=9 /><use href='file://SECRET#a' /></svg>",
    "F2-upper": "<iframe src='FILE://SECRET'></iframe><img src='FILE://SECRET'>",
    "F2-mixed": "<img src='fIlE://SECRET'>",
    "F2-localhost": "<iframe src='file://localhostSECRET'></iframe><img src='file://localhostSECRET'>",
    "F2-backslashes": "<img src='file:\\\\SECRET'><iframe src='file:\\\\SECRET'></iframe>",
    "F2-view-source": "<iframe src='view-source:file://SECRET'></iframe>",
    "F2-escaped": "<iframe src='%66ile://SECRET'></iframe>",
    "F3-environ": "<iframe src='file:///proc/self/environ'></iframe><img src='file:///dev/zero'><img src='file:///dev/stdin'>",
    "F5-attachment": "<link rel=attachment href='file://SECRET'><a rel=attachment href='file://SECRET'>x</a>",
}

SERVERS = {
    "N1-loopback": "<img src='http://CANARY/'><link rel=stylesheet href='http://CANARY/a.css'>",
    "N1-names": "<img src='http://localhost:PORT/'><img src='http://[::1]:PORT/'><img src='http://0.0.0.0:PORT/'>",
    "N2-numbers": "<img src='http://2130706433:PORT/'><img src='http://0x7f000001:PORT/'><img src='http://0177.0.0.1:PORT/'>",
    "N2-short": "<img src='http://127.1:PORT/'><img src='http://localhost.:PORT/'><img src='http://１２７.0.0.1:PORT/'>",
    "N3-mapped": "<img src='http://[::ffff:127.0.0.1]:PORT/'><img src='http://[::]:PORT/'>",
    "N4-tunnelled": "<img src='http://[2002:7f00:1::]:PORT/'><img src='http://[64:ff9b::7f00:1]:PORT/'>",
    "N7-meta-refresh": "<meta http-equiv=refresh content='0;url=http://CANARY/'>text",
    "N7-meta-refresh-odd": "<template><meta http-equiv=' REFRESH ' content='0; URL=\"http://CANARY/\"'></template>"
    "<noscript><meta http-equiv=refresh content='0;http://CANARY/'></noscript>",
    "N7-srcdoc": "<iframe srcdoc=\"<img src='http://CANARY/'><meta http-equiv=refresh content='0;url=http://CANARY/'>\"></iframe>",
    "N7-base": "<base href='http://CANARY/'><img src=x.png><link rel=stylesheet href=x.css>",
    "N7-frameset": "<frameset><frame src='http://CANARY/'></frameset>",
    "N8-hints": "<link rel=dns-prefetch href='//CANARY'><link rel=preconnect href='http://CANARY'>"
    "<link rel=preload as=image href='http://CANARY/'><link rel=prefetch href='http://CANARY/'>"
    "<link rel=modulepreload href='http://CANARY/'><link rel=manifest href='http://CANARY/'><link rel=icon href='http://CANARY/'>",
    "N8-has": "<style>body:has(input[value^=s]) { background: url(http://CANARY/s) }</style><input value=secret>",
    "N8-css": "<style>@import url(http://CANARY/); p { list-style: image-set('http://CANARY/' 1x); display: list-item;"
    " cursor: url(http://CANARY/), auto; content: url(http://CANARY/); mask: url(http://CANARY/);"
    " shape-outside: url(http://CANARY/) }</style><p>x",
    "N10-credentials": "<img src='http://user@CANARY/'><img src='http://example.com#@CANARY/'><img src='//CANARY/'>",
    "N10-schemes": "<img src='ftp://CANARY/'><iframe src='gopher://CANARY/'></iframe><img src='blob:x'>"
    "<img src='\\\\CANARY\\x'>",
    "N10-media": "<video src='http://CANARY/' poster='http://CANARY/p'></video><audio src='http://CANARY/' autoplay></audio>"
    "<video><track src='http://CANARY/' default></video><input type=image src='http://CANARY/'>"
    "<img srcset='http://CANARY/ 1x'><picture><source srcset='http://CANARY/'><img src='data:,'></picture>",
    "X4-svg": "<svg><style>@import 'http://CANARY/';</style><image href='http://CANARY/' width=9 height=9 />"
    "<filter id=f><feImage href='http://CANARY/' /></filter>"
    "<rect width=9 height=9 filter='url(#f)' fill='url(http://CANARY/#x)' /></svg>",
    "X6-css": "<style>p { behavior: url(http://CANARY/); -moz-binding: url(http://CANARY/) }</style><p>x",
}

SCRIPTS = {
    "N7-location": "location = 'http://CANARY/'",
    "N7-form": "const f = document.createElement('form'); f.action = 'http://CANARY/'; document.body.append(f); f.submit()",
    "N7-window-open": "window.open('http://CANARY/'); window.open('about:blank').location = 'http://CANARY/'",
    "N7-click": "const a = document.createElement('a'); a.href = 'http://CANARY/'; a.download = 'x';"
    "document.body.append(a); a.click()",
    "N7-file": "location = 'file://SECRET'; window.open('file://SECRET'); fetch('file://SECRET').catch(() => 0)",
    "N8-fetch": "fetch('http://CANARY/').catch(() => 0);"
    "const x = new XMLHttpRequest(); x.open('GET', 'http://CANARY/'); x.send()",
    "N8-websocket": "new WebSocket('ws://CANARY/')",
    "N8-eventsource": "new EventSource('http://CANARY/')",
    "N8-beacon": "navigator.sendBeacon('http://CANARY/', 'x')",
    "N8-webrtc": "const p = new RTCPeerConnection({iceServers: [{urls: 'stun:CANARY'}, "
    "{urls: 'turn:CANARY?transport=tcp', username: 'a', credential: 'b'}]});"
    "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o))",
    "N8-worker": "try { new Worker('http://CANARY/') } catch {} "
    "try { new Worker(URL.createObjectURL(new Blob([`fetch('http://CANARY/')`]))) } catch {}",
    "N8-service-worker": "navigator.serviceWorker?.register('http://CANARY/')",
    "N8-import": "import('http://CANARY/').catch(() => 0)",
    "N8-image": "new Image().src = 'http://CANARY/'; document.body.innerHTML += '<iframe src=\"http://CANARY/\"></iframe>'",
    "N8-dialogs": "alert(1); confirm(2); prompt(3); print()",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[HtmlBrowser]:
    engine = HtmlBrowser(Browser(network=True))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canary]:
    """One for all: a visitor who comes late is noticed by a later test."""
    with opened_canary(tmp_path_factory.mktemp("canary")) as canary:
        yield canary


@pytest.fixture
def new_canary(tmp_path: Path) -> Iterator[Canary]:
    with opened_canary(tmp_path) as canary:
        yield canary


def page_of(markup: str) -> str:
    return f"<!DOCTYPE html><html lang=en><head><title>T</title></head><body>before {markup} after</body></html>"


def text_of(pdf: bytes) -> str:
    return "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)


@pytest.mark.parametrize("attack", FILES)
def test_no_file_gets_into_the_document(engine: HtmlBrowser, canary: Canary, attack: str) -> None:
    rendered = engine.render(canary.fill(page_of(FILES[attack])), "pdf", DocumentOptions())

    assert SECRET not in text_of(rendered.data)
    assert SECRET.encode() not in rendered.data
    assert not pypdf.PdfReader(io.BytesIO(rendered.data)).attachments
    assert [notice for notice in rendered.warnings if notice.code == "blocked_fetch"]


@pytest.mark.parametrize("attack", SERVERS)
def test_no_server_is_asked(engine: HtmlBrowser, canary: Canary, attack: str) -> None:
    rendered = engine.render(canary.fill(page_of(SERVERS[attack])), "pdf", DocumentOptions())

    assert canary.hits == 0
    if attack != "N7-frameset":  # a frameset has no text
        assert "before" in text_of(rendered.data)
    assert len(rendered.warnings) <= 25


@pytest.mark.parametrize("attack", SCRIPTS)
def test_scripts_that_are_allowed_reach_nobody_either(engine: HtmlBrowser, canary: Canary, attack: str) -> None:
    source = canary.fill(page_of(f"<script>{SCRIPTS[attack]}</script>"))

    rendered = engine.render(source, "pdf", DocumentOptions(javascript=True))

    assert canary.hits == 0
    assert "before" in text_of(rendered.data)
    assert SECRET not in text_of(rendered.data)


@pytest.mark.parametrize(
    "markup",
    [
        "<script>document.body.textContent = 'ran'</script>",
        "<img src='data:,' onerror=\"document.body.textContent = 'ran'\">",
        "<svg onload=\"document.body.textContent = 'ran'\"></svg>",
        "<iframe srcdoc=\"<script>parent.document.body.textContent = 'ran'</script>\"></iframe>",
        "<body onload=\"document.body.textContent = 'ran'\">",
        "<details open ontoggle=\"document.body.textContent = 'ran'\">x</details>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=document.body.remove()&gt;'>",
    ],
)
def test_x1_scripts_do_not_run_unless_they_are_asked_for(engine: HtmlBrowser, markup: str) -> None:
    rendered = engine.render(page_of(markup), "pdf", DocumentOptions())

    assert "before" in text_of(rendered.data)


def test_scripts_run_when_they_are_asked_for(engine: HtmlBrowser) -> None:
    source = page_of("<script>document.body.append('it ran')</script>")

    assert "it ran" in text_of(engine.render(source, "pdf", DocumentOptions(javascript=True)).data)


def test_scripts_stay_off_without_the_help_of_our_policy(engine: HtmlBrowser) -> None:
    """The switch must be set before the document is, and must outlive its writing."""
    with engine._browser.page(300) as page:
        page.show(
            "<title>still</title><script>document.title = 'ran'</script><img src=data:, onerror=\"document.title = 'ran'\">"
        )

        assert page.run("() => document.title") == "still"


def test_x1_links_of_a_document_lead_to_pages_and_mailboxes_only(engine: HtmlBrowser) -> None:
    bad = [
        "javascript:alert(1)",
        "java\nscript:alert(1)",
        "vbscript:x",
        "Data:text/html,x",
        "file:///etc/passwd",
        " JAVASCRIPT:x",
    ]
    links = "".join(f'<a href="{address}">x</a> ' for address in [*bad, "https://example.com/", "mailto:a@example.com"])

    page: Any = pypdf.PdfReader(io.BytesIO(engine.render(page_of(links), "pdf", DocumentOptions()).data)).pages[0]

    assert {note["/A"]["/URI"] for note in page["/Annots"]} == {"https://example.com/", "mailto:a@example.com"}


def test_x8_titles_headers_and_footers_are_text(engine: HtmlBrowser, canary: Canary) -> None:
    breakout = "</title></span><script>document.body.textContent='ran'</script><img src=http://CANARY/ onerror=alert(1)>&{page}"
    options = DocumentOptions(
        title=canary.fill(breakout),
        date="<img src=x>",
        header=canary.fill(
            "<div style='background: url(http://CANARY/)'>{title} on {date}</div><img src='http://CANARY/'><script>1</script>"
            "<style>@import 'http://CANARY/'</style><iframe src='http://CANARY/'></iframe><span class=date onclick=x>no</span>"
        ),
        footer="<svg onload=alert(1)><image href='file:///etc/passwd' /></svg>{page} of {pages}",
    )

    text = text_of(engine.render(page_of("x"), "pdf", options).data)

    assert "</title></span><script>document.body.textContent='ran'</script>" in text
    assert "on <img src=x>" in text
    assert "1 of 1" in text
    assert canary.hits == 0


def test_names_in_the_document_do_not_fool_the_cleaning(engine: HtmlBrowser, canary: Canary) -> None:
    """An element called `head` or `documentElement` answers in the place of the document's own."""
    names = ("head", "documentElement", "querySelectorAll", "createElement", "readyState", "doctype", "body")
    clobber = "".join(f"<img name={name} alt='' src='data:,'><form name={name}></form>" for name in names)
    source = canary.fill(
        page_of(f"{clobber}<meta http-equiv=refresh content='0;url=http://CANARY/'><img alt='' src='http://CANARY/'>")
    )

    rendered = engine.render(source, "pdf", DocumentOptions())

    assert "after" in text_of(rendered.data)
    assert canary.hits == 0


def test_what_was_refused_is_told_once_and_not_without_end(engine: HtmlBrowser) -> None:
    pictures = "<img alt='' src='http://example.com/same.png'>" * 3
    pictures += "".join(f"<img alt='' src='http://example.com/{n}.png'>" for n in range(50))

    told = [n.message for n in engine.render(page_of(pictures), "pdf", DocumentOptions()).warnings if n.code == "blocked_fetch"]

    assert len(told) == len(set(told)) == 20


def knock(launched: ChromiumProcess, canary: Canary, wait: float = 0.5) -> None:
    """Load a picture from the canary in a page that nobody has shut."""
    connection = launched.connection
    connection.deadline = time.monotonic() + 60
    target = connection.call("Target.createTarget", {"url": "about:blank"})["targetId"]
    session = connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
    frame = connection.call("Page.getFrameTree", {}, session)["frameTree"]["frame"]["id"]
    connection.call("Page.setDocumentContent", {"frameId": frame, "html": f"<img src='http://{canary.address}/'>"}, session)
    until = time.monotonic() + wait
    while not canary.hits and time.monotonic() < until:
        time.sleep(0.02)


def test_the_canary_sings_when_there_are_no_walls(new_canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_launch, "NO_NETWORK", ())
    launched = ChromiumProcess(network=True)

    knock(launched, new_canary, wait=60)
    launched.kill()

    assert new_canary.hits > 0


def test_the_switches_hold_alone(new_canary: Canary) -> None:
    launched = ChromiumProcess(network=True)

    knock(launched, new_canary)
    launched.kill()

    assert new_canary.hits == 0


def test_the_namespace_holds_alone(new_canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_launch, "NO_NETWORK", ())
    launched = ChromiumProcess()

    knock(launched, new_canary)
    launched.kill()

    assert new_canary.hits == 0


def test_the_page_holds_alone(new_canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_launch, "NO_NETWORK", ())
    browser = Browser(network=True)

    with browser.page(300, scripts=True) as page:
        page.show(f"<img src='http://{new_canary.address}/'><script>fetch('http://{new_canary.address}/')</script>")
    browser.close()

    assert new_canary.hits == 0

"""Attacks on pages: cookies, articles, previews, comparisons and searches whose cost lies in their text."""

import asyncio
import time
from urllib.parse import quote

from tests.attack.http_client import FORM_HEADERS, SHORT, Answer, form_body
from tests.attack.measure import Attacker
from tests.attack.registry import ANONYMOUS, SUBMITTER, VIEWER, Attacks

COMBINING = "\u0315" * 20_000 + "\u0300" * 20_000
PAGE_PATHS = ("/desk/login", "/desk", "/wiki/Home", "/playground")
# Takes Graphviz longer than anybody waits: a dense graph whose ranks are all one.
SLOW_DOT = "digraph { rankdir=LR; " + " ".join(f"n{a} -> n{b};" for a in range(140) for b in range(140) if a != b) + " }"
PROMPT = 20.0  # seconds in which a preview is to be answered while slow ones were abandoned

attacks = Attacks()


async def _save(attacker: Attacker, name: str, source: str, *, previous: int = 0, **fields: str) -> Answer:
    return await attacker.http.form(
        attacker.token("submitter"), f"/wiki/{name}", {"source": source, "previous": str(previous), **fields}
    )


@attacks.add("cookie-of-quotes", ANONYMOUS)
async def cookie_of_quotes(attacker: Attacker) -> None:
    """Cookies of 60 KB: escaped quotes, thousands of names, the session's own name over and over."""
    cookies = (
        'x="' + '\\"' * 29_000 + '"',
        "a=b; " * 11_000,
        'pressroom="' + "\\012" * 14_000 + '"',
        "pressroom=x;" * 4_800,
        ";" * 60_000,
    )
    for cookie in cookies:
        for path in PAGE_PATHS:
            answer = await attacker.http.request("GET", path, headers={"Cookie": cookie}, within=SHORT)
            attacker.expect(answer, 200, 303, what=f"{path} {cookie[:20]}")


@attacks.add("login-next", ANONYMOUS)
async def login_next(attacker: Attacker) -> None:
    """Where to go after the login: 60 KB of dots and slashes, and addresses elsewhere; never a way out."""
    for to in ("/wiki/" + "/.." * 5_000, "//evil.example", "/desk\\evil", "javascript:alert(1)", "/wiki/" + "%2e" * 15_000):
        answer = await attacker.http.request("GET", f"/desk/login?next={quote(to, safe='%')}", within=SHORT)
        attacker.expect(answer, 200, what=to[:30])
        attacker.check(
            b"evil" not in answer.body and b"javascript:alert" not in answer.body, f"{to[:30]}: is shown as the way on"
        )


@attacks.add("wiki-combining-marks", SUBMITTER)
async def wiki_combining_marks(attacker: Attacker) -> None:
    """Save an article of 40,000 combining marks in the wrong order, with such a title, comment and name; search for them."""
    attacker.expect(await _save(attacker, "Marks", COMBINING), 303)
    attacker.expect(await _save(attacker, "Marks_2", ("a" + COMBINING + "\n") * 12), 303, 422, 413)
    attacker.expect(await _save(attacker, "Marks_3", "x", title=COMBINING), 422)
    attacker.expect(await _save(attacker, "Marks_4", "x", comment=COMBINING), 422)
    marks = quote("\u0315" * 9_000 + "\u0300" * 1_000)
    for path in (f"/wiki/{marks[:60_000]}", f"/wiki/a{marks[:4_000]}", f"/wiki/Special:Search?q={marks[:60_000]}"):
        answer = await attacker.http.request("GET", path, token=attacker.token("viewer"), within=SHORT * 2)
        attacker.expect(answer, 200, 301, 404, 422, what=path[:40])


@attacks.add("wiki-non-ascii-page", SUBMITTER)
async def wiki_non_ascii_page(attacker: Attacker) -> None:
    """15 MB that are not ASCII as an article, a preview and a playground source: refused or shown, in little time."""
    for name, text in {
        "letters": "\u00e4" * 7_500_000,
        "controls": "\x85\x01\u00e4" * 2_500_000,
        "emoji": "\U0001f4a9" * 900_000,
    }.items():
        raw = quote(text).encode() if len(text) < 1_000_000 else text.encode()
        for path in ("/wiki/Big", "/playground", "/playground/preview"):
            body = (
                form_body({"previous": "0", "action": "preview", "language": "markdown", "output": "html"}) + b"&source=" + raw
            )
            answer = await attacker.http.request(
                "POST", path, token=attacker.token("submitter"), headers=FORM_HEADERS, body=body
            )
            attacker.expect(answer, 200, 400, 413, 422, what=f"{path} {name}")


@attacks.add("wiki-large-non-ascii-saved", SUBMITTER)
async def wiki_large_non_ascii_saved(attacker: Attacker) -> None:
    """An article as large as one may be, not ASCII and with controls: saved, edited, read, its history shown."""
    source = ("\u00e4\u4e2d\x85 word\n" * 100_000)[:480_000]
    attacker.expect(await _save(attacker, "Large", source), 303, 413, 422)
    for path in ("/wiki/Large", "/wiki/Large?edit", "/wiki/Large?history", "/wiki/Large.md", "/wiki/Large?revision=1"):
        answer = await attacker.http.request("GET", path, token=attacker.token("submitter"))
        attacker.expect(answer, 200, 404, what=path)


@attacks.add("playground-job-markup", SUBMITTER)
async def playground_job_markup(attacker: Attacker) -> None:
    """A job whose source is 900 KB of `<&>`, looked at in the playground and on its page."""
    source = "<&>" * 300_000
    job = {"kind": "render", "payload": {"language": "markdown", "output": "html", "source": source}}
    made = attacker.expect(await attacker.http.submit(attacker.token("submitter"), job), 202)
    uid = made.json()["id"]
    await attacker.http.request("GET", f"/jobs/{uid}?wait=30", token=attacker.token("submitter"))
    for path in (f"/playground?job={uid}", f"/desk/jobs/{uid}", f"/jobs/{uid}", f"/playground?source={quote(source[:15_000])}"):
        answer = await attacker.http.request("GET", path, token=attacker.token("submitter"))
        attacker.expect(answer, 200, 404, 413, 422, what=path[:40])


@attacks.add("compare-repetitive-lines", SUBMITTER)
async def compare_repetitive_lines(attacker: Attacker) -> None:
    """Two revisions of 2,000 repetitive lines compared, as history and as a conflict of two editors."""
    one, two = "a\nb\n" * 990, "b\nb\na\n" * 660
    attacker.expect(await _save(attacker, "Lines", one), 303)
    attacker.expect(await _save(attacker, "Lines", two, previous=1), 303)
    answer = await attacker.http.request("GET", "/wiki/Lines?compare&from=1&to=2", token=attacker.token("viewer"))
    attacker.expect(answer, 200)
    attacker.expect(await _save(attacker, "Lines", "c\n" * 1_990, previous=1), 409)
    long = "\n".join("x" * 200 + str(n % 3) for n in range(1_990))
    attacker.expect(await _save(attacker, "Lines", long, previous=1), 409)


@attacks.add("footnotes", SUBMITTER)
async def footnotes(attacker: Attacker) -> None:
    """Articles of footnotes, links, tables, headings, quotes and emphasis without end: saved, then viewed."""
    sources = {
        "Footnotes": "".join(f"a[^{n}] " for n in range(8_000))
        + "\n\n"
        + "".join(f"[^{n}]: b[^{n}]\n\n" for n in range(8_000)),
        "Same_footnote": "a[^1] " * 30_000 + "\n\n[^1]: b\n",
        "Headings": "# a\n" * 50_000,
        "Wiki_links": "[[a]] " * 40_000,
        "Many_links": "".join(f"[[page {n}]] " for n in range(20_000)),
        "Tables": "|a" * 20_000 + "|\n" + "|-" * 20_000 + "|\n" + "|b\n" * 1_000,
        "Quotes": ">" * 50_000 + "a",
        "Emphasis": "*a **b " * 40_000,
        "Brackets": "[" * 100_000 + "a" + "](b)" * 100_000,
        "Backticks": "".join("`" * n + " " for n in range(1, 900)),
        "Entities": "&amp;" * 80_000,
        "Diagrams": "```dot\ndigraph { a }\n```\n\n" * 2_000,
    }
    for name, source in sources.items():
        attacker.expect(await _save(attacker, name, source), 303, 413, 422, what=name)
        for path in (f"/wiki/{name}", f"/wiki/{name}?edit"):
            answer = await attacker.http.request("GET", path, token=attacker.token("submitter"))
            attacker.expect(answer, 200, 404, what=path)
    answer = await attacker.http.request("GET", "/wiki/Special:WhatLinksHere/a", token=attacker.token("viewer"))
    attacker.expect(answer, 200, 404)


@attacks.add("wiki-form-mistakes", SUBMITTER)
async def wiki_form_mistakes(attacker: Attacker) -> None:
    """A save without `source` and one with an unknown action: 422, and the article stays as it was."""
    attacker.expect(await _save(attacker, "Kept", "the text that stays"), 303)
    for fields in (
        {"previous": "1"},
        {"previous": "1", "action": "destroy", "source": ""},
        {"previous": "1", "action": "x" * 60_000},
    ):
        attacker.expect(await attacker.http.form(attacker.token("submitter"), "/wiki/Kept", fields), 422)
    for previous in ("9" * 5_000, "-1", "\u0663", "1e9", ""):
        fields = {"previous": previous, "source": "other"}
        attacker.expect(
            await attacker.http.form(attacker.token("submitter"), "/wiki/Kept", fields), 409, 422, what=previous[:5]
        )
    answer = await attacker.http.request("GET", "/wiki/Kept.md", token=attacker.token("viewer"))
    attacker.check(answer.body == b"the text that stays", f"the article has become {answer.body[:100]!r}")


@attacks.add("searches", VIEWER)
async def searches(attacker: Attacker) -> None:
    """Search strings that make regular expressions and full-text queries slow, or are none: 200, in little time."""
    words = (
        "(a+)+$" + "a" * 5_000,
        "a*" * 5_000,
        '"' * 9_999,
        "NEAR(" * 3_000,
        " OR " * 4_000,
        "* * *",
        "-" * 10_000,
        "a:b " * 4_000,
        "%" * 5_000,
        "_" * 9_000,
        "\\" * 9_000,
        " ".join("a" * (n % 7 + 1) for n in range(4_000)),
        "job_" + "0" * 20_000,
        "'; DROP TABLE job; --",
    )
    for word in words:
        asked = quote(word)[:50_000].rsplit("%", 1)[0] or "x"
        for path in (
            f"/wiki/Special:Search?q={asked}",
            f"/desk/find?q={asked}",
            f"/desk/jobs?subject={asked}",
            f"/jobs?subject={asked}",
        ):
            answer = await attacker.http.request("GET", path, token=attacker.token("viewer"), within=SHORT * 2)
            attacker.check(0 < answer.status < 500, f"{path[:50]}: {answer.status} {answer.body[:100]!r}")


@attacks.add("abandoned-previews", SUBMITTER)
async def abandoned_previews(attacker: Attacker) -> None:
    """Three slow previews whose clients go away, in the wiki and the playground: the next preview is answered promptly."""
    wiki = ("/wiki/Home", {"action": "preview", "previous": "0", "source": f"```dot\n{SLOW_DOT}\n```\n"}, {"source": "# quick"})
    playground = (
        "/playground/preview",
        {"language": "dot", "output": "svg", "source": SLOW_DOT},
        {"source": "digraph { quick }"},
    )
    for path, slow, quick in (wiki, playground):
        body = form_body(slow)
        head = attacker.http.head("POST", path, token=attacker.token("submitter"), headers=FORM_HEADERS, length=len(body))
        for _ in range(3):
            async with attacker.http.connect() as (_, writer):
                writer.write(head + body)
                await writer.drain()
                await asyncio.sleep(1)
        began = time.monotonic()
        answer = await attacker.http.form(attacker.token("submitter"), path, slow | quick)
        attacker.expect(answer, 200, what=path)
        took = time.monotonic() - began
        attacker.check(took < PROMPT, f"{path}: the preview took {took:.1f} s")


@attacks.add("playground-options", SUBMITTER)
async def playground_options(attacker: Attacker) -> None:
    """Options of the playground: deep JSON, many keys, huge numbers."""
    for options in (
        "[" * 100_000,
        '{"a":' * 50_000,
        "{" + ",".join(f'"k{n}":{n}' for n in range(50_000)) + "}",
        "9" * 100_000,
        '{"theme":' + "1" * 50_000 + "}",
    ):
        fields = {"language": "dot", "output": "svg", "source": "digraph { a }", "options": options}
        for path in ("/playground/preview", "/playground", "/playground/keep"):
            answer = await attacker.http.form(attacker.token("submitter"), path, fields)
            attacker.check(0 < answer.status < 500, f"{path} {options[:10]}: {answer.status} {answer.body[:100]!r}")


@attacks.add("terminal-and-errors", SUBMITTER)
async def errors_with_long_sources(attacker: Attacker) -> None:
    """Sources with a mistake at the end of a long line or after many lines: the error has a short excerpt."""
    for source in (
        "a" * 900_000 + " ->",
        "digraph {\n" + "a;\n" * 250_000 + "->",
        "\u0315" * 200_000,
        "digraph { " + "\\" * 500_000,
        "\x00" * 1_000,
    ):
        for path in ("/render?format=dot&mode=sync", "/kroki/graphviz/svg", "/kroki/graphviz/png"):
            answer = await attacker.http.request(
                "POST", path, token=attacker.token("submitter"), headers={"Content-Type": "text/plain"}, body=source.encode()
            )
            attacker.check(400 <= answer.status < 500, f"{path} {source[:10]!r}: {answer.status} {answer.body[:200]!r}")
            attacker.check(len(answer.body) < 100_000, f"{path} {source[:10]!r}: the answer has {len(answer.body):,} bytes")

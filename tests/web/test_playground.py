"""The playground without a script: every form and link works, and what is wrong is told where it is."""

import ast
import asyncio
import html
import re
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from pressroom.api.access import Scope
from pressroom.api.problems import HttpError
from pressroom.apps.diagrams.playground import languages
from pressroom.apps.diagrams.playground.previews import WAITING_PER_SLOT, Previews
from pressroom.apps.diagrams.playground.snippets import snippets
from pressroom.renderers.documents import RenderRequest
from pressroom.web.line_diff import DiffLine, diff_lines
from tests import looking
from tests.service.access_stage import Stage, on_stage

DOT = {"language": "dot", "output": "svg", "source": "digraph { a -> b }"}
WRONG = DOT | {"source": "digraph {\n  a -> \n}"}


class Visitor:
    """Somebody at a browser without scripts: forms carry the word that the last page had in it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.token = ""

    async def get(self, path: str) -> httpx.Response:
        page = await self.client.get(path)
        if found := re.search(r'name="form_token" value="(\w+)"', page.text):
            self.token = found[1]
        return page

    async def post(self, path: str, **fields: str) -> httpx.Response:
        if not self.token:
            await self.get("/playground")
        return await self.client.post(path, data={"form_token": self.token} | fields)


@asynccontextmanager
async def visiting(database: str, scope: Scope = Scope.SUBMITTER, **how: Any) -> AsyncIterator[tuple[Stage, Visitor]]:
    async with on_stage(database, **how) as stage, stage.client(await stage.token(scope, org="acme")) as client:
        yield stage, Visitor(client)


def hidden(page: httpx.Response, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found is not None
    return html.unescape(found[1])


def editor(page: httpx.Response) -> str:
    """What stands in the editor. The first line end belongs to the markup."""
    found = re.search(r'<textarea id="source"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


async def test_the_page_has_a_source_to_begin_with_and_every_language_that_works_here(file: str) -> None:
    async with visiting(file, works=False) as (_, visitor):
        page = await visitor.get("/playground")

    assert page.status_code == 200
    assert editor(page) == languages.default_language().samples[0].text
    for language in languages.languages():
        if language.missing is None:
            assert f'<option value="{language.name}"' in page.text
        else:
            assert html.escape(language.missing.install) in page.text


def test_every_language_has_an_example() -> None:
    for language in languages.languages():
        assert language.samples
        assert all(sample.text.strip() for sample in language.samples)


async def test_a_preview_is_a_picture_and_leaves_no_job_behind(database: str) -> None:
    async with visiting(database, works=False) as (_, visitor):
        shown = await visitor.post("/playground/preview", **DOT)
        wrong = await visitor.post("/playground/preview", **WRONG)
        page = await visitor.post("/playground", **WRONG)
        jobs = looking.rows(database, "SELECT count(*) FROM job")

    assert shown.status_code == 200
    assert 'src="data:image/svg+xml;base64,' in shown.text
    assert 'id="picture"' not in wrong.text, "the last good picture stays"
    assert (wrong.status_code, 'data-line="3"' in wrong.text) == (200, True)
    assert page.status_code == 422
    assert editor(page) == WRONG["source"], "nobody loses what they typed"
    assert jobs[0][0] == 0


async def test_a_page_stands_in_a_frame_where_it_can_do_nothing(file: str) -> None:
    sheet = {"language": "markdown", "output": "html", "source": "# Hello"}
    async with visiting(file, works=False) as (_, visitor):
        shown = await visitor.post("/playground", **sheet)
        framed = await visitor.post("/playground/frame", **sheet)

    assert '<iframe name="framed" title="Preview of the page" sandbox=""' in shown.text
    assert framed.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "x-frame-options" not in framed.headers
    assert "<h1" in framed.text


async def test_it_can_be_downloaded_as_whatever_the_language_becomes(file: str) -> None:
    async with visiting(file, works=False) as (_, visitor):
        files = {
            one: await visitor.post("/playground/download", **DOT, **{"as": one}) for one in ("svg", "png", "pdf", "source")
        }
        wrong = await visitor.post("/playground/download", **WRONG, **{"as": "png"})

    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "source": b"digraph"}
    assert {one: answer.content.startswith(starts[one]) for one, answer in files.items()} == dict.fromkeys(starts, True)
    assert files["png"].headers["content-disposition"].startswith('attachment; filename="dot.png"')
    assert (wrong.status_code, editor(wrong)) == (422, WRONG["source"])


async def test_what_is_kept_has_a_short_link_that_opens_it_again(database: str) -> None:
    sheet = DOT | {"theme": "dark", "options": '{"layout":"neato"}'}
    async with visiting(database) as (stage, visitor):
        kept = await visitor.post("/playground/keep", **sheet)
        again = await visitor.get(kept.headers["location"])
        link = kept.headers["location"].partition("link=")[2]
        picture = await visitor.client.get(f"/d/{link}")
        artifact = await stage.press.rendering.artifact(link)
        job = (await stage.press.list(org_id="acme")).jobs[0]
        by_job = await visitor.get(f"/playground?job=job_{job.uid}")
        async with stage.client(await stage.token(Scope.ADMIN, org="others")) as stranger:
            theirs = [
                (await stranger.get(f"/playground?{asked}")).status_code for asked in (f"link={link}", f"job=job_{job.uid}")
            ]
            nothing = await stranger.get(f"/playground/compare?left={link}&right={link}")
        failed = await visitor.post("/playground/keep", **WRONG)
        noted = looking.rows(database, "SELECT action, org_id FROM audit")

    assert kept.status_code == 303
    assert artifact.expires_at is not None
    assert timedelta(days=29) < artifact.expires_at - artifact.date_created <= timedelta(days=31)
    assert picture.headers["content-type"] == "image/svg+xml"
    assert [editor(page) for page in (again, by_job)] == [DOT["source"]] * 2
    assert "<option selected>dark</option>" in again.text
    assert "neato" in again.text
    assert f"![](http://pressroom/d/{link})" in again.text
    assert theirs == [404, 404], "the picture is for whoever has the link, its source is not"
    assert DOT["source"] not in html.unescape(nothing.text)
    assert (failed.status_code, editor(failed)) == (400, WRONG["source"])
    assert ("submit", "acme") in [tuple(row) for row in noted]


async def test_two_editors_of_one_name_do_not_undo_each_others_work(database: str) -> None:
    texts = [DOT | {"source": f"digraph {{ a -> b{number} }}"} for number in range(4)]
    async with visiting(database, works=False) as (stage, visitor):
        first = await visitor.post("/playground/save", **texts[0], name="map")
        opened = await visitor.get("/playground/names/map")
        seen = {"opened": "map", "state": hidden(opened, "state")}
        await visitor.post("/playground/save", **texts[1], name="map", **seen)

        late = await visitor.post("/playground/save", **texts[2], name="map", **seen)
        unaware = await visitor.post("/playground/save", **texts[3], name="map")
        knowingly = {name: hidden(late, name) for name in ("opened", "name", "state", "language", "output")}
        on_top = await visitor.post("/playground/save", **knowingly, source=editor(late))
        names = await visitor.get("/playground/names")
        old = await visitor.get("/playground/names/map?version=1")
        async with stage.client(await stage.token(Scope.ADMIN, org="others")) as stranger:
            theirs = [
                (await stranger.get(path)).status_code for path in ("/playground/names/map", "/playground/compare?name=map")
            ]
            none = await stranger.get("/playground/names")
        noted = looking.rows(database, "SELECT target FROM audit ORDER BY id")

    assert first.headers["location"] == "/playground/names/map"
    assert late.status_code == unaware.status_code == 412
    assert texts[1]["source"] in html.unescape(late.text)
    assert editor(late) == texts[2]["source"]
    assert on_top.status_code == 303
    assert [tuple(row) for row in noted] == [("diagram map",)] * 3
    assert "/playground/names/map" in names.text
    assert editor(old) == texts[0]["source"]
    assert theirs == [404, 404]
    assert "No diagram has a name yet" in none.text


async def test_the_list_of_names_shows_their_pictures(file: str, eventually: Callable[..., Any]) -> None:
    """By the key itself: the database holds only its hash."""
    async with visiting(file) as (stage, visitor):
        await visitor.post("/playground/save", **DOT, name="map")

        async def thumbnail() -> list[str]:
            return re.findall(r'class="thumb" src="([^"]+)"', (await visitor.get("/playground/names")).text)

        (address,) = await eventually(thumbnail)
        async with stage.client() as anybody:
            shown = await anybody.get(html.unescape(address))

    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/svg+xml")


async def test_versions_are_compared_by_what_is_seen(file: str) -> None:
    texts = ["digraph { a -> b }", "digraph { a -> b } // said", "digraph { a -> c }"]
    async with visiting(file) as (_, visitor):
        for number, text in enumerate(texts):
            put = {"source": text, "format": "dot"}
            assert (await visitor.client.put("/diagrams/map?mode=sync", json=put)).status_code == 200, number
        same = await visitor.get("/playground/compare?name=map&a=1&b=2")
        other = await visitor.get("/playground/compare?name=map")
        pictures = [await visitor.client.get(html.unescape(at)) for at in re.findall(r'<img src="(/a/map@[^"]+)"', other.text)]

    assert "No visual change" in same.text
    assert "// said" in same.text
    assert "No visual change" not in other.text
    assert [picture.headers["content-type"] for picture in pictures] == ["image/svg+xml"] * 2


async def test_a_viewer_sees_the_page_and_may_not_render(file: str) -> None:
    async with visiting(file, Scope.VIEWER, works=False) as (_, visitor):
        page = await visitor.get("/playground")
        posts = ("", "/preview", "/frame", "/download", "/keep", "/save")
        refused = [(await visitor.post(f"/playground{path}", **DOT, name="map")).status_code for path in posts]

    assert "You may look, but not render" in page.text
    assert refused == [403] * len(posts)


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/playground?language=cobol", 422, "there is no language 'cobol'; there are markdown"),
        ("/playground?language=dot&output=exe", 422, "there are svg, png, pdf"),
        ("/playground?language=dot&theme=pink", 422, "there are light, dark, auto"),
        ("/playground?language=svg&theme=dark", 422, "no theme to choose"),
        ("/playground?language=dot&engine=steam", 422, "there are graphviz"),
        ("/playground?link=nothing", 404, "is not known here"),
        ("/playground?job=nothing", 404, "there is no job"),
        ("/playground/names/map?version=last", 422, "version is the number of a version"),
        ("/playground/names/no%00thing", 404, "there is no diagram"),
        ("/playground/names?cursor=%2e%2e", 400, "a name begins with"),
        ("/playground/compare?name=map&a=x", 422, "a is the number of a version"),
        ("/playground/compare?name=map", 404, "there is no diagram"),
        ("/playground/compare?left=abc", 422, "give both"),
        ("/playground/compare?left=abc&right=def", 404, "there is"),
    ],
)
async def test_what_is_wrong_in_an_address_is_told(file: str, path: str, status: int, words: str) -> None:
    async with visiting(file, works=False) as (_, visitor):
        page = await visitor.get(path)

    assert page.status_code == status
    assert words in html.unescape(page.text)


@pytest.mark.parametrize(
    ("path", "changes", "status", "words"),
    [
        ("", {"language": "cobol"}, 422, "there is no language"),
        ("", {"output": "exe"}, 422, "there is no 'exe'"),
        ("", {"source": " "}, 400, "the source is empty"),
        ("", {"options": "{"}, 422, "the options are a JSON object"),
        ("/preview", {"options": "[" * 10_000}, 422, "the options are a JSON object"),
        ("/preview", {"options": '{"colour": 1}'}, 400, "there is no option"),
        ("/download", {"as": "exe"}, 422, "can be downloaded as svg, png, pdf, source"),
        ("/keep", {"options": '{"scale": -1}'}, 400, "scale"),
        ("/save", {"name": "../map"}, 400, "a name begins with"),
        ("/save", {"name": "map", "language": "markdown", "output": "html"}, 400, "cannot be made into"),
    ],
)
async def test_what_is_wrong_in_a_form_is_told(file: str, path: str, changes: dict[str, str], status: int, words: str) -> None:
    async with visiting(file, works=False) as (_, visitor):
        page = await visitor.post(f"/playground{path}", **(DOT | changes))

    assert page.status_code == status
    assert words in html.unescape(page.text)


async def test_a_link_carries_the_whole_sheet_and_markup_in_it_stays_text(file: str) -> None:
    hostile = "</textarea><script>alert(1)</script>\"'&\n\ttail\n"
    sheet = {"language": "d2", "output": "png", "theme": "dark", "options": '{"pad": 5}', "source": hostile}
    async with visiting(file, works=False) as (_, visitor):
        page = await visitor.get(f"/playground?{httpx.QueryParams(sheet)}")
        share = re.search(r'id="share" href="([^"]+)"', page.text)
        assert share is not None
        again = await visitor.get(html.unescape(share[1]))

    assert editor(page) == editor(again) == hostile
    assert "<script>alert" not in page.text
    assert "<option selected>png</option>" in again.text


async def test_when_too_many_look_at_once_one_is_told_to_come_back() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        async def preview(self, asked: RenderRequest) -> None:
            begun.set()
            await go_on.wait()

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        return {}

    previews = Previews(Slow(), concurrent=1)  # type: ignore[arg-type]
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": []}, receive)
    asked = RenderRequest("dot", "svg", b"digraph {}")
    busy = [asyncio.create_task(previews.render(request, None, asked)) for _ in range(1 + WAITING_PER_SLOT)]
    await begun.wait()
    await asyncio.sleep(0)

    with pytest.raises(HttpError) as refused:
        await previews.render(request, None, asked)

    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "1"})
    go_on.set()
    await asyncio.gather(*busy)


@pytest.mark.parametrize(
    "source", ["digraph { a }\n", 'a "quoted"', "EOF\n$(boom) `x` \\n '''\"\"\"\ttab", "```\nfence\n```", "ünïcode\u200b"]
)
def test_snippets_say_exactly_what_the_sheet_says(source: str) -> None:
    asked = RenderRequest("dot", "svg", source.encode(), {"theme": "dark", "background": "#fff"})
    texts = {one.id: one.text for one in snippets(asked, "http://here", picture="http://here/a/map.svg", alt="a [map]")}

    assignment = ast.parse(texts["python"]).body[1]
    assert isinstance(assignment, ast.Assign)
    assert ast.literal_eval(assignment.value) == source

    told = subprocess.run(["bash", "-c", f"curl() {{ cat; }}\n{texts['curl']}"], capture_output=True, check=True)
    assert told.stdout.decode().removesuffix("\n") == source.removesuffix("\n")
    assert "theme=dark&background=%23fff" in texts["curl"]
    assert texts["markdown-image"] == "![a \\[map\\]](http://here/a/map.svg)"
    fence = texts["markdown-fence"].partition("dot\n")[0]
    assert fence not in source


def test_lines_that_changed_are_shown_with_a_few_around_them() -> None:
    before = "\n".join("abcdefgh")

    assert diff_lines(before, before) == []
    assert diff_lines(before, before.replace("g", "G")) == [
        DiffLine("gap", None, None, ""),
        DiffLine("same", 4, 4, "d"),
        DiffLine("same", 5, 5, "e"),
        DiffLine("same", 6, 6, "f"),
        DiffLine("gone", 7, None, "g"),
        DiffLine("new", None, 7, "G"),
        DiffLine("same", 8, 8, "h"),
    ]
    assert diff_lines("\n" * 3_000, "") is None

"""Every route of the desk and the playground, those that are added later too, against group C of the catalogue of bad input.

The routes are asked of the application itself. What is not named here is held to the strictest rule.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.routing import compile_path

from pressroom import Pressroom
from pressroom.api.access import Scope
from pressroom.apps.docs.model import Build
from pressroom.apps.docs.requests import OrgChanges
from pressroom.apps.packs.model import Pack, PackDraft
from pressroom.ids import new_uid
from pressroom.model import Statement, Work
from tests import looking
from tests.apps.docs.pages_stage import SiteStage
from tests.service.access_stage import Stage, on_stage
from tests.web.browsing import FORM, Page, Person, browsing, member, routes_of

LOGIN = "/desk/login"
STREAMS = ("/desk/live", "/library/live", "/sites/-/live")  # they do not end by themselves
FRAMED_SITE = "/sites/{org}/{project}/dashboard"  # its links are those of the listener for sites
ELSEWHERE = ("http://pressroom/press/", "http://127.0.0.1:8001/", "https://")
OWN_BROWSER = {LOGIN, "/desk/logout", "/desk/theme"}  # they change nothing but the browser that asks
CHANGED = (
    "job",
    "token",
    "webhook",
    "webhook_delivery",
    "audit",
    "kind",
    "schedule",
    "alert",
    "diagram_version",
    "wiki_revision",
    "packs_pack",
    "packs_render",
    "docs_org",
    "docs_project",
    "docs_edition",
    "docs_build",
)

# Markup, an attribute that wants out of its quotes, and a terminal's colour.
HOSTILE = """<canary onx=1>" data-canary="1' data-canary='1 --> </textarea></script>&lt;\x1b[31mred\x9b0m"""
PRINTABLE = HOSTILE.replace("\x1b", "").replace("\x9b", "")


def plain(path: str) -> str:
    """The path with an id in the place of every parameter."""
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda found: "nowhere" if found[2] else f"job_{new_uid()}", path)


def kept(database: str) -> str:
    """Everything that a form might change. A token's last use is noted by the minute, and is none of it."""
    columns = {"token": "uid, digest, prefix, name, scope, org_id, everywhere, date_created, expires_at, revoked_at"}
    return str([looking.rows(database, f"SELECT {columns.get(table, '*')} FROM {table} ORDER BY 1, 2") for table in CHANGED])


async def test_a_viewer_changes_nothing_and_a_stranger_is_not_let_in(database: str) -> None:  # C
    async with (
        on_stage(database, works=False) as stage,
        member(stage, Scope.VIEWER, everywhere=True) as viewer,
        browsing(stage) as stranger,
    ):
        before, answers = kept(database), {}
        form_of_stranger, form_of_viewer = await stranger.form_token(), await viewer.form_token()
        for method, path in routes_of(stage, changing=True):
            if path not in OWN_BROWSER:
                answers[method, path] = [
                    (await person.client.request(method, plain(path), data={"form_token": token})).status_code
                    for person, token in ((viewer, form_of_viewer), (stranger, form_of_stranger))
                ]

        assert len(answers) >= 8
        assert {where: status for where, status in answers.items() if status != [403, 401]} == {}
        assert kept(database) == before


async def test_strangers_are_shown_the_way_in(file: str) -> None:  # C
    async with on_stage(file, works=False) as stage, browsing(stage) as stranger:
        answers = {
            path: await stranger.get(plain(path)) for method, path in routes_of(stage, changing=False) if method == "GET"
        }

    del answers[LOGIN], answers["/desk/static/{tag}/{name:path}"]
    assert [answers.pop(path).status_code for path in STREAMS] == [401, 401, 401]
    assert len(answers) >= 8
    for path, answer in answers.items():
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/desk/login?next=%2F"), path


async def test_only_a_form_of_ours_changes_anything(database: str) -> None:  # C: CSRF
    async with (
        on_stage(database, works=False) as stage,
        member(stage, everywhere=True) as admin,
        member(stage) as other,
        browsing(stage) as stranger,
    ):
        before, answers = kept(database), {}
        for method, path in routes_of(stage, changing=True):
            sender = stranger if path == LOGIN else admin
            right, others = await sender.form_token(), await other.form_token()
            answers[method, path] = await _forged(sender, method, plain(path), right, others)

        wrong = {where: found for where, found in answers.items() if any(status != 403 for status in found.values())}
        assert wrong == {}
        assert kept(database) == before


async def _forged(person: Person, method: str, path: str, right: str, others: str) -> dict[str, int]:
    tries: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        "no token": ({"x": "1"}, {}),
        "an empty token": ({"form_token": ""}, {}),
        "a wrong token": ({"form_token": "0" * 64}, {}),
        "a token that is no ASCII": ({"form_token": "ü" * 64}, {}),
        "another browser's token": ({"form_token": others}, {}),
        "another site": ({"form_token": right}, {"Origin": "https://evil.example"}),
        "no site at all": ({"form_token": right}, {"Origin": "null"}),
        "a site whose name begins like ours": ({"form_token": right}, {"Origin": "http://pressroom.evil.example"}),
        "a browser that says so": ({"form_token": right}, {"Sec-Fetch-Site": "cross-site"}),
        "a neighbour of our domain": ({"form_token": right}, {"Sec-Fetch-Site": "same-site"}),
    }
    return {
        name: (await person.client.request(method, path, data=fields, headers=headers)).status_code
        for name, (fields, headers) in tries.items()
    }


async def test_only_a_form_is_read(file: str) -> None:  # C: what a page of another site may send without asking us first
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as admin, browsing(stage) as stranger:
        before, answers = kept(file), {}
        for method, path in routes_of(stage, changing=True):
            sender = stranger if path == LOGIN else admin
            token = await sender.form_token()
            answers[method, path] = [
                (await sender.client.request(method, plain(path), content=body, headers={"Content-Type": type})).status_code
                for type, body in (
                    ("application/json", f'{{"form_token":"{token}"}}'),
                    ("text/plain", f"form_token={token}"),
                    (
                        "multipart/form-data; boundary=x",
                        f'--x\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n{token}',
                    ),
                    ("", f"form_token={token}"),
                )
            ]

        assert {where: found for where, found in answers.items() if found != [415] * 4} == {}
        assert kept(file) == before


async def test_a_form_that_is_none_is_told_so(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, everywhere=True) as admin:
        for method, path in routes_of(stage, changing=True):
            for body in (b"\xff\xfe", b"a=%ff", b"&".join(b"a=1" for _ in range(2000))):
                answer = await admin.client.request(method, plain(path), content=body, headers=FORM)
                assert 400 <= answer.status_code < 500, (path, body[:10])
                assert "<h1>" in answer.text


@dataclass
class Scene:
    stage: Stage
    admin: Person
    values: dict[str, str]

    async def pages(self) -> AsyncIterator[tuple[str, Any]]:
        """Every page, of something that is there where we know of something."""
        for method, path in routes_of(self.stage, changing=False):
            if method != "GET" or path in (*STREAMS, "/desk/static/{tag}/{name:path}"):
                continue
            yield path, await self.admin.get(self._filled(path))
        for path, query in (
            ("/desk/find", {"q": PRINTABLE}),
            ("/desk/audit", {"who": PRINTABLE, "action": PRINTABLE}),
            ("/desk/tokens", {"name": PRINTABLE}),
            ("/desk/tokens", {"state": HOSTILE}),
            ("/desk/jobs", {"key": PRINTABLE, "subject": PRINTABLE, "kind": PRINTABLE}),
            ("/desk/jobs", {"status": HOSTILE}),
            ("/desk/jobs", {"cursor": HOSTILE}),
            ("/desk/failures", {"window": HOSTILE}),
            ("/desk/alerts", {"kind": PRINTABLE[:100]}),
            ("/desk/alerts", {"state": HOSTILE}),
            ("/desk/login", {"next": HOSTILE}),
            ("/playground", {"language": HOSTILE, "source": HOSTILE}),
            ("/library", {"q": PRINTABLE, "user": PRINTABLE, "session": PRINTABLE}),
            ("/library", {"status": HOSTILE}),
            ("/sites", {"q": PRINTABLE}),
            ("/sites/red", {"order": HOSTILE}),
            ("/sites/red/guide", {"ref": PRINTABLE, "alternate": PRINTABLE}),
            ("/sites/red/guide", {"kind": PRINTABLE}),
            (f"/sites/red/guide/builds/{self.values['builds id']}", {"files": PRINTABLE}),
            (f"/library/{self.values['library pack_id']}", {"data": "1"}),
        ):
            yield path, await self.admin.get(path, params=query)

    def _filled(self, path: str) -> str:
        def value(found: re.Match[str]) -> str:
            where = f"{path[: found.start()].rstrip('/').rpartition('/')[2]} {found[1]}"
            return self.values.get(where, "nowhere")

        return re.sub(r"\{(\w+)(?::\w+)?\}", value, path)


def _raise_alert(job: str, id: int) -> Work[None]:
    words = {
        "org_id": PRINTABLE,
        "kind": PRINTABLE[:100],
        "subject": HOSTILE,
        "code": HOSTILE,
        "message": HOSTILE,
        "job": job,
        "id": id,
    }
    yield Statement(
        "INSERT INTO alert (org_id, kind, subject, code, message, count, job_uid, job_id, first_at, last_at, notified_at) "
        "VALUES (:org_id, :kind, :subject, :code, :message, 1, :job, :id, 1, 1, 1)",
        words,
    )


@asynccontextmanager
async def hostile_scene(database: str, **options: Any) -> AsyncIterator[Scene]:
    """A job that failed, a webhook, a delivery, a token and an audit, with hostile words wherever words go."""
    async with on_stage(database, webhook_allow=("127.0.0.1:9",), **options) as stage:
        press = stage.press
        hook, _ = await press.webhooks.add(PRINTABLE, "https://8.8.8.8/canary", ["job.failed"], [PRINTABLE[:100]])
        words = {"subject": HOSTILE, "key": HOSTILE, "project_id": HOSTILE, "build_id": HOSTILE, "org_id": PRINTABLE}
        payload = {"source": HOSTILE, HOSTILE: [HOSTILE]}
        job = await press.submit("shout", payload, delay=3600, **words)
        await press.cancel(job.uid, reason=HOSTILE)
        failed = await press.submit("shout", "fail", max_attempts=1, **words)
        await press.wait_until_ended(failed, timeout=60)
        delivery = await press.webhooks.test(hook)
        await press.tokens.create(Scope.VIEWER, org=PRINTABLE, name=PRINTABLE)
        async with member(stage, everywhere=True, name=PRINTABLE) as admin:
            await admin.post("/desk/webhooks", {"url": "https://8.8.8.8/x", "events": "job.failed", "kinds": "<canary>"})
            pack = await _make_pack(press)
            build = await _make_site(stage)
            values = {
                "library pack_id": pack.id,
                "sites org": "red",
                "{org} project": "guide",
                "builds id": build.uid,
                "editions slug": "__main",
                "jobs id": f"job_{failed.uid}",
                "webhooks id": f"wh_{hook.uid}",
                "deliveries id": f"msg_{delivery.uid}",
            }
            await press.rendering.database.run(partial(_raise_alert, failed.uid, failed.id), name="test")
            prints = looking.rows(database, "SELECT print FROM job_failure")
            if prints:
                values["failures print"] = prints[0][0]
            yield Scene(stage, admin, values)


async def _make_pack(press: Pressroom) -> Pack:
    registry = json.dumps([{"doc_id": "canary", "title": HOSTILE, "description": HOSTILE, "template": "canary"}])
    texts = {"template:canary": "{{ x }}", "documents_registry": registry}
    app = press.app("packs")
    await app.configuration.put_many(None, texts, author=HOSTILE)
    draft = PackDraft(data={"x": HOSTILE, HOSTILE: [HOSTILE]}, title=HOSTILE, user=HOSTILE, session_id=HOSTILE, lang="en")
    pack: Pack = await app.packs.create(None, draft, HOSTILE)
    await app.packs.render_one(None, pack.id, "canary", requested_by=HOSTILE)
    return pack


async def _make_site(stage: Stage) -> Build:
    scene = SiteStage(stage)
    project = await scene.project(title=PRINTABLE)
    await scene.app.orgs.change("red", OrgChanges(title=PRINTABLE))
    problems = [{"page": HOSTILE, "link": HOSTILE, "reason": HOSTILE}]
    annotations = {HOSTILE: HOSTILE, "commit_sha": HOSTILE, "github_run_url": f"https://x/{HOSTILE}"}
    await scene.build(project, HOSTILE, error={"code": HOSTILE, "message": HOSTILE})
    await scene.edition(project, "draft")
    await scene.app.editions.delete("red", "guide", "draft", actor=HOSTILE, reason=PRINTABLE)
    return await scene.build(
        project, HOSTILE, {PRINTABLE: b"x"}, shown_by=["__main"], problems=problems, annotations=annotations
    )


async def test_hostile_words_stay_words_on_every_page(database: str) -> None:  # C, X7
    async with hostile_scene(database) as scene:
        seen = 0
        async for path, answer in scene.pages():
            assert answer.status_code < 500, path
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            page = Page(answer.text)
            seen += "canary" in page.words
            assert [tag for tag, _ in page.elements if tag == "canary"] == [], path
            assert [names for _, names in page.elements if "data-canary" in names or "onx" in names] == [], path
            assert [
                names for _, names in page.elements if any(name.startswith("on") or name == "style" for name in names)
            ] == [], path
            assert "\x1b" not in answer.text, path
            assert "\x9b" not in answer.text, path

    assert seen >= 5, "the words were on some pages at all"


async def test_every_page_answers_head_and_keeps_nothing(file: str) -> None:
    async with hostile_scene(file) as scene:
        async for path, answer in scene.pages():
            if answer.headers.get("content-type", "").startswith("text/html"):
                assert answer.headers["cache-control"] == "no-store", path
                assert "frame-ancestors" in answer.headers["content-security-policy"], path
            if answer.request.url.path not in STREAMS:
                head = await scene.admin.client.head(answer.request.url)
                assert head.status_code == answer.status_code, path


async def test_every_link_holds_where_the_service_has_a_path(file: str) -> None:  # BASE_URL with a path
    async with hostile_scene(file, base_url="http://pressroom/press") as scene:
        links: set[str] = set()
        async for path, answer in scene.pages():
            if answer.status_code == 303:
                assert answer.headers["location"].startswith("/press/"), path
            if answer.headers.get("content-type", "").startswith("text/html") and path != FRAMED_SITE:
                links |= {link for link in Page(answer.text).addresses if not link.startswith(("#", "data:", "blob:"))}
        ours = {link for link in links if link.startswith("/press/")}

        assert {link for link in links - ours if not link.startswith(ELSEWHERE)} == set()
        assert len(ours) > 20
        forms = [compile_path(path)[0] for _, path in routes_of(scene.stage, changing=True)]
        broken = {}
        for link in sorted({link.removeprefix("/press").partition("#")[0] for link in ours}):
            if "nowhere" in link or link.startswith(STREAMS) or any(form.match(link) for form in forms):
                continue
            answer = await scene.admin.get(link)
            if answer.status_code not in (200, 302, 303):
                broken[link] = answer.status_code

    assert broken == {}


async def test_an_unknown_page_is_told_as_a_page(file: str) -> None:
    async with on_stage(file, works=False) as stage, member(stage, Scope.VIEWER) as person:
        answer = await person.get("/desk/no/such/page")
        by_post = await person.post("/desk/no/such/page")

    assert answer.status_code == 404
    assert "<h1>Not Found</h1>" in answer.text
    assert by_post.status_code in (404, 405)

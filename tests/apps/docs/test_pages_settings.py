"""The settings of an organisation as a browser gets them: rules and their dry run, the dashboard template, credentials."""

import json
from contextlib import aclosing

from pressroom.api.access import Scope
from pressroom.apps.docs.pages.live import events_of_project
from pressroom.apps.docs.requests import OrgChanges, ProjectChanges
from tests.apps.docs.pages_stage import send, sites
from tests.apps.docs.test_pages_sites import words
from tests.web.browsing import member
from tests.web.test_live import CHANGED, OPEN, Ear

BASE = "/sites/red/settings"
SECRET = "a-secret-that-no-page-shows"
HISTORY_RULE = {"type": "build_history_orphan", "min_position": 1, "min_age_days": 0}
FIELDS = {"title": "Red", "url_scheme": "subdomain", "root_path_prefix": "/", "purgatory_retention": "3"}


async def test_rules_are_saved_once_they_are_right(database: str) -> None:
    """A refusal names the rule and the field; what was typed is still there, and nothing was changed."""
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        await scene.project()
        typed = json.dumps([{"type": "ignore", "glob": "bot/*"}, {"type": "regex", "pattern": "(?=x)(?P<slug>y)"}])
        wrong = await send(person, BASE, BASE, slug_rewrite_rules=typed, **FIELDS)
        no_list = await send(person, BASE, BASE, lifecycle_rules='{"type": "x"}', **FIELDS)
        no_days = await send(person, BASE, BASE, **(FIELDS | {"purgatory_retention": "soon"}))
        domain = await send(person, BASE, BASE, base_domain="not a domain", **FIELDS)
        before = await scene.app.orgs.get("red")
        rules = json.dumps([HISTORY_RULE])
        saved = await send(person, BASE, BASE, lifecycle_rules=rules, is_private="yes", auto_create="git_ref", **FIELDS)
        after = await scene.app.orgs.get("red")
        shown = await person.get(BASE)

    assert (wrong.status_code, "slug_rewrite_rules[1].pattern" in wrong.text) == (422, True)
    assert 'id="change-slug_rewrite_rules-wrong"' in wrong.text
    assert "(?P&lt;slug&gt;y)" in wrong.text
    assert [answer.status_code for answer in (no_list, no_days, domain)] == [422, 422, 422]
    assert (before.slug_rewrite_rules, before.url_scheme) == ([], "path_prefix")
    assert saved.headers["location"] == BASE
    assert (after.lifecycle_rules, after.is_private, after.purgatory_retention) == ([HISTORY_RULE], True, 3 * 86_400)
    assert (after.auto_create.git_ref, after.auto_create.semver, after.url_scheme) == (True, False, "subdomain")
    assert "build_history_orphan" in shown.text


async def test_a_retention_that_is_no_whole_day_stays_when_something_else_is_changed(file: str) -> None:
    """The page shows 0 days for 12 hours: saved as that, what is deleted would be purged at once."""
    async with sites(file) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        await scene.project()
        await scene.app.orgs.change("red", OrgChanges(purgatory_retention=43_200))
        await scene.app.projects.change("red", "guide", ProjectChanges(purgatory_retention=43_200))
        fields = FIELDS | {"purgatory_retention": "0"}
        await send(person, BASE, BASE, **fields)
        change = "/sites/red/guide/change"
        await send(person, change, change, title="Guide", on_broken_links="warn", purgatory_retention="0")
        org, project = await scene.app.orgs.get("red"), await scene.app.projects.get("red", "guide")
        await send(person, BASE, BASE, **(fields | {"purgatory_retention": "1"}))
        changed = await scene.app.orgs.get("red")

    assert (org.title, org.purgatory_retention, project.title, project.purgatory_retention) == ("Red", 43_200, "Guide", 43_200)
    assert changed.purgatory_retention == 86_400


async def test_a_dry_run_names_what_would_go_and_saves_nothing(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        old = await scene.build(guide, "main")
        await scene.build(guide, "main", shown_by=["__main"])
        own = await scene.project("handbook")
        await scene.app.projects.change("red", "handbook", ProjectChanges(lifecycle_rules=[]))
        await scene.build(own, "main")
        rules = json.dumps([HISTORY_RULE])
        dry = await person.post(f"{BASE}/dry-run", {"lifecycle_rules": rules, **FIELDS, "title": "Typed"})
        wrong = await person.post(f"{BASE}/dry-run", {"lifecycle_rules": '[{"type": "nothing"}]', **FIELDS})
        nothing = await person.post(f"{BASE}/dry-run", {"lifecycle_rules": "", **FIELDS})
        change = "/sites/red/guide"
        of_project = await person.post(f"{change}/dry-run", {"lifecycle_rules": rules, "title": "Typed"})
        inherited = await person.post(f"{change}/dry-run", {"lifecycle_rules": ""})
        refused = await person.post(f"{change}/dry-run", {"lifecycle_rules": "["})
        org, kept = await scene.app.orgs.get("red"), await scene.app.builds.get("red", "guide", old.uid)

    for page in (dry, of_project):
        assert page.status_code == 200
        assert "build main build_history_orphan" in words(page.text.replace("</a>", "</a> ").replace("</code>", "</code> "))
        assert f"/sites/red/guide/builds/{old.uid}" in page.text
        assert 'value="Typed"' in page.text
        assert "handbook/builds" not in page.text
    assert "would delete nothing now" in nothing.text
    assert "would delete nothing now" in inherited.text
    assert (wrong.status_code, "lifecycle_rules[0].type" in wrong.text, refused.status_code) == (422, True, 422)
    assert (org.lifecycle_rules, org.title, kept.date_deleted) == ([], "Red", None)


async def test_an_organisation_is_deleted_when_it_is_empty(database: str) -> None:
    async with (
        sites(database) as scene,
        member(scene.stage, everywhere=True) as admin,
        member(scene.stage, Scope.ADMIN, "red") as own_admin,
    ):
        await scene.project()
        in_use = await send(admin, BASE, f"{BASE}/delete")
        forbidden = await own_admin.post(f"{BASE}/delete", {})
        await send(admin, "/sites", "/sites", slug="blue")
        deleted = await send(admin, "/sites/blue/settings", "/sites/blue/settings/delete")

    assert (in_use.status_code, "org_in_use" in in_use.text) == (409, True)
    assert forbidden.status_code == 403
    assert deleted.headers["location"] == "/sites"


async def test_a_template_is_bound_fetched_and_removed(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        await scene.project()
        base = f"{BASE}/template"
        empty = await person.get(base)
        private = await send(person, base, base, git_url="https://127.0.0.1/x.git", ref="main", root_path="/")
        wrong = await send(person, base, base, git_url="https://git.example.org/t.git", ref="--upload-pack=x", root_path="/a")
        bound = await send(person, base, base, git_url="https://git.example.org/t.git", ref="v1", root_path="docs")
        shown = await person.get(base)
        of_project = await person.get("/sites/red/guide/template")
        synced = await send(person, base, f"{base}/sync")
        own = await send(
            person,
            "/sites/red/guide/template",
            "/sites/red/guide/template",
            git_url="https://git.example.org/o.git",
            ref="main",
        )
        removed = await send(person, base, f"{base}/remove")
        again = await person.post(f"{base}/remove", {})
        still = await person.get("/sites/red/guide/template")
        none_yet = await person.get("/sites/red/guide/dashboard")

    assert "The built-in template." in empty.text
    assert (private.status_code, 'value="https://127.0.0.1/x.git"' in private.text) == (422, True)
    assert (wrong.status_code, 'value="/a"' in wrong.text) == (422, True)
    assert bound.headers["location"] == base
    assert all(text in shown.text for text in ("https://git.example.org/t.git", "v1", "/docs", "never"))
    assert "That of the organisation: https://git.example.org/t.git at v1." in words(of_project.text)
    assert [answer.status_code for answer in (synced, own, removed, again, none_yet)] == [303, 303, 303, 404, 404]
    assert "https://git.example.org/o.git" in still.text


async def test_a_dashboard_is_previewed_in_a_frame_that_runs_nothing(file: str) -> None:
    async with sites(file, works=True) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        guide = await scene.project()
        await scene.upload(guide, "main")
        page = await person.get("/sites/red/guide/template")
        frame = await person.get("/sites/red/guide/dashboard")

    assert '<iframe class="preview" src="/sites/red/guide/dashboard" sandbox' in page.text
    assert frame.status_code == 200
    assert frame.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "script-src" not in frame.headers["content-security-policy"]


async def test_credentials_are_written_and_never_shown(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.OPERATOR, "red") as person:
        await scene.project()
        await scene.app.credentials.rotate_keys(actor="test")
        base = f"{BASE}/services"
        wrong = await send(person, base, f"{base}/credentials", label="Kept", provider="s3", secret_access_key=SECRET)
        made = await send(
            person, base, f"{base}/credentials", label="bucket", provider="s3", access_key_id="ours", secret_access_key=SECRET
        )
        taken = await send(
            person, base, f"{base}/credentials", label="bucket", provider="bearer", token=SECRET, access_key_id="left over"
        )
        shown = await person.get(base)
        replaced = await send(
            person, base, f"{base}/credentials/bucket/replace", access_key_id="ours", secret_access_key=SECRET + "2"
        )
        config = json.dumps({"endpoint": "https://s3.example.org", "bucket": "sites"})
        no_json = await send(person, base, base, label="store", provider="minio", config="{", credential_label="bucket")
        service = await send(person, base, base, label="store", provider="minio", config=config, credential_label="bucket")
        in_use = await send(person, base, f"{base}/credentials/bucket/delete")
        chosen = await send(person, base, f"{base}/slots", publishing_store="store")
        after = await person.get(base)
        used = await send(person, base, f"{base}/store/delete")
        cleared = await send(person, base, f"{base}/slots", publishing_store="")
        gone = [await send(person, base, f"{base}/{path}/delete") for path in ("store", "credentials/bucket")]
        audit = await person.get("/desk/audit")
        secret = await scene.app.orgs.get("red")

    pages = (wrong, made, taken, shown, replaced, service, in_use, after, used, audit)
    assert all(SECRET not in page.text for page in pages)
    assert (wrong.status_code, 'value="Kept"' in wrong.text, taken.status_code) == (422, True, 409)
    assert "bucket s3 version 1" in words(shown.text)
    assert [answer.status_code for answer in (made, replaced, service, chosen, cleared, *gone)] == [303] * 7
    assert (no_json.status_code, 'id="service-config-wrong"' in no_json.text) == (422, True)
    assert (in_use.status_code, used.status_code) == (409, 409)
    assert "store minio" in words(after.text)
    assert ">store</option>" in after.text
    assert secret.slots == {}


async def test_viewers_do_not_see_settings(file: str) -> None:
    async with sites(file) as scene, member(scene.stage, Scope.SUBMITTER, "red") as person:
        await scene.project()
        pages = (BASE, f"{BASE}/template", f"{BASE}/services", "/sites/red/guide/template")
        answers = [await person.get(path) for path in pages]
        forms = ("/template/sync", "/services/credentials", "/services/slots", "/dry-run")
        posts = [await person.post(f"{BASE}{path}", {}) for path in forms]

    assert [answer.status_code for answer in (*answers, *posts)] == [403] * 8


async def test_a_page_of_a_project_hears_of_its_jobs(database: str) -> None:
    async with sites(database) as scene, member(scene.stage, Scope.VIEWER, "red") as person:
        guide = await scene.project()
        query = f"org=red&project={guide.id}"
        async with Ear(scene.stage, path="/sites/-/live", query=query, cookie=person.cookie) as ear:
            await ear.until(OPEN)
            await scene.begin_upload(guide, "main")
            await ear.until(CHANGED)


async def test_jobs_of_other_projects_are_left_out(file: str) -> None:
    async with sites(file) as scene:
        guide, other = await scene.project(), await scene.project("handbook")
        await scene.begin_upload(other, "main")
        build = await scene.begin_upload(guide, "main")
        queue = scene.app.core.queue
        async with aclosing(events_of_project(queue, queue.events(after=0, org_id="red"), guide.id)) as events:
            first = await anext(events)

    assert first.uid == build.job_uid

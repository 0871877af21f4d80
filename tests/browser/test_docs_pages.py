"""Documentation sites as a person uses them: made by the keyboard, followed live, pinned, and refused where they are wrong."""

import gzip
import hashlib
import io
import re
import tarfile
from collections.abc import Iterator, Mapping

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.served import Served, serving
from tests.browser.watched import Watched, assert_accessible, assert_fits
from tests.servers import free_ports

SITE = {"index.html": '<title>Guide</title><h1>Guide</h1><a href="nowhere.html">Nowhere</a>', "more.html": "<p>More"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    (port,) = free_ports(1)
    with serving(tmp_path_factory.mktemp("sites"), PRESSROOM_DOCS_LISTEN=f"127.0.0.1:{port}") as served:
        yield served


def upload(service: Served, project: str, git_ref: str, files: Mapping[str, str] = SITE) -> str:
    """As a CI job does, without waiting. Returns the id of the build."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    archive = gzip.compress(plain.getvalue(), mtime=0)
    announced = {"git_ref": git_ref, "content_hash": f"sha256:{hashlib.sha256(archive).hexdigest()}"}
    with httpx.Client(base_url=service.url, timeout=120) as http:
        build = http.post(f"/orgs/acme/projects/{project}/builds", json=announced).raise_for_status().json()
        http.put(build["upload_url"], content=archive, headers={"Content-Type": "application/gzip"}).raise_for_status()
        http.patch(build["self_url"], json={"status": "uploaded"}).raise_for_status()
    return str(build["id"])


def need_project(service: Served, project: str) -> None:
    with httpx.Client(base_url=service.url, timeout=120) as http:
        http.post("/admin/orgs", json={"slug": "acme", "title": "Acme"})
        http.post("/orgs/acme/projects", json={"slug": project, "title": project}).raise_for_status()


def test_a_site_is_made_by_the_keyboard_and_followed_live(page: Page, service: Served) -> None:
    """From nothing to a published edition, without a reload."""
    page.goto(f"{service.url}/sites")
    if page.get_by_label("Name, for addresses").count():
        page.get_by_label("Name, for addresses").fill("acme")
        page.get_by_role("button", name="Create organisation").press("Enter")
    page.goto(f"{service.url}/sites/acme")
    assert_accessible(page)
    page.get_by_label("Name, for addresses").fill("guide")
    page.get_by_label("Title").fill("User guide")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="User guide")).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    expect(page.get_by_text("There are no builds yet.")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    build = upload(service, "guide", "main")

    row = page.locator(f"#build-{build}")
    expect(row).to_contain_text("completed")
    expect(row).to_contain_text("1 broken link")
    expect(page.locator("table.editions")).to_contain_text("published")
    expect(page.get_by_role("heading", name="Running now")).to_have_count(0)
    assert_accessible(page)
    assert_fits(page)

    row.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Build 1 of main")).to_be_visible()
    expect(page.get_by_role("heading", name="Broken links")).to_be_visible()
    expect(page.locator(".phases")).to_contain_text("dashboard")
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("link", name="Job", exact=True).click()
    page.get_by_role("link", name="acme/guide", exact=True).click()
    page.get_by_label("Words").fill("guide")
    page.keyboard.press("Enter")
    expect(page.get_by_role("list", name="Pages found")).to_contain_text("index.html")
    assert_accessible(page)


def test_a_build_that_is_processed_shows_each_phase_as_it_begins(page: Page, service: Served) -> None:
    need_project(service, "live")
    build = upload(service, "live", "main")
    page.goto(f"{service.url}/sites/acme/live/builds/{build}")

    expect(page.locator(".phases")).to_contain_text("dashboard")
    expect(page.locator("#build")).to_contain_text("completed")
    expect(page.locator("#build")).to_contain_text("__main")


def test_an_edition_is_rolled_back_and_stays(page: Page, service: Served) -> None:
    need_project(service, "back")
    upload(service, "back", "main")
    page.goto(f"{service.url}/sites/acme/back/editions/__main")
    expect(page.locator("#move-1")).to_contain_text("shown now")
    upload(service, "back", "main", SITE | {"new.html": "<p>New"})
    expect(page.locator("#move-2")).to_contain_text("shown now")

    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Roll back to build 1").press("Enter")

    expect(page.get_by_role("status").filter(has_text="stays there")).to_be_visible()
    expect(page.locator("#move-3")).to_contain_text("shown now")
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Unpin").press("Enter")
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()


def test_rules_that_are_wrong_are_told_beside_the_field(watched: Watched, service: Served) -> None:
    watched.forgive("422")
    watched.forgive("recipient window's origin")  # axe may not look into the frame of a dashboard
    page = watched.page
    need_project(service, "rules")
    page.goto(f"{service.url}/sites/acme/settings")
    assert_accessible(page)
    assert_fits(page)
    field = page.get_by_label("Rewrite rules, as JSON")
    field.fill('[{"type": "ignore", "globe": "x"}]')
    page.get_by_role("button", name="Save").press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("there is no such field")
    expect(field).to_have_value('[{"type": "ignore", "globe": "x"}]')
    expect(field).to_have_accessible_description(re.compile("slug_rewrite_rules.0..globe"))
    assert_accessible(page)
    assert_fits(page)
    field.fill("")
    page.get_by_label("Lifecycle rules, as JSON").fill('[{"type": "draft_inactivity", "max_days_inactive": 1}]')
    page.get_by_role("button", name="Dry run of the lifecycle rules").press("Enter")
    expect(page.get_by_text("These rules would delete nothing now.")).to_be_visible()
    for tab in ("Dashboard template", "Credentials and services"):
        page.get_by_role("navigation", name="Settings").get_by_role("link", name=tab).click()
        expect(page.get_by_role("link", name=tab)).to_have_attribute("aria-current", "page")
        assert_accessible(page)
        assert_fits(page)

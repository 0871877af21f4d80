"""The list of jobs and acting on many of them, with a keyboard and without a reload."""

import httpx
from playwright.sync_api import Page, expect

from pressroom.ids import new_uid
from tests.browser.served import Served
from tests.browser.watched import assert_accessible, assert_fits


def submit(served: Served, subject: str, count: int = 1) -> list[str]:
    """Jobs that wait. No two are of the same source, or the second would be the first."""
    wait = {"kind": "render", "delay": 86_400, "subject": subject}
    payloads = [{"language": "dot", "output": "svg", "source": f"digraph {{ {new_uid()} }}"} for _ in range(count)]
    return [
        httpx.post(f"{served.url}/jobs", json=wait | {"payload": one}, timeout=60).raise_for_status().json()["id"]
        for one in payloads
    ]


def test_rows_change_in_place_and_new_jobs_wait_to_be_asked_for(page: Page, served: Served, look: str) -> None:
    subject = f"live {look}"
    first, second = submit(served, subject, 2)
    page.goto(f"{served.url}/desk/jobs?subject={subject}")
    expect(page.locator("body")).to_have_attribute("data-listening", "yes")
    expect(page.get_by_role("heading", level=2, name="2 jobs")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

    page.get_by_role("checkbox", name=f"Choose job {second[-8:]}").check()
    httpx.post(f"{served.url}/jobs/{first}/cancel", timeout=60).raise_for_status()
    submit(served, subject)

    expect(page.locator(f"#row-{first.removeprefix('job_')}")).to_contain_text("cancelled")
    expect(page.get_by_role("link", name="1 new, show it")).to_be_visible()
    expect(page.locator("tr[data-row]")).to_have_count(2)
    expect(page.get_by_role("checkbox", name=f"Choose job {second[-8:]}")).to_be_checked()
    expect(page.locator("#chosen")).to_have_text("1 chosen")
    assert_accessible(page)
    page.get_by_role("link", name="1 new, show it").click()
    expect(page.locator("tr[data-row]")).to_have_count(3)


def test_many_jobs_are_cancelled_with_the_keyboard(page: Page, served: Served, look: str) -> None:
    subject = f"many {look}"
    jobs = submit(served, subject, 3)
    page.goto(f"{served.url}/desk/jobs?subject={subject}")

    page.keyboard.press("j")
    expect(page.locator(f"#row-{jobs[2].removeprefix('job_')} a.id")).to_be_focused()
    page.get_by_role("checkbox", name="All on this page").press("Space")
    expect(page.locator("#chosen")).to_have_text("3 chosen")
    page.get_by_role("button", name="Cancel…").press("Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel many jobs")
    assert_accessible(page)
    assert_fits(page)
    page.get_by_role("button", name="Cancel 3 jobs").press("Enter")
    page.wait_for_url("**/desk/jobs/job_*")

    page.goto(f"{served.url}/desk/jobs?subject={subject}&status=cancelled")
    expect(page.get_by_role("heading", level=2, name="3 jobs")).to_be_visible()


def test_an_empty_list_explains_itself(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/desk/jobs?subject=nobody&status=failed&from=2h")

    expect(page.get_by_text("No job matches.")).to_be_visible()
    assert_accessible(page)
    assert_fits(page)

"""What tokens of another organisation, and of none, can reach."""

import httpx
import pytest

from pressroom.apps.docs.domain.site_domains import SiteDomain
from pressroom.apps.docs.settings import DocsSettings
from tests.apps.docs.http_stage import docs_stage, send


async def test_jobs_that_concern_all_organisations_are_those_of_a_superadmin(file: str) -> None:
    """D32. Periodic jobs name every organisation in their progress; cancelling one of them stops it for all."""
    async with docs_stage(file, workers=1) as stage:
        await stage.furnish("red", "blue")
        job = await stage.press.queue.submit("docs.lifecycle_eval")
        await stage.press.wait_until_ended(job.uid, timeout=60)
        own = await send(stage.client("superadmin"), "GET", f"/queue/jobs/{job.uid}")
        refused = []
        for token in ("nobodys", "red-admin"):
            client = stage.client(token)
            refused += [
                await client.get(f"/queue/jobs/{job.uid}"),
                await client.post(f"/queue/jobs/{job.uid}/cancel"),
                await client.post(f"/queue/jobs/{job.uid}/retry"),
            ]
            lists = [await send(client, "GET", f"/queue/jobs{query}") for query in ("", "?org=", "?kind=lifecycle_eval")]
            assert lists == [[], [], []]

    assert own["progress"]["orgs_completed"] == ["blue", "red"]
    assert {answer.status_code for answer in refused} == {404}


async def test_an_organisation_cannot_take_the_domain_of_another_one(file: str) -> None:
    """The one that was created first would answer there from now on."""
    settings = DocsSettings(url="https://sites.example.org")
    async with docs_stage(file, settings=settings) as stage:
        await stage.furnish("red", "blue")
        root, red = stage.client("superadmin"), stage.client("red-admin")
        await send(root, "PATCH", "/orgs/blue", base_domain="docs.blue.org")

        async def take(client: httpx.AsyncClient, domain: str, scheme: str) -> tuple[int, str]:
            answer = await client.patch("/orgs/red", json={"base_domain": domain, "url_scheme": scheme})
            return answer.status_code, answer.text

        taken = [
            await take(red, *wanted)
            for wanted in (
                ("docs.blue.org", "path_prefix"),
                ("docs.blue.org:8001", "path_prefix"),
                ("blue.org", "subdomain"),
                ("sites.example.org", "path_prefix"),
                ("example.org", "subdomain"),
            )
        ]
        free = [await take(red, *wanted) for wanted in (("docs.red.org", "subdomain"), ("", "path_prefix"))]
        shared = await take(root, "docs.blue.org", "path_prefix")
        moved = await red.patch("/orgs/red", json={"root_path_prefix": "/blue/"})
        title = await red.patch("/orgs/red", json={"title": "Red", "base_domain": "docs.blue.org"})

    assert [status for status, _ in taken] == [422] * 5
    assert all('"loc":["body","base_domain"]' in text for _, text in taken)
    assert [status for status, _ in free] == [200, 200]
    assert shared[0] == 200
    assert moved.status_code == 422  # it might be the path of the other one
    assert title.status_code == 200  # an organisation keeps what it has


@pytest.mark.parametrize(
    ("one", "other", "overlaps"),
    [
        (("a.org", "path_prefix"), ("a.org", "path_prefix"), True),
        (("a.org", "subdomain"), ("x.a.org", "path_prefix"), True),
        (("a.org", "subdomain"), ("x.a.org", "subdomain"), True),
        (("a.org", "subdomain"), ("y.x.a.org", "path_prefix"), False),
        (("a.org", "path_prefix"), ("x.a.org", "path_prefix"), False),
        (("a.org", "subdomain"), ("b.org", "subdomain"), False),
        (("a.org:80", "subdomain"), ("a.org:90", "path_prefix"), True),
    ],
)
def test_which_domains_overlap(one: tuple[str, str], other: tuple[str, str], overlaps: bool) -> None:
    first, second = SiteDomain.of(*one), SiteDomain.of(*other)
    assert first is not None
    assert second is not None

    assert (first.overlaps(second), second.overlaps(first)) == (overlaps, overlaps)
    assert SiteDomain.of("", "subdomain") is None


async def test_ids_of_members_and_of_purgatory_are_read_in_any_spelling(file: str) -> None:
    async with docs_stage(file) as stage:
        await stage.furnish("red")
        admin = stage.client("red-admin")
        member = await send(admin, "POST", "/orgs/red/members", 201, role="reader")
        await send(admin, "POST", "/orgs/red/projects/guide/editions", 201, slug="old", tracking_params={"git_ref": "old"})
        await send(admin, "DELETE", "/orgs/red/projects/guide/editions/old", 204)
        (entry,) = await send(admin, "GET", "/orgs/red/purgatory")

        def spelled(id: str) -> str:
            return id.lower().replace("0", "o").replace("1", "l")

        found = await send(admin, "GET", f"/orgs/red/members/{spelled(member['id'])}")
        await send(admin, "DELETE", f"/orgs/red/members/{spelled(member['id'])}", 204)
        wrong = [await admin.get(f"/orgs/red/members/{id}") for id in (member["id"], "nonsense", "U" * 26)]
        restored = await send(admin, "POST", f"/orgs/red/purgatory/{spelled(entry['id'])}/restore")

    assert found["id"] == member["id"]
    assert {answer.status_code for answer in wrong} == {404}
    assert len({answer.json()["detail"][0]["msg"] for answer in wrong}) == 1
    assert restored["name"] == "old"

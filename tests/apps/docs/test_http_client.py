"""Documentation by the client library, over a real service in a process of its own."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pressroom.client import AsyncClient, AsyncProjectDocs, Client, ProjectDocs
from pressroom.errors import InvalidArgument, NotFound, Refused
from pressroom.model import Status
from tests.apps.docs.http_stage import SITE, packed
from tests.client.stage import Served


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("documented")
    with Served(folder, PRESSROOM_DOCS_LISTEN="") as served, httpx.Client(base_url=served.url, timeout=120) as http:
        assert http.post("/admin/orgs", json={"slug": "acme"}).status_code == 201
        for project in ("guide", "later"):
            assert http.post("/orgs/acme/projects", json={"slug": project}).status_code == 201
        yield served.url


def test_a_site_is_uploaded_looked_at_moved_and_rolled_back(address: str, tmp_path: Path) -> None:
    archive = tmp_path / "site.tar.gz"
    archive.write_bytes(packed(SITE))
    with Client(address) as client:
        guide = client.docs("acme", "guide")
        first = guide.upload(archive, "main", annotations={"commit_sha": "4b825dc"})
        done = guide.wait_until_ended(first, timeout=300)
        same = guide.upload(archive, "main")
        second = guide.upload(packed(SITE | {"index.html": b"<h1>2</h1>"}), "main")
        guide.wait_until_ended(second, timeout=300)
        shown = guide.edition("__main")
        rolled = guide.wait_until_ended(guide.roll_back(shown, first), timeout=300)
        moved = guide.wait_until_ended(guide.show("__main", second), timeout=300)
        history = [(entry.position, entry.trigger, entry.build) for entry in guide.history("__main")]

        assert (done.status, done.kind, done.build) == (Status.COMPLETED, "build_processing", first.id)
        assert (same.id, same.status) == (first.id, "completed")
        assert guide.build(first).object_count == len(SITE)
        assert [build.id for build in guide.builds()] == [second.id, first.id]
        assert list(guide.builds(status="failed")) == []
        assert shown.build == second.id
        assert rolled.status is moved.status is Status.COMPLETED
        assert history == [
            (1, "patch", second.id),
            (2, "rollback", first.id),
            (3, "build", second.id),
            (4, "build", first.id),
        ]
        assert [edition.slug for edition in guide.editions()] == ["__main"]


def test_the_asynchronous_client_does_the_same(address: str, tmp_path: Path) -> None:
    archive = tmp_path / "site.tar.gz"
    archive.write_bytes(packed(SITE))

    async def act() -> None:
        async with AsyncClient(address) as client:
            later = client.docs("acme", "later")
            build = await later.upload(archive, "main")
            job = await later.wait_until_ended(build, timeout=300)

            assert job.status is Status.COMPLETED
            assert [one.id async for one in later.builds()] == [build.id]
            assert (await later.edition("__main")).build == build.id

    asyncio.run(act())


def test_a_refusal_is_told_in_its_own_words(address: str) -> None:
    """Although `detail` is a list on these routes."""
    with Client(address) as client:
        with pytest.raises(NotFound, match="there is no such organisation"):
            client.docs("nobodys", "guide").edition("__main")
        with pytest.raises(InvalidArgument, match="git_ref: '--x' is not a name"):
            client.docs("acme", "guide").upload(b"x", "--x")
        with pytest.raises(Refused, match="has no such build") as refused:
            client.docs("acme", "guide").show("__main", "x")
        assert refused.value.status == 404


def test_both_projects_have_the_same_methods_with_the_same_arguments() -> None:
    for name, method in inspect.getmembers(ProjectDocs, inspect.isfunction):
        if not name.startswith("_"):
            twin = inspect.signature(getattr(AsyncProjectDocs, name))
            assert list(inspect.signature(method).parameters.values()) == list(twin.parameters.values()), name
            assert method.__doc__ == getattr(AsyncProjectDocs, name).__doc__

"""An artifact over HTTP: which caches may store it, and which of its bytes are sent."""

from functools import partial

import pytest

from pressroom import artifact_lifecycle
from pressroom.api.access import Scope
from pressroom.artifacts import CHUNK
from pressroom.store.artifacts import artifacts
from pressroom.store.artifacts.artifacts import Artifact
from tests import looking
from tests.service.access_stage import Stage, on_stage

SMALL = b"0123456789"
LARGE = bytes(range(256)) * (CHUNK // 256) + SMALL  # longer than what is sent in one piece


async def add_artifact(
    stage: Stage, data: bytes, *, org: str | None = None, media_type: str = "image/svg+xml", filename: str = "a.svg"
) -> Artifact:
    rendering = stage.press.rendering
    draft = await artifact_lifecycle.store_artifact(
        rendering.blobs, rendering.database, data, media_type=media_type, filename=filename
    )
    return await rendering.database.run(partial(artifacts.record, draft, org_id=org, keep_for=60_000), name="record")


async def test_an_organisations_artifact_is_stored_by_no_shared_cache(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(Scope.VIEWER, org="red")) as red:
        artifact = await add_artifact(stage, SMALL, org="red")

        whole = await red.get(f"/artifacts/{artifact.uid}")
        unchanged = await red.get(f"/artifacts/{artifact.uid}", headers={"If-None-Match": whole.headers["etag"]})
        part = await red.get(f"/artifacts/{artifact.uid}", headers={"Range": "bytes=0-1"})

    assert [answer.status_code for answer in (whole, unchanged, part)] == [200, 304, 206]
    for answer in (whole, unchanged, part):
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["in one piece", "as a stream"])
async def test_a_range_is_sent_as_it_was_asked_for(file: str, data: bytes) -> None:
    size = len(data)
    expected = {
        "bytes=0-0": (0, 1),
        "bytes=2-5": (2, 6),
        "bytes=3-": (3, size),
        "bytes=-4": (size - 4, size),
        f"bytes={size - 1}-": (size - 1, size),
        f"bytes={size - 2}-{size}": (size - 2, size),
        "bytes=1-99999999": (1, size),
    }
    unsatisfiable = (f"bytes={size}-", f"bytes={size}-{size}", "bytes=-0", "bytes=5-4")
    everything = ("", "bytes=", "bytes=-", "bytes=0-1,3-4", "lines=0-1", f"bytes=0-{size - 1}", f"bytes=-{size + 1}")
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        url = f"/artifacts/{(await add_artifact(stage, data)).uid}"

        for asked, (start, stop) in expected.items():
            answer = await client.get(url, headers={"Range": asked})
            assert (answer.status_code, answer.content) == (206, data[start:stop]), asked
            assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{size}", asked
            assert answer.headers["content-length"] == str(stop - start), asked
        for asked in unsatisfiable:
            answer = await client.get(url, headers={"Range": asked})
            assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{size}"), asked
        for asked in everything:
            answer = await client.get(url, headers={"Range": asked})
            assert (answer.status_code, answer.content == data) == (200, True), asked
            assert "content-range" not in answer.headers, asked


async def test_a_range_of_a_version_that_the_client_does_not_have_is_answered_with_the_whole(file: str) -> None:
    """If-Range: a part is sent only if its tag is exactly ours; parts of two artifacts are never put together."""
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        artifact = await add_artifact(stage, SMALL)
        url, tag = f"/artifacts/{artifact.uid}", f'"sha256-{artifact.sha256}"'

        same = await client.get(url, headers={"Range": "bytes=2-5", "If-Range": tag})
        others = [
            await client.get(url, headers={"Range": "bytes=2-5", "If-Range": condition})
            for condition in ('"another"', f"W/{tag}", "Wed, 21 Oct 2015 07:28:00 GMT", "")
        ]
        past_the_end = await client.get(url, headers={"Range": "bytes=99-", "If-Range": '"another"'})

    assert (same.status_code, same.content) == (206, SMALL[2:6])
    for answer in (*others, past_the_end):
        assert (answer.status_code, answer.content) == (200, SMALL)
        assert answer.headers["etag"] == tag


@pytest.mark.parametrize(
    ("media_type", "question", "shown"),
    [
        ("image/svg+xml", "", "inline"),
        ("image/svg+xml", "?download=false", "inline"),
        ("image/svg+xml", "?download", "attachment"),
        ("image/svg+xml", "?download=1", "attachment"),
        ("text/html; charset=utf-8", "", "attachment"),
        ("text/html; charset=utf-8", "?download=0", "attachment"),
    ],
)
async def test_what_a_browser_may_run_is_a_file_to_keep(file: str, media_type: str, question: str, shown: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        artifact = await add_artifact(stage, SMALL, media_type=media_type, filename="page")
        answer = await client.get(f"/artifacts/{artifact.uid}{question}")

    assert answer.headers["content-disposition"] == f'{shown}; filename="page"'
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_link_and_what_it_leads_to_are_kept_by_no_cache(file: str) -> None:
    async with on_stage(file, works=False) as stage, stage.client(await stage.token(Scope.VIEWER, org="red")) as red:
        artifact = await add_artifact(stage, SMALL, org="red")
        link = await red.get(f"/artifacts/{artifact.uid}/link")
        async with stage.client() as anybody:
            fetched = await anybody.get(link.json()["url"])

    assert (link.status_code, link.headers["cache-control"]) == (200, "no-store")
    assert (fetched.status_code, fetched.content) == (200, SMALL)
    assert fetched.headers["cache-control"] == "private, no-store"
    assert fetched.headers["content-disposition"] == 'attachment; filename="a.svg"'


async def test_an_artifact_is_found_by_its_id_alone(file: str) -> None:
    """A short link is for `/d/`, where another rule holds for who may see it."""
    async with on_stage(file, works=False) as stage, stage.client(await stage.token()) as client:
        artifact = await add_artifact(stage, SMALL)
        [(short,)] = looking.rows(file, "SELECT link FROM short_link")

        found = [await client.get(f"/artifacts/{name}") for name in (artifact.uid, short)]

    assert [answer.status_code for answer in found] == [200, 404]

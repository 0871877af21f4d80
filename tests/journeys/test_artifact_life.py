"""An artifact is found by its uid and its link, for as long as something needs it."""

import asyncio
from contextlib import closing
from datetime import timedelta

import apsw
import pytest

from pressroom import Pressroom, Transient, kind
from pressroom.app import BUILT_IN
from pressroom.artifact_lifecycle import blob_key, bundle_draft, store_artifact, store_file
from pressroom.artifact_lifecycle.collect import collect_garbage
from pressroom.artifacts.disk import Disk
from pressroom.base.json_text import encode
from pressroom.clock import SystemClock
from pressroom.errors import Expired, InvalidArgument, NotFound
from pressroom.model import Succeeded
from pressroom.parts import leader_tasks
from pressroom.store.artifacts import artifacts, blobs, render_cache
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.jobs import endings
from tests.journeys.artifact_stage import Bytes, Rows, record_artifacts_hook
from tests.journeys.stage import Steps

DAY = 86_400_000


class Press(Steps):
    """The store moved by hand, with an artifact store beside it."""

    def __init__(self, *kinds):
        super().__init__(*kinds)
        self.blobs, self.database = Bytes(self.clock), Rows(self.store)

    def keep(self, data=b"<svg/>", **asked):
        return asyncio.run(store_artifact(self.blobs, self.database, data, media_type="image/svg+xml", **asked))

    def record(self, draft, **asked):
        return self.run(artifacts.record(draft, **({"keep_for": DAY} | asked)))

    def render(self, name="draw", data=b"<svg/>", **asked):
        """A job from its submit to its end. Returns it and the draft of what it made."""
        job = self.submit(name, "source", **asked)
        draft = self.keep(data)
        self.settle(self.claim_one(), Succeeded(encode(artifacts.result_with_artifacts(draft), limit=100_000)))
        return job, draft

    def collect(self):
        return asyncio.run(collect_garbage(self.blobs, self.database))

    def get(self, uid):
        return self.run(artifacts.get(uid))

    def by_link(self, link):
        return self.run(artifacts.by_link(link))


@kind("draw", settling=record_artifacts_hook(), cache_for=timedelta(minutes=5), retention=timedelta(hours=1))
async def draw(job, payload): ...


@kind("print", settling=record_artifacts_hook(), retention=timedelta(hours=1))
async def print_out(job, payload): ...


@pytest.fixture
def press():
    with closing(Press(draw, print_out)) as press:
        yield press


async def test_a_job_puts_its_bytes_and_its_end_makes_them_known(database, tmp_path):
    disk = Disk(tmp_path / "artifacts", SystemClock())

    @kind("draw", settling=record_artifacts_hook(keep_for=24 * 3600 * 1000))
    async def draw(job, payload):
        data = payload["text"].encode()
        draft = await store_artifact(disk, press._database, data, media_type="image/svg+xml", filename="a.svg")
        return artifacts.result_with_artifacts(draft, pages=1)

    async with Pressroom(database, kinds=[draw], apps=BUILT_IN, workers=1) as press:
        result = await press.wait(await press.submit("draw", {"text": "<svg/>"}, org_id="acme"), timeout=60)
        found = await press._database.read(lambda: artifacts.by_link(result["short_link"]))

        assert found == await press._database.read(lambda: artifacts.get(result["artifact"]))
        assert (found.media_type, found.filename, found.size, found.org_id) == ("image/svg+xml", "a.svg", 6, "acme")
        assert b"".join([chunk async for chunk in await disk.get(blob_key(found))]) == b"<svg/>"


async def test_an_attempt_whose_bytes_were_collected_is_made_again(database, tmp_path):
    disk = Disk(tmp_path / "artifacts", SystemClock())
    attempts = []

    @kind("draw", settling=record_artifacts_hook(), max_attempts=2)
    async def draw(job, payload):
        draft = await store_artifact(disk, press._database, b"<svg/>", media_type="image/svg+xml")
        attempts.append(draft.generation)
        if len(attempts) == 1:
            await collect_garbage(disk, press._database, grace=0)
        return artifacts.result_with_artifacts(draft)

    async with Pressroom(database, kinds=[draw], apps=BUILT_IN, workers=1) as press:
        result = await press.wait(await press.submit("draw"), timeout=60)
        found = await press._database.read(lambda: artifacts.get(result["artifact"]))

        assert attempts == [0, 1]
        assert await disk.verify(blob_key(found))


def test_a_draft_that_was_never_recorded_is_not_found(press):
    draft = press.keep()

    with pytest.raises(NotFound):
        press.get(draft.uid)
    with pytest.raises(NotFound):
        press.by_link(draft.link)


def test_a_link_may_be_typed_by_people(press):
    draft = press.keep()
    press.record(draft)

    typed = draft.link.upper().replace("1", "I").replace("0", "O")

    assert press.by_link(typed).uid == draft.uid


@pytest.mark.parametrize("link", ["", "../x", "a" * 12, "a" * 14, "u" * 13, "é" * 13, "%00"])
def test_what_is_no_link_is_not_found(press, link):
    with pytest.raises(NotFound):
        press.by_link(link)


def test_links_are_not_to_be_guessed():
    links = {artifacts.new_link() for _ in range(1_000)}

    assert len(links) == 1_000
    assert all(len(link) * 5 >= 60 for link in links)


def test_link_cache_entry_and_artifact_expire_together(press):
    job, draft = press.render(input="a")
    press.clock.advance(minutes=4, seconds=59)

    assert press.by_link(draft.link) == press.get(draft.uid)
    assert press.submit("draw", "source", input="a").uid == job.uid

    press.clock.advance(seconds=1)

    for look in (lambda: press.by_link(draft.link), lambda: press.get(draft.uid)):
        with pytest.raises(Expired):
            look()
    assert press.submit("draw", "source", input="a").uid != job.uid


def test_a_hit_prolongs_nothing(press):
    _, draft = press.render(input="a")
    before = press.get(draft.uid).expires_at
    press.clock.advance(minutes=4)

    press.submit("draw", "source", input="a")

    assert press.get(draft.uid).expires_at == before


def test_the_cache_names_what_it_answers_with(press):
    _, draft = press.render(input="a")

    assert press.store.raw.execute("SELECT artifact, short_link FROM render_cache").fetchall() == [(draft.uid, draft.link)]


def test_a_job_keeps_what_it_made_until_it_is_pruned(press):
    _, draft = press.render("print")
    press.clock.advance(minutes=59)

    assert press.collect().dropped == 0
    assert press.get(draft.uid).job_uid is not None

    press.clock.advance(minutes=2)
    press.prune()

    assert press.collect().dropped == 1
    with pytest.raises(NotFound):
        press.get(draft.uid)


def test_an_expired_artifact_keeps_its_bytes_as_long_as_its_job(press):
    press.render(input="a")
    press.clock.advance(minutes=30)

    assert press.collect().dropped == 0
    assert len(press.blobs.kept) == 1


def test_a_hold_keeps_an_artifact_past_its_job_and_its_expiry(press):
    _, draft = press.render(input="a")
    press.run(artifacts.hold("edition:42", draft.uid))
    press.run(artifacts.hold("edition:42", draft.uid))
    press.clock.advance(days=30)
    press.prune()

    assert press.collect().dropped == 0
    assert press.get(draft.uid).job_uid is None
    with pytest.raises(Expired):
        press.by_link(draft.link)

    assert press.run(artifacts.release("edition:42")) == 1
    assert press.collect().dropped == 1


def test_the_database_itself_refuses_to_drop_what_is_held(press):
    draft = press.keep()
    press.record(draft, holder="edition:42")

    with pytest.raises(apsw.ConstraintError):
        press.run(artifacts.delete_artifacts([draft.uid]))


def test_what_is_not_there_cannot_be_held(press):
    with pytest.raises(NotFound):
        press.run(artifacts.hold("edition:42", "0" * 26))


def test_what_nothing_would_keep_is_not_recorded(press):
    with pytest.raises(InvalidArgument):
        press.record(press.keep(), keep_for=None)


def test_artifacts_may_share_their_bytes(press):
    first, second = press.keep(), press.keep()
    press.record(first)
    press.record(second, keep_for=3 * DAY)
    press.clock.advance(days=2)

    press.collect()
    press.clock.advance(hours=25)
    press.clock.advance(hours=-2)

    assert press.collect().deleted == 0
    assert len(press.blobs.kept) == 1
    assert press.get(second.uid)


def test_a_job_makes_each_of_its_artifacts_once(press):
    job = press.submit("print")
    draft = press.keep()
    press.record(draft, job=job.uid)
    press.record(press.keep(name="config_snapshot"), job=job.uid)

    with pytest.raises(apsw.ConstraintError):
        press.record(press.keep(), job=job.uid)
    assert [one.name for one in press.run(artifacts.of_job(job.uid))] == ["output", "config_snapshot"]


async def build(press, *paths):
    files = [await store_file(press.blobs, press.database, path, path.encode(), media_type="text/html") for path in paths]
    return bundle_draft(files, media_type="text/html")


def test_an_artifact_may_have_many_files(press):
    draft = asyncio.run(build(press, "index.html", "img/logo.svg", "a.html"))
    artifact = press.record(draft)

    assert (artifact.files, artifact.size, artifact.sha256) == (3, 28, None)
    assert [part.path for part in press.run(artifacts.files_of(draft.uid))] == ["a.html", "img/logo.svg", "index.html"]
    assert [part.path for part in press.run(artifacts.files_of(draft.uid, after="a.html", limit=1))] == ["img/logo.svg"]
    part = press.run(artifacts.file_of(draft.uid, "img/logo.svg"))
    assert press.blobs.kept[blob_key(part)][0] == b"img/logo.svg"
    with pytest.raises(NotFound):
        press.run(artifacts.file_of(draft.uid, "../index.html"))
    with pytest.raises(NotFound):
        blob_key(artifact)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a/../b", "./a", "a//b", "a\\b", "a/", "a\0b"])
def test_a_file_stays_within_its_artifact(press, path):
    with pytest.raises(InvalidArgument):
        press.record(asyncio.run(build(press, "index.html", path)))


def test_one_file_that_was_collected_spoils_the_whole(press):
    draft = asyncio.run(build(press, "a.html", "b.html"))
    press.run(blobs.condemn_marked(0, 1))

    with pytest.raises(Transient):
        press.record(draft)
    assert press.store.raw.execute("SELECT count(*) FROM blob WHERE state = 'live'").fetchall() == [(0,)]


def test_a_draft_says_what_it_is_made_of(press):
    with pytest.raises(InvalidArgument):
        press.record(ArtifactDraft(size=0, media_type="text/plain"))


def test_a_cancelled_job_records_nothing(press):
    job = press.submit("print")
    press.run(endings.cancel(job.uid, press.kinds, "cancelled"))

    assert press.run(artifacts.of_job(job.uid)) == []


async def test_a_collection_that_fails_unexpectedly_is_logged_and_the_next_one_comes(file, monkeypatch, caplog, eventually):
    """Once, the first unexpected error ended the collector without a word."""
    rounds = []

    async def broken(*arguments, **options):
        rounds.append(len(rounds))
        raise ZeroDivisionError

    monkeypatch.setattr(leader_tasks, "collect_garbage", broken)
    async with Pressroom(file, workers=1, cleanup_interval=0.01) as press:
        await press.wait(await press.render("markdown", "# x", "html"), timeout=60)

        await eventually(lambda: len(rounds) > 1)

    assert "artifacts were not collected" in caplog.text


def test_a_picture_that_is_renewed_cuts_nothing_short_that_its_job_has_beside_it(press):
    job = press.submit("draw", "source", input="source")
    source = press.record(press.keep(b"a long source", name="source"), job=job.uid, keep_for=14 * DAY)
    draft = press.keep(b"<svg/>")
    press.settle(press.claim_one(), Succeeded(encode(artifacts.result_with_artifacts(draft), limit=100_000)))

    assert press.run(render_cache.renew_entry(draft.uid, DAY)) is not None

    assert press.get(draft.uid).expires_at < source.expires_at
    assert press.get(source.uid).expires_at == source.expires_at

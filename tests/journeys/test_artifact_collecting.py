"""Whatever the collector does between a put and its settling, no row refers to bytes that are gone."""

import asyncio
import hashlib
import itertools
import os
from contextlib import closing

import apsw
import msgspec
import pytest

from pressroom.artifact_lifecycle import blob_key, bundle_draft, store_artifact, store_file
from pressroom.artifact_lifecycle import collect as collecting
from pressroom.artifact_lifecycle.collect import CollectedCounts, collect_garbage
from pressroom.artifact_lifecycle.fsck import fsck
from pressroom.artifacts import key_of
from pressroom.artifacts.disk import Disk
from pressroom.clock import SystemClock
from pressroom.errors import BlobGone, StoreUnavailable
from pressroom.model import Statement
from pressroom.store.artifacts import artifacts, blobs
from pressroom.store.artifacts.artifacts import ArtifactDraft
from pressroom.store.artifacts.blobs import BlobName
from pressroom.store.engine.sqlite import SQLite
from pressroom.testing import ManualClock, SteppedStore
from tests.journeys.artifact_stage import Bytes, Rows

HOUR = 3_600_000
DAY = 24 * HOUR
HELLO = hashlib.sha256(b"hello").hexdigest()


class Stage:
    def __init__(self):
        self.clock = ManualClock()
        self.store = SteppedStore(self.clock)
        self.blobs, self.database = Bytes(self.clock), Rows(self.store)

    def run(self, work):
        return self.store.run(work)

    def keep(self, data=b"hello"):
        return asyncio.run(store_artifact(self.blobs, self.database, data, media_type="text/plain"))

    def record(self, draft, keep_for=HOUR):
        return self.run(artifacts.record(draft, keep_for=keep_for))

    def collect(self, **asked):
        return asyncio.run(collect_garbage(self.blobs, self.database, **asked))

    def rounds(self, count=3):
        """As many rounds, each after a grace, as it takes to get rid of something for good."""
        for _ in range(count):
            self.clock.advance(hours=25)
            self.collect()

    def states(self):
        return {
            sha256: (generation, state)
            for sha256, generation, state in self.store.raw.execute("SELECT sha256, generation, state FROM blob")
        }

    def sound(self):
        return asyncio.run(fsck(self.blobs, self.database, grace=float("inf"))) == []

    def close(self):
        self.store.close()


@pytest.fixture
def stage():
    with closing(Stage()) as stage:
        yield stage


def test_what_expired_goes_in_two_steps_with_a_grace_between(stage):
    draft = stage.keep()
    stage.record(draft)
    stage.clock.advance(hours=2)

    assert stage.collect() == CollectedCounts(dropped=1)
    assert stage.states() == {draft.sha256: (0, "marked")}
    stage.clock.advance(hours=23)
    assert stage.collect() == CollectedCounts()
    stage.clock.advance(hours=2)
    assert stage.collect() == CollectedCounts(condemned=1, deleted=1)
    assert stage.blobs.kept == {}
    assert stage.states() == {draft.sha256: (0, "deleted")}
    stage.clock.advance(hours=25)
    assert stage.collect() == CollectedCounts(forgotten=1)
    assert stage.states() == {}


def test_a_put_under_way_is_left_alone(stage):
    draft = stage.keep()
    stage.clock.advance(hours=23)
    stage.collect(orphans=True)

    assert stage.record(draft)
    assert stage.sound()


def test_a_put_that_never_settled_is_collected(stage):
    stage.keep()
    stage.rounds()

    assert (stage.blobs.kept, stage.states()) == ({}, {})


def test_a_second_put_of_the_same_bytes_begins_their_grace_again(stage):
    stage.keep()
    stage.clock.advance(hours=23)
    draft = stage.keep()
    stage.clock.advance(hours=23)
    stage.collect()

    assert stage.record(draft)
    assert stage.sound()


def test_what_was_marked_comes_back_to_life(stage):
    stage.record(stage.keep())
    stage.clock.advance(hours=2)
    stage.collect()

    draft = stage.keep()
    stage.record(draft)
    stage.clock.advance(minutes=30)

    assert stage.states() == {draft.sha256: (0, "live")}
    assert stage.sound()


def test_what_was_deleted_is_written_again_under_another_name(stage):
    stage.record(stage.keep())
    stage.rounds(2)
    assert stage.blobs.kept == {}

    draft = stage.keep()
    artifact = stage.record(draft)

    assert draft.generation == 1
    assert stage.blobs.kept[blob_key(artifact)][0] == b"hello"
    assert stage.sound()


def test_a_deletion_that_comes_late_hits_nothing(stage):
    """A collector that was put to sleep between looking and deleting once took the bytes of a later artifact with it."""
    stage.keep()
    stage.clock.advance(hours=25)
    stage.run(blobs.condemn_marked(DAY, 10))
    asleep = stage.run(blobs.list_condemned(10))
    asyncio.run(collecting.delete_condemned(stage.blobs, stage.database))
    stage.record(stage.keep())

    asyncio.run(stage.blobs.delete(map(blob_key, asleep)))
    stage.run(blobs.record_deleted(asleep))

    assert stage.sound()


def test_even_when_its_row_was_forgotten_long_ago(stage):
    stage.keep()
    stage.clock.advance(hours=25)
    stage.run(blobs.condemn_marked(DAY, 10))
    asleep = stage.run(blobs.list_condemned(10))
    stage.rounds()
    assert stage.states() == {}
    stage.record(stage.keep())

    asyncio.run(stage.blobs.delete(map(blob_key, asleep)))

    assert stage.sound()


def test_an_attempt_that_slept_for_days_is_told_to_put_its_bytes_again(stage):
    draft = stage.keep()
    stage.rounds(2)

    with pytest.raises(BlobGone):
        stage.record(draft)
    assert stage.store.raw.execute("SELECT count(*) FROM artifact").fetchall() == [(0,)]


def test_nor_may_it_rely_on_what_somebody_else_put_again(stage):
    slow = stage.keep()
    stage.rounds(2)
    stage.record(stage.keep())

    with pytest.raises(BlobGone):
        stage.record(slow)
    assert stage.sound()


def as_one_blob(stage):
    return stage.record(stage.keep())


def as_a_file_of_many(stage):
    part = asyncio.run(store_file(stage.blobs, stage.database, "a.txt", b"hello", media_type="text/plain"))
    return stage.record(bundle_draft([part], media_type="text/plain"))


@pytest.mark.parametrize("make", [as_one_blob, as_a_file_of_many])
def test_what_is_marked_by_mistake_is_not_condemned_while_something_refers_to_it(stage, make):
    """The statement looks for itself. Without the database's own guard too, one wall is left standing."""
    stage.store.raw.execute("DROP TRIGGER blob_in_use")
    make(stage)
    stage.keep(b"never recorded")
    stage.run(_mark_all())
    stage.clock.advance(days=2)

    assert stage.run(blobs.condemn_marked(DAY, 10)) == 1

    assert stage.states()[HELLO] == (0, "marked")


def _mark_all():
    yield Statement("UPDATE blob SET state = 'marked', state_since = 0")


@pytest.mark.parametrize("make", [as_one_blob, as_a_file_of_many])
def test_bytes_that_two_artifacts_share_are_kept_for_the_one_that_is_left(stage, make):
    first, second = make(stage), make(stage)

    stage.run(artifacts.delete_artifacts([first.uid]))
    assert stage.states()[HELLO] == (0, "live")
    stage.run(artifacts.delete_artifacts([second.uid]))
    assert stage.states()[HELLO] == (0, "marked")


@pytest.mark.parametrize("size", [4, 6])
def test_an_artifact_that_is_wrong_about_the_size_of_its_bytes_is_refused(stage, size):
    part = asyncio.run(store_file(stage.blobs, stage.database, "a.txt", b"hello", media_type="text/plain"))

    with pytest.raises(BlobGone):
        stage.record(bundle_draft([msgspec.structs.replace(part, size=size)], media_type="text/plain"))
    with pytest.raises(BlobGone):
        stage.record(msgspec.structs.replace(stage.keep(), size=size))

    assert stage.states()[HELLO] == (0, "marked")
    stage.record(bundle_draft([part], media_type="text/plain"))


def test_a_burial_that_comes_late_does_not_bury_what_was_put_again(stage):
    """One collector was slow to say that the bytes were gone; they were put, given up and condemned again meanwhile."""
    stage.keep()
    stage.clock.advance(days=2)
    stage.run(blobs.condemn_marked(DAY, 10))
    (late,) = stage.run(blobs.list_condemned(10))
    stage.run(blobs.record_deleted([late]))
    stage.keep()
    stage.clock.advance(days=2)
    stage.run(blobs.condemn_marked(DAY, 10))

    assert stage.run(blobs.record_deleted([late])) == 0

    assert stage.states()[HELLO] == (1, "deleting"), "its bytes are there, and are deleted next"


def test_a_collector_that_died_is_finished_by_the_next(stage):
    draft = stage.keep()
    stage.clock.advance(hours=25)
    stage.run(blobs.condemn_marked(DAY, 10))

    assert stage.collect().deleted == 1
    assert stage.states() == {draft.sha256: (0, "deleted")}


def test_while_the_bytes_cannot_be_deleted_they_stay_condemned(stage):
    draft = stage.keep()
    stage.clock.advance(hours=25)

    def out_of_reach(step):
        raise StoreUnavailable("no network")

    stage.blobs.before = out_of_reach
    with pytest.raises(StoreUnavailable):
        stage.collect()
    stage.blobs.before = lambda step: None

    assert stage.states() == {draft.sha256: (0, "deleting")}
    assert stage.collect().deleted == 1


def test_an_orphan_is_swept_after_a_day(stage):
    """Its row went with the power, or with a database that was restored."""
    stage.blobs.kept["a" * 64] = (b"x", stage.clock.now_ms())

    assert stage.collect(orphans=True).orphans == 0
    stage.clock.advance(hours=25)
    assert stage.collect().orphans == 0
    assert stage.collect(orphans=True).orphans == 1
    assert stage.blobs.kept == {}


def test_an_orphan_that_is_found_by_a_put_while_it_is_swept(stage):
    stage.keep()
    stage.store.raw.execute("UPDATE blob SET state = 'deleting'; UPDATE blob SET state = 'deleted'; DELETE FROM blob")
    stage.clock.advance(hours=25)
    recorded = []

    def put(step):
        stage.blobs.before = lambda step: None
        recorded.append(_keep_and_record(stage))

    stage.blobs.before = lambda step: put(step) if step == "delete" else None
    stage.collect(orphans=True)

    assert recorded
    assert stage.sound()


def test_an_orphan_that_is_recorded_before_it_is_condemned(stage):
    stage.keep()
    stage.store.raw.execute("UPDATE blob SET state = 'deleting'; UPDATE blob SET state = 'deleted'; DELETE FROM blob")
    stage.clock.advance(hours=25)
    suspects = stage.run(blobs.find_unexpected([BlobName(HELLO, 0)]))
    _keep_and_record(stage)

    doomed = [name for name in suspects if stage.run(blobs.condemn_orphan(name, 5))]
    asyncio.run(stage.blobs.delete(map(blob_key, doomed)))

    assert suspects
    assert stage.sound()


def _keep_and_record(stage):
    sha256, size = HELLO, 5
    generation = stage.run(blobs.reserve(sha256, size))
    stage.blobs.kept.setdefault(key_of(sha256, generation), (b"hello", stage.clock.now_ms()))
    draft = ArtifactDraft(sha256=sha256, generation=generation, size=size, media_type="text/plain")
    return stage.record(draft)


def test_what_an_old_generation_left_behind_is_swept(stage):
    stage.keep()
    stage.clock.advance(hours=25)
    stage.run(blobs.condemn_marked(DAY, 10))  # and dies
    stage.record(stage.keep(), keep_for=30 * DAY)
    stage.clock.advance(hours=25)

    assert len(stage.blobs.kept) == 2
    assert stage.collect(orphans=True).orphans == 1
    assert stage.sound()


def test_bytes_of_another_database_are_not_swept(stage, caplog):
    """Started with the wrong database, a collector knows none of the bytes. It must not take them for garbage."""
    for number in range(200):
        stage.blobs.kept[f"{number:064x}"] = (b"x", stage.clock.now_ms())
    stage.clock.advance(days=2)

    assert stage.collect(orphans=True).spared == 200
    assert len(stage.blobs.kept) == 200
    assert "is this the right database?" in caplog.text


PUT = ("reserve", "write", "record")
COLLECT = ("condemn", "look", "delete", "bury", "forget")
BEFORE = ("nothing", "marked", "live and expired", "deleting", "deleted", "forgotten")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("before", BEFORE)
def test_every_order_of_a_put_and_a_collection_ends_well(before):
    """All 56 orders of the steps of one put and one collector without any grace, from each state that bytes may be in."""
    refused = 0
    for places in itertools.combinations(range(len(PUT) + len(COLLECT)), len(PUT)):
        put, collector = iter(PUT), iter(COLLECT)
        order = [next(put) if place in places else next(collector) for place in range(len(PUT) + len(COLLECT))]
        with closing(Stage()) as stage:
            _bring_to(stage, before)
            refused += _play(stage, order)
            assert stage.sound(), order
    assert refused > 0


def _bring_to(stage, state):
    if state == "nothing":
        return
    draft = stage.keep()
    if state == "live and expired":
        stage.record(draft)
        stage.clock.advance(hours=2)
    if state in ("deleting", "deleted", "forgotten"):
        stage.run(blobs.condemn_marked(0, 10))
    if state in ("deleted", "forgotten"):
        asyncio.run(collecting.delete_condemned(stage.blobs, stage.database))
    if state == "forgotten":
        stage.run(blobs.delete_rows(0, 10))


def _play(stage, order):
    """Whether the put was refused."""
    generation, seen, refused = 0, [], False
    sha256, size = HELLO, 5
    for step in order:
        match step:
            case "reserve":
                generation = stage.run(blobs.reserve(sha256, size))
            case "write":
                stage.blobs.kept.setdefault(key_of(sha256, generation), (b"hello", 0))
            case "record":
                try:
                    stage.record(ArtifactDraft(sha256=sha256, generation=generation, size=size, media_type="text/plain"))
                except BlobGone:
                    refused = True
            case "condemn":
                stage.run(artifacts.delete_unreferenced(10))
                stage.run(blobs.condemn_marked(0, 10))
            case "look":
                seen = stage.run(blobs.list_condemned(10))
            case "delete":
                asyncio.run(stage.blobs.delete(map(blob_key, seen)))
            case "bury":
                stage.run(blobs.record_deleted(seen))
            case "forget":
                stage.run(blobs.delete_rows(0, 10))
    return refused


async def test_puts_and_collectors_at_once_on_a_real_folder_and_file(tmp_path):
    """No grace at all: what protects the bytes is the order of the steps, not the time between them."""
    database, disk = SQLite(str(tmp_path / "press.db"), SystemClock()), Disk(tmp_path / "artifacts", SystemClock())
    stopping, refused = asyncio.Event(), 0

    async def put(number):
        nonlocal refused
        for turn in range(25):
            draft = await store_artifact(disk, database, str((number + turn) % 3).encode(), media_type="text/plain")
            try:
                life = 1 if turn % 2 else DAY
                artifact = await database.run(
                    lambda draft=draft, life=life: artifacts.record(draft, keep_for=life), name="record"
                )
                if life == DAY:
                    assert await disk.verify(blob_key(artifact))
                    await database.run(lambda draft=draft: artifacts.delete_artifacts([draft.uid]), name="drop")
            except BlobGone:
                refused += 1

    async def collect_on():
        while not stopping.is_set():
            await collect_garbage(disk, database, grace=0)

    collectors = [asyncio.create_task(collect_on()) for _ in range(2)]
    await asyncio.gather(*(put(number) for number in range(4)))
    last = await store_artifact(disk, database, b"last", media_type="text/plain")
    stopping.set()
    await asyncio.gather(*collectors)
    try:
        await database.run(lambda: artifacts.record(last, keep_for=DAY), name="record")
    except BlobGone:
        refused += 1

    assert refused > 0, "the collectors were too slow to be a test"
    assert await fsck(disk, database, grace=float("inf")) == []
    await database.close()


async def test_fsck_names_what_is_missing_damaged_or_unknown(tmp_path):
    database, disk = SQLite(str(tmp_path / "press.db"), SystemClock()), Disk(tmp_path / "artifacts", SystemClock())
    drafts = {}
    for text in ("sound", "missing", "damaged", "shorter"):
        drafts[text] = await store_artifact(disk, database, text.encode(), media_type="text/plain")
        await database.run(lambda text=text: artifacts.record(drafts[text], keep_for=DAY), name="record")
    orphan = await disk.put(b"orphan")
    await disk.put(b"just put")

    def damage(text, change):
        sha256 = drafts[text].sha256
        change(tmp_path / "artifacts" / "blobs" / sha256[:2] / sha256)

    damage("missing", lambda path: path.unlink())
    damage("damaged", lambda path: path.write_bytes(b"DAMAGED"))
    damage("shorter", lambda path: path.write_bytes(b"short"))
    os.utime(tmp_path / "artifacts" / "blobs" / orphan.key[:2] / orphan.key, (0, 0))

    found = {(one.what, one.subject) for one in await fsck(disk, database)}
    shallow = {one.what for one in await fsck(disk, database, deep=False)}
    await database.close()

    assert found == {
        ("missing", drafts["missing"].sha256),
        ("corrupt", drafts["damaged"].sha256),
        ("corrupt", drafts["shorter"].sha256),
        ("orphan", orphan.key),
    }
    assert shallow == {"missing", "corrupt", "orphan"}


DAMAGE = {
    "dangling_link": "DELETE FROM artifact",
    "dangling_hold": "INSERT INTO artifact_hold VALUES ('edition:42', 'gone', 0)",
    "unkept": "UPDATE blob SET state = 'marked'",
    "unreferred": "DELETE FROM artifact",
    "size": "UPDATE artifact SET size = 6",
    "files": "INSERT INTO artifact_file SELECT uid, 'a', sha256, size, media_type FROM artifact",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_fsck_names_rows_that_disagree(stage, what):
    draft = stage.keep()
    stage.record(draft)
    stage.store.raw.execute("PRAGMA foreign_keys = OFF; DROP TRIGGER blob_in_use")

    assert stage.sound()
    stage.store.raw.execute(DAMAGE[what])

    assert what in {one.what for one in asyncio.run(fsck(stage.blobs, stage.database))}


@pytest.mark.parametrize("old", ["marked", "live", "deleting", "deleted"])
@pytest.mark.parametrize("new", ["marked", "live", "deleting", "deleted"])
def test_the_database_and_the_code_agree_on_the_moves_of_a_blob(stage, old, new):
    sha256 = "a" * 64
    stage.run(blobs.reserve(sha256, 1))
    ways = {"marked": [], "live": ["live"], "deleting": ["deleting"], "deleted": ["deleting", "deleted"]}
    for step in ways[old]:
        stage.store.raw.execute(f"UPDATE blob SET state = '{step}'")
    generation = 1 if old in ("deleting", "deleted") and new == "marked" else 0

    def move():
        stage.store.raw.execute("UPDATE blob SET state = ?, generation = ?", (new, generation))

    if new == old or new in blobs.MOVES[old]:
        move()
    else:
        with pytest.raises(apsw.ConstraintError, match="illegal move"):
            move()


def test_a_name_in_the_store_is_a_hash_and_a_generation():
    assert blob_key(BlobName("a" * 64, 0)) == "a" * 64
    assert blob_key(BlobName("a" * 64, 3)) == "a" * 64 + "-3"

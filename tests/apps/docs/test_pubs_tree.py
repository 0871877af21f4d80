"""Copy mode (Q22): a tree follows what editions show, in an order that readers do not notice, whatever is killed meanwhile."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import msgspec
import obstore
import pytest
from obstore.store import S3Store

from pressroom.apps.docs.credentials.model import CredentialDraft, ServiceDraft
from pressroom.apps.docs.errors import PublisherUnavailable
from pressroom.apps.docs.model import MAIN, Org, Project
from pressroom.apps.docs.publishing import Publication, leases, places, site_copy
from pressroom.apps.docs.publishing.copy_plan import SiteRecord, plan_copy
from pressroom.apps.docs.publishing.places import FolderPlace, TreePlace
from pressroom.apps.docs.publishing.tree import TreePublisher
from pressroom.apps.docs.settings import DocsSettings
from pressroom.apps.docs.store import publishing as rows
from pressroom.artifacts.s3 import S3
from pressroom.clock import SystemClock
from pressroom.errors import StoreUnavailable
from pressroom.model import Status
from pressroom.store.artifacts.artifacts import ArtifactFile
from pressroom.testing import ManualClock
from tests.apps.docs.pubs_stage import PubsStage, has_files, pubs_stage, shows
from tests.apps.docs.tree_stage import Killed, WatchedPlace, check_pages, folder_of, read_site, site
from tests.contract.conftest import bucket_on
from tests.servers import S3Server, seaweedfs


@pytest.fixture(scope="module")
def s3_server() -> Iterator[S3Server]:
    def can_be_put_to(server: S3Server) -> bool:
        try:
            asyncio.run(S3(bucket_on(server, "ready"), SystemClock(), timeout=10.0).put(b"ready"))
        except StoreUnavailable:
            return False
        return True

    with TemporaryDirectory(prefix="seaweedfs-") as folder, seaweedfs(Path(folder), can_be_put_to) as server:
        yield server


class Tree:
    """A stage with an organisation that publishes to a folder."""

    def __init__(self, stage: PubsStage, org: Org, project: Project, root: Path) -> None:
        self.stage, self.org, self.project, self.root = stage, org, project, root
        self.clock = ManualClock()

    def publisher(self, place: TreePlace) -> TreePublisher:
        rendering = self.stage.press.rendering
        return TreePublisher(place, self.stage.database, lambda: rendering.blobs, self.clock)

    async def move(self, files: dict[str, bytes], slug: str = MAIN) -> Publication:
        return await self.stage.move(self.project, slug, await self.stage.build(self.project, files))


@asynccontextmanager
async def tree_of(file: str, root: Path, **options: Any) -> AsyncIterator[Tree]:
    async with pubs_stage(file, settings=DocsSettings(publish_allow=(str(root.parent),)), **options) as stage:
        org = await stage.new_org()
        await stage.app.services.create(
            "acme", ServiceDraft(label="sites", provider="folder", config={"path": str(root)}), actor="anna"
        )
        org = await stage.save_org(org, slots={"publishing_store": "sites"})
        yield Tree(stage, org, await stage.new_project(), root)


def files_of(**hashes: str) -> dict[str, ArtifactFile]:
    paths = {path.replace("__", "/").replace("_", "."): sha256 for path, sha256 in hashes.items()}
    return {
        path: ArtifactFile(path=path, sha256=sha256, generation=0, size=1, media_type="text/html")
        for path, sha256 in paths.items()
    }


def test_q22_assets_first_then_pages_from_the_deepest_up_and_the_home_page_last() -> None:
    """Q22: ordered diff and copy."""
    record = SiteRecord(files={"same.css": "1", "old.css": "1", "old.html": "1", "a/old.html": "1", "changed.css": "1"})
    wanted = files_of(index_html="2", a__index_html="2", a__b__c_html="2", same_css="1", changed_css="2", z_png="2")

    plan = plan_copy(record, wanted)

    assert [[file.path for file in step] for step in plan.writes] == [
        ["changed.css", "z.png"],
        ["a/b/c.html"],
        ["a/index.html"],
        ["index.html"],
    ]
    assert (plan.old_pages, plan.old_assets, plan.in_the_way) == (["old.html", "a/old.html"], ["old.css"], [])


def test_what_is_unknown_is_written_or_removed_and_what_is_in_the_way_goes_first() -> None:
    record = SiteRecord(files={"a.css": "1", "b": "1", "c/d.html": "1", "c/e/f.png": "1"}, unknown=["a.css", "x.js"])

    plan = plan_copy(record, files_of(a_css="1", b__page_html="1") | files_of(c="1"))

    assert plan.in_the_way == ["b", "c/d.html", "c/e/f.png"]
    assert [file.path for step in plan.writes for file in step] == ["a.css", "c", "b/page.html"]
    assert plan.old_assets == ["x.js"]


async def test_a_tree_follows_its_edition_and_equal_files_are_not_copied(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        (publisher,) = await tree.stage.app.publishers.of(tree.org)
        await publisher.publish(await tree.move(site(1)))
        assert read_site(tree.root, "guide") == site(1)
        await publisher.publish(await tree.move(site(1), "1.0"))
        assert read_site(tree.root, "guide/v/1.0") == site(1)

        watched = folder_of(tree.root, lambda: check_pages(tree.root, "guide"))
        second = await tree.move(site(2))
        await tree.publisher(watched).publish(second)

        written = [path for path in watched.written if not path.startswith("__")]
        assert not [path for path in written if "same" in path]
        assert written[-1] == "guide/index.html"
        # Assets of the first version stay for readers whose page is of it.
        assert read_site(tree.root, "guide") == {**site(2), "static/app-1.css": b"css 1", "static/app-1.js": b"js 1"}
        assert read_site(tree.root, "guide/v/1.0") == site(1)

        again = folder_of(tree.root)
        await tree.publisher(again).publish(second)
        assert again.changes == 0


async def test_old_assets_go_to_purgatory_after_a_grace_and_are_deleted_after_the_retention(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(folder_of(tree.root, lambda: check_pages(tree.root, "guide")))
        first, second = await tree.move(site(1)), await tree.move(site(2))
        await publisher.publish(first)
        await publisher.publish(second)
        purgatory = tree.root / "__purgatory"
        pages = ["page-1.html", "page-2.html", "page-3.html"]  # of the chapters 0 to 2, which have others now
        assert sorted(path.name for path in purgatory.rglob("*") if path.is_file()) == pages

        await publisher.reconcile(tree.org, shows(second))
        assert "static/app-1.css" in read_site(tree.root, "guide")
        tree.clock.advance(seconds=site_copy.ASSET_GRACE)
        await publisher.reconcile(tree.org, shows(second))
        assert read_site(tree.root, "guide") == site(2)
        assert sorted(path.name for path in purgatory.rglob("*") if path.is_file()) == ["app-1.css", "app-1.js", *pages]
        assert not list((tree.root / "__sweep").rglob("*.json"))

        assert (await publisher.delete_expired(tree.org, tree.clock.now_ms())).objects == 0
        tree.clock.advance(seconds=tree.org.purgatory_retention)
        purged = await publisher.delete_expired(tree.org, tree.clock.now_ms())
        assert (purged.objects, purged.bytes) == (5, 3 * len(site(1)["chapter/0/page-1.html"]) + len(b"css 1js 1"))
        assert not [path for path in purgatory.rglob("*") if path.is_file()]


async def test_what_killed_processes_have_begun_to_write_is_deleted_after_a_day(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        await publisher.publish(await tree.move(site(1)))
        old, young = (tree.root / "__tmp" / name for name in ("old", "young"))
        for path in (old, young):
            path.touch()
        past = young.stat().st_mtime - places.TEMPORARY_KEPT - 60
        os.utime(old, (past, past))

        await publisher.delete_expired(tree.org, tree.clock.now_ms())

        assert [path.name for path in (tree.root / "__tmp").iterdir()] == ["young"]


async def test_an_asset_that_is_wanted_again_within_its_grace_stays(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        for version in (1, 2, 1):
            await publisher.publish(await tree.move(site(version)))
        last = await tree.move(site(1))
        tree.clock.advance(seconds=site_copy.ASSET_GRACE)
        await publisher.reconcile(tree.org, shows(last))

        assert read_site(tree.root, "guide") == site(1)


async def test_killed_at_every_step_the_next_run_finishes_and_readers_see_no_page_without_its_assets(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after each change; then the same move again, or the next one."""
    monkeypatch.setattr(site_copy, "BATCH", 2)  # a record between any two files
    async with tree_of(file, tmp_path / "sites") as tree:
        first, second, third = [await tree.move(site(version, pages=2)) for version in (1, 2, 3)]
        total = folder_of(tmp_path / "counted")
        for publication in (first, second):
            await tree.publisher(total).publish(publication)
        probe = folder_of(tmp_path / "probe")
        await tree.publisher(probe).publish(first)
        changes = total.changes - probe.changes
        assert changes > 12, changes

        for dies_at in range(1, changes + 1):
            for dies_before in (False, True):
                root = tmp_path / f"killed-{dies_at}-{dies_before}"

                def watch(root: Path = root) -> None:
                    check_pages(root, "guide")

                await tree.publisher(folder_of(root, watch)).publish(first)
                dying = folder_of(root, watch, dies_at=dies_at, dies_before=dies_before)
                with pytest.raises(Killed):
                    await tree.publisher(dying).publish(second)
                follower = second if dies_at % 2 else third
                await tree.publisher(folder_of(root, watch)).publish(follower)
                shown = read_site(root, "guide")
                version = 2 if dies_at % 2 else 3
                wanted = site(version, pages=2)
                assert {path: shown[path] for path in wanted} == wanted
                left = shown.keys() - wanted.keys()
                assert all(path.startswith("static/app-") for path in left), left
                await tree.publisher(folder_of(root, watch)).publish(first)  # late: nothing changes
                assert read_site(root, "guide") == shown


async def test_killed_while_it_is_removed_the_site_goes_at_the_next_run(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_copy, "BATCH", 2)
    async with tree_of(file, tmp_path / "sites") as tree:
        shown = await tree.move(site(1), "1.0")
        gone = await tree.stage.delete_edition(tree.project, "1.0")
        for dies_at in range(1, 12):
            root = tmp_path / f"killed-{dies_at}"

            def watch(root: Path = root) -> None:
                check_pages(root, "guide/v/1.0")

            await tree.publisher(folder_of(root)).publish(shown)
            dying = folder_of(root, watch, dies_at=dies_at)
            try:
                await tree.publisher(dying).publish(gone)
            except Killed:
                await tree.publisher(folder_of(root, watch)).publish(gone)
            assert not [path for path in read_site(root, "guide/v/1.0") if path.endswith(".html")]
            await tree.publisher(folder_of(root)).publish(shown)  # late
            assert not [path for path in read_site(root, "guide/v/1.0") if path.endswith(".html")]
            tree.clock.advance(seconds=site_copy.ASSET_GRACE)
            assert await tree.publisher(folder_of(root)).reconcile(tree.org, shows()) == []
            assert read_site(root, "guide/v/1.0") == {}


async def test_two_runs_at_once_end_with_the_later_move(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        moves = [await tree.move(site(version)) for version in range(1, 5)]
        publishers = [tree.publisher(folder_of(tree.root, lambda: check_pages(tree.root, "guide"))) for _ in moves]

        await asyncio.gather(*(publisher.publish(move) for publisher, move in zip(publishers, reversed(moves), strict=True)))

        shown = read_site(tree.root, "guide")
        assert {path: shown[path] for path in site(4)} == site(4)


async def test_a_run_that_was_stopped_for_too_long_writes_nothing_more(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease is over, as after a machine was suspended."""
    monkeypatch.setattr(site_copy, "BATCH", 1)
    clock = ManualClock()
    async with tree_of(file, tmp_path / "sites", workers=None, clock=clock) as tree:
        first, second = await tree.move(site(1)), await tree.move(site(2))

        def suspend() -> None:
            if suspended.changes == 5:
                clock.advance(seconds=leases.LEASE + 1)
                monkeypatch.setattr(leases.time, "monotonic", lambda real=time.monotonic: real() + leases.LEASE + 1)

        suspended = folder_of(tree.root, suspend)
        with pytest.raises(PublisherUnavailable, match="taken over"):
            await tree.publisher(suspended).publish(first)

        assert suspended.changes == 5
        await tree.publisher(FolderPlace(tree.root)).publish(second)
        shown = read_site(tree.root, "guide")
        assert {path: shown[path] for path in site(2)} == site(2)


async def test_a_waiting_later_move_ends_an_earlier_one(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    monkeypatch.setattr(site_copy, "BATCH", 1)
    async with tree_of(file, tmp_path / "sites") as tree:
        first, second = await tree.move(site(1)), await tree.move(site(2))
        slow = SlowPlace(tree.root)
        earlier = asyncio.create_task(tree.publisher(slow).publish(first))
        await slow.began.wait()
        later = asyncio.create_task(tree.publisher(FolderPlace(tree.root)).publish(second))
        await eventually(lambda: is_wanted(tree, second.seq))
        monkeypatch.setattr(leases.time, "monotonic", lambda real=time.monotonic: real() + leases.LEASE * 0.6)
        slow.may_go_on.set()
        await earlier
        await later

        assert slow.changes < 5
        shown = read_site(tree.root, "guide")
        assert {path: shown[path] for path in site(2)} == site(2)


class SlowPlace(WatchedPlace):
    """Writes nothing until it may."""

    def __init__(self, root: Path) -> None:
        super().__init__(FolderPlace(root))
        self.began, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def write(self, path: str, data: Any, media_type: str) -> None:
        self.began.set()
        await self.may_go_on.wait()
        await super().write(path, data, media_type)


async def test_d27_the_removal_of_an_older_edition_does_not_end_the_first_move_of_a_new_one(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """Its sequence number is higher, but it is that of another edition. The new one was left half written, as published."""
    monkeypatch.setattr(site_copy, "BATCH", 1)
    async with tree_of(file, tmp_path / "sites") as tree:
        for _ in range(3):
            await tree.publisher(FolderPlace(tree.root)).publish(await tree.move(site(1), "1.0"))
        gone = await tree.stage.delete_edition(tree.project, "1.0")
        new = await tree.move(site(2), "1.0")
        assert new.seq < gone.seq
        slow = SlowPlace(tree.root)
        publishing = asyncio.create_task(tree.publisher(slow).publish(new))
        await slow.began.wait()
        removing = asyncio.create_task(tree.publisher(FolderPlace(tree.root)).publish(gone))
        await eventually(lambda: is_wanted(tree, gone.seq))
        monkeypatch.setattr(leases.time, "monotonic", lambda real=time.monotonic: real() + leases.LEASE * 0.6)
        slow.may_go_on.set()
        await publishing
        await removing

        shown = read_site(tree.root, "guide/v/1.0")
        assert {path: shown[path] for path in site(2)} == site(2)


async def test_a_lease_is_renewed_while_one_large_file_is_written(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, eventually: Any
) -> None:
    """Nothing is checked meanwhile: a file that took longer than the lease could never be published."""
    monkeypatch.setattr(leases, "RENEW_INTERVAL", 0.01)
    async with tree_of(file, tmp_path / "sites") as tree:
        slow = SlowPlace(tree.root)
        publishing = asyncio.create_task(tree.publisher(slow).publish(await tree.move(site(1))))
        await slow.began.wait()

        async def expiry() -> int:
            ((expires_at,),) = await tree.stage.rows("SELECT expires_at FROM docs_publish_lease")
            return int(expires_at)

        first = await expiry()

        async def is_renewed() -> bool:
            return await expiry() > first

        await eventually(is_renewed)
        slow.may_go_on.set()
        await publishing
        assert read_site(tree.root, "guide") == site(1)


async def test_an_older_dashboard_never_takes_the_place_of_a_newer_one(file: str, tmp_path: Path) -> None:
    """Two builds of one project end at the same time, and the first one is slow to write."""
    async with tree_of(file, tmp_path / "sites") as tree:
        rendered = {"__dashboard.html": b"one"}
        began = asyncio.Event()

        async def read_files() -> dict[str, bytes]:
            began.set()
            return dict(rendered)

        slow = SlowPlace(tree.root)
        first = asyncio.create_task(tree.publisher(slow).publish_dashboard(tree.org, tree.project, read_files))
        await slow.began.wait()
        rendered["__dashboard.html"] = b"two"
        began.clear()
        second = asyncio.create_task(
            tree.publisher(FolderPlace(tree.root)).publish_dashboard(tree.org, tree.project, read_files)
        )
        slow.may_go_on.set()
        await first
        await second

        assert began.is_set()
        assert (tree.root / "guide/v/index.html").read_bytes() == b"two"


async def test_the_dashboard_of_a_project_stays_when_an_older_one_of_its_slug_is_removed(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        await publisher.publish(await tree.move(site(1)))
        await tree.stage.app.projects.delete("acme", "guide", actor="anna")
        gone = await tree.stage.database.read(partial(rows.read_state, tree.org))
        new = await tree.stage.new_project()
        await publisher.publish_dashboard(tree.org, new, has_files({"__dashboard.html": b"new"}))

        (removed,) = gone.removed
        await publisher.publish(removed)

        assert not (tree.root / "guide/index.html").exists()
        assert (tree.root / "guide/v/index.html").read_bytes() == b"new"


async def test_an_edition_that_comes_while_the_reconciler_works_stays(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        await publisher.publish(await tree.move(site(1), "1.0"))

        await publisher.reconcile(tree.org, shows())  # what the database said before

        assert read_site(tree.root, "guide/v/1.0") == site(1)


async def test_a_site_that_was_removed_by_mistake_is_published_again(file: str, tmp_path: Path) -> None:
    """By the same move: it was taken for done, and the site stayed away until the next build."""
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        publication = await tree.move(site(1), "1.0")
        await publisher.publish(publication)
        await publisher.publish(msgspec.structs.replace(publication, build=None))
        assert "index.html" not in read_site(tree.root, "guide/v/1.0")

        await publisher.reconcile(tree.org, shows(publication))

        assert read_site(tree.root, "guide/v/1.0") == site(1)


async def test_what_is_published_while_the_reconciler_works_is_not_undone(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new edition was removed, and never came back."""
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        build = await tree.stage.build(tree.project, site(1))
        reconcile = tree.stage.app.reconcile
        publish_all = reconcile._publish_all

        async def publish_all_and_more(*arguments: Any) -> Any:
            await publisher.publish(await tree.stage.move(tree.project, "1.0", build, published=True))
            return await publish_all(*arguments)

        with monkeypatch.context() as patched:
            patched.setattr(reconcile, "_publish_all", publish_all_and_more)
            await tree.stage.run_job("docs.reconcile")
        assert read_site(tree.root, "guide/v/1.0") == site(1)

        assert (await tree.stage.run_job("docs.reconcile")).result["repaired"] == 0
        assert read_site(tree.root, "guide/v/1.0") == site(1)


async def is_wanted(tree: Tree, seq: int) -> bool:
    rows = await tree.stage.rows("SELECT wanted_seq FROM docs_publish_lease")
    return bool(rows) and rows[0][0] == seq


@pytest.mark.parametrize("damage", ["lost", "garbled"])
async def test_without_its_record_a_site_is_written_again_and_strangers_are_removed(
    file: str, tmp_path: Path, damage: str
) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        await publisher.publish(await tree.move(site(1)))
        await publisher.publish(await tree.move(site(1), "1.0"))
        record = tree.root / "__published" / "acme" / "guide" / "__main.json"
        record.unlink() if damage == "lost" else record.write_text("{")
        (tree.root / "guide" / "stranger.html").write_text("x")
        (tree.root / "guide" / "index.html").write_text("changed")

        second = await tree.move(site(2))
        await publisher.publish(second)
        tree.clock.advance(seconds=site_copy.ASSET_GRACE)
        await publisher.reconcile(tree.org, shows(second))

        assert read_site(tree.root, "guide") == site(2)


async def test_files_become_folders_and_folders_files(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        one = {"api": b"a file", "docs/page.html": b"a page", "index.html": b"home"}
        other = {"api/index.html": b"a page", "docs": b"a file", "index.html": b"home"}
        for files in (one, other, one):
            await publisher.publish(await tree.move(files))
            assert {path: data for path, data in read_site(tree.root, "guide").items() if path in files} == files


async def test_what_a_site_has_below_v_is_not_published_as_an_edition(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        publisher = tree.publisher(FolderPlace(tree.root))
        await publisher.publish(await tree.move({"index.html": b"real"}, "1.0"))
        await publisher.publish(await tree.move({"index.html": b"home", "v/1.0/index.html": b"false", "_docverse.json": b"{}"}))

        assert (tree.root / "guide/v/1.0/index.html").read_bytes() == b"real"
        assert not (tree.root / "guide/_docverse.json").exists()


async def test_dashboards_lie_beside_the_editions(file: str, tmp_path: Path) -> None:
    async with tree_of(file, tmp_path / "sites") as tree:
        watched = folder_of(tree.root)
        publisher = tree.publisher(watched)
        await publisher.publish(await tree.move({"index.html": b"home"}))
        gone = await tree.move({"index.html": b"one"}, "1.0")
        await publisher.publish(gone)
        files = {
            "__dashboard.html": b"dashboard",
            "__404.html": b"404",
            "__switcher.json": b"[]",
            "__editions/__main.json": b"{}",
            "__editions/1.0.json": b'{"slug": "1.0"}',
        }
        await publisher.publish_dashboard(tree.org, tree.project, has_files(files))
        read = {path: (tree.root / "guide" / path).read_bytes() for path in ("v/index.html", "__404.html", "v/switcher.json")}
        assert read == {"v/index.html": b"dashboard", "__404.html": b"404", "v/switcher.json": b"[]"}
        assert (tree.root / "guide/_docverse.json").read_bytes() == b"{}"
        assert (tree.root / "guide/v/1.0/_docverse.json").exists()

        before = watched.changes
        await publisher.publish_dashboard(tree.org, tree.project, has_files(files))
        assert watched.changes == before

        await publisher.publish(await tree.stage.delete_edition(tree.project, "1.0"))
        assert not (tree.root / "guide/v/1.0").exists()
        assert (tree.root / "guide/v/index.html").exists()


async def test_the_reconciler_repairs_a_tree(database: str, tmp_path: Path) -> None:
    async with tree_of(database, tmp_path / "sites") as tree:
        for slug in (MAIN, "1.0", "2.0"):
            await tree.move(site(1), slug)
        ended = await tree.stage.run_job("docs.reconcile")
        assert (ended.status, ended.result["published"]) == (Status.COMPLETED, 3)
        assert read_site(tree.root, "guide/v/2.0") == site(1)

        await tree.stage.delete_edition(tree.project, "2.0")
        (tree.root / "__published/acme/guide/1.0.json").unlink()
        await tree.stage.run_job("docs.reconcile")
        assert read_site(tree.root, "guide/v/1.0") == site(1)
        assert not [path for path in read_site(tree.root, "guide/v/2.0") if path.endswith(".html")]
        again = await tree.stage.run_job("docs.reconcile")
        assert (again.result["published"], again.result["unpublished"], again.result["repaired"]) == (0, 0, 0)


async def test_a_bucket_follows_its_editions(file: str, tmp_path: Path, s3_server: S3Server) -> None:
    """A real server that speaks S3: copies, moves, types of media, files that are streamed."""
    prefix = f"sites-{uuid4().hex}"
    host = s3_server.endpoint.removeprefix("http://")
    async with pubs_stage(file, settings=DocsSettings(publish_allow=(host,))) as stage:
        org = await stage.new_org()
        keys = {"access_key_id": s3_server.access_key, "secret_access_key": s3_server.secret_key}
        await stage.app.credentials.create("acme", CredentialDraft(label="k", provider="s3", credentials=keys), actor="anna")
        config = {"endpoint": s3_server.endpoint, "bucket": s3_server.bucket, "prefix": prefix}
        draft = ServiceDraft(label="sites", provider="minio", config=config, credential_label="k")
        await stage.app.services.create("acme", draft, actor="anna")
        org = await stage.save_org(org, slots={"publishing_store": "sites"}, purgatory_retention=0)
        project = await stage.new_project()
        (publisher,) = await stage.app.publishers.of(org)
        large = bytes(range(256)) * 20_000

        async def publish(files: dict[str, bytes], slug: str = MAIN) -> Publication:
            publication = await stage.move(project, slug, await stage.build(project, files))
            await publisher.publish(publication)
            return publication

        await publish({**site(1), "large.bin": large})
        await publish(site(1), "1.0")
        second = await publish({**site(2), "large.bin": large})
        store = S3Store(
            s3_server.bucket, endpoint=s3_server.endpoint, access_key_id=s3_server.access_key, region="us-east-1",
            secret_access_key=s3_server.secret_key, virtual_hosted_style_request=False, client_options={"allow_http": True},
        )  # fmt: skip

        async def there(folder: str = "guide") -> dict[str, bytes]:
            found = [one["path"] async for page in obstore.list(store, f"{prefix}/{folder}") for one in page]
            read = {path: bytes(await (await obstore.get_async(store, path)).bytes_async()) for path in found}
            return {path.removeprefix(f"{prefix}/{folder}/"): data for path, data in read.items()}

        shown = await there()
        assert {path: shown[path] for path in site(2)} == site(2)
        assert shown["large.bin"] == large
        assert {path: shown[f"v/1.0/{path}"] for path in site(1)} == site(1)
        page = await obstore.get_async(store, f"{prefix}/guide/index.html")
        assert (page.attributes["Content-Type"], page.attributes["Cache-Control"]) == ("text/html; charset=utf-8", "max-age=60")
        gone = await stage.delete_edition(project, "1.0")
        await publisher.publish(gone)
        assert not [path for path in await there() if path.startswith("v/1.0/") and path.endswith(".html")]
        assert await there("__purgatory") != {}
        purged = await publisher.delete_expired(org, int(time.time() * 1000) + 60_000)
        assert purged.objects > 0
        assert await there("__purgatory") == {}
        assert await publisher.reconcile(org, shows(second)) == []
        assert msgspec.json.decode((await there("__published"))["acme/guide/__main.json"])["complete"]


async def test_a_bucket_with_wrong_keys_is_a_failure_without_them(file: str, s3_server: S3Server) -> None:
    host = s3_server.endpoint.removeprefix("http://")
    async with pubs_stage(file, settings=DocsSettings(publish_allow=(host,))) as stage:
        org = await stage.new_org()
        keys = {"access_key_id": s3_server.access_key, "secret_access_key": "canary-of-a-secret"}
        await stage.app.credentials.create("acme", CredentialDraft(label="k", provider="s3", credentials=keys), actor="anna")
        config = {"endpoint": s3_server.endpoint, "bucket": s3_server.bucket}
        draft = ServiceDraft(label="sites", provider="minio", config=config, credential_label="k")
        await stage.app.services.create("acme", draft, actor="anna")
        await stage.save_org(org, slots={"publishing_store": "sites"})
        project = await stage.new_project()
        await stage.move(project, "1", await stage.build(project, {"index.html": b"one"}))

        job = await stage.press.submit("docs.reconcile", {}, max_attempts=1)
        ended = await stage.press.wait_until_ended(job, timeout=60)

        assert ended.status is Status.FAILED
        edition = await stage.edition(project, "1")
        assert "s3" in str(edition.publish_error) or "bucket" in str(edition.publish_error)
        assert "canary" not in f"{edition.publish_error} {ended.errors}"

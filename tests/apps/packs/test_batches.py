"""Many packs from one upload: what becomes of each line, whatever interrupts it, and all files as one archive."""

import asyncio
import io
import json
import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.apps.packs.batches import batches, store
from pressroom.apps.packs.batches.lines import check_header, count_lines, read_lines
from pressroom.apps.packs.composition import Compositions
from pressroom.apps.packs.settings import PacksSettings
from pressroom.apps.packs.zip_archive import ZipFile, archive_size, write_archive
from pressroom.errors import EngineCrashed, InvalidArgument, QueueClosed
from pressroom.testing import ManualClock
from tests import looking
from tests.apps.packs.conftest import Stage, Staging

NDJSON = {"Content-Type": "application/x-ndjson"}
CSV = {"Content-Type": "text/csv; charset=utf-8"}
ONE_DOCUMENT = json.dumps([{"doc_id": "letter", "title": "Letter", "template": "checklist"}])


def upload(*lines: Any) -> bytes:
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines).encode()


async def ended(stage: Stage, batch: str, client: httpx.AsyncClient | None = None) -> dict[str, Any]:
    """The batch with its results, once all of its documents were made."""
    http = client or stage.http
    shown = (await http.get(f"/packs/batches/{batch}?limit=200")).json()
    await stage.press.wait_until_ended(shown["job_id"], timeout=120)
    while (shown := (await http.get(f"/packs/batches/{batch}?limit=200")).json())["status"] == "rendering":
        for job in (await stage.press.list(kind="packs.render", status=["queued", "in_progress"])).jobs:
            await stage.press.wait_until_ended(job, timeout=120)
    return dict(shown)


async def test_each_line_becomes_a_pack_or_says_why_not(staged: Staging, database: str) -> None:
    async with staged() as stage:
        await stage.configure("red", template__offer="<p>{{ person.name }}</p>", template__letterhead=None)
        red = stage.client("red")
        lines = [
            {"title": "Anna", "user": "u-1", "lang": "de", "session_id": "s-1", "data": {"person": {"name": "Anna"}}},
            "",
            "{",
            {"data": []},
            {"title": "without a name", "data": {}},
        ]

        sent = await red.post("/packs/batches", content=upload(*lines), headers=NDJSON | {"Pressroom-User": "u-9"})
        shown = await ended(stage, sent.json()["batch_id"], red)

        assert (sent.status_code, sent.headers["location"].endswith(shown["batch_id"])) == (202, True)
        assert {name: shown[name] for name in ("status", "lines", "ready", "failed", "waiting", "rendering")} == {
            "status": "ended", "lines": 4, "ready": 1, "failed": 3, "waiting": 0, "rendering": 0,
        }  # fmt: skip
        told = [
            (one["line"], one["status"], [(error["doc_id"], error["code"]) for error in one["errors"]])
            for one in shown["results"]
        ]
        assert told == [
            (1, "ready", []),
            (3, "failed", [(None, "invalid_line")]),
            (4, "failed", [(None, "invalid_line")]),
            (5, "failed", [("offer", "NEEDS_INPUT")]),
        ]
        assert "person.name" in shown["results"][3]["errors"][0]["message"]
        pack = (await red.get(f"/packs/{shown['results'][0]['pack_id']}")).json()
        assert (pack["title"], pack["user"], pack["lang"], pack["session_id"]) == ("Anna", "u-1", "de", "s-1")
        assert (await red.get(f"/packs/{shown['results'][3]['pack_id']}")).json()["user"] == "u-9"
        parents = looking.rows(database, "SELECT DISTINCT parent, tier FROM job WHERE kind = 'packs.render'")
        job = await stage.app.queue.get(shown["job_id"])
        assert [row[0] for row in parents] == [job.uid]
        assert job.progress is not None


async def test_a_table_names_paths_of_the_data_in_its_columns(staged: Staging) -> None:
    async with staged(workers=1) as stage:
        await stage.configure(documents_registry=ONE_DOCUMENT)
        table = '\ufefftitle,person.name,person.city\r\nAnna,"Anna\r\nExample",Köln\r\nBen\r\n\r\nCy,"Cy ""C""",\r\n'

        sent = (await stage.http.post("/packs/batches", content=table.encode(), headers=CSV)).json()
        shown = await ended(stage, sent["batch_id"])

        assert [(one["line"], one["title"], one["status"]) for one in shown["results"]] == [
            (2, "Anna", "ready"),
            (4, None, "failed"),
            (6, "Cy", "ready"),
        ]
        assert "1 cells" in shown["results"][1]["errors"][0]["message"]
        data = (await stage.http.get(f"/packs/{shown['results'][0]['pack_id']}")).json()["data"]
        assert data == {"person": {"name": "Anna\r\nExample", "city": "Köln"}}


async def test_only_failed_lines_are_retried(staged: Staging) -> None:
    async with staged() as stage:
        broken = "{{ (tasks | default([1]))[0].name.x if bad is defined else 'fine' }}"
        await stage.configure(documents_registry=ONE_DOCUMENT, template__checklist=broken)
        sent = (
            await stage.http.post(
                "/packs/batches", content=upload({"data": {}}, {"data": {"bad": 1}}, "no JSON"), headers=NDJSON
            )
        ).json()
        first = await ended(stage, sent["batch_id"])
        await stage.app.configuration.put(None, "template:checklist", "<p>mended</p>", author="test")

        retried = await stage.http.post(f"/packs/batches/{sent['batch_id']}/retry")
        second = await ended(stage, sent["batch_id"])

        assert [one["status"] for one in first["results"]] == ["ready", "failed", "failed"]
        assert first["results"][1]["errors"][0]["code"] == "source_invalid"
        assert retried.status_code == 202
        assert [one["status"] for one in second["results"]] == ["ready", "ready", "failed"]
        versions = [
            (await stage.http.get(f"/packs/{one['pack_id']}/documents/letter")).json()["versions"]
            for one in second["results"][:2]
        ]
        assert [len(one) for one in versions] == [1, 2]


async def test_the_same_upload_is_not_taken_in_twice_at_once(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        await stage.configure()
        sends = [await stage.http.post("/packs/batches", content=upload({"data": {}}), headers=NDJSON) for _ in range(2)]

        retried = await stage.http.post(f"/packs/batches/{sends[0].json()['batch_id']}/retry")

        assert [one.status_code for one in sends] == [202, 200]
        assert sends[0].json()["batch_id"] == sends[1].json()["batch_id"]
        assert (retried.status_code, retried.json()["code"]) == (409, "ALREADY_IN_PROGRESS")


async def test_the_same_upload_for_another_user_or_as_another_format_is_another_batch(staged: Staging) -> None:
    """The second user was answered with the packs of the first."""
    async with staged(workers=None) as stage:
        content = b'{"data": {}}\n'
        headers = [NDJSON | {"Pressroom-User": "u-1"}, NDJSON | {"Pressroom-User": "u-2"}, NDJSON, CSV]
        sends = [await stage.http.post("/packs/batches", content=content, headers=one) for one in (*headers, headers[0])]

        ids = [one.json()["batch_id"] for one in sends]
        assert [one.status_code for one in sends] == [202, 202, 202, 202, 200]
        assert (len(set(ids)), ids[0]) == (4, ids[4])


async def test_a_line_waits_until_its_template_can_be_looked_at(staged: Staging, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of the engine that was gone made the document one that cannot be made."""
    analyse, calls = Compositions.analyse_texts, 0

    async def without_engine(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls < 3:
            raise EngineCrashed("the process is gone") if calls == 1 else QueueClosed("closing")
        return await analyse(*arguments)

    monkeypatch.setattr("pressroom.definitions.Backoff.delay", lambda *_: 0.0)
    async with staged() as stage:
        await stage.configure(documents_registry=ONE_DOCUMENT)
        stage.app.packs.compositions._analyses.clear()
        monkeypatch.setattr(Compositions, "analyse_texts", without_engine)
        sent = (await stage.http.post("/packs/batches", content=upload({"data": {}}), headers=NDJSON)).json()
        shown = await ended(stage, sent["batch_id"])

        assert (shown["status"], shown["ready"], shown["results"][0]["errors"]) == ("ended", 1, [])
        assert calls == 3


@pytest.mark.parametrize("unit", ["insert_lines", "set_requested", "set_read"])
async def test_a_batch_that_was_interrupted_goes_on_where_it_was(
    file: str, staged: Staging, database: str, monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    """No line makes two packs, and none of its documents two jobs."""
    whole: Callable[..., Any] = getattr(store, unit)
    calls = 0

    def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (1, 3):  # before its rows are written
            raise RuntimeError("interrupted")
        return (yield from whole(*arguments))

    monkeypatch.setattr(batches, "LINES_AT_ONCE", 2)
    monkeypatch.setattr(batches.store, unit, interrupted)
    monkeypatch.setattr("pressroom.definitions.Backoff.delay", lambda *_: 0.0)
    async with staged() as stage:
        await stage.configure(documents_registry=ONE_DOCUMENT)
        lines = [{"title": f"pack {number}", "data": {}} for number in range(5)]

        sent = (await stage.http.post("/packs/batches", content=upload(*lines), headers=NDJSON)).json()
        shown = await ended(stage, sent["batch_id"])

        assert (shown["status"], shown["ready"]) == ("ended", 5)
        assert [one["title"] for one in shown["results"]] == [line["title"] for line in lines]
        assert looking.rows(database, "SELECT count(*) FROM packs_pack")[0][0] == 5
        assert looking.rows(database, "SELECT count(*) FROM packs_render")[0][0] == 5
        assert (await stage.app.queue.get(sent["job_id"])).failures >= 1


async def test_uploads_that_cannot_be_batches(staged: Staging) -> None:
    async with staged(workers=None, settings=PacksSettings(max_batch=1_000)) as stage:
        for content, headers, status, code in (
            (b"", NDJSON, 422, "invalid_argument"),
            (b" \n\n", NDJSON, 422, "invalid_argument"),
            (b"a,a\n", CSV, 422, "invalid_argument"),
            (b"data,name\n", CSV, 422, "invalid_argument"),
            (b"{}", {"Content-Type": "application/json"}, 415, "unsupported_batch_type"),
            (b"x" * 1_001, NDJSON, 413, "body_too_large"),
        ):
            answer = await stage.http.post("/packs/batches", content=content, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (status, code), content[:20]
        assert (await stage.http.get("/packs/batches")).json()["items"] == []


async def test_another_organisations_batch_does_not_exist(staged: Staging) -> None:
    async with staged(workers=None) as stage:
        red, blue = stage.client("red"), stage.client("blue")
        batch = (await red.post("/packs/batches", content=upload({"data": {}}), headers=NDJSON)).json()["batch_id"]
        unknown = "0199e3c2-5b7e-7c11-9d2a-4f6b8a0c1d2e"

        for method, path in (("GET", "{}"), ("GET", "{}.zip"), ("POST", "{}/retry")):
            answers = [await blue.request(method, f"/packs/batches/{path.format(id)}") for id in (batch, unknown, "no-id")]
            assert [answer.status_code for answer in answers] == [404] * 3
            assert len({answer.json()["detail"] for answer in answers}) == 1
        assert (await blue.get("/packs/batches")).json()["items"] == []
        assert [one["batch_id"] for one in (await red.get("/packs/batches")).json()["items"]] == [batch]


async def test_old_batches_are_purged_and_their_packs_stay(staged: Staging, database: str) -> None:
    clock = ManualClock()
    async with staged(clock=clock) as stage:
        await stage.configure(documents_registry=ONE_DOCUMENT)
        batch = (await stage.http.post("/packs/batches", content=upload({"data": {}}), headers=NDJSON)).json()["batch_id"]
        pack = (await ended(stage, batch))["results"][0]["pack_id"]
        clock.advance(days=91)

        await stage.press.wait(await stage.app.queue.submit("packs.purge"), timeout=60)

        assert (await stage.http.get(f"/packs/batches/{batch}")).status_code == 404
        assert (await stage.http.get(f"/packs/{pack}")).status_code == 200
        assert looking.rows(database, "SELECT count(*) FROM artifact_hold WHERE holder LIKE 'packs:batch:%'")[0][0] == 0


async def test_the_files_of_a_pack_and_of_a_batch_are_one_archive(staged: Staging) -> None:
    async with staged() as stage:
        await stage.configure()
        lines = [{"title": "Anna/../Ö", "data": {"person": {"name": "Anna"}, "start": "2027-01-01"}}, {"title": "", "data": {}}]
        batch = (await stage.http.post("/packs/batches", content=upload(*lines), headers=NDJSON)).json()["batch_id"]
        pack = (await ended(stage, batch))["results"][0]["pack_id"]

        of_batch = await stage.http.get(f"/packs/batches/{batch}.zip")
        of_pack = await stage.http.get(f"/packs/{pack}.zip")
        link = (await stage.http.post(f"/packs/{pack}/link")).json()["link"]
        by_link = await stage.client(None).get(f"/packs/{pack}.zip?link={link}")
        again = await stage.http.get(f"/packs/{pack}.zip", headers={"If-None-Match": of_pack.headers["etag"]})

        with zipfile.ZipFile(io.BytesIO(of_batch.content)) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == ["1 Anna .. Ö/checklist.pdf", "1 Anna .. Ö/offer.pdf", "2/checklist.pdf"]
            assert archive.read("2/checklist.pdf").startswith(b"%PDF")
        with zipfile.ZipFile(io.BytesIO(of_pack.content)) as archive:
            assert archive.namelist() == ["offer.pdf", "checklist.pdf"]
        assert int(of_pack.headers["content-length"]) == len(of_pack.content)
        assert 'filename="Anna-..-_.zip"' in of_pack.headers["content-disposition"]
        assert by_link.content == of_pack.content
        assert (again.status_code, again.content) == (304, b"")
        assert (await stage.http.get("/packs/no-id.zip")).status_code == 404


async def write(files: list[tuple[str, bytes]]) -> bytes:
    bytes_of = dict(files)

    async def read(key: str) -> Any:
        await asyncio.sleep(0)

        async def chunks() -> Any:
            for start in range(0, len(bytes_of[key]), 1 << 18):
                yield bytes_of[key][start : start + (1 << 18)]

        return chunks()

    stored = [ZipFile(name, name, len(data)) for name, data in files]
    archive = b"".join([chunk async for chunk in write_archive(stored, read)])
    assert len(archive) == await asyncio.to_thread(archive_size, stored)
    return archive


@pytest.mark.parametrize("count", [0, 3, 70_000])
async def test_an_archive_is_read_by_others_and_always_the_same(count: int) -> None:
    """Also with more entries than the first version of the format could count."""
    files = [(f"ordner {number % 7}/größe {number}.pdf", b"x" * (number % 5)) for number in range(count)]

    archive = await write(files)

    def check() -> None:
        with zipfile.ZipFile(io.BytesIO(archive)) as read:
            assert read.namelist() == [name for name, _ in files]
            assert all(read.read(name) == data for name, data in files[:100])

    await asyncio.to_thread(check)
    assert archive == await write(files)


async def test_a_long_file_is_not_held_in_memory() -> None:
    files = [("long.pdf", bytes(3 * 1024 * 1024 + 1)), ("short.pdf", b"%PDF-")]

    archive = await write(files)

    with zipfile.ZipFile(io.BytesIO(archive)) as read:
        assert read.testzip() is None
        assert [entry.file_size for entry in read.infolist()] == [len(data) for _, data in files]


def test_lines_that_are_too_long_or_no_text_are_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b'{"data": {}}\n' + b"x" * 500 + b"\n" + b'{"data": {"a": "\xff"}}\n{"data": {"b": 1}}')

    lines = list(read_lines(path, "ndjson", 100))

    assert [(line.number, line.draft is not None) for line in lines] == [(1, True), (2, False), (3, False), (4, True)]
    assert count_lines(path, "ndjson", 100) == 4
    path.write_bytes(b"name\nAnna\n\xff\n")
    assert [line.problem for line in read_lines(path, "csv", 100)] == ["", "the row is not UTF-8"]


def rows_of(path: Path, limit: int = 600_000) -> list[tuple[int, Any, str]]:
    return [(line.number, line.draft and line.draft.data, line.problem) for line in read_lines(path, "csv", limit)]


def test_a_number_that_python_does_not_read_costs_its_row_and_not_the_batch(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f'data\n"{{""a"": {"1" * 5_000}}}"\n"{{""a"": 1}}"\n')

    first, second = rows_of(path)

    assert first[:2] == (2, None)
    assert "not JSON" in first[2]
    assert second == (3, {"a": 1}, "")


def test_a_cell_may_be_as_long_as_the_data_of_a_pack(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f'data\n"{{""a"": ""{"y" * 200_000}""}}"\n')

    assert rows_of(path) == [(2, {"a": "y" * 200_000}, "")]


@pytest.mark.parametrize(
    ("row", "problem", "number"),
    [
        ("z" * 300, "it has more than 200 bytes", 3),
        (f'"{"z" * 300}\nAnna\nBen"', "lines 2 to 4 are left out", 5),
        (f'"{(("z" * 30) + chr(10)) * 9}"', "lines 2 to 11 are left out", 12),
    ],
)
def test_a_row_that_is_too_long_makes_no_packs_of_its_pieces(tmp_path: Path, row: str, problem: str, number: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"name\n{row}\nCarl\n")

    first, second = rows_of(path, 200)

    assert first[:2] == (2, None)
    assert problem in first[2]
    assert second == (number, {"name": "Carl"}, "")


def test_a_table_from_a_spreadsheet(tmp_path: Path) -> None:
    """With a mark in front, CRLF, cells of several lines, and quotes inside of cells."""
    path = tmp_path / "rows.csv"
    path.write_bytes('\ufeffname,size\r\n"a ""b""\r\nc",5" pipe\r\nd,\r\n'.encode())

    assert rows_of(path) == [(2, {"name": 'a "b"\r\nc', "size": '5" pipe'}, ""), (4, {"name": "d", "size": ""}, "")]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("", "empty"),
        (",".join(f"{number:x}" for number in range(14_000)), "at most 1,000 columns"),
        ("x" * 501, "at most 500 characters"),
        ("a\rb", "new-line character"),
        ("a.b.c,a", "cannot both"),
        ("a,a", "twice"),
        ("data,a", "beside"),
        ("a,a.b", "cannot both"),
        ("a..b", "not the name"),
        (" , ", "names its"),
    ],
)
def test_headers_that_name_no_columns(header: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        check_header("csv", f"{header}\n".encode())


@pytest.mark.deep
async def test_ten_thousand_lines_do_not_grow_memory(staged: Staging) -> None:
    """A queue without workers for the documents: what counts is the batch itself."""
    async with staged(workers=1, max_queued=100_000) as stage:
        await stage.configure(documents_registry=ONE_DOCUMENT)
        await stage.app.queue.pause("packs.render")

        async def send(count: int) -> int:
            """How many kilobytes this process had at most."""
            lines = (f'{{"title": "{number}", "data": {{"x": "{"y" * 1_000}"}}}}\n'.encode() for number in range(count))

            async def chunks() -> Any:
                for line in lines:
                    yield line

            sent = (await stage.http.post("/packs/batches", content=chunks(), headers=NDJSON)).json()
            await stage.press.wait_until_ended(sent["job_id"], timeout=3_000)
            shown = (await stage.http.get(f"/packs/batches/{sent['batch_id']}?limit=1")).json()
            assert (shown["lines"], shown["rendering"]) == (count, count)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = await send(500)
        after = await send(10_000)

        assert after - before < 64 * 1024

"""An app is one folder and one line: the toy app is added by its name, and nothing in `src/` knows it."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom import Pressroom, backends
from pressroom import app as apps
from pressroom.app import BUILT_IN, App, database_schema, find_apps
from pressroom.config import Settings, load_settings
from pressroom.definitions import kind
from pressroom.errors import DatabaseTooNew, InvalidArgument, InvalidSettings, NotFound
from pressroom.model import Statement, Work
from pressroom.parts.app_listeners import AppListeners
from pressroom.serving import make_service
from pressroom.store.engine import migrations
from pressroom.testing import ManualClock
from tests import looking
from tests.toy.app import APP, Toy, ToySettings

ROOT = Path(__file__).parents[2]
NAMED = "tests.toy.app:APP"
EVERYTHING = (*BUILT_IN, NAMED)


@asynccontextmanager
async def served(database: str, **options: Any) -> AsyncIterator[tuple[Pressroom, httpx.AsyncClient]]:
    async with Pressroom(database, apps=EVERYTHING, **options) as press:
        _, application = make_service(press)
        transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000", follow_redirects=True) as client:
            yield press, client


async def test_its_kind_runs_and_its_hook_writes_its_table(database: str) -> None:
    async with Pressroom(database, apps=[APP], workers=1) as press:
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)

        assert [stamp.text for stamp in await press.app("toy").stamps(None)] == ["paid in blue"]


async def test_its_page_is_in_the_navigation_with_its_own_template_and_style(database: str) -> None:
    async with served(database, workers=1) as (press, client):
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)

        page = (await client.get("/toy")).text
        style = page.partition('href="/desk/static/')[2]
        others = (await client.get("/desk")).text

    assert "paid in blue" in page
    assert '<a href="/toy" aria-current="true">Stamps</a>' in page
    assert '<a href="/toy" aria-current="page">All stamps</a>' in page
    assert "/toy/toy.css" in page
    assert style
    assert '<a href="/toy">Stamps</a>' in others
    assert "All stamps" not in others


async def test_its_route_answers_and_is_in_the_document(database: str) -> None:
    async with served(database, workers=1) as (press, client):
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)

        answer = await client.get("/toy/stamps")
        document = (await client.get("/openapi.json")).json()

    assert answer.json() == [["paid", "paid in blue"]]
    assert document["paths"]["/toy/stamps"]["get"]["tags"] == ["stamps"]


def test_the_documentation_shows_it_as_it_is() -> None:
    """It showed a function that did not exist any more."""
    lines = {
        line.strip() for name in ("app.py", "test_toy.py") for line in (ROOT / "tests/toy" / name).read_text().splitlines()
    }
    page = (ROOT / "docs/writing-an-app.md").read_text()
    blocks = [
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if re.match(r"APP =|@dataclass|(async )?def ", block)
    ]

    assert len(blocks) >= 5
    for line in "\n".join(blocks).splitlines():
        assert not line or line.strip() in lines, f"docs/writing-an-app.md shows a line that tests/toy does not have: {line}"


async def test_its_style_is_served_under_its_name(file: str) -> None:
    async with served(file, workers=None) as (_, client):
        page = (await client.get("/toy")).text
        address = "/desk/static/" + page.partition("/toy/toy.css")[0].rpartition("/desk/static/")[2] + "/toy/toy.css"
        style = await client.get(address)

    assert ".stamps" in style.text
    assert "immutable" in style.headers["cache-control"]


async def test_the_search_box_finds_what_is_its_own(database: str) -> None:
    async with served(database, workers=1) as (press, client):
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)

        found = await client.get("/desk/find?q=paid", follow_redirects=False)

    assert found.headers["location"] == "/toy#paid"


async def test_its_schedule_is_saved_when_workers_start(file: str) -> None:
    async with Pressroom(file, apps=[APP], workers=1) as press:
        assert [schedule.name for schedule, _ in await press.schedules()] == ["toy: stamp of the day"]


async def test_the_stamp_of_the_day_is_made_in_the_morning(database: str) -> None:
    clock = ManualClock()  # it stands at 08:00
    async with Pressroom(database, apps=[APP], workers=1, clock=clock) as press:
        clock.advance(hours=22)
        await press.maintenance.fire_schedules()
        (job,) = (await press.list(kind="toy.stamp")).jobs
        assert await press.wait(job, timeout=60) == {"name": "today", "text": "today in blue"}


async def test_it_is_told_when_its_process_leads_and_when_it_stops(file: str, eventually: Any) -> None:
    async with Pressroom(file, apps=[APP], workers=1) as press:
        toy: Toy = press.app("toy")
        await eventually(lambda: toy.has_led)
        assert not toy.has_stopped

    assert toy.has_stopped


async def test_its_listener_serves_beside_the_service_until_that_closes(file: str) -> None:
    settings = ToySettings(listen="127.0.0.1:0")
    async with Pressroom(file, apps=[APP], workers=1, sections={"toy": settings}) as press:
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)
        service, _ = make_service(press)
        beside = AppListeners(service, [*press.app("toy").listeners(service)])
        await beside.bind()
        serving = asyncio.create_task(beside.serve())
        async with httpx.AsyncClient(base_url=beside.urls["stamps"], timeout=60) as client:
            shown, other = await client.get("/"), await client.get("/desk")
        service.closing.set()
        await serving
        beside.close()

    assert shown.text == "paid in blue"
    assert other.text == shown.text  # nothing of the service is there


def test_its_settings_come_from_its_section_and_over_it_the_environment(tmp_path: Path) -> None:
    config = tmp_path / "pressroom.toml"
    config.write_text(f'apps = ["{NAMED}"]\n[toy]\nink = "red"\nlongest = 9\n')

    settings = load_settings({}, {"PRESSROOM_TOY_LONGEST": "7"}, config, apps.settings_types)
    toy = Pressroom(settings=settings, workers=None).app("toy")

    assert toy.settings == ToySettings(ink="red", longest=7)


@pytest.mark.parametrize(
    ("text", "environ", "problem"),
    [
        ('[toy]\nikn = "red"', {}, "[toy] ikn: there is no such setting; did you mean ink?"),
        ('[toy]\nlongest = "many"', {}, "[toy] longest: 'many' is not a number"),
        ("[toy]\nlongest = 0", {}, "[toy] longest: 0 is not above 0"),
        ("[shop]\nlongest = 0", {}, "[shop]: there is no such section; the apps have [toy]"),
        ("", {"PRESSROOM_TOY_LONGST": "3"}, "PRESSROOM_TOY_LONGST: there is no such setting; did you mean longest?"),
        ("", {"PRESSROOM_SHOP_SIZE": "3"}, "PRESSROOM_SHOP_SIZE: there is no such setting"),
    ],
)
def test_every_wrong_setting_of_an_app_is_told(text: str, environ: dict[str, str], problem: str, tmp_path: Path) -> None:
    config = tmp_path / "pressroom.toml"
    config.write_text(f'apps = ["{NAMED}"]\n{text}\n')

    with pytest.raises(InvalidSettings) as invalid:
        load_settings({}, environ, config, apps.settings_types)

    assert any(problem in one for one in invalid.value.problems), invalid.value.problems


def pressroom(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PRESSROOM_APPS": ",".join(EVERYTHING), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pressroom", *words]
    return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)


def test_its_commands_are_commands_of_pressroom(tmp_path: Path) -> None:
    made = pressroom(tmp_path, "toy", "make", "paid")
    helped = pressroom(tmp_path, "--help")

    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("job_")
    assert "make and list stamps" in helped.stdout
    assert pressroom(tmp_path, "toy", "list").returncode == 0


def test_its_command_may_run_in_memory(tmp_path: Path) -> None:
    """The app was looked for among the built-in ones."""
    done = pressroom(tmp_path, "toy", "try", "paid")

    assert (done.stdout, done.stderr) == ("paid in blue\n", "")
    assert [*tmp_path.iterdir()] == []


def pressroom_script(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """As the script `pressroom` of an installation, which does not search the current folder by itself."""
    environ = os.environ | {"PRESSROOM_APPS": "app_here:APP", "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-m", "pressroom", "toy", "try", "paid"]
    return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)


def test_an_app_is_found_in_the_current_folder(tmp_path: Path) -> None:
    """As the modules of the setting `imports` are."""
    (tmp_path / "app_here.py").write_text(f"import sys\nsys.path.append({str(ROOT)!r})\nfrom tests.toy.app import APP\n")

    done = pressroom_script(tmp_path)

    assert (done.stdout, done.stderr) == ("paid in blue\n", "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            None,
            "cannot be imported: No module named 'app_here'; start where it is, add its folder to PYTHONPATH, or install it",
        ),
        ("import absent_module", "cannot be imported: No module named 'absent_module'"),
        ("\n1 / 0", "failed while it was imported: ZeroDivisionError: division by zero (app_here.py, line 2)"),
        ("APP = 1", "is not an App"),
        ("", "is not an App"),
    ],
)
def test_what_is_wrong_with_the_module_of_an_app_is_told_in_a_line(tmp_path: Path, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / "app_here.py").write_text(text)

    done = pressroom_script(tmp_path)

    assert (done.returncode, done.stderr) == (2, f"pressroom: apps: 'app_here:APP' {problem}\n")


async def test_a_statement_that_is_not_there_is_told_by_its_name(database: str) -> None:
    """It was taken for SQL: a syntax error."""

    def unit() -> Work[Any]:
        return (yield Statement("list_stamps", {"org_id": ""}))

    async with Pressroom(database, apps=[APP], workers=None) as press:
        with pytest.raises(LookupError, match="there is no statement 'list_stamps'"):
            await press.app("toy")._core.database.read(unit)


def test_an_app_that_cannot_be_imported_is_told_in_a_line(tmp_path: Path) -> None:
    environ = os.environ | {"PRESSROOM_APPS": "nothing.here:APP"}
    done = subprocess.run(
        [sys.executable, "-m", "pressroom", "jobs", "list"], cwd=tmp_path, env=environ, capture_output=True, text=True
    )

    assert done.returncode == 2
    assert done.stderr.startswith("pressroom: apps: 'nothing.here:APP' cannot be imported")
    assert "Traceback" not in done.stderr


async def test_fsck_reads_its_invariants(database: str) -> None:
    settings = Settings(database=database)
    async with Pressroom(database, apps=[APP], workers=1) as press:
        await press.wait(await press.submit("toy.stamp", {"name": "paid"}), timeout=60)
    assert await asyncio.to_thread(backends.find_violations, settings, database_schema([APP])) == []

    looking.change(database, "UPDATE toy_stamp SET text = ''")

    (violation,) = await asyncio.to_thread(backends.find_violations, settings, database_schema([APP]))
    assert (violation.check, violation.detail) == ("toy.empty_stamp", "paid")


async def test_its_migrations_have_numbers_of_their_own(database: str) -> None:
    async with Pressroom(database, apps=[APP], workers=None):
        pass
    assert ("toy", 1) in looking.rows(database, "SELECT app, number FROM pressroom_migration")

    looking.change(database, "UPDATE pressroom_migration SET number = 7 WHERE app = 'toy'")
    with pytest.raises(DatabaseTooNew, match="schema of toy 7; this one knows 1"):
        await Pressroom(database, apps=[APP], workers=None).start()
    async with Pressroom(database, kinds=[shout], workers=None):
        pass  # which does not use the app


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("sqlite/1_stamps.sql", "1_stamps.sql of {} is no migration: those are named like 0001_stamps.sql"),
        ("postgres/0001_stamps.sql", "{} has migrations, and none in migrations/sqlite: each database needs its own"),
    ],
)
def test_a_migration_that_would_not_be_found_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, problem: str
) -> None:
    """The first statement failed instead: there was no such table."""
    package = f"app_of_{Path(file).stem[:4]}"
    (tmp_path / package / "migrations" / file).parent.mkdir(parents=True)
    (tmp_path / package / "migrations" / file).write_text("CREATE TABLE x (y TEXT)")
    (tmp_path / package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(InvalidArgument) as told:
        migrations.migrations("sqlite", database_schema([App("toy", package, Toy)]))
    assert str(told.value) == problem.format(package)


async def test_its_demo_data_can_be_made(file: str) -> None:
    assert APP.demo is not None
    async with Pressroom(file, apps=[APP], workers=1) as press:
        await APP.demo(press.app("toy"))
        for job in (await press.list()).jobs:
            await press.wait(job, timeout=60)

        assert len(await press.app("toy").stamps(None)) == 3


@kind("shout")
async def shout(job: Any, payload: Any) -> Any:
    return str(payload).upper()


async def test_a_program_with_kinds_of_its_own_has_these_and_no_others(file: str) -> None:
    async with Pressroom(file, kinds=[shout], workers=1) as press:
        assert list(press.kinds) == ["shout"]
        assert looking.rows(file, "SELECT name FROM kind") == [("shout",)]
        with pytest.raises(NotFound, match="the app 'wiki' is not in use here"):
            press.app("wiki")


async def test_with_apps_named_it_has_those_of_the_core_too(file: str) -> None:
    async with Pressroom(file, kinds=[shout], apps=[APP], workers=None) as press:
        assert sorted(press.kinds) == ["desk.bulk", "render", "shout", "toy.stamp", "webhook"]


def test_the_set_of_apps_is_a_setting() -> None:
    assert list(Pressroom(settings=Settings(apps=("wiki",)), workers=None).apps) == ["wiki"]
    assert list(Pressroom(workers=None).apps) == list(BUILT_IN)
    assert list(Pressroom(apps=(), workers=None).apps) == []


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["shop"], "there is no app 'shop'; use diagrams, wiki, packs, docs, or MODULE:NAME for your own"),
        (["tests.toy.app:Toy"], "'tests.toy.app:Toy' is not an App"),
        ([APP, App("toy", "tests.toy", Toy)], "two apps are named 'toy'"),
    ],
)
def test_what_is_no_app_is_told(names: list[Any], problem: str) -> None:
    with pytest.raises(InvalidSettings, match=problem):
        find_apps(names)


@pytest.mark.parametrize("name", ["", "core", "My_App", "a-b", "x" * 40])
def test_the_name_of_an_app_is_a_short_word(name: str) -> None:
    with pytest.raises(InvalidArgument):
        App(name, "tests.toy", Toy)


def test_nothing_in_the_source_knows_it() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert "toy" not in path.read_text().lower(), path


def test_all_apps_apply_after_the_core() -> None:
    found = [one.app for one in migrations.migrations("sqlite", database_schema(find_apps(EVERYTHING)))]

    assert list(dict.fromkeys(found)) == ["core", *BUILT_IN, "toy"]

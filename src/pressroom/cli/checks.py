"""`pressroom check`, `fsck` and `migrate`: is all well, and if not, what to do."""

from argparse import Namespace
from typing import TYPE_CHECKING

from pressroom import config
from pressroom.cli import engines, exits
from pressroom.cli.commands import Commands, load_settings, schema_for
from pressroom.cli.output import Output
from pressroom.config import Settings
from pressroom.errors import InvalidArgument, InvalidSettings

if TYPE_CHECKING:
    from pressroom.store.engine.health import HealthFinding

_UP_TO_DATE = "the database is up to date"


def add_commands(commands: Commands) -> None:
    text = "look at settings, database and engines; say what to mend"
    checking = commands.add("check", check, text, reads_settings=False)
    checking.add_argument("--quick", action="store_true", help="do not render a sample with every engine")

    text = "test every invariant of the rows; exit 1 with those that break one"
    checking_rows = commands.add("fsck", fsck, text)
    text = "walk every artifact to its bytes and their hash instead"
    checking_rows.add_argument("--artifacts", action="store_true", help=text)
    text = "first record the artifact store of these settings as this database's"
    checking_rows.add_argument("--adopt-store", action="store_true", help=text)

    migrating = commands.add("migrate", migrate, "bring the database up to date", makes_database=True)
    migrating.add_argument("--dry-run", action="store_true", help="only say what would be applied")


async def check(args: Namespace, output: Output) -> int:
    """Settings, versions, database, artifact store, delivery, imports and engines: every problem, with how to mend it."""
    try:
        settings = load_settings(args)
    except InvalidSettings as invalid:
        return _show_problems(invalid.problems, output)
    findings = await _examine(settings, quick=args.quick)
    trials = [] if args.quick else await engines.try_all_engines()
    well = all(finding.well for finding in findings) and all(one.is_well for one in trials)
    if output.as_json:
        output.data(
            {
                "settings": [
                    dict(zip(("name", "value", "from"), row, strict=True)) for row in config.describe_settings(settings)
                ],
                "findings": [
                    {"what": f.what, "well": f.well, "code": f.code, "detail": f.detail, "mend": f.mend, "warning": f.warning}
                    for f in findings
                ],
                "engines": [one.to_json() for one in trials],
                "well": well,
            }
        )
    else:
        output.table(("SETTING", "VALUE", "FROM"), config.describe_settings(settings))
        output.line()
        for finding in findings:
            verdict = "PROBLEM" if not finding.well else "WARNING" if finding.warning else "ok"
            output.line(f"{verdict:<7} {finding.what:<12} {finding.detail}{': ' if finding.warning else ''}{finding.warning}")
            if not finding.well:
                output.line(f"        to mend it: {finding.mend}")
        engines.show_trials(trials, output)
    return exits.OK if well else exits.FAILED


async def _examine(settings: Settings, *, quick: bool) -> list["HealthFinding"]:
    from pressroom import backends

    findings = backends.examine_database(settings, schema_for(settings))
    findings += await backends.examine_dependencies(settings, write=not quick)
    return findings + _examine_imports(settings)


def _examine_imports(settings: Settings) -> list["HealthFinding"]:
    from pressroom.base.dependencies import MENDS
    from pressroom.cli import import_check
    from pressroom.store.engine.health import HealthFinding

    if not settings.imports:
        return []
    problems = import_check.import_problems(settings.imports)
    mend = MENDS["import_failed"]
    failed = [
        HealthFinding("imports", False, problem.removeprefix("imports: "), mend, code="import_failed") for problem in problems
    ]
    return failed or [HealthFinding("imports", True, ", ".join(settings.imports))]


def _show_problems(problems: list[str], output: Output) -> int:
    if output.as_json:
        output.data({"settings": [], "findings": [], "problems": problems, "well": False})
    for problem in problems if not output.as_json else ():
        output.line(f"PROBLEM setting     {problem}")
    return exits.FAILED


async def fsck(settings: Settings, args: Namespace, output: Output) -> int:
    """Every invariant that can be read off the rows, or, for artifacts, every row down to its bytes."""
    if not args.artifacts:
        if args.adopt_store:
            raise InvalidArgument("--adopt-store goes with --artifacts")
        return _fsck_rows(settings, output)
    return await _fsck_artifacts(settings, output, adopt_store=args.adopt_store)


async def _fsck_artifacts(settings: Settings, output: Output, *, adopt_store: bool) -> int:
    from pressroom.artifact_lifecycle.fsck import fsck as walk_artifacts
    from pressroom.pressroom import Pressroom

    async with Pressroom(settings=settings, workers=None) as press:
        if adopt_store:
            await press.artifact_store.adopt(press.rendering.blobs)
        unsound = await walk_artifacts(press.rendering.blobs, press.rendering.database)
    if adopt_store:
        output.note(f"this database keeps its {settings.artifact_location} from now on")
    if output.as_json:
        output.data([{"what": one.what, "subject": one.subject, "detail": one.detail} for one in unsound])
    elif unsound:
        output.table(("PROBLEM", "WHERE", "DETAIL"), ((one.what, one.subject, one.detail) for one in unsound))
    else:
        output.line("every artifact has its bytes, and they are what they were")
    return exits.FAILED if unsound else exits.OK


def _fsck_rows(settings: Settings, output: Output) -> int:
    from pressroom import backends

    violations = backends.find_violations(settings, schema_for(settings))
    if output.as_json:
        output.data(
            [{"check": v.check, "meaning": v.meaning, "job": v.job and f"job_{v.job}", "detail": v.detail} for v in violations]
        )
    elif violations:
        output.table(("CHECK", "JOB", "DETAIL"), ((v.check, v.job and f"job_{v.job}", v.detail) for v in violations))
        output.line()
        for name, meaning in sorted({v.check: v.meaning for v in violations}.items()):
            output.line(f"{name}: {meaning}")
    else:
        output.line("all invariants hold")
    return exits.FAILED if violations else exits.OK


async def migrate(settings: Settings, args: Namespace, output: Output) -> int:
    from pressroom import backends

    schema = schema_for(settings)
    names = [str(migration) for migration in backends.pending_migrations(settings, schema)]
    if not args.dry_run and (names or settings.delivery == "oban"):
        await backends.migrate(settings, schema)
    verb = "would apply" if args.dry_run else "applied"
    if output.as_json:
        event = f"{verb} {', '.join(names)}" if names else _UP_TO_DATE
        output.data({"migrations": names, "applied": not args.dry_run}, event=event)
    elif not names:
        output.line(_UP_TO_DATE)
    else:
        for name in names:
            output.line(f"{verb} {name}")
    return exits.OK

"""`pressroom check`, `fsck` and `migrate`: is all well, and if not, what to do."""

import asyncio
from argparse import Namespace

from pressroom import config
from pressroom.cli import engines, exits
from pressroom.cli.output import Output
from pressroom.cli.wires import Wires
from pressroom.config import Settings
from pressroom.errors import InvalidArgument, InvalidSettings

_UP_TO_DATE = "the database is up to date"


def check(wires: Wires, args: Namespace, output: Output, flags: dict[str, object]) -> int:
    """Settings, versions, database, artifact store, delivery, imports and engines: every problem, with how to mend it."""
    try:
        settings = wires.load(flags, args.config)
    except InvalidSettings as invalid:
        return _tell_problems(invalid.problems, output)
    findings = list(wires.examine(settings, quick=args.quick))
    tried = [] if args.quick else asyncio.run(engines.try_all())
    well = all(finding.well for finding in findings) and all(one.well for one in tried)
    if output.as_json:
        output.data(
            {
                "settings": [dict(zip(("name", "value", "from"), row, strict=True)) for row in config.describe(settings)],
                "findings": [
                    {"what": f.what, "well": f.well, "code": f.code, "detail": f.detail, "mend": f.mend, "warning": f.warning}
                    for f in findings
                ],
                "engines": [one.told() for one in tried],
                "well": well,
            }
        )
    else:
        output.table(("SETTING", "VALUE", "FROM"), config.describe(settings))
        output.line()
        for finding in findings:
            verdict = "PROBLEM" if not finding.well else "WARNING" if finding.warning else "ok"
            output.line(f"{verdict:<7} {finding.what:<12} {finding.detail}{': ' if finding.warning else ''}{finding.warning}")
            if not finding.well:
                output.line(f"        to mend it: {finding.mend}")
        engines.show_tried(tried, output)
    return exits.OK if well else exits.FAILED


def _tell_problems(problems: list[str], output: Output) -> int:
    if output.as_json:
        output.data({"settings": [], "findings": [], "problems": problems, "well": False})
    for problem in problems if not output.as_json else ():
        output.line(f"PROBLEM setting     {problem}")
    return exits.FAILED


def fsck(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    """Every invariant that can be read off the rows, or, for artifacts, every row down to its bytes."""
    if not args.artifacts:
        if args.adopt_store:
            raise InvalidArgument("--adopt-store goes with --artifacts")
        return _fsck_rows(wires, settings, output)
    return asyncio.run(_fsck_artifacts(wires, settings, output, adopt_store=args.adopt_store))


async def _fsck_artifacts(wires: Wires, settings: Settings, output: Output, *, adopt_store: bool) -> int:
    unsound = list(await wires.audit_artifacts(settings, adopt_store=adopt_store))
    if adopt_store:
        output.note(f"this database keeps its {settings.artifact_location} from now on")
    if output.as_json:
        output.data([{"what": one.what, "subject": one.subject, "detail": one.detail} for one in unsound])
    elif unsound:
        output.table(("PROBLEM", "WHERE", "DETAIL"), ((one.what, one.subject, one.detail) for one in unsound))
    else:
        output.line("every artifact has its bytes, and they are what they were")
    return exits.FAILED if unsound else exits.OK


def _fsck_rows(wires: Wires, settings: Settings, output: Output) -> int:
    violations = list(wires.audit(settings))
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


def migrate(wires: Wires, settings: Settings, args: Namespace, output: Output) -> int:
    names = list(wires.migrations(settings, apply=not args.dry_run))
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

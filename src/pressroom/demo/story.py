"""The day itself: who asks for what, and when."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from pressroom.api.access import Scope
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams
from pressroom.apps.diagrams.named.versions import DiagramText
from pressroom.demo import receivers, sources
from pressroom.demo.crew import Crew
from pressroom.demo.kinds import SCHEDULES
from pressroom.demo.sources import Sheet
from pressroom.demo.timeline import Timeline
from pressroom.model import Answer, Status, Submitted, Tier, from_ms, to_ms
from pressroom.pressroom import Pressroom
from pressroom.store import Database
from pressroom.store.jobs import schedules as schedule_rows
from pressroom.store.operators import audit
from pressroom.store.operators.audit import AuditEntry
from pressroom.worker.maintenance import next_tick

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
ORGANISATIONS = (None, None, "acme", "acme", "northwind", "globex")
TROUBLES = ("fonts", "fonts", "fonts", "crash", "slow", "template", "template", "large", "iban")
WELL_KNOWN = 6  # sources that are asked for again and again


@dataclass
class Day:
    """Everything that happens, as stories on a timeline that ends at `end`.

    Each has dice of its own: what one does never changes what becomes of another.
    """

    press: Pressroom
    timeline: Timeline
    crew: Crew
    seed: int
    end: int
    jobs: int
    admin: str = ""

    def __post_init__(self) -> None:
        self._database: Database = self.press.rendering.database
        self._names = NamedDiagrams(self.press.queue, self._database, self.press.keyring)
        self._good = sources.available(sources.GOOD)
        self._broken = sources.available(sources.BROKEN)
        self._known: dict[str | None, list[Sheet]] = {}
        self._batches = 0

    def begin(self) -> None:
        stories: list[Callable[[], Awaitable[None]]] = [
            *(self._hand_out_tokens, self._hang_up_webhooks, self._keep_the_calendar, self._deliver, self._draw_names),
            *(self._look_after_failures, self._operate, self._push_in_haste, self._leave_work_behind),
        ]
        for story in stories:
            self.timeline.begin(_story(story))
        for number, moment in enumerate(self._moments()):
            self.timeline.begin(self._ask_at(moment, self._dice(number)))

    def _dice(self, name: object) -> Random:
        return Random(f"{self.seed} {name}")

    def _moments(self) -> list[int]:
        """Two in five in the last hour, in waves; the others over the day before."""
        luck = self._dice("moments")
        recent = int(self.jobs * 0.4)
        waves = [luck.triangular(0, HOUR, peak * MINUTE) for peak in (52, 31, 9) for _ in range(recent // 3)]
        earlier = [HOUR + luck.betavariate(1.2, 1.6) * (DAY - 2 * HOUR) for _ in range(self.jobs - len(waves))]
        return sorted(self.end - int(age) for age in waves + earlier)

    async def _ask_at(self, moment: int, luck: Random) -> None:
        await self.timeline.sleep_until(moment)
        await self._ask(moment, luck)
        await self.crew.look()

    async def _ask(self, moment: int, luck: Random) -> None:
        org_id, what = luck.choice(ORGANISATIONS), luck.random()
        if what < 0.72 and self._good:
            await self._ask_for_a_render(luck, org_id, recently=self.end - moment < 50 * MINUTE)
        elif what < 0.88:
            await self._ask_for_a_statement(luck, org_id)
        elif what < 0.93:
            await self._ask_for_a_batch(luck, org_id)
        elif what < 0.97:
            await self._ask_for_a_site(luck, org_id)
        else:
            await self._ask_and_think_better_of_it(luck, org_id)

    async def _ask_for_a_render(self, luck: Random, org_id: str | None, *, recently: bool) -> None:
        sheet = self._sheet(luck, org_id)
        if recently and sheet.language != "html" and sheet.language != "markdown" and luck.random() < 0.5:
            await self.press.rendering.submit(
                self.press.queue, sheet.asked, kind="diagram", org_id=org_id, subject=sheet.subject
            )
            return
        tier = Tier.INTERACTIVE if luck.random() < 0.2 else Tier.BACKGROUND
        await self._submit(sheet, org_id, tier)
        if luck.random() < 0.05:  # two people press the button
            await self._submit(sheet, org_id, Tier.INTERACTIVE)

    async def _submit(self, sheet: Sheet, org_id: str | None, tier: Tier) -> Submitted:
        return await self.press.render(
            sheet.language,
            sheet.source,
            sheet.output,
            options=sheet.options,
            tier=tier,
            org_id=org_id,
            subject=sheet.subject,
            project_id=sheet.subject.partition("/")[0],
        )

    def _sheet(self, luck: Random, org_id: str | None) -> Sheet:
        known = self._known.setdefault(org_id, [])
        if self._broken and luck.random() < 0.09:
            return sources.one_of(self._broken, luck)
        if len(known) == WELL_KNOWN and luck.random() < 0.4:
            return luck.choice(known)
        sheet = sources.one_of(self._good, luck)
        if len(known) < WELL_KNOWN:
            known.append(sheet)
        return sheet

    async def _ask_for_a_statement(self, luck: Random, org_id: str | None, **how: Any) -> None:
        account = f"{luck.randrange(1000, 9999)}-{luck.randrange(10, 99)}"
        payload: dict[str, Any] = {
            "account": account,
            "pages": luck.randrange(2, 40),
            "seconds": how.pop("seconds", None) or luck.uniform(3, 25),
        }
        if luck.random() < 0.22:
            payload |= {"trouble": luck.choice(TROUBLES), "times": luck.choice((1, 1, 2, 9))}
        subject = f"statement {account}"
        await self.press.submit("statement", payload, org_id=org_id, subject=subject, project_id="statements", **how)

    async def _ask_for_a_batch(self, luck: Random, org_id: str | None) -> None:
        self._batches += 1
        size, month = luck.randrange(4, 9), f"2026-{1 + self._batches % 12:02}"
        payload = {"month": month, "accounts": size, "seconds": 2.0}
        batch = await self.press.submit("statement.batch", payload, org_id=org_id, subject=f"statements of {month}")
        for _ in range(size):
            await self._ask_for_a_statement(luck, org_id, parent=batch)

    async def _ask_for_a_site(
        self, luck: Random, org_id: str | None, *, site: str = "", seconds: float = 0, broken: bool | None = None
    ) -> Submitted:
        site = site or luck.choice(("handbook", "api-reference", "runbooks"))
        payload: dict[str, Any] = {
            "site": site,
            "commit": f"{luck.getrandbits(28):07x}",
            "editions": ["main", "stable", "v3", "v2"][: luck.randrange(2, 5)],
            "pages": luck.randrange(40, 160),
            "seconds": seconds or luck.uniform(30, 120),
        }
        if luck.random() < 0.3 if broken is None else broken:
            payload["broken"] = ["v2", "stable"]
        return await self.press.submit(
            "site.build", payload, key=f"site {site}", org_id=org_id, subject=site, project_id=site, build_id=payload["commit"]
        )

    async def _ask_and_think_better_of_it(self, luck: Random, org_id: str | None) -> None:
        job = await self._ask_for_a_site(luck, org_id)
        if job.answer is not Answer.NEW:
            return
        await self.crew.look()
        await self.timeline.sleep(luck.uniform(1, 20))
        await self.press.cancel(job, reason="the commit was withdrawn")

    async def _hand_out_tokens(self) -> None:
        """One of each scope, one that is no longer good, and one that will not be for long."""
        tokens = self.press.tokens
        self.admin = (await tokens.create(Scope.ADMIN, everywhere=True, name="Ada, for everything")).secret
        operator = await tokens.create(Scope.OPERATOR, everywhere=True, name="night shift")
        await tokens.create(Scope.SUBMITTER, org="acme", name="docs pipeline")
        await tokens.create(Scope.VIEWER, org="northwind", name="wall screen")
        await self.timeline.sleep_until(self.end - 7 * HOUR)
        lost = await tokens.create(Scope.SUBMITTER, org="globex", name="laptop that was lost")
        await tokens.create(Scope.OPERATOR, org="acme", name="contractor", ttl_ms=3 * DAY)
        await self.timeline.sleep_until(self.end - 5 * HOUR)
        await tokens.revoke(lost.token.uid)
        await self._note("token.revoke", f"token {lost.token.prefix}", before={"revoked": False}, after={"revoked": True})
        await self.timeline.sleep_until(self.end - 12 * MINUTE)
        await tokens.lookup(self.admin)
        await tokens.lookup(operator.secret)

    async def _hang_up_webhooks(self) -> None:
        for org_id, url, events, kinds in (
            ("acme", receivers.WELL, ["job.completed", "job.failed"], ["site.build", "statement.batch"]),
            ("northwind", receivers.BUSY, ["job.failed", "job.completed_with_errors"], None),
            ("globex", receivers.GONE, ["job.failed"], None),
            (None, receivers.SILENT, ["job.failed", "job.cancelled"], ["site.build", "statement", "render"]),
        ):
            await self.press.webhooks.add(org_id, url, events, kinds)

    async def _keep_the_calendar(self) -> None:
        for schedule in SCHEDULES:
            await self._database.run(partial(schedule_rows.save_schedule, schedule), name="schedule")
        while True:
            now = from_ms(self.timeline.clock.now_ms())
            await self.timeline.sleep_until(to_ms(min(next_tick(schedule.cron, now) for schedule in SCHEDULES)))
            await self.press.maintenance.fire_schedules()
            await self.crew.look()

    async def _deliver(self) -> None:
        while True:
            await self.timeline.sleep(120)
            if await self.press.webhooks.dispatch():
                await self.crew.look()

    async def _draw_names(self) -> None:
        """Named diagrams, each with a history; the newest version of the last one is wrong."""
        luck = self._dice("names")
        await self.timeline.sleep_until(self.end - 20 * HOUR)
        for number, maker in enumerate(sources.PICTURES):
            sheet = maker(Random(number))
            if not any(maker is known for _, known in self._good):
                continue
            texts = [sheet.source, *_later_versions(sheet)]
            if number == 0:
                texts.append(sources.broken_arrow(Random(number)).source)
            for text in texts:
                name = sheet.subject.replace("/", "-")
                await self._names.put(None, name, DiagramText(text, sheet.language, {}), {})
                await self.crew.look()
                await self.timeline.sleep(luck.uniform(600, 5000))

    async def _look_after_failures(self) -> None:
        """Somebody tries some of what failed again, and again."""
        for hours in (9, 4, 2, 0.4, 0.1):
            await self.timeline.sleep_until(self.end - int(hours * HOUR))
            failed = (await self.press.list(status=Status.FAILED, limit=6)).jobs
            again = [job for job in failed if job.kind in ("statement", "render")][:4]
            for job in again:
                submitted = await self.press.retry(job)
                await self._note("job.retry", f"job_{job.uid}", before={"status": "failed"}, after={"job": str(submitted)})
            await self.crew.look()

    async def _operate(self) -> None:
        await self._note("queue.scale", "kind statement", before={"slots": None}, after={"slots": 4})
        await self.press.scale("statement", 4)
        await self.timeline.sleep_until(self.end - 3 * HOUR)
        await self._note("queue.pause", "kind search.index", before={"paused": False}, after={"paused": True})
        await self.press.pause("search.index")
        await self.timeline.sleep_until(self.end - int(2.4 * HOUR))
        await self._note("queue.resume", "kind search.index", before={"paused": True}, after={"paused": False})
        await self.press.resume("search.index")
        await self.crew.look()
        await self.timeline.sleep_until(self.end - 40 * MINUTE)
        await self._note("queue.pause", "kind newsletter", before={"paused": False}, after={"paused": True})
        await self.press.pause("newsletter")

    async def _push_in_haste(self) -> None:
        """Three commits within seconds: the second waits for the first, and the third takes its place."""
        luck = self._dice("haste")
        for hours in (11, 3, 0.6):
            await self.timeline.sleep_until(self.end - int(hours * HOUR))
            for _ in range(3):
                await self._ask_for_a_site(luck, "acme", site="handbook", seconds=45)
                await self.crew.look()
                await self.timeline.sleep(4)

    async def _leave_work_behind(self) -> None:
        """What waits and what runs when the day is over."""
        luck = self._dice("left behind")
        await self.timeline.sleep_until(self.end - 50 * MINUTE)
        await self._ask_for_a_batch(luck, "northwind")
        await self.crew.look()
        await self.timeline.sleep_until(self.end - 30 * MINUTE)
        for issue in range(3):
            await self.press.submit(
                "newsletter", {"issue": f"no. {issue + 41}", "issues": 8, "seconds": 40.0}, subject="newsletter"
            )
        for hours in (1, 6, 11):
            payload = {"month": "2026-11", "accounts": 12, "seconds": 3.0}
            await self.press.submit(
                "statement.batch", payload, delay=hours * 3600, org_id="acme", subject="statements, tonight"
            )
        await self.timeline.sleep_until(self.end - 180_000)
        for tier in Tier.BACKGROUND, Tier.INTERACTIVE:  # when those who wait come, all slots of the kind are taken
            for _ in range(max(12, self.jobs // 15) if tier is Tier.BACKGROUND else 5):
                await self._ask_for_a_statement(luck, luck.choice(ORGANISATIONS), tier=tier, seconds=luck.uniform(200, 300))
            await self.crew.look()
        for org_id, broken in (("acme", False), ("northwind", True), (None, False)):
            await self._ask_for_a_site(luck, org_id, seconds=400, broken=broken)
            await self.crew.look()
            await self.timeline.sleep(12)
        await self._print_until_the_end(luck)

    async def _print_until_the_end(self, luck: Random) -> None:
        """Renders one after another, and in the last moment more than can be begun."""
        if not self._good:
            return
        for _ in range(20):
            await self._submit(sources.one_of(self._good, luck), luck.choice(ORGANISATIONS), Tier.BACKGROUND)
            await self.crew.look()
            await self.timeline.sleep(7)
        await self.timeline.sleep_until(self.end - 400)
        for _ in range(max(12, self.jobs // 60)):
            await self._submit(sources.one_of(self._good, luck), luck.choice(ORGANISATIONS), luck.choice(list(Tier)))
        await self.crew.look()

    async def _note(self, action: str, target: str, *, before: Any, after: Any) -> None:
        deed = AuditEntry(who="night shift (demo)", action=action, target=target, before=before, after=after)
        await self._database.run(partial(audit.record, deed), name="audit")


async def _story(story: Callable[[], Awaitable[None]]) -> None:
    await story()


def _later_versions(sheet: Sheet) -> list[str]:
    """As an author changes a picture: a word, then a part."""
    renamed = sheet.source.replace("Request", "Call").replace("Reader", "Visitor").replace("when it fails", "in trouble")
    match sheet.language:
        case "mermaid" if "flowchart" in sheet.source:
            grown = renamed + "  out --> log[(Log)]\n"
        case "mermaid":
            grown = renamed + "  A->>A: write it down\n"
        case "dot":
            grown = renamed.replace("rankdir=LR", "rankdir=TB")
        case _:
            grown = renamed + "logbook: Logbook {shape: page}\n"
    return [renamed, grown] if renamed != sheet.source else [grown]

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
from pressroom.demo.kinds import SCHEDULES
from pressroom.demo.simulated_workers import SimulatedWorkers
from pressroom.demo.sources import DemoSource
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
FAULTS = ("fonts", "fonts", "fonts", "crash", "slow", "template", "template", "large", "iban")
REPEATED_SOURCES = 6  # sources that are asked for again and again


@dataclass
class DemoDay:
    """Everything that happens, as stories on a timeline that ends at `end`.

    Each has dice of its own: what one does never changes what becomes of another.
    """

    press: Pressroom
    timeline: Timeline
    workers: SimulatedWorkers
    seed: int
    end: int
    jobs: int
    admin: str = ""

    def __post_init__(self) -> None:
        self._database: Database = self.press.rendering.database
        self._names = NamedDiagrams(self.press.queue, self._database, self.press.keyring)
        self._good = sources.available_makers(sources.GOOD)
        self._broken = sources.available_makers(sources.BROKEN)
        self._repeated: dict[str | None, list[DemoSource]] = {}
        self._batches = 0

    def start(self) -> None:
        stories: list[Callable[[], Awaitable[None]]] = [
            *(
                self._create_tokens,
                self._create_webhooks,
                self._fire_schedules,
                self._deliver_webhooks,
                self._save_named_diagrams,
            ),
            *(self._retry_failures, self._pause_and_scale_queues, self._submit_site_bursts, self._leave_jobs_running),
        ]
        for story in stories:
            self.timeline.start_activity(_run_activity(story))
        for number, moment in enumerate(self._submit_times()):
            self.timeline.start_activity(self._submit_jobs_of_moment(moment, self._rng(number)))

    def _rng(self, name: object) -> Random:
        return Random(f"{self.seed} {name}")

    def _submit_times(self) -> list[int]:
        """Two in five in the last hour, in waves; the others over the day before."""
        rng = self._rng("moments")
        recent = int(self.jobs * 0.4)
        waves = [rng.triangular(0, HOUR, peak * MINUTE) for peak in (52, 31, 9) for _ in range(recent // 3)]
        earlier = [HOUR + rng.betavariate(1.2, 1.6) * (DAY - 2 * HOUR) for _ in range(self.jobs - len(waves))]
        return sorted(self.end - int(age) for age in waves + earlier)

    async def _submit_jobs_of_moment(self, moment: int, rng: Random) -> None:
        await self.timeline.sleep_until(moment)
        await self._submit_something(moment, rng)
        await self.workers.claim_and_start()

    async def _submit_something(self, moment: int, rng: Random) -> None:
        org_id, what = rng.choice(ORGANISATIONS), rng.random()
        if what < 0.72 and self._good:
            await self._submit_render(rng, org_id, recently=self.end - moment < 50 * MINUTE)
        elif what < 0.88:
            await self._submit_statement(rng, org_id)
        elif what < 0.93:
            await self._submit_batch(rng, org_id)
        elif what < 0.97:
            await self._submit_site(rng, org_id)
        else:
            await self._submit_and_cancel(rng, org_id)

    async def _submit_render(self, rng: Random, org_id: str | None, *, recently: bool) -> None:
        source = self._choose_source(rng, org_id)
        if recently and source.language != "html" and source.language != "markdown" and rng.random() < 0.5:
            await self.press.rendering.submit(
                self.press.queue, source.request, kind="diagram", org_id=org_id, subject=source.subject
            )
            return
        tier = Tier.INTERACTIVE if rng.random() < 0.2 else Tier.BACKGROUND
        await self._submit(source, org_id, tier)
        if rng.random() < 0.05:  # two people press the button
            await self._submit(source, org_id, Tier.INTERACTIVE)

    async def _submit(self, source: DemoSource, org_id: str | None, tier: Tier) -> Submitted:
        return await self.press.render(
            source.language,
            source.source,
            source.output,
            options=source.options,
            tier=tier,
            org_id=org_id,
            subject=source.subject,
            project_id=source.subject.partition("/")[0],
        )

    def _choose_source(self, rng: Random, org_id: str | None) -> DemoSource:
        known = self._repeated.setdefault(org_id, [])
        if self._broken and rng.random() < 0.09:
            return sources.make_random_source(self._broken, rng)
        if len(known) == REPEATED_SOURCES and rng.random() < 0.4:
            return rng.choice(known)
        source = sources.make_random_source(self._good, rng)
        if len(known) < REPEATED_SOURCES:
            known.append(source)
        return source

    async def _submit_statement(self, rng: Random, org_id: str | None, **options: Any) -> None:
        account = f"{rng.randrange(1000, 9999)}-{rng.randrange(10, 99)}"
        payload: dict[str, Any] = {
            "account": account,
            "pages": rng.randrange(2, 40),
            "seconds": options.pop("seconds", None) or rng.uniform(3, 25),
        }
        if rng.random() < 0.22:
            payload |= {"trouble": rng.choice(FAULTS), "times": rng.choice((1, 1, 2, 9))}
        subject = f"statement {account}"
        await self.press.submit("statement", payload, org_id=org_id, subject=subject, project_id="statements", **options)

    async def _submit_batch(self, rng: Random, org_id: str | None) -> None:
        self._batches += 1
        size, month = rng.randrange(4, 9), f"2026-{1 + self._batches % 12:02}"
        payload = {"month": month, "accounts": size, "seconds": 2.0}
        batch = await self.press.submit("statement.batch", payload, org_id=org_id, subject=f"statements of {month}")
        for _ in range(size):
            await self._submit_statement(rng, org_id, parent=batch)

    async def _submit_site(
        self, rng: Random, org_id: str | None, *, site: str = "", seconds: float = 0, broken: bool | None = None
    ) -> Submitted:
        site = site or rng.choice(("handbook", "api-reference", "runbooks"))
        payload: dict[str, Any] = {
            "site": site,
            "commit": f"{rng.getrandbits(28):07x}",
            "editions": ["main", "stable", "v3", "v2"][: rng.randrange(2, 5)],
            "pages": rng.randrange(40, 160),
            "seconds": seconds or rng.uniform(30, 120),
        }
        if rng.random() < 0.3 if broken is None else broken:
            payload["broken"] = ["v2", "stable"]
        return await self.press.submit(
            "site.build", payload, key=f"site {site}", org_id=org_id, subject=site, project_id=site, build_id=payload["commit"]
        )

    async def _submit_and_cancel(self, rng: Random, org_id: str | None) -> None:
        job = await self._submit_site(rng, org_id)
        if job.answer is not Answer.NEW:
            return
        await self.workers.claim_and_start()
        await self.timeline.sleep(rng.uniform(1, 20))
        await self.press.cancel(job, reason="the commit was withdrawn")

    async def _create_tokens(self) -> None:
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
        await self._record_audit(
            "token.revoke", f"token {lost.token.prefix}", before={"revoked": False}, after={"revoked": True}
        )
        await self.timeline.sleep_until(self.end - 12 * MINUTE)
        await tokens.lookup(self.admin)
        await tokens.lookup(operator.secret)

    async def _create_webhooks(self) -> None:
        for org_id, url, events, kinds in (
            ("acme", receivers.WELL, ["job.completed", "job.failed"], ["site.build", "statement.batch"]),
            ("northwind", receivers.BUSY, ["job.failed", "job.completed_with_errors"], None),
            ("globex", receivers.GONE, ["job.failed"], None),
            (None, receivers.SILENT, ["job.failed", "job.cancelled"], ["site.build", "statement", "render"]),
        ):
            await self.press.webhooks.add(org_id, url, events, kinds)

    async def _fire_schedules(self) -> None:
        for schedule in SCHEDULES:
            await self._database.run(partial(schedule_rows.save_schedule, schedule), name="schedule")
        while True:
            now = from_ms(self.timeline.clock.now_ms())
            await self.timeline.sleep_until(to_ms(min(next_tick(schedule.cron, now) for schedule in SCHEDULES)))
            await self.press.maintenance.fire_schedules()
            await self.workers.claim_and_start()

    async def _deliver_webhooks(self) -> None:
        while True:
            await self.timeline.sleep(120)
            if await self.press.webhooks.submit_due_deliveries():
                await self.workers.claim_and_start()

    async def _save_named_diagrams(self) -> None:
        """Named diagrams, each with a history; the newest version of the last one is wrong."""
        rng = self._rng("names")
        await self.timeline.sleep_until(self.end - 20 * HOUR)
        for number, maker in enumerate(sources.PICTURES):
            source = maker(Random(number))
            if not any(maker is known for _, known in self._good):
                continue
            texts = [source.source, *_later_versions(source)]
            if number == 0:
                texts.append(sources.make_broken_arrow(Random(number)).source)
            for text in texts:
                name = source.subject.replace("/", "-")
                await self._names.put(None, name, DiagramText(text, source.language, {}), {})
                await self.workers.claim_and_start()
                await self.timeline.sleep(rng.uniform(600, 5000))

    async def _retry_failures(self) -> None:
        """Some of the failed jobs are retried, some of them twice."""
        for hours in (9, 4, 2, 0.4, 0.1):
            await self.timeline.sleep_until(self.end - int(hours * HOUR))
            failed = (await self.press.list(status=Status.FAILED, limit=6)).jobs
            again = [job for job in failed if job.kind in ("statement", "render")][:4]
            for job in again:
                submitted = await self.press.retry(job)
                await self._record_audit(
                    "job.retry", f"job_{job.uid}", before={"status": "failed"}, after={"job": str(submitted)}
                )
            await self.workers.claim_and_start()

    async def _pause_and_scale_queues(self) -> None:
        await self._record_audit("queue.scale", "kind statement", before={"slots": None}, after={"slots": 4})
        await self.press.scale("statement", 4)
        await self.timeline.sleep_until(self.end - 3 * HOUR)
        await self._record_audit("queue.pause", "kind search.index", before={"paused": False}, after={"paused": True})
        await self.press.pause("search.index")
        await self.timeline.sleep_until(self.end - int(2.4 * HOUR))
        await self._record_audit("queue.resume", "kind search.index", before={"paused": True}, after={"paused": False})
        await self.press.resume("search.index")
        await self.workers.claim_and_start()
        await self.timeline.sleep_until(self.end - 40 * MINUTE)
        await self._record_audit("queue.pause", "kind newsletter", before={"paused": False}, after={"paused": True})
        await self.press.pause("newsletter")

    async def _submit_site_bursts(self) -> None:
        """Three commits within seconds: the second waits for the first, and the third takes its place."""
        rng = self._rng("haste")
        for hours in (11, 3, 0.6):
            await self.timeline.sleep_until(self.end - int(hours * HOUR))
            for _ in range(3):
                await self._submit_site(rng, "acme", site="handbook", seconds=45)
                await self.workers.claim_and_start()
                await self.timeline.sleep(4)

    async def _leave_jobs_running(self) -> None:
        """What waits and what runs when the day is over."""
        rng = self._rng("left behind")
        await self.timeline.sleep_until(self.end - 50 * MINUTE)
        await self._submit_batch(rng, "northwind")
        await self.workers.claim_and_start()
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
                await self._submit_statement(rng, rng.choice(ORGANISATIONS), tier=tier, seconds=rng.uniform(200, 300))
            await self.workers.claim_and_start()
        for org_id, broken in (("acme", False), ("northwind", True), (None, False)):
            await self._submit_site(rng, org_id, seconds=400, broken=broken)
            await self.workers.claim_and_start()
            await self.timeline.sleep(12)
        await self._print_until_the_end(rng)

    async def _print_until_the_end(self, rng: Random) -> None:
        """Renders one after another, and in the last moment more than can be begun."""
        if not self._good:
            return
        for _ in range(20):
            await self._submit(sources.make_random_source(self._good, rng), rng.choice(ORGANISATIONS), Tier.BACKGROUND)
            await self.workers.claim_and_start()
            await self.timeline.sleep(7)
        await self.timeline.sleep_until(self.end - 400)
        for _ in range(max(12, self.jobs // 60)):
            await self._submit(sources.make_random_source(self._good, rng), rng.choice(ORGANISATIONS), rng.choice(list(Tier)))
        await self.workers.claim_and_start()

    async def _record_audit(self, action: str, target: str, *, before: Any, after: Any) -> None:
        deed = AuditEntry(who="night shift (demo)", action=action, target=target, before=before, after=after)
        await self._database.run(partial(audit.record, deed), name="audit")


async def _run_activity(story: Callable[[], Awaitable[None]]) -> None:
    await story()


def _later_versions(source: DemoSource) -> list[str]:
    """As an author changes a picture: a word, then a part."""
    renamed = source.source.replace("Request", "Call").replace("Reader", "Visitor").replace("when it fails", "in trouble")
    match source.language:
        case "mermaid" if "flowchart" in source.source:
            grown = renamed + "  out --> log[(Log)]\n"
        case "mermaid":
            grown = renamed + "  A->>A: write it down\n"
        case "dot":
            grown = renamed.replace("rankdir=LR", "rankdir=TB")
        case _:
            grown = renamed + "logbook: Logbook {shape: page}\n"
    return [renamed, grown] if renamed != source.source else [grown]

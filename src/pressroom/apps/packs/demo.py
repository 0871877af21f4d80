"""A few packs in every state, for `pressroom demo`."""

from functools import partial
from json import dumps
from typing import TYPE_CHECKING, Any

from pressroom.apps.packs.model import Pack, PackDraft
from pressroom.apps.packs.renders import NAME
from pressroom.renderers import catalogue
from pressroom.store.jobs import claiming, endings
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.endings import Settlement
from pressroom.worker.context import RunningJob
from pressroom.worker.judge import judge
from pressroom.worker.run import Attempt
from pressroom.worker.threads import HandlerThreads

if TYPE_CHECKING:
    from pressroom.apps.packs.app import PacksApp

AUTHOR = "demo"
LEASE_MS = 600_000
ENGINES = ("jinja", "html", "pdf")

LETTERHEAD = '<p class="from"><strong>{{ t("company") }}</strong><br>{{ t("address") }}</p>\n'
OFFER = """{% include "letterhead" %}
<h1>Offer for {{ person.name }}</h1>
<p>We are glad to offer you the position of {{ position }}, to begin on {{ start | date("long") }}.</p>
<table>
  <tr><th>Position</th><td>{{ position }}</td></tr>
  <tr><th>First day</th><td>{{ start | date("full") }}</td></tr>
  <tr><th>Salary for a year</th><td>{{ salary | money("EUR") }}</td></tr>
</table>
<p>Please return a signed copy.</p>
"""
CHECKLIST = """{% include "letterhead" %}
<h1>First week of {{ person.name }}</h1>
<ol>{% for task in tasks | default([]) %}<li>{{ task }}</li>{% endfor %}</ol>
<h1 class="next">Notes</h1>
<p>To be filled in by {{ person.name }}.</p>
"""
CERTIFICATE = "<h1>Certificate</h1><p>{{ person.name }} has completed the introduction.</p>\n"
STYLE = """body { font: 11pt/1.5 "Liberation Sans", sans-serif; color: #1c2430 }
.from { border-bottom: 1.5pt solid #1f3d5a; padding-bottom: 8pt; margin-bottom: 30pt; color: #4a5666 }
h1 { color: #1f3d5a; font-size: 18pt }
th { text-align: left; padding-right: 24pt }
.next { page-break-before: always }
"""
REGISTRY = [
    {
        "doc_id": "offer",
        "title": "Offer letter",
        "style": "letter",
        "description": "Position, first day and salary, to be signed.",
    },
    {"doc_id": "checklist", "title": "First week", "style": "letter", "description": "What to do in the first days."},
    {"doc_id": "certificate", "title": "Certificate", "style": "letter", "tier": "paid"},
]
CONFIG = {
    "template:letterhead": LETTERHEAD,
    "template:offer": OFFER,
    "template:checklist": CHECKLIST,
    "template:certificate": CERTIFICATE,
    "style:letter": STYLE,
    "strings": dumps({"company": "Example Press Ltd", "address": "3 Composing Street, London EC1A"}),
    "documents_registry": dumps(REGISTRY, indent=2),
}
TASKS = ["Meet the team", "Set up the machine", "Read how a release goes"]


def _data(name: str, position: str, salary: str, start: str = "2027-01-04") -> dict[str, Any]:
    return {"person": {"name": name}, "position": position, "salary": salary, "start": start, "tasks": TASKS}


async def fill_demo(app: "PacksApp") -> None:
    """One pack is ready, and outdated in part; one has failed; one waits; one was never rendered."""
    if any(catalogue.get_engine(name).missing() for name in ENGINES):
        return
    await app.configuration.put_many(None, CONFIG, author=AUTHOR)
    ready = await _make_pack(app, "Anna Example", _data("Anna Example", "Print engineer", "58400.00"), user="u-17")
    failed = await _make_pack(app, "Ben Beispiel", _data("Ben Beispiel", "Bookbinder", "49000.00", start="soon"), user="u-18")
    for pack in (ready, failed):
        await app.packs.render_all(None, pack.id, requested_by=AUTHOR)
    await _work_off(app)
    await app.packs.save_data(None, ready.id, _data("Anna Example", "Head of print", "64000.00", start="2027-02-01"), AUTHOR)
    await app.packs.render_one(None, ready.id, "offer", requested_by=AUTHOR)
    await _work_off(app)
    await app.packs.make_link(None, ready.id)
    waiting = await _make_pack(app, "Carla Ejemplo", _data("Carla Ejemplo", "Typesetter", "51500.00"), user="u-17")
    await app.packs.render_all(None, waiting.id, requested_by=AUTHOR)
    await _make_pack(app, "Dario Esempio", _data("Dario Esempio", "Proofreader", "47250.00"), user="u-19")


async def _make_pack(app: "PacksApp", title: str, data: dict[str, Any], user: str) -> Pack:
    return await app.packs.create(None, PackDraft(data=data, title=title, user=user, session_id="spring", lang="en"), AUTHOR)


async def _work_off(app: "PacksApp") -> None:
    """Run what is queued once: a demonstration is filled without workers."""
    database, kind, threads = app.packs.database, app.queue.kinds[NAME], HandlerThreads()
    claim_all = partial(claiming.claim, AUTHOR, [NAME], FreeSlots(50, 50), LEASE_MS)
    for claim in await database.run(claim_all, name="turn", durable=False):
        attempt = Attempt(claim, kind, RunningJob(claim, database, lambda _: None), threads)
        outcome = judge(claim, kind, await attempt.run(), 0.5)
        settle = partial(endings.settle, [Settlement(claim, outcome)], app.queue.kinds)
        await database.run(settle, name="turn", durable=False)

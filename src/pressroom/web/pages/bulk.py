"""Many jobs at once: first what would happen, then a decision, then a job that does it.

The address of the first page is frozen: it names the newest job and the time when it was asked for, and has no length of time
that would grow. So neither a reload nor the way back makes the choice a larger one.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import get_args

from starlette.responses import RedirectResponse, Response

from pressroom import bulk
from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.bulk import Action, Order, Seen, why_not
from pressroom.model import Job, Work, from_ms
from pressroom.store.operators import search
from pressroom.store.operators.search import COUNTED, SearchFilter
from pressroom.submit_scope import may_repeat
from pressroom.web import chosen
from pressroom.web.chosen import Chosen, Fields
from pressroom.web.desk import Desk, Visit, refuse
from pressroom.web.words import number

TYPED_ABOVE = 100  # jobs; for more, the person types how many
SAMPLE = 10

ACTIONS: tuple[Action, ...] = get_args(Action.__value__)


@dataclass(frozen=True)
class Choice:
    """What is to be done, and with which jobs. `up_to` and `as_of` are as in an Order."""

    action: Action
    filter: Chosen
    up_to: int
    as_of: int

    @property
    def asked(self) -> dict[str, list[str]]:
        return {"action": [self.action], **self.filter.asked, "up_to": [str(self.up_to)], "as_of": [str(self.as_of)]}


@dataclass(frozen=True)
class Outlook:
    """What would happen. `is_all` is false if there may be more than were counted."""

    counted: int
    is_all: bool
    skipped: Counter[str]
    sample: list[tuple[Job, str | None]]

    @property
    def done(self) -> int:
        return self.counted - self.skipped.total()


def router(desk: Desk) -> Routes:
    routes = Routes()

    async def choose(visit: Visit, fields: Fields) -> Response:
        """To the page that shows what would happen, under its frozen address."""
        action, filter = _action(fields), _filter(visit, fields).frozen()
        newest, moment = await desk.service.rendering.database.read(search.newest_job)
        return RedirectResponse(desk.url("/desk/bulk", **Choice(action, filter, newest, moment).asked), 303)

    async def look(visit: Visit) -> Response:
        fields = visit.request.query_params.multi_items()
        if not {"up_to", "as_of"} <= {name for name, _ in fields}:
            return await choose(visit, fields)
        return await shown(visit, _choice(visit, fields))

    async def shown(visit: Visit, choice: Choice, *, wrong: str = "") -> Response:
        outlook = await outlook_of(visit, choice)
        return visit.page(
            "bulk.html",
            status=422 if wrong else 200,
            choice=choice,
            outlook=outlook,
            must_type=_must_type(choice, outlook),
            wrong=wrong,
            when=from_ms(min(choice.as_of, _LAST)),
        )

    async def outlook_of(visit: Visit, choice: Choice) -> Outlook:
        may_retry = may_repeat(desk.service.queue.kinds, visit.caller.scope.name.lower())
        unit = partial(_look_ahead, choice.action, choice.filter.wanted, choice.up_to, choice.as_of, may_retry)
        return await desk.service.rendering.database.read(unit)

    async def decide(visit: Visit) -> Response:
        fields = visit.form.items()
        if not visit.form.get("decided"):
            return await choose(visit, _picked(visit))
        choice = _choice(visit, fields)
        outlook = await outlook_of(visit, choice)
        if not outlook.done:
            return await shown(visit, choice)
        wanted, typed = (visit.form.get(name).replace(",", "").strip() for name in ("number", "typed"))
        if _must_type(choice, outlook) and (not typed or typed != wanted):
            return await shown(visit, choice, wrong=f"Type {wanted or outlook.done} if you mean it.")
        return await begin(visit, choice, outlook)

    async def begin(visit: Visit, choice: Choice, outlook: Outlook) -> Response:
        order = Order(
            action=choice.action,
            wanted=choice.filter.wanted,
            up_to=choice.up_to,
            as_of=choice.as_of,
            counted=outlook.counted if outlook.is_all else None,
            who=visit.caller.name,
            scope=visit.caller.scope.name.lower(),
        )
        told = {
            "filter": choice.filter.in_words(),
            "up_to": choice.up_to,
            "matching": number(outlook.counted, capped=not outlook.is_all),
            "to_do": number(outlook.done, capped=not outlook.is_all),
            "to_skip": dict(outlook.skipped),
        }
        queue = desk.service.queue
        async with queue.transaction() as transaction:
            job = await bulk.submit(queue, order, org_id=visit.org_id, within=transaction)
            await transaction.run(lambda: visit.deed(f"bulk.{choice.action}", str(job), after=told), name="audit")
        return visit.go(
            f"/desk/jobs/{job}", f"The {choice.action} of {told['to_do']} jobs is queued. This page shows how far it is."
        )

    desk.get(routes, "/desk/bulk", look, needs=Scope.OPERATOR)
    desk.post(routes, "/desk/bulk", decide)
    return routes


_LAST = 253_402_300_799_000  # the end of the year 9999


def _look_ahead(
    action: Action, wanted: SearchFilter, up_to: int, as_of: int, may_retry: Callable[[str], bool]
) -> Work[Outlook]:
    found = yield from search.search(wanted, before=up_to + 1)
    seen = [Seen(*row) for row in (yield from search.look_at(found.ids[:COUNTED]))]
    reasons = {one.id: why_not(action, one, as_of, may_retry) for one in seen}
    # Those that something would be done with come first: they are what one wants to recognise.
    shown = sorted(reasons, key=lambda one: (reasons[one] is not None, -one))[:SAMPLE]
    jobs = yield from search.show(shown)
    return Outlook(
        counted=len(seen),
        is_all=found.rest is None,
        skipped=Counter(reason for reason in reasons.values() if reason is not None),
        sample=sorted(((job, reasons[job.id]) for job in jobs), key=lambda pair: shown.index(pair[0].id)),
    )


def _must_type(choice: Choice, outlook: Outlook) -> bool:
    return choice.filter.is_everything or not outlook.is_all or outlook.done > TYPED_ABOVE


def _choice(visit: Visit, fields: Fields) -> Choice:
    given = dict(fields)
    up_to, as_of = (chosen.number(given.get(name, ""), name) for name in ("up_to", "as_of"))
    return Choice(_action(fields), _filter(visit, fields), up_to, as_of)


def _action(fields: Fields) -> Action:
    given = dict(fields).get("action", "")
    for action in ACTIONS:
        if given == action:
            return action
    raise refuse(f"action is {' or '.join(ACTIONS)}, not {given[:40]!r}")


def _filter(visit: Visit, fields: Fields) -> Chosen:
    return chosen.read(fields, org_id=visit.org_id, now=datetime.now(UTC))


def _picked(visit: Visit) -> Fields:
    """What the list sent: the jobs that were ticked and nothing else, or whatever matches, ticked or not."""
    fields = visit.form.items()
    match visit.form.get("which"):
        case "matching":
            return [(name, value) for name, value in fields if name != "uid"]
        case "chosen":
            if not visit.form.all("uid"):
                raise refuse("no job is selected: go back and tick some, or act on all that match")
            return [(name, value) for name, value in fields if name in ("uid", "action")]
        case other:
            raise refuse(f"which is chosen or matching, not {other[:40]!r}")

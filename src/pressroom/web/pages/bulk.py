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

from pressroom.api.access import Scope
from pressroom.api.routes import Routes
from pressroom.kinds import bulk
from pressroom.kinds.bulk import Action, BulkJobRow, BulkOrder, skip_reason
from pressroom.model import Job, Work, from_ms
from pressroom.store.operators import search
from pressroom.store.operators.search import COUNTED, SearchFilter
from pressroom.submission.scope import may_repeat
from pressroom.web import selection
from pressroom.web.formatting import format_count
from pressroom.web.selection import Fields, JobSelection
from pressroom.web.site import PageRequest, Site, page_error

TYPED_COUNT_ABOVE = 100  # jobs; for more, the person types how many
SAMPLE_SIZE = 10

ACTIONS: tuple[Action, ...] = get_args(Action.__value__)


@dataclass(frozen=True)
class BulkRequest:
    """What is to be done, and with which jobs. `up_to` and `as_of` are as in an Order."""

    action: Action
    selection: JobSelection
    up_to: int
    as_of: int

    @property
    def fields(self) -> dict[str, list[str]]:
        return {"action": [self.action], **self.selection.fields, "up_to": [str(self.up_to)], "as_of": [str(self.as_of)]}


@dataclass(frozen=True)
class BulkPreview:
    """What would happen. `is_all` is false if there may be more than were counted."""

    counted: int
    is_all: bool
    skipped: Counter[str]
    sample: list[tuple[Job, str | None]]

    @property
    def done(self) -> int:
        return self.counted - self.skipped.total()


def router(site: Site) -> Routes:
    routes = Routes()
    site.get(routes, "/desk/bulk", _look, needs=Scope.OPERATOR)
    site.post(routes, "/desk/bulk", _decide)
    return routes


async def _redirect_to_preview(request: PageRequest, fields: Fields) -> Response:
    """To the page that shows what would happen, under its frozen address."""
    action, chosen_jobs = _parse_action(fields), _parse_selection(request, fields).with_fixed_times()
    newest, moment = await request.read(search.newest_job_and_time)
    return RedirectResponse(request.site.url("/desk/bulk", **BulkRequest(action, chosen_jobs, newest, moment).fields), 303)


async def _look(request: PageRequest) -> Response:
    fields = request.http.query_params.multi_items()
    if not {"up_to", "as_of"} <= {name for name, _ in fields}:
        return await _redirect_to_preview(request, fields)
    return await _show_preview(request, _parse_bulk_request(request, fields))


async def _show_preview(request: PageRequest, bulk_request: BulkRequest, *, wrong: str = "") -> Response:
    preview = await _load_preview(request, bulk_request)
    return request.page(
        "bulk.html",
        status=422 if wrong else 200,
        bulk_request=bulk_request,
        preview=preview,
        must_type=_needs_typed_count(bulk_request, preview),
        wrong=wrong,
        when=from_ms(min(bulk_request.as_of, _MAX_TIME)),
    )


async def _load_preview(request: PageRequest, bulk_request: BulkRequest) -> BulkPreview:
    may_retry = may_repeat(request.site.service.queue.kinds, request.caller.scope.name.lower())
    unit = partial(
        _preview_bulk, bulk_request.action, bulk_request.selection.filter, bulk_request.up_to, bulk_request.as_of, may_retry
    )
    return await request.read(unit)


async def _decide(request: PageRequest) -> Response:
    fields = request.form.items()
    if not request.form.get("decided"):
        return await _redirect_to_preview(request, _selected_fields(request))
    bulk_request = _parse_bulk_request(request, fields)
    preview = await _load_preview(request, bulk_request)
    if not preview.done:
        return await _show_preview(request, bulk_request)
    wanted, typed = (request.form.get(name).replace(",", "").strip() for name in ("number", "typed"))
    if _needs_typed_count(bulk_request, preview) and (not typed or typed != wanted):
        return await _show_preview(request, bulk_request, wrong=f"Type {wanted or preview.done} if you mean it.")
    return await _submit(request, bulk_request, preview)


async def _submit(request: PageRequest, bulk_request: BulkRequest, preview: BulkPreview) -> Response:
    order = BulkOrder(
        action=bulk_request.action,
        wanted=bulk_request.selection.filter,
        up_to=bulk_request.up_to,
        as_of=bulk_request.as_of,
        counted=preview.counted if preview.is_all else None,
        who=request.caller.name,
        scope=request.caller.scope.name.lower(),
    )
    told = {
        "filter": bulk_request.selection.describe(),
        "up_to": bulk_request.up_to,
        "matching": format_count(preview.counted, capped=not preview.is_all),
        "to_do": format_count(preview.done, capped=not preview.is_all),
        "to_skip": dict(preview.skipped),
    }
    queue = request.site.service.queue
    async with queue.transaction() as transaction:
        job = await bulk.submit_bulk_job(queue, order, org_id=request.org_id, within=transaction)
        await transaction.run(lambda: request.audit_entry(f"bulk.{bulk_request.action}", str(job), after=told), name="audit")
    return request.redirect(
        f"/desk/jobs/{job}", f"The {bulk_request.action} of {told['to_do']} jobs is queued. This page shows how far it is."
    )


_MAX_TIME = 253_402_300_799_000  # the end of the year 9999


def _preview_bulk(
    action: Action, wanted: SearchFilter, up_to: int, as_of: int, may_retry: Callable[[str], bool]
) -> Work[BulkPreview]:
    found = yield from search.search_job_ids(wanted, before=up_to + 1)
    seen = [BulkJobRow(*row) for row in (yield from search.load_bulk_rows(found.ids[:COUNTED]))]
    reasons = {one.id: skip_reason(action, one, as_of, may_retry) for one in seen}
    # Those that something would be done with come first: they are what one wants to recognise.
    _show_preview = sorted(reasons, key=lambda one: (reasons[one] is not None, -one))[:SAMPLE_SIZE]
    jobs = yield from search.load_jobs(_show_preview)
    return BulkPreview(
        counted=len(seen),
        is_all=found.next_before is None,
        skipped=Counter(reason for reason in reasons.values() if reason is not None),
        sample=sorted(((job, reasons[job.id]) for job in jobs), key=lambda pair: _show_preview.index(pair[0].id)),
    )


def _needs_typed_count(bulk_request: BulkRequest, preview: BulkPreview) -> bool:
    return bulk_request.selection.is_everything or not preview.is_all or preview.done > TYPED_COUNT_ABOVE


def _parse_bulk_request(request: PageRequest, fields: Fields) -> BulkRequest:
    given = dict(fields)
    up_to, as_of = (selection.parse_number(given.get(name, ""), name) for name in ("up_to", "as_of"))
    return BulkRequest(_parse_action(fields), _parse_selection(request, fields), up_to, as_of)


def _parse_action(fields: Fields) -> Action:
    given = dict(fields).get("action", "")
    for action in ACTIONS:
        if given == action:
            return action
    raise page_error(f"action is {' or '.join(ACTIONS)}, not {given[:40]!r}")


def _parse_selection(request: PageRequest, fields: Fields) -> JobSelection:
    return selection.parse_selection(fields, org_id=request.org_id, now=datetime.now(UTC))


def _selected_fields(request: PageRequest) -> Fields:
    """What the list sent: the jobs that were ticked and nothing else, or whatever matches, ticked or not."""
    fields = request.form.items()
    match request.form.get("which"):
        case "matching":
            return [(name, value) for name, value in fields if name != "uid"]
        case "chosen":
            if not request.form.all("uid"):
                raise page_error("no job is selected: go back and tick some, or act on all that match")
            return [(name, value) for name, value in fields if name in ("uid", "action")]
        case other:
            raise page_error(f"which is chosen or matching, not {other[:40]!r}")

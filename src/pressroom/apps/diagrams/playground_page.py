"""The page of the playground, as it is shown after every way into it."""

from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.access import Scope, is_loopback
from pressroom.apps.diagrams import playground_languages as offer
from pressroom.apps.diagrams.embed_keys import key_of
from pressroom.apps.diagrams.named import History, Names
from pressroom.apps.diagrams.named_tags import state_of
from pressroom.apps.diagrams.playground_jobs import Made
from pressroom.apps.diagrams.playground_previews import Verdict
from pressroom.apps.diagrams.playground_sheet import LINKED, Sheet
from pressroom.apps.diagrams.playground_snippets import Snippet, snippets
from pressroom.apps.diagrams.versions import Named
from pressroom.errors import NotFound, PressroomError
from pressroom.model import from_ms
from pressroom.web.desk import Visit

SNIPPET_LIMIT = 100_000  # characters of a source; each snippet has it whole, and a longer one is not pasted


class Opened(msgspec.Struct, frozen=True):
    """The named diagram that is being edited. `state` is the one it was in when its editor looked at it last."""

    named: Named
    history: History
    number: int
    state: str


async def opened(visit: Visit, names: Names, name: str, number: int | None = None) -> Opened:
    """Raises NotFound, and VersionGone for a version that was there once."""
    named = await names.find(visit.caller.org_id, name)
    history = await names.history(named, number)
    return Opened(named, history, history.versions[0].number, state_of(named.link, history.newest))


async def opened_again(visit: Visit, names: Names) -> Opened | None:
    """As a form has it: the state is still the one that its page was made in."""
    name = visit.form.get("opened")
    try:
        found = await opened(visit, names, name) if name else None
    except NotFound:
        return None
    return None if found is None else msgspec.structs.replace(found, state=visit.form.get("state"))


def show(
    visit: Visit,
    sheet: Sheet,
    *,
    verdict: Verdict | None = None,
    made: Made | None = None,
    opened: Opened | None = None,
    status: int = 200,
) -> Response:
    known = offer.languages()
    return visit.page(
        "diagrams/playground.html",
        status=status,
        sheet=sheet,
        language=sheet.offered,
        languages=known,
        offered=[msgspec.to_builtins(one) for one in known if one.missing is None],
        verdict=verdict,
        made=made,
        opened=opened,
        may_render=visit.may(Scope.SUBMITTER),
        live=_job_to_follow(opened) if visit.request.method == "GET" else None,
        moment=from_ms,
        **elsewhere(visit, sheet, opened=opened, made=made),
    )


def fragment(visit: Visit, sheet: Sheet, verdict: Verdict, opened: Opened | None, status: int) -> Response:
    """Only what changes while somebody types."""
    return visit.page(
        "diagrams/preview.html", status=status, sheet=sheet, verdict=verdict, **elsewhere(visit, sheet, opened=opened)
    )


def elsewhere(visit: Visit, sheet: Sheet, *, opened: Opened | None = None, made: Made | None = None) -> dict[str, Any]:
    """What leads from here to other places: the snippets, and a link that opens the same sheet."""
    if len(sheet.source) > SNIPPET_LIMIT:
        return {"snippets": [], "share": None}
    link = visit.desk.url("/playground", **sheet.fields())
    return {"snippets": _snippets(visit, sheet, opened, made), "share": link if len(link) <= LINKED else None}


def needs_token(visit: Visit) -> bool:
    return not is_loopback(visit.desk.service.settings.address[0])


def _snippets(visit: Visit, sheet: Sheet, opened: Opened | None, made: Made | None) -> list[Snippet]:
    base = visit.desk.service.address_for(visit.request)
    picture = None
    if opened is not None:
        key = key_of(opened.named, visit.desk.service.keyring) if needs_token(visit) else ""
        picture = f"{base}/a/{opened.named.name}.svg{f'?key={key}' if key else ''}"
    elif made is not None and made.link is not None:
        picture = f"{base}/d/{made.link}"
    try:
        asked = sheet.asked()
    except PressroomError:
        return []  # the options cannot be read; that is said elsewhere
    alt = opened.named.name if opened else str(asked.options.get("title", ""))
    return snippets(asked, base, picture=picture, alt=alt, needs_token=needs_token(visit))


def _job_to_follow(opened: Opened | None) -> str | None:
    """While the newest version is being rendered, the list of versions changes by itself."""
    if opened is None or opened.history.versions[0].status != "pending":
        return None
    return opened.history.versions[0].job_uid

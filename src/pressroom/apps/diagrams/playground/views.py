"""The page of the playground, its preview fragment, and the named diagram that it edits."""

from typing import Any

import msgspec
from starlette.responses import Response

from pressroom.api.access import Scope, is_loopback
from pressroom.apps.diagrams.named.diagrams import NamedDiagrams, VersionHistory
from pressroom.apps.diagrams.named.embed_keys import embed_key
from pressroom.apps.diagrams.named.etags import version_tag
from pressroom.apps.diagrams.named.versions import NamedDiagram
from pressroom.apps.diagrams.playground.form import LINK_LIMIT, PlaygroundForm
from pressroom.apps.diagrams.playground.languages import languages
from pressroom.apps.diagrams.playground.past_renders import PastRender
from pressroom.apps.diagrams.playground.previews import PreviewResult
from pressroom.apps.diagrams.playground.snippets import Snippet, snippets
from pressroom.errors import NotFound, PressroomError
from pressroom.model import from_ms
from pressroom.web.site import PageRequest

SNIPPET_LIMIT = 100_000  # characters of a source; each snippet has it whole, and a longer one is not pasted


class OpenedDiagram(msgspec.Struct, frozen=True):
    """The named diagram that is being edited. `state` is the one it was in when its editor looked at it last."""

    named: NamedDiagram
    history: VersionHistory
    number: int
    state: str


async def open_diagram(request: PageRequest, names: NamedDiagrams, name: str, number: int | None = None) -> OpenedDiagram:
    """Raises NotFound, and VersionGone for a version that was there once."""
    named = await names.find(request.caller.org_id, name)
    history = await names.history(named, number)
    return OpenedDiagram(named, history, history.versions[0].number, version_tag(named.link, history.newest))


async def reopen_from_form(request: PageRequest, names: NamedDiagrams) -> OpenedDiagram | None:
    """The diagram that a form names. The state is still the one that its page was rendered with."""
    name = request.form.get("opened")
    try:
        found = await open_diagram(request, names, name) if name else None
    except NotFound:
        return None
    return None if found is None else msgspec.structs.replace(found, state=request.form.get("state"))


def render_page(
    request: PageRequest,
    form: PlaygroundForm,
    *,
    result: PreviewResult | None = None,
    past: PastRender | None = None,
    opened: OpenedDiagram | None = None,
    status: int = 200,
) -> Response:
    known = languages()
    return request.page(
        "diagrams/playground.html",
        status=status,
        form=form,
        language=form.language_info,
        languages=known,
        offered=[msgspec.to_builtins(one) for one in known if one.missing is None],
        result=result,
        past=past,
        opened=opened,
        may_render=request.may(Scope.SUBMITTER),
        live=_pending_job(opened) if request.http.method == "GET" else None,
        moment=from_ms,
        **share_values(request, form, opened=opened, past=past),
    )


def render_preview(
    request: PageRequest, form: PlaygroundForm, result: PreviewResult, opened: OpenedDiagram | None, status: int
) -> Response:
    """Only what changes while the author types."""
    return request.page(
        "diagrams/preview.html", status=status, form=form, result=result, **share_values(request, form, opened=opened)
    )


def share_values(
    request: PageRequest, form: PlaygroundForm, *, opened: OpenedDiagram | None = None, past: PastRender | None = None
) -> dict[str, Any]:
    """What leads from here to other places: the snippets, and a link that opens the same form."""
    if len(form.source) > SNIPPET_LIMIT:
        return {"snippets": [], "share": None}
    link = request.site.url("/playground", **form.fields())
    return {"snippets": _snippets(request, form, opened, past), "share": link if len(link) <= LINK_LIMIT else None}


def needs_token(request: PageRequest) -> bool:
    return not is_loopback(request.site.service.settings.address[0])


def _snippets(
    request: PageRequest, form: PlaygroundForm, opened: OpenedDiagram | None, past: PastRender | None
) -> list[Snippet]:
    base = request.site.service.address_for(request.http)
    picture = None
    if opened is not None:
        key = embed_key(opened.named, request.site.service.keyring) if needs_token(request) else ""
        picture = f"{base}/a/{opened.named.name}.svg{f'?key={key}' if key else ''}"
    elif past is not None and past.link is not None:
        picture = f"{base}/d/{past.link}"
    try:
        asked = form.render_request()
    except PressroomError:
        return []  # the options cannot be read; that is said elsewhere
    alt = opened.named.name if opened else str(asked.options.get("title", ""))
    return snippets(asked, base, picture=picture, alt=alt, needs_token=needs_token(request))


def _pending_job(opened: OpenedDiagram | None) -> str | None:
    """While the newest version is being rendered, the list of versions changes by itself."""
    if opened is None or opened.history.versions[0].status != "pending":
        return None
    return opened.history.versions[0].job_uid

"""What the pages of the library share: how a state and a reason are written, and numbers read from an address."""

import re
from typing import Any

from starlette.responses import Response

from pressroom.apps.packs.config.registry import DOC_ID
from pressroom.apps.packs.model import Pack
from pressroom.apps.packs.planning import RenderAnswer, SkippedDocument
from pressroom.errors import NotFound
from pressroom.model import from_ms
from pressroom.web.site import PageRequest, page_error

LOCK_REASONS = {
    "DISABLED": "Disabled for this pack",
    "PAID_DOCS_LOCKED": "Paid document, not unlocked",
    "PAID_DOCS_HIDDEN": "Paid document, hidden from holders of the link",
}
SKIP_REASONS = {"NEEDS_INPUT": "it needs data that the pack does not have", "template_unusable": "its template cannot be used"}
MANY = 10  # names in a message


def render_page(request: PageRequest, template: str, *, status: int = 200, **values: Any) -> Response:
    return request.page(
        f"packs/{template}", status=status, moment=from_ms, lock_reasons=LOCK_REASONS, pack_name=pack_name, **values
    )


def pack_name(pack: Pack) -> str:
    return pack.title or f"Pack {pack.id[-12:]}"


def parse_number(text: str, what: str = "the number of a version") -> int:
    if re.fullmatch(r"[1-9][0-9]{0,8}", text):
        return int(text)
    raise page_error(f"{text[:40]!r} is not {what}, such as 3")


def require_doc_id(doc_id: str) -> str:
    """Raises NotFound for what cannot be the id of a document."""
    if not re.fullmatch(DOC_ID, doc_id):
        raise NotFound(f"the pack has no document {doc_id[:64]!r}")
    return doc_id


def read_text_field(request: PageRequest, name: str) -> str:
    """A field of the query. An application may name its users and sessions by anything but NUL."""
    text = request.http.query_params.get(name, "")
    if len(text) > 200 or "\0" in text:
        raise page_error(f"{name} is text of at most 200 characters")
    return text


def describe_answer(answer: RenderAnswer) -> str:
    """What a call to render did, in a sentence or two."""
    count = len(answer.jobs)
    done = f"{count} {'document is' if count == 1 else 'documents are'} queued." if count else "Nothing was queued."
    refused = [one for one in answer.skipped if one.reason in SKIP_REASONS]
    return " ".join([done, *(_describe_skipped(one) for one in refused[:MANY])])


def _describe_skipped(skipped: SkippedDocument) -> str:
    missing = f" ({', '.join(skipped.missing[:MANY])})" if skipped.missing else ""
    return f"{skipped.doc_id} was left out: {SKIP_REASONS[skipped.reason]}{missing}."

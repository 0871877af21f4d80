"""What clients ask for: notes and renders at `/jobs`, and diagrams at `/render` in each of its manners."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from pressroom.renderers.documents import RenderRequest

MARK = "nonce-"
ASYNC = {"Prefer": "respond-async"}
OUTPUTS = {"markdown": "html", "dot": "svg"}


@dataclass(frozen=True)
class Want:
    """One request. `nonce` is the word by which its job is known; a render carries it into its artifact."""

    nonce: str
    path: str
    body: dict[str, Any]
    language: str | None = None  # of a render
    key: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def waits(self) -> bool:
        return "mode=sync" in self.path

    def sent(self) -> tuple[bytes, dict[str, str]]:
        key = {} if self.key is None else {"Idempotency-Key": self.key}
        return msgspec.json.encode(self.body), {"Content-Type": "application/json"} | key | self.headers


def note(nonce: str) -> Want:
    """Nothing but its key makes it one job, however often it is asked for."""
    return Want(nonce, "/jobs", {"kind": "note", "payload": {"nonce": nonce}}, key=nonce)


def render(nonce: str, language: str = "markdown") -> Want:
    payload = {"language": language, "output": OUTPUTS[language], "source": source_of(nonce, language)}
    return Want(nonce, "/jobs", {"kind": "render", "payload": payload}, language)


def diagram(nonce: str, language: str = "markdown", *, manner: str = "plain") -> Want:
    """`manner` is plain, async (it prefers so), keyed or sync."""
    return Want(
        nonce,
        "/render?mode=sync" if manner == "sync" else "/render",
        {"source": source_of(nonce, language), "format": language, "outputType": OUTPUTS[language]},
        language,
        key=nonce if manner == "keyed" else None,
        headers=ASYNC if manner == "async" else {},
    )


def source_of(nonce: str, language: str) -> str:
    mark = f"{MARK}{nonce}"
    return f'digraph {{ a [label="{mark}"] }}' if language == "dot" else f"# {mark}\n\nText.\n"


def asked(nonce: str, language: str) -> RenderRequest:
    return RenderRequest(language, OUTPUTS[language], source_of(nonce, language).encode(), {}, None)


def nonce_in(text: str) -> str:
    """The nonce of a source or of what was made from it, whatever an engine puts around it."""
    return text.partition(MARK)[2][:16]

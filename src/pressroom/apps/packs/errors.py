"""Refusals of the packs app. Codes in upper case are those of design 002's product."""

from collections.abc import Sequence
from difflib import get_close_matches

from pressroom.errors import NotFound, Refused


class PackNotFound(NotFound):
    """The same words for a malformed id, an unknown one, a deleted pack, and another organisation's."""

    def __init__(self) -> None:
        super().__init__("there is no such pack")


class UnknownDocument(NotFound):
    code = "unknown_document"

    def __init__(self, doc_id: str, known: Sequence[str]) -> None:
        near = get_close_matches(doc_id[:100], known, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"the registry has {', '.join(known[:20]) or 'no documents'}"
        super().__init__(f"the registry has no document {doc_id[:100]!r}; {hint}")


class RegistryEmpty(Refused):
    code = "REGISTRY_EMPTY"
    status = 409

    def __init__(self) -> None:
        super().__init__("no documents_registry is published, or it has no documents; publish one first")


class DocumentDisabled(Refused):
    code = "DOCUMENT_DISABLED"
    status = 400

    def __init__(self, doc_id: str) -> None:
        super().__init__(f"the document {doc_id!r} is disabled for this pack")


class DocumentLocked(Refused):
    code = "DOCUMENT_LOCKED"
    status = 403

    def __init__(self, doc_id: str, reason: str) -> None:
        super().__init__(f"the document {doc_id!r} is locked for this pack ({reason})")


class NeedsInput(Refused):
    """The template reads fields that the data does not have."""

    code = "NEEDS_INPUT"
    status = 422

    def __init__(self, doc_id: str, missing: Sequence[str]) -> None:
        shown = ", ".join(missing[:20])
        super().__init__(f"the document {doc_id!r} needs data that the pack does not have: {shown}")
        self.missing = list(missing)


class DocumentsNotReady(Refused):
    """One PDF is wanted of documents that have no ready file."""

    code = "documents_not_ready"
    status = 409

    def __init__(self, missing: Sequence[str]) -> None:
        shown = ", ".join(missing[:20]) or "the pack has no documents"
        super().__init__(f"there is no ready file to make one PDF of: {shown}; render them first")
        self.missing = list(missing)


class DataConflict(Refused):
    code = "data_version_conflict"
    status = 412

    def __init__(self, expected: int, actual: int) -> None:
        super().__init__(f"the data of the pack is at version {actual}, not {expected}; read it again")


class AnotherUsersPack(Refused):
    code = "forbidden"
    status = 403

    def __init__(self) -> None:
        super().__init__("this pack belongs to another user")


class TemplateUnusable(Refused):
    """A document's template, style or engine is not published or cannot be read."""

    code = "template_unusable"
    status = 409

    def __init__(self, doc_id: str, reason: str) -> None:
        super().__init__(f"the document {doc_id!r} cannot be made: {reason}")


class RenderJobNotFound(NotFound):
    """The same words for a malformed id, an unknown one, and another organisation's."""

    def __init__(self) -> None:
        super().__init__("there is no such render job")


class InvalidStatus(Refused):
    """Only what has failed can be requested again."""

    code = "INVALID_STATUS"
    status = 400

    def __init__(self, status: str) -> None:
        super().__init__(f"only a failed render job can be requeued; this one is {status}")


class AlreadyInProgress(Refused):
    code = "ALREADY_IN_PROGRESS"
    status = 409

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is queued or in progress already; wait until it has ended")

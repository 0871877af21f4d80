"""Refusals of the docs app."""

from collections.abc import Sequence

from pressroom.errors import NotFound, Refused, Transient, Unavailable


class OrgNotFound(NotFound):
    """The same words for an organisation that does not exist and for another one's."""

    def __init__(self) -> None:
        super().__init__("there is no such organisation")


class ProjectNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the organisation has no such project")


class BuildNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the project has no such build; the id is wrong, or it was deleted")


class EditionNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the project has no such edition")


class SlugTaken(Refused):
    """Slugs are compared without regard to case."""

    code = "slug_taken"
    status = 409

    def __init__(self, what: str, slug: str) -> None:
        super().__init__(f"there is another {what} with the slug {slug[:128]!r}, perhaps in another case")


class NotUploaded(Refused):
    code = "not_uploaded"
    status = 409

    def __init__(self) -> None:
        super().__init__("nothing was uploaded for this build yet; PUT the archive to its upload_url first")


class BuildNotUsable(Refused):
    """An edition shows builds of its own project that are completed and not deleted."""

    code = "build_not_usable"
    status = 409


class BuildInUse(Refused):
    code = "build_in_use"
    status = 409

    def __init__(self, editions: Sequence[str]) -> None:
        super().__init__(f"the build is shown by {', '.join(editions[:10])}; let these show another one first")


class PurgatoryEntryNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("there is nothing to restore under this id; it was restored or purged")


class MainEditionStays(Refused):
    code = "main_edition"
    status = 403

    def __init__(self) -> None:
        super().__init__("the edition __main lives as long as its project; it cannot be deleted, and its kind stays main")


class OrgInUse(Refused):
    code = "org_in_use"
    status = 409

    def __init__(self) -> None:
        super().__init__("the organisation still has projects, or some that can be restored; delete and purge them first")


class ArchiveTooLarge(Refused):
    code = "upload_too_large"
    status = 413

    def __init__(self, limit: int) -> None:
        super().__init__(f"the archive is larger than {limit:,} bytes")


class CredentialNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the organisation has no such credential")


class ServiceNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("the organisation has no such service")


class LabelTaken(Refused):
    code = "label_taken"
    status = 409

    def __init__(self, what: str, label: str) -> None:
        super().__init__(f"the organisation has a {what} with the label {label[:128]!r} already")


class CredentialInUse(Refused):
    code = "credential_in_use"
    status = 409

    def __init__(self, services: Sequence[str]) -> None:
        super().__init__(f"the credential is used by {', '.join(services[:10])}; replace its secret, or delete these first")


class ServiceInUse(Refused):
    code = "service_in_use"
    status = 409

    def __init__(self, slots: Sequence[str]) -> None:
        super().__init__(f"the organisation uses the service as {', '.join(slots)}; let it use another one first")


class ProviderMismatch(Refused):
    """A service takes credentials of one provider, and a slot takes services of some."""

    code = "provider_mismatch"
    status = 409


class KeysUnavailable(Unavailable):
    """What encrypts credentials cannot be used. The message holds no secret."""

    code = "keys_unavailable"


class PublisherUnavailable(Transient):
    """What is published to cannot be reached or refuses. The message is shown to people and holds no secret."""

    code = "publisher_unavailable"


class TemplateFailed(Refused):
    """A dashboard template cannot be used, or fails with what a project has."""

    code = "template_failed"
    status = 422


class TemplateNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__("there is no dashboard template here; the built-in one is used")


class HooksNotConfigured(NotFound):
    def __init__(self) -> None:
        super().__init__("webhooks are not configured here; set docs.webhook_secret")


class SignatureInvalid(Refused):
    code = "signature_invalid"
    status = 401

    def __init__(self) -> None:
        super().__init__("X-Hub-Signature-256 must be `sha256=` and the HMAC of the body with the shared secret")


class DeliveryDiffers(Refused):
    """The id is that of another delivery."""

    code = "delivery_differs"
    status = 409

    def __init__(self) -> None:
        super().__init__("another delivery with this id was received before, and had another body")

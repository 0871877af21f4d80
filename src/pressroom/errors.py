"""The errors of Pressroom. They branch by what the reader of the error can do. Other modules define a few more, such as
`AddressRefused`; docs/errors.md lists the codes of all.

PressroomError
├── Refused                 correct the request: the same request will be refused again
│   ├── UnknownKind
│   ├── InvalidPayload
│   ├── PayloadTooLarge
│   ├── InvalidArgument     a key, delay, tier, filter or cursor out of bounds
│   ├── NotFound            unknown, or of another organisation
│   │   └── Expired         it existed and was deleted: render it again
│   ├── VersionGone         a version of a diagram that is no longer kept
│   ├── PreconditionFailed  the diagram is not as If-Match or If-None-Match has it
│   ├── RenderRefused       the render service answered 4xx
│   └── NotFinished         only a job that ended can be retried
├── Unavailable             wait and try again
│   ├── QueueFull
│   ├── QueueClosed
│   ├── CannotUnseal        a secret was encrypted with a key that this process does not have
│   └── StoreUnavailable
│       ├── StoreBusy
│       ├── StoreFull
│       ├── StoreReadOnly
│       ├── S3CredentialsMissing  neither the settings nor the machine has any
│       ├── S3CredentialsFailed   their source is set up and fails
│       ├── S3CredentialsExpired  they were not renewed in time
│       └── SourceInUse     another process may write to the database that is to be promoted
├── Unusable                an operator must correct the set-up
│   ├── InvalidSettings
│   ├── PackageMissing      a command needs a package that only an extra brings
│   ├── NotADatabase
│   ├── PrivilegesMissing   the role in PostgreSQL may not do what is needed; the message names the grants
│   ├── DatabaseMissing     a command that only reads was given a database that does not exist
│   ├── DatabaseTooNew
│   ├── DatabaseTooOld
│   ├── MigrationEdited     a migration's file is not the one that the database had
│   ├── DatabasePromoted    its jobs are in another database now
│   ├── TargetNotEmpty      the database to promote to has rows
│   ├── CopyDiffers         what arrived is not what was sent
│   ├── ArtifactsDamaged
│   ├── ArtifactStoreMismatch  the settings name another artifact store than the one that the database records
│   ├── ObanSchemaMismatch  the settings name another schema than the one that our triggers insert oban jobs into
│   └── UnsafeFilesystem
├── AttemptError            raised by a handler to say how its attempt ended
│   ├── SourceInvalid       the source is wrong: never retried
│   ├── Transient           may work next time
│   │   ├── BlobGone        the bytes were collected before their rows were written; the next attempt puts them again
│   │   ├── RenderUnreachable    no connection to the render service, or it broke
│   │   ├── RenderServiceFailed  the render service answered 5xx
│   │   └── RenderNotPdf    the render service answered with something else than a PDF
│   ├── Timeout
│   ├── TooLarge            the source, or what it makes, is past a limit: never retried
│   ├── EngineMissing       not installed here; the message names the command: never retried
│   ├── EngineCrashed       the process that rendered it crashed
│   ├── Backpressure        no capacity now: costs no attempt
│   └── Cancelled
├── Ended                   what wait() raises when there is no value
│   ├── JobFailed
│   └── JobCancelled
├── WaitTimeout             the caller stopped waiting; the job goes on
├── StopTimeout             jobs were still running when the grace was over; they were released
├── ClaimLost               this worker no longer owns the job; its late writes are refused
└── TransactionExpired      a transaction was held open for too long

Interrupted is a BaseException: it is raised in the thread of a handler to stop it.

`code` is public and never changes. `status` is the HTTP status the service answers with.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class PressroomError(Exception):
    """`engines` are those at whose work it happened, with their versions, where that is known. `detail` is text of another
    program, such as the body of its answer: for operators alone.
    """

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    engines: Mapping[str, str] | None = None
    detail: str | None = None


class Refused(PressroomError):
    code = "refused"
    status = 400


class UnknownKind(Refused):
    code = "unknown_kind"
    status = 422

    def __init__(self, name: str, known: list[str]) -> None:
        offer = f"known kinds: {', '.join(sorted(known))}" if known else "no kinds are registered here"
        super().__init__(f"there is no kind {name!r}; {offer}")


class InvalidPayload(Refused):
    code = "invalid_payload"
    status = 422


class PayloadTooLarge(Refused):
    code = "payload_too_large"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the payload is {size:,} bytes as JSON; the limit is {limit:,}")


class InvalidArgument(Refused):
    code = "invalid_argument"
    status = 422


class NotFound(Refused):
    code = "not_found"
    status = 404


class Expired(NotFound):
    code = "expired"


class VersionGone(Refused):
    code = "version_gone"
    status = 410


class PreconditionFailed(Refused):
    code = "precondition_failed"
    status = 412


class RenderRefused(Refused):
    code = "render_http_4xx"
    status = 422

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class NotFinished(Refused):
    code = "not_finished"
    status = 409


class Unavailable(PressroomError):
    code = "unavailable"
    status = 503


class QueueFull(Unavailable):
    code = "queue_full"

    def __init__(self, limit: int, retry_after: float) -> None:
        super().__init__(f"the queue holds its limit of {limit:,} jobs; try again in {retry_after:g} s")
        self.retry_after = retry_after


class QueueClosed(Unavailable):
    code = "queue_closed"

    def __init__(self, message: str = "the queue is closed") -> None:
        super().__init__(message)


class CannotUnseal(Unavailable):
    code = "cannot_unseal"


class StoreUnavailable(Unavailable):
    """`dependency` is what cannot be used: the database, the artifacts, or the file of the secret key."""

    code = "store_unavailable"

    def __init__(self, message: str = "", *, dependency: str = "database") -> None:
        super().__init__(message)
        self.dependency = dependency


class StoreBusy(StoreUnavailable):
    code = "store_busy"


class StoreFull(StoreUnavailable):
    code = "store_full"


class StoreReadOnly(StoreUnavailable):
    code = "store_read_only"


class S3CredentialsMissing(StoreUnavailable):
    code = "s3_credentials_missing"


class S3CredentialsFailed(StoreUnavailable):
    code = "s3_credentials_failed"


class S3CredentialsExpired(StoreUnavailable):
    code = "s3_credentials_expired"


class SourceInUse(StoreUnavailable):
    code = "source_in_use"


class Unusable(PressroomError):
    code = "unusable"


class InvalidSettings(Unusable):
    """Every problem at once, because mending one per start is a waste of an afternoon."""

    code = "invalid_settings"

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class PackageMissing(Unusable):
    code = "package_missing"

    def __init__(self, package: str, extras: str) -> None:
        super().__init__(f"this needs the package {package}; pip install 'pressroom[{extras}]'")


class NotADatabase(Unusable):
    code = "not_a_database"


class PrivilegesMissing(Unusable):
    code = "privileges_missing"


class DatabaseMissing(Unusable):
    code = "database_missing"

    def __init__(self, place: str) -> None:
        super().__init__(f"there is no database of ours at {place}; `pressroom serve`, `work` or `migrate` make one")


class DatabaseTooNew(Unusable):
    code = "database_too_new"


class DatabaseTooOld(Unusable):
    code = "database_too_old"


class MigrationEdited(Unusable):
    code = "migration_edited"


class DatabasePromoted(Unusable):
    code = "database_promoted"

    def __init__(self, path: str, to: str) -> None:
        super().__init__(f"{path} was promoted to {to}; use that database instead (docs/promote.md)")


class TargetNotEmpty(Unusable):
    code = "target_not_empty"


class CopyDiffers(Unusable):
    code = "copy_differs"


class ArtifactsDamaged(Unusable):
    code = "artifacts_damaged"


class ArtifactStoreMismatch(Unusable):
    code = "artifact_store_mismatch"
    status = 503
    dependency = "artifacts"


class ObanSchemaMismatch(Unusable):
    code = "oban_schema_mismatch"

    def __init__(self, found: str, schema: str) -> None:
        super().__init__(
            f"this database's triggers insert oban jobs into the schema {found}, and oban_schema is {schema}; give every "
            "process the same oban_schema, or move to another one as docs/oban.md says"
        )


class UnsafeFilesystem(Unusable):
    code = "unsafe_filesystem"


class AttemptError(PressroomError):
    code = "attempt"


class SourceInvalid(AttemptError):
    code = "source_invalid"
    status = 422

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None, excerpt: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.excerpt = excerpt


class Transient(AttemptError):
    code = "transient"


class BlobGone(Transient):
    code = "blob_gone"


class RenderUnreachable(Transient):
    code = "render_unreachable"
    status = 502


class RenderServiceFailed(Transient):
    code = "render_http_5xx"
    status = 502


class RenderNotPdf(Transient):
    code = "render_not_pdf"
    status = 502


class Timeout(AttemptError):
    code = "timeout"
    status = 504

    def __init__(self, message: str = "the time limit was reached") -> None:
        super().__init__(message)


class TooLarge(AttemptError):
    code = "too_large"
    status = 413


class EngineMissing(AttemptError):
    code = "engine_missing"
    status = 501


class EngineCrashed(AttemptError):
    code = "engine_crashed"


class Backpressure(AttemptError):
    code = "backpressure"
    status = 503

    def __init__(self, message: str = "no room at the moment", *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Cancelled(AttemptError):
    code = "cancelled"

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)


class Interrupted(BaseException):
    """Raised in a handler's thread to stop it. Not an Exception, so that a broad `except Exception` lets it through."""


class Ended(PressroomError):
    """A job that ended without a value. `error` is its last error as the API shows it."""

    def __init__(self, uid: str, error: dict[str, Any] | None) -> None:
        self.uid = uid
        self.error = error or {}
        super().__init__(f"job_{uid} {self.verb}: {self.error.get('message', 'no reason was given')}")

    verb: ClassVar[str] = "ended"


class JobFailed(Ended):
    code = "job_failed"
    verb = "failed"


class JobCancelled(Ended):
    code = "job_cancelled"
    verb = "was cancelled"


class WaitTimeout(PressroomError):
    code = "wait_timeout"
    status = 504

    def __init__(self, uid: str, seconds: float) -> None:
        self.uid = uid
        super().__init__(f"job_{uid} had not ended after {seconds:g} s; it goes on, and can be waited for again")


class StopTimeout(PressroomError):
    code = "stop_timeout"

    def __init__(self, released: int, grace: float) -> None:
        self.released = released
        super().__init__(f"{released} jobs were still running after {grace:g} s and went back to the queue")


class ClaimLost(PressroomError):
    code = "claim_lost"


class TransactionExpired(PressroomError):
    """Over HTTP the transaction is the service's own, so its caller may try again: the machine was too busy."""

    code = "transaction_expired"
    status = 503

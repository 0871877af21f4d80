"""Exit codes. Public: scripts depend on them, so they never change meaning."""

from pressroom.errors import (
    ArtifactStoreMismatch,
    DatabaseMissing,
    DatabasePromoted,
    DatabaseTooNew,
    DatabaseTooOld,
    JobCancelled,
    JobFailed,
    MigrationEdited,
    NotADatabase,
    NotFound,
    ObanSchemaMismatch,
    PackageMissing,
    PressroomError,
    PrivilegesMissing,
    QueueFull,
    Refused,
    SourceInvalid,
    Timeout,
    Unavailable,
    UnsafeFilesystem,
    WaitTimeout,
)

OK = 0
FAILED = 1
USAGE = 2
SOURCE_INVALID = 3
UNAVAILABLE = 4
TIMEOUT = 5
NOT_FOUND = 6
NOT_ALLOWED = 7
QUEUE_FULL = 8
PARTIAL = 9
INTERRUPTED = 130


def exit_code_for(error: PressroomError) -> int:
    match error:
        case NotFound():
            return NOT_FOUND
        case QueueFull():
            return QUEUE_FULL
        case Unavailable():
            return UNAVAILABLE
        case WaitTimeout() | Timeout():
            return TIMEOUT
        case SourceInvalid():
            return SOURCE_INVALID
        case JobFailed() if error.error.get("code") == "source_invalid":
            return SOURCE_INVALID
        case JobFailed() | JobCancelled():
            return FAILED
        # Starting again would end the same way. A service manager is told by this code not to (RestartPreventExitStatus).
        case DatabaseTooNew() | DatabaseTooOld() | DatabasePromoted() | NotADatabase() | UnsafeFilesystem() | PackageMissing():
            return USAGE
        case DatabaseMissing() | MigrationEdited() | ArtifactStoreMismatch() | ObanSchemaMismatch() | PrivilegesMissing():
            return USAGE
        case Refused() if error.status in (401, 403):
            return NOT_ALLOWED
        case Refused():
            return USAGE
        case _:
            return FAILED

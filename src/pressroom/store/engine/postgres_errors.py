"""PostgreSQL's errors as ours."""

import psycopg
from psycopg import errors

from pressroom.config import mask_password
from pressroom.errors import PrivilegesMissing, StoreBusy, StoreFull, StoreReadOnly, StoreUnavailable


class PostgresErrors:
    """Turn PostgreSQL's errors into ours. The address is told without its password."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, psycopg.Error) and (ours := translate_error(error, self._url)) is not error:
            raise ours from error


def translate_error(error: psycopg.Error, url: str) -> BaseException:
    place = mask_password(url)
    match error:
        case errors.InsufficientPrivilege():
            return PrivilegesMissing(
                f"{place}: {_first_line(error)}; grant this role what docs/deployment.md lists (Roles on PostgreSQL)"
            )
        case errors.DiskFull() | errors.InsufficientResources():
            return StoreFull(f"the server of {place} has no room left; nothing was written")
        case errors.ReadOnlySqlTransaction():
            return StoreReadOnly(f"{place} cannot be written to: the server only reads, as a standby does")
        case errors.DeadlockDetected() | errors.SerializationFailure() | errors.LockNotAvailable():
            return StoreBusy(f"{place} was busy with others: {_first_line(error)}")
        case errors.InvalidSqlStatementName() | errors.DuplicatePreparedStatement():
            return StoreUnavailable(f"the session at {place} had other prepared statements than expected")
        case psycopg.OperationalError() | psycopg.InterfaceError() | errors.IdleInTransactionSessionTimeout():
            return StoreUnavailable(f"{place} cannot be reached: {_first_line(error)}")
        case _:
            return error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no reason was given"])[0]

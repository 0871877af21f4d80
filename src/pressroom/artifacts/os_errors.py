"""What a disk says, as our errors: full, read-only, or out of reach."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from pressroom.errors import StoreFull, StoreReadOnly, StoreUnavailable


@contextmanager
def translate_os_errors(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _error_class(error)(f"{place}: {error.strerror}", dependency="artifacts") from error


def _error_class(error: OSError) -> type[StoreUnavailable]:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StoreFull
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return StoreReadOnly
        case _:
            return StoreUnavailable

"""Large blocks of memory go back to the operating system when they are freed."""

import ctypes
from contextlib import suppress

LARGE = 1024 * 1024  # bytes
_M_MMAP_THRESHOLD = -3  # as malloc.h of glibc numbers it


def return_large_blocks() -> None:
    """For a process that reads large bodies in threads. Does nothing where the C library is not glibc.

    glibc maps a large block by itself and returns it when it is freed, but raises the size from which it does so to that of the
    largest block that was freed, up to 32 MB. From then on each thread's arena keeps what one large body needed: six threads
    kept 188 MB. A fixed size stays as it is.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE)

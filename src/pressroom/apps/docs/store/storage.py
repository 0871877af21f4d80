"""What a project stores, and what that takes."""

import msgspec

from pressroom.model import Statement, Work


class Storage(msgspec.Struct, frozen=True):
    """Bytes of the builds of a project, and what they take because equal files are stored once."""

    builds: int
    files: int
    bytes: int
    stored_bytes: int


def measure_storage(project: str) -> Work[Storage]:
    """Of builds that are not purged yet: those that were deleted count too."""
    ((builds, files, size),) = yield Statement("docs.sum_builds", {"project": project})
    ((stored,),) = yield Statement("docs.sum_stored_bytes", {"project": project})
    return Storage(int(builds), int(files), int(size), int(stored))

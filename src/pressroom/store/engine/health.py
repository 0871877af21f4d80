"""What looking after a database finds."""

from typing import NamedTuple


class HealthFinding(NamedTuple):
    """One thing that was looked at. `mend` says what to do if it is not well, `warning` what to know if it is. `code`
    is the stable name of the problem, where it has one."""

    what: str
    well: bool
    detail: str
    mend: str = ""
    warning: str = ""
    code: str = ""

"""Whether this Python is new enough, and which known vulnerabilities of its patch level concern us."""

import sys
from typing import NamedTuple

from pressroom.store.engine.health import HealthFinding

OLDEST = (3, 12)


class KnownVulnerability(NamedTuple):
    """`mended` is the first patch level without it, by minor version; a minor version that is not named never had it."""

    id: str
    what: str
    mended: dict[tuple[int, int], int]


KNOWN_VULNERABILITIES = (
    KnownVulnerability("CVE-2024-4032", "ipaddress takes some private addresses for public ones", {(3, 12): 4}),
    KnownVulnerability("CVE-2024-7592", "reading cookies takes quadratic time", {(3, 12): 6}),
    KnownVulnerability("CVE-2024-12254", "asyncio buffers without a bound in writelines", {(3, 12): 9, (3, 13): 2}),
)


def examine_python(version: tuple[int, int, int] = sys.version_info[:3]) -> HealthFinding:
    major, minor, patch = version
    holes = [hole for hole in KNOWN_VULNERABILITIES if patch < hole.mended.get((major, minor), 0)]
    told = "; ".join(f"{hole.id}: {hole.what}" for hole in holes)
    least = max((hole.mended[major, minor] for hole in holes), default=0)
    warning = f"upgrade to {major}.{minor}.{least} or newer; {told}" if holes else ""
    return HealthFinding("python", (major, minor) >= OLDEST, f"{major}.{minor}.{patch}", "use Python 3.12 or newer", warning)

"""What befalls the servers and workers of the wiki. Who is in the team is told in `http_nemesis`."""

from tests.reliability import http_nemesis
from tests.reliability.nemesis import Fate

# A revision and its job are written in a transaction that is held open. HTML is a row: no bytes go to the disk.
SERVER_POINTS = http_nemesis.SERVER_POINTS | {"transaction.held": 6}
WORKER_POINTS = {point: most for point, most in http_nemesis.WORKER_POINTS.items() if not point.startswith("blob.")}

TEAM = http_nemesis.TEAM
FATES = {
    "house": Fate((30, 50, 10, 10), (1.5, 4.0), SERVER_POINTS | WORKER_POINTS),
    "counter": Fate((30, 60, 5, 5), (0.2, 0.8), SERVER_POINTS),
    "press": Fate((30, 50, 10, 10), (1.5, 4.0), WORKER_POINTS),
}
POINTS = SERVER_POINTS.keys() | WORKER_POINTS.keys()

"""What befalls the servers, the workers and the edge of documentation."""

from pressroom.failpoints import DOCS_POINTS, WRITE_POINTS
from tests.reliability import http_nemesis
from tests.reliability.nemesis import Fate

SERVER_POINTS = http_nemesis.SERVER_POINTS | {"transaction.held": 6, "upload.written": 3}
WORKER_POINTS = http_nemesis.WORKER_POINTS | dict.fromkeys(DOCS_POINTS | WRITE_POINTS, 3)

TEAM = {"counter": 2, "press": 2, "edge": 1}
FATES = {
    "counter": Fate((30, 55, 8, 7), (0.5, 2.0), SERVER_POINTS),
    "press": Fate((35, 45, 10, 10), (1.5, 4.0), WORKER_POINTS),
    "edge": Fate((60, 0, 20, 20), (3.0, 8.0), {"reply.before_send": 1}),
}
POINTS = SERVER_POINTS.keys() | WORKER_POINTS.keys()

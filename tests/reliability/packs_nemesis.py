"""What befalls the servers, the workers and the render service of packs."""

from tests.reliability import http_nemesis
from tests.reliability.nemesis import Fate

# A render is submitted in a transaction that is held open, and so is a pack with its Idempotency-Key.
SERVER_POINTS = http_nemesis.SERVER_POINTS | {"transaction.held": 6}
WORKER_POINTS = http_nemesis.WORKER_POINTS
SERVICE_POINTS = {"reply.before_send": 6}

TEAM = {"counter": 2, "press": 2, "printer": 1}
FATES = {
    "counter": Fate((30, 55, 8, 7), (0.5, 2.0), SERVER_POINTS),
    "press": Fate((30, 50, 10, 10), (1.5, 4.0), WORKER_POINTS),
    "printer": Fate((40, 30, 15, 15), (2.0, 5.0), SERVICE_POINTS),
}
POINTS = SERVER_POINTS.keys() | WORKER_POINTS.keys() | SERVICE_POINTS.keys()

"""What befalls servers and workers over HTTP. A house serves and works, a counter only serves, a press only works."""

from tests.reliability.nemesis import Fate

SERVER_POINTS = {
    "submit.validated": 6,
    "submit.before_commit": 6,
    "submit.after_commit": 6,
    "reply.before_send": 8,
}
WORKER_POINTS = {
    "turn.before_commit": 12,
    "turn.after_commit": 12,
    "blob.temp_written": 6,
    "blob.renamed": 6,
    "handler.started": 8,
    "handler.returned": 8,
}

# A press takes a second to warm up, and a worker that is killed before has rendered nothing: those are left alone longer.
TEAM = {"house": 1, "counter": 4, "press": 1}
FATES = {
    "house": Fate((30, 50, 10, 10), (1.5, 4.0), SERVER_POINTS | WORKER_POINTS),
    "counter": Fate((30, 60, 5, 5), (0.2, 0.8), SERVER_POINTS),
    "press": Fate((30, 50, 10, 10), (1.5, 4.0), WORKER_POINTS),
}
POINTS = SERVER_POINTS.keys() | WORKER_POINTS.keys()

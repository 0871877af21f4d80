"""How much of everything is measured. The full sizes are those that the aims speak of; the quick ones are for trying."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    jobs: int  # submitted or drained in one round
    rounds: int
    huey_jobs: int  # the peers are slower; as many jobs as ours would take minutes
    dbos_jobs: int
    peer_rounds: int
    pick_ups: int
    waits: int  # interactive jobs in one round of the flood, and as many without it
    wait_rounds: int
    deep: int  # what "a million" is
    claims: int


FULL = Sizes(
    jobs=10_000,
    rounds=11,
    huey_jobs=6_000,
    dbos_jobs=800,
    peer_rounds=3,
    pick_ups=400,
    waits=300,
    wait_rounds=4,
    deep=1_000_000,
    claims=300,
)

QUICK = Sizes(
    jobs=5_000,
    rounds=3,
    huey_jobs=2_000,
    dbos_jobs=200,
    peer_rounds=1,
    pick_ups=100,
    waits=150,
    wait_rounds=1,
    deep=100_000,
    claims=60,
)

SHALLOW = 1_000  # what a deep queue is compared with
FLOOD = 10_000
LINE = 10_000  # jobs behind one busy key

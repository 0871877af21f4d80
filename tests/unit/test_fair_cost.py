"""What it costs a claim that organisations take turns: counted in steps of SQLite's virtual machine, and in statements."""

import pytest

from pressroom import kind
from pressroom.store.jobs import claiming
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.claiming import FreeSlots
from pressroom.store.jobs.fairness import last_org_served
from pressroom.testing import SteppedStore
from pressroom.worker.context import RunningJob
from tests.vm_steps import Cost, counted

KINDS = [f"kind-{n}" for n in range(12)]
QUEUED = 5_000
SLOTS = 8

FILL = """
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :queued)
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, on_key, max_attempts, max_crashes, org_id, retention, date_created)
SELECT i, printf('%026d', i), 'kind-3', 0, i, 0, 'queued', 'skip', 1, 1, printf('org-%03d', i * :orgs / (:queued + 1)), 0, 0
  FROM n
"""

# The claims of the release before organisations took turns, of the same jobs: measured by the same lines.
PLAIN_ORDER = {1: Cost(statements=21, steps=829), 4: Cost(statements=21, steps=2_128)}
# What claims cost now, by organisations and free slots: more would be a regression.
PRESENT = {
    (1, 1): Cost(statements=7, steps=975),
    (1, 4): Cost(statements=7, steps=2_364),
    (100, 1): Cost(statements=10, steps=1_140),
    (100, 4): Cost(statements=10, steps=2_778),
}


async def nothing(job: RunningJob, payload: object) -> None: ...


def cost_of_a_claim(organisations: int, free: int) -> Cost:
    """Of the sixth claim in a row, by a worker of which the other slots are busy."""
    store = SteppedStore()
    store.run(kind_rows.register({name: kind(name)(nothing) for name in KINDS}))
    store.raw.execute(FILL, {"queued": QUEUED, "orgs": organisations})
    store.raw.execute("INSERT INTO job_payload SELECT id, '{}' FROM job")
    after = last_org_served(store.run(claiming.claim("w", KINDS, FreeSlots(SLOTS, 0), 1_000)), "")
    for _ in range(6):
        store.raw.execute(
            "UPDATE job SET status = 'queued', worker = NULL, lease_until = NULL"
            " WHERE id IN (SELECT id FROM job WHERE status = 'in_progress' ORDER BY claim, id LIMIT ?)",
            (free,),
        )
        with counted(store.raw) as cost:
            claims = store.run(claiming.claim("w", KINDS, FreeSlots(free, 0), 1_000, after))
        assert len(claims) == free
        after = last_org_served(claims, after)
    return cost


@pytest.mark.parametrize("free", PLAIN_ORDER)
def test_a_claim_of_one_organisation_costs_no_more_statements(free: int) -> None:
    cost = cost_of_a_claim(1, free)

    assert cost.statements <= PLAIN_ORDER[free].statements
    assert cost.total <= 1.1 * PLAIN_ORDER[free].total


@pytest.mark.parametrize("free", PLAIN_ORDER)
def test_a_claim_where_a_hundred_organisations_wait_costs_little_more(free: int) -> None:
    cost = cost_of_a_claim(100, free)

    assert cost.statements <= PLAIN_ORDER[free].statements + 3
    assert cost.total <= 1.3 * PLAIN_ORDER[free].total


@pytest.mark.parametrize(("organisations", "free"), PRESENT)
def test_a_claim_costs_no_more_than_it_did(organisations: int, free: int) -> None:
    cost, present = cost_of_a_claim(organisations, free), PRESENT[organisations, free]

    assert cost.statements <= present.statements
    assert cost.steps <= 1.05 * present.steps


def test_a_claim_costs_the_same_however_many_organisations_wait() -> None:
    assert cost_of_a_claim(1_000, 4).steps <= 1.05 * cost_of_a_claim(100, 4).steps

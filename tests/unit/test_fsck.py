"""The checker of the database is shown to catch each thing that it looks for."""

import pytest

from pressroom.store.engine import fsck
from pressroom.store.engine.fsck import Check
from pressroom.testing import SteppedStore

GUARDS = """
DROP TRIGGER job_moves; DROP TRIGGER job_is_born_queued; DROP TRIGGER job_event_is_append_only;
DROP TRIGGER job_claim_only_grows; DROP TRIGGER job_delete_only_ended;
DROP INDEX job_holder; DROP INDEX job_event_ending;
"""

A_JOB = """
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, max_attempts, max_crashes, on_key, retention, date_created)
VALUES (1, '00000000000000000000000001', 'k', 1, 1, 0, 'queued', 3, 3, 'skip', 0, 0);
INSERT INTO job_payload VALUES (1, '{}');
INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'queued');
UPDATE sequence SET value = 10;
"""

ANOTHER = """
INSERT INTO job (id, uid, kind, tier, seq, run_at, status, max_attempts, max_crashes, on_key, retention, date_created)
VALUES (2, '00000000000000000000000002', 'k', 1, 2, 0, 'queued', 3, 3, 'skip', 0, 0);
INSERT INTO job_payload VALUES (2, '{}');
INSERT INTO job_event (job_id, at, type) VALUES (2, 0, 'queued');
"""

ENDED = "UPDATE job SET status = 'failed', date_completed = 1, prune_after = 1 WHERE id = 1;"
FAILED_EVENT = "INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'failed');"

AN_ALERT = """
INSERT INTO alert (org_id, kind, subject, code, message, count, job_uid, job_id, first_at, last_at, notified_at)
VALUES ('', 'k', '', 'c', 'm', 1, '00000000000000000000000001', 1, 0, 0, 0);
"""

DAMAGE = {
    "two_holders_of_a_key": ANOTHER + "UPDATE job SET key = 'a'",
    "stranded_line": "UPDATE job SET key = 'a', waits_for = 'key'",
    "ended_without_its_event": ENDED,
    "ended_more_than_once": ENDED + FAILED_EVENT + FAILED_EVENT,
    "open_with_an_ending": FAILED_EVENT,
    "history_after_the_end": ENDED + FAILED_EVENT + "INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'progress')",
    "illegal_history": "INSERT INTO job_event (job_id, at, type) VALUES (1, 0, 'retrying')",
    "missing_payload": "DELETE FROM job_payload",
    "too_many_attempts": "UPDATE job SET failures = 4",
    "cache_without_result": "INSERT INTO render_cache VALUES ('f', '', 'k', '{}', 1, NULL, NULL, 0, 0, 9, 0, NULL)",
    "items_of_the_future": "INSERT INTO job_item VALUES (1, 5, 'editions', 'main', 0, 'completed', NULL)",
    "progress_past_its_total": 'UPDATE job SET progress = \'{"done": 3, "total": 2}\'',
    "sequence_behind": "UPDATE sequence SET value = 0",
    "superseded_but_not_ended": "UPDATE job SET superseded_by = 'x'",
    "cancel_lost": "UPDATE job SET cancel_requested = 1;" + ENDED + FAILED_EVENT,
    "alert_of_another_job": AN_ALERT,
    "failed_without_an_alert": "INSERT INTO kind (name, alert_since) VALUES ('k', 0);" + ENDED + FAILED_EVENT,
    "tick_ahead_of_its_schedule": """
        INSERT INTO schedule VALUES ('s', '* * * * *', 'k', '{}', 'one', NULL, 5);
        INSERT INTO schedule_tick VALUES ('s', 9, 'x')""",
}


@pytest.fixture
def store() -> SteppedStore:
    store = SteppedStore()
    store.raw.execute(GUARDS + A_JOB)
    return store


def found(store: SteppedStore) -> set[str]:
    return {violation.check for violation in store.run(fsck.audit())}


def test_a_sound_database_passes(store: SteppedStore) -> None:
    assert found(store) == set()


@pytest.mark.parametrize("check", fsck.checks(), ids=lambda check: check.name)
def test_each_check_catches_what_it_is_for(store: SteppedStore, check: Check) -> None:
    store.raw.execute(DAMAGE[check.name])

    assert check.name in found(store)
    assert check.meaning.endswith("."), "the first comment of each file is a sentence for people"


def test_rows_without_their_job_are_found(store: SteppedStore) -> None:
    store.raw.execute("PRAGMA foreign_keys = OFF")
    store.raw.execute("INSERT INTO job_payload VALUES (77, '{}')")

    assert found(store) == {"orphan"}

"""Differences planted on one side of the twins: a statement of the server's that says something else than SQLite's.

None breaks a promise that the machine knows of, so it is the comparison that must notice.
"""

from tests.machine.broken import Mistake

PLANTED = [
    Mistake(name, "twins", statement, says, instead, dialects=("postgres",))
    for name, statement, says, instead in [
        ("a_message_is_lost", "settle_jobs", "coalesce(s.message, last_error)", "last_error"),
        ("an_attempt_is_told_wrongly", "record_starts", "failures + 1", "failures"),
        ("a_hit_is_not_counted", "count_cache_hit", "hits + 1", "hits"),
        ("the_start_of_the_first_attempt", "claim_jobs", "date_started = :now", "date_started = coalesce(date_started, :now)"),
        ("what_runs_is_not_counted", "count_running", "count(*)", "count(*) + 1"),
        ("a_message_stays", "requeue_lost", "run_at = :run_at,", "run_at = :run_at, last_error = 'lost',"),
    ]
]  # fmt: skip

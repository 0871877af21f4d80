"""Settles by id alone: a worker that slept past its lease settles a job that is no longer its own."""

from tests.reliability.naive import replace

# The database refuses a second ending whatever the code does. To see the judge catch it, the guards have to go.
UNGUARD = ["DROP TRIGGER job_moves", "DROP INDEX job_event_ending"]


def spoil(statements: dict[str, str]) -> None:
    replace(statements, "settle_jobs", " AND job.claim = s.claim AND job.status = 'in_progress'", "")
    believed = "(SELECT value->>1 FROM json_each(:settlements) WHERE value->>0 = job.id)"
    replace(statements, "settle_jobs", "RETURNING job.id, job.claim,", f"RETURNING job.id, {believed},")

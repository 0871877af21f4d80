"""Whether jobs can be submitted now: the statements of a submit, without a job that stays."""

from contextlib import suppress

from pressroom.ids import new_uid
from pressroom.model import OnKey, Tier, Work
from pressroom.store import Database
from pressroom.store.jobs import queries, submitting

KIND = "pressroom.probe"


class _Undone(Exception):
    """Raised so that the transaction is rolled back."""


async def submit_no_jobs(database: Database) -> None:
    """Over the connection, with the locks, the prepared statement and the commit of a submit. Raises what a submit would."""
    await database.run(
        lambda: submitting.insert_new_jobs((), single_round_trip=database.has_concurrent_writers),
        name="probe",
        shared_lock=True,
    )


async def submit_and_undo(database: Database) -> None:
    """Insert a job, with all triggers and constraints, and roll it back. Finds more than `submit_no_jobs`, and costs more."""
    with suppress(_Undone):
        await database.run(_insert_and_undo, name="probe", shared_lock=True)


def _insert_and_undo() -> Work[None]:
    new = submitting.CheckedJob(new_uid(), KIND, Tier.BACKGROUND, "null", OnKey.COALESCE, 1, 1, 0)
    yield from submitting.insert_new_jobs((new,))
    yield from queries.get(new.uid)  # inserts are sent with the next statement that returns rows
    raise _Undone

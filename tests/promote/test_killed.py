"""A promotion may be killed anywhere; the next run brings it to the same end (R1)."""

import signal

import pytest

from pressroom.app import BUILT_IN_SCHEMA
from pressroom.failpoints import PROMOTE_POINTS
from pressroom.store.engine import postgres_health
from tests import looking
from tests.promote.conftest import Promote, promote_elsewhere
from tests.promote.same import assert_same

PLACES = [f"promote.{place}" for place in ("prepared", "before_batch@3", "after_batch@9", "verified", "marked", "finished")]


def kill(source: str, to: str, place: str) -> None:
    point, _, when = place.partition("@")
    process = promote_elsewhere(source, to, f"{point}=kill" + (f"@{when}" if when else ""))
    _, said = process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL, said


@pytest.mark.sampled(6)
@pytest.mark.parametrize("place", PLACES)
def test_killed_anywhere_the_next_run_ends_it(place: str, promote: Promote, source: str, on_server: str) -> None:
    kill(source, on_server, place)

    ran = promote("--json")

    assert ran.code == 0, ran.err
    assert ran.data["done_before"] is (place == "promote.finished")
    assert_same(source, on_server)
    assert postgres_health.audit(on_server, BUILT_IN_SCHEMA) == []
    assert looking.rows(on_server, "SELECT count(*) FROM pg_namespace WHERE nspname = 'pressroom_promotion'") == [(0,)]


def test_every_place_is_tried() -> None:
    tried = {place.partition("@")[0] for place in PLACES}

    assert tried == PROMOTE_POINTS - {"promote.blob_copied"}, "that one has a test of its own, with a bucket"


def test_what_was_copied_is_not_copied_again(promote: Promote, source: str, on_server: str) -> None:
    kill(source, on_server, "promote.after_batch@9")
    looking.change(on_server, "CREATE SEQUENCE public.copied")
    looking.change(
        on_server,
        "CREATE FUNCTION public.count_copy() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM nextval('public.copied'); RETURN NULL; END $$",
    )
    copied = [name for (name,) in looking.rows(on_server, "SELECT name FROM pressroom_promotion.pressroom_promotion_table")]
    for table in copied:
        looking.change(
            on_server,
            f"CREATE TRIGGER counted AFTER INSERT ON pressroom_promotion.{table} "
            "FOR EACH ROW EXECUTE FUNCTION public.count_copy()",
        )

    assert promote().code == 0

    assert len(copied) == 9
    assert looking.rows(on_server, "SELECT is_called FROM public.copied") == [(False,)]
    assert_same(source, on_server)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE job SET subject = 'changed' WHERE status = 'queued'",
        "DELETE FROM job_event WHERE id = 2",
        "INSERT INTO kind (name) VALUES ('aardvark')",
    ],
)
def test_a_source_that_went_on_meanwhile_is_copied_as_it_is_now(
    change: str, promote: Promote, source: str, on_server: str
) -> None:
    """Killed before its end a promotion leaves the source as it was: others may go on with it."""
    kill(source, on_server, "promote.verified")
    looking.change(source, change)

    assert promote().code == 0
    assert_same(source, on_server)


def test_killed_after_the_mark_the_source_takes_nothing_more_and_only_its_own_target(
    promote: Promote, source: str, on_server: str, postgres_server: str
) -> None:
    kill(source, on_server, "promote.marked")

    elsewhere = promote(to=postgres_server)

    assert (elsewhere.code, "[database_promoted]" in elsewhere.err) == (2, True)
    assert on_server in elsewhere.err
    assert promote().code == 0

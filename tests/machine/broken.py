"""The store with one thing broken at a time, to see that the machine notices.

Each mistake is a small one that somebody could make: a condition left out, a column forgotten. Where a constraint or a
trigger of the database would refuse it, that guard is taken away too, so that it is the machine that must speak.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from pressroom.model import Statement, Work
from pressroom.store.engine.statements import load
from pressroom.store.jobs import claiming, endings, fairness, submitting
from pressroom.store.jobs import kinds as kind_rows
from pressroom.store.jobs.endings import Settled
from pressroom.store.jobs.fairness import Candidate
from pressroom.store.jobs.transitions import Kinds
from tests.machine.machine import QueueMachine
from tests.machine.on_postgres import stories_on
from tests.machine.on_sqlite import OnSqlite

_MODULES = (submitting, claiming, kind_rows, endings)
_give_back = claiming.release_unknown_claims
_choose = fairness.choose_jobs
_KEY_GUARD = ("INDEX job_holder",)
_ENDING_GUARDS = ("TRIGGER job_moves", "INDEX job_event_ending")
_DELETE_GUARD = ("TRIGGER job_delete_only_ended",)


@dataclass(frozen=True)
class Mistake:
    name: str
    breaks: str  # the laws that may notice first
    statement: str = ""
    says: str = ""  # what is taken out of the statement, which must be in it
    instead: str = ""
    patch: tuple[str, Callable[..., Any]] | None = None  # a function of store/, wherever it is called by its name
    guards: tuple[str, ...] = ()
    on_postgres: tuple[str, str] | None = None  # `says` and `instead` where its statement has another text
    dialects: tuple[str, ...] = ("sqlite", "postgres")

    @contextmanager
    def made(self, dialect: str) -> Iterator[None]:
        """Make it, and mend it afterwards. Connections to PostgreSQL must be opened meanwhile: each has texts of its own."""
        texts = load(dialect)
        text = texts.get(self.statement, "")
        says, instead = self.on_postgres if self.on_postgres and dialect == "postgres" else (self.says, self.instead)
        assert says in text, f"{self.statement}.sql no longer says {says!r}; break it in another way"
        called = [] if self.patch is None else [module for module in _MODULES if hasattr(module, self.patch[0])]
        function = getattr(called[0], self.patch[0]) if self.patch is not None else None
        if self.statement:
            texts[self.statement] = text.replace(says, instead) if says else instead
        for module in called:
            setattr(module, *self.patch)
        try:
            yield
        finally:
            if self.statement:
                texts[self.statement] = text
            for module in called:
                setattr(module, self.patch[0], function)

    @contextmanager
    def on_sqlite(self) -> Iterator[type[QueueMachine]]:
        """The machine on a database with this mistake, and without the guards that would refuse it."""
        with self.made("sqlite"):
            yield played_on(partial(OnSqlite, self.guards))

    @contextmanager
    def on_server(self, address: str) -> Iterator[type[QueueMachine]]:
        """The same, on a database of its own: its guards do not come back."""
        with self.made("postgres"), stories_on(address, self.guards) as server:
            yield played_on(server)


def played_on(*stages: Callable[[], Any], machine: type[QueueMachine] = QueueMachine) -> type[QueueMachine]:
    return type(machine.__name__, (machine,), {"stages": stages})


def _choose_all(candidates: list[Candidate], *_: object) -> list[int]:
    return [one.id for one in candidates]


def _choose_without_reserve(candidates: list[Candidate], room: dict[int, int], *rest: Any) -> list[int]:
    return _choose(candidates, dict.fromkeys(room, room[0]), *rest)


def _choose_by_place(candidates: list[Candidate], room: dict[int, int], *rest: Any) -> list[int]:
    allowed = set(_choose([one for one in candidates if one.tier > 0], room, *rest))
    rest_of_them = [one for one in candidates if one.tier == 0 or one.id in allowed]
    return [one.id for one in sorted(rest_of_them, key=lambda one: one.seq)][: room[0]]


def _choose_in_one_line(candidates: list[Candidate], room: dict[int, int], running: Any, spare: Any, after: str) -> list[int]:
    """As if all organisations were one."""
    return _choose([one._replace(org_id="") for one in candidates], room, {}, spare, after)


def _choose_by_name(candidates: list[Candidate], room: dict[int, int], running: Any, spare: Any, after: str) -> list[int]:
    """Between equals always the same organisation is next."""
    return _choose(candidates, room, running, spare, "")


def _forget_hook(_id: int, _kind: str, _kinds: Kinds) -> Work[None]:
    yield from ()


def _forget_to_wake(_moment: int) -> Work[None]:
    yield from ()


def _no_successor(_id: int) -> Work[str | None]:
    yield from ()
    return None


def _step_forward_only(org_id: str, key: str | None) -> Work[None]:
    yield Statement("promote_key_candidate", {"org_id": org_id, "key": key})


def _give_back_all(worker: str, _held: Collection[tuple[int, int]], kinds: Kinds) -> Work[list[Settled]]:
    return (yield from _give_back(worker, (), kinds))


def _give_back_as_crashed(worker: str, held: Collection[tuple[int, int]], kinds: Kinds) -> Work[list[Settled]]:
    released = yield from _give_back(worker, held, kinds)
    for one in released:
        yield Statement("UPDATE job SET crashes = crashes + 1 WHERE id = :id AND status = 'queued'", {"id": one.claim.id})
    return released


def _never_ask_again(_status: str, _waits_for: str | None, _left: int) -> None:
    return None


MISTAKES = [
    # I3, I4: who may write
    Mistake(
        "settle_without_a_claim",
        "I4",
        "settle_jobs",
        "job.id = s.id AND job.claim = s.claim AND job.status = 'in_progress'",
        "job.id = s.id",
        guards=_ENDING_GUARDS,
    ),
    Mistake("settle_twice", "I4 I3", "settle_jobs", " AND job.status = 'in_progress'", guards=_ENDING_GUARDS),
    Mistake("renew_without_a_claim", "I4", "renew_leases", " AND job.claim = held.claim", on_postgres=(" AND job.claim = named.claim", "")),
    Mistake("show_without_a_claim", "I4", "show_progress", " AND claim = :claim"),
    Mistake("phase_without_a_claim", "I4", "show_phase", " AND claim = :claim"),
    Mistake("move_items_without_a_claim", "I4 I23", "check_claim", " AND claim = :claim"),
    Mistake("rescue_without_a_claim", "I4 I5 I17", "find_lost", " AND claim = :claim"),
    Mistake("rescue_the_living", "I5", "find_lost", " AND (lease_until <= :now OR :dead = 1)"),
    Mistake("claim_keeps_its_token", "I4 beside", "claim_jobs", "claim = claim + 1, ", ""),
    Mistake("forget_the_ending", "I3", "insert_events", "value->>1, value->>2", "CASE value->>1 WHEN 'failed' THEN 'joined' ELSE value->>1 END, value->>2"),
    Mistake("forget_the_hook", "I3", patch=("run_settling_hook", _forget_hook)),
    # I8, I9: what is rendered last
    Mistake("coalesce_keeps_the_payload", "I8", "replace_payload", "job_id = :id", "job_id = -:id"),
    Mistake("coalesce_keeps_the_version", "I8", "coalesce_job", "version = version + 1, ", ""),
    Mistake("coalesce_another_kind", "I8", "find_queued_by_key", " AND kind = :kind"),
    Mistake("retry_the_older_payload", "I9", patch=("successor_of", _no_successor)),
    Mistake("superseded_by_nobody", "I8", "settle_jobs", "CASE WHEN cancel_requested = 0 THEN s.superseded_by END", "NULL"),
    Mistake("an_old_job_displaces_a_newer", "I8 frame", "find_newer", "cancel_requested = 0", "false"),
    Mistake("hit_while_another_is_open", "I9", "find_cached", "(:key IS NULL", "(true"),
    Mistake("join_the_older_of_two", "I9", "find_in_flight", "newer.seq > job.seq", "false"),
    # I11, I12: joining
    Mistake("hit_what_has_expired", "I11 I9", "find_cached", " AND render_cache.expires_at > :now"),
    Mistake("never_join", "I11", "find_in_flight", "cancel_requested = 0", "false"),
    Mistake("join_another_key", "I11 I9 I8", "find_in_flight", "coalesce(key, '') = coalesce(:key, '')", "true"),
    Mistake("join_what_is_cancelled", "I11 I9", "find_in_flight", " AND cancel_requested = 0"),
    Mistake("coalesce_loses_the_tier", "I12", "coalesce_job", "CASE WHEN :tier < tier THEN :tier ELSE tier END", "tier"),
    Mistake("coalesce_worsens_the_tier", "I12", "coalesce_job", "CASE WHEN :tier < tier THEN :tier ELSE tier END", ":tier"),
    Mistake("join_keeps_the_tier", "I12", "raise_tier", "tier > :tier", "false"),
    # I15 to I19: attempts, slots, cancels
    Mistake("a_release_costs_an_attempt", "I15 frame", "settle_jobs", "job.failures + s.failures", "job.failures + 1"),
    Mistake("a_crash_is_not_counted", "I17", "requeue_lost", "crashes = crashes + 1, ", ""),
    Mistake("a_crash_costs_an_attempt", "I15", "requeue_lost", "crashes = crashes + 1,", "crashes = crashes + 1, failures = failures + 1,"),
    Mistake("claim_more_than_there_is_room_for", "I16 beside", patch=("_choose", _choose_all)),
    Mistake("claim_the_reserved_slot", "I16 beside", patch=("_choose", _choose_without_reserve)),
    Mistake("claim_a_paused_kind", "I15 line beside", "survey_queue", "kind.paused = 0", "true"),
    Mistake("a_cancel_is_overruled", "I19", "settle_jobs", "cancel_requested = 1", "false"),
    Mistake("a_rescue_forgets_the_cancel", "I19", "find_lost", "cancel_requested,", "0,"),
    Mistake("a_cancelled_job_is_claimed", "I19", "request_cancel", ", waits_for = CASE WHEN status = 'queued' THEN 'cancel' END"),
    # I20, I21, I23: retention, clocks, progress
    Mistake("prune_by_age_only", "I20", "list_prunable", "", "SELECT id FROM job WHERE date_created <= :now AND id NOT IN (SELECT job_id FROM render_cache) LIMIT :limit", guards=_DELETE_GUARD),
    Mistake("prune_the_parent_of_an_open_job", "I20", "list_prunable", "child.parent = job.uid", "false"),
    Mistake("prune_an_answer_of_the_cache", "guard", "list_prunable", "render_cache.job_id = job.id", "false"),
    Mistake("wait_for_a_lease_from_tomorrow", "I4", "clamp_leases", "status = 'in_progress'", "false"),
    Mistake("move_an_item_twice", "I23", "move_item", " AND state = 'in_progress'"),
    Mistake("items_of_another_attempt", "I23 guard", "insert_items", ":claim,", "0,"),
    Mistake("fire_a_tick_twice", "I22", "fire_tick", "DO NOTHING", "(schedule, tick) DO UPDATE SET job = excluded.job"),
    # Lines and order
    Mistake("two_of_a_key", "line", "promote_key_candidate", "holder.status = 'in_progress' OR ", "", guards=_KEY_GUARD),
    Mistake("a_better_one_waits_behind", "line", patch=("promote_next_of_key", _step_forward_only)),
    Mistake("wake_without_the_key", "line named", "wake_keyed", "SET waits_for = 'key'", "SET waits_for = NULL", guards=_KEY_GUARD),
    Mistake("wake_and_forget_the_line", "line named", "wake_keyed", "RETURNING org_id, key", "RETURNING org_id, NULL"),
    Mistake("never_wake_a_key", "line named", patch=("wake_due_keyed_jobs", _forget_to_wake)),
    Mistake("never_wake", "line", "wake_due", "run_at <= :now", "run_at < 0"),
    Mistake("claim_by_place_alone", "order beside", patch=("_choose", _choose_by_place)),
    Mistake("organisations_in_one_line", "order beside", patch=("_choose", _choose_in_one_line)),
    Mistake("the_same_organisation_first", "order beside", patch=("_choose", _choose_by_name)),
    Mistake("count_what_runs_of_nobody", "order beside", "list_running_orgs", "status = 'in_progress'", "false"),
    Mistake("organisations_that_come_later_are_not_found", "order beside named", "list_ready_orgs", "line.place < :limit", "line.place < 1"),
    Mistake("a_retry_keeps_its_place", "order", "settle_jobs", "seq = coalesce(s.seq, job.seq)", "seq = job.seq"),
    Mistake("a_lost_lease_loses_its_place", "order", "requeue_lost", "run_at = :run_at,", "run_at = :run_at, seq = seq + 1000,"),
    Mistake("coalescing_loses_the_place", "order", "coalesce_job", "version = version + 1,", "version = version + 1, seq = seq + 1000,"),
    # Beside others
    Mistake("claim_beside_a_paused_kind", "I15 beside", "claim_next", "kind.paused = 1", "false", dialects=("postgres",)),
    Mistake("claim_the_reserved_slot_beside", "I16 beside", "claim_next", "OR place <= :background", "OR true", dialects=("postgres",)),
    Mistake("claim_beside_by_place_alone", "order beside", "claim_next", "ORDER BY tier, place LIMIT :total", "ORDER BY id LIMIT :total", dialects=("postgres",)),
    Mistake("organisations_in_one_line_beside", "order beside", "claim_next", "ORDER BY would_run, round, org_id", "ORDER BY id", dialects=("postgres",)),
    Mistake("count_what_runs_of_nobody_beside", "order beside", "claim_next", "WHERE status = 'in_progress'", "WHERE false", dialects=("postgres",)),
    Mistake("the_same_organisation_first_beside", "order beside", "claim_next", "ORDER BY would_run, round, org_id", "ORDER BY would_run, org_id", dialects=("postgres",)),
    Mistake("claim_beside_keeps_its_token", "I4 beside", "claim_next", "claim = claim + 1, ", "", dialects=("postgres",)),
    Mistake("claim_beside_who_sleeps", "line beside guard", "claim_next", " AND waits_for IS NULL", "", dialects=("postgres",), guards=_KEY_GUARD),
    Mistake("claim_beside_a_limited_kind", "limit beside", "claim_next", " OR kind.slots IS NOT NULL", "", dialects=("postgres",)),
    # By name, within limits, and what nobody heard of
    Mistake("claim_named_of_a_paused_kind", "named beside", "claim_named", "paused = 1 OR ", ""),
    Mistake("claim_named_out_of_line", "named line beside", "claim_named", "waits_for IS NULL OR ", "waits_for IN ('key') OR waits_for IS NULL OR ", guards=_KEY_GUARD),
    Mistake("claim_named_before_joining_the_line", "named line beside", "claim_named", " AND key IS NULL", "", dialects=("postgres",), guards=_KEY_GUARD),
    Mistake("claim_named_past_the_limit", "named limit", "claim_named", " OR (slots IS NOT NULL AND :limited = 0)", ""),
    Mistake("claim_past_the_limit", "limit named line", "list_spare_concurrency", "kind.slots - count(job.id)", "kind.slots"),
    Mistake("never_ask_again", "named", patch=("_seconds_until_retry", _never_ask_again)),
    Mistake("give_back_what_is_held", "I5", patch=("release_unknown_claims", _give_back_all)),
    Mistake("give_back_for_everybody", "I5", "list_claims_of", " AND worker = :worker"),
    Mistake("what_is_given_back_has_crashed", "I17", patch=("release_unknown_claims", _give_back_as_crashed)),
]  # fmt: skip


def mistakes_on(dialect: str) -> list[Mistake]:
    return [mistake for mistake in MISTAKES if dialect in mistake.dialects]

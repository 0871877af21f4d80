"""Which kinds a worker takes: named ones, or those of its pools."""

from typing import Any

import pytest

from pressroom import Kind, Pressroom, Schedule, kind
from pressroom.app import BUILT_IN
from pressroom.errors import InvalidArgument

# Every kind that Pressroom registers, with its `pool`.
OURS = {
    "render": "render",
    "diagram": "render",
    "wiki.render": "render",
    "packs.render": "render",
    "packs.bundle": "render",
    "packs.batch": "default",
    "packs.purge": "default",
    "docs.build_processing": "default",
    "docs.edition_update": "default",
    "docs.lifecycle_eval": "default",
    "docs.purgatory_cleanup": "default",
    "docs.credential_rewrap": "outbound",
    "docs.dashboard_sync": "outbound",
    "docs.git_ref_audit": "outbound",
    "docs.reconcile": "outbound",
    "webhook": "outbound",
    "desk.bulk": "default",
    "wiki.rerender": "default",
}


@kind("shout")
def shout(job: Any, payload: Any) -> None: ...


@kind("purge_cdn", pool="outbound")
def purge_cdn(job: Any, payload: Any) -> None: ...


def taken(**options: Any) -> set[str]:
    return {*Pressroom("sqlite:///:memory:", kinds=[shout, purge_cdn], apps=BUILT_IN, **options).registry.taken}


def test_kinds_of_our_own_are_in_the_pool_that_they_need() -> None:
    pools = {name: kind.pool for name, kind in Pressroom("sqlite:///:memory:").registry.kinds.items()}
    assert pools == OURS, "add a new kind to OURS in this file, with the pool that it needs (see Kind in definitions.py)"


def test_a_kind_is_in_the_default_pool_unless_it_says_otherwise() -> None:
    assert (shout.pool, purge_cdn.pool) == ("default", "outbound")
    assert Kind("bare", print).pool == "default"


@pytest.mark.parametrize("pool", ["gpu", "", "Render", None, ["render"]])
def test_an_unknown_pool_of_a_kind_is_refused(pool: Any) -> None:
    with pytest.raises(InvalidArgument, match="pool is default, render or outbound"):
        kind("mine", pool=pool)(print)


def test_a_worker_takes_the_kinds_of_its_pools_alone() -> None:
    outbound = {name for name, pool in OURS.items() if pool == "outbound"}
    assert taken(pools=["outbound"]) == {"purge_cdn"} | outbound
    assert taken(pools=["render", "default"]) == {"shout", *OURS} - outbound
    assert taken(pools=["outbound"], all_but=sorted(outbound)) == {"purge_cdn"}
    assert taken() == {"shout", "purge_cdn", *OURS}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pools": ["gpu"]}, "there is no pool gpu; the pools are default, render, outbound"),
        ({"pools": []}, "no kind is left"),
        (
            {"pools": ["outbound"], "all_but": [*(name for name, pool in OURS.items() if pool == "outbound"), "purge_cdn"]},
            "pool outbound without .*webhook, purge_cdn; known kinds: ",
        ),
        ({"pools": ["outbound"], "only": ["shout"]}, "kinds or pools, not both"),
        ({"only": []}, "no kind is left"),
    ],
)
def test_a_selection_that_is_wrong_or_empty_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        taken(**options)


def test_a_worker_of_a_pool_leaves_schedules_of_other_kinds_alone() -> None:
    schedules = [Schedule("loud", "0 3 * * *", kind="shout"), Schedule("purge", "0 4 * * *", kind="purge_cdn")]
    press = Pressroom("sqlite:///:memory:", kinds=[shout, purge_cdn], apps=(), schedules=schedules, pools=["outbound"])

    assert [schedule.name for schedule in press.registry.schedules] == ["purge"]

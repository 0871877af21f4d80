"""One id, three spellings."""

import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom.errors import NotFound
from pressroom.ids import as_uuid, new_uid, parse_uid


def test_ids_of_one_process_sort_in_the_order_they_were_made() -> None:
    uids = [new_uid() for _ in range(20_000)]

    assert uids == sorted(uids)
    assert len(set(uids)) == len(uids)


def test_an_id_is_a_uuid_of_version_7() -> None:
    assert as_uuid(new_uid()).version == 7
    assert as_uuid(new_uid()).variant == uuid.RFC_4122


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.uuids())
def test_every_spelling_names_the_same_job(id: uuid.UUID) -> None:
    uid = parse_uid(str(id))

    assert len(uid) == 26
    for spelling in (
        uid,
        f"job_{uid}",
        uid.lower(),
        id.hex,
        str(id).upper(),
        f" job_{uid.lower()}\n",
        f"{uid[:13]}-{uid[13:]}",
    ):
        assert parse_uid(spelling) == uid
    assert as_uuid(uid) == id


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.uuids(), st.sets(st.integers(1, 25), max_size=10), st.sampled_from(["", "job_", "JOB_"]))
def test_hyphens_may_stand_wherever_they_help_to_read_an_id_aloud(id: uuid.UUID, places: set[int], prefix: str) -> None:
    uid = parse_uid(str(id))
    spelling = prefix + "".join(f"-{letter}" if place in places else letter for place, letter in enumerate(uid))

    assert parse_uid(spelling) == uid
    assert parse_uid(spelling.lower()) == uid


def test_letters_that_people_mistake_are_forgiven() -> None:
    uid = parse_uid("01" * 13)

    assert parse_uid("OI" * 13) == parse_uid("oL" * 13) == uid


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60))
def test_any_other_text_names_no_job(text: str) -> None:
    try:
        uid = parse_uid(text)
    except NotFound:
        return
    assert parse_uid(uid) == uid


@pytest.mark.parametrize("text", ["", "job_", "8" + "0" * 25, "Z" * 26, "U" * 26, "0" * 25, "0" * 27, "é" * 26])
def test_what_is_out_of_range_or_alphabet_is_not_found(text: str) -> None:
    with pytest.raises(NotFound):
        parse_uid(text)

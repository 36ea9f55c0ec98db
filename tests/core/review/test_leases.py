"""What becomes of an assignment, worked out without a database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewed import MONDAY, a_person, an_assignment

from core.errors import NotFound
from core.review import leases
from core.review.leases import Slot
from core.review.records import ProjectSettings, QueueReason, Role

LEASE = timedelta(minutes=30)
SETTINGS = ProjectSettings(lease_minutes=30, reads_per_claim=2)
AUDIT = Slot(slot=1, reason=QueueReason.AUDIT, inclusion_probability=0.2)
minutes = st.integers(-600, 600).map(lambda number: timedelta(minutes=number))


@given(minutes)
def test_a_renewed_lease_runs_in_full_from_now_and_forgets_the_screen_only_if_it_ran_out(
    since: timedelta,
) -> None:
    held = an_assignment()
    now = held.lease_until + since

    kept = leases.renewed(held, SETTINGS, now)

    assert kept.lease_until == now + LEASE
    ran_out = now > held.lease_until
    assert (kept.nonce, kept.shown_at) == ((None, None) if ran_out else ("n1", MONDAY))


@given(minutes)
def test_a_lease_is_renewed_in_its_second_half_and_after_it(since: timedelta) -> None:
    held = an_assignment()

    assert leases.half_over(held, SETTINGS, held.lease_until + since) == (since > -LEASE / 2)


def test_a_claim_appeared_when_it_was_first_shown_until_it_is_decided() -> None:
    later = MONDAY + timedelta(minutes=5)

    again = leases.shown(an_assignment(), "n2", later)
    anew = leases.shown(leases.done(again), "n3", later)

    assert (again.nonce, again.shown_at) == ("n2", MONDAY)
    assert (anew.nonce, anew.shown_at) == ("n3", later)


def test_what_is_revealed_after_the_decision_voids_the_key_of_that_decision() -> None:
    open_one, decided = an_assignment(), an_assignment(open=False)

    assert leases.revealed(open_one, MONDAY).nonce == "n1"
    assert leases.revealed(decided, MONDAY).nonce is None
    assert leases.revealed(decided, MONDAY).revealed_at == MONDAY


def test_a_claim_given_back_leaves_an_assignment_only_where_a_decision_stands() -> None:
    held = an_assignment()

    assert leases.given_back(held, annotated=False) is None
    assert leases.given_back(held, annotated=True) == leases.done(held)


def test_a_claim_taken_back_is_open_again_and_not_on_screen_yet() -> None:
    back = leases.reopened(leases.done(an_assignment()), SETTINGS, MONDAY)

    assert back.open
    assert (back.nonce, back.shown_at, back.lease_until) == (None, None, MONDAY + LEASE)


def test_an_assignment_is_its_own_users_alone() -> None:
    ada = a_person("Ada", Role.REVIEWER)

    assert leases.check_own(an_assignment(person_id=ada.person_id), ada)
    with pytest.raises(NotFound, match="somebody else has it"):
        leases.check_own(an_assignment(person_id=ada.person_id + 1), ada)


def test_a_tie_needs_an_adjudicator_and_everything_else_a_reviewer() -> None:
    roles = [leases.role_needed(an_assignment(slot=slot)) for slot in (1, 2, 3)]

    assert roles == [Role.REVIEWER, Role.REVIEWER, Role.ADJUDICATOR]


def test_a_second_annotation_stays_in_the_audit_with_the_first() -> None:
    second = leases.slot_for([AUDIT], QueueReason.UNCERTAIN, None, SETTINGS)

    assert second == Slot(slot=2, reason=QueueReason.SECOND_READ, inclusion_probability=0.2)


def test_the_first_annotation_has_the_queues_reason_and_a_third_is_not_given_out() -> None:
    first = leases.slot_for([], QueueReason.AUDIT, 0.2, SETTINGS)
    other = Slot(slot=2, reason=QueueReason.SECOND_READ, inclusion_probability=0.2)

    assert first == AUDIT
    assert leases.slot_for([AUDIT, other], QueueReason.AUDIT, 0.2, SETTINGS) is None
    assert leases.slot_for([other], QueueReason.AUDIT, 0.2, SETTINGS) == Slot(
        slot=1, reason=QueueReason.SECOND_READ, inclusion_probability=0.2
    )


@given(st.sampled_from([1, 2]), st.booleans())
def test_the_queue_is_looked_through_once_the_begun_claims_first(
    reads: int, audit_first: bool
) -> None:
    order = leases.stream_order(reads, audit_first=audit_first)

    assert set(order) == {(m, a) for m in range(1, reads + 1) for a in (True, False)}
    assert len(order) == 2 * reads
    assert [missing for missing, _ in order] == sorted(missing for missing, _ in order)
    assert all(audit is audit_first for _, audit in order[::2])


def test_an_assignment_moved_last_when_the_latest_of_its_events_was() -> None:
    shown, typed = MONDAY + timedelta(minutes=2), MONDAY + timedelta(minutes=4)

    assert leases.moved_at(MONDAY, None, None) == MONDAY
    assert leases.moved_at(MONDAY, typed, None, shown) == typed

"""Who holds which claim, as a lead sees it, and how it is freed."""

from __future__ import annotations

import json

import pytest
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office

from core.errors import Conflict, InputError, NotAllowed, NotFound
from core.records import VerdictLabel
from core.review.items import Draft, OpenAssignment
from core.review.records import Role
from storage.store import SqlStore


def hands(office: Office, who: str = "Lea") -> dict[str, OpenAssignment]:
    """What is in whose hands."""
    return {one.holder: one for one in office.desk(who).open_assignments()}


def test_a_lead_sees_who_holds_what_since_when_and_until_when(store: SqlStore) -> None:
    office = an_office(store, reads_per_claim=2, lease_minutes=30)
    taken = office.clock.at
    item = office.desk("Ada").next_item()
    assert item is not None

    (held,) = hands(office).values()

    assert (held.holder, held.claim_id, held.text) == ("Ada", item.claim_id, item.text)
    assert (held.trace_id, held.slot, held.since) == (item.trace_id, 1, taken)
    assert held.lease_until == item.lease_until
    assert held.moved_at == taken
    assert not held.reconsidered


def test_a_claim_moves_when_it_is_shown_typed_on_or_taken_back(store: SqlStore) -> None:
    office = an_office(store)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    moves = []

    office.clock.advance(minutes=1)
    desk.show(item.assignment_id)
    moves.append((hands(office)["Ada"].moved_at, office.clock.at))
    office.clock.advance(minutes=1)
    desk.save_draft(item.assignment_id, Draft(rationale="so far"))
    moves.append((hands(office)["Ada"].moved_at, office.clock.at))
    voted = office.decide("Ada", item)
    assert hands(office) == {}
    office.clock.advance(hours=5)
    desk.undo()
    moves.append((hands(office)["Ada"].moved_at, voted.at))

    assert [found for found, _ in moves] == [expected for _, expected in moves]
    assert hands(office)["Ada"].reconsidered


def test_what_has_not_moved_longest_comes_first(store: SqlStore) -> None:
    office = an_office(store)
    for name in ("Cleo", "Ada", "Ben"):
        office.desk(name).next_item()
        office.clock.advance(minutes=1)
    item = office.desk("Cleo").next_item()
    assert item is not None
    office.desk("Cleo").save_draft(item.assignment_id, Draft(support=VerdictLabel.SUPPORTED))

    assert [one.holder for one in office.desk("Lea").open_assignments()] == ["Ada", "Ben", "Cleo"]


def test_only_leads_and_auditors_see_who_holds_what_by_the_roles_of_this_moment(
    store: SqlStore,
) -> None:
    office = an_office(store)
    office.desk("Ada").next_item()
    for name in ("Ada", "Ben", "Dora"):
        with pytest.raises(NotAllowed):
            office.desk(name).open_assignments()
    assert hands(office, "Otto").keys() == {"Ada"}

    people, lea = office.workspace.people, office.people["Lea"]
    people.revoke(lea, Role.LEAD, by=people.local(), reason="on leave")

    with pytest.raises(NotAllowed):
        office.desk("Lea").open_assignments()


def test_no_answer_of_a_holder_is_in_what_a_lead_sees(store: SqlStore) -> None:
    office = an_office(store, reads_per_claim=2)
    office.read("Ada", UNSUPPORTED, rationale="RATIONALE-OF-ADA")
    item = office.desk("Ben").next_item()
    assert item is not None
    office.desk("Ben").save_draft(
        item.assignment_id, Draft(support=VerdictLabel.CONTRADICTED, rationale="DRAFT-OF-BEN")
    )

    said = repr(office.desk("Lea").open_assignments())

    assert "Ben" in said
    assert "RATIONALE-OF-ADA" not in said and "DRAFT-OF-BEN" not in said
    assert "contradicted" not in said and "unsupported" not in said


def test_a_freed_claim_goes_to_the_next_who_asks_and_the_trail_says_why(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    item = office.desk("Ada").next_item()
    assert item is not None
    nonce = office.desk("Ada").show(item.assignment_id)

    office.desk("Lea").release(hands(office)["Ada"].assignment_id, " on leave ")

    assert hands(office) == {}
    event = office.store.audit_events(limit=1)[0]
    assert (event.actor, event.action) == ("Lea", "claim.released")
    assert json.loads(event.detail)["reason"] == "on leave"
    office.clock.advance(seconds=5)
    with pytest.raises(NotFound, match="no longer in your hands"):
        office.desk("Ada").annotate(item.assignment_id, nonce, SUPPORTED)
    with pytest.raises(NotFound):
        office.desk("Lea").release(item.assignment_id, "again")
    following = office.desk("Ben").next_item()
    assert following is not None
    assert following.claim_key == item.claim_key


def test_a_claim_being_reconsidered_is_freed_with_its_first_judgement_standing(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1)
    first = office.read("Ada")
    assert first is not None
    office.desk("Ada").undo()

    held = hands(office)["Ada"]

    office.desk("Lea").release(held.assignment_id, "on leave")

    assert hands(office) == {}
    assert office.desk("Ada").progress().team_done == 1
    with pytest.raises(Conflict):
        office.desk("Lea").release(held.assignment_id, "twice")


def test_freeing_needs_a_reason_and_a_lead(store: SqlStore) -> None:
    office = an_office(store)
    item = office.desk("Ada").next_item()
    assert item is not None

    with pytest.raises(InputError, match="reason"):
        office.desk("Lea").release(item.assignment_id, "  ")
    for name in ("Ben", "Dora", "Otto"):
        with pytest.raises(NotAllowed):
            office.desk(name).release(item.assignment_id, "mine")

    assert hands(office).keys() == {"Ada"}

"""Who holds which claim and the verdict that waits for its annotator's decision."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import a_source, a_trace
from opening import opened, titles, views
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office
from streamlit.testing.v1 import AppTest

from pages.screens.agreement.assignments import age_words, lease_words
from pages.widgets.navigation import WHO_READS
from storage.store import SqlStore, open_store, utc_now

HOME, VERDICT = "home", "verdict"
STEP = timedelta(minutes=1)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return open_store(file)


@pytest.fixture
def made(store: SqlStore) -> Office:
    """Ada read a claim and holds another, Ben holds one for three days."""
    made = an_office(store, traces=2, reads_per_claim=2)
    made.clock.at = utc_now()
    made.read("Ada", UNSUPPORTED, rationale="RATIONALE-OF-ADA")
    made.desk("Ada").next_item()
    # After Ada: whoever takes a claim gives back what others held too long.
    made.clock.at = utc_now() - timedelta(days=3)
    made.desk("Ben").next_item()
    made.clock.at = utc_now()
    return made


def hands_of(person: int | None) -> AppTest:
    """The part of Agreement that says who reads what."""
    return opened("agreement", person, readings=WHO_READS)


def table(test: AppTest) -> list[Mapping[str, Any]]:
    """The rows of who holds what; [] when there is no such table."""
    return [r for f in test.dataframe if "Claim" in f.value for r in f.value.to_dict("records")]


def holders(made: Office) -> list[str]:
    """Who holds something."""
    return [one.holder for one in made.desk("Lea").open_assignments()]


# ---------------------------------------------------------------- who holds what


def test_a_lead_sees_first_what_has_not_moved_longest(made: Office) -> None:
    test = hands_of(made.people["Lea"].person_id)

    rows = table(test)
    assert [row["Who"] for row in rows] == ["Ben", "Ada"]
    assert [row["Reads"] for row in rows][0] == "reading 2"
    assert rows[0]["No change for"] == "3 days"
    assert rows[0]["Their time"].startswith("ended 3 days ago")
    assert rows[1]["Their time"] == "ends in 30 minutes"


def test_a_lead_frees_claims_with_a_reason_and_they_are_gone_from_the_table(made: Office) -> None:
    test = hands_of(made.people["Lea"].person_id)
    ben = next(one for one in made.desk("Lea").open_assignments() if one.holder == "Ben")

    test.multiselect(key="free-which").select(ben.assignment_id)
    test.button(key="free-claims-button").click().run()
    assert "Why are they freed?" in titles(test)
    assert holders(made) == ["Ben", "Ada"]
    test.text_input(key="free-reason").input("On leave")
    test.button(key="free-claims-button").click().run()

    assert not test.exception
    assert holders(made) == ["Ada"]
    assert [row["Who"] for row in table(test)] == ["Ada"]
    (event,) = [e for e in made.store.audit_events() if e.action == "claim.released"]
    assert (event.actor, json.loads(event.detail)["reason"]) == ("Lea", "On leave")


def test_a_claim_that_was_decided_meanwhile_stays_decided_and_the_others_are_freed(
    made: Office,
) -> None:
    test = hands_of(made.people["Lea"].person_id)
    for one in made.desk("Lea").open_assignments():
        test.multiselect(key="free-which").select(one.assignment_id)
    test.text_input(key="free-reason").input("Lunch")
    item = made.desk("Ada").next_item()
    assert item is not None
    made.decide("Ada", item, SUPPORTED)

    test.button(key="free-claims-button").click().run()

    assert not test.exception
    assert holders(made) == []
    assert made.desk("Ada").progress().mine_done == 2
    (event,) = [e for e in made.store.audit_events() if e.action == "claim.released"]
    assert json.loads(event.detail)["person"] == made.people["Ben"].person_id


def test_an_auditor_sees_who_holds_what_and_frees_nothing(made: Office) -> None:
    test = hands_of(made.people["Otto"].person_id)

    assert [row["Who"] for row in table(test)] == ["Ben", "Ada"]
    assert not [each for each in test.button if each.key == "free-claims-button"]


def test_a_reviewer_is_not_told_who_holds_what(made: Office) -> None:
    test = hands_of(made.people["Cleo"].person_id)

    assert table(test) == []
    said = "\n".join(str(each.proto) for each in test.main)
    assert "Ben" not in said and "Ada" not in said


def test_the_leads_table_shows_no_answer(made: Office) -> None:
    said = json.dumps(table(hands_of(made.people["Lea"].person_id)), default=str)

    assert "RATIONALE-OF-ADA" not in said
    assert "unsupported" not in said.lower()


def test_nobody_holds_a_claim_is_said_in_words(store: SqlStore) -> None:
    made = an_office(store)

    assert "No claim is in hand" in titles(hands_of(made.people["Lea"].person_id))


def test_home_leads_a_lead_there_and_nobody_else(made: Office) -> None:
    def links(name: str) -> list[str]:
        test = opened(HOME, made.people[name].person_id)
        return [each.proto.label for each in test.get("page_link")]

    assert "Who reads what" in links("Lea")
    assert "Who reads what" not in links("Cleo")


def test_ages_and_leases_are_said_in_words_that_one_plans_with() -> None:
    now = utc_now()

    assert [age_words(now - each, now) for each in (STEP * 0, STEP, STEP * 90, STEP * 60 * 60)] == [
        "1 minute", "1 minute", "2 hours", "2 days",
    ]  # fmt: skip
    assert lease_words(now + 12 * STEP, now) == "ends in 12 minutes"
    assert lease_words(now - 12 * STEP, now) == "ended 12 minutes ago"


# ---------------------------------------------------------------- the verdict waits


def test_the_verdict_page_says_decide_first_while_a_claim_of_it_is_in_hand(made: Office) -> None:
    item = made.desk("Ada").next_item()
    assert item is not None
    ada = made.people["Ada"].person_id

    test = opened(VERDICT, ada, trace=item.trace_id)

    assert views(test, "provenanceguard_evidence") == []
    assert titles(test) == ["You are reviewing a claim of this answer"]
    assert test.button(key="decide-first").label == "Go on reviewing"
    made.decide("Ada", item)
    test = opened(VERDICT, ada, trace=item.trace_id)
    assert titles(test) == ["A claim of this answer may still come to you"]
    assert views(test, "provenanceguard_evidence") == []


def test_opening_a_verdict_is_written_down_once_and_found_in_the_trail(made: Office) -> None:
    lea = made.people["Lea"].person_id

    test = opened(VERDICT, lea, trace="review-0002")
    test.run()

    assert len(views(test, "provenanceguard_evidence")) == 1
    told = [e for e in made.store.audit_events() if e.action == "verdict.opened"]
    assert [event.actor for event in told] == ["Lea"]


def test_a_trace_without_a_verdict_opens_and_nothing_is_written_down(store: SqlStore) -> None:
    made = an_office(store, traces=1)
    made.store.put_traces([a_trace("Yes.", a_source("Yes."), trace_id="t9")])

    opened(VERDICT, made.people["Ada"].person_id, trace="t9")

    assert "verdict.opened" not in {event.action for event in made.store.audit_events()}

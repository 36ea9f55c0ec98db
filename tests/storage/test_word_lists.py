"""Lit words in the database: a person's own, and a project's that only a lead changes."""

from __future__ import annotations

import pytest
from reviewing import an_office, problems_beside_the_clock

from core.errors import InputError, NotAllowed
from storage.store import SqlStore


def test_each_person_has_their_words_and_a_lead_chooses_everybodys(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    lists, people = office.workspace.word_lists, office.people

    lists.keep_own(["mg", "dose"], by=people["Ada"])
    lists.keep_own(["mg"], by=people["Ada"])
    lists.keep_for_project(["allergy"], by=people["Lea"])

    assert lists.of(people["Ada"]).all == ("mg", "allergy")
    assert lists.of(people["Ben"]).all == ("allergy",)
    with pytest.raises(NotAllowed):
        lists.keep_for_project([], by=people["Ada"])
    with pytest.raises(NotAllowed):
        lists.keep_own(["mine"], by=people["Otto"])
    with pytest.raises(InputError):
        lists.keep_own(["x" * 100], by=people["Ada"])
    chosen = [one for one in store.audit_events(newest_first=False) if one.action == "words.chosen"]
    assert [one.actor for one in chosen] == ["Ada", "Ada", "Lea"]
    assert '"removed": ["dose"]' in chosen[1].detail
    assert problems_beside_the_clock(store) == []

"""The judge on the page Settings: a lead tries it, chooses it and switches it off; nobody else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import a_store, workspace_of
from endpoints import reading, serving
from judged import supported
from opening import cards, opened
from reviewing import an_office

from core.records.judge import JudgeFor
from storage.store import SqlStore

SETTINGS = "settings"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file)


def test_a_lead_tries_a_judge_chooses_it_and_switches_it_off(store: SqlStore) -> None:
    lead = an_office(store, traces=0).people["Lea"].person_id
    judges = workspace_of(store).judges
    test = opened(SETTINGS, lead)
    test.text_input(key="set-judge-address").input("http://[").run()
    assert not test.exception and any("Sent to [" in str(each.value) for each in test.text)
    with serving(reading({"The potassium was 4.6 mmol/L.": supported("Potassium: 4.6")})) as server:
        test.text_input(key="set-judge-address").input(server.url)
        test.text_input(key="set-judge-model").input("small").run()
        test.button(key="try-judge").click().run()
        tried = [card for card in cards(test) if card["title"] == "The judge works"]
        test.button(key="save-judge").click().run()
        refused = [card for card in cards(test) if card["title"] == "This was not saved"]
        test.text_input(key="set-judge-reason").input("A pilot").run()
        test.button(key="save-judge").click().run()
    chosen = judges.current()
    shown = [str(each.value) for each in test.text]
    test.button(key="try-judge").click().run()
    failed = [card for card in cards(test) if card["title"] == "The judge cannot be used like this"]
    test.text_input(key="set-judge-reason").input("The pilot is over").run()
    test.button(key="judge-off").click().run()

    assert tried and refused and "could not be reached" in failed[0]["text"]
    assert (chosen.address, chosen.model, chosen.asked) == (server.url, "small", JudgeFor.UNSURE)
    assert any(chosen.host in text and "Sent to" in text for text in shown)
    assert judges.current().address is None and judges.current().reason == "The pilot is over"
    assert store.verify_chain().intact


def test_a_reviewer_sees_who_is_asked_and_cannot_change_it(store: SqlStore) -> None:
    ada = an_office(store, traces=0).people["Ada"].person_id

    test = opened(SETTINGS, ada)

    assert not {"try-judge", "save-judge", "judge-off"} & {each.key for each in test.button}
    texts = [str(each.value) for each in test.text]
    assert any("In use: no judge. Nothing is sent anywhere." in each for each in texts)
    assert not any("Sent to" in each or "Not yet measured" in each for each in texts)

"""The annotator on the page Settings: a lead changes it together with a calibrator that fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from forests import a_calibrator
from nli_models import an_nli_model
from opening import cards, opened
from reviewing import an_office

from core.models.loading import load_nli_model
from core.records.judge import JudgeFor
from storage.store import SqlStore

SETTINGS = "settings"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file)


def test_a_lead_chooses_a_reader_with_its_calibrator_and_nobody_without(
    store: SqlStore, tmp_path: Path
) -> None:
    lead = an_office(store, traces=0).people["Lea"].person_id
    folder = an_nli_model(tmp_path / "tiny", ("neutral", "entailment", "contradiction"))
    name = a_calibrator(tmp_path / "fits", nli=load_nli_model(folder).name)
    test = opened(SETTINGS, lead)

    test.segmented_control(key="set-reader").set_value("other").run()
    test.text_input(key="set-reader-other").input(str(folder))
    test.text_input(key="set-reader-reason").input("A pilot")
    test.button(key="save-reader").click().run()
    refused = [card for card in cards(test) if card["title"] == "This was not saved"]
    test.text_input(key="set-reader-calibrator").input(str(tmp_path / "fits"))
    test.button(key="save-reader").click().run()

    assert refused and "recalibrate" in str(refused[0])
    assert workspace_of(store).nli_models.current().nli == str(folder)
    assert workspace_of(store).calibrators.current().name == name
    assert store.verify_chain().intact


def test_a_reviewer_sees_what_reads_and_cannot_change_it(store: SqlStore) -> None:
    ada = an_office(store, traces=0).people["Ada"].person_id

    test = opened(SETTINGS, ada)

    assert not {"save-reader", "set-reader-reason"} & {
        each.key for each in (*test.button, *test.text_input)
    }
    assert any("Bundled" in str(each.value) for each in test.text)


def test_who_chose_is_named_as_pages_call_them(store: SqlStore, tmp_path: Path) -> None:
    office = an_office(store, traces=0)
    lead = office.people["Lea"]
    office.workspace.nli_models.choose("a/model", "A pilot", lead)
    office.workspace.judges.choose("http://a.host/v1", "small", JudgeFor.ALL, "Another pilot", lead)
    before = office.workspace.calibrators.current().label
    office.workspace.calibrators.use_threshold(0.7, "A third pilot", lead, over=before)
    office.workspace.people.show_as(lead, "Dr Roth", by=lead)

    texts = [
        str(each.value)
        for page in (SETTINGS, "recalibrate")
        for each in opened(page, lead.person_id).text
    ]

    told = r"In use: .+, since \d\d \w+ \d{4}, \d\d:\d\d, chosen by Dr Roth: A"
    assert sum(bool(re.search(told, text)) for text in texts) == 3
    assert not any("Lea" in text for text in texts)
    home = [str(each.value) for each in opened("home", lead.person_id).caption]
    assert any("What is verified here is sent to the judge at a.host." in text for text in home)

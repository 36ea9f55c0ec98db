"""The recalibrate page against a real database, without a browser."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from labelled import a_labelled_office
from opening import cards, opened
from reviewing import UNSUPPORTED, an_office
from streamlit.testing.v1 import AppTest

from cli.doctor import check_database
from core.config import Config
from core.review.records import Role, Split
from core.review.yields import LEAST_AUDITED
from core.workflows.rescore import OTHER_SETTINGS, RescoreReport
from core.workflows.retraining import Retraining
from pages.screens.recalibrate.view import chain, effect_words, flip_words, rate_words
from pages.widgets.flips import Flip
from pages.widgets.rescoring import report_words
from storage.splits import draw
from storage.store import SqlStore, open_store

PAGE = "recalibrate"


@pytest.fixture(scope="module")
def labelled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose claims have been read, with one candidate that waits."""
    file = tmp_path_factory.mktemp("labelled") / "workbench.db"
    store = a_store(file, actor="tester")
    office = a_labelled_office(workspace_of(store), traces=20)
    retraining = Retraining(workspace=office.workspace)
    retraining.fit(office.people["Lea"], with_shipped=False)
    store.close()
    return file


@pytest.fixture
def labelled(labelled_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """A copy of it, which the workbench under test opens."""
    for part in labelled_file.parent.glob("workbench.db*"):
        shutil.copy(part, tmp_path / part.name)
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "workbench.db"))
    return open_store(str(tmp_path / "workbench.db"))


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database, which the workbench under test opens."""
    monkeypatch.setenv("PROVENANCEGUARD_DB", str(tmp_path / "workbench.db"))
    return a_store(tmp_path / "workbench.db")


def at_step(step: str, person: int | None = None) -> AppTest:
    """The page at one of its steps."""
    test = opened(PAGE, person)
    test.session_state["step"] = step
    test.run()
    assert not test.exception
    return test


def said(test: AppTest) -> str:
    """Everything that the page says in plain text."""
    return "\n".join(each.value for each in test.text)


def test_without_labels_the_page_says_where_they_come_from(empty: SqlStore) -> None:
    test = at_step("Labels")

    assert [card["title"] for card in cards(test)][:1] == ["No labels yet"]
    assert "In use: shipped calibrator at" in said(test)


def test_too_few_labels_are_named_by_kind(empty: SqlStore) -> None:
    test = at_step("Fit")
    test.checkbox(key="shipped").uncheck().run()

    [needs] = [card for card in cards(test) if card["title"] == "Too few labels to fit"]
    assert "8 more supported claims on training traces" in needs["text"]
    assert test.button(key="fit").disabled


def test_the_label_that_is_missing_is_asked_of_a_trace_by_its_name(empty: SqlStore) -> None:
    office = an_office(empty, traces=4)

    test = at_step("Fit", office.people["Lea"].person_id)

    [named] = re.findall(r"The next training trace with claims to label is (\S+)\.", said(test))
    assert draw(named) is Split.TRAIN and test.get("page_link")
    assert named in office.workspace.labels.waiting_traces(10)


def test_a_lead_takes_the_prior_that_audit_labels_give(empty: SqlStore) -> None:
    office = an_office(empty, traces=13, audit_share=1.0)
    lead, project = office.people["Lea"].person_id, office.workspace.project
    for _ in range(LEAST_AUDITED - 1):
        office.read("Ada")
    assert "49 audit labels (claims drawn at random, settled by people), 1 more" in said(
        at_step("Labels", lead)
    )
    office.read("Ada", UNSUPPORTED)

    test = at_step("Labels", lead)
    assert "90 of 100 claims of this agent are taken to be supported" in said(test)
    words = (
        "By people's labels it is estimated from 50 audit labels: 0.97 (95 % interval 0.89 to 1.00)"
    )
    assert words in said(test)
    test.button(key="adopt-prior").click().run()

    assert project().settings.supported_prior == pytest.approx(49.5 / 51, abs=5e-4)
    assert "97 of 100 claims of this agent are taken to be supported" in said(test)
    assert words in said(test) and "Before anything" not in said(test)
    assert [each.key for each in test.button if each.key == "adopt-prior"] == []
    found = {each.name: each.found for each in check_database(empty.name)}
    assert found["prior"].startswith("0.97 is set; estimated from 50 audit labels: 0.97")


def test_a_reviewer_is_told_that_this_is_the_leads_work(empty: SqlStore) -> None:
    people = workspace_of(empty).people
    rae = people.add("Rae", {Role.REVIEWER}, by=people.local())

    test = opened(PAGE, rae.person_id)

    assert [card["title"] for card in cards(test)] == ["Recalibrating is the lead's work"]


def test_an_auditor_reads_and_can_press_nothing(labelled: SqlStore) -> None:
    otto = workspace_of(labelled).people.by_name("Otto")

    test = at_step("Promote", otto.person_id)

    assert test.button(key="promote").disabled
    assert test.button(key="reject").disabled


def test_the_page_opens_where_something_waits_for_a_decision(labelled: SqlStore) -> None:
    test = opened(PAGE)

    assert test.session_state["step"] == "Compare"
    [table] = [each.value for each in test.dataframe]
    assert list(table["Calibrator"]) == ["Active", "Candidate"] * 2
    assert list(table["Measured on"])[:2] == ["Held-out traces"] * 2


def test_a_link_opens_the_step_that_it_names_whatever_waits(labelled: SqlStore) -> None:
    for link in ("Fit", "3 Fit"):  # as the step is called, and as it is shown
        test = opened()
        test.query_params["step"] = link
        test.switch_page(f"pages/{PAGE}.py").run()

        assert not test.exception
        assert [each.key for each in test.button if each.key == "fit"] == ["fit"]
        assert test.query_params["step"] == "Fit"


def test_nothing_is_promoted_without_a_reason(labelled: SqlStore) -> None:
    test = at_step("Promote")

    test.button(key="promote").click().run()

    assert workspace_of(labelled).calibrators.steps() == ()
    [problem] = [card for card in cards(test) if card["title"] == "That was not done"]
    assert "needs a reason" in problem["text"]


def test_promoting_decides_every_stored_answer_again_and_back(labelled: SqlStore) -> None:
    calibrators = workspace_of(labelled).calibrators
    shipped = calibrators.current()
    [candidate] = calibrators.candidates()
    test = at_step("Promote")

    test.text_area(key="reason").input("it agrees with the reviewers")
    test.button(key="promote").click().run()

    assert not test.exception
    assert calibrators.current().name == candidate.name
    assert calibrators.current().reason == "it agrees with the reviewers"
    Retraining(workspace=workspace_of(labelled)).rescore(Config())  # or what is left of it
    decided = labelled.get_verdict("visit-003").verification
    assert decided.versions.calibrator == calibrators.current().label

    test.text_area(key="back_reason").input("only a rehearsal")
    test.button(key="roll-back").click().run()

    assert not test.exception
    assert (calibrators.current().name, calibrators.current().threshold) == (
        shipped.name,
        shipped.threshold,
    )

    test.button(key="roll-back").click().run()  # the box is still open: the way back needs a reason

    (refused,) = [card for card in cards(test) if card["title"] == "That was not done"]
    assert "reason" in refused["text"]
    assert calibrators.current().name == shipped.name


def test_a_rejected_candidate_is_not_offered_again(labelled: SqlStore) -> None:
    test = at_step("Promote")

    test.text_area(key="reason").input("it blocks too much")
    test.button(key="reject").click().run()

    assert not test.exception
    assert "promote" not in [button.key for button in test.button]
    assert "rejected" in test.selectbox(key="candidate").options[0]


def test_the_chain_names_every_link(labelled: SqlStore) -> None:
    calibrators = workspace_of(labelled).calibrators
    [candidate] = calibrators.candidates()
    retraining = Retraining(workspace=workspace_of(labelled))

    links = chain(retraining.lineage(candidate.name))

    assert [link["title"] for link in links] == [
        "Guideline",
        "Annotations",
        "Split",
        "Forest",
        "Threshold",
    ]
    assert links[0]["main"] == "version 1"
    assert links[3]["main"] == candidate.name
    assert "claims of the held-out traces" in rate_words(candidate.comparison)


def test_fit_and_compare_say_the_same_of_the_threshold(labelled: SqlStore) -> None:
    [kept] = workspace_of(labelled).calibrators.candidates()
    grown = f"A new forest: its threshold, {kept.threshold:g}, was chosen on the validation traces"
    assert grown in said(at_step("Compare")) and grown in said(at_step("Promote"))
    moved = {**kept.comparison, "moved_only": True}

    words = effect_words(replace(kept, comparison=moved))

    assert f"the forest and its threshold, {kept.threshold:g}, are those in use" in words
    assert "chosen" not in words


def a_flip(*, blocked: bool) -> Flip:
    """A claim that should be blocked."""
    return Flip(
        claim_id="t::c01", trace_id="t", text="A claim.", support="0.40 → 0.60",
        should_block=True, now_blocked=blocked, query={},
    )  # fmt: skip


def test_flips_are_counted_by_what_they_are_worth() -> None:
    assert flip_words([]) == "No labelled claim is decided differently."
    assert flip_words([a_flip(blocked=True), a_flip(blocked=False), a_flip(blocked=False)]) == (
        "3 labelled claims are decided differently: 1 for the better, 2 for the worse."
    )


def test_a_rescoring_says_what_it_left() -> None:
    report = RescoreReport(calibrator="forest", rescored=3, now_blocked=1)
    report.left_out[OTHER_SETTINGS] = 2

    assert "2 kept their old verdict: verified under other settings" in report_words(report)


def test_the_labels_are_weighed_before_anything_is_fitted(labelled: SqlStore) -> None:
    test = at_step("Labels")

    assert [card["title"] for card in cards(at_step("Fit"))][:1] == ["Too few labels to say much"]
    [card] = [card for card in cards(test) if "to say" in card["title"]]
    assert card["title"] == "Too few labels to say much"
    assert "At least 59 bad claims must be labelled" in card["text"]
    assert "bad claims passed" in card["text"] and "exact 95 % interval" in card["text"]
    assert any("features are far from the shipped rows" in each.label for each in test.expander)
    assert not test.exception

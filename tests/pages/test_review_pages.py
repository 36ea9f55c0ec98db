"""The pages of the workbench against a real database, without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from databases import a_store, workspace_of
from opening import cards, drawn, opened, row_chosen, views
from reviewing import SENTENCES, UNSUPPORTED, Office, a_reviewed_trace, an_office, labels_in
from sqlalchemy import Row, select
from sqlmodel import col
from streamlit.testing.v1 import AppTest
from verdicts import HOSTILE, fill, hostile, showcase

from core.records import Origin, VerdictLabel, Verification
from core.review.records import Judgement, ProjectSettings, Role
from storage.store import SqlStore, utc_now
from storage.tables import AnnotationRow

HOME, REVIEW, ADJUDICATE, PEOPLE = "home", "review", "adjudicate", "people"
SETTINGS = "settings"
AT_ONCE = 0  # milliseconds: these tests press keys faster than anybody reads


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file)


def claim(test: AppTest) -> Any:
    """What the review view was given."""
    (view,) = views(test, "provenanceguard_review")
    return view


def press(test: AppTest, *names: str) -> AppTest:
    """Press buttons, one after another."""
    for name in names:
        drawn(test, name).click().run()
        assert not test.exception
    return test


def annotations_of(made: Office) -> Sequence[Row[Any]]:
    """All annotations that were ever written, the first first."""
    with made.store.database.reading() as connection:
        return connection.execute(
            select(AnnotationRow.__table__).order_by(col(AnnotationRow.vote_id))  # type: ignore[attr-defined]
        ).all()


def office(store: SqlStore, **settings: object) -> Office:
    """People and verified traces, read at once; the workbench's own clock is the real one."""
    made = an_office(store, dwell_milliseconds=AT_ONCE, **settings)
    made.clock.at = utc_now()
    return made


def everything(test: AppTest) -> str:
    """All that the page was given, as one text."""
    return "\n".join(str(each.proto) for each in test.main) + "\n".join(
        str(each.proto.json) for each in test.get("bidi_component")
    )


# ---------------------------------------------------------------- home


def test_an_empty_workbench_leads_to_the_first_verdict(store: SqlStore) -> None:
    test = opened(HOME)

    assert cards(test)[0]["title"] == "Welcome. There are no traces here yet"
    assert test.button(key="load-sample").label == "Load the sample traces and verify them"


def test_home_says_what_waits_for_whom(store: SqlStore) -> None:
    made = office(store, reads_per_claim=2)
    made.read("Ada")
    made.read("Ben", Judgement(support=VerdictLabel.CONTRADICTED, source_id="chart"))

    reader, decider = (opened(HOME, made.people[name].person_id) for name in ("Cleo", "Dora"))

    # Not another number of claims than the team's: as many, of which one is read twice already.
    assert cards(reader)[0]["title"] == "7 of 8 claims left for you to read"
    assert cards(decider)[0]["title"] == "1 claim that two people read differently"
    assert decider.button(key="go-0").label == "Adjudicate"

    before = cards(reader)[0]["title"]
    made.desk("Cleo").next_item()  # what is in hand is still one claim
    assert cards(opened(HOME, made.people["Cleo"].person_id))[0]["title"] == before


def test_home_names_nobody_and_quotes_no_note(store: SqlStore) -> None:
    made = office(store, reads_per_claim=2)
    made.read("Ada", rationale="a note of mine")

    said = everything(opened(HOME, made.people["Ben"].person_id))

    assert "Ada" not in said
    assert "a note of mine" not in said


def test_home_counts_claims_once_and_tells_of_imports_and_of_what_somebody_published(
    store: SqlStore,
) -> None:
    made = office(store, reads_per_claim=1)
    lea, intake = made.people["Lea"], made.workspace.label_intake()
    table = "claim,label,trace_id\nHer weight is 71.4 kg.,not a claim,review-0001\n"
    labels_in(intake, lea, table, "A colleague")

    shown = opened(HOME, lea.person_id)
    intake.withdraw(intake.imports()[0].key, by=lea)
    later = opened(HOME, lea.person_id)

    found = next(card for card in cards(shown) if card["title"] == "8 claims of 2 answers")
    assert ["– not a claim, as people found", "1"] in found["facts"]
    assert "1 of 8 claims settled" in everything(shown)
    lately = [words for _, words in cards(shown)[-1]["facts"]]
    assert lately[0] == "Labels were imported"
    assert cards(later)[-1]["facts"][0][1] == "An import of labels was taken back"
    assert "guideline" not in " ".join(lately)  # the first version is the program's own
    made.workspace.guidelines.publish("1. One rule.", "Simpler", by=lea, expected_version=1)
    assert "guideline" in cards(opened(HOME, lea.person_id))[-1]["facts"][0][1]


def test_the_list_of_people_closes_once_somebody_is_chosen(store: SqlStore) -> None:
    made = office(store)
    test = opened(HOME, made.people["Lea"].person_id)
    test.session_state["chooser"] = True
    ada = made.people["Ada"].person_id

    test.run().button(key=f"become-{ada}").click().run()

    assert not [each for each in test.button if str(each.key).startswith("become-")]
    assert "Ada" in [each.value for each in test.text]


# ---------------------------------------------------------------- review


def test_a_claim_is_decided_by_its_last_answer_and_only_then_the_verifier_is_seen(
    store: SqlStore,
) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    assert claim(test)["machine"] is None
    assert drawn(test, "keep").disabled

    press(test, "v_supported", "own_1")
    assert claim(test)["machine"] is None
    press(test, "rightly_credited")

    view = claim(test)
    assert view["machine"]["claim"]["routed"] == "chart"
    assert view["machine"]["agrees"] == "It leaves this claim to a person."
    assert made.desk("Ada").progress().mine_done == 1


def test_keeping_an_answer_brings_the_next_claim(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    first = claim(test)["key"]

    press(test, "v_supported", "own_1", "rightly_credited", "keep")

    assert claim(test)["key"] != first
    assert claim(test)["machine"] is None
    assert not claim(test)["owners"]
    assert drawn(test, "keep").disabled


def test_a_changed_answer_is_kept_with_the_first_one(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)

    press(test, "v_contradicted", "own_1", "rightly_credited", "v_unsupported")
    assert drawn(test, "keep").label == "Save my change, next claim"
    press(test, "keep")

    (reviewed,) = workspace_of(store).labels.reviewed()
    (annotation,) = reviewed.annotations
    assert annotation.judgement.support is VerdictLabel.UNSUPPORTED
    assert annotation.first is not None and annotation.first.support is VerdictLabel.CONTRADICTED
    assert annotation.changed_after_reveal and annotation.saw_model_output


def test_every_verdict_costs_the_same_number_of_keys_whatever_it_says(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)

    for answers in (
        ("v_supported", "own_1", "rightly_credited"),
        ("v_not_enough_evidence", "own_none", "wrongly_credited"),
        ("own_2", "v_contradicted", "rightly_credited"),
    ):
        before = claim(test)["key"]
        press(test, *answers[:2])
        assert claim(test)["machine"] is None
        press(test, answers[2])
        assert claim(test)["machine"] is not None
        press(test, "keep")
        assert claim(test)["key"] != before


def test_the_second_readers_page_is_the_same_whatever_the_first_reader_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for said in (VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED):
        file = str(tmp_path / f"{said}.db")
        monkeypatch.setenv("PROVENANCEGUARD_DB", file)
        made = office(a_store(file), reads_per_claim=2)
        made.read("Ada", Judgement(support=said, source_id="chart", conflation=False))
        ben = made.people["Ben"].person_id
        # A button is named for one drawing of the claim, by a random number.
        bar = [
            ((each.key or "").split("-")[0], each.label, each.disabled)
            for each in opened(REVIEW, ben).button
        ]
        # Two databases may be made on two sides of a full minute, which is all that may differ.
        home = re.sub(r"\d\d:\d\d", "", repr(cards(opened(HOME, ben))[:3]))
        seen.append((claim(opened(REVIEW, ben)), bar, home))

    assert seen[0] == seen[1]


def test_without_decide_first_the_verifier_is_seen_at_once(store: SqlStore) -> None:
    made = office(store, decide_first=False)
    test = opened(REVIEW, made.people["Ada"].person_id)

    assert claim(test)["machine"] is not None
    first = claim(test)["key"]
    press(test, "v_supported", "own_1", "rightly_credited")

    assert claim(test)["key"] != first


@pytest.mark.parametrize("decide_first", [True, False])
def test_supported_by_no_source_is_explained_and_not_kept(
    store: SqlStore, decide_first: bool
) -> None:
    made = office(store, decide_first=decide_first)
    test = opened(REVIEW, made.people["Ada"].person_id)

    press(test, "v_supported", "own_none", "rightly_credited")

    assert any("Supported needs the source that says it" in each.value for each in test.text)
    assert made.desk("Ada").progress().mine_done == 0
    press(test, "v_not_enough_evidence")
    assert made.desk("Ada").progress().mine_done == 1


@pytest.mark.parametrize("decide_first", [True, False])
def test_no_evidence_beside_a_source_is_explained_and_not_kept(
    store: SqlStore, decide_first: bool
) -> None:
    made = office(store, decide_first=decide_first)
    test = opened(REVIEW, made.people["Ada"].person_id)

    press(test, "v_not_enough_evidence", "own_1", "rightly_credited")

    assert any("no source says anything about this" in each.value for each in test.text)
    assert made.desk("Ada").progress().mine_done == 0
    press(test, "own_none")
    assert made.desk("Ada").progress().mine_done == 1


def test_supported_by_no_source_is_refused_after_the_verifiers_view_too(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    press(test, "v_supported", "own_1", "rightly_credited")

    press(test, "own_none", "keep")

    assert any("Supported needs the source that says it" in each.value for each in test.text)
    (reviewed,) = workspace_of(made.store).labels.reviewed()
    assert reviewed.annotations[0].judgement.source_id == "chart"


def test_an_answer_that_comes_with_the_claim_is_kept_and_saves_nothing(store: SqlStore) -> None:
    made = an_office(store, dwell_milliseconds=60_000)
    made.clock.at = utc_now()
    test = opened(REVIEW, made.people["Ada"].person_id)

    press(test, "v_supported", "own_1", "rightly_credited")

    assert claim(test)["owners"] == ["chart"]
    assert any("A key came as soon as the claim did" in each.value for each in test.text)
    press(test, "keep")
    assert any("ms after the claim appeared" in each.value for each in test.text)
    assert made.desk("Ada").progress().mine_done == 0


def test_a_reload_finds_the_answers_that_were_given(store: SqlStore) -> None:
    made = office(store)
    who = made.people["Ada"].person_id
    before = press(opened(REVIEW, who), "v_contradicted", "own_2")

    after = opened(REVIEW, who)

    assert claim(after)["claim"] == claim(before)["claim"]
    assert claim(after)["owners"] == ["literature"]
    assert drawn(after, "v_contradicted").label == "● Contradicted"


def test_a_second_tab_makes_the_first_ones_key_presses_void(store: SqlStore) -> None:
    made = office(store)
    who = made.people["Ada"].person_id
    first = press(opened(REVIEW, who), "v_supported", "own_1")
    second = opened(REVIEW, who)
    press(second, "rightly_credited")

    press(first, "wrongly_credited")

    (reviewed,) = workspace_of(store).labels.reviewed()
    assert [annotation.judgement.conflation for annotation in reviewed.annotations] == [False]
    assert first.toast


def test_a_claim_can_be_given_back_with_a_reason_and_the_answers_are_away_meanwhile(
    store: SqlStore,
) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    first = claim(test)["claim"]

    press(test, "decline")
    assert not [each for each in test.button if each.key and each.key.startswith("v_")]
    press(test, "decline_1")

    assert claim(test)["claim"] != first


def test_undo_opens_the_last_verdict_again(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    first = claim(test)["claim"]
    press(test, "v_supported", "own_1", "rightly_credited", "keep")
    assert claim(test)["claim"] != first

    press(test, "undo")

    assert claim(test)["claim"] == first
    assert test.toast
    test.button(key="to-mine").click().run()
    assert not test.toast  # it was said of the claim on screen


@pytest.mark.parametrize("decide_first", [True, False])
def test_a_verdict_taken_back_comes_with_its_note_and_saves_only_when_asked(
    store: SqlStore, decide_first: bool
) -> None:
    made = office(store, decide_first=decide_first)
    test = opened(REVIEW, made.people["Ada"].person_id)
    first = claim(test)["claim"]
    press(test, "notes")
    test.text_area[0].set_value("Rule 9: it is rounded.").run()
    press(test, "v_supported", "own_1", "rightly_credited", *(["keep"] if decide_first else []))
    said = annotations_of(made)

    press(test, "undo", "notes")

    assert claim(test)["claim"] == first
    assert claim(test)["owners"] == ["chart"]
    assert drawn(test, "v_supported").label == "● Supported"
    assert test.text_area[0].value == "Rule 9: it is rounded."
    assert (claim(test)["machine"] is None) == decide_first
    press(test, "v_unsupported")
    assert annotations_of(made) == said  # complete, and nothing is written yet
    assert any("are back" in each.value for each in test.text)
    reloaded = opened(REVIEW, made.people["Ada"].person_id)
    assert drawn(reloaded, "v_unsupported").label == "● Unsupported"
    press(reloaded, "keep")
    *before, again = annotations_of(made)
    assert before == said
    assert (again.claim_key, again.support) == (said[-1].claim_key, "unsupported")
    assert again.rationale == said[-1].rationale == "Rule 9: it is rounded."
    if decide_first:
        assert claim(reloaded)["machine"] is not None
        press(reloaded, "keep")
    assert claim(reloaded)["claim"] != first


def test_a_verdict_taken_back_can_be_saved_as_it_was(store: SqlStore) -> None:
    made = office(store)
    test = opened(REVIEW, made.people["Ada"].person_id)
    press(test, "v_supported", "own_1", "rightly_credited", "keep", "undo")

    press(test, "keep")

    assert [each.support for each in annotations_of(made)] == [
        "supported"
    ] * 3  # said, kept, said again
    assert claim(test)["machine"] is not None


def test_an_older_annotation_is_found_by_its_words_and_mended(store: SqlStore) -> None:
    made = office(store)
    first = made.read("Ada", rationale="seen in the CHART")
    made.read("Ada", UNSUPPORTED)
    test = opened("review", made.people["Ada"].person_id)
    assert first is not None

    test.button(key="to-mine").click().run()
    answers = list(test.dataframe[0].value["My answer"])
    assert answers[1] == "Supported · load_patient_history · credited rightly"  # as on Review
    test.text_input(key="mine-search").input("chart seen patient_history").run()

    (table,) = test.dataframe
    assert list(table.value["My note"]) == ["seen in the CHART"]
    row_chosen(test, table)
    test.button(key="mend").click().run()
    held = made.desk("Ada").next_item()
    assert held is not None and held.claim_key == first.claim_key and held.reconsidered
    assert drawn(test, "keep").label.startswith("Save my answers")


def test_what_was_said_in_earlier_turns_is_shown_and_of_no_other_conversation(
    store: SqlStore,
) -> None:
    def turn(number: int, turn: object, talk: object = "a%", **more: object) -> Verification:
        extra = {"metadata": {"conversation_id": talk, "turn": turn}, **more}
        return a_reviewed_trace(number, SENTENCES[:1], extra=extra)

    third = turn(1, 3, slices=["ours"])
    made = office(store, verifications=[third], slice="ours")
    others = [turn(2, 2), turn(3, 1), turn(4, 4), turn(5, 1, "ab"), turn(6, "1"), turn(7, None)]
    foreign = turn(8, 1, slices=["ours"]).trace
    foreign = replace(foreign, origin=Origin(format="native", file="another.jsonl"))
    said = [
        replace(each.trace, question=f"Question {n}?", answer=f"Answer {n}.")
        for n, each in enumerate(others, 2)
    ]
    made.store.put_traces([*said, foreign])

    def turns() -> object:
        return claim(opened(REVIEW, made.people["Ada"].person_id))["turns"]

    assert turns() == []  # the project reads one slice, and they are not of it
    made.store.put_traces(replace(each, extra={**each.extra, "slices": ["ours"]}) for each in said)
    assert turns() == [["Question 3?", "Answer 3."], ["Question 2?", "Answer 2."]]


def test_who_may_not_review_is_told_so(store: SqlStore) -> None:
    made = office(store)

    test = opened(REVIEW, made.people["Otto"].person_id)

    assert cards(test)[0]["title"] == "This page is for reviewers"
    assert not views(test, "provenanceguard_review")


def test_the_last_verdict_of_a_done_queue_can_be_taken_back(store: SqlStore) -> None:
    made = office(store, traces=1)
    while made.read("Ada"):
        pass
    test = opened(REVIEW, made.people["Ada"].person_id)
    assert cards(test)[0]["title"] == "Nothing waits for you"

    press(test, "undo")

    assert claim(test)["claim"]


def test_a_queue_that_is_done_says_so(store: SqlStore) -> None:
    made = office(store, traces=1)
    while made.read("Ada"):
        pass

    test = opened(REVIEW, made.people["Ben"].person_id)

    assert cards(test)[0]["title"] == "Nothing waits for you"


def test_hostile_texts_reach_no_element_that_reads_markup(store: SqlStore) -> None:
    made = office(store, verifications=[hostile()])
    test = opened(REVIEW, made.people["Ada"].person_id)

    assert HOSTILE in json.dumps(claim(test), ensure_ascii=False)
    for each in (*test.markdown, *test.caption, *test.title, *test.toast):
        assert "tracker.invalid" not in str(each.value)
    for button in test.button:
        assert not set("[]<>()!*_:`$") & set(re.sub(r"\\.", "", button.label)), button.label


# ---------------------------------------------------------------- adjudicate


def a_tie(made: Office) -> None:
    """Ada and Ben read the same claim differently."""
    made.read("Ada", rationale="Ada's reason", confidence=4)
    made.read(
        "Ben",
        Judgement(support=VerdictLabel.CONTRADICTED, source_id="literature", conflation=True),
        rationale="Ben's reason",
    )


def test_a_tie_shows_both_reasons_without_names_and_nothing_chosen(store: SqlStore) -> None:
    made = office(store, reads_per_claim=2)
    a_tie(made)

    test = opened(ADJUDICATE, made.people["Dora"].person_id)

    view = claim(test)
    assert [each["name"] for each in view["readings"]] == ["Reviewer 1", "Reviewer 2"]
    assert {each["rationale"] for each in view["readings"]} == {"Ada's reason", "Ben's reason"}
    assert view["mine"]["answers"] == ""
    assert view["machine"] is None and not view["owners"]
    assert not [each.label for each in test.button if each.label.startswith("●")]
    assert drawn(test, "save").disabled


def test_an_adjudication_needs_a_cause_and_leaves_both_readings_as_they_are(
    store: SqlStore,
) -> None:
    made = office(store, reads_per_claim=2)
    a_tie(made)
    test = opened(ADJUDICATE, made.people["Dora"].person_id)

    press(test, "v_supported", "own_1", "rightly_credited")
    assert drawn(test, "save").disabled
    press(test, "cause_guideline_gap", "fix_guideline", "save")

    (reviewed,) = workspace_of(store).labels.reviewed()
    assert reviewed.adjudication is not None
    assert reviewed.adjudication.cause.value == "guideline_gap"
    assert reviewed.adjudication.guideline_needs_fix
    assert {annotation.judgement.support for annotation in reviewed.annotations} == {
        VerdictLabel.SUPPORTED,
        VerdictLabel.CONTRADICTED,
    }
    assert cards(test)[0]["title"] == "No disagreement waits for you"


def test_who_is_alone_fills_adjudicate_as_the_tutorial_says(store: SqlStore) -> None:
    fill(store, showcase())
    test = opened(SETTINGS)
    assert [each.value for each in test.caption][0] == (
        "For two people to read each claim, 3 are needed: the third decides where they differ. One "
        "person works here: a lead adds others on People."
    )
    test.segmented_control(key="set-reads").set_value(2)
    test.number_input(key="set-dwell").set_value(AT_ONCE)
    test.text_input(key="set-reason-0").input("To measure agreement").run()
    press(test, "save-settings").switch_page("pages/people.py").run()
    for number, name in enumerate(("Ada", "Ben")):
        after = f"-{number + 1}"  # each saved form is followed by an empty one
        test.text_input(key=f"new-name{after}").input(name)
        press(test, f"add-person-button{after}")
    people = {each.name: each.person_id for each in workspace_of(store).people.everybody()}

    def become(name: str, page: str) -> AppTest:
        test.session_state["chooser"] = True
        press(test.run(), f"become-{people[name]}")
        return test.switch_page(f"pages/{page}.py").run()

    read = claim(become("Ada", REVIEW))["claim"]
    press(test, "v_supported", "own_1", "rightly_credited")
    again = claim(become("Ben", REVIEW))["claim"]
    press(test, "v_contradicted", "own_1", "rightly_credited")
    me = next(name for name in people if name not in ("Ada", "Ben"))

    assert again == read
    (tie,) = views(become(me, ADJUDICATE), "provenanceguard_review")
    assert tie["claim"] == read
    assert "Ada" not in everything(test) and "Ben" not in everything(test)


def test_who_has_read_a_claim_is_not_offered_its_tie(store: SqlStore) -> None:
    made = office(store, reads_per_claim=2)
    a_tie(made)
    people = workspace_of(store).people
    ada = people.grant(made.people["Ada"], Role.ADJUDICATOR, by=made.people["Lea"])

    test = opened(ADJUDICATE, ada.person_id)

    assert cards(test)[0]["title"] == "No disagreement waits for you"


# ---------------------------------------------------------------- people


def test_a_reviewer_sees_no_other_name_on_the_people_page(store: SqlStore) -> None:
    made = office(store)

    said = everything(opened(PEOPLE, made.people["Ben"].person_id))

    assert "Ada" not in said and "Cleo" not in said


def test_who_is_alone_is_told_what_to_do_and_gets_a_link_for_whom_they_add(store: SqlStore) -> None:
    test = opened(PEOPLE)
    assert cards(test)[0]["title"] == "You are alone here"
    test.text_input(key="new-name").input("Nia")
    press(test, "add-person-button")

    nia = workspace_of(store).people.by_name("Nia")
    test.selectbox(key="role-person-1").select(nia).run()

    assert "You are alone here" not in [card["title"] for card in cards(test)]
    (link,) = [each.value for each in test.code]
    assert link.endswith(f"/?as={nia.person_id}")


def test_a_lead_adds_a_person_who_can_then_review(store: SqlStore) -> None:
    made = office(store)
    test = opened(PEOPLE, made.people["Lea"].person_id)

    test.text_input(key="new-name").input("Nia")
    press(test, "add-person-button")

    nia = workspace_of(store).people.by_name("Nia")
    assert claim(opened(REVIEW, nia.person_id))["claim"]

    test.text_input(key="new-name-1").input(" Nia").run()
    assert test.button(key="add-person-button-1").disabled
    assert "Nia is here already, as reviewer: give another role below." in [
        t.value for t in test.text
    ]
    test.text_input(key="new-name-1").input("Ola")
    test.multiselect(key="new-roles-1").set_value([]).run()
    assert test.button(key="add-person-button-1").disabled
    assert "Choose a role." in [each.value for each in test.text]


def test_a_role_is_offered_to_be_given_or_to_be_taken_away(store: SqlStore) -> None:
    made = office(store)
    test = opened(PEOPLE, made.people["Lea"].person_id)

    test.selectbox(key="role-person").select(made.people["Ada"])
    test.selectbox(key="role-role").select("lead").run()
    offered = {each.key for each in test.button}
    press(test, "give-role")
    roles = workspace_of(store).people.by_name("Ada").roles
    test.selectbox(key="role-person-1").select(workspace_of(store).people.by_name("Ada"))
    test.selectbox(key="role-role-1").select("lead").run()

    assert "give-role" in offered and "take-role" not in offered and Role.LEAD in roles
    test.text_input(key="role-reason-1").input("Enough leads")
    press(test, "take-role-1")
    assert Role.LEAD not in workspace_of(store).people.by_name("Ada").roles


def test_settings_change_only_with_a_reason(store: SqlStore) -> None:
    made = office(store)
    test = opened(SETTINGS, made.people["Lea"].person_id)

    test.toggle(key="set-decide").set_value(False)
    press(test, "save-settings")
    assert any(card["title"] == "This was not saved" for card in cards(test))
    test.text_input(key="set-reason-0").input("A pilot with open verdicts").run()
    assert not any(card["title"] == "This was not saved" for card in cards(test))
    press(test, "save-settings")

    assert cards(test)[0]["title"] == "The settings were saved." and not test.toast
    assert test.text_input(key="set-reason-1").value == ""
    assert not workspace_of(store).projects.default().settings.decide_first


def test_the_settings_that_nobody_touched_stay_as_they_were(store: SqlStore) -> None:
    made = office(store, audit_share=0.333, lease_minutes=45, reads_per_claim=2)
    test = opened(SETTINGS, made.people["Lea"].person_id)

    test.number_input(key="set-dwell").set_value(900)
    test.text_input(key="set-reason-0").input("Slower")
    press(test, "save-settings")

    assert workspace_of(store).projects.default().settings == ProjectSettings(
        dwell_milliseconds=900, audit_share=0.333, lease_minutes=45, reads_per_claim=2
    )


def test_a_new_guideline_is_in_force_for_the_next_claim(store: SqlStore) -> None:
    made = office(store)
    test = opened(SETTINGS, made.people["Lea"].person_id)

    test.text_area(key="guideline-1").input("1. One rule for everything.")
    test.text_input(key="guideline-change").input("Simpler")
    press(test, "publish-guideline")

    assert workspace_of(store).guidelines.current().version == 2
    view = claim(opened(REVIEW, made.people["Ada"].person_id))
    assert view["guideline"] == {"version": 2, "text": "1. One rule for everything."}


def test_a_reviewer_can_change_no_setting_and_no_role(store: SqlStore) -> None:
    made = office(store)

    test = opened(SETTINGS, made.people["Ada"].person_id)

    assert test.button(key="save-settings").disabled
    assert "Only a lead changes settings." in [each.value for each in test.text]
    assert not [each.key for each in test.text_input if "reason" in str(each.key)]
    people = opened(PEOPLE, made.people["Ada"].person_id)
    buttons = [each.key for each in (*test.button, *people.button)]
    assert not {"publish-guideline", "give-role", "add-person-button"} & {*buttons}


def test_the_showcase_can_be_reviewed_to_its_last_claim(store: SqlStore) -> None:
    made = office(store, verifications=[showcase()])
    test = opened(REVIEW, made.people["Ada"].person_id)

    seen = []
    while views(test, "provenanceguard_review"):
        seen.append(claim(test)["claim"])
        press(test, "v_supported", "own_1", "rightly_credited", "keep")

    assert len(seen) == len(set(seen)) == 8
    assert cards(test)[0]["title"] == "Nothing waits for you"

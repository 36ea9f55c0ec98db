"""The repair page against a real database, without a browser."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import a_source, a_trace
from databases import a_store, workspace_of
from lexical import lexical_models, verify_lexically
from opening import opened, titles, views
from repaired import blocked, repaired
from reviewing import SUPPORTED, UNSUPPORTED, an_office, labels_in
from verdicts import fill

from core.attribution.families import load_families
from core.codec import content_hash
from core.config import Config
from core.records import Decision, RepairKind, State
from core.repair.loop import Settled, overruled, repair_answer, with_labels
from core.workflows.repair import outcome_of, repair_figures, repair_trace
from pages.screens.repair.view import final_answer
from pages.widgets.session import run_now
from storage.records import TraceFilters
from storage.repairs import Choice, StoredChoice
from storage.store import SqlStore

HOSTILE = "<script>alert(1)</script> ![x](http://192.0.2.1/a.png) :red[x] $a^2$"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqlStore:
    """An empty database that the workbench under test opens."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    return a_store(file)


def test_without_any_blocked_answer_the_page_says_so(store: SqlStore) -> None:
    assert titles(opened("repair")) == ["Choose an answer to repair"]


def test_the_list_has_what_was_repaired_and_what_waits(store: SqlStore) -> None:
    repaired(store, blocked("done"))
    fill(store, verify_lexically(blocked("waits")))

    test = opened("repair")

    table = test.dataframe[0].value
    assert list(zip(table["Trace"], table["State"], table["Repair"], strict=True)) == [
        ("done", "Blocked", "Proposal: some of it not confirmed"),
        ("waits", "Blocked", "Not proposed yet"),
    ]
    assert table["Edits"][0] == "1 correction, 1 not confirmed"
    assert all(table["Question"]) and all(table["Claims that do not pass"])
    assert not table.isnull().any(axis=None), "an empty cell reads None"
    assert {metric.label: metric.value for metric in test.metric}[
        "Confirmed claims kept"
    ] == "1 of 1"


def test_what_is_shown_to_be_wrong_waits_before_what_was_not_confirmed(store: SqlStore) -> None:
    chart = a_source("Resting heart rate was 62 bpm.", "chart", "load_patient_history")
    unsure = a_trace("The moon is made of cheese.", chart, trace_id="unsure")
    fill(store, verify_lexically(unsure), verify_lexically(blocked("wrong")))
    states = {row.trace_id: row.state for row in store.list_traces(TraceFilters(), limit=5).rows}
    assert states == {"unsure": State.NEEDS_REVIEW, "wrong": State.BLOCK}

    table = opened("repair").dataframe[0].value
    assert list(table["Trace"]) == ["wrong", "unsure"]
    assert list(table["State"]) == ["Blocked", "Needs review"]
    assert "Repair" not in table, "nothing is proposed: no empty columns"

    test = opened("repair")
    assert any(each.value.startswith("2 answers to repair") for each in test.text)
    test.button(key="begin").click().run()
    assert test.query_params["trace"] == "wrong"


def test_the_list_says_how_much_of_a_proposal_is_decided(store: SqlStore) -> None:
    number = repaired(store, blocked())
    repairs = workspace_of(store).repairs

    def state() -> str:
        return str(opened("repair").dataframe[0].value["Repair"][0])

    assert state() == "Proposal: some of it not confirmed"
    repairs.choose(number, "rep-1::r01", Choice.ACCEPT, reviewer="ada")
    assert state() == "Proposal: some of it not confirmed, 1 undecided"
    repairs.choose(number, "rep-1::r02", Choice.REJECT, reviewer="ada")
    assert state() == "Decided"


def test_an_unknown_or_unverified_trace_is_named(store: SqlStore) -> None:
    fill(store, unverified=[a_trace("Yes.", a_source("Yes."), trace_id="waiting")])

    for trace_id in ("nobody", "waiting"):
        assert titles(opened("repair", trace=trace_id)) == ["There is no verdict to repair"]


def test_an_allowed_answer_has_nothing_to_repair(store: SqlStore) -> None:
    good = a_trace(
        "Resting heart rate was 62 bpm.", a_source("Resting heart rate was 62 bpm."), trace_id="ok"
    )
    fill(store, verify_lexically(good))

    assert titles(opened("repair", trace="ok")) == ["Nothing to repair"]


def test_a_blocked_answer_without_a_repair_offers_one(store: SqlStore) -> None:
    fill(store, verify_lexically(blocked()))

    test = opened("repair", trace="rep-1")

    assert titles(test) == ["No edits are proposed for rep-1 yet"]
    assert [button.label for button in test.button] == ["Repair this answer"]


def test_a_repair_is_shown_with_every_reason_and_source(store: SqlStore) -> None:
    repaired(store, blocked())

    (view,) = views(opened("repair", trace="rep-1"), "provenanceguard_repair")

    assert [edit["kind"] for edit in view["edits"]] == ["attribution", "mark"]
    assert all(edit["reason"] for edit in view["edits"])
    assert view["before"]["kind"] == "block"
    assert (view["after"]["kind"], view["after"]["word"]) == ("pending", "Proposal, 2 undecided")
    assert dict(view["figures"])["Confirmed claims kept"] == "1 of 1"
    lit = [piece["text"] for piece in view["sources"]["rep-1::r01"]["pieces"] if piece["lit"]]
    assert lit == ["Empagliflozin reduced a mortality endpoint in adults."]
    assert view["unverified"]


def test_who_decided_an_edit_is_named_as_pages_call_them_and_recorded_as_they_are(
    store: SqlStore,
) -> None:
    number, workspace = repaired(store, blocked()), workspace_of(store)
    me = workspace.people.local()
    workspace.people.show_as(me, "Dr Roth", by=me)
    workspace.repairs.choose(number, "rep-1::r01", Choice.ACCEPT, reviewer=me.name)

    test = opened("repair", trace="rep-1")

    (view,) = views(test, "provenanceguard_repair")
    assert [edit["reviewer"] for edit in view["edits"]] == ["Dr Roth", None]
    assert "Choices are kept under Dr Roth." in [each.value for each in test.text]
    assert workspace.repairs.choices(number)["rep-1::r01"].reviewer == me.name


def test_a_text_with_edits_that_nobody_decided_leaves_under_that_name(store: SqlStore) -> None:
    number = repaired(store, blocked())
    repairs = workspace_of(store).repairs

    def shown() -> tuple[str, str]:
        page = opened("repair", trace="rep-1")
        (button,) = page.get("download_button")
        (view,) = views(page, "provenanceguard_repair")
        return button.proto.label, view["status"]  # type: ignore[attr-defined]

    label, status = shown()
    assert label == "Download the text, 2 edits undecided"
    assert status.startswith("Proposal, 2 edits undecided.")

    repairs.choose(number, "rep-1::r01", Choice.ACCEPT, reviewer="ada")
    assert shown()[0] == "Download the text, 1 edit undecided"

    repairs.choose(number, "rep-1::r02", Choice.REJECT, reviewer="ada")
    label, status = shown()
    assert label == "Download the text"
    assert "undecided" not in status


def test_the_pieces_hold_the_answer_before_and_after(store: SqlStore) -> None:
    repaired(store, blocked())

    (view,) = views(opened("repair", trace="rep-1"), "provenanceguard_repair")

    def text(side: str) -> str:
        return "".join(
            piece["text"]
            if "text" in piece
            else "".join(p["text"] for p in piece["parts"] if p["is"] in ("same", side))
            for piece in view["pieces"]
        )

    assert text("old") == blocked().answer
    assert text("new") == view["final"]


def test_a_repair_that_came_with_the_verdict_is_kept_once(store: SqlStore) -> None:
    trace = blocked("rep-2")
    verification = verify_lexically(trace)
    repair = outcome_of(repair_answer(verification, verify_lexically, Config(), load_families()))
    from core.workflows.verify import run_key

    store.put_traces([trace])
    store.put_verdicts(
        run_key(verification.versions),
        [replace(verification, repair=repair)],
    )

    opened("repair", trace="rep-2")
    opened("repair", trace="rep-2")

    assert len(workspace_of(store).repairs.export()) == 1


def test_hostile_text_reaches_the_view_as_it_is(store: SqlStore) -> None:
    trace = blocked("rep-3", extra=f"{HOSTILE} is a drug. ")
    repaired(store, trace)

    (view,) = views(opened("repair", trace="rep-3"), "provenanceguard_repair")

    whole = "".join(
        piece.get("text") or "".join(p["text"] for p in piece["parts"] if p["is"] != "new")
        for piece in view["pieces"]
    )
    assert whole == trace.answer


def a_choice(action_id: str, choice: Choice, text: str | None = None) -> StoredChoice:
    return StoredChoice(
        action_id=action_id,
        choice=choice,
        text=text,
        reviewer="ada",
        chosen_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_a_rejected_edit_gives_the_answers_own_words_back() -> None:
    trace = blocked()
    verification = verify_lexically(trace)
    repair = outcome_of(repair_answer(verification, verify_lexically, Config(), load_families()))
    credit, mark = repair.actions
    rejected = {mark.action_id: a_choice(mark.action_id, Choice.REJECT)}
    edited = {credit.action_id: a_choice(credit.action_id, Choice.EDIT, "the 2019 abstract")}
    gone = {mark.action_id: a_choice(mark.action_id, Choice.EDIT, "")}

    def text(choices: dict[str, StoredChoice]) -> str:
        return final_answer(trace.answer or "", repair.actions, choices)

    assert "The moon is made of cheese [not confirmed]." in text({})
    assert "The moon is made of cheese. " in text(rejected)
    assert "According to the 2019 abstract, empagliflozin" in text(edited)
    assert text(gone).endswith("mortality endpoint. Resting heart rate was 62 bpm.")


def test_a_state_is_shown_of_exactly_the_text_that_was_verified_and_of_no_other(
    store: SqlStore,
) -> None:
    trace = blocked()
    number = repaired(store, trace)
    repairs, version = workspace_of(store).repairs, content_hash(trace)
    actions = repairs.latest(version).outcome.actions

    def shown() -> tuple[str, str, list[str]]:
        page = opened("repair", trace="rep-1")
        (view,) = views(page, "provenanceguard_repair")
        buttons = [one.label for one in page.button if one.label == "Verify this text"]
        return view["after"]["word"], view["after"]["kind"], buttons

    def text() -> str:
        return final_answer(trace.answer or "", actions, repairs.choices(number))

    # The proposal's own text passed or not: nothing of it is said while an edit is undecided.
    repairs.record_check(version, text(), Decision.ALLOW, run=run_now(Config()), reviewer="ada")
    assert shown() == ("Proposal, 2 undecided", "pending", [])

    repairs.choose(number, actions[0].action_id, Choice.ACCEPT, reviewer="ada")
    repairs.choose(number, actions[1].action_id, Choice.REJECT, reviewer="ada")
    assert shown() == ("Not verified yet", "pending", ["Verify this text"])

    repairs.record_check(version, text(), Decision.BLOCK, run=run_now(Config()), reviewer="ada")
    assert shown() == ("Blocked", "block", [])

    repairs.choose(number, actions[1].action_id, Choice.EDIT, reviewer="ada", text="")
    assert shown() == ("Not verified yet", "pending", ["Verify this text"])
    repairs.record_check(version, text(), Decision.ALLOW, run=run_now(Config()), reviewer="ada")
    assert shown() == ("Allowed", "allow", [])
    repairs.choose(number, actions[1].action_id, Choice.REJECT, reviewer="ada")
    repairs.choose(number, actions[1].action_id, Choice.EDIT, reviewer="ada", text="It was 62.")
    repairs.record_check(version, text(), Decision.ALLOW, run="an earlier one", reviewer="ada")
    assert shown() == ("Not verified yet", "pending", ["Verify this text"])


def test_what_people_settled_decides_what_is_offered_for_repair(store: SqlStore) -> None:
    chart = a_source("Resting heart rate was 62 bpm.", "chart", "load_patient_history")
    passed = a_trace("Resting heart rate was 62 bpm.", chart, trace_id="passed")
    stopped = a_trace("The moon is made of cheese.", chart, trace_id="stopped")
    office = an_office(store, verifications=[verify_lexically(passed), verify_lexically(stopped)])
    assert offered(store) == ["stopped"]

    while (item := office.desk("Ada").next_item()) is not None:
        office.decide("Ada", item, UNSUPPORTED if item.trace_id == "passed" else SUPPORTED)

    assert offered(store) == ["passed"]
    assert titles(opened("repair", trace="stopped")) == ["Nothing to repair"]
    assert titles(opened("repair", trace="passed")) == ["No edits are proposed for passed yet"]
    (wrong,) = verify_lexically(passed).claims
    labels = {wrong.claim.text: Settled.WRONG}
    repair = repair_answer(
        with_labels(verify_lexically(passed), labels),
        lambda trace: with_labels(verify_lexically(trace), labels),
        Config(),
        load_families(),
    )
    assert [action.kind for action in repair.actions] == [RepairKind.MARK]
    assert repair.actions[0].reason == "People found it wrong."


@pytest.mark.parametrize("mended", [True, False])
def test_a_repair_by_a_label_that_was_mended_or_taken_back_is_offered_no_more(
    store: SqlStore, mended: bool
) -> None:
    heart = "Resting heart rate was 62 bpm."
    chart = a_source(heart, "chart", "load_patient_history")
    trace = a_trace(heart, chart, trace_id="once-wrong")
    read = verify_lexically(trace)
    office = an_office(store, verifications=[read])
    intake, lea = office.workspace.label_intake(), office.people["Lea"]
    table = f"claim,label,source,trace_id\n{heart},no,,once-wrong\n"
    labels_in(intake, lea, table, "Ada")
    settled = {heart: Settled.WRONG}
    made = repair_trace(trace, lexical_models(), Config(), settled=settled)
    office.clock.advance(minutes=1)
    office.workspace.repairs.put(content_hash(trace), made, overruled(read, settled))
    assert views(opened("repair", trace="once-wrong"), "provenanceguard_repair")
    assert list(opened("repair").dataframe[0].value["Trace"]) == ["once-wrong"]

    if mended:
        again = office.desk("Ada").undo()
        assert again is not None
        office.decide("Ada", again, SUPPORTED)
    else:
        intake.withdraw(intake.imports()[0].key, by=lea)

    assert titles(opened("repair", trace="once-wrong")) == ["Nothing to repair"]
    assert titles(opened("repair")) == ["Choose an answer to repair"]


@pytest.mark.parametrize("changed", ["answer", "verdict", None])
def test_a_repair_of_what_is_another_now_counts_as_none_and_is_to_be_proposed_anew(
    store: SqlStore, changed: str | None
) -> None:
    number = repaired(store, blocked())
    repairs = workspace_of(store).repairs
    repairs.choose(number, "rep-1::r01", Choice.ACCEPT, reviewer="ada")
    read = verify_lexically(blocked(extra="The sea is hot. " if changed == "answer" else ""))
    if changed == "verdict":
        first, *others = read.claims
        read = replace(read, claims=(replace(first, decision=Decision.ALLOW), *others))

    fill(store, unverified=[read.trace])  # then another run: it says the same, or not
    store.put_verdicts("another", [replace(read, content_hash=content_hash(read.trace))])

    table = opened("repair").dataframe[0].value
    if changed is None:
        assert list(table["Repair"]) == ["Proposal: some of it not confirmed, 1 undecided"]
        return
    assert list(table["Repair"]) == ["Changed since: to be proposed anew"]
    assert (repairs.counts().accepted, repair_figures(repairs).rows) == (0, 0)
    assert titles(opened("repair", trace="rep-1")) == ["No edits are proposed for rep-1 yet"]


def offered(store: SqlStore) -> list[str]:
    return [row.trace_id for row, _ in workspace_of(store).repairs.without()]

"""Triage on the pages: what a list is narrowed to, who may see what, and what is decided again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from databases import a_store
from opening import cards, opened, titles, views
from reviewing import SENTENCES, SUPPORTED, UNSUPPORTED, Office, a_reviewed_trace, an_office
from streamlit.testing.v1 import AppTest

from core.records import Decision, IngestReport
from core.review.items import Progress
from core.review.records import Cause, ReviewStatus
from core.workflows.packet_export import select_claims
from pages.screens.agreement.over_time import causes_of, weeks_of
from pages.screens.export.preview import ChosenPackets
from pages.screens.home.tour import tour_steps
from pages.screens.traces.importing import _file_card
from pages.widgets.navigation import may_use
from storage.engine import ENVIRONMENT_VARIABLE
from storage.records import Overview
from storage.store import utc_now
from storage.triage import MarkKind

ALL_PAGES = {
    "Home", "Traces", "Verdict", "Review", "Adjudicate", "Repair", "Thresholds", "Evaluation",
    "Agreement", "Recalibrate", "Export", "Audit", "People", "Settings",
}  # fmt: skip


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """Three verified traces and everybody who works on them."""
    file = tmp_path / "workbench.db"
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(file))
    return an_office(a_store(file), traces=3, reads_per_claim=2)


def table(test: AppTest) -> dict[str, object]:
    """What the list of traces was given."""
    (found,) = views(test, "provenanceguard_traces")
    return found  # type: ignore[no-any-return]


def test_navigation_has_the_pages_that_a_role_can_use(office: Office) -> None:
    def seen(name: str) -> set[str]:
        project, person = office.project, office.people[name]
        names = {title.lower() for title in ALL_PAGES}
        return {each.title() for each in names if may_use(each, person, project)}

    assert seen("Ada") == {"Home", "Traces", "Verdict", "Review", "People", "Settings"}
    assert seen("Dora") == {"Home", "Traces", "Verdict", "Adjudicate", "People", "Settings"}
    assert seen("Otto") == ALL_PAGES - {"Review", "Adjudicate"}
    assert seen("Lea") == ALL_PAGES - {"Review"}


# ---------------------------------------------------------------- blind readers


def test_a_blind_readers_list_has_neither_decisions_nor_counts(office: Office) -> None:
    test = opened("traces", office.people["Ada"].person_id)

    shown = table(test)

    assert shown["columns"] == []
    rows = shown["rows"]
    assert isinstance(rows, list)
    assert {row["decision"]["kind"] for row in rows} == {"unread"}
    assert all(row["counts"] == [] for row in rows)
    assert "3 yours to read first" in test.caption[0].value
    test.get_by_key("decision").set_value("block").run()
    assert titles(test) == ["No trace matches"]


def test_a_lead_sees_the_same_list_whole(office: Office) -> None:
    rows = table(opened("traces", office.people["Lea"].person_id))["rows"]

    assert isinstance(rows, list)
    assert {row["decision"]["kind"] for row in rows} == {"needs_review"}


@pytest.mark.parametrize("page", ["thresholds", "evaluation", "repair"])
def test_pages_that_show_many_verdicts_stay_shut_for_blind_readers(
    office: Office, page: str
) -> None:
    test = opened(page, office.people["Ada"].person_id)

    assert titles(test) == ["For leads and auditors"]
    assert test.dataframe.len == 0
    assert "For leads and auditors" not in titles(opened(page, office.people["Lea"].person_id))


@pytest.mark.parametrize("page", ["agreement", "recalibrate", "export", "audit"])
def test_pages_of_leads_show_a_reviewer_nothing(office: Office, page: str) -> None:
    test = opened(page, office.people["Ada"].person_id)

    assert test.dataframe.len == 0
    assert len(titles(test)) == 1


def test_a_verdict_that_may_still_come_says_so(office: Office) -> None:
    test = opened("verdict", office.people["Ada"].person_id, trace="review-0002")

    assert titles(test) == ["A claim of this answer may still come to you"]
    assert views(test, "provenanceguard_evidence") == []


def test_home_tells_blind_readers_nothing_of_verdicts(office: Office) -> None:
    def labels(name: str) -> set[str]:
        test = opened("home", office.people[name].person_id)
        return {button.label for button in test.button}

    assert "Look at them" not in labels("Ada")
    assert "Look at them" in labels("Lea")


def test_the_tour_opens_answers_and_lets_blind_readers_read_first(office: Office) -> None:
    overview = Overview(traces=3, by_decision={Decision.BLOCK: 3})
    progress = office.desk("Ada").progress()
    assert isinstance(progress, Progress)
    ada, lea = office.people["Ada"], office.people["Lea"]

    blind = tour_steps(overview, progress, 0, ada, blind=True, opened=False, weighed=False)
    leads = tour_steps(overview, progress, 0, lea, blind=False, opened=True, weighed=False)
    after = tour_steps(overview, progress, 0, lea, blind=False, opened=True, weighed=True)

    assert [step.label for step in blind] == ["Traces", "Review"]
    # She opened a verdict; she reads no claims herself, so none are asked of her.
    assert [(step.label, step.done) for step in leads] == [
        ("Traces", True),
        ("Answers", True),
        ("Thresholds", False),
        ("Recalibrate", False),
    ]
    assert [step.label for step in after if not step.done] == ["Recalibrate"]


# ---------------------------------------------------------------- lists


def test_an_address_narrows_the_list_by_everything_and_says_so(office: Office) -> None:
    lea = office.people["Lea"]
    office.workspace.triage.mark(["review-0002"], MarkKind.TAG, "second look", by=lea)
    office.workspace.triage.mark(["review-0002"], MarkKind.FLAG, by=lea)

    test = opened(
        "traces", lea.person_id, decision="needs_review", tag="second look", flagged="1",
        cause="not confirmed",
    )  # fmt: skip

    (row,) = table(test)["rows"]  # type: ignore[misc]
    assert row["id"] == "review-0002"
    assert [mark["text"] for mark in row["marks"]] == ["⚑ flagged", "second look"]
    said = next(each.value for each in test.text if each.value.startswith("Only: "))
    assert said == "Only: needs review · cause not confirmed · tag second look · flagged"
    test.button(key="clear-filters").click().run()
    assert len(table(test)["rows"]) == 3  # type: ignore[arg-type]


def test_a_verdict_knows_its_list_and_goes_to_the_next(office: Office) -> None:
    lea = office.people["Lea"].person_id
    test = opened("verdict", lea, trace="review-0002", list="order=newest", at="2")

    assert "2 of 3" in [each.value for each in test.text]
    assert not test.button(key="previous_trace").disabled
    test = opened("verdict", lea, trace="review-0001", list="order=newest", at="3")
    assert test.button(key="next_trace").disabled


def test_a_comment_is_shown_as_it_was_written(office: Office) -> None:
    lea = office.people["Lea"]
    office.workspace.triage.mark(
        ["review-0001"], MarkKind.COMMENT, "![x](https://tracker.invalid)", by=lea
    )

    test = opened("verdict", lea.person_id, trace="review-0001")
    test.get_by_key("trace-notes")

    assert office.workspace.triage.standing(["review-0001"])["review-0001"].comments == 1


# ---------------------------------------------------------------- files


def a_report(**counts: int) -> IngestReport:
    """What was understood of a file of 64 traces."""
    plain: dict[str, object] = {
        "files": (), "new": 64, "changed": 0, "unchanged": 0, "tools": (), "skipped": (),
        "skipped_count": 0, "without_answer": 0, "without_evidence": 0,
    }  # fmt: skip
    return IngestReport(**{**plain, **counts})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "tone", "said"),
    [({}, "good", False), ({"without_evidence": 3}, "careful", False),
     ({"without_evidence": 64}, "careful", True)],
)  # fmt: skip
def test_a_file_without_evidence_gets_no_green_tick(
    counts: dict[str, int], tone: str, said: bool
) -> None:
    card = _file_card("a.jsonl", 1_000, "auto", a_report(**counts))

    assert (card["tone"], card["mark"]) == (tone, "✓" if tone == "good" else "!")
    assert bool(card["text"]) is said


# ---------------------------------------------------------------- adjudications


def test_an_adjudication_is_reopened_from_its_page_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "workbench.db"
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(file))
    office = an_office(
        a_store(file), verifications=[a_reviewed_trace(1, SENTENCES[:1])], reads_per_claim=2
    )
    office.read("Ada", SUPPORTED)
    office.read("Ben", UNSUPPORTED)
    desk = office.desk("Dora")
    item = desk.next_disagreement()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=5)
    desk.adjudicate(item, nonce, SUPPORTED, Cause.REVIEWER_ERROR)

    test = opened("adjudicate", office.people["Lea"].person_id)
    test.button(key="to-decided").click().run()

    assert list(test.dataframe[0].value["Decided by"]) == ["Dora"]
    office.workspace.triage.reopen(item.claim_key, "read wrongly", by=office.people["Lea"])
    (claim,) = office.workspace.labels.reviewed()
    assert claim.resolution.status is ReviewStatus.UNRESOLVED
    assert "Nothing to reopen" in [card["title"] for card in cards(test.run())]
    waiting = opened("adjudicate", office.people["Dora"].person_id)
    assert not cards(waiting)  # the disagreement itself
    assert waiting.button(key="to-decided").label == "Decided before"  # beside the one that decides


# ---------------------------------------------------------------- figures and packets


def test_the_team_is_seen_over_time_and_disagreements_by_cause(office: Office) -> None:
    for _ in range(4):
        office.read("Ada", SUPPORTED)
    office.clock.advance(days=14)
    for _ in range(4):
        office.read("Ben", UNSUPPORTED)
    desk = office.desk("Dora")
    for cause in (Cause.GUIDELINE_GAP, Cause.GUIDELINE_GAP, Cause.REVIEWER_ERROR):
        item = desk.next_disagreement()
        assert item is not None
        nonce = desk.show(item.assignment_id)
        office.clock.advance(seconds=5)
        desk.adjudicate(
            item, nonce, SUPPORTED, cause, guideline_needs_fix=cause is Cause.GUIDELINE_GAP
        )
    claims = office.workspace.labels.reviewed()

    weeks, causes = weeks_of(claims), causes_of(claims)

    assert [week[1:] for week in weeks] == [(4, 0, 0), (0, 0, 0), (4, 3, 3)]
    assert [(words, count, fixes) for words, count, _, fixes in causes] == [
        ("Guideline silent", 2, 2),
        ("Reviewer error", 1, 0),
    ]
    test = opened("agreement", office.people["Lea"].person_id)
    assert "Why annotations differed" in [each.value for each in test.subheader]
    assert "The team over time" in [each.value for each in test.subheader]


def test_a_lead_sees_by_person_what_is_read_overdue_and_agreed(office: Office) -> None:
    for judgement in (SUPPORTED, UNSUPPORTED):
        office.read("Ada", judgement)
        office.read("Ben", SUPPORTED)
    office.desk("Ada").next_item()  # long ago by the workbench's clock: its lease is over

    test = opened("agreement", office.people["Lea"].person_id)
    test.segmented_control(key="readings").set_value("Who reads what").run()

    rows = next(f.value for f in test.dataframe if "Overdue" in f.value).set_index("Who")
    assert {"Ada", "Ben"} <= set(rows.index)
    assert list(rows.loc["Ada", ["Read", "In hand", "Overdue"]]) == [2, 1, 1]
    assert list(rows.loc["Ben", ["Read", "In hand", "Overdue"]]) == [2, 0, 0]
    assert rows.loc["Ada", "Agrees with another"] == "1 of 2"
    assert not opened("agreement", office.people["Ada"].person_id).dataframe


def test_a_claim_that_was_left_out_by_hand_is_not_in_the_packet(office: Office) -> None:
    for name in ("Ada", "Ben"):
        for _ in range(4):
            office.read(name, SUPPORTED)
    lea = office.people["Lea"]
    packets = office.workspace.packets()
    everything = select_claims(packets, lea).claims
    gone = everything[0].claim_key

    chosen = ChosenPackets(
        store=replace(packets.store, now=utc_now),
        project=packets.project,
        without=frozenset({gone}),
    )

    assert {claim.claim_key for claim in select_claims(chosen, lea).claims} == {
        claim.claim_key for claim in everything[1:]
    }
    test = opened("export", lea.person_id)
    assert any(expander.label.startswith("Look at the 4 claims") for expander in test.expander)

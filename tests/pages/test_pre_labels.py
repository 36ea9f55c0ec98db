"""What judges said of a claim comes to a reviewer after their own answer alone, with how far they agree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from endpoints import reading, serving
from judged import supported
from opening import cards, drawn, opened, views
from reviewing import SENTENCES, SUPPORTED, Office, a_reviewed_trace, an_office
from streamlit.testing.v1 import AppTest

from core.config import Config
from core.judge.asking import read_by_judge
from core.records import VerdictLabel
from core.records.judge import JudgeFor
from core.workflows.judges import judge_named
from core.workflows.label import Reading, settled
from core.workflows.pre_label_import import import_pre_labels
from storage.store import utc_now

WHY = "WHY-THE-JUDGES-SAID-SO"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """Four claims that a judge has read, each with a pre-label of two judges from a labelled packet."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    read = {
        said: {**supported(premise), "why": "THE-JUDGE-QUOTES-IT"} for said, premise, _ in SENTENCES
    }
    with serving(reading(read)) as server:
        judge = judge_named(server.url, "small")
        (judged,) = read_by_judge([a_reviewed_trace(1)], judge, JudgeFor.ALL, Config())
    office = an_office(a_store(file, actor="test"), verifications=[judged], dwell_milliseconds=0)
    office.clock.at = utc_now()
    made = settled(
        Reading(by="one@here#1", label=VerdictLabel.SUPPORTED, source_id="chart", why=WHY),
        Reading(by="two@here#2", label=VerdictLabel.CONTRADICTED, source_id="chart", why=WHY),
    )
    rows = [
        {
            "claim_id": v.claim.claim_id,
            "trace_id": "review-0001",
            "claim": v.claim.text,
            "pre_label": made,
        }
        for v in judged.claims
    ]
    rows += [{**rows[0], "claim_id": "elsewhere::c01"}, {**rows[0], "pre_label": None}, rows[0]]
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text("".join(json.dumps(row) + "\n" for row in rows))
    workspace = workspace_of(office.store)
    for expected in (4, 0):  # again, nothing changes
        done = import_pre_labels(
            workspace.pre_labels, labelled, office.people["Lea"], max_record_bytes=10_000
        )
        assert (done.rows, done.new, len(done.skipped)) == (7, expected, 2)
    return office


def everything(test: AppTest) -> str:
    return str(test) + json.dumps(cards(test)) + json.dumps(views(test, "provenanceguard_review"))


def test_a_reviewer_sees_judge_and_pre_label_only_after_their_own_answer(office: Office) -> None:
    test = opened("review", office.people["Ada"].person_id)
    before = everything(test)
    for name in ("v_supported", "own_1", "rightly_credited"):
        assert WHY not in everything(test) and "THE-JUDGE-QUOTES-IT" not in everything(test)
        test = drawn(test, name).click().run()

    (view,) = views(test, "provenanceguard_review")
    machine = view["machine"]
    assert WHY not in before and "pre_label" not in before
    assert (
        "Pre-label: contradicted, unlike you; the judges differ, and this goes first"
        in machine["pre_label"]
    )
    assert "one@here and two@here" in machine["pre_label"] and WHY in machine["pre_label"]
    assert machine["claim"]["judge"]["why"] == "THE-JUDGE-QUOTES-IT"
    assert machine["claim"]["judge"]["quotes"]
    assert office.store.verify_chain().intact


def test_without_decide_first_the_pre_label_still_waits_for_the_answer(office: Office) -> None:
    at_once = replace(office.project.settings, decide_first=False)
    office.workspace.projects.change(
        office.project, at_once, by=office.people["Lea"], reason="the verifier is seen at once"
    )

    test = opened("review", office.people["Ada"].person_id)

    (view,) = views(test, "provenanceguard_review")
    assert view["machine"]["claim"] and WHY not in everything(test)


def test_agreement_with_the_pre_labels_is_told_to_a_lead(office: Office) -> None:
    for _ in range(4):
        office.read("Ada", SUPPORTED)

    test = opened("agreement", office.people["Lea"].person_id)

    told = [each.value for each in test.subheader]
    assert "With the pre-labels, before they were shown" in told
    at = [metric.value for metric in test.metric]
    assert "0 of 4" in at


def test_what_the_judges_said_is_never_in_the_trail_and_goes_with_its_trace(office: Office) -> None:
    triage, lead = office.workspace.triage, office.people["Lea"]
    (told,) = [e for e in office.store.audit_events() if e.action == "claim.pre_labelled"]
    there = set(office.workspace.pre_labels.all())

    gone = triage.erase(["review-0001"], "the patient asks for it", by=lead)

    report = office.store.verify_chain()
    erased = office.store.audit_events()[0]
    assert not office.workspace.pre_labels.all()
    office.store.close()
    left = b"".join(file.read_bytes() for file in Path(office.store.name).parent.glob("*.db*"))
    assert json.loads(told.detail).keys() == {"pre_labels", "digest"} and len(there) == 4
    assert (gone.traces, report.erased, report.intact) == (1, 1, True)
    assert WHY.encode() not in left and SENTENCES[0][0].encode() not in left
    assert (erased.actor, erased.action) == ("Lea", "traces.erased")
    assert len(json.loads(erased.detail)["erased"]["pre_label"]) == 4

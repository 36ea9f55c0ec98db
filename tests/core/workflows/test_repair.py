"""Repair from verdict to figures: documents, the measures of what was saved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_source, a_trace
from lexical import LexicalEmbedder, LexicalNliModel, lexical_models, verify_lexically

from core.codec import (
    repair_document,
    repair_from_document,
    verdict_document,
    verification_from_document,
)
from core.config import Config
from core.errors import BadRecord
from core.pipeline import verify
from core.records import (
    EditorFailure,
    EditRequest,
    RepairKind,
    RepairOutcome,
    RepairStatus,
    Trace,
    VerdictLabel,
)
from core.repair.loop import chosen_answer, repair_answer
from core.review.records import Judgement
from core.workflows.cache import remembering
from core.workflows.repair import (
    RepairReport,
    measure_repair,
    outcome_of,
    repair_all,
    repair_verified,
    repair_versions,
    repairing_judge,
    settled_of,
)
from core.workflows.repair_labels import count_labelled, labels_of
from core.workflows.verify import verify_file

CHART = a_source(
    "Elena Marchetti has type 2 diabetes mellitus.\nResting heart rate was 62 bpm.",
    "chart",
    "load_patient_history",
)
STUDY = a_source(
    "Empagliflozin reduced a mortality endpoint in adults at high risk.\n"
    "Genital infection was more common with empagliflozin.",
    "pubmed",
    "search_pubmed_key_words",
)
CONFLATED = a_trace(
    "According to the chart, empagliflozin reduced a mortality endpoint. "
    "Resting heart rate was 62 bpm.",
    CHART,
    STUDY,
    trace_id="conflated",
)
INVENTED = a_trace("The moon is made of cheese.", CHART, STUDY, trace_id="invented")
MIXED = a_trace(
    "Resting heart rate was 62 bpm. The moon is made of cheese.", CHART, STUDY, trace_id="mixed"
)
GOOD = a_trace("Resting heart rate was 62 bpm.", CHART, STUDY, trace_id="good")
SILENT = a_trace(None, CHART, trace_id="silent")
ALL = (CONFLATED, INVENTED, MIXED, GOOD, SILENT)
CONFIG = Config()
REMOVING = Config(repair_removes_unconfirmed=True)


def repairs_of(*traces: Trace) -> list[RepairOutcome]:
    return [outcome_of(r) for _, r in repair_all(traces, lexical_models(), REMOVING)]


def test_the_figures_count_what_became_of_each_answer() -> None:
    report = RepairReport()
    for repair in repairs_of(*ALL):
        report.add(repair)

    figures = report.document()

    assert {name: figures[name] for name in ("rows", "pre_allow", "pre_block", "unavailable")} == {
        "rows": 5,
        "pre_allow": 1,
        "pre_block": 3,
        "unavailable": 1,
    }
    assert figures["state"] == "proposal"
    assert (figures["repair_resolved"], figures["substantive"]) == (3, 2)
    assert (figures["corrected"], figures["pruned"], figures["terminal_fallback"]) == (1, 1, 1)
    assert figures["fallback_share"] == round(1 / 3, 4)
    assert (figures["supported_before"], figures["supported_kept"]) == (2, 2)
    assert (figures["wrong_attributions_before"], figures["wrong_attributions_left"]) == (1, 0)


@pytest.mark.parametrize(
    ("support", "status", "marked"),
    [
        (VerdictLabel.SUPPORTED, RepairStatus.CORRECTED, []),
        (VerdictLabel.UNSUPPORTED, RepairStatus.MARKED, [RepairKind.MARK]),
    ],
)
def test_a_credit_that_people_found_wrong_is_corrected_but_not_a_claim_that_is_wrong_itself(
    support: VerdictLabel, status: RepairStatus, marked: list[RepairKind]
) -> None:
    verification = verify_lexically(CONFLATED)
    wrong = verification.claims[0].claim
    final = Judgement(support=support, source_id="pubmed", conflation=True)
    settled = settled_of(verification, {wrong.claim_id: final})

    repair = repair_verified(verification, lexical_models(), CONFIG, settled=settled)

    assert repair.status is status
    assert [action.kind for action in repair.actions] == [RepairKind.ATTRIBUTION, *marked]


def test_a_share_of_nothing_is_null_with_its_reason() -> None:
    figures = RepairReport().document()

    assert figures["fallback_share"] is None
    assert figures["fallback_share_reason"] == "there are no blocked answers"
    assert figures["supported_kept_share"] is None


def test_a_repair_survives_json_as_it_was() -> None:
    trace = MIXED
    repair = repair_answer(
        verify_lexically(trace), verify_lexically, REMOVING, lexical_models().families
    )

    outcome = repair_from_document(json.loads(json.dumps(repair_document(outcome_of(repair)))))

    assert outcome == outcome_of(repair)
    assert outcome.removed == ("The moon is made of cheese.",)
    accepted = {action.action_id: action.after for action in outcome.actions}
    assert chosen_answer(trace.answer or "", outcome.actions, accepted) == outcome.revised_answer


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"actions": "x"},
        {"actions": [7]},
        {"actions": [{"action_id": "a"}]},
        {"status": "corrected", "actions": [], "rounds": "x"},
        {"status": "lovely", "actions": []},
    ],
)
def test_a_wrong_document_is_refused_with_its_path(wrong: dict[str, object]) -> None:
    with pytest.raises(BadRecord) as caught:
        repair_from_document(wrong)

    assert (caught.value.path or "").startswith("repair")


def test_a_supported_claim_that_is_gone_is_named() -> None:
    repair = repair_answer(
        verify_lexically(MIXED), verify_lexically, CONFIG, lexical_models().families
    )
    gone = replace(
        repair, after=verify_lexically(a_trace("Genital infection was more common.", STUDY))
    )

    assert measure_repair(repair).lost == ()
    assert measure_repair(gone).lost == ("Resting heart rate was 62 bpm.",)


def test_two_equal_claims_are_kept_only_when_both_are_there() -> None:
    twice = a_trace(
        "Resting heart rate was 62 bpm. The moon is cheese. Resting heart rate was 62 bpm.", CHART
    )
    repair = repair_answer(
        verify_lexically(twice), verify_lexically, CONFIG, lexical_models().families
    )
    once = replace(repair, after=verify_lexically(GOOD))

    assert measure_repair(repair).supported_kept == 2
    assert measure_repair(once).supported_kept == 1


def test_a_statement_that_is_true_and_removed_is_counted_beside_what_is_resolved() -> None:
    rows = [
        {"trace_id": "mixed", "claim": "The moon is made of cheese.", "label": "supported"},
        {"trace_id": "mixed", "claim": "Resting heart rate was 62 bpm.", "label": "contradicted"},
        {"trace_id": "mixed", "claim": "Nobody said this.", "label": "supported", "span": [0, 30]},
        {"trace_id": "mixed", "claim": "Quarks have colour charge.", "label": "supported"},
        {
            "trace_id": "conflated", "claim": "Empagliflozin reduced a mortality endpoint.",
            "label": "supported", "gold_attribution": "conflation",
        },
    ]  # fmt: skip

    def counted(config: Config) -> dict[str, object]:
        made = repair_all([MIXED, CONFLATED], lexical_models(), config)
        repaired = [replace(before, repair=outcome_of(repair)) for before, repair in made]
        return dict(count_labelled(repaired, labels_of(rows)).document())

    removing, marking = counted(REMOVING), counted(CONFIG)

    assert (removing["true_removed"], removing["true_kept"]) == (1, 1)
    assert (removing["false_kept"], removing["false_changed"]) == (1, 1)
    assert (marking["true_removed"], marking["true_marked"]) == (0, 1)
    assert marking["labels_without_place"] == removing["labels_without_place"] == 1
    with pytest.raises(BadRecord, match="label"):
        labels_of([{"trace_id": "mixed", "claim": "x"}])


class Counting(LexicalNliModel):
    """Counts the pairs that it reads."""

    read_pairs = 0

    def read(self, pairs: object) -> object:
        type(self).read_pairs += len(pairs)  # type: ignore[arg-type]
        return super().read(pairs)  # type: ignore[arg-type]


def test_models_that_remember_give_the_same_verdicts_and_read_no_pair_twice() -> None:
    models = replace(lexical_models(), nli=Counting(), embedder=LexicalEmbedder())
    remembered = remembering(models)

    plain = verify(CONFLATED, models, CONFIG)
    read_once = Counting.read_pairs
    first, second = (verify(CONFLATED, remembered, CONFIG) for _ in range(2))

    assert replace(first, latency_seconds={}) == replace(plain, latency_seconds={})
    assert replace(second, latency_seconds={}) == replace(plain, latency_seconds={})
    assert Counting.read_pairs == 2 * read_once
    assert remembering(remembered) is remembered


def test_verify_with_repair_writes_documents_that_other_programs_can_count(tmp_path: Path) -> None:
    out = tmp_path / "repaired.jsonl"
    counted = RepairReport()

    report = verify_file(
        ALL, out, lexical_models(), CONFIG, judged_by=repairing_judge(report=counted)
    )

    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["repair"]["status"] for row in rows] == [
        "corrected", "marked", "marked", "not_needed", "unavailable"
    ]  # fmt: skip
    assert rows[0]["decision"] == "block"
    assert [row["repair"]["decision_after"] for row in rows[:2]] == ["allow", "block"]
    assert {row["repair"]["state"] for row in rows} == {"proposal"}
    read = [verification_from_document(row) for row in rows]
    assert [verdict_document(one) for one in read] == rows
    assert counted.rows == report.verified == 5


def test_a_stopped_run_with_repair_goes_on_and_does_not_take_verdicts_without_repair(
    tmp_path: Path,
) -> None:
    out = tmp_path / "verdicts.jsonl"
    verify_file(ALL, out, lexical_models(), CONFIG)
    plain = out.read_bytes()

    first = verify_file(ALL, out, lexical_models(), CONFIG, judged_by=repairing_judge())
    again = verify_file(ALL, out, lexical_models(), CONFIG, judged_by=repairing_judge())

    assert (first.kept, first.verified) == (0, 5)
    assert (again.kept, again.verified) == (5, 0)
    assert out.read_bytes() != plain


class Silent:
    """An editor that has nothing to say."""

    name = "quiet"

    def rewrite(self, request: EditRequest) -> EditorFailure:
        return EditorFailure(reason="it answered with nothing")


def test_the_versions_say_that_repair_was_on_and_which_model_wrote() -> None:
    models = lexical_models()

    assert repair_versions(models, CONFIG, None).pipeline.endswith("+repair")
    assert repair_versions(models, CONFIG, Silent()).pipeline.endswith("+repair(quiet)")


def test_statements_that_a_model_could_not_reword_are_counted() -> None:
    trace = a_trace("Genital infection was rare and trivial with empagliflozin treatment.", STUDY)
    report = RepairReport()

    for _, repair in repair_all([trace], lexical_models(), CONFIG, Silent()):
        report.add(outcome_of(repair))

    assert (report.kinds[RepairKind.REWORD], report.kinds[RepairKind.MARK]) == (0, 1)
    assert (report.by_editor, report.editor_failures) == ({}, 1)

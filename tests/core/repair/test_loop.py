"""III.8: what repair keeps, corrects and takes out, with the whole pipeline behind it.

The verifier is the real pipeline with models that count words (tests/lexical.py), so that each
example can be followed by eye; the trained weights have tests of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from builders import a_source, a_trace
from hypothesis import given
from hypothesis import strategies as st
from lexical import lexical_models, verify_lexically
from tables import cases

from core.attribution.families import load_families
from core.config import Config
from core.errors import ComponentUnavailable, ConfigError
from core.evidence.values import protected_values, value_present
from core.pipeline import verify
from core.records import (
    AnswerDecision,
    AttributionStatus,
    Citation,
    ClaimType,
    Decision,
    EditorFailure,
    EditorText,
    EditRequest,
    Judged,
    Repair,
    RepairKind,
    RepairStatus,
    Source,
    SourceStatus,
    Span,
    Trace,
    VerdictLabel,
    Verification,
)
from core.repair.drafts import MARK, RULES, open_claims
from core.repair.grammar import grammar_problems, new_problems
from core.repair.loop import FALLBACK_ANSWER, chosen_answer, repair_answer

CHART = a_source(
    "Elena Marchetti has type 2 diabetes mellitus.\n"
    "Elena Marchetti takes empagliflozin 10 mg once daily.\n"
    "HbA1c was 7.4 % on 12 September 2025.\n"
    "Elena Marchetti denies chest pain.\n"
    "Resting heart rate was 62 bpm.",
    "chart",
    "load_patient_history",
)
STUDY = a_source(
    "Empagliflozin reduced a mortality endpoint in adults at high risk.\n"
    "Death from any cause occurred in 5.7% of the empagliflozin group.\n"
    "Genital infection was more common with empagliflozin.\n"
    "Metformin was safe in moderate renal impairment with monitoring.",
    "pubmed",
    "search_pubmed_key_words",
)
FAMILIES = load_families()


def repaired(
    answer: str,
    *sources: Source,
    editor: object = None,
    iterations: int = 1,
    removes: bool = False,
) -> Repair:
    """The repair of an answer over the chart and the study."""
    trace = a_trace(answer, *(sources or (CHART, STUDY)))
    return repair_answer(
        verify_lexically(trace),
        verify_lexically,
        Config(repair_iterations=iterations, repair_removes_unconfirmed=removes),
        FAMILIES,
        editor,  # type: ignore[arg-type]
    )


def kinds(repair: Repair) -> list[RepairKind]:
    return [action.kind for action in repair.actions if action.kind is not RepairKind.MEND]


def conflations(verification: Verification | None) -> int:
    assert verification is not None
    return sum(
        isinstance(one.outcome, Judged)
        and one.outcome.attribution.status is AttributionStatus.CONFLATION
        for one in verification.claims
    )


# ---------------------------------------------------------------- attribution


def test_a_wrong_credit_is_changed_in_the_answers_own_voice_and_nothing_else_is() -> None:
    answer = (
        "According to the patient's chart, empagliflozin reduced a mortality endpoint. "
        "Elena Marchetti has type 2 diabetes mellitus."
    )

    repair = repaired(answer)

    assert repair.status is RepairStatus.CORRECTED
    assert repair.revised_answer == answer.replace("the patient's chart", "published literature")
    (action,) = repair.actions
    assert (action.kind, action.before) == (RepairKind.ATTRIBUTION, "the patient's chart")
    assert action.source_id == "pubmed"
    assert action.evidence[0].cut(STUDY.text).startswith("Empagliflozin reduced")
    assert "credits the patient's chart" in action.reason


@cases
def test_explicit_and_paraphrased_credits_are_corrected_where_they_stand(
    wrong: str, right: str
) -> None:
    repair = repaired(wrong)

    assert repair.revised_answer == right
    assert kinds(repair) == [RepairKind.ATTRIBUTION]
    assert conflations(repair.after) == 0


def test_a_credit_that_is_right_for_others_stays_and_the_wrong_claim_gets_its_own() -> None:
    answer = (
        "From the chart:\n\n- Elena Marchetti has type 2 diabetes mellitus\n"
        "- Empagliflozin reduced a mortality endpoint\n- HbA1c was 7.4 % on 12 September 2025"
    )

    repair = repaired(answer)

    assert repair.revised_answer == answer.replace(
        "- Empagliflozin", "- According to published literature, empagliflozin"
    )


def test_a_heading_that_credits_the_wrong_source_for_all_under_it_is_changed() -> None:
    answer = (
        "## From the chart\n\n- Empagliflozin reduced a mortality endpoint\n"
        "- Genital infection was more common with empagliflozin"
    )

    repair = repaired(answer)

    assert repair.revised_answer == answer.replace("the chart", "published literature")
    assert len(repair.actions) == 1
    assert len(repair.actions[0].claim_ids) == 2


def test_two_calls_of_one_tool_are_told_apart_by_their_citation_marks() -> None:
    other = replace(STUDY, source_id="pubmed-2", text="Denosumab prevented hip fractures in women.")
    answer = (
        "Empagliflozin reduced a mortality endpoint [2]. "
        "Denosumab prevented hip fractures in women [2]."
    )
    first = answer.index("[2]")
    marks = (
        Citation(span=Span(start=first, end=first + 3), text="[2]", source_id="pubmed-2"),
        Citation(
            span=Span(start=answer.rindex("[2]"), end=answer.rindex("[2]") + 3),
            text="[2]",
            source_id="pubmed-2",
        ),
    )
    trace = a_trace(answer, STUDY, other, citations=marks)
    before = verify_lexically(trace)

    repair = repair_answer(before, verify_lexically, Config(), FAMILIES)

    assert conflations(before) == 1
    assert repair.status is RepairStatus.CORRECTED
    assert repair.revised_answer is not None
    assert repair.revised_answer.count("[2]") == 1
    assert "Denosumab prevented hip fractures in women [2]" in repair.revised_answer


# ---------------------------------------------------------------- values and qualifiers


@cases
def test_a_wrong_value_becomes_the_one_value_of_the_source_that_fits(
    wrong: str, right: str
) -> None:
    repair = repaired(wrong)

    assert repair.revised_answer == right
    assert kinds(repair) == [RepairKind.VALUE]


def test_a_value_is_not_guessed_when_two_would_fit() -> None:
    chart = replace(CHART, text="HbA1c was 7.4 % before and 6.9 % after treatment.")

    repair = repaired("HbA1c was 8.4 % before treatment.", chart)

    assert RepairKind.VALUE not in kinds(repair)


def test_a_negation_that_was_dropped_is_put_back() -> None:
    repair = repaired("Elena Marchetti has chest pain.")

    assert repair.revised_answer == "Elena Marchetti denies chest pain."
    assert kinds(repair) == [RepairKind.QUALIFIER]


@pytest.mark.parametrize(
    "detail", ["in 2019", "on 12 September 2025", "62 bpm", "in adults", "since empagliflozin"]
)
def test_a_negation_that_is_put_back_keeps_nothing_that_its_line_does_not_say(detail: str) -> None:
    chart = replace(CHART, text=CHART.text + "\nAn echocardiogram was done in 2019.")

    repair = repaired(f"Elena Marchetti has chest pain {detail}.", chart, STUDY)

    assert RepairKind.QUALIFIER not in kinds(repair)
    assert repair.revised_answer == f"Elena Marchetti has chest pain {detail} [not confirmed]."


def test_a_negation_is_put_back_beside_the_values_of_its_own_line() -> None:
    chart = replace(CHART, text="Elena Marchetti denies chest pain in 2019.")

    repair = repaired("Elena Marchetti has chest pain in 2019.", chart)

    assert repair.revised_answer == "Elena Marchetti denies chest pain in 2019."


def test_another_patients_chart_is_never_corrected_by_changing_the_name() -> None:
    answer = (
        "Patient Nora Lindqvist has type 2 diabetes mellitus. HbA1c was 7.4 % on 12 September 2025."
    )

    repair = repaired(answer, removes=True)

    assert repair.revised_answer == "HbA1c was 7.4 % on 12 September 2025."
    assert kinds(repair) == [RepairKind.PRUNE]


# ---------------------------------------------------------------- rewording and pruning


def test_what_could_not_be_confirmed_keeps_its_words_and_says_so_behind_them() -> None:
    answer = (
        "Elena Marchetti has **type 2 diabetes mellitus**. However, the moon is made of *cheese*. "
        "Resting heart rate was 62 bpm."
    )

    repair = repaired(answer)

    assert repair.status is RepairStatus.MARKED
    assert repair.revised_answer == answer.replace("*cheese*", "*cheese* [not confirmed]")
    (action,) = repair.actions
    assert action.kind is RepairKind.MARK
    assert repair.after is not None
    assert repair.after.answer.decision is Decision.BLOCK


@pytest.mark.parametrize("removes", [False, True])
def test_no_field_of_a_record_is_pasted_into_the_answer(removes: bool) -> None:
    panel = a_source(
        "name: Ravi Thapa\nlabs.display: Digoxin\nlabs.value: 0.8 ng/mL\n"
        "labs.display: Potassium\nlabs.value: 4.4 mmol/L\nlabs.date: 2025-11-18",
        "panel",
        "load_patient_history",
    )
    answer = "Potassium was fine on 18 November 2025. Digoxin level not measured in this panel."

    repair = repaired(answer, panel, removes=removes)

    assert RepairKind.REWORD not in kinds(repair)
    assert ";" not in (repair.revised_answer or "")
    if not removes:
        bare = MARK.sub("", repair.revised_answer or "").replace(" .", ".")
        assert bare == answer


def test_a_statement_is_marked_in_its_cell_of_a_table() -> None:
    chart = a_source("Elena Marchetti: HbA1c 7.4 %\nElena Marchetti: heart rate 62 bpm")
    answer = (
        "| | Elena Marchetti |\n|---|---|\n| HbA1c | 7.4 % |\n| Ferritin | 912 ng/mL |\n"
        "| Heart rate | 62 bpm |"
    )

    repair = repaired(answer, chart)

    assert repair.revised_answer == answer.replace("912 ng/mL", "912 ng/mL [not confirmed]")


def test_what_no_source_says_is_taken_out_and_the_rest_keeps_its_words() -> None:
    answer = (
        "Elena Marchetti has type 2 diabetes mellitus. However, the moon is made of cheese. "
        "Resting heart rate was 62 bpm."
    )

    repair = repaired(answer, removes=True)

    assert repair.status is RepairStatus.PRUNED
    assert repair.revised_answer == (
        "Elena Marchetti has type 2 diabetes mellitus. Resting heart rate was 62 bpm."
    )
    assert repair.actions[0].reason.startswith("Taken out: ")


@cases
def test_a_clause_is_taken_out_of_a_sentence_whose_other_claim_stays(
    answer: str, revised: str
) -> None:
    assert repaired(answer, removes=True).revised_answer == revised


def test_a_list_is_renumbered_and_each_item_is_an_edit_of_its_own() -> None:
    answer = (
        "Findings:\n\n1. Elena Marchetti owns a sailing boat\n2. The moon is made of cheese\n"
        "3. Resting heart rate was 62 bpm\n4. Elena Marchetti has type 2 diabetes mellitus"
    )

    repair = repaired(answer, removes=True)

    assert repair.revised_answer == (
        "Findings:\n\n1. Resting heart rate was 62 bpm\n2. Elena Marchetti has type 2 diabetes mellitus"
    )
    assert kinds(repair) == [RepairKind.PRUNE, RepairKind.PRUNE]


def test_a_table_loses_a_row_and_keeps_the_others() -> None:
    chart = a_source("Elena Marchetti: HbA1c 7.4 %\nElena Marchetti: heart rate 62 bpm")
    answer = (
        "| | Elena Marchetti |\n|---|---|\n| HbA1c | 7.4 % |\n| Ferritin | 912 ng/mL |\n"
        "| Heart rate | 62 bpm |"
    )

    repair = repaired(answer, chart, removes=True)

    assert repair.revised_answer == answer.replace("| Ferritin | 912 ng/mL |\n", "")


def test_nothing_verifiable_left_gives_a_non_claim_that_passes() -> None:
    repair = repaired("The moon is made of cheese.", removes=True)

    assert repair.status is RepairStatus.FALLBACK
    assert repair.revised_answer == FALLBACK_ANSWER
    assert repair.after is not None
    assert repair.after.answer.decision is Decision.ALLOW
    assert all(one.claim.claim_type is not ClaimType.FACTUAL for one in repair.after.claims)


def test_claims_past_the_limit_are_taken_out_because_nobody_judged_them() -> None:
    facts = ["Elena Marchetti has type 2 diabetes mellitus.", "Resting heart rate was 62 bpm."]
    answer = " ".join(facts * 13)

    config = Config(max_claims=20, repair_removes_unconfirmed=True)

    def verify_few(trace: Trace) -> Verification:
        return verify(trace, lexical_models(), config)

    repair = repair_answer(verify_few(a_trace(answer, CHART, STUDY)), verify_few, config, FAMILIES)

    assert repair.status is RepairStatus.PRUNED
    assert repair.after is not None
    assert sum(one.claim.claim_type is ClaimType.FACTUAL for one in repair.after.claims) == 20


def test_no_rewording_says_one_patients_value_where_another_patient_was_meant() -> None:
    ada = a_source("Iron level was low on Monday.", "ada", "load_patient_history")
    bea = a_source("Bea Novak has a low iron level.", "bea", "load_patient_history")

    repair = repaired("Patient Bea Novak had an iron level that was high on Monday.", ada, bea)

    assert "low on Monday" not in (repair.revised_answer or "")


def test_lines_of_their_own_stay_lines() -> None:
    answer = "Heart rate: 62 bpm\nOwner of a boat: yes\nElena Marchetti: type 2 diabetes mellitus"
    chart = a_source("Heart rate: 62 bpm\nElena Marchetti: type 2 diabetes mellitus")

    assert repaired(answer, chart, removes=True).revised_answer == (
        "Heart rate: 62 bpm\nElena Marchetti: type 2 diabetes mellitus"
    )


# ---------------------------------------------------------------- the loop


def test_an_allowed_answer_is_left_alone_without_asking_the_verifier() -> None:
    trace = a_trace("Resting heart rate was 62 bpm.", CHART)

    def never(trace: Trace) -> Verification:
        raise AssertionError("an allowed answer needs no second look")

    repair = repair_answer(verify_lexically(trace), never, Config(), FAMILIES)

    assert (repair.status, repair.actions) == (RepairStatus.NOT_NEEDED, ())
    assert repair.revised_answer == trace.answer


@pytest.mark.parametrize("answer", [None, "", "  "])
def test_without_an_answer_there_is_nothing_to_repair(answer: str | None) -> None:
    repair = repair_answer(
        verify_lexically(a_trace(answer, CHART)), verify_lexically, Config(), FAMILIES
    )

    assert (repair.status, repair.revised_answer) == (RepairStatus.UNAVAILABLE, None)


def test_without_evidence_nothing_is_repaired() -> None:
    missing = replace(CHART, status=SourceStatus.NOT_CAPTURED, text="")

    repair = repaired("Resting heart rate was 62 bpm.", missing)

    assert repair.status is RepairStatus.UNAVAILABLE


def blocking(verification: Verification) -> Verification:
    return replace(
        verification, answer=AnswerDecision(decision=Decision.BLOCK, reasons=("Never.",))
    )


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_a_verifier_that_never_passes_ends_the_loop_blocked(iterations: int) -> None:
    calls = []

    def stern(trace: Trace) -> Verification:
        calls.append(trace.answer)
        return blocking(verify_lexically(trace))

    trace = a_trace("HbA1c was 8.4 % on 12 September 2025. The moon is green.", CHART)
    repair = repair_answer(
        verify_lexically(trace),
        stern,
        Config(repair_iterations=iterations, repair_removes_unconfirmed=True),
        FAMILIES,
    )

    assert repair.status is RepairStatus.UNRESOLVED
    assert repair.revised_answer is None
    assert repair.actions == ()
    assert repair.rounds == len(calls) <= iterations + 3


def test_a_component_that_fails_while_repairing_is_not_taken_for_a_pass() -> None:
    def broken(trace: Trace) -> Verification:
        raise ComponentUnavailable("NLI model: gone")

    with pytest.raises(ComponentUnavailable):
        repair_answer(
            verify_lexically(a_trace("The moon is green.", CHART)), broken, Config(), FAMILIES
        )


def test_the_number_of_revisions_is_bounded_by_the_config() -> None:
    for wrong in (0, 4):
        with pytest.raises(ConfigError, match="repair_iterations"):
            Config(repair_iterations=wrong)


def test_citations_in_untouched_text_move_along() -> None:
    answer = "The moon is made of cheese. Empagliflozin reduced a mortality endpoint [1]."
    at = answer.index("[1]")
    mark = Citation(span=Span(start=at, end=at + 3), text="[1]", source_id="pubmed")

    repair = repair_answer(
        verify_lexically(a_trace(answer, CHART, STUDY, citations=(mark,))),
        verify_lexically,
        Config(),
        FAMILIES,
    )

    assert repair.after is not None
    (moved,) = repair.after.trace.citations
    assert moved.span.cut(repair.after.trace.answer or "") == "[1]"


# ---------------------------------------------------------------- the editor


class Answering:
    """An editor that answers as it is told and keeps what it was asked."""

    name = "small-model"

    def __init__(self, answer: Callable[[EditRequest], EditorText | EditorFailure]) -> None:
        self.answer, self.asked = answer, list[EditRequest]()

    def rewrite(self, request: EditRequest) -> EditorText | EditorFailure:
        self.asked.append(request)
        return self.answer(request)


BAD_CLAIM = "Genital infection was rare and trivial with empagliflozin treatment."


def test_a_models_sentence_is_used_and_the_record_names_the_model() -> None:
    editor = Answering(
        lambda _: EditorText(text="Genital infection was more common with empagliflozin")
    )

    repair = repaired(BAD_CLAIM, editor=editor)

    assert repair.revised_answer == (
        "According to published literature, genital infection was more common with empagliflozin."
    )
    assert (repair.actions[0].editor, repair.actions[0].note) == ("small-model", None)
    assert [request.claim for request in editor.asked] == [BAD_CLAIM]
    assert all(line in STUDY.text for line in editor.asked[0].premise.splitlines())


@pytest.mark.parametrize(
    ("given_text", "said"),
    [
        ("Genital infection occurred in 99.9% of patients.", "a value that is not in the evidence"),
        ("Genital infection was common.\nIgnore the rules.", "single sentence"),
        ("Genital infection was common and", "not well formed"),
        ("x" * 900, "single sentence"),
        ("  ", "single sentence"),
    ],
)
def test_a_models_bad_sentence_is_not_used_and_the_record_says_so(
    given_text: str, said: str
) -> None:
    repair = repaired(BAD_CLAIM, editor=Answering(lambda _: EditorText(text=given_text)))

    (action,) = repair.actions
    assert action.editor == RULES
    assert action.note is not None
    assert "small-model" in action.note
    assert said in action.note
    assert repair.status is RepairStatus.MARKED


def test_a_model_that_fails_leaves_the_statement_and_the_record_says_so() -> None:
    editor = Answering(lambda _: EditorFailure(reason="its endpoint could not be reached"))

    (action,) = repaired(BAD_CLAIM, editor=editor).actions

    assert action.editor == RULES
    assert action.note == "small-model: its endpoint could not be reached."


def test_a_models_false_sentence_does_not_pass_the_verifier() -> None:
    editor = Answering(lambda _: EditorText(text="Genital infection was cured by moonlight"))

    repair = repaired(BAD_CLAIM, editor=editor)

    assert "moonlight" not in (repair.revised_answer or "")


# ---------------------------------------------------------------- what must always hold

SENTENCES = (
    "Elena Marchetti has type 2 diabetes mellitus.",
    "Elena Marchetti takes empagliflozin 10 mg once daily and owns a sailing boat.",
    "HbA1c was 9.9 % on 12 September 2025.",
    "HbA1c was 7.4 % on 1 May 2024.",
    "Resting heart rate was 71 bpm.",
    "According to the chart, empagliflozin reduced a mortality endpoint.",
    "A 2019 trial found that Elena Marchetti has type 2 diabetes mellitus.",
    "Death from any cause occurred in 57% of the empagliflozin group.",
    "However, she has chest pain.",
    "It was also safe, at 350 mg, in 12 of 19 patients.",
    "Patient Nora Lindqvist (MRN 99-1234) takes warfarin 5 mg.",
    "Please discuss this with her physician.",
    "Metformin was safe in renal impairment with monitoring.",
)
LAYOUTS = (" ", "\n\n", "\n- ", "\n1. ", "\n\n## Notes\n\n")


@st.composite
def answers(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
    text = parts[0]
    for part in parts[1:]:
        text += draw(st.sampled_from(LAYOUTS)) + part
    return text


def read_well(text: str, answer: str, left_out: int) -> bool:
    return len(grammar_problems(text)) <= len(grammar_problems(answer)) + left_out


@given(answers(), st.integers(1, 3), st.data())
def test_a_proposal_loses_and_adds_nothing_that_no_source_decides(
    answer: str, iterations: int, data: st.DataObject
) -> None:
    repair = repaired(answer, iterations=iterations)
    revised = repair.revised_answer or ""
    chosen = data.draw(st.sets(st.sampled_from(repair.actions))) if repair.actions else set()
    text = chosen_answer(answer, repair.actions, {one.action_id: one.after for one in chosen})

    known = {value.normalised for value in protected_values(answer)}
    for value in protected_values(revised):
        assert (
            value.normalised in known
            or value.text in answer
            or any(value_present(value, source.text) for source in (CHART, STUDY))
        )
    shown = {
        one.claim.claim_id
        for one in repair.before.claims
        if one.verdict is VerdictLabel.CONTRADICTED
    }
    for action in repair.actions:
        assert action.kind is not RepairKind.PRUNE or set(action.claim_ids) <= shown
    if repair.status is RepairStatus.MARKED:
        assert repair.after is not None
        assert repair.after.answer.decision is Decision.BLOCK
        assert not open_claims(repair.after, marked=True)
    assert iterations > 1 or new_problems(answer, revised) == ()
    assert read_well(text, answer, len(repair.actions) - len(chosen))


@given(answers())
def test_a_repair_is_span_edits_of_the_answer_passes_the_verifier_and_stays(answer: str) -> None:
    repair = repaired(answer, removes=True)

    for action in repair.actions:
        assert action.span.cut(answer) == action.before
        assert action.before != action.after
        assert action.reason
    assert all(
        one.span.end <= other.span.start
        for one, other in zip(repair.actions, repair.actions[1:], strict=False)
    )
    after = {action.action_id: action.after for action in repair.actions}
    assert chosen_answer(answer, repair.actions, {}) == answer
    if repair.status not in (RepairStatus.UNRESOLVED, RepairStatus.UNAVAILABLE):
        revised = repair.revised_answer or ""
        assert chosen_answer(answer, repair.actions, after) == revised
        again = repaired(revised, removes=True)
        assert again.before.answer.decision is Decision.ALLOW
        assert again.status is RepairStatus.NOT_NEEDED


def test_a_mark_that_the_answer_came_with_confirms_nothing() -> None:
    answer = (
        "According to the literature, Elena Marchetti has type 2 diabetes mellitus. The moon is made of "
        "cheese [not confirmed]. Resting heart rate was 62 bpm."
    )

    repair = repaired(answer)

    assert repair.status is RepairStatus.MARKED
    assert RepairKind.MARK in kinds(repair) and RepairKind.ATTRIBUTION in kinds(repair)
    assert repair.after is not None and repair.after.answer.decision is Decision.BLOCK

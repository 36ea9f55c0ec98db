"""What may go in front of a statement, and how much the model makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.config import Config
from core.decomposition.claims import decompose
from core.decomposition.contexts import Fragment, Surroundings, composed, noun_phrases
from core.decomposition.learned import MOST, Learned, shipped
from core.decomposition.trees import Trees
from core.records import Span, Trace

NOTHING = Trees(features=(), start=-9.0, threshold=0.0, trees=())
ALWAYS = Trees(features=(), start=1.0, threshold=0.0, trees=())
ANSWER = "# Harbour report\n\n## Ferries\n- Leda: 12 trips\n- Orla: 9 trips\n"


def fragment(said: str, lead: str = "Ferries") -> Fragment:
    around = Surroundings.of("How many trips did the ferries to Ode make in May?", ANSWER)
    around.enter(1, "Harbour report")
    around.enter(2, "Ferries")
    return Fragment.of(around, said, lead, "", "", {})


def test_headings_the_question_and_the_lead_are_offered_and_what_is_said_already_is_not() -> None:
    offered = {(one.kind, one.text) for one in fragment("Leda: 12 trips").offered}

    assert ("heading", "Ferries") in offered
    assert ("heading", "Harbour report") in offered
    assert ("lead", "Ferries") in offered
    assert ("question", "Ode") in offered
    assert not any(text == "trips" for _, text in offered)


@given(st.text(max_size=60))
def test_at_most_so_many_contexts_go_in_front_and_what_is_said_stays_as_written(said: str) -> None:
    model = Learned(cut=NOTHING, context=ALWAYS)

    chosen = model.contexts(fragment(said), Span(start=0, end=1))

    assert len(chosen) <= MOST
    assert composed(chosen, said).endswith(said)
    assert composed([], said) == said


def test_a_model_that_trusts_no_context_puts_none_in_front() -> None:
    model = Learned(cut=NOTHING, context=NOTHING)

    assert model.contexts(fragment("12 trips"), Span(start=0, end=1)) == []


def test_leaving_a_section_leaves_its_headings() -> None:
    around = Surroundings.of("", ANSWER)
    for level, title in ((1, "One"), (2, "Two"), (2, "Three"), (1, "Four")):
        around.enter(level, title)

    assert around.headings == [(1, "Four")]


def test_noun_phrases_come_with_what_a_preposition_adds() -> None:
    phrases = list(noun_phrases("Show me the train tickets from Oslo to Bergen."))

    assert "train tickets" in phrases
    assert "train tickets from Oslo to Bergen" in phrases


@pytest.mark.parametrize("answer", [ANSWER, "Ada has gout (2019), asthma, and a BMI of 31.\n"])
def test_other_models_may_stand_for_those_that_ship(answer: str) -> None:
    trace = Trace(trace_id="t", question="", answer=answer, sources=())
    silent = Learned(cut=NOTHING, context=NOTHING)

    assert decompose(trace, Config()) == decompose(trace, Config(), None, shipped())
    for claim in decompose(trace, Config(), None, silent):
        assert claim.said == answer[claim.span.start : claim.span.end]


@cases
def test_no_patient_goes_in_front_of_what_names_another_person_the_agent_or_many(said: str) -> None:
    answer = f"Patient: Ada Lind, MRN 12. Patient Ada Lind has asthma.\n\n{said}\n"
    trace = Trace(trace_id="t", question="How is patient Ada Lind?", answer=answer, sources=())

    last = decompose(trace, Config(), None, Learned(cut=NOTHING, context=ALWAYS))[-1]

    assert "Ada" not in last.text


def test_with_two_patients_known_no_name_is_put_in_front_of_a_sentence() -> None:
    answer = "Patient Ada Lind has asthma. Patient Bo Ek has gout.\n\nPlatelets were low.\n"
    trace = Trace(trace_id="t", question="", answer=answer, sources=())

    last = decompose(trace, Config(), None, Learned(cut=NOTHING, context=ALWAYS))[-1]

    assert "Lind" not in last.text.removesuffix("Platelets were low.")

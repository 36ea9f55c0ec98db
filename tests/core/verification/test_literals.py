"""III.4: protected values, identity, lexical rescue."""

from __future__ import annotations

from builders import a_claim, a_premise, probabilities

from core.config import Config
from core.evidence.names import recorded_names
from core.records import Entailment, LiteralCheck, Relation
from core.verification.reading import check_literals

RECORD = "id: bench-6; name: Felipe Costa; label: Asthma; status: active."
PROSE = "Felipe Costa was seen today because of asthma, which remains active under treatment."


def _check(
    claim: str, source: str, relation: Relation = Relation.NEUTRAL, **config: float
) -> LiteralCheck:
    of = {
        Relation.NEUTRAL: probabilities(0.1, 0.8, 0.1),
        Relation.ENTAILMENT: probabilities(0.9, 0.05, 0.05),
        Relation.CONTRADICTION: probabilities(0.05, 0.05, 0.9),
    }[relation]
    return check_literals(
        a_claim(claim),
        a_premise(source),
        (source,),
        recorded_names(source),
        Entailment(relation=relation, probabilities=of),
        Config(**config),  # type: ignore[arg-type]
    )


def test_a_neutral_reading_of_an_exact_record_that_holds_every_literal_is_rescued() -> None:
    found = _check("Felipe Costa (bench-6) has active condition Asthma", RECORD)

    assert found.rescued
    assert found.relation is Relation.ENTAILMENT


def test_prose_is_never_rescued_by_its_words() -> None:
    found = _check("Felipe Costa has asthma, which remains active under treatment.", PROSE)

    assert found.term_overlap > 0.85
    assert not found.rescued
    assert found.relation is Relation.NEUTRAL


def test_a_missing_value_forbids_rescue_and_names_the_nearest_one() -> None:
    found = _check("Felipe Costa (bench-7) has active condition Asthma", RECORD)

    assert not found.rescued
    assert [(v.value.text, v.nearest) for v in found.missing] == [("bench-7", "bench-6")]


def test_a_contradiction_is_never_rescued() -> None:
    found = _check(
        "Felipe Costa (bench-6) has active condition Asthma", RECORD, Relation.CONTRADICTION
    )

    assert found.relation is Relation.CONTRADICTION


def test_a_higher_rescue_threshold_never_rescues_more() -> None:
    claim = "Felipe Costa (bench-6) has active condition Asthma"

    rescued = [_check(claim, RECORD, rescue_overlap_with_values=t / 10).rescued for t in range(11)]

    assert rescued == sorted(rescued, reverse=True)


def test_identity_is_looked_for_in_the_whole_source_because_a_chart_names_its_patient_once() -> (
    None
):
    claim = a_claim("The patient bench-6 takes metformin 500 mg.")
    source = "id: bench-6\nname: Felipe Costa\n\nmedication: metformin 500 mg daily"
    premise = a_premise("medication: metformin 500 mg daily")

    found = check_literals(
        claim,
        premise,
        (source,),
        recorded_names(source),
        Entailment(relation=Relation.ENTAILMENT, probabilities=probabilities(0.9, 0.05, 0.05)),
        Config(),
    )

    assert found.identity_mismatches == ()


def test_another_patients_chart_is_an_identity_mismatch() -> None:
    found = _check("Patient bench-9 has asthma.", RECORD, Relation.ENTAILMENT)

    assert found.identity_mismatches == ("bench-9",)


def test_a_record_that_names_another_patient_is_a_mismatch_even_where_the_name_opens_the_claim() -> (
    None
):
    claim = a_claim("Ana Ruiz has asthma.", patient_specific=True, subject="Ana Ruiz")
    reading = Entailment(relation=Relation.ENTAILMENT, probabilities=probabilities(0.9, 0.05, 0.05))

    other = check_literals(
        claim, a_premise(RECORD), (RECORD,), recorded_names(RECORD), reading, Config()
    )
    own_record = RECORD.replace("Felipe Costa", "Ana Ruiz")
    own = check_literals(
        claim,
        a_premise(own_record),
        (own_record,),
        recorded_names(own_record),
        reading,
        Config(),
    )

    assert other.identity_mismatches == ("Ana Ruiz",)
    assert own.identity_mismatches == ()


def test_the_patients_own_name_need_not_stand_in_the_premise() -> None:
    source = "id: bench-6\nname: Felipe Costa\n\nblood pressure: 144/73 mmHg"
    premise = a_premise("blood pressure: 144/73 mmHg")
    reading = Entailment(relation=Relation.ENTAILMENT, probabilities=probabilities(0.9, 0.05, 0.05))

    def missing(claim: str) -> list[str]:
        found = check_literals(
            a_claim(claim), premise, (source,), recorded_names(source), reading, Config()
        )
        return [checked.value.text for checked in found.values if not checked.present]

    assert missing("Blood pressure (Felipe Costa): 144/73 mmHg") == []
    assert missing("Blood pressure (Ana Ruiz): 144/73 mmHg") == ["Ana Ruiz"]


def test_a_value_that_may_be_said_in_other_words_is_unwritten_and_not_missing() -> None:
    premise = a_premise("A tall tower near the sea, built by three brothers.")
    claim = a_claim("The tower near Cape Horn is over 300 metres high and weighs 12 kg.")
    reading = Entailment(relation=Relation.NEUTRAL, probabilities=probabilities(0.2, 0.6, 0.2))

    found = check_literals(claim, premise, (premise.text,), (), reading, Config())

    assert [checked.value.text for checked in found.missing] == ["12 kg"]
    assert [checked.value.text for checked in found.unwritten] == ["Cape Horn", "over 300 metres"]
    assert not found.rescued

"""Conflation probes: every wrong credit has a right twin, and the evidence is the captured one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evaluations import predict
from tables import cases

from core.attribution.families import load_families
from core.errors import InputError
from core.evaluation.frozen import freeze, readable
from core.evaluation.packets import row_from_json, row_to_json
from core.evaluation.probes import (
    CHART,
    LITERATURE,
    WORDINGS,
    Credit,
    Fact,
    make_probes,
    probe_outcomes,
)
from core.evidence.values import value_present
from core.records import AttributionStatus, Decision, Source

FAMILIES = load_families()
COMPATIBLE = {item.family_id: item.compatible for item in FAMILIES.items}


def fact(text: str, family: str, tool: str, specific: bool = False) -> Fact:
    source = Source(source_id=f"{tool}#1", tool_name=tool, text=f"{text} More of the same.")
    return Fact(text=text, source=source, family=family, patient_specific=specific)


FACTS = [
    fact("The patient Ines Prado takes metformin 500 mg.", CHART, "load_patient_history", True),
    fact("The patient Ines Prado has asthma.", CHART, "load_patient_history", True),
    fact("Metformin lowered HbA1c by 12 percent.", LITERATURE, "search_pubmed"),
    fact("Statins reduced events in 340 adults.", LITERATURE, "search_pubmed"),
    fact("The potassium was 41 units.", "lab", "get_labs"),
]


def test_every_probe_has_a_twin_that_differs_only_in_what_makes_it_wrong() -> None:
    rows = make_probes(FACTS, COMPATIBLE, count=60)

    assert len(rows) == 120
    assert {row.slices[0] for row in rows} == {kind.value for kind in Credit}
    for probe, twin in zip(rows[::2], rows[1::2], strict=True):
        assert (probe.slices[1], twin.slices[1]) == ("probe", "twin")
        assert probe.trace_id == twin.trace_id
        assert probe.should_block and not twin.should_block
        assert twin.gold_attribution is AttributionStatus.MATCH
        assert {s.tool_name for s in probe.sources} == {s.tool_name for s in twin.sources}


def test_a_wrong_value_besides_makes_a_multi_error_probe_unsupported() -> None:
    rows = make_probes(FACTS, COMPATIBLE, count=60)
    errors = [row for row in rows if row.slices == (Credit.MULTI_ERROR.value, "probe")]

    assert errors
    for row in errors:
        assert row.claim not in {f.text for f in FACTS}
        assert not any(row.claim in source.text for source in row.sources)
        assert row.gold_source_ids == () and row.gold_attribution is None


def test_the_evidence_of_a_probe_holds_its_fact_word_for_word() -> None:
    for row in make_probes(FACTS, COMPATIBLE, count=40):
        if row.slices[0] != Credit.MULTI_ERROR.value or row.slices[1] == "twin":
            holder = next(s for s in row.sources if s.source_id in row.gold_source_ids)
            assert row.claim in holder.text
            assert sum(row.claim in s.text for s in row.sources) == 1


def test_families_that_stand_for_each_other_are_never_swapped() -> None:
    for row in make_probes([FACTS[0], FACTS[2], FACTS[4]], COMPATIBLE, count=40):
        tools = {s.tool_name for s in row.sources}
        assert tools != {"load_patient_history", "get_labs"}


def test_the_same_seed_gives_the_same_probes_and_another_seed_others() -> None:
    assert make_probes(FACTS, COMPATIBLE, count=20) == make_probes(FACTS, COMPATIBLE, count=20)
    assert make_probes(FACTS, COMPATIBLE, count=20) != make_probes(
        FACTS, COMPATIBLE, count=20, seed=1
    )


def test_one_kind_of_source_cannot_be_confused_and_is_refused() -> None:
    with pytest.raises(InputError, match="two kinds of source"):
        make_probes(FACTS[:2], COMPATIBLE)


def test_a_probe_is_a_claim_packet_row() -> None:
    for row in make_probes(FACTS, COMPATIBLE, count=10):
        assert row_from_json(row_to_json(row)) == row


def test_a_stated_credit_stands_in_the_answer_and_the_claim_stays_whole() -> None:
    for row in make_probes(FACTS, COMPATIBLE, count=40):
        trace, claim = freeze(row, FAMILIES)

        assert claim.claim_id == row.claim_id and claim.said == row.claim
        assert claim.span.cut(trace.answer or "") == row.claim
        assert trace.sources == row.sources
        if row.stated_attribution is not None:
            assert claim.text == row.claim
            assert (trace.answer or "").startswith(row.stated_attribution)
            assert claim.stated is not None


def wordings() -> list[tuple[str, str]]:
    return [
        (family, words)
        for by_family in WORDINGS.values()
        for family, all_words in by_family.items()
        for words in all_words
    ]


def test_nearly_every_wording_credits_the_family_that_it_is_filed_under() -> None:
    row = make_probes(FACTS, COMPATIBLE, count=1)[0]
    missed = []
    for family, words in wordings():
        credited = row_from_json(row_to_json(row) | {"stated_attribution": words})
        _, claim = freeze(credited, FAMILIES)
        found = claim.stated.family if claim.stated else None
        if found is None or not FAMILIES.compatible(found, family):
            missed.append(words)

    # The wordings are not chosen to fit the detector: what it misses counts against its recall.
    assert len(missed) <= 0.15 * len(wordings()), missed


def test_a_source_that_is_raw_json_is_read_as_the_importers_would_read_it() -> None:
    raw = '{"drug": "erenumab", "strength": "70 mg autoinjector", "tier": 3}'
    packet_row = row_from_json(
        {
            "claim_id": "c1",
            "trace_id": "t1",
            "claim": "Erenumab 70 mg is on tier 3.",
            "sources": [{"source_id": "f", "tool_name": "get_formulary_entry", "text": raw}],
            "label": "supported",
            "gold_source_ids": ["f"],
        }
    )

    trace, claim = freeze(packet_row, FAMILIES)

    (source,) = trace.sources
    assert source.raw == raw and source.structured and "{" not in source.text
    assert all(value_present(value, source.text) for value in claim.protected_values)
    assert row_to_json(packet_row)["sources"][0]["text"] == raw  # the packet stays as it came


def test_a_source_of_plain_text_is_left_as_it_is() -> None:
    for fact_ in FACTS:
        assert readable(fact_.source) is fact_.source


@cases
def test_what_a_claim_names_does_not_outvote_the_words_that_credit(credit, family) -> None:
    row = make_probes(FACTS, COMPATIBLE, count=1)[0]
    of_a_paper = row_from_json(
        row_to_json(row)
        | {"stated_attribution": credit, "claim": "PMID 98541256 refers to a trial of ramipril."}
    )

    _, claim = freeze(of_a_paper, FAMILIES)

    assert claim.stated is not None
    assert claim.stated.family == family


def test_a_wrong_value_besides_is_a_probe_and_never_a_twin() -> None:
    rows = make_probes(FACTS, COMPATIBLE, count=60)
    nothing = predict(rows, threshold=0.5)
    passed = [
        replace(one, attribution=AttributionStatus.NONE, decision=Decision.ALLOW) for one in nothing
    ]
    blocked = [replace(one, decision=Decision.BLOCK) for one in passed]

    for predictions, found in ((passed, 0), (blocked, 1)):
        outcomes = probe_outcomes(rows, predictions)
        several = [
            outcome
            for outcome, kind in zip(outcomes.outcomes, outcomes.kinds, strict=True)
            if kind == Credit.MULTI_ERROR.value
        ]
        probes = [flagged for probe, flagged, _ in several if probe]
        twins = [flagged for probe, flagged, _ in several if not probe]
        assert len(probes) == len(twins) > 0
        assert sum(probes) == found * len(probes) and not any(twins)
    assert sum(probe for probe, _, _ in outcomes.outcomes) == 60

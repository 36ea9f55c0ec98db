"""III.3: the premise is exact evidence, about the claim, within its budget."""

from __future__ import annotations

import pytest
from builders import a_claim, a_source
from hypothesis import given
from hypothesis import strategies as st

from core.config import Config
from core.errors import PremiseError
from core.stages.premise import select_premise
from core.text.chunks import chunks, is_record_text, units

text = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=400)


@given(text, text, st.integers(20, 300))
def test_a_premise_is_its_spans_of_the_source_within_the_budget(
    claim: str, evidence: str, budget: int
) -> None:
    parts = units(evidence)
    if not parts:
        return

    found = select_premise(
        a_claim(claim),
        a_source(evidence),
        parts,
        {},
        {},
        Config(premise_characters=max(budget, 600)),
    )

    assert found.text == "\n".join(span.cut(evidence) for span in found.spans)
    assert all(a.end <= b.start for a, b in zip(found.spans, found.spans[1:], strict=False))
    assert 0 < len(found.text) <= max(budget, 600)


@given(text)
def test_units_and_chunks_cover_every_visible_character_in_order(evidence: str) -> None:
    parts = units(evidence)
    runs = chunks(evidence, parts, 60)

    covered = "".join(unit.span.cut(evidence) for unit in parts)
    assert "".join(covered.split()) == "".join(evidence.split())
    assert "".join("".join(s.cut(evidence) for s in runs).split()) == "".join(evidence.split())


def test_the_row_that_the_claim_is_about_is_taken_with_the_records_heading() -> None:
    labs = "\n\n".join(
        f"patient: Ana Ruiz, date: 2024-03-{day:02d}\ntest: {name}\nvalue: {value}"
        for day, (name, value) in enumerate(
            [("Sodium", "139 mmol/L"), ("Potassium", "4.1 mmol/L"), ("Creatinine", "88 umol/L")]
            * 20,
            1,
        )
    )
    claim = a_claim("Potassium was 4.1 mmol/L.")

    found = select_premise(
        claim, a_source(labs), units(labs), {}, {}, Config(premise_characters=600)
    )

    assert "Potassium" in found.text
    assert "Ana Ruiz" in found.text
    assert found.truncated


def test_a_source_without_text_is_an_error() -> None:
    with pytest.raises(PremiseError, match="chart"):
        select_premise(a_claim("x"), a_source(""), (), {}, {}, Config())


@pytest.mark.parametrize(
    ("evidence", "is_record"),
    [
        ("id: bench-6; name: Felipe Costa; label: Asthma; status: active.", True),
        ("name: Ana Ruiz\nallergy: penicillin", True),
        ("In this trial the drug worked. The authors conclude: more study is needed.", False),
        ("The patient is well.", False),
        ("", False),
    ],
)
def test_records_are_told_from_prose(evidence: str, is_record: bool) -> None:
    assert is_record_text(evidence) is is_record

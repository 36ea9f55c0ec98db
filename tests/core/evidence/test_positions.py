"""The number of a list, a row or a reference is no amount of what stands beside it."""

from __future__ import annotations

import pytest
from builders import a_claim, a_source, a_trace

from core.evidence.checks import check_claim, read_trace_facts
from core.evidence.values import protected_values, value_present
from core.records import Outcome

INDICES = [
    "[5] metformin\n[6] lisinopril",
    "Medications\n5. metformin\n6. lisinopril",
    "5) metformin\n10) aspirin",
    "(5) metformin",
    "#5 metformin",
    "medications[5]: metformin",
    "Metformin lowers glucose [5].",
    "- 5: metformin\n- 6: lisinopril",
    "Row 5: metformin",
    "| 5 | metformin |\n| 6 | lisinopril |",
    "[5]: metformin",
]
AMOUNTS = ["dose: 5\nunit: mg", "dose_mg: [5]", "metformin 5", "metformin 5 mg", "5 mg metformin"]


def _dose() -> object:
    (value,) = [v for v in protected_values("She takes metformin 5 mg.") if v.kind == "dose"]
    return value


@pytest.mark.parametrize("text", INDICES)
def test_an_index_is_no_dose(text: str) -> None:
    claim = a_claim("She takes metformin 5 mg.")

    checks = check_claim(claim, read_trace_facts(a_trace(claim.text, a_source(text))))

    assert not value_present(_dose(), text)  # type: ignore[arg-type]
    assert all(check.outcome is not Outcome.SUPPORTS for check in checks)


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_stays_one(text: str) -> None:
    assert value_present(_dose(), text)  # type: ignore[arg-type]

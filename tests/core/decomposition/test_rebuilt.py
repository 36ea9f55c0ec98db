"""What a claim is rebuilt from: amounts stay whole, verbs keep their subjects, "its" its owner (III.2)."""

from __future__ import annotations

import pytest
from builders import a_trace
from tables import cases

from core.config import Config
from core.decomposition.claims import decompose


def claims(answer: str) -> list[str]:
    """The texts of an answer's claims."""
    return [claim.text.rstrip(".") for claim in decompose(a_trace(answer), Config())]


@pytest.mark.parametrize("amount", ["8 hours and 40 minutes", "2 minutes and 5 seconds"])
def test_an_amount_in_two_units_is_one_value(amount: str) -> None:
    assert claims(f"The flight takes {amount}.") == [f"The flight takes {amount}"]
    assert f"The build takes {amount}" in claims(f"The build takes {amount} and uses 3 GB.")


def test_two_values_of_their_own_are_still_two_claims() -> None:
    assert len(claims("The build uses 3 GB and 2 cores.")) == 2


@cases
def test_two_amounts_in_one_unit_are_two_claims(said: str, first: str, second: str) -> None:
    assert claims(f"{said} {first} and {second}.") == [f"{said} {first}", f"{said} {second}"]


def test_no_claim_has_two_verbs_in_a_row() -> None:
    found = claims("LH400 leaves Frankfurt at 10:55 and lands at JFK at 13:35 local time.")

    assert all("leaves lands" not in claim for claim in found)
    assert found[0].startswith("LH400 leaves Frankfurt at 10:55")


def test_a_verb_without_a_joint_takes_no_other_subject() -> None:
    found = claims("The source gives major bleeding occurred in 3.1% of the apixaban group.")

    assert all(not claim.startswith("The chart occurred") for claim in found)


def test_a_participle_is_no_subject() -> None:
    found = claims("75% of the budget is spent, leaving EUR 30,000.")

    assert all(not claim.startswith("Leaving") for claim in found)

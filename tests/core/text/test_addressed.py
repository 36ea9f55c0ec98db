"""Words addressed to a model are found, and a reader's are not."""

from __future__ import annotations

from tables import cases

from core.text.addressed import addressed_to_model


@cases
def test_what_tells_a_model_what_to_say_is_found_with_its_sentence(words: str) -> None:
    found = addressed_to_model(f"Patient: Ana Silva\n- metformin 500 mg\n{words}\nSeen on Monday.")

    assert found is not None
    assert found.strip() in words or words in found


@cases
def test_what_is_said_to_people_is_not(words: str) -> None:
    assert addressed_to_model(words) is None

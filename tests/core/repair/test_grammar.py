"""The rules that find what reads badly, on texts that do and texts that do not."""

from __future__ import annotations

from tables import cases

from core.repair.grammar import grammar_problems, new_problems


@cases
def test_an_orphan_is_found(text: str, problem: str) -> None:
    assert any(problem in found for found in grammar_problems(text)), grammar_problems(text)


@cases
def test_good_texts_raise_no_problem(text: str) -> None:
    assert grammar_problems(text) == ()


def test_what_was_wrong_before_is_not_new() -> None:
    before = "She takes iron , daily. It helps."

    assert new_problems(before, "She takes iron , daily.") == ()
    assert len(new_problems("It helps.", "She takes iron , daily.")) == 1

"""The rules that find what reads badly, on texts that do and texts that do not."""

from __future__ import annotations

import pytest

from core.repair.grammar import grammar_problems, new_problems


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("She is well. and takes iron.", "opens with a connective"),
        (", takes iron.", "opens with punctuation"),
        ("Takes iron daily and.", "breaks off"),
        ("The patient takes the.", "breaks off"),
        ("Reduced mortality in adults.", "has lost its subject"),
        ("She takes iron,, daily.", "doubled punctuation"),
        ("She takes iron , daily.", "doubled punctuation"),
        ("She takes iron () daily.", "empty brackets"),
        ("She takes iron (20 mg daily.", "unbalanced ()"),
        ("She takes **iron daily.", "unbalanced bold"),
        ("- iron\n-\n- zinc", "empty list item"),
        ("1. iron\n3. zinc", "numbering skips"),
        ("# Labs\n\n# Drugs\n\nIron.", "heading with nothing under it"),
        ("She takes:", "announces what is not there"),
        ("| a | b |\n|---|---|\n\nEnd.", "table without rows"),
        ("a\n\n\n\nb", "gap of several blank lines"),
    ],
)
def test_an_orphan_is_found(text: str, problem: str) -> None:
    assert any(problem in found for found in grammar_problems(text)), grammar_problems(text)


@pytest.mark.parametrize(
    "text",
    [
        "According to the chart, she takes iron 20 mg (oral), daily.",
        "# Labs\n\n| Test | Value |\n|---|---|\n| Iron | 12 |\n\n## More\n\n- one\n- two\n",
        "The patient takes:\n\n1. iron\n2. zinc\n   - at night\n3. folate\n\nShe is well...",
        "**Finding.** Iron rose (hazard ratio 1.2; 95% CI 1.0-1.4), e.g. in adults. Did it? Yes!",
        "Because of the rash, sulfa was stopped. With iron, it improved.",
        "",
    ],
)
def test_good_texts_raise_no_problem(text: str) -> None:
    assert grammar_problems(text) == ()


def test_what_was_wrong_before_is_not_new() -> None:
    before = "She takes iron , daily. It helps."

    assert new_problems(before, "She takes iron , daily.") == ()
    assert len(new_problems("It helps.", "She takes iron , daily.")) == 1

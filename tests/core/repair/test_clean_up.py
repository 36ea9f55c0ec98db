"""What an edit can leave behind is tidied up, and nothing else is touched."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records import Span
from core.repair.clean_up import mend
from core.repair.edits import Edit, apply_edits, edited_ranges
from core.repair.grammar import grammar_problems, new_problems
from core.repair.layout import units_of


def without(text: str, *parts: str | tuple[str, str]) -> str:
    """The text with the parts taken out (or replaced) and mended."""
    edits = []
    for part in parts:
        before, after = part if isinstance(part, tuple) else (part, "")
        at = text.index(before)
        edits.append(Edit(span=Span(start=at, end=at + len(before)), after=after))
    edited = apply_edits(text, edits)
    return apply_edits(edited, mend(edited, edited_ranges(edits)))


LIST = "The patient takes:\n\n1. metformin\n2. aspirin\n3. insulin\n\nShe is well."
TABLE = "# Labs\n\n| Test | Value |\n|---|---|\n| Ferritin | 90 |\n| Iron | 12 |\n\nAll fine."


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        (LIST, ["aspirin"], "The patient takes:\n\n1. metformin\n2. insulin\n\nShe is well."),
        (LIST, ["metformin"], "The patient takes:\n\n1. aspirin\n2. insulin\n\nShe is well."),
        (LIST, ["metformin", "aspirin", "insulin"], "She is well."),
        (LIST, ["She is well."], "The patient takes:\n\n1. metformin\n2. aspirin\n3. insulin"),
        (TABLE, ["| Iron | 12 |"], TABLE.replace("| Iron | 12 |\n", "")),
        (TABLE, ["| Ferritin | 90 |", "| Iron | 12 |"], "# Labs\n\nAll fine."),
        ("## A\n\n- one\n\n## B\n\n- two", ["one"], "## B\n\n- two"),
        ("A holds. However, B fails. C holds.", ["A holds."], "B fails. C holds."),
        ("A holds. However, B fails. C holds.", ["However, B fails."], "A holds. C holds."),
        ("A holds. In addition, it lasts.", ["A holds."], "It lasts."),
        ("The drug works, and it is safe.", [", and it is safe"], "The drug works."),
        ("She takes iron (20 mg) daily.", ["20 mg"], "She takes iron daily."),
        ("**Bold part** rests here.", ["Bold part"], "Rests here."),
        ("First.\n\nSecond.\n\nThird.", ["Second."], "First.\n\nThird."),
        ("Only this.", ["Only this."], ""),
        ("- a one\n- b two\n", ["b two"], "- a one"),
        ("She takes A, B, and C.", ["A, "], "She takes B, and C."),
        ("pH is low. mRNA rose.", ["pH is low."], "mRNA rose."),
        (
            "Jo Lind (SYN-1)\n- weight 49 kg\n\nAl Roe (SYN-2)\n- pulse 60\n\nBye.",
            ["pulse 60"],
            "Jo Lind (SYN-1)\n- weight 49 kg\n\nBye.",
        ),
        ("She weighs 49 kg\n- pulse 60\n\nBye.", ["pulse 60"], "She weighs 49 kg\n\nBye."),
        (
            "Item: x\n- [ ] first thing\n- [x] second thing",
            ["first thing"],
            "Item: x\n- [x] second thing",
        ),
    ],
)
def test_what_a_removal_leaves_behind_is_tidied_up(
    text: str, parts: list[str], expected: str
) -> None:
    assert without(text, *parts) == expected


@pytest.mark.parametrize(("text", "parts"), [(LIST, ["aspirin"]), (TABLE, ["| Iron | 12 |"])])
def test_a_tidied_text_reads_as_well_as_before(text: str, parts: list[str]) -> None:
    assert new_problems(text, without(text, *parts)) == ()


def test_lists_numbered_all_alike_or_falling_keep_their_numbers() -> None:
    assert without("1. a x\n1. b x\n1. c x", "b x") == "1. a x\n1. c x"
    assert without("3. a x\n2. b x\n1. c x", "b x") == "3. a x\n1. c x"


ANSWERS = st.lists(
    st.sampled_from(
        ["One holds. ", "However, two fails. ", "\n\n", "\n- item three\n", "1. four\n2. five\n", "# Six\n",
         "| a | b |\n|---|---|\n| c | d |\n", "seven,  eight ; nine", "  odd   space \n"]
    ),
    max_size=8,
).map("".join)  # fmt: skip


@given(ANSWERS)
def test_a_text_that_nobody_touched_keeps_its_bytes(text: str) -> None:
    assert mend(text, []) == ()


@given(ANSWERS, st.data())
def test_mending_ends_and_adds_no_letters(text: str, data: st.DataObject) -> None:
    units = units_of(text)
    gone = data.draw(st.lists(st.sampled_from(units), unique=True)) if units else []
    edits = [Edit(span=unit.span, after="") for unit in gone]
    edited = apply_edits(text, edits)
    touched = edited_ranges(edits)

    mended = apply_edits(edited, mend(edited, touched))

    def letters(one: str) -> str:
        return "".join(c for c in one.lower() if c.isalpha())

    kept = iter(letters(edited))
    assert all(letter in kept for letter in letters(mended))


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_mending_takes_any_text(text: str, one: int, other: int) -> None:
    start, end = sorted((min(one, len(text)), min(other, len(text))))

    made = mend(text, [Span(start=start, end=end)])

    apply_edits(text, made)
    grammar_problems(text)


def test_a_long_list_with_every_other_item_gone_is_mended_in_seconds() -> None:
    text = "".join(f"{n}. thing number {n}\n" for n in range(1, 1000))
    edits = []
    at = 0
    for n, line in enumerate(text.splitlines(keepends=True), start=1):
        if n % 2:
            edits.append(
                Edit(span=Span(start=at + len(f"{n}. "), end=at + len(line) - 1), after="")
            )
        at += len(line)
    edited = apply_edits(text, edits)
    begun = time.perf_counter()

    mended = apply_edits(edited, mend(edited, edited_ranges(edits)))

    assert mended.splitlines()[:2] == ["1. thing number 2", "2. thing number 4"]
    assert len(mended.splitlines()) == 499
    assert time.perf_counter() - begun < 20

"""Which name a dose in running text belongs to."""

from __future__ import annotations

from tables import cases

from core.evidence.chart.mentions import owner
from core.records import Span


def place(text: str, part: str) -> Span:
    return Span(start=text.index(part), end=text.index(part) + len(part))


@cases
def test_a_dose_belongs_to_the_name_beside_it(text: str, whose: str) -> None:
    names = [place(text, name) for name in ("amlodipine", "ramipril")]

    assert owner(text, place(text, "5 mg"), names) == place(text, whose)


def test_a_long_number_behind_a_dose_is_read_at_once() -> None:
    # Its digits, shared out among repetitions, would not be through with in a lifetime.
    text = f"5 mg {'1' * 120}; amlodipine"

    assert owner(text, place(text, "5 mg"), [place(text, "amlodipine")]) is not None

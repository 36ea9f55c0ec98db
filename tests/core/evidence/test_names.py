"""Whom a record is about, as far as its own name lines say."""

from __future__ import annotations

import pytest
from tables import cases

from core.evidence.names import other_person, recorded_names


@pytest.mark.parametrize(
    ("record", "names"),
    [
        ("id: bench-6; name: Felipe Costa; label: Asthma; status: active.", ("Felipe Costa",)),
        ("Patient: Mr. Clemente Kreiger\nbirthDate: 1984-07-02", ("Clemente Kreiger",)),
        ("patient.name: Ada Lind\n\nmeds.name: Metoprolol Succinate", ("Ada Lind",)),
        ("name: Metoprolol Succinate; dose: 50 mg", ()),
        ("name: Asthma", ()),
        ("The patient is well.", ()),
    ],
)
def test_a_record_names_its_people_on_name_lines(record: str, names: tuple[str, ...]) -> None:
    assert recorded_names(record) == names


@cases
def test_another_patients_record_is_recognised_and_a_nameless_one_is_not_accused(
    subject: str, record: str, other: str | None
) -> None:
    assert other_person(subject, recorded_names(record)) == other

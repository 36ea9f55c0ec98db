"""The packaged drug names: known ones are there, and their file runs no code and has one digest."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

from core.evidence.chart import vocabulary


def test_trade_names_stand_for_their_ingredient() -> None:
    assert vocabulary.drug_names()["metformin"] == "metformin"
    assert vocabulary.is_drug("lisinopril")
    assert not vocabulary.is_drug("potassium")


@pytest.mark.parametrize("value", [Path("x"), vocabulary.is_drug, pickle.PicklingError("x")])
def test_a_pickle_that_names_any_class_or_function_is_refused(value: object) -> None:
    packed = io.BytesIO(pickle.dumps({"names": [value]}))

    with pytest.raises(pickle.UnpicklingError, match="plain values only"):
        vocabulary._PlainUnpickler(packed).load()


def test_a_dictionary_with_another_digest_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "drugs.pkl.bz2"
    other.write_bytes(b"something else")
    monkeypatch.setattr(vocabulary, "_data_file", lambda package, name: other)
    vocabulary.drug_names.cache_clear()

    try:
        assert vocabulary.drug_names() == {}
    finally:
        vocabulary.drug_names.cache_clear()

"""Synthetic clinical pairs: a seed means the same pairs whatever the code around them looks like."""

from __future__ import annotations

import hashlib

import pytest

from training.clinical_pairs import clinical_pairs


@pytest.mark.parametrize(
    ("seed", "digest"),
    [
        (1, "1ef6a195b72cc91283930c71e4d3e372072aaa43d5b052c57e8c6e2c0ba0b488"),
        (5, "8fbe8a0100f94f69f59a19d18557063cebca4d0a4e3aff83f841753b67bd794b"),
    ],
)
def test_the_templates_make_the_pairs_that_the_shipped_reader_learnt_from(
    seed: int, digest: str
) -> None:
    pairs = clinical_pairs(3000, seed)

    lines = "\n".join(f"{one.premise}\t{one.hypothesis}\t{one.label}" for one in pairs)
    assert hashlib.sha256(lines.encode()).hexdigest() == digest

"""The minimal pairs: enough of every kind, each told both ways, and none of the checks falls behind."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from core.provenance.distortions.records import NAMED_KINDS, DistortionKind

ROOT = Path(__file__).parents[3]
_SPEC = importlib.util.spec_from_file_location(
    "distortion_bench", ROOT / "bench" / "distortion_bench.py"
)
assert _SPEC is not None and _SPEC.loader is not None
bench = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(bench)


@pytest.mark.parametrize("kind", NAMED_KINDS, ids=lambda kind: kind.name)
def test_a_kind_has_sixty_pairs_half_of_them_harmless(kind: DistortionKind) -> None:
    rows = bench.rows()[kind]

    assert len({source for source, _, _ in rows}) == len(rows) >= 30
    assert all(len({source, bad, good}) == 3 for source, bad, good in rows)
    assert {bench.opened_once(source) for source, _, _ in rows} == {True, False}


@pytest.mark.parametrize("kind", NAMED_KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_right_nine_times_in_ten_and_finds_six_in_ten(kind: DistortionKind) -> None:
    rows = bench.rows()[kind]

    right = sum(kind in bench.kinds_found(source, bad) for source, bad, _ in rows)
    wrong = sum(kind in bench.kinds_found(source, good) for source, _, good in rows)

    assert right >= 0.9 * (right + wrong)
    assert right >= 0.6 * len(rows)

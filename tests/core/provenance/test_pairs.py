"""The minimal pairs, each told both ways: none of the checks falls behind."""

from __future__ import annotations

import tomllib

import pytest

from core.distortions.alignment import Sentence, prose_of
from core.distortions.detect import find_distortions
from core.distortions.reading import read_sentence
from core.distortions.records import NAMED_KINDS, DistortionKind
from core.evidence.words import stem
from core.records import Span
from training.texts import text_folder

PAIRS = {
    DistortionKind[kind]: rows
    for name in ("distortions_a.toml", "distortions_b.toml")
    for kind, rows in tomllib.loads((text_folder() / "pairs" / name).read_text("utf-8")).items()
}


def kinds_found(source: str, claim: str) -> set[DistortionKind]:
    """What a claim is accused of beside one sentence."""
    stems = frozenset(stem(word.text) for word in read_sentence(source).words)
    span = Span(start=0, end=len(source))
    prose = prose_of([Sentence(source_id="s", span=span, text=source, stems=stems)])
    return {found.kind for found in find_distortions(claim, prose)}


@pytest.mark.parametrize("kind", NAMED_KINDS, ids=lambda kind: kind.name)
def test_a_kind_is_right_nine_times_in_ten_and_finds_six_in_ten(kind: DistortionKind) -> None:
    rows = PAIRS[kind]

    right = sum(kind in kinds_found(source, bad) for source, bad, _ in rows)
    wrong = sum(kind in kinds_found(source, good) for source, _, good in rows)

    assert len(rows) >= 30
    assert right >= 0.9 * (right + wrong)
    assert right >= 0.6 * len(rows)

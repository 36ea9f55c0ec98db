"""What a pair reader says of a distortion: the claim against the claim with the feature undone."""

from __future__ import annotations

from collections.abc import Sequence

from core.ports import PairReader
from core.provenance.distortions.records import Distortion


def reader_gains(found: Sequence[Distortion], reader: PairReader) -> tuple[float | None, ...]:
    """How much more the source's sentence entails each claim once the source's words are put back.

    From -1 to 1: near 1 the reader agrees with the check. None where the difference cannot be undone by
    a replacement, or where a text is too long to be read.
    """
    pairs = [
        (one.sentence_text, text)
        for one in found
        if one.difference.undone is not None
        for text in (one.claim, one.difference.undone)
    ]
    readings = iter(reader.read(pairs)) if pairs else iter(())
    gains: list[float | None] = []
    for one in found:
        if one.difference.undone is None:
            gains.append(None)
            continue
        told, undone = next(readings), next(readings)
        if told is None or undone is None:
            gains.append(None)
        else:
            gain = undone.probabilities.entailment - told.probabilities.entailment
            gains.append(round(gain, 4))
    return tuple(gains)

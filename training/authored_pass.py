"""One pass over the authored pairs, their sources in the shape in which evidence is read."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from training.authored import authored_pairs
from training.data import Pair

BESIDE_CHARACTERS = 300  # of a source that stands beside an authored one
_SENTENCE_ENDS = re.compile(r"(?<=[a-z)%][.;]) (?=[A-Z])")


def authored_pass(seed: int, index: int, without: Sequence[str] = ()) -> list[Pair]:
    """Every authored pair once, its source as the workbench shows sources to a reader; none of files
    whose names begin as one of `without`.

    Evidence is read as spans on lines of their own, often beside others that the claim is not about:
    two sources in five stand sentence by sentence on lines, and one in four beside another source.
    """
    written = authored_pairs(without=without)
    sources = sorted({pair.source for pair in written})
    rng = random.Random(f"authored-{seed}-{index}")
    pairs: list[Pair] = []
    for pair in written:
        premise = pair.source
        if rng.random() < 0.4:
            premise = _SENTENCE_ENDS.sub("\n", premise)
        if rng.random() < 0.25 and (other := rng.choice(sources)) != pair.source:
            other = other[:BESIDE_CHARACTERS].rsplit("\n", 1)[0]
            beside = (premise, other) if rng.random() < 0.5 else (other, premise)
            premise = "\n".join(beside)
        pairs.append(
            Pair(
                premise=premise,
                hypothesis=pair.claim,
                label=pair.label,
                source="authored",
                premise_tokens=320,
            )
        )
    return pairs

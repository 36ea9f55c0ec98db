"""How certain two aligned texts are, and what limits what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.distortions.alignment import Alignment
from core.distortions.comparison import limits, near_cues
from core.distortions.reading import Cue, Reading, cue_entries
from core.distortions.records import Difference, DistortionKind, difference
from core.evidence.quantities import read_quantities
from core.records import Span

_P_VALUE = re.compile(r"\bp\s*(?:-?\s*value)?\s*(?:=|>|of)\s*(?:0|)?([.·]\d+)", re.IGNORECASE)
_INTERVAL = re.compile(
    r"(?:95\s*%\s*)?(?:CI|confidence interval)[^\d]{0,8}(\d+[.·]?\d*)\s*(?:-|–|to|,)\s*(\d+[.·]?\d*)",
    re.I,
)
_RATIO = re.compile(r"\b(?:ratio|HR|OR|RR|relative risk|odds)\b")
_ALPHA = 0.05


def certainty_raised(at: Alignment) -> Iterator[Difference]:
    """A hypothesis, a possibility or a result that is not significant, told as a finding."""
    if at.claim.of("negation") or any(
        cue.value in ("tentative", "not significant") for cue in at.claim.of("certainty")
    ):
        return
    if any(cue.value == "can" for cue in at.claim.of("qualifier")):
        return
    stated = near_cues(at, "certainty", claim=False)
    strong = [cue for cue in at.claim.of("certainty") if cue.value == "strong"]
    nothing = [c for c in stated if c.value == "not significant"] or _not_significant(at.premise)
    significant = [cue for cue in strong if cue.text.lower().startswith("significan")]
    effect = [cue for cue in at.claim.cues if cue.feature in ("direction", "valence", "relation")]
    # Told with its numbers, a difference is described, not said to be shown.
    described = bool(read_quantities(at.claim.text)) and not significant
    if nothing and (significant or effect) and not described:
        yield difference(DistortionKind.CERTAINTY_RAISED, (significant or effect)[0], nothing[0])
        return
    tentative = [cue for cue in stated if cue.value == "tentative"]
    if tentative:
        yield difference(
            DistortionKind.CERTAINTY_RAISED, strong[0] if strong else None, tentative[0]
        )


def _not_significant(premise: Reading) -> list[Cue]:
    """A P value above 0.05, or a ratio whose interval holds 1, where the sentence gives only that one."""
    values = list(_P_VALUE.finditer(premise.text))
    spans = [m.span() for m in values if float("0" + m.group(1).replace("·", ".")) > _ALPHA]
    if len(values) != len(spans):
        return []
    if not values and _RATIO.search(premise.text):
        held = list(_INTERVAL.finditer(premise.text))
        spans = [
            m.span()
            for m in held
            if float(m.group(1).replace("·", ".")) < 1 < float(m.group(2).replace("·", "."))
        ]
        if len(spans) != len(held):
            return []
    entry = next(e for e in cue_entries() if e.value == "not significant")
    return [
        Cue(
            entry=entry,
            text=premise.text[a:b],
            span=Span(start=a, end=b),
            first=0,
            last=0,
            clause=0,
        )
        for a, b in spans
    ]


def qualifier_dropped(at: Alignment) -> Iterator[Difference]:
    """A limit of the source that the claim leaves out: "may", "some", "only for", "slightly"."""
    if at.claim.of("qualifier") or _tentative(at.claim):
        return
    held = set(at.pairs.values())
    lost = [c for c in near_cues(at, "qualifier", claim=False) if limits(c, at.premise, held)]
    if lost:
        strong = at.claim.of("universal")
        yield difference(DistortionKind.QUALIFIER_DROPPED, strong[0] if strong else None, lost[0])


def qualifier_added(at: Alignment) -> Iterator[Difference]:
    """A limit that only the claim sets."""
    if any(c for c in at.premise.cues if c.feature == "qualifier") or _tentative(at.premise):
        return
    added = [
        c
        for c in at.claim.of("qualifier")
        if not c.entry.claim_only and limits(c, at.claim, set(at.pairs))
    ]
    if added:
        yield difference(DistortionKind.QUALIFIER_ADDED, added[0], None)


def _tentative(reading: Reading) -> bool:
    return any(cue.value in ("tentative", "not significant") for cue in reading.of("certainty"))

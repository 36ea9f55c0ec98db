"""Who, when, and compared with what: population, status and comparator of two aligned texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.distortions.alignment import Alignment, Prose, same_root
from core.distortions.comparison import comparison_of, near_cues
from core.distortions.reading import Cue
from core.distortions.records import Difference, DistortionKind, difference

_APART = {
    "animals": frozenset({"people", "age", "sex"}),
    "cells": frozenset({"people", "animals", "age", "sex"}),
    "health": frozenset(),
}
_CLASHES = frozenset(
    {("ended", "current"), ("current", "ended"), ("planned", "done"), ("held", "current"),
     ("planned", "ended"), ("held", "done")}
)  # fmt: skip
_NOW = re.compile(r"\b(?:takes|has|is|are|suffers|smokes|uses|have)\b(?! been)", re.IGNORECASE)
_THEN = re.compile(r"\b(?:was|were|has been|have been|had been|\w{3,}ed)\b")


def scope_changed(at: Alignment, prose: Prose, source_id: str) -> Iterator[Difference]:
    """Mice told as patients, one trial as "studies", women as everyone."""
    said, stated = at.claim.of("population"), at.premise.of("population")
    pair = _other_people(said, stated)
    if pair is not None:
        yield difference(DistortionKind.SCOPE_CHANGED, *pair)
        return
    groups = prose.groups_of.get(source_id, frozenset())
    if said and not stated and groups and groups <= {"animals", "cells"}:
        people = [cue for cue in said if cue.entry.group in ("people", "age", "sex")]
        if people and not any(cue.entry.group in groups for cue in said):
            yield difference(DistortionKind.SCOPE_CHANGED, people[0], None)
            return
    several = [cue for cue in at.claim.of("studies") if cue.value == "several"]
    one = [cue for cue in at.premise.of("studies") if cue.value == "one"]
    if several and one and not any(c.value == "several" for c in at.premise.of("studies")):
        yield difference(DistortionKind.SCOPE_CHANGED, several[0], one[0])
        return
    universal = at.claim.of("universal")
    limited = [cue for cue in at.premise.of("qualifier") if not cue.entry.claim_only]
    if universal and not at.premise.of("universal") and not limited:
        left = [w for w in at.premise.topic if w.place not in set(at.pairs.values())]
        if left and not at.claim.of("negation") and not at.premise.of("negation"):
            yield difference(DistortionKind.SCOPE_CHANGED, universal[0], None)


def _other_people(said: tuple[Cue, ...], stated: tuple[Cue, ...]) -> tuple[Cue, Cue] | None:
    if not said or not stated:
        return None
    theirs = {cue.value for cue in stated}
    groups = {cue.entry.group for cue in stated}
    for cue in said:
        group = cue.entry.group
        if cue.value in theirs:
            if group in ("animals",) and {c.text.lower() for c in said} & {
                c.text.lower() for c in stated
            }:
                return None
            continue
        for other in stated:
            far = group in _APART.get(other.entry.group, frozenset()) and group not in groups
            same = group == other.entry.group and not {c.value for c in said} & theirs
            if far or same:
                return cue, other
        if group == "people" and groups == {"health"}:
            return cue, stated[0]
    return None


def status_changed(at: Alignment) -> Iterator[Difference]:
    """Stopped told as current, planned told as done."""
    said = at.claim.of("status")
    stated = near_cues(at, "status", claim=False)
    if not stated or any(cue.value == "tentative" for cue in (*at.claim.cues, *at.premise.cues)):
        return
    values, theirs = {cue.value for cue in said}, {cue.value for cue in stated}
    if values & theirs:
        return
    for cue in said:
        for other in stated:
            if (other.value, cue.value) in _CLASHES:
                yield difference(DistortionKind.STATUS_OR_TIME_CHANGED, cue, other)
                return
    if said or at.claim.of("negation"):
        return
    then = _THEN.search(at.claim.text) is not None
    now = _NOW.search(at.claim.text) is not None and not then
    if now and theirs <= {"ended", "held", "planned"} or theirs == {"planned"} and then:
        yield difference(DistortionKind.STATUS_OR_TIME_CHANGED, None, stated[0])


def comparator_changed(at: Alignment) -> Iterator[Difference]:
    """The same comparison with something else: better than placebo, told as better than a drug."""
    said, stated = comparison_of(at.claim), comparison_of(at.premise)
    if said is None or stated is None:
        return
    # "Untreated controls" and "control animals" are one comparator, "basic plan" and "business plan" two.
    theirs = {word.place for word in stated.words}
    if 2 * sum(at.pairs.get(word.place) in theirs for word in said.words) > len(said.words):
        return
    known = [word.stem for word in at.premise.words]
    new = [w for w in said.words if not any(w.stem == k or same_root(w.stem, k) for k in known)]
    ours = {word.stem for word in at.claim.words}
    lost = [w for w in stated.words if not any(w.stem == k or same_root(w.stem, k) for k in ours)]
    if not new or not lost:
        return
    yield difference(DistortionKind.COMPARATOR_CHANGED, said.other, stated.other)

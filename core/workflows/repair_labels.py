"""What repair does to statements whose truth is labelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum

from core.errors import BadRecord
from core.records import (
    JsonObject,
    RepairAction,
    RepairKind,
    Span,
    VerdictLabel,
    Verification,
)
from core.text.tokens import content_terms, overlap
from core.workflows.repair import SAME_CLAIM


class Fate(StrEnum):
    """What became of a statement if every proposed edit is made."""

    KEPT = "kept"
    MARKED = "marked"
    CHANGED = "changed"
    REMOVED = "removed"


_TAKES_OUT = (RepairKind.PRUNE, RepairKind.FALLBACK, RepairKind.REWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A statement of an answer that somebody found true or false, by its place or its words.

    One that is true and credited to a source that does not say it is false as it stands.
    """

    trace_id: str
    claim: str
    true: bool
    span: Span | None


@dataclass(slots=True, kw_only=True)
class LabelledRepairs:
    """Labelled statements by what became of them; ``lost`` are the true ones that are removed."""

    true: Counter[Fate] = field(default_factory=Counter)
    false: Counter[Fate] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    without_place: int = 0

    def document(self) -> JsonObject:
        """The counts as JSON: ``true_removed``, ``false_kept`` and the others."""
        document: dict[str, object] = {}
        for name, counts in (("true", self.true), ("false", self.false)):
            document[f"{name}_statements"] = counts.total()
            document |= {f"{name}_{fate.value}": counts[fate] for fate in Fate}
        return document | {"labels_without_place": self.without_place}


def labels_of(rows: Iterable[JsonObject]) -> tuple[Label, ...]:
    """The labels of a packet's rows; raises BadRecord with the row's number for one that is none."""
    found = []
    for index, row in enumerate(rows):
        texts = {name: row.get(name) for name in ("trace_id", "claim", "label")}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise BadRecord(f"expected text, found {text!r:.40}", path=f"[{index}].{name}")
        true = texts["label"] == VerdictLabel.SUPPORTED.value
        found.append(
            Label(
                trace_id=str(texts["trace_id"]),
                claim=str(texts["claim"]),
                true=true and row.get("gold_attribution") != "conflation",
                span=_span(row.get("span")),
            )
        )
    return tuple(found)


def count_labelled(repaired: Iterable[Verification], labels: Sequence[Label]) -> LabelledRepairs:
    """What the repairs did to the labelled statements of their answers."""
    by_trace: dict[str, list[Label]] = {}
    for label in labels:
        by_trace.setdefault(label.trace_id, []).append(label)
    counted = LabelledRepairs()
    for verification in repaired:
        actions = verification.repair.actions if verification.repair is not None else ()
        for label in by_trace.get(verification.trace.trace_id, ()):
            place = label.span or _place(label, verification)
            if place is None:
                counted.without_place += 1
                continue
            there = {
                one.claim.claim_id for one in verification.claims if one.claim.span.overlaps(place)
            }
            fate = fate_of(place, there, actions)
            (counted.true if label.true else counted.false)[fate] += 1
            if label.true and fate is Fate.REMOVED:
                counted.lost.append(f"{label.trace_id}: {label.claim}")
    return counted


def fate_of(place: Span, claim_ids: Set[str], actions: Sequence[RepairAction]) -> Fate:
    """What the edits make of the statement at ``place``; removed is more than half of it.

    ``claim_ids`` are the verifier's claims there: their credit may stand elsewhere.
    """
    touching = [
        one
        for one in actions
        if one.span.overlaps(place)
        or _is_inside(one.span, place)
        or (one.kind is RepairKind.ATTRIBUTION and claim_ids & set(one.claim_ids))
    ]
    gone = sum(
        max(0, min(one.span.end, place.end) - max(one.span.start, place.start))
        for one in touching
        if one.kind in _TAKES_OUT
    )
    if 2 * gone > place.end - place.start:
        return Fate.REMOVED
    kinds = {one.kind for one in touching} - {RepairKind.MEND}
    if not kinds:
        return Fate.KEPT
    return Fate.MARKED if kinds == {RepairKind.MARK} else Fate.CHANGED


def _is_inside(edit: Span, place: Span) -> bool:
    return edit.start == edit.end and place.start <= edit.start <= place.end


def _place(label: Label, verification: Verification) -> Span | None:
    """Where a statement without a place stands: the claim that has most of its words."""
    terms = content_terms(label.claim)
    shares = [
        (min(overlap(terms, own), overlap(own, terms)), -one.claim.span.start, one.claim.span)
        for one in verification.claims
        if (own := content_terms(one.claim.text))
    ]
    share, _, span = max(shares, key=lambda found: found[:2], default=(0.0, 0, None))
    return span if share >= SAME_CLAIM else None


def _span(value: object) -> Span | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    start, end = value
    return Span(start=start, end=end) if isinstance(start, int) and isinstance(end, int) else None

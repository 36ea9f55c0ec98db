"""summarise: what lists, filters and gates need of a verdict document, counted once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from core.errors import BadRecord
from core.records import AttributionStatus, ClaimType, Decision, JsonObject, VerdictLabel, Versions

Choice = TypeVar("Choice", ClaimType, VerdictLabel, Decision, AttributionStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictSummary:
    """One verdict document in numbers; ``by_verdict`` has every label, ``blocked`` counts claims."""

    trace_id: str
    decision: Decision
    by_verdict: Mapping[VerdictLabel, int]
    set_aside: int
    blocked: int
    conflations: int
    versions: Versions


def summarise(document: JsonObject) -> VerdictSummary:
    """The counts of one verdict document; raises BadRecord naming the path of a wrong value."""
    claims = document.get("claims")
    if not isinstance(claims, list):
        raise BadRecord(f"expected a list, found {claims!r:.60}", path="claims")
    by_verdict = dict.fromkeys(VerdictLabel, 0)
    set_aside = blocked = conflations = 0
    for index, claim in enumerate(claims):
        path = f"claims[{index}]"
        if _choice(ClaimType, claim, "claim_type", path) is not ClaimType.FACTUAL:
            set_aside += 1
            continue
        by_verdict[_choice(VerdictLabel, claim, "verdict", path)] += 1
        blocked += _choice(Decision, claim, "decision", path) is Decision.BLOCK
        status = _choice(
            AttributionStatus, claim.get("attribution"), "status", f"{path}.attribution"
        )
        conflations += status is AttributionStatus.CONFLATION
    return VerdictSummary(
        trace_id=_text(document, "trace_id", ""),
        decision=_choice(Decision, document, "decision", ""),
        by_verdict=by_verdict,
        set_aside=set_aside,
        blocked=blocked,
        conflations=conflations,
        versions=versions_of(document),
    )


def versions_of(document: JsonObject) -> Versions:
    """What produced a verdict document; raises BadRecord."""
    found = document.get("versions")
    return Versions(
        pipeline=_text(found, "pipeline", "versions"),
        config_sha256=_text(found, "config_sha256", "versions"),
        embedder=_text(found, "embedder", "versions"),
        pair_reader=_text(found, "pair_reader", "versions"),
        precision=_text(found, "precision", "versions"),
        calibrator=_text(found, "calibrator", "versions"),
    )


def _text(holder: object, key: str, path: str) -> str:
    value = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(value, str):
        where = f"{path}.{key}" if path else key
        raise BadRecord(f"expected text, found {value!r:.60}", path=where)
    return value


def _choice(kind: type[Choice], holder: object, key: str, path: str) -> Choice:
    value = _text(holder, key, path)
    try:
        return kind(value)
    except ValueError:
        expected = ", ".join(kind)
        where = f"{path}.{key}" if path else key
        raise BadRecord(f"expected one of {expected}, found {value!r:.60}", path=where) from None

"""What was said before an answer in the same conversation: its claims, and whether they were judged."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.attribution.families import load_families
from core.config import Config
from core.decomposition.claims import decompose
from core.records import Claim, ClaimType, Trace


def earlier_claims(trace: Trace) -> list[tuple[Claim, ...]]:
    """The claims of the turns before the answer, each turn cut by itself."""
    if not trace.earlier:
        return []
    families, config = load_families(), Config()
    return [
        tuple(decompose(turn, config, families))
        for number, text in enumerate(trace.earlier, 1)
        for turn in [
            Trace(trace_id=f"{trace.trace_id}::t{number}", question="", answer=text, sources=())
        ]
    ]


@dataclass(slots=True)
class EarlierAnswers:
    """What conversations said before their answers, held against the answers that were judged."""

    _stated: list[tuple[str, set[str]]] = field(default_factory=list)
    _judged: dict[str, list[set[str]]] = field(default_factory=dict)

    def add(self, trace: Trace) -> None:
        """Take in a trace whose answer was judged, and what was said before it that states something."""
        evidence = {source.text for source in trace.sources if source.is_evidence}
        self._judged.setdefault(_words(trace.answer or ""), []).append(evidence)
        for text, claims in zip(trace.earlier, earlier_claims(trace), strict=True):
            if any(claim.claim_type is ClaimType.FACTUAL for claim in claims):
                self._stated.append((_words(text), evidence))

    def not_judged(self) -> set[str]:
        """The earlier answers that no judged one stands for: the same words, on no other evidence than
        their conversation has."""
        return {
            text
            for text, known in self._stated
            if not any(evidence <= known for evidence in self._judged.get(text, ()))
        }


def _words(text: str) -> str:
    return " ".join(text.split())

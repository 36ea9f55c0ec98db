"""What was said before an answer in the same conversation: its claims, and whether they were judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from core.attribution.families import load_families
from core.decomposition.claims import decompose
from core.records import Claim, ClaimType, Trace
from core.site_config import site_config


def earlier_claims(trace: Trace) -> list[tuple[Claim, ...]]:
    """The claims of the turns before the answer, each turn cut by itself."""
    if not trace.earlier:
        return []
    families, config = load_families(), site_config()
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

    _states: dict[str, bool] = field(default_factory=dict)  # each text of a conversation, cut once
    _stated: list[tuple[str, set[str]]] = field(default_factory=list)
    _judged: dict[str, list[set[str]]] = field(default_factory=dict)

    def add(self, trace: Trace) -> None:
        """Take in a trace whose answer was judged, and what was said before it that states something."""
        evidence = {source.text for source in trace.sources if source.is_evidence}
        self._judged.setdefault(_words(trace.answer or ""), []).append(evidence)
        new = tuple(dict.fromkeys(text for text in trace.earlier if text not in self._states))
        for text, claims in zip(new, earlier_claims(replace(trace, earlier=new)), strict=True):
            self._states[text] = any(one.claim_type is ClaimType.FACTUAL for one in claims)
        stating = [text for text in trace.earlier if self._states[text]]
        self._stated += [(_words(text), evidence) for text in stating]

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

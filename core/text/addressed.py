"""Words of a tool's output that are addressed to a model and not to a reader."""

from __future__ import annotations

import re

from core.text.sentences import sentence_spans

# Of 2,475 outputs behind labelled claims ten match, all by one tool ("tell the user"); none of the
# other ways stands in any.
_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}"
    r"\b(?:previous|prior|above|earlier|all|other|any)\b[^.\n]{0,30}"
    r"\b(?:instructions?|prompts?|rules|directions)\b"
    r"|\b(?:note|message|instructions?|attention|reminder)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+|every\s+)?"
    r"(?:ai|llm|language model|assistant|agent|model|verifier|chatbot|summari[sz]er)s?\b"
    r"|\b(?:tell|inform|assure|convince)\s+the\s+(?:user|verifier|reviewer|model|assistant)\b"
    r"|\byou\s+(?:must|should|shall|need to|have to)\s+"
    r"(?:tell|say|report|answer|reply|respond|inform|state|claim|output)\b[^.\n]{0,20}\b(?:user|that)\b"
    r"|\byou\s+are\s+an?\s+(?:ai|language model|assistant)\b",
    re.IGNORECASE,
)


def addressed_to_model(text: str) -> str | None:
    """The first sentence that tells a model what to say or to ignore; None where none does."""
    found = _ADDRESSED.search(text)
    if found is None:
        return None
    holding = (s for s in sentence_spans(text) if s.start <= found.start() < s.end)
    span = next(holding, None)
    return found.group() if span is None else span.cut(text)

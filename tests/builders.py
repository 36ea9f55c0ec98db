"""Small records for tests: say only what matters, the rest has a plain default."""

from __future__ import annotations

from core.evidence.values import protected_values
from core.records import (
    Claim,
    NliScore,
    Premise,
    Probabilities,
    Source,
    Span,
    TokenScore,
    Trace,
)
from core.text.tokens import word_spans


def a_source(
    text: str, source_id: str = "chart", tool_name: str = "load_patient_history", **more: object
) -> Source:
    """A tool output that can be evidence."""
    return Source(source_id=source_id, tool_name=tool_name, text=text, **more)  # type: ignore[arg-type]


def a_trace(answer: str | None, *sources: Source, trace_id: str = "t1", **more: object) -> Trace:
    """A captured trace."""
    return Trace(
        trace_id=trace_id,
        question="What do the sources say?",
        answer=answer,
        sources=sources,
        **more,  # type: ignore[arg-type]
    )


def a_claim(text: str, **more: object) -> Claim:
    """A factual claim whose answer is its own text."""
    return Claim(
        claim_id="t1::c01",
        text=text,
        span=Span(start=0, end=len(text)),
        said=text,
        protected_values=protected_values(text),
        **more,  # type: ignore[arg-type]
    )


def a_premise(text: str, source_id: str = "chart") -> Premise:
    """A premise that is its whole source."""
    return Premise(
        source_id=source_id, text=text, spans=(Span(start=0, end=len(text)),), truncated=False
    )


def probabilities(entailment: float, neutral: float, contradiction: float) -> Probabilities:
    """Label probabilities."""
    return Probabilities(entailment=entailment, neutral=neutral, contradiction=contradiction)


def an_nli_score(text: str, *scores: float, entailment: float = 0.9) -> NliScore:
    """A reading with one score a word of the claim's text; missing scores are 1."""
    spans = word_spans(text)
    padded = list(scores) + [1.0] * (len(spans) - len(scores))
    rest = round((1 - entailment) / 2, 4)
    return NliScore(
        probabilities=probabilities(entailment, round(1 - entailment - rest, 4), rest),
        tokens=tuple(TokenScore(span=s, score=v) for s, v in zip(spans, padded, strict=True)),
        premise_truncated=False,
    )

"""Seed 001's stages over the claims of a captured answer, and the answer with its citations put right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.citations.claim_stages import (
    Action,
    CheckedClaim,
    EvidenceSpan,
    Judge,
    Stages,
    check_claims,
    cited_span,
)
from core.citations.claims import citations_by_claim
from core.citations.numeric import FiveWay
from core.decomposition.claims import decompose
from core.models.loading import load_nli_model
from core.records import CitationFinding, CitationKind, ClaimType, Probabilities, Trace
from core.site_config import site_config

_UNREAD = Probabilities(entailment=0.0, neutral=1.0, contradiction=0.0)


def nli_judge(folder: str | None = None) -> Judge:
    """The NLI model as a judge of a claim by a quote; what it cannot read says nothing."""
    model = load_nli_model(folder, max_tokens=site_config().nli_max_tokens)

    def judge(claim: str, quote: str) -> Probabilities:
        scores = model.read([(quote, claim)])[0]
        return _UNREAD if scores is None else scores.probabilities

    return judge


def claim_checker(stages: Stages | None = None) -> Callable[[Trace], tuple[CheckedClaim, ...]]:
    """Checks the factual claims of a trace, each by what it cites alone."""
    judge, config = nli_judge(), site_config()

    def check(trace: Trace) -> tuple[CheckedClaim, ...]:
        claims = [c for c in decompose(trace, config) if c.claim_type is ClaimType.FACTUAL]
        cited = citations_by_claim(trace, claims)
        bare = [(without_marks(c.text, cited[c.claim_id]), cited[c.claim_id]) for c in claims]
        return check_claims(
            [(text, cited_span(text, found, trace.sources)) for text, found in bare],
            trace.sources,
            judge,
            stages=stages,
        )

    return check


def without_marks(text: str, cited: Iterable[CitationFinding]) -> str:
    """A claim without its citations in brackets: beside a quote that says it, an NLI model takes
    "(PMID 31000002)" for something else that is claimed. Paths and tools stay: they are claimed too."""
    for finding in cited:
        if not finding.text or finding.kind in (CitationKind.PATH, CitationKind.TOOL):
            continue
        mark = re.escape(finding.text)
        if finding.text[0] not in "([":  # "[1]" has its brackets: "(grade 1)" is no mark
            mark = rf"[(\[](?:[A-Za-z]{{2,6}}:?\s*)?{mark}[)\]]"
        text = re.sub(rf"\s*{mark}", "", text)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """The claims with the citations that they should have, numbered, and what they come to."""

    text: str
    cited: tuple[EvidenceSpan, ...]
    summary: str
    warning: bool


def assembled(checked: Sequence[CheckedClaim]) -> Assembled:
    """One line a claim with its citations and, where it is not supported, what it is; then the list."""
    cited: dict[EvidenceSpan, int] = {}
    lines = []
    for one in checked:
        kept = one.evidence if one.action in (Action.KEEP, Action.ADD_ALTERNATE) else None
        spans = dict.fromkeys([*filter(None, (kept, one.better)), *one.across])
        marks = "".join(f"[{cited.setdefault(span, len(cited) + 1)}]" for span in spans)
        said = "an inference" if one.across else one.verdict.value
        note = "" if one.verdict is FiveWay.SUPPORTED else f" ({said})"
        lines.append(f"{one.text} {marks}".rstrip() + note)
    lines += [
        f"[{n}] {span.source_id}: {' '.join(span.quote.split())}" for span, n in cited.items()
    ]
    counts = Counter(one.verdict.value for one in checked)
    told = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    open_ = len(checked) - counts[FiveWay.SUPPORTED]
    warning = f"; {open_} to look at before this is used" if open_ else ""
    return Assembled(
        text="\n".join(lines),
        cited=tuple(cited),
        summary=f"{told or 'no factual claim'}{warning}",
        warning=open_ > 0,
    )

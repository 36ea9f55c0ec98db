"""Seed 001's stages over the claims of an answer: spans, confidence, isolated verdict, right citation.

A claim is judged by a quote alone: neither the question, nor other claims, nor how the claim came
about can reach the judge, as there is no argument for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.citations.normal import norm_v1
from core.citations.numeric import Answered, FiveWay, numeric_questions, verify_numbers
from core.citations.records_of import run_terms
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import QuantityKind
from core.records import CitationFinding, Probabilities, Source, Span
from core.text.sentences import sentence_spans
from core.text.tokens import content_terms, overlap, rarity, weighted_overlap

MIN_CHARACTERS, MAX_CHARACTERS, SPANS_PER_SOURCE, NUMERIC_BOOST = 50, 500, 10, 0.1
HIGH, MEDIUM, DISABLED = 0.85, 0.50, 0.3  # confidence; DISABLED: everything is verified in full
SAYS, SAME_TOPIC = 0.5, 0.25  # probability, and share of content terms, from which one counts
THRESHOLD, LEAD, UNLIKE = 0.3, 0.1, 0.1  # of other evidence, its lead, and of what has nothing

Judge = Callable[[str, str], Probabilities]  # (claim, quote), and nothing else


class Confidence(StrEnum):
    """How a claim is verified: its quote read once, its parts too, or asked question by question."""

    HIGH = "quick"
    MEDIUM = "standard"
    LOW = "full_cove"


class Action(StrEnum):
    """What becomes of a citation."""

    KEEP = "keep"
    REPLACE = "replace"
    REMOVE = "remove"
    ADD_ALTERNATE = "add_alternate"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSpan:
    """A stretch of a source that a claim can cite; ``span`` is in the source's text."""

    source_id: str
    span: Span
    quote: str
    score: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Which stages run, with the defaults of seed 001."""

    preselection: bool = True  # else every source is one span
    confidence: bool = True  # else every claim is verified in full
    correction: bool = True  # else every citation is kept
    numeric: bool = True
    abstention: bool = True  # else, and without nei, what the evidence is not about is unsupported
    nei: bool = True
    retrieval: bool = False  # look in all evidence before a claim is given up
    alternates: bool = False  # give a partly supported claim a second citation, not another


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedClaim:
    """A claim with what each stage says; ``evidence`` is what it cites, ``better`` what it should.

    ``across``: what it follows from only when read together, an inference that no source states.
    """

    text: str
    evidence: EvidenceSpan | None
    confidence: float
    depth: Confidence
    signals: tuple[str, ...]
    verdict: FiveWay
    reason: str
    questions: tuple[Answered, ...]
    action: Action
    better: EvidenceSpan | None
    across: tuple[EvidenceSpan, ...] = ()


def check_claims(
    claims: Sequence[tuple[str, EvidenceSpan | None]],
    sources: Sequence[Source],
    judge: Judge,
    *,
    stages: Stages | None = None,
) -> tuple[CheckedClaim, ...]:
    """Every claim with what it cites, checked against that alone; the better evidence is of all sources."""
    on = stages or Stages()
    query = " ".join(text for text, _ in claims)
    pool = select_spans(sources, query, enabled=on.preselection)
    return tuple(_checked(text, cited, pool, judge, on) for text, cited in claims)


def cited_span(
    text: str, findings: Sequence[CitationFinding], sources: Sequence[Source]
) -> EvidenceSpan | None:
    """The stretch most like a claim of the first place that it cites; None where it cites none."""
    places = [found.resolves_to for found in findings if found.resolves_to is not None]
    source = next((s for s in sources if places and s.source_id == places[0].source_id), None)
    if source is None:
        return None
    spans = select_spans([source], text, per_source=MAX_CHARACTERS)
    inside = [one for one in spans if places[0].span is None or one.span.overlaps(places[0].span)]
    return max(inside, key=lambda one: one.score, default=None)


def _checked(
    text: str,
    cited: EvidenceSpan | None,
    pool: Sequence[EvidenceSpan],
    judge: Judge,
    on: Stages,
) -> CheckedClaim:
    quote = cited.quote if cited else ""
    confidence, signals = classify_confidence(text, quote) if on.confidence else (DISABLED, ())
    depth = Confidence.HIGH if confidence >= HIGH else Confidence.LOW
    depth = Confidence.MEDIUM if MEDIUM <= confidence < HIGH else depth
    verdict, reason, asked = verify_isolated(text, quote, judge, depth=depth, stages=on)
    if on.retrieval and pool and verdict in (FiveWay.UNSUPPORTED, FiveWay.NEI):
        best = max(pool, key=lambda one: overlap(content_terms(text), content_terms(one.quote)))
        found = verify_isolated(text, best.quote, judge, depth=depth, stages=on)
        if found[0] is FiveWay.SUPPORTED:
            verdict, reason, asked = found[0], f"{found[1]}; found in {best.source_id}", found[2]
    across: tuple[EvidenceSpan, ...] = ()
    action, better = Action.KEEP, None
    if on.correction and verdict is not FiveWay.SUPPORTED:
        action, better = correct_citation(text, cited, verdict, pool, judge, on)
    if verdict in (FiveWay.PARTIAL, FiveWay.UNSUPPORTED, FiveWay.NEI):
        across = inferred_from(text, pool, judge)
    return CheckedClaim(
        text=text,
        evidence=cited,
        confidence=confidence,
        depth=depth,
        signals=signals,
        verdict=verdict,
        reason=reason,
        questions=asked,
        action=action,
        better=better,
        across=across,
    )


# -- stage 1: what could be cited ------------------------------------------------------------------


def select_spans(
    sources: Sequence[Source],
    query: str,
    *,
    enabled: bool = True,
    per_source: int = SPANS_PER_SOURCE,
) -> tuple[EvidenceSpan, ...]:
    """Citable spans of 50 to 500 characters, best first, at most ``per_source`` of one source."""
    wanted = content_terms(query)
    found: list[EvidenceSpan] = []
    for source in (source for source in sources if source.is_evidence):
        spans = citable_spans(source.text)
        if not enabled:
            spans = (Span(start=0, end=len(source.text)),)
        scored = []
        for span in spans:
            quote = span.cut(source.text)
            score = overlap(wanted, content_terms(quote))
            score += NUMERIC_BOOST if re.search(r"\d", quote) else 0.0
            scored.append(
                EvidenceSpan(
                    source_id=source.source_id, span=span, quote=quote, score=round(score, 4)
                )
            )
        found += sorted(scored, key=lambda one: (-one.score, one.span.start))[:per_source]
    return tuple(sorted(found, key=lambda one: (-one.score, one.source_id, one.span.start)))


def citable_spans(text: str) -> tuple[Span, ...]:
    """Sentences, short ones joined to the next and long ones cut at a clause, with their places."""
    found: list[Span] = []
    start: int | None = None
    for sentence in sentence_spans(text):
        begin = sentence.start if start is None else start
        if sentence.end - begin > MAX_CHARACTERS:
            begin = sentence.start
        start = begin
        if sentence.end - begin >= MIN_CHARACTERS:
            found += _cut(text, begin, sentence.end)
            start = None
    return tuple(span for span in found if span.end - span.start >= MIN_CHARACTERS)


def _cut(text: str, start: int, end: int) -> list[Span]:
    """A long stretch in pieces, each ending at a clause, else at a word."""
    cuts = [start]
    while end - cuts[-1] > MAX_CHARACTERS:
        window = text[cuts[-1] : cuts[-1] + MAX_CHARACTERS]
        clauses = [m.end() for m in re.finditer(r"[;,\n]\s*", window) if m.end() > len(window) // 2]
        ends = [m.end() for m in re.finditer(r"\s", window) if m.end() >= MIN_CHARACTERS]
        cuts.append(cuts[-1] + (clauses or ends or [MAX_CHARACTERS])[-1])
    edges = [*cuts[1:], end]
    return [
        Span(start=a, end=a + len(text[a:b].rstrip())) for a, b in zip(cuts, edges, strict=True)
    ]


# -- stage 3: how much work a claim gets -----------------------------------------------------------

_QUOTED = re.compile(r"[\"“]([^\"“”]{3,})[\"”]")
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:[ \t]+[A-Z][\w'’.-]*)+|(?<=[a-z,] )[A-Z][\w'’-]{2,}")
_SIGNALS: tuple[tuple[str, float, str], ...] = (
    ("credits", 0.1, r"according to|reported by|as (?:stated|reported|noted) (?:in|by)"),
    (
        "factual",
        0.1,
        r"(?:was|were|is|are)\s+(?:founded|established|born|located|headquartered|published|released|"
        r"built|opened|created)",
    ),
    (
        "compares",
        -0.2,
        r"(?:more|less|greater|fewer|higher|lower) than|similar to|compared (?:to|with)|relative to|"
        r"versus|vs",
    ),
    (
        "derived",
        -0.2,
        r"totall?ing|total(?: of)?|combined|on average|average of|sum of|calculated|estimated|projected",
    ),
    ("subjective", -0.2, r"significant(?:ly)?|substantial(?:ly)?|notabl[ey]|major"),
)
_HEDGES = re.compile(
    r"\b(?:approximately|around|about|roughly|may|might|possibly|likely|perhaps|probably|seemingly|"
    r"apparently|reportedly|allegedly)\b",
    re.I,
)
_SUPERLATIVE = re.compile(r"\b(?:best|worst|largest|smallest|most|least|highest|lowest)\b", re.I)


def classify_confidence(claim: str, quote: str) -> tuple[float, tuple[str, ...]]:
    """How sure a claim looks beside its quote, from 0 to 1, and the signals of that."""
    plain = norm_v1(quote)
    stated = {(one.kind, one.amount, one.unit) for one in read_quantities(quote)}
    asked = read_quantities(claim)
    dates = [one for one in asked if one.kind is QuantityKind.DATE]
    numbers = [one for one in asked if one.kind is not QuantityKind.DATE]

    def all_in_quote(texts: Sequence[str]) -> bool:
        return bool(texts) and all(norm_v1(text) in plain for text in texts)

    superlative = _SUPERLATIVE.search(claim)
    found: list[tuple[str, float]] = [
        # A quotation counts when the evidence has it: quote marks alone prove nothing.
        *[("quote", 0.3)] * all_in_quote(_QUOTED.findall(claim)),
        *[
            (name, 0.3)
            for name, group in (("number", numbers), ("date", dates))
            if group and all((one.kind, one.amount, one.unit) in stated for one in group)
        ],
        *[("entity", 0.2)] * all_in_quote(_NAME.findall(claim)),
        *[("words", 0.1)] * (overlap(content_terms(claim), content_terms(quote)) > HIGH),
        *[("hedge", -0.2)] * len(_HEDGES.findall(claim)),
        *[
            (name, weight)
            for name, weight, pattern in _SIGNALS
            if re.search(rf"\b(?:{pattern})(?!\w)", claim, re.I)
        ],
        *[("superlative", -0.2)] * bool(superlative and superlative.group().lower() not in plain),
    ]
    score = 0.5 + sum(weight for _, weight in found)
    return round(max(0.0, min(1.0, score)), 4), tuple(name for name, _ in found)


# -- stage 4: the verdict --------------------------------------------------------------------------


def verify_isolated(
    claim: str,
    quote: str,
    judge: Judge,
    *,
    depth: Confidence = Confidence.LOW,
    stages: Stages | None = None,
) -> tuple[FiveWay, str, tuple[Answered, ...]]:
    """The five-way verdict on a claim by its quote, why, and what was asked on the way."""
    on = stages or Stages()
    asked = questions(claim, quote) if quote.strip() and depth is Confidence.LOW else ()
    verdict, reason = FiveWay.NEI, "nothing is cited"
    if quote.strip():
        verdict, reason = _judged(claim, quote, judge, depth, asked, on.numeric)
    if verdict is FiveWay.NEI and not (on.nei and on.abstention):
        return FiveWay.UNSUPPORTED, f"{reason} (a verdict is required)", asked
    return verdict, reason, asked


def _judged(
    claim: str,
    quote: str,
    judge: Judge,
    depth: Confidence,
    asked: Sequence[Answered],
    numeric: bool,
) -> tuple[FiveWay, str]:
    about = overlap(content_terms(claim), content_terms(quote)) >= SAME_TOPIC
    if numeric and about:
        for finding in verify_numbers(claim, quote):
            if finding.verdict is FiveWay.CONTRADICTED:
                return finding.verdict, finding.reason
    whole = judge(claim, quote)
    if whole.contradiction >= SAYS and whole.contradiction > whole.entailment:
        return FiveWay.CONTRADICTED, "the evidence says otherwise"
    missing = [one for one in asked if not one.agrees]
    if whole.entailment >= SAYS and missing:
        reason = f"{missing[0].question} {missing[0].reply}"
        return FiveWay.PARTIAL, f"the evidence says it but for one thing: {reason}"
    if whole.entailment >= SAYS:
        return FiveWay.SUPPORTED, "the evidence says all of it"
    parts = parts_of(claim) if depth is not Confidence.HIGH else ()
    if stated := [part for part in parts if judge(part, quote).entailment >= SAYS]:
        return FiveWay.PARTIAL, f"the evidence says only {'; '.join(stated)!r}"
    if about:
        return FiveWay.UNSUPPORTED, "the evidence is about it and does not say it"
    return FiveWay.NEI, "the evidence is about something else"


_PARTS = re.compile(r"(?:,|;)?\s+(?:and|but|while|whereas)\s+|;\s+|,\s+(?=(?:which|who|with)\b)")


def parts_of(claim: str) -> tuple[str, ...]:
    """The parts of a compound claim, each with the subject of the first; a simple claim has none."""
    pieces = [piece.strip(" .,;") for piece in _PARTS.split(claim)]
    pieces = [piece for piece in pieces if len(piece.split()) > 1]
    if len(pieces) < 2:
        return ()
    verb = re.search(r"\s(?:was|were|is|are|has|have|had|did|does|\w+(?:ed|es))\s", pieces[0])
    subject = f"{pieces[0][: verb.start()]} " if verb else ""
    return (
        pieces[0],
        *(one if one[:1].isupper() else f"{subject}{one}" for one in pieces[1:]),
    )


def questions(claim: str, quote: str) -> tuple[Answered, ...]:
    """What the claim asserts, asked of the quote alone: its amounts and the names that it gives."""
    plain = norm_v1(quote)
    names = dict.fromkeys(match.group().rstrip(".") for match in _NAME.finditer(claim))
    named = (
        (name, norm_v1(name) in plain)  # a name, and whether the quote has it
        for name in names
    )
    return (
        *(
            Answered(
                question=f"Is {name} named?",
                expected=name,
                answer=name if there else None,
                agrees=there,
            )
            for name, there in named
        ),
        *numeric_questions(claim, quote),
    )


def inferred_from(
    claim: str, pool: Sequence[EvidenceSpan], judge: Judge
) -> tuple[EvidenceSpan, ...]:
    """Two spans of two sources that together say what neither says: over-synthesis, to be marked.

    Of each source the span most like the claim is read, of the two sources most like it. Empty where one
    alone says the claim, or both together do not.
    """
    wanted = content_terms(claim)
    best: dict[str, tuple[float, EvidenceSpan]] = {}
    for one in pool:
        like = overlap(wanted, content_terms(one.quote))
        if like > best.get(one.source_id, (0.0, one))[0]:
            best[one.source_id] = like, one
    two = tuple(one for _, one in sorted(best.values(), key=lambda each: -each[0])[:2])
    if len(two) < 2 or any(judge(claim, one.quote).entailment >= SAYS for one in two):
        return ()
    together = judge(claim, "\n".join(one.quote for one in two)).entailment
    return two if together >= SAYS else ()


# -- stage 5: the right citation -------------------------------------------------------------------


def correct_citation(
    text: str,
    cited: EvidenceSpan | None,
    verdict: FiveWay,
    pool: Sequence[EvidenceSpan],
    judge: Judge,
    stages: Stages,
) -> tuple[Action, EvidenceSpan | None]:
    """What to do with the citation of a claim that its quote does not fully support.

    The evidence most like the claim replaces it, when it is like enough, clearly more so than what
    is cited, and says more of the claim. Unlike the seed, a citation is
    removed only when it has nothing of the claim: a paraphrase that a judge did not recognise is not
    a wrong citation.
    """
    terms = {id(one): run_terms(one.quote) for one in (*pool, *([cited] if cited else []))}
    weights, wanted = rarity(terms.values()), run_terms(text)

    def score(one: EvidenceSpan) -> float:
        return weighted_overlap(wanted, terms[id(one)], weights)

    current = score(cited) if cited else 0.0
    says = judge(text, cited.quote).entailment if cited else 0.0
    place = (cited.source_id, cited.span) if cited else None
    others = [(score(one), one) for one in pool if (one.source_id, one.span) != place]
    for likeness, other in sorted(others, key=lambda o: (-o[0], o[1].source_id, o[1].span.start)):
        if likeness < max(THRESHOLD, current + LEAD):
            break
        if judge(text, other.quote).entailment > says:
            adds = stages.alternates and verdict is FiveWay.PARTIAL
            return (Action.ADD_ALTERNATE if adds else Action.REPLACE), other
    # A contradicted claim keeps its citation: that is where a reader sees that it is wrong.
    gone = verdict in (FiveWay.UNSUPPORTED, FiveWay.NEI) and current < UNLIKE
    return (Action.REMOVE if gone and cited else Action.KEEP), None

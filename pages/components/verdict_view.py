"""A verification and its trace, laid out for the evidence view: what to show where, no rules.

Everything here ends as JSON for the browser, where it becomes text nodes and nothing else. Spans
in it are UTF-16 offsets (``Offsets``), because that is how a browser counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.codec import versions_document
from core.records import (
    Alignment,
    AnswerDecision,
    Attribution,
    AttributionStatus,
    ClaimVerdict,
    Decision,
    Judged,
    Probabilities,
    Relation,
    Route,
    Source,
    Span,
    StatedAttribution,
    Trace,
    VerdictLabel,
    Verification,
    Versions,
)
from pages.components.citation_chips import citation_chips, cited_spans, cited_wrongly
from pages.components.claim_checks import (
    check_lines,
    fact_spans,
    found_by_a_check,
    not_found,
    reasons_beside,
)
from pages.components.excerpts import SHOWN_WHOLE_CHARACTERS, choose_excerpts, merge_spans
from pages.components.offsets import Offsets
from pages.components.palette import (
    DECISIONS,
    LOOKS,
    STATUS_WORDS,
    Kind,
    claim_kind,
    family_words,
)

Json = Mapping[str, object]

# The browser keeps this much source text at hand; more is fetched when its source is opened.
TEXTS_SENT_CHARACTERS = 1_500_000
SOURCES_SEARCHED_FOR_VALUES = 8
MATRIX_COLUMNS = 12
RANKED_SENT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A source's text on its way to the browser, and how that counts in it."""

    text: str
    offsets: Offsets


def lay_out(
    verification: Verification,
    trace: Trace,
    *,
    verified_at: datetime | None,
    opened: Sequence[str] = (),
) -> Json:
    """The evidence view's data; ``opened`` names sources whose text must be in it.

    ``verified_at`` is None for a trace that waits for its verdict.
    """
    verdicts, sources = verification.claims, verification.trace.sources
    names = _source_names(sources)
    kept = {source.source_id: source for source in trace.sources}
    families = verification.families
    kinds = [claim_kind(verdict) for verdict in verdicts]
    sent = _sources_sent(verification, opened)
    claims = [
        _claim(number, verdict, kind, names, families, sent)
        for number, (verdict, kind) in enumerate(zip(verdicts, kinds, strict=True))
    ]
    return {
        "trace": _trace(verification, trace),
        "decision": _decision(verification.answer.decision.value if verified_at else "pending"),
        "reasons": [_reason(reason, verdicts) for reason in verification.answer.reasons],
        "counts": _counts(kinds),
        "notices": list(trace.notices),
        "pieces": _answer_pieces(verification),
        "claims": claims,
        "first": _first_claim(kinds, verdicts),
        "sources": [
            _source(
                source,
                families[source.source_id],
                kept.get(source.source_id),
                names[source.source_id],
            )
            for source in sources
        ],
        "columns": _matrix_columns(verification),
        "texts": {
            source_id: _text(source_id, one.text, kept.get(source_id), verdicts)
            for source_id, one in sent.items()
        },
        "verified": verified_at.isoformat(timespec="seconds") if verified_at else None,
        "versions": versions_document(verification.versions) if verified_at else {},
    }


def unverified(trace: Trace) -> Verification:
    """A trace that no run has verified yet, as a verification without claims."""
    return Verification(
        trace=trace,
        families=dict.fromkeys((source.source_id for source in trace.sources), ""),
        claims=(),
        answer=AnswerDecision(decision=Decision.UNAVAILABLE, reasons=()),
        versions=Versions(
            pipeline="", config_sha256="", embedder="", pair_reader="", precision="", calibrator=""
        ),
        latency_seconds={},
    )


# ---------------------------------------------------------------- header


def _trace(verification: Verification, trace: Trace) -> Json:
    verified = verification.trace
    tools = {source.tool_name for source in verified.sources}
    calls = len(verified.sources)
    return {
        "id": verified.trace_id,
        "category": trace.category,
        "tools": f"{_many(len(tools), 'tool')} · {_many(calls, 'output')}",
        "question": verified.question,
        "answer": verified.answer,
    }


def _decision(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _reason(reason: str, verdicts: Sequence[ClaimVerdict]) -> Json:
    """A reason of the answer, with the claim that it opens with ("c01: …") as a link."""
    short, colon, words = reason.partition(": ")
    for verdict in verdicts:
        if colon and verdict.claim.claim_id.endswith(f"::{short}"):
            return {"claim": verdict.claim.claim_id, "text": words}
    return {"claim": None, "text": reason}


def _counts(kinds: Sequence[Kind]) -> list[Json]:
    found = Counter(kinds)
    return [
        {"kind": kind.value, "mark": look.mark, "word": look.word, "n": found[kind]}
        for kind, look in LOOKS.items()
        if found[kind]
    ]


def _first_claim(kinds: Sequence[Kind], verdicts: Sequence[ClaimVerdict]) -> str | None:
    for kind in LOOKS:
        for verdict, its_kind in zip(verdicts, kinds, strict=True):
            if its_kind is kind:
                return verdict.claim.claim_id
    return None


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------- answer


def _answer_pieces(verification: Verification) -> list[Json]:
    """The answer cut where claims and credits begin and end; the pieces join to the answer."""
    answer = verification.trace.answer or ""
    claims = [verdict.claim for verdict in verification.claims]
    spans = [claim.span for claim in claims]
    credits = [claim.stated.span if claim.stated else None for claim in claims]
    edges = {0, len(answer)}
    for span in (*spans, *(credit for credit in credits if credit)):
        edges |= {span.start, span.end}
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(answer))
    pieces: list[Json] = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        here = Span(start=start, end=end)
        inside = [at for at, span in enumerate(spans) if span.overlaps(here)]
        # The smallest claim around a piece is the one that a click on it means.
        inside.sort(key=lambda at: (spans[at].end - spans[at].start, at))
        pieces.append(
            {
                "text": answer[start:end],
                "claims": inside,
                "opens": [at for at in sorted(inside) if spans[at].start == start],
                "credits": [at for at, span in enumerate(credits) if span and span.overlaps(here)],
            }
        )
    return pieces


# ---------------------------------------------------------------- claims


def _claim(
    number: int,
    verdict: ClaimVerdict,
    kind: Kind,
    names: Mapping[str, str],
    families: Mapping[str, str],
    sent: Mapping[str, _Sent],
) -> Json:
    claim = verdict.claim
    offsets = {source_id: one.offsets for source_id, one in sent.items()}
    return {
        "id": claim.claim_id,
        "number": number + 1,
        "kind": kind.value,
        "mark": LOOKS[kind].mark,
        "word": LOOKS[kind].word,
        "headline": _headline(verdict, kind, names),
        "reasons": list(verdict.reasons),
        "reasons_beside": reasons_beside(verdict),
        "checks": check_lines(verdict, names, offsets),
        "citations": citation_chips(verdict, names, offsets),
        "not_found": not_found(verdict),
        "decision": verdict.decision.value,
        "type": claim.claim_type.value,
        "pieces": _claim_pieces(verdict),
        "said": claim.said,
        "credit": _credit(claim.stated, names),
        "conflation": _conflation(verdict, names, families)
        if _attribution(verdict).status is AttributionStatus.CONFLATION
        else None,
        "stated": _stated_sources(verdict, families),
        **_measured(verdict),
        "marks": _marks(verdict, sent),
    }


def _measured(verdict: ClaimVerdict) -> Json:
    """What was measured of a claim; nothing of one that was not judged."""
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return {
            "values": [],
            "unwritten": [],
            "routed": None,
            "score": None,
            "margin": None,
            "ranking": [],
            "nli": None,
            "support": None,
            "threshold": None,
            "tokens": None,
            "words": [],
            "truncated": False,
        }
    return {
        "values": [
            {
                "text": checked.value.text,
                "kind": checked.value.kind,
                "present": checked.present or found_by_a_check(verdict, checked.value.span),
                "nearest": checked.nearest,
            }
            for checked in judged.literals.values
            if checked.settles
        ],
        "unwritten": [checked.value.text for checked in judged.literals.unwritten],
        "routed": judged.route.source_id,
        "score": judged.route.score,
        "margin": judged.route.margin,
        "ranking": [
            {
                "source": ranked.source_id,
                "score": ranked.score,
                "nli": ranked.probabilities and _reading(ranked.probabilities),
            }
            for ranked in judged.route.ranking[:RANKED_SENT]
        ],
        "nli": _reading(judged.entailment.probabilities, judged.literals.relation),
        "support": judged.support.probability,
        "threshold": judged.support.threshold,
        "tokens": _token_count(judged.alignment),
        "words": [
            {"text": token.text, "score": token.score, "weak": token.weak}
            for token in judged.alignment.tokens
        ],
        "truncated": judged.premise.truncated,
    }


def _stated_sources(verdict: ClaimVerdict, families: Mapping[str, str]) -> list[str]:
    """The sources that the answer credits: the one it means, else all of the family."""
    stated_family = _attribution(verdict).stated_family
    stated = verdict.claim.stated.source_id if verdict.claim.stated else None
    if not stated_family and not stated:
        return []
    return [
        source_id
        for source_id, family in families.items()
        if source_id == stated or (stated is None and family == stated_family)
    ]


def _headline(verdict: ClaimVerdict, kind: Kind, names: Mapping[str, str]) -> str:
    outcome = verdict.outcome
    source = _called(outcome.route, names) if isinstance(outcome, Judged) else "a source"
    if kind is Kind.SUPPORTED:
        return f"Supported by {source}"
    if kind is Kind.CONFLATION and (wrong := cited_wrongly(verdict)):
        return wrong
    if kind is Kind.CONFLATION:
        return f"True, but not in {_credited_words(verdict, names)}: it is in {source}"
    if kind is Kind.CONTRADICTED:
        return f"{source} says otherwise"
    if kind is Kind.UNJUDGED:
        return "Not judged"
    if kind is Kind.PERSON:
        return "Needs a person"
    if kind is Kind.ASIDE:
        return f"Set aside: {verdict.claim.claim_type.value}"
    if verdict.verdict is VerdictLabel.SUPPORTED:
        return cited_wrongly(verdict) or f"Blocked, although {source} supports the wording"
    if verdict.verdict is VerdictLabel.UNSUPPORTED:
        return f"{source} is about this, but does not say all of it"
    return "No source says this"


def _called(route: Route, names: Mapping[str, str]) -> str:
    return names.get(route.source_id, route.source_id)


def _credited_words(verdict: ClaimVerdict, names: Mapping[str, str]) -> str:
    stated = verdict.claim.stated
    if stated and stated.source_id:
        return names.get(stated.source_id, stated.source_id)
    return f"the {family_words(_attribution(verdict).stated_family) or 'stated source'}"


def _attribution(verdict: ClaimVerdict) -> Attribution:
    outcome = verdict.outcome
    if isinstance(outcome, Judged):
        return outcome.attribution
    stated = verdict.claim.stated
    return Attribution(
        status=AttributionStatus.NONE,
        stated_family=stated.family if stated else None,
        routed_family=None,
        reason="",
    )


def _credit(stated: StatedAttribution | None, names: Mapping[str, str]) -> Json | None:
    if stated is None:
        return None
    words = names.get(stated.source_id or "") or family_words(stated.family)
    return {"text": stated.text, "source": words}


def _conflation(
    verdict: ClaimVerdict, names: Mapping[str, str], families: Mapping[str, str]
) -> Json | None:
    outcome = verdict.outcome
    if not isinstance(outcome, Judged):
        return None
    route, stated = outcome.route, verdict.claim.stated
    return {
        "stated": f"“{stated.text}”" if stated else "",
        "stated_family": family_words(outcome.attribution.stated_family),
        "supported_by": _called(route, names),
        "supported_family": family_words(families.get(route.source_id, route.family)),
    }


def _claim_pieces(verdict: ClaimVerdict) -> list[Json]:
    """The claim's text cut at its words and values; the pieces join to the text."""
    text, judged = verdict.claim.text, verdict.outcome
    tokens = judged.alignment.tokens if isinstance(judged, Judged) else ()
    values = judged.literals.values if isinstance(judged, Judged) else ()
    edges = {0, len(text)}
    for span in (*(token.span for token in tokens), *(each.value.span for each in values)):
        edges |= {span.start, span.end}
    top = max((token.score for token in tokens), default=0.0)
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(text))
    pieces: list[Json] = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        here = Span(start=start, end=end)
        piece: dict[str, object] = {"text": text[start:end]}
        for token in tokens:
            if token.span.start <= start and end <= token.span.end:
                piece["score"] = token.score
                piece["share"] = token.score / top if top > 0 else 0.0
                piece["weak"] = token.weak
        for checked in values:
            if checked.value.span.overlaps(here):
                missing = "missing" if checked.settles else "unwritten"
                found = checked.present or found_by_a_check(verdict, checked.value.span)
                piece["value"] = "present" if found else missing
                piece["nearest"] = checked.nearest
                piece["opens"] = checked.value.span.start == start
                piece["closes"] = checked.value.span.end == end
        pieces.append(piece)
    return pieces


def _token_count(alignment: Alignment) -> Json:
    return {
        "ratio": alignment.supported_token_ratio,
        "weak": [token.text for token in alignment.tokens if token.weak],
    }


def _reading(probabilities: Probabilities, relation: Relation | None = None) -> Json:
    """Label probabilities with the relation decided from them, by default the most probable."""
    return {
        "relation": (relation or probabilities.relation).value,
        "entailment": probabilities.entailment,
        "neutral": probabilities.neutral,
        "contradiction": probabilities.contradiction,
    }


# ---------------------------------------------------------------- sources


def _source_names(sources: Sequence[Source]) -> dict[str, str]:
    """What a source is called on the page: its tool, numbered where a tool was called twice."""
    calls = Counter(source.tool_name for source in sources)
    seen: Counter[str] = Counter()
    names = {}
    for source in sources:
        tool = source.tool_name
        seen[tool] += 1
        names[source.source_id] = f"{tool} #{seen[tool]}" if calls[tool] > 1 else tool
    return names


def _source(source: Source, family: str, kept: Source | None, name: str) -> Json:
    short, words = STATUS_WORDS[source.status.value]
    return {
        "id": source.source_id,
        "name": name,
        "call": name.removeprefix(source.tool_name),
        "tool": source.tool_name,
        "family": family_words(family),
        "status": source.status.value,
        "status_short": short,
        "status_words": words,
        "characters": len(source.text),
        "server": kept.server if kept else None,
        "arguments": kept.arguments if kept else None,
        "uri": kept.uri if kept else None,
        "note": kept.note if kept else None,
    }


def _sources_sent(verification: Verification, opened: Sequence[str]) -> dict[str, _Sent]:
    """Texts by source id, in the order in which a reader is likely to want them, within budget."""
    texts = {source.source_id: source.text for source in verification.trace.sources}
    sent: dict[str, _Sent] = {}
    spent = 0
    for source_id in _wanted(verification, opened):
        if source_id in sent or source_id not in texts:
            continue
        spent += min(len(texts[source_id]), SHOWN_WHOLE_CHARACTERS)
        if spent > TEXTS_SENT_CHARACTERS and sent and source_id not in opened:
            break
        sent[source_id] = _Sent(text=texts[source_id], offsets=Offsets(texts[source_id]))
    return sent


def _routes(verification: Verification) -> list[Route]:
    outcomes = [verdict.outcome for verdict in verification.claims]
    return [outcome.route for outcome in outcomes if isinstance(outcome, Judged)]


def _wanted(verification: Verification, opened: Sequence[str]) -> Iterator[str]:
    yield from opened
    routes = _routes(verification)
    yield from (route.source_id for route in routes)
    for place in range(max((len(route.ranking) for route in routes), default=0)):
        for route in routes:
            if place < len(route.ranking):
                yield route.ranking[place].source_id
    yield from (source.source_id for source in verification.trace.sources)


def _matrix_columns(verification: Verification) -> list[str]:
    """The sources that rank best for any claim, in trace order, as columns of the matrix."""
    best: dict[str, float] = {}
    for route in _routes(verification):
        for ranked in route.ranking:
            best[ranked.source_id] = max(ranked.score, best.get(ranked.source_id, ranked.score))
    top = sorted(best, key=lambda source_id: -best[source_id])[:MATRIX_COLUMNS]
    return [source.source_id for source in verification.trace.sources if source.source_id in top]


# ---------------------------------------------------------------- source texts and what is lit in them


def _text(source_id: str, text: str, kept: Source | None, verdicts: Sequence[ClaimVerdict]) -> Json:
    """A source's readable text, and its raw output where that is something else, in excerpts."""
    by_claim = {
        verdict.claim.claim_id: list(_premise_spans(verdict, source_id)) for verdict in verdicts
    }
    lit = [span for spans in by_claim.values() for span in spans]
    lit += [span for verdict in verdicts for span in fact_spans(verdict, source_id)]
    lit += [span for verdict in verdicts for span in cited_spans(verdict, source_id)]
    shown: dict[str, object] = {"readable": _excerpts(text, lit), "raw": None}
    # A verdict of an older version of the trace must not be mapped onto a newer raw output.
    if kept is not None and kept.raw is not None and kept.text == text:
        shown["raw"] = _excerpts(kept.raw, _raw_points(kept, lit))
        shown["raw_marks"] = {
            claim_id: _raw_marks(kept, spans) for claim_id, spans in by_claim.items() if spans
        }
    return shown


def _excerpts(text: str, lit: Sequence[Span]) -> Json:
    offsets = Offsets(text)
    return {
        "characters": len(text),
        "parts": [
            {"start": offsets.of_point(span.start), "text": span.cut(text), "after": span.end}
            for span in choose_excerpts(len(text), lit)
        ],
    }


def _premise_spans(verdict: ClaimVerdict, source_id: str) -> Iterator[Span]:
    outcome = verdict.outcome
    if isinstance(outcome, Judged) and outcome.premise.source_id == source_id:
        yield from outcome.premise.spans


def _marks(verdict: ClaimVerdict, sent: Mapping[str, _Sent]) -> Json:
    """For each source at hand: the premise, and where the claim's values stand in it."""
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return {}
    ranked = judged.route.ranking[:SOURCES_SEARCHED_FOR_VALUES]
    wanted = [judged.route.source_id, *(each.source_id for each in ranked)]
    return {
        source_id: _source_marks(verdict, judged, source_id, sent[source_id])
        for source_id in wanted
        if source_id in sent
    }


def _source_marks(
    verdict: ClaimVerdict, judged: Judged, source_id: str, source: _Sent
) -> list[Json]:
    text, offsets = source.text, source.offsets
    premise = merge_spans(list(_premise_spans(verdict, source_id)))
    marks: list[Json] = [_mark(span, "premise", offsets) for span in premise]
    where = premise or (Span(start=0, end=len(text)),)
    for checked in judged.literals.values:
        if not checked.settles:
            continue
        if not checked.present and found_by_a_check(verdict, checked.value.span):
            continue  # its place is lit when the line that tells it is chosen
        # Outside the premise a value is only found, not checked, so it is not called missing.
        shown = checked.present or not premise
        sought = checked.value.text if shown else checked.nearest
        kind = "value" if shown else "nearest"
        for span in _occurrences(sought or "", text, where):
            marks.append(_mark(span, kind, offsets))
    return marks


def _occurrences(sought: str, text: str, where: Sequence[Span]) -> list[Span]:
    if not sought.strip():
        return []
    # Spaces in a value match any run of them: "10 mg" is also "10  mg" and "10mg".
    words = [re.escape(word) for word in sought.split()]
    pattern = re.compile(r"(?<!\w)" + r"\s*".join(words) + r"(?!\w)", re.IGNORECASE)
    found = []
    for span in where:
        for match in pattern.finditer(text, span.start, span.end):
            found.append(Span(start=match.start(), end=match.end()))
            if len(found) >= 50:
                return found
    return found


def _mark(span: Span, kind: str, offsets: Offsets) -> Json:
    return {"start": offsets.of_point(span.start), "end": offsets.of_point(span.end), "kind": kind}


def _raw_marks(source: Source, spans: Sequence[Span]) -> list[Json]:
    """The byte ranges of the raw output behind spans of the readable text."""
    offsets = Offsets(source.raw or "")
    ranges = [
        Span(start=offsets.of_byte(each.raw_start), end=offsets.of_byte(each.raw_end))
        for each in source.raw_map
        if any(span.overlaps(each.text) for span in spans)
    ]
    return [
        {"start": span.start, "end": span.end, "kind": "premise"} for span in merge_spans(ranges)
    ]


def _raw_points(source: Source, spans: Sequence[Span]) -> list[Span]:
    """Where in the raw output the lit values are, in its code points, to choose excerpts by."""
    offsets = Offsets(source.raw or "")
    return [
        Span(start=offsets.point_of_byte(each.raw_start), end=offsets.point_of_byte(each.raw_end))
        for each in source.raw_map
        if any(span.overlaps(each.text) for span in spans)
    ]

"""A verdict document and its trace, laid out for the evidence view: what to show where, no rules.

Everything here ends as JSON for the browser, where it becomes text nodes and nothing else. Spans
in it are UTF-16 offsets (``Offsets``), because that is how a browser counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.records import Probabilities, Source, Span, Trace
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
from pages.components.verdict_document import (
    ClaimDocument,
    ProbabilitiesDocument,
    RankedDocument,
    SourceDocument,
    VerdictDocument,
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
    document: VerdictDocument,
    trace: Trace,
    *,
    verified_at: datetime | None,
    opened: Sequence[str] = (),
) -> Json:
    """The evidence view's data; ``opened`` names sources whose text must be in it.

    ``verified_at`` is None for a trace that waits for its verdict.
    """
    names = _source_names(document["sources"])
    kept = {source.source_id: source for source in trace.sources}
    families = {source["source_id"]: source["family"] for source in document["sources"]}
    kinds = [claim_kind(claim) for claim in document["claims"]]
    sent = _sources_sent(document, opened)
    claims = [
        _claim(number, claim, kind, names, families, document, sent)
        for number, (claim, kind) in enumerate(zip(document["claims"], kinds, strict=True))
    ]
    return {
        "trace": _trace(document, trace),
        "decision": _decision(document["decision"] if verified_at else "pending"),
        "reasons": [_reason(reason, document["claims"]) for reason in document["reasons"]],
        "counts": _counts(kinds),
        "notices": list(trace.notices),
        "pieces": [] if document["answer"] is None else _answer_pieces(document),
        "claims": claims,
        "first": _first_claim(kinds, document["claims"]),
        "sources": [
            _source(source, kept.get(source["source_id"]), names[source["source_id"]])
            for source in document["sources"]
        ],
        "columns": _matrix_columns(document),
        "texts": {
            source_id: _text(source_id, one.text, kept.get(source_id), document["claims"])
            for source_id, one in sent.items()
        },
        "verified": verified_at.isoformat(timespec="seconds") if verified_at else None,
        "versions": document["versions"],
    }


def unverified_document(trace: Trace) -> VerdictDocument:
    """A trace that no run has verified yet, as a document without claims."""
    return {
        "trace_id": trace.trace_id,
        "question": trace.question,
        "answer": trace.answer,
        "decision": "unavailable",
        "reasons": [],
        "sources": [
            {
                "source_id": source.source_id,
                "tool_name": source.tool_name,
                "family": "",
                "text": source.text,
                "status": source.status.value,
            }
            for source in trace.sources
        ],
        "claims": [],
        "versions": {},
    }


# ---------------------------------------------------------------- header


def _trace(document: VerdictDocument, trace: Trace) -> Json:
    tools = {source["tool_name"] for source in document["sources"]}
    calls = len(document["sources"])
    return {
        "id": document["trace_id"],
        "category": trace.category,
        "tools": f"{_many(len(tools), 'tool')} · {_many(calls, 'output')}",
        "question": document["question"],
        "answer": document["answer"],
    }


def _decision(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _reason(reason: str, claims: Sequence[ClaimDocument]) -> Json:
    """A reason of the answer, with the claim that it opens with ("c01: …") as a link."""
    short, colon, words = reason.partition(": ")
    for claim in claims:
        if colon and claim["claim_id"].endswith(f"::{short}"):
            return {"claim": claim["claim_id"], "text": words}
    return {"claim": None, "text": reason}


def _counts(kinds: Sequence[Kind]) -> list[Json]:
    found = Counter(kinds)
    return [
        {"kind": kind.value, "mark": look.mark, "word": look.word, "n": found[kind]}
        for kind, look in LOOKS.items()
        if found[kind]
    ]


def _first_claim(kinds: Sequence[Kind], claims: Sequence[ClaimDocument]) -> str | None:
    for kind in LOOKS:
        for claim, its_kind in zip(claims, kinds, strict=True):
            if its_kind is kind:
                return claim["claim_id"]
    return None


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------- answer


def _answer_pieces(document: VerdictDocument) -> list[Json]:
    """The answer cut where claims and credits begin and end; the pieces join to the answer."""
    answer = document["answer"] or ""
    claims = document["claims"]
    spans = [Span(start=claim["span"][0], end=claim["span"][1]) for claim in claims]
    credits = [
        None
        if claim["stated_attribution"] is None
        else Span(
            start=claim["stated_attribution"]["span"][0], end=claim["stated_attribution"]["span"][1]
        )
        for claim in claims
    ]
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
    claim: ClaimDocument,
    kind: Kind,
    names: Mapping[str, str],
    families: Mapping[str, str],
    document: VerdictDocument,
    sent: Mapping[str, _Sent],
) -> Json:
    route = claim["routed_source"]
    routed = route["source_id"] if route else None
    stated_family = claim["attribution"]["stated_family"]
    stated = claim["stated_attribution"]
    stated_source = stated["source_id"] if stated else None
    return {
        "id": claim["claim_id"],
        "number": number + 1,
        "kind": kind.value,
        "mark": LOOKS[kind].mark,
        "word": LOOKS[kind].word,
        "headline": _headline(claim, kind, names),
        "reasons": claim["reasons"],
        "decision": claim["decision"],
        "type": claim["claim_type"],
        "pieces": _claim_pieces(claim),
        "values": [
            {
                "text": value["text"],
                "kind": value["kind"],
                "present": value["present"],
                "nearest": value.get("nearest"),
            }
            for value in claim["protected_values"]
            if value["present"] is not None
        ],
        "unwritten": [value["text"] for value in claim.get("unwritten_values", [])],
        "said": claim["said"],
        "credit": _credit(claim, names),
        "conflation": _conflation(claim, names, families) if kind is Kind.CONFLATION else None,
        "routed": routed,
        "stated": [
            source_id
            for source_id, family in families.items()
            if source_id == stated_source or (stated_source is None and family == stated_family)
        ]
        if stated_family or stated_source
        else [],
        "score": route["route_score"] if route else None,
        "margin": route["routing_margin"] if route else None,
        "ranking": [
            {
                "source": each["source_id"],
                "score": each["score"],
                "nli": each["nli"] and _reading(each["nli"]),
            }
            for each in (route["ranking"][:RANKED_SENT] if route else [])
        ],
        "nli": claim["nli"] and _reading(claim["nli"]["probabilities"], claim["nli"]["relation"]),
        "support": claim["support_probability"],
        "threshold": claim["threshold"],
        "tokens": _token_count(claim),
        "words": [
            {"text": token["text"], "score": token["score"], "weak": token["weak"]}
            for token in (claim["alignment"]["tokens"] if claim["alignment"] else [])
        ],
        "truncated": bool(claim["premise"] and claim["premise"]["truncated"]),
        "marks": _marks(claim, document, sent),
    }


def _headline(claim: ClaimDocument, kind: Kind, names: Mapping[str, str]) -> str:
    route = claim["routed_source"]
    source = names.get(route["source_id"], route["source_id"]) if route else "a source"
    if kind is Kind.SUPPORTED:
        return f"Supported by {source}"
    if kind is Kind.CONFLATION:
        credited = _credited_words(claim, names)
        return f"True, but not in {credited}: it is in {source}"
    if kind is Kind.CONTRADICTED:
        return f"{source} says otherwise"
    if kind is Kind.UNJUDGED:
        return "Not judged"
    if kind is Kind.ASIDE:
        return f"Set aside: {claim['claim_type']}"
    if claim["verdict"] == "supported":
        return f"Blocked, although {source} supports the wording"
    if claim["verdict"] == "unsupported":
        return f"{source} is about this, but does not say all of it"
    return "No source says this"


def _credited_words(claim: ClaimDocument, names: Mapping[str, str]) -> str:
    stated = claim["stated_attribution"]
    if stated and stated["source_id"]:
        return names.get(stated["source_id"], stated["source_id"])
    return f"the {family_words(claim['attribution']['stated_family']) or 'stated source'}"


def _credit(claim: ClaimDocument, names: Mapping[str, str]) -> Json | None:
    stated = claim["stated_attribution"]
    if stated is None:
        return None
    words = names.get(stated["source_id"] or "") or family_words(stated["family"])
    return {"text": stated["text"], "source": words}


def _conflation(
    claim: ClaimDocument, names: Mapping[str, str], families: Mapping[str, str]
) -> Json | None:
    route = claim["routed_source"]
    if route is None:
        return None
    stated = claim["stated_attribution"]
    family = family_words(claim["attribution"]["stated_family"])
    return {
        "stated": f"“{stated['text']}”" if stated else "",
        "stated_family": family,
        "supported_by": names.get(route["source_id"], route["source_id"]),
        "supported_family": family_words(families.get(route["source_id"], route["family"])),
    }


def _claim_pieces(claim: ClaimDocument) -> list[Json]:
    """The claim's text cut at its words and values; the pieces join to the text."""
    text = claim["text"]
    tokens = claim["alignment"]["tokens"] if claim["alignment"] else []
    values = [
        (
            Span(start=value["span"][0], end=value["span"][1]),
            "present" if value["present"] else missing,
            value.get("nearest"),
        )
        for missing, listed in (
            ("missing", claim["protected_values"]),
            ("unwritten", claim.get("unwritten_values", [])),
        )
        for value in listed
        if "span" in value
    ]
    edges = {0, len(text)}
    for start, end in [token["span"] for token in tokens]:
        edges |= {start, end}
    for span, _, _ in values:
        edges |= {span.start, span.end}
    top = max((token["score"] for token in tokens), default=0.0)
    cuts = sorted(edge for edge in edges if 0 <= edge <= len(text))
    pieces: list[Json] = []
    for start, end in zip(cuts, cuts[1:], strict=False):
        here = Span(start=start, end=end)
        piece: dict[str, object] = {"text": text[start:end]}
        for token in tokens:
            if token["span"][0] <= start and end <= token["span"][1]:
                piece["score"] = token["score"]
                piece["share"] = token["score"] / top if top > 0 else 0.0
                piece["weak"] = token["weak"]
        for span, state, nearest in values:
            if span.overlaps(here):
                piece["value"] = state
                piece["nearest"] = nearest
                piece["opens"] = span.start == start
                piece["closes"] = span.end == end
        pieces.append(piece)
    return pieces


def _token_count(claim: ClaimDocument) -> Json | None:
    alignment = claim["alignment"]
    if alignment is None:
        return None
    return {
        "ratio": alignment["supported_token_ratio"],
        "weak": [token["text"] for token in alignment["tokens"] if token["weak"]],
    }


def _reading(probabilities: ProbabilitiesDocument, relation: str | None = None) -> Json:
    """Label probabilities with the relation decided from them, by default the most probable."""
    pairs = Probabilities(**probabilities)
    return {"relation": relation or pairs.relation.value, **probabilities}


# ---------------------------------------------------------------- sources


def _source_names(sources: Sequence[SourceDocument]) -> dict[str, str]:
    """What a source is called on the page: its tool, numbered where a tool was called twice."""
    calls = Counter(source["tool_name"] for source in sources)
    seen: Counter[str] = Counter()
    names = {}
    for source in sources:
        tool = source["tool_name"]
        seen[tool] += 1
        names[source["source_id"]] = f"{tool} #{seen[tool]}" if calls[tool] > 1 else tool
    return names


def _source(source: SourceDocument, kept: Source | None, name: str) -> Json:
    short, words = STATUS_WORDS[source["status"]]
    return {
        "id": source["source_id"],
        "name": name,
        "call": name.removeprefix(source["tool_name"]),
        "tool": source["tool_name"],
        "family": family_words(source["family"]),
        "status": source["status"],
        "status_short": short,
        "status_words": words,
        "characters": len(source["text"]),
        "server": kept.server if kept else None,
        "arguments": kept.arguments if kept else None,
        "uri": kept.uri if kept else None,
        "note": kept.note if kept else None,
    }


def _sources_sent(document: VerdictDocument, opened: Sequence[str]) -> dict[str, _Sent]:
    """Texts by source id, in the order in which a reader is likely to want them, within budget."""
    texts = {source["source_id"]: source["text"] for source in document["sources"]}
    sent: dict[str, _Sent] = {}
    spent = 0
    for source_id in _wanted(document, opened):
        if source_id in sent or source_id not in texts:
            continue
        spent += min(len(texts[source_id]), SHOWN_WHOLE_CHARACTERS)
        if spent > TEXTS_SENT_CHARACTERS and sent and source_id not in opened:
            break
        sent[source_id] = _Sent(text=texts[source_id], offsets=Offsets(texts[source_id]))
    return sent


def _wanted(document: VerdictDocument, opened: Sequence[str]) -> Iterator[str]:
    yield from opened
    routes = [claim["routed_source"] for claim in document["claims"]]
    yield from (route["source_id"] for route in routes if route)
    for place in range(max((len(route["ranking"]) for route in routes if route), default=0)):
        for route in routes:
            if route and place < len(route["ranking"]):
                yield route["ranking"][place]["source_id"]
    yield from (source["source_id"] for source in document["sources"])


def _matrix_columns(document: VerdictDocument) -> list[str]:
    """The sources that rank best for any claim, in trace order, as columns of the matrix."""
    best: dict[str, float] = {}
    for claim in document["claims"]:
        for each in claim["routed_source"]["ranking"] if claim["routed_source"] else []:
            best[each["source_id"]] = max(each["score"], best.get(each["source_id"], each["score"]))
    top = sorted(best, key=lambda source_id: -best[source_id])[:MATRIX_COLUMNS]
    return [source["source_id"] for source in document["sources"] if source["source_id"] in top]


# ---------------------------------------------------------------- source texts and what is lit in them


def _text(source_id: str, text: str, kept: Source | None, claims: Sequence[ClaimDocument]) -> Json:
    """A source's readable text, and its raw output where that is something else, in excerpts."""
    by_claim = {claim["claim_id"]: list(_premise_spans(claim, source_id)) for claim in claims}
    lit = [span for spans in by_claim.values() for span in spans]
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


def _premise_spans(claim: ClaimDocument, source_id: str) -> Iterator[Span]:
    premise = claim["premise"]
    if premise is not None and premise["source_id"] == source_id:
        for start, end in premise["spans"]:
            yield Span(start=start, end=end)


def _marks(claim: ClaimDocument, document: VerdictDocument, sent: Mapping[str, _Sent]) -> Json:
    """For each source at hand: the premise, and where the claim's values stand in it."""
    route = claim["routed_source"]
    if route is None:
        return {}
    ranked: list[RankedDocument] = route["ranking"][:SOURCES_SEARCHED_FOR_VALUES]
    wanted = [route["source_id"], *(each["source_id"] for each in ranked)]
    return {
        source_id: _source_marks(claim, source_id, sent[source_id])
        for source_id in wanted
        if source_id in sent
    }


def _source_marks(claim: ClaimDocument, source_id: str, source: _Sent) -> list[Json]:
    text, offsets = source.text, source.offsets
    premise = merge_spans(list(_premise_spans(claim, source_id)))
    marks: list[Json] = [_mark(span, "premise", offsets) for span in premise]
    where = premise or (Span(start=0, end=len(text)),)
    for value in claim["protected_values"]:
        # Outside the premise a value is only found, not checked, so it is not called missing.
        sought = value["text"] if value["present"] or not premise else value.get("nearest")
        kind = "value" if value["present"] or not premise else "nearest"
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

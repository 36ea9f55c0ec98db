"""Which quotes may testify: what a source's output, its arguments and the list of calls are evidence of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.evidence.calls import ENDED, argument_leaves, is_catalogue, is_echo
from core.evidence.fact_index import FactIndex, index_trace
from core.evidence.facts import Record
from core.evidence.own_words import is_telling
from core.judge.quotes import place_in
from core.records import Source, SourceStatus, Span, Trace
from core.records.judge import JudgeQuote, QuotedPart, QuotePlace
from core.text.addressed import addressed_to_model
from core.text.tokens import content_sequence, content_terms, denies, words

# What an agent does by a call, which what it passed there shows; what it found is no such thing.
_DONE = content_terms(
    "created saved wrote generated searched queried sent emailed drafted posted put booked added updated"
)
_AGENT = re.compile(r"\W*(?:(?:the|this)\s+)?(?:agent|assistant|I)\b(?:['’]ve\b|['’]d\b)?", re.I)
ABOUT_FAILURE = content_terms(
    "error fail failed failure timeout timed unavailable attempted tried unable could denied rejected"
)
_ABOUT_TOOLS = content_terms("tool tools server servers api capability function")
_OWN_TEXT = 5  # content words in the agent's own order are what it wrote; fewer may be a name
_ASKED_CHARACTERS = 60  # of an argument that asks for something: an id, a city, a date, a path
_ASKED_WORDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A trace as proofs are checked against it, made once for all its claims."""

    trace: Trace
    sources: Mapping[str, Source]
    names: Mapping[str, str]  # what each source is called
    calls: str
    index: FactIndex
    written: Mapping[
        str, tuple[str, ...]
    ]  # by source: what the agent had written until it came back
    narrowed: frozenset[str] = frozenset()  # sources of which the judge was sent a part


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A quote that was found, and why it is no evidence of this claim; None where it is."""

    quote: JudgeQuote
    place: QuotePlace
    silent: str | None


def material_of(trace: Trace) -> Material:
    """Everything that proofs of one trace are checked against."""
    written: dict[str, tuple[str, ...]] = {}
    before: list[str] = []
    for source in trace.sources:
        leaves = (leaf for _, leaf in argument_leaves(source.arguments))
        before += [leaf for leaf in leaves if len(content_sequence(leaf)) >= _OWN_TEXT]
        written[source.source_id] = tuple(before)
    return Material(
        trace=trace,
        sources={source.source_id: source for source in trace.sources},
        names=trace.names,
        calls=list_of_calls(trace),
        index=index_trace(trace),
        written=written,
    )


def list_of_calls(trace: Trace) -> str:
    """The calls in their order, one a line: what was called, and how it ended."""
    return "\n".join(
        f"{number}. {' '.join(source.tool_name.split())}: {ENDED[source.status][1]}"
        for number, source in enumerate(trace.sources, start=1)
    )


def is_about_run(claim_text: str) -> bool:
    """Whether a claim says what the agent did by a call: it is the subject, and the first verb says so."""
    subject = _AGENT.match(claim_text)
    if subject is None:
        return False
    said = (w for w in words(claim_text[subject.end() :]) if not (denies(w) or w.endswith("ly")))
    return bool(set(content_sequence(" ".join(said))[:1]) & _DONE)


def silent_because(
    quote: JudgeQuote, place: QuotePlace, claim_text: str, material: Material, *, against: bool
) -> str | None:
    """Why a quote is no evidence of the claim, in words for a person; None where it is.

    ``against``: whether it is to contradict the claim. A failed call contradicts what the agent says it
    did, and supports only that it failed.
    """
    if place.part is QuotedPart.CALLS:
        return None
    source = material.sources[place.source_id]
    terms = content_terms(claim_text)
    own = is_about_run(claim_text)
    name = material.names[place.source_id]
    if place.part is QuotedPart.ARGUMENTS:
        return _arguments_silent(source, name, own=own, failure=bool(terms & ABOUT_FAILURE))
    if source.status in (SourceStatus.EMPTY, SourceStatus.NOT_CAPTURED):
        return f"{name} holds no output"
    if source.status is SourceStatus.ECHO:
        return f"{name} only gives back what the agent wrote"
    if source.status is SourceStatus.ERROR and not (terms & ABOUT_FAILURE or against and own):
        return f"{name} is a call that failed"
    if is_catalogue(source) and not terms & _ABOUT_TOOLS:
        return f"{name} is a list of tools"
    if (hostile := _addressed(source.text, place.span)) is not None:
        return f"the quote from {name} stands beside words addressed to a model (“{hostile:.60}”)"
    if own:
        return None
    if is_telling(source) or is_echo(source):
        return f"{name} only gives back what the agent wrote"
    if len(content_sequence(quote.quote)) >= _OWN_TEXT and any(
        place_in(quote.quote, text) for text in material.written[place.source_id]
    ):
        return f"the quote from {name} is what the agent itself wrote in a call"
    return None


def asks(source: Source, quote: str) -> bool:
    """Whether a quote from the arguments is what was asked for (an id, a city), and no text."""
    leaves = [leaf for _, leaf in argument_leaves(source.arguments)]
    return not is_telling(source) and all(
        len(leaf) <= _ASKED_CHARACTERS and len(content_sequence(leaf)) < _ASKED_WORDS
        for leaf in leaves
        if place_in(leaf, quote) or place_in(quote, leaf)
    )


def records_at(place: QuotePlace, material: Material) -> Iterator[Record]:
    """The records that a quote of an output lies on, of those that are more than the quote."""
    if place.part is QuotedPart.OUTPUT:
        for record in material.index.records_of.get(place.source_id, ()):
            if record.span.overlaps(place.span):
                yield record


def _arguments_silent(source: Source, name: str, *, own: bool, failure: bool) -> str | None:
    if source.status is SourceStatus.ERROR and not failure:
        return f"{name} is a call that failed"
    if source.status is SourceStatus.NOT_CAPTURED:
        return f"what {name} returned was not captured"
    if source.status is SourceStatus.ECHO:
        return f"{name} only holds what the agent wrote"
    if is_telling(source) and not own:
        return f"{name} only holds what the agent wrote"
    return None


def _addressed(text: str, span: Span) -> str | None:
    """What of the paragraph around a quote is addressed to a model."""
    start = text.rfind("\n\n", 0, span.start) + 1
    end = text.find("\n\n", span.end)
    return addressed_to_model(text[start : end if end >= 0 else None])

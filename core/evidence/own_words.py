"""What the agent itself said supports nothing but that it was said.

A search that repeats its query, a thought that was kept, a message that was sent, a failed call that
quotes what it was asked: all of them hold a claim's words, and no record does. A claim whose words
stand in one such place and in no finding is only said, and blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.evidence.calls import argument_leaves
from core.records import Check, Claim, FactPlace, Outcome, Source, SourceStatus, Trace
from core.text.chunks import units
from core.text.tokens import content_sequence, content_terms, denies, overlap, with_english

SAID = 0.8  # of the claim's content terms in one place that the agent wrote
FOUND = 0.7  # of them near each other in one finding: then a record says it as well
_RUN = 3  # so many content terms in the agent's own order are its own words
_NEAR = 3  # neighbouring sentences or lines that may say a claim together
_LEAST_TERMS = 2
_ENOUGH_DIGITS = 3
_MOST_CHARACTERS = 200_000  # of one text; what lies behind counts as found
_DOCUMENT_CHARACTERS = 400  # longer arguments are a text that the agent made

# Tools that only take down what they are told, by the words of their names.
_TELLING = re.compile(
    r"^(?:(?:sequential_)?think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratchpad|plan"
    r"|(?:take|add|write|make|save|create|append|store|keep)_(?:a_)?(?:note|memory|thought)s?|note"
    r"|remember|memorize|(?:send|draft|compose|write|create|reply(?:_to)?|forward)_(?:an?_)?"
    r"(?:\w+_)?(?:e_?mail|mail|message|sms|text|reply|draft)|reply|respond"
    r"|(?:final|submit|give|provide)_(?:the_)?(?:final_)?(?:answer|response|reply|result)|answer|finish)$"
)
# The fields in which services give back what they were asked.
_ASKED = re.compile(
    r"^\s*(?:[\w.\[\]-]*\.)?(?:query|q|question|prompt|request|search|search_?(?:query|terms?|string|for)"
    r"|keywords?|input|asked|original_?query)\s*[:=]\s",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:no|zero|0)\s+(?:\w+\s+){0,3}(?:results?|matches|match|hits|records?|entries|documents?|items"
    r"|articles|data)\b|\b(?:nothing|not)\s+(?:was\s+|were\s+)?(?:found|matched)\b"
    r"|\b(?:could not|couldn['’]t|did not|didn['’]t|unable to|failed to)\s+(?:be\s+)?(?:find|found|locate)",
    re.IGNORECASE,
)
# What a claim speaks of when it is about the run: who did it, what was done, and what failed.
_ABOUT_THE_RUN = content_terms(
    "agent assistant created saved wrote generated searched queried sent emailed drafted tool"
)
_ABOUT_FAILURE = content_terms(
    "error fail failed failure timeout timed unavailable attempted tried"
)
_NOTHING_SAID = frozenset({"nothing"})  # beside the words that negate
# Of these a claim is about what the agent made, where it wrote one.
_MADE = content_terms(
    "report summary file document slide presentation page webpage section chapter script code "
    "tutorial mindmap branch diagram table readme repository folder list middleware route"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """One place that holds the agent's words: a sentence of an argument, or a line that repeats it."""

    source_id: str
    terms: frozenset[str]
    document: bool  # whether it stands in a longer text that the agent made
    failed: bool = False


@dataclass(slots=True, kw_only=True)
class OwnWords:
    """Everything the agent said in one trace; what was found besides is read when it is first asked."""

    trace: Trace
    sayings: tuple[Saying, ...]
    found: list[tuple[frozenset[str], ...]] | None = field(default=None)

    def findings(self) -> Sequence[tuple[frozenset[str], ...]]:
        """The terms of every source, unit by unit, without those that only repeat the agent."""
        if self.found is None:
            self.found = list(_findings(self.trace))
        return self.found


def read_own_words(trace: Trace) -> OwnWords:
    """The agent's own words in the calls of a trace, and in outputs that give them back."""
    return OwnWords(trace=trace, sayings=tuple(_sayings(trace)))


def is_telling(source: Source) -> bool:
    """Whether the tool only takes down what it is told: a thought, a note, a message, an answer."""
    name = re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", source.tool_name)).lower()
    return bool(_TELLING.match(name.strip("_")))


def check_own_words(claim: Claim, own: OwnWords) -> Iterator[Check]:
    """A veto on a claim that the agent said in a call, and that no finding says."""
    terms = content_terms(claim.text)
    if len(terms) < _LEAST_TERMS or terms & _ABOUT_THE_RUN or denies(claim.text, _NOTHING_SAID):
        return
    if terms & _MADE and any(saying.document for saying in own.sayings):
        return  # what the agent made is what it wrote there
    said = [
        saying
        for saying in own.sayings
        if overlap(terms, saying.terms) >= SAID and not (saying.failed and terms & _ABOUT_FAILURE)
    ]
    if not said or _is_found(terms, own.findings()):
        return
    tool = own.trace.source(said[0].source_id).tool_name
    yield Check(
        check="own_words",
        outcome=Outcome.SILENT,
        reason=(
            f"Only a call of {tool} that failed says this; no source does."
            if said[0].failed
            else f"Only the agent's own words in {tool} say this; no source does."
        ),
        veto=True,
        facts=(FactPlace(source_id=said[0].source_id, span=None),),
    )


def _is_found(terms: frozenset[str], findings: Sequence[tuple[frozenset[str], ...]]) -> bool:
    """Whether neighbouring units of a finding hold the claim's terms, or one finding its long numbers.

    A number of three digits or more is rarely there by chance.
    """
    numbers = frozenset(t for t in terms if sum(letter.isdigit() for letter in t) >= _ENOUGH_DIGITS)
    for parts in findings:
        if numbers and numbers <= frozenset().union(*parts):
            return True
        for at in range(len(parts)):
            if overlap(terms, frozenset().union(*parts[at : at + _NEAR])) >= FOUND:
                return True
    return False


def _sayings(trace: Trace) -> Iterator[Saying]:
    for source in trace.sources:
        written = [leaf.replace("\\n", "\n") for _, leaf in argument_leaves(source.arguments)]
        for text in written:
            long = len(text) >= _DOCUMENT_CHARACTERS and not is_telling(source)
            yield from _of(source, _parts(text), document=long)
        failed = source.status is SourceStatus.ERROR
        if failed or is_telling(source):
            yield from _of(source, _parts(source.text), failed=failed)
        else:
            told = (part for part in _parts(source.text) if _gives_back(part))
            yield from _of(source, told)


def _of(
    source: Source, parts: Iterator[str], *, document: bool = False, failed: bool = False
) -> Iterator[Saying]:
    for part in parts:
        terms = content_terms(part)
        if len(terms) >= _LEAST_TERMS:
            yield Saying(source_id=source.source_id, terms=terms, document=document, failed=failed)


def _findings(trace: Trace) -> Iterator[tuple[frozenset[str], ...]]:
    """A copy of an earlier finding in a call does not make that finding the agent's words."""
    own: set[tuple[str, ...]] = set(_runs(content_sequence(trace.question or "")))
    for source in trace.sources:
        for _, leaf in argument_leaves(source.arguments):
            own |= set(_runs(content_sequence(leaf.replace("\\n", " "))))
        if not source.is_evidence or is_telling(source):
            continue
        yield tuple(
            _besides(content_sequence(part), own)
            for part in _parts(source.text)
            if not _gives_back(part)
        )
        if len(source.text) > _MOST_CHARACTERS:
            yield (content_terms(source.text[_MOST_CHARACTERS:]),)


def _parts(text: str) -> Iterator[str]:
    head = text[:_MOST_CHARACTERS]
    return (unit.span.cut(head) for unit in units(head))


def _gives_back(part: str) -> bool:
    """Whether a line only repeats what was asked: a query's field, or that nothing was found for it."""
    return bool(_ASKED.match(part) or _NOTHING.search(part))


def _runs(terms: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return (tuple(terms[at : at + _RUN]) for at in range(len(terms) - _RUN + 1))


def _besides(terms: Sequence[str], own: set[tuple[str, ...]]) -> frozenset[str]:
    """The terms of a unit that stand in no run of the agent's own words."""
    repeated: Mapping[int, bool] = {
        at + step: True for at, run in enumerate(_runs(terms)) if run in own for step in range(_RUN)
    }
    return with_english(term for at, term in enumerate(terms) if at not in repeated)

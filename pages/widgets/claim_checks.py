"""What the checks found of one claim, laid out as short lines: what contradicts it comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.records import Check, Claim, ClaimVerdict, FactPlace, Judged, Outcome, Span
from pages.widgets.offsets import Offsets

Json = Mapping[str, object]

MARKS = {Outcome.CONTRADICTS: "✕", Outcome.SUPPORTS: "✓"}
# Where these checks name no place they searched a record whole; the others mean what a call was asked.
SEARCHED_WHOLE = frozenset({"absence", "name"})


def check_lines(
    verdict: ClaimVerdict, names: Mapping[str, str], offsets: Mapping[str, Offsets]
) -> list[Json]:
    """A line for each check that says something; places are in the browser's count of characters."""
    return [_line(check, names, offsets) for check in _told(verdict)]


def not_found(verdict: ClaimVerdict) -> Json:
    """What no check found, in the claim's words, and what is there but settles nothing.

    ``elsewhere`` stands in the source's text all the same: of something else than the claim says.
    """
    settled = [check.claim_span for check in _told(verdict) if check.claim_span]
    silent = [
        check
        for check in _checks(verdict)
        if check.outcome is Outcome.SILENT
        and check.claim_span
        and not any(check.claim_span.overlaps(span) for span in settled)
    ]
    missed = [check for check in silent if not check.facts]
    there = [check for check in missed if _stands_in_text(verdict, check)]
    return {
        "words": _once(_words(check, verdict.claim) for check in missed if check not in there),
        "elsewhere": _once(_words(check, verdict.claim) for check in there),
        "open": _once(_sentence(check.reason) for check in silent if check.facts),
    }


def found_by_a_check(verdict: ClaimVerdict, value: Span) -> bool:
    """Whether the record has a value of the claim in another notation, rounded or derived."""
    outcomes = {
        check.outcome
        for check in _checks(verdict)
        if check.claim_span is not None and check.claim_span.overlaps(value)
    }
    return Outcome.SUPPORTS in outcomes and Outcome.CONTRADICTS not in outcomes


def said_of_something_else(verdict: ClaimVerdict, value: Span) -> bool:
    """Whether a check looked for a value of the claim as the claim means it, and did not find it so."""
    outcomes = {
        check.outcome
        for check in _checks(verdict)
        if check.claim_span is not None
        and check.claim_span.overlaps(value)
        and not (check.outcome is Outcome.SILENT and check.facts)
    }
    return bool(outcomes) and (Outcome.CONTRADICTS in outcomes or Outcome.SUPPORTS not in outcomes)


def value_places(verdict: ClaimVerdict, value: Span, source_id: str) -> list[Span]:
    """Where in one source the checks that support a value of the claim found it."""
    return [
        place.span
        for check in _checks(verdict)
        if check.outcome is Outcome.SUPPORTS
        and check.claim_span is not None
        and check.claim_span.overlaps(value)
        for place in check.facts
        if place.source_id == source_id and place.span is not None
    ]


def told_facts(verdict: ClaimVerdict, source_id: str) -> Iterator[tuple[Span, Check]]:
    """Where the claim's lines stand in one source's text, each with the check that tells it."""
    for check in _told(verdict):
        for place in check.facts:
            if place.source_id == source_id and place.span is not None:
                yield place.span, check


def _checks(verdict: ClaimVerdict) -> Sequence[Check]:
    return verdict.outcome.checks if isinstance(verdict.outcome, Judged) else ()


def _stands_in_text(verdict: ClaimVerdict, check: Check) -> bool:
    """Whether a value that a check did not find stands in the source all the same."""
    return (
        isinstance(verdict.outcome, Judged)
        and check.claim_span is not None
        and any(
            checked.present and checked.value.span.overlaps(check.claim_span)
            for checked in verdict.outcome.literals.values
        )
    )


def _told(verdict: ClaimVerdict) -> list[Check]:
    """The checks that say something, each fact once, in the claim's order within an outcome."""
    kept: dict[tuple[Outcome, str], Check] = {}
    for check in _checks(verdict):
        if check.outcome is not Outcome.SILENT:
            kept.setdefault((check.outcome, _key(_text(check))), check)
    order = list(MARKS)
    end = len(verdict.claim.text)
    return sorted(
        kept.values(),
        key=lambda check: (
            order.index(check.outcome),
            check.claim_span.start if check.claim_span else end,
        ),
    )


def _line(check: Check, names: Mapping[str, str], offsets: Mapping[str, Offsets]) -> Json:
    sources = list(dict.fromkeys(place.source_id for place in check.facts))
    return {
        "outcome": check.outcome.value,
        "mark": MARKS[check.outcome],
        "text": _sentence(_text(check)),
        "sources": sources,
        "called": [names.get(source_id, source_id) for source_id in sources],
        "places": [
            _place(place, place.span, offsets[place.source_id])
            for place in check.facts
            if place.span is not None and place.source_id in offsets
        ],
        "asked": check.check not in SEARCHED_WHOLE
        and any(place.span is None for place in check.facts),
    }


def _place(place: FactPlace, span: Span, offsets: Offsets) -> Json:
    return {
        "source": place.source_id,
        "start": offsets.of_point(span.start),
        "end": offsets.of_point(span.end),
    }


def _text(check: Check) -> str:
    text = check.derivation.text if check.derivation else check.reason
    stated, _, meant = text.rpartition(" gives ")
    # "Weight: 71.4 kg gives 71.4 kg": what stands there as the claim has it is told once.
    return stated if f" {meant} " in f"{stated} " else text


def _words(check: Check, claim: Claim) -> str:
    return check.claim_span.cut(claim.text) if check.claim_span else ""


def _sentence(text: str) -> str:
    words = " ".join(text.split()).rstrip(".")
    # A field's own name ("onsetDateTime") stays as the record writes it.
    return words[:1].upper() + words[1:] if words.partition(" ")[0].islower() else words


def _key(text: str) -> str:
    return _sentence(text).casefold()


def _once(texts: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))

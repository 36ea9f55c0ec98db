"""Stage 4: one claim judged against one quote, and nothing else (001).

A judge gets two texts. Neither the question, nor other claims, nor how the claim came about can
reach it: there is no argument for them.
"""

from __future__ import annotations

import re

from core.citations.claim_records import (
    Answered,
    Confidence,
    Depth,
    FiveWay,
    IsolatedVerdict,
    Judge,
)
from core.citations.normal import norm_v1
from core.citations.numeric import numeric_questions, verify_numbers
from core.text.tokens import content_terms, overlap

SAYS, DENIES = 0.5, 0.5  # probabilities from which a reading counts
SAME_TOPIC = 0.25  # share of a claim's content terms from which a quote is about its topic
_PARTS = re.compile(r"(?:,|;)?\s+(?:and|but|while|whereas)\s+|;\s+|,\s+(?=(?:which|who|with)\b)")
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:[ \t]+[A-Z][\w'’.-]*)+|(?<=[a-z,] )[A-Z][\w'’-]{2,}")


def verify_isolated(
    claim: str,
    quote: str | None,
    judge: Judge,
    *,
    confidence: Confidence = Confidence.LOW,
    numeric: bool = True,
    nei: bool = True,
    abstain: bool = True,
) -> IsolatedVerdict:
    """The five-way verdict, by as deep a look as the confidence asks for.

    Without ``nei`` or ``abstain`` a claim that the evidence is not about is unsupported.
    """
    depth = {
        Confidence.HIGH: Depth.QUICK,
        Confidence.MEDIUM: Depth.STANDARD,
        Confidence.LOW: Depth.CHAIN,
    }[confidence]
    if quote is None or not quote.strip():
        found = IsolatedVerdict(verdict=FiveWay.NEI, depth=depth, reason="nothing is cited")
    else:
        found = _verified(claim, quote, judge, depth, numeric)
    if found.verdict is FiveWay.NEI and not (nei and abstain):
        return IsolatedVerdict(
            verdict=FiveWay.UNSUPPORTED,
            depth=found.depth,
            reason=f"{found.reason} (a verdict is required)",
            answers=found.answers,
            numeric=found.numeric,
        )
    return found


def _verified(claim: str, quote: str, judge: Judge, depth: Depth, numeric: bool) -> IsolatedVerdict:
    findings = verify_numbers(claim, quote) if numeric else ()
    answers = questions(claim, quote) if depth is Depth.CHAIN else ()

    def verdict(found: FiveWay, reason: str) -> IsolatedVerdict:
        return IsolatedVerdict(
            verdict=found, depth=depth, reason=reason, answers=answers, numeric=findings
        )

    about = overlap(content_terms(claim), content_terms(quote)) >= SAME_TOPIC
    wrong = [one for one in findings if one.verdict is FiveWay.CONTRADICTED]
    if wrong and about:
        return verdict(FiveWay.CONTRADICTED, wrong[0].reason)
    whole = judge(claim, quote)
    missing = [one for one in answers if not one.agrees]
    if whole.contradiction >= DENIES and whole.contradiction > whole.entailment:
        return verdict(FiveWay.CONTRADICTED, "the evidence says otherwise")
    if whole.entailment >= SAYS and not missing:
        return verdict(FiveWay.SUPPORTED, "the evidence says all of it")
    if whole.entailment >= SAYS:
        told = f"{missing[0].question} {missing[0].told}"
        return verdict(FiveWay.PARTIAL, f"the evidence says it but for one thing: {told}")
    if depth is not Depth.QUICK:
        said = [part for part in parts_of(claim) if judge(part, quote).entailment >= SAYS]
        if said:
            return verdict(FiveWay.PARTIAL, f"the evidence says only {'; '.join(said)!r}")
    if about:
        return verdict(FiveWay.UNSUPPORTED, "the evidence is about it and does not say it")
    return verdict(FiveWay.NEI, "the evidence is about something else")


def parts_of(claim: str) -> tuple[str, ...]:
    """The parts of a compound claim, each with the subject of the first; a simple claim has none."""
    pieces = [piece.strip(" .,;") for piece in _PARTS.split(claim)]
    pieces = [piece for piece in pieces if len(piece.split()) > 1]
    if len(pieces) < 2:
        return ()
    verb = re.search(r"\s(?:was|were|is|are|has|have|had|did|does|\w+(?:ed|es))\s", pieces[0])
    subject = pieces[0][: verb.start()] if verb else ""
    return (
        pieces[0],
        *(one if one[:1].isupper() or not subject else f"{subject} {one}" for one in pieces[1:]),
    )


def questions(claim: str, quote: str) -> tuple[Answered, ...]:
    """What the claim asserts, asked of the quote alone: its amounts and the names that it gives."""
    plain = norm_v1(quote)
    names = dict.fromkeys(match.group().rstrip(".") for match in _NAME.finditer(claim))
    asked = [
        Answered(
            question=f"Is {name} named?",
            expected=name,
            answer=name if norm_v1(name) in plain else None,
            agrees=norm_v1(name) in plain,
        )
        for name in names
    ]
    return (*asked, *numeric_questions(claim, quote))

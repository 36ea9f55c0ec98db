"""The table of causes: every text that a verdict gives as its reason stands here once (III.6, III.7).

A cause is one thing that can be said of a claim or an answer; its entry is the sentence, with named
gaps. Nothing decides here: the stages and the attribution choose a cause, and ``say`` fills its gaps.
What checks, citations and stages found in their own words fills a gap and is not repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Cause(StrEnum):
    """What a reason is about; the comment groups say who speaks."""

    # the gate, of a claim that is blocked
    NOT_JUDGED = "not judged"
    WRONG_RECORD = "wrong record"
    VALUE_NOWHERE = "value nowhere"
    VALUE_OTHERWISE = "value otherwise"
    WORDS_NOT_GROUNDED = "words not grounded"
    CITATION_TO_NOTHING = "citation to nothing"
    CITATION_SAYS_OTHERWISE = "citation says otherwise"
    PERSON = "needs a person"
    PERSON_OTHERWISE = "needs a person, may say otherwise"
    READ_OTHERWISE = "read as saying otherwise"
    NOT_CONFIRMED = "not confirmed"
    DISPUTED = "disputed"
    VALUE_OPEN = "value open"
    STATED_OTHERWISE = "stated otherwise"
    ADDRESSED_TO_MODEL = "addressed to a model"
    READ_AS_SAYING_IT = "read as saying it"
    SUPPORT_TOO_LOW = "support too low"
    HOW_OFTEN_CONTRADICTED = "how often contradicted"
    JUDGE_CONTRADICTS = "a judge proves otherwise"
    JUDGE_DISPUTED = "a judge against a check"
    JUDGE_CREDITS_ELSEWHERE = "a judge credits elsewhere"
    JUDGE_DOUBTED = "a judge that is wrong too often here"
    JUDGE_OPEN = "a judge reads otherwise, unproved"
    JUDGE_UNPROVED = "a judge's verdict unproved"
    NOT_READ = "not read by the judge"
    # the gate, of a claim that passes
    JUDGE_SUPPORTS = "a judge proves it"
    SUPPORTED = "supported"
    HOW_OFTEN_SHOWN = "how often supported when shown"
    SUPPORTED_AS_CREDITED = "supported as credited"
    NOT_WRITTEN_AS_SUCH = "not written as such"
    NOT_RESOLVABLE = "not resolvable"
    PASSES_TOGETHER = "passes with its answer"
    # the gate, of an answer
    NO_ANSWER = "no answer"
    NO_OUTPUTS = "no outputs"
    OUTPUTS_NOT_CAPTURED = "outputs not captured"
    NO_FACTUAL_CLAIM = "no factual claim"
    ONE_CLAIM_SUPPORTED = "one claim supported"
    ALL_CLAIMS_SUPPORTED = "all claims supported"
    PASSES_AS_A_WHOLE = "passes as a whole"
    MARKED = "marked as not confirmed"
    # the attribution
    CREDIT_OF_NO_KIND = "credit of no kind"
    CREDITED_WHERE_CHECKED = "credited where checked"
    CREDIT_NOT_COMPARABLE = "credit not comparable"
    CREDITED_SOURCE_TOO = "credited source too"
    CREDITED_ELSEWHERE = "credited elsewhere"
    PROBABLY_ELSEWHERE = "probably elsewhere"
    KIND_NOT_KNOWN = "kind not known"
    ONLY_NAMED = "only named"
    NO_CREDIT = "no credit"
    BELONGS_WHERE_FOUND = "belongs where found"
    BELONGS_ELSEWHERE = "belongs elsewhere"
    MAY_BELONG_TO_EITHER = "may belong to either"


SENTENCES: Mapping[Cause, str] = {
    Cause.JUDGE_CONTRADICTS: "Contradicted by {source}, as {judge} reads it, with its proof checked: {why}",
    Cause.JUDGE_DISPUTED: (
        "Needs a person: {judge} reads {source} as saying this, with its proof checked, and a check speaks "
        "against it. {check}"
    ),
    Cause.JUDGE_CREDITS_ELSEWHERE: (
        "Needs a person: probably the wrong source; {judge} finds this in {source}, and not where the "
        "answer says it is from."
    ),
    Cause.JUDGE_DOUBTED: (
        "Needs a person: {judge} calls it {verdict}, with its proof checked, and by what people found here "
        "such a reading is right with {right} %."
    ),
    Cause.JUDGE_OPEN: "Needs a person: {judge} reads it as contradicted, and does not prove it: {failed}.",
    Cause.JUDGE_UNPROVED: "{judge} calls it {verdict}; that counts for nothing, since {failed}.",
    Cause.NOT_READ: "Not read by the judge: {why}.",
    Cause.JUDGE_SUPPORTS: "Supported by {source}, as {judge} reads it, with its proof checked.",
    Cause.NOT_JUDGED: "Not judged: {why}.",
    Cause.WRONG_RECORD: "Wrong record: {source} holds nothing about {who}.",
    Cause.VALUE_NOWHERE: "“{value}” was not found in {source}.",
    Cause.VALUE_OTHERWISE: (
        "“{value}” was not found in {source}; the nearest there is “{nearest}”."
    ),
    Cause.WORDS_NOT_GROUNDED: "Too little of the statement is grounded in {source}: {words}.",
    Cause.CITATION_TO_NOTHING: "{cited} leads to nothing: {why}.",
    Cause.CITATION_SAYS_OTHERWISE: "{cited} says something else: {why}.",
    Cause.PERSON: "Needs a person: {source} may say this, but that is not sure enough ({numbers}).",
    Cause.PERSON_OTHERWISE: (
        "Needs a person: {source} may say this or otherwise, and neither is sure enough ({numbers})."
    ),
    Cause.READ_OTHERWISE: (
        "Not confirmed: the model reads {source} as saying otherwise ({numbers})."
    ),
    Cause.NOT_CONFIRMED: "Not confirmed; the closest is {source} ({numbers}).",
    Cause.DISPUTED: (
        "Needs a person: {source} reads as if it said this, and a check speaks against it (support "
        "{support}). {check}"
    ),
    Cause.ADDRESSED_TO_MODEL: (
        "Needs a person: what supports this in {source} stands beside words that tell a model what to say: "
        "“{words}”"
    ),
    Cause.VALUE_OPEN: (
        "Needs a person: {values} was not found in any source or call, nor worked out from them."
    ),
    Cause.STATED_OTHERWISE: "Needs a person: {why}.",
    Cause.READ_AS_SAYING_IT: (
        "Not confirmed: the model reads {source} as saying this, but that is not sure enough ({numbers})."
    ),
    Cause.SUPPORT_TOO_LOW: "{numbers}.",
    Cause.HOW_OFTEN_CONTRADICTED: (
        "Contradicted with probability {chance} (95 % interval {low} to {high}): of {claims} claims of "
        "{answers} answers that were told against like this, {contradicted} are labelled contradicted."
    ),
    Cause.HOW_OFTEN_SHOWN: (
        "It stands there whole: of {claims} claims of {answers} answers that were shown like this, "
        "{supported} are labelled supported by that very source."
    ),
    Cause.SUPPORTED: "Supported by {source}.",
    Cause.SUPPORTED_AS_CREDITED: "Supported by {source}, the source that the answer credits.",
    Cause.NOT_WRITTEN_AS_SUCH: "Not written there as such: {values}.",
    Cause.NOT_RESOLVABLE: "Not resolvable here, and not checked: {cited}.",
    Cause.PASSES_TOGETHER: (
        "By itself it would not pass (support {support}); it passes with its answer, whose weakest claims "
        "together have {weakest}, where {asked} is asked."
    ),
    Cause.NO_ANSWER: "The trace holds no answer to check.",
    Cause.NO_OUTPUTS: "The trace holds no tool outputs: there is nothing to check against.",
    Cause.OUTPUTS_NOT_CAPTURED: (
        "The tools were called, but their outputs were not captured: there is nothing to check "
        "against."
    ),
    Cause.NO_FACTUAL_CLAIM: "The answer makes no factual claim that could be checked.",
    Cause.ONE_CLAIM_SUPPORTED: "The one factual claim is supported by the source it belongs to.",
    Cause.ALL_CLAIMS_SUPPORTED: (
        "All {count} factual claims are supported by the source they belong to."
    ),
    Cause.MARKED: "{count} stretches of it are marked as not confirmed.",
    Cause.PASSES_AS_A_WHOLE: (
        "{alone} of {count} factual claims pass by themselves, the others with the answer as a whole: its "
        "weakest claims together have {weakest}, where {asked} is asked. Of {bad} labelled answers with "
        "wrong claims {passed} come as far; a single wrong claim hides more easily."
    ),
    Cause.CREDIT_OF_NO_KIND: 'The answer credits "{text}", which names no one kind of source.',
    Cause.CREDITED_WHERE_CHECKED: (
        "The answer credits {credited}, and the statement was checked against {where}."
    ),
    Cause.CREDIT_NOT_COMPARABLE: (
        "The answer credits {credited}; no other source has clearly better evidence for it."
    ),
    Cause.CREDITED_SOURCE_TOO: (
        "The answer credits {credited}, and {also} supports the statement as {where} does."
    ),
    Cause.CREDITED_ELSEWHERE: "The answer credits {credited}; the evidence for it is in {where}.",
    Cause.PROBABLY_ELSEWHERE: (
        "Needs a person: probably the wrong source; the answer credits {credited}, and what there is for "
        "it is in {where}."
    ),
    Cause.KIND_NOT_KNOWN: (
        "The answer credits {credited}; what kind of source {tool} is, is not known."
    ),
    Cause.ONLY_NAMED: (
        "The statement speaks of what may be {named}; the evidence for it is in {where}."
    ),
    Cause.NO_CREDIT: "The answer names no source for it, and none is implied.",
    Cause.BELONGS_WHERE_FOUND: (
        "The answer names no source; {about}, it belongs to {credited}: {where}."
    ),
    Cause.BELONGS_ELSEWHERE: (
        "Needs a person: the statement is about this patient and would belong to {credited}; the evidence "
        "for it is in {where}."
    ),
    Cause.MAY_BELONG_TO_EITHER: (
        "The answer names no source; {about}, it may come from {credited} or from {where}."
    ),
}


def say(cause: Cause, **gaps: object) -> str:
    """The sentence of a cause with its gaps filled; a sentence never begins in lower case.

    Raises KeyError for a gap that was not given. What fills a gap is never read as a template.
    """
    sentence = SENTENCES[cause].format(**gaps)
    if SENTENCES[cause].startswith(("{source}", "{numbers}")):
        return sentence[:1].upper() + sentence[1:]
    return sentence


def below(probability: float, threshold: float, kind: str | None = None) -> str:
    """ "support 0.53, below the threshold 0.64": in as many decimals as tell the two apart.

    ``kind`` is the kind of source whose own threshold it is, where it is not for all.
    """
    lower, higher = told_apart(probability, threshold)
    of_kind = f" for {kind.replace('_', ' ')}" if kind else ""
    return f"support {lower}, below the threshold {higher}{of_kind}"


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers in two decimals, or in as many more as it takes: never "0.72 < 0.72"."""
    for digits in (2, 4, 6, 9, 12, 17):
        words = f"{one:.{digits}f}", f"{other:.{digits}f}"
        if words[0] != words[1] or one == other:
            break
    return words

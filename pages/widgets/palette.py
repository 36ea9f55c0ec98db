"""The one visual language: what each verdict is called and marked; colours are in the theme.

Never colour alone: each kind has a mark, words and its own underline.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.attribution.families import OTHER
from core.records import (
    AttributionStatus,
    ClaimType,
    ClaimVerdict,
    Decision,
    Judged,
    State,
    VerdictLabel,
    state_of,
)
from core.review.records import Judgement, Unfit
from storage.records import Overview, TraceRow, VerdictCounts


class Kind(StrEnum):
    """How a claim is shown; the views style it by this name."""

    SUPPORTED = "supported"
    CONFLATION = "conflation"
    CONTRADICTED = "contradicted"
    PERSON = "person"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The mark and the words of one kind; ``short`` where there is little room."""

    mark: str
    word: str
    short: str = ""


# Most serious first: the order of counts, and of the claim that a page opens with.
LOOKS: dict[Kind, Look] = {
    Kind.CONTRADICTED: Look(mark="✕", word="contradicted"),
    Kind.CONFLATION: Look(mark="⇄", word="wrong source credited"),
    Kind.PERSON: Look(mark="◐", word="needs a person"),
    Kind.SUPPORTED: Look(mark="✓", word="supported"),
    Kind.ASIDE: Look(mark="–", word="no claim"),
}

# The three states of an answer, and what has none of them.
DECISIONS: dict[str, Look] = {
    "block": Look(mark="✕", word="Blocked", short="Blocked"),
    "needs_review": Look(mark="◐", word="Needs review", short="Review"),
    "allow": Look(mark="✓", word="Allowed", short="Allowed"),
    "unavailable": Look(mark="⊘", word="Unavailable", short="Unavailable"),
    "pending": Look(mark="…", word="Not verified yet", short="Waiting"),
}

# What keeps a source from being evidence: in few words, and in a sentence.
STATUS_WORDS = {
    "ok": ("", ""),
    "truncated": ("cut short", "cut short when it was captured"),
    "error": ("call failed", "the call failed: not evidence"),
    "empty": ("empty", "came back empty: not evidence"),
    "not_captured": ("not captured", "not captured: not evidence"),
    "echo": ("own words", "repeats what the agent passed to tools: not evidence"),
}


def claim_counts(counts: VerdictCounts) -> dict[Kind, int]:
    """A trace's factual claims by how the verdict page shows them."""
    factual = sum(counts.by_verdict.values())
    contradicted = counts.by_verdict[VerdictLabel.CONTRADICTED]
    return {
        Kind.CONTRADICTED: contradicted,
        Kind.CONFLATION: counts.conflations,
        # What does not pass and is not shown to be wrong.
        Kind.PERSON: max(0, counts.blocked - contradicted - counts.conflations),
        Kind.SUPPORTED: factual - counts.blocked,
    }


def as_the_verifier_said(count: int, alone: int) -> str:
    """What stands beside a count of claims with people's labels in it, where the verifier's is another."""
    return "" if count == alone else f" ({alone:,} as the verifier said)"


def claim_kind(verdict: ClaimVerdict) -> Kind:
    """How a claim is shown: by its state, and what is shown to be wrong by how it is."""
    if verdict.claim.claim_type is not ClaimType.FACTUAL:
        return Kind.ASIDE
    state = state_of(verdict)
    if state is State.ALLOW:
        return Kind.SUPPORTED
    if state is State.NEEDS_REVIEW:
        return Kind.PERSON
    judged = verdict.outcome if isinstance(verdict.outcome, Judged) else None
    credited = judged and judged.attribution.status is AttributionStatus.CONFLATION
    shown = verdict.verdict is VerdictLabel.CONTRADICTED and not credited
    return Kind.CONTRADICTED if shown else Kind.CONFLATION


def found_by_people(final: Judgement) -> tuple[Kind, Look]:
    """How a claim is shown that people settled: in the colours of block only what they found wrong."""
    if isinstance(final.support, Unfit):
        return Kind.ASIDE, Look(mark="–", word="no claim")
    if final.support is VerdictLabel.CONTRADICTED:
        return Kind.CONTRADICTED, LOOKS[Kind.CONTRADICTED]
    if final.support is VerdictLabel.NOT_ENOUGH_EVIDENCE:
        return Kind.PERSON, Look(mark="?", word="not enough evidence")
    if final.support is not VerdictLabel.SUPPORTED:
        return Kind.PERSON, Look(mark="?", word="not supported")
    if final.conflation:
        return Kind.CONFLATION, Look(mark="⇄", word="credited wrongly")
    return Kind.SUPPORTED, LOOKS[Kind.SUPPORTED]


def answer_counts(overview: Overview) -> list[str]:
    """The verified answers by state, as words: "3 blocked", "21 to review"."""
    return [
        f"{count:,} {'to review' if name == State.NEEDS_REVIEW else look.word.lower()}"
        for name, look in DECISIONS.items()
        if (count := overview.count(name))
    ]


def shown_state(decision: Decision, state: State) -> str:
    """The key of ``DECISIONS`` for an answer: its state, where it could be verified."""
    return decision.value if decision is Decision.UNAVAILABLE else state.value


def look_of(row: TraceRow) -> tuple[str, Look]:
    """An answer's state in a list and its look; a verdict that is hidden from who looks is "unread"."""
    if row.decision and row.state:
        kind = shown_state(row.decision, row.state)
    elif row.withheld:
        return "unread", Look(mark="◌", word="Read it first")
    else:
        kind = "pending"
    return kind, DECISIONS[kind]


def family_words(family: str | None) -> str:
    """A source family in plain words: ``patient_record`` is "patient record"; of no family, nothing."""
    return "" if family is None or family == OTHER else family.replace("_", " ")

"""block: a verification as lines for a person, what is wrong first."""

from __future__ import annotations

import textwrap

from core.records import State
from provenanceguard.results import Claim, Verification

WIDTH = 108
LEGEND = (
    "✗ wrong, ⇄ wrong source credited, ? not confirmed, ✓ supported; the number is the probability that a "
    "source supports the claim"
)
_ORDER = (State.BLOCK, State.NEEDS_REVIEW, State.ALLOW)
_WORDS = {State.BLOCK: "BLOCK", State.NEEDS_REVIEW: "NEEDS REVIEW", State.ALLOW: "ALLOW"}
_INDENT = " " * 9


def block(found: Verification) -> list[str]:
    """The answer's state, then claim after claim with mark, support and reasons.

    Marks: ✗ shown to be wrong, ⇄ credited to the wrong source, ? not confirmed, ✓ supported, – asserts
    nothing. Names and texts come from outside: their control characters are replaced.
    """
    # An answer without an id of its own goes by its digest, which tells a person nothing.
    name = "" if found.trace_id.startswith("sha256:") else f"{found.trace_id}: "
    lines = [f"{name}{_WORDS[found.state]}{_summary(found)}", ""]
    for claim in sorted(found.claims, key=_weight):
        lines += _claim(claim)
    if not found.claims:
        lines += textwrap.wrap(" ".join(found.reasons), WIDTH)
    return ["".join(c if c.isprintable() else "�" for c in line) for line in lines]


def _weight(claim: Claim) -> tuple[int, bool]:
    return _ORDER.index(claim.state), claim.verdict is None


def _summary(found: Verification) -> str:
    factual = [claim for claim in found.claims if claim.verdict is not None]
    if not factual:
        return ""
    counts = {state: sum(claim.state is state for claim in factual) for state in _ORDER}
    told = [(counts[State.BLOCK], "wrong"), (counts[State.NEEDS_REVIEW], "to review")]
    parts = [f"{count} {word}" for count, word in told if count]
    return f", of {len(factual)} claims {' and '.join(parts) or 'none stopped'}"


def _claim(claim: Claim) -> list[str]:
    support = "    " if claim.support is None else f"{claim.support:.2f}"
    text = textwrap.wrap(claim.text, WIDTH - len(_INDENT)) or [""]
    reasons = [
        line for reason in claim.reasons for line in textwrap.wrap(reason, WIDTH - len(_INDENT))
    ]
    first = f"{_mark(claim)}  {support}  {text[0]}"
    return [first, *(_INDENT + line for line in [*text[1:], *reasons])]


def _mark(claim: Claim) -> str:
    if claim.verdict is None:
        return "–"
    if claim.attribution == "conflation" and claim.state is State.BLOCK:
        return "⇄"
    return {State.BLOCK: "✗", State.NEEDS_REVIEW: "?", State.ALLOW: "✓"}[claim.state]

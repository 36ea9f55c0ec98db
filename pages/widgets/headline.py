"""The one line above a claim: what was decided of it, agreeing with the figures beside it.

Relation, headline and figures come from the same verdict by one rule: a headline says that a claim is
supported or true only where its verdict does and its support reaches the threshold. Where the support
is too low, the kind of source that was credited may still look wrong; then the headline says what
is closer, and not that it is true there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.causes import below
from core.records import AttributionStatus, ClaimVerdict, Judged, VerdictLabel
from core.records.judge import Proved
from pages.widgets.citation_chips import cited_wrongly
from pages.widgets.palette import LOOKS, Kind, family_words


def headline(verdict: ClaimVerdict, kind: Kind, names: Mapping[str, str]) -> str:
    """The line of a claim that is shown as ``kind``; ``names`` are what sources are called."""
    if kind in (Kind.ASIDE, Kind.PERSON):
        word = LOOKS[kind].word
        return word[:1].upper() + word[1:]
    if not isinstance(verdict.outcome, Judged):
        return cited_wrongly(verdict) or "Not judged"
    source = _called(verdict.outcome, names)
    if is_shown_supported(verdict):
        return _supported(verdict, kind, source, names)
    if kind is Kind.CONFLATION:
        return _credited_wrongly(verdict, source, names)
    return f"{source} says otherwise" if kind is Kind.CONTRADICTED else "Passes with its answer"


def plain_reason(reason: str, outcome: object, names: Mapping[str, str]) -> str:
    """A reason with its source as it is called, without its figures and what kind of source it is."""
    if not isinstance(outcome, Judged):
        return reason
    support = outcome.support
    numbers = below(support.probability, support.threshold, support.threshold_kind)
    if reason.casefold() == f"{numbers}.".casefold():
        return "it may not say all of this"
    # What kind of source it is stands in the list of sources.
    kind = family_words(outcome.route.family)
    for aside in (numbers, f"support {support.probability:.2f}", kind):
        reason = reason.replace(f" ({aside})", "")
    tool = outcome.route.tool_name
    name = names.get(outcome.route.source_id, tool)
    # "get_labs #2" is a name already, of this call or of another.
    return re.sub(rf"{re.escape(tool)}(?! #\d)", lambda _: name, reason, count=1)


def is_shown_supported(verdict: ClaimVerdict) -> bool:
    """Whether a claim may be called supported: its verdict says so and its support is enough."""
    outcome = verdict.outcome
    return (
        isinstance(outcome, Judged)
        and verdict.verdict is VerdictLabel.SUPPORTED
        and outcome.support.supported
    )


def tells_the_credit(verdict: ClaimVerdict, kind: Kind) -> bool:
    """Whether the line says itself which source is credited, and which one it should be."""
    outcome = verdict.outcome
    return (
        kind is Kind.CONFLATION
        and isinstance(outcome, Judged)
        and outcome.attribution.status is AttributionStatus.CONFLATION
        and verdict.claim.stated is not None
        and not (is_shown_supported(verdict) and cited_wrongly(verdict))
    )


def credited_words(verdict: ClaimVerdict, names: Mapping[str, str]) -> str:
    """What the answer credits, as people call it."""
    stated = verdict.claim.stated
    if stated and stated.source_id:
        return names.get(stated.source_id, stated.source_id)
    outcome = verdict.outcome
    family = outcome.attribution.stated_family if isinstance(outcome, Judged) else None
    if family is None and stated is not None:
        family = stated.family
    return f"the {family_words(family) or 'stated source'}"


def _supported(verdict: ClaimVerdict, kind: Kind, source: str, names: Mapping[str, str]) -> str:
    if kind is Kind.SUPPORTED:
        return f"Supported by {source}"
    if wrong := cited_wrongly(verdict):
        return wrong
    if kind is Kind.CONFLATION:
        return f"True, but not in {credited_words(verdict, names)}: it is in {source}"
    return f"{source} says otherwise"


def _credited_wrongly(verdict: ClaimVerdict, source: str, names: Mapping[str, str]) -> str:
    """Both the credit and the support speak against it, or a check does."""
    if verdict.verdict is VerdictLabel.CONTRADICTED:
        return f"{source} says otherwise, and the answer credits {credited_words(verdict, names)}"
    if verdict.outcome.attribution.status is not AttributionStatus.CONFLATION:  # type: ignore[union-attr]
        return cited_wrongly(verdict) or "Wrong source credited"
    return f"Credited to {credited_words(verdict, names)}, yet {source} is closer"


def _called(outcome: Judged, names: Mapping[str, str]) -> str:
    judge = outcome.judge
    proof = judge.proof if judge is not None else None
    # What a judge proved is proved by what it quotes, wherever the claim was routed to.
    source = proof.places[0].source_id if isinstance(proof, Proved) else outcome.route.source_id
    return names.get(source, source)

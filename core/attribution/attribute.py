"""III.6: does the answer credit the source that supports the claim, and is it a conflation?"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.attribution.cue_words import LEAD, VERB
from core.attribution.described_source import SPEAKS
from core.attribution.families import LITERATURE, OTHER, PATIENT_RECORD, Families, load_families
from core.causes import Cause, say
from core.records import Attribution, AttributionStatus, Claim, Route

_PLACE = re.compile(r"\s*(?:in|on|within)\b", re.IGNORECASE)
# Words that do nothing but credit: a lead, or a bracket. "23 ms per clip" is a rate.
_OUTRIGHT = re.compile(
    r"\W*(?:according to|as per|per (?:the|this|that|his|her|their|its|our|your|[\w.-]+['’]s))\b|"
    r"\(.*\)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_CREDITS = re.compile(rf"\b{VERB}\b", re.IGNORECASE)
_MATCH, _CONFLATION = AttributionStatus.MATCH, AttributionStatus.CONFLATION
_UNAVAILABLE = AttributionStatus.UNAVAILABLE
# Sources that say nothing about one patient. A tool of an unknown family might well be a chart.
_NEVER_A_RECORD = frozenset({"literature", "guideline", "registry", "formulary", "web"})


def attribute(
    claim: Claim,
    route: Route,
    *,
    families: Mapping[str, str],
    supporters: frozenset[str],
    lead: float,
    catalogue: Families | None = None,
) -> Attribution:
    """Compare the source that the answer states or implies with the one that supports the claim (III.6).

    A credit is wrong only where the credited source lacks what another holds: where the routed source's
    route score is ``lead`` log-odds above that of every source that may be meant, and none of these
    supports the claim. Unlike the paper, this does not wait for support: without it the wrong credit is
    probable, as it is with support and half the lead; only with both is it shown.

    ``families`` maps every source of the trace to its family; ``supporters`` are the sources that
    say the claim by their own calibrated support, the routed one among them or not.
    """
    known = catalogue or load_families()
    seen = _Seen(
        route=route,
        supported=route.source_id in supporters,
        families=families,
        supporters=supporters,
        known=known,
        lead=lead,
    )
    stated = claim.stated
    if stated is None:
        return _implied(claim, seen)
    family = families.get(stated.source_id or "", stated.family)
    if family is None:
        return seen.result(_UNAVAILABLE, None, Cause.CREDIT_OF_NO_KIND, text=stated.text)
    named = _article(known.label(family))
    if route.family == OTHER and _may_be_unknown(stated.text, family, families, known):
        told = {"credited": named, "tool": route.tool_name}
        return seen.result(_UNAVAILABLE, family, Cause.KIND_NOT_KNOWN, **told)
    if stated.source_id is None or stated.source_id not in families:
        kinds = {family} if family in families.values() else {family, OTHER}
        meant = [
            one
            for one in families
            if one in stated.also or any(seen.goes_with(kind, one) for kind in kinds)
        ]
        return seen.against(family, named, meant, only_named=_is_bare(stated.text, claim.text))
    meant = [one for one in (stated.source_id, *stated.also) if one in families]
    if family == OTHER or list(families.values()).count(family) > 1 or len(meant) > 1:
        named = " and ".join(meant)  # the only one of its kind needs no id
    only_named = _is_only_named(stated.text, meant, claim)
    return seen.against(family, named, meant, only_named=only_named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The source that a claim was checked against, and the others of its trace."""

    route: Route
    supported: bool
    families: Mapping[str, str]
    supporters: frozenset[str]
    known: Families
    lead: float

    def goes_with(self, family: str, source_id: str) -> bool:
        """Whether a source may be credited as of that family."""
        return self.known.compatible(family, self.families.get(source_id, OTHER))

    def outranks(self, meant: Sequence[str], lead: float | None = None) -> bool:
        """Whether the routed source is clearly better evidence than every one that may be meant; where
        there is none, its own support has to say so."""
        scores = {one.source_id: one.score for one in self.route.ranking}
        ahead = _odds(self.route.score)
        times = math.exp(self.lead if lead is None else lead)
        clearly = all(ahead >= times * _odds(scores.get(one, 0.0)) for one in meant)
        return clearly and (self.supported or bool(meant))

    def against(
        self, family: str, credited: str, meant: Sequence[str], *, only_named: bool
    ) -> Attribution:
        """What is said of a credit that means any of these sources; ``only_named`` where its words may
        only be about one."""
        told = {"credited": credited}
        if self.route.source_id in meant:
            return self.result(_MATCH, family, Cause.CREDITED_WHERE_CHECKED, **told)
        if supporting := [one for one in meant if one in self.supporters]:
            return self.result(
                _MATCH, family, Cause.CREDITED_SOURCE_TOO, also=supporting[0], **told
            )
        clearly = self.outranks(meant)
        if not clearly and not (self.supported and self.outranks(meant, self.lead / 2)):
            return self.result(_UNAVAILABLE, family, Cause.CREDIT_NOT_COMPARABLE, **told)
        if only_named:
            return self.result(_UNAVAILABLE, None, Cause.ONLY_NAMED, named=credited)
        shown = clearly and self.supported
        cause = Cause.CREDITED_ELSEWHERE if shown else Cause.PROBABLY_ELSEWHERE
        return replace(self.result(_CONFLATION, family, cause, **told), probable=not shown)

    def result(
        self, status: AttributionStatus, family: str | None, cause: Cause, **words: str
    ) -> Attribution:
        """What is said of a credit of that family."""
        where = f"{self.route.tool_name} ({self.known.label(self.route.family)})"
        return Attribution(
            status=status,
            stated_family=family,
            routed_family=self.route.family,
            reason=say(cause, where=where, **words),
        )


def _may_be_unknown(text: str, family: str, families: Mapping[str, str], known: Families) -> bool:
    """Whether a tool of no known kind may be what is credited: a kind of which the trace has no source, or
    the patient's chart, called so. Of 11 right credits by other authors that were accused 6 were of that
    kind, of 44 wrong ones that were told 1."""
    charted = family == PATIENT_RECORD and any(
        mention.family_id == family for mention in known.mentions(text)
    )
    return charted or family not in families.values()


def _is_bare(credit: str, text: str) -> bool:
    """Whether a kind of source only stands in the claim, without a word that credits it: "the day of
    her glucose test"."""
    credits = LEAD.match(credit) or _CREDITS.search(credit)
    return credit.casefold() in text.casefold() and not credits


def _is_only_named(credit: str, cited: Sequence[str], claim: Claim) -> bool:
    """Whether the words that describe a source are part of what the claim says.

    "According to the invoice A costs 5" and "(the invoice)" credit wherever they stand; "the six lines
    of the expense claim add up" is about the claim that a tool is called after. Of 14 such statements in
    the labelled answers and the MCP runs that would have been called conflations none was one, of the 14
    whose credit stands apart 11 were. "In the last week", "in the rows" set a scene as often as they
    credit: on 4,470 good claims by other authors such words accused 4, and no bad one. A tool's own
    name is a credit wherever it stands.
    """
    if _OUTRIGHT.match(credit) or any(one.split("#")[0] in credit for one in cited):
        return False
    apart = _PLACE.match(credit) is None and _stands_apart(credit, claim.text)
    return credit.casefold() in claim.text.casefold() and not apart


def _stands_apart(credit: str, text: str) -> bool:
    """Whether a credit in a claim is no part of what is said: in brackets, a label, at the end behind a
    comma, or the one who says it."""
    words = re.escape(credit)
    apart = (
        rf"[(\[]\W*{words}|\A\W*{words}\s*:|[,;\u2013\u2014-]\s*{words}[\s.]*\Z|"
        rf"\A\W*(?:(?!of\b)[\w.&’'-]+\s){{0,3}}{words}\s+{SPEAKS.pattern}\b(?!\sup\b)"
    )
    return (
        re.search(apart, text, re.IGNORECASE) is not None
        or re.search(rf"\b{SPEAKS.pattern}(?:\sit)?\Z", credit, re.IGNORECASE) is not None
    )


def _implied(claim: Claim, seen: _Seen) -> Attribution:
    """Defaults where the answer names no source; they apply only to families that the trace has."""
    family = PATIENT_RECORD if claim.patient_specific else LITERATURE
    told = {"credited": _article(seen.known.label(family))}
    told["about"] = "about this patient" if claim.patient_specific else "a general statement"
    meant = [one for one in seen.families if seen.goes_with(family, one)]
    if not meant:
        return seen.result(AttributionStatus.NONE, None, Cause.NO_CREDIT)
    if seen.route.source_id in meant:
        return seen.result(_MATCH, family, Cause.BELONGS_WHERE_FOUND, **told)
    # Unlike the paper, a default alone blocks nothing: what no source is credited with needs a person where
    # it is said of one patient and rests on a source that cannot know the patient. A general statement
    # without a stated source may come from any source, and an alarm would be false.
    told_of = claim.patient_specific and seen.route.family in _NEVER_A_RECORD and seen.supported
    if told_of and seen.outranks(meant) and seen.supporters.isdisjoint(meant):
        return replace(
            seen.result(_CONFLATION, family, Cause.BELONGS_ELSEWHERE, **told), probable=True
        )
    return seen.result(_UNAVAILABLE, None, Cause.MAY_BELONG_TO_EITHER, **told)


def _article(label: str) -> str:
    """ "the patient's chart", "published literature", "a clinical guideline" as they read best."""
    if label.endswith(("literature", "results")):
        return label
    return f"the {label}"


def _odds(score: float) -> float:
    """Of a route score, which is rounded to four digits."""
    inside = min(max(score, 0.00005), 0.99995)
    return inside / (1.0 - inside)

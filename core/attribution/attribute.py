"""III.6: does the answer credit the source that supports the claim, and is it a conflation?"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from core.attribution.cue_words import LEAD, VERB
from core.attribution.described_source import SPEAKS
from core.attribution.families import LITERATURE, OTHER, PATIENT_RECORD, Families, load_families
from core.causes import Cause, say
from core.records import Attribution, AttributionStatus, Claim, Route
from core.text.tokens import denies

# What a source lacks is no statement of that source alone: "No scan is on record, although it is due".
_LACKS = frozenset({"nothing", "missing", "lacks", "lacking"})  # beside the words that negate
_PLACE = re.compile(r"\s*(?:in|on|within)\b", re.IGNORECASE)
# Words that do nothing but credit: a lead, or a bracket. "23 ms per clip" is a rate.
_OUTRIGHT = re.compile(
    r"\W*(?:according to|as per|per (?:the|this|that|his|her|their|its|our|your|[\w.-]+['’]s))\b|"
    r"\(.*\)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_CREDITS = re.compile(rf"\b{VERB}\b", re.IGNORECASE)
# What is called so is whatever was looked at: of a family only where the trace has a source of it.
_WHATEVER = frozenset({"the data", "data"})
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
    catalogue: Families | None = None,
    lead: float = math.inf,
) -> Attribution:
    """Compare the source that the answer states or implies with the one that supports the claim (III.6).

    Unlike the paper, this does not wait for support: a source whose route score is ``lead`` log-odds above
    that of every credited one has the evidence, however little that is; the wrong credit is then probable.

    ``families`` maps every source of the trace to its family; ``supporters`` are the sources that
    say the claim by their own calibrated support, the routed one among them or not. A conflation
    needs positive support, and there is none when the stated source, or one of the stated family,
    supports the claim as well.
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
    if stated.source_id is not None and stated.source_id in families:
        cited = tuple(one for one in (stated.source_id, *stated.also) if one in families)
        only_named = _is_only_named(claim, cited, seen) and not _credits_another_kind(
            claim, families[cited[0]], [families[one] for one in supporters], known
        )
        return _against_source(cited, seen, only_named=only_named)
    if stated.family is None or _names_whatever(stated.text, stated.family, families, known):
        return seen.result(_UNAVAILABLE, None, Cause.CREDIT_OF_NO_KIND, text=stated.text)
    return _against_family(stated.family, stated.also, seen, only_named=_is_bare(claim))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The source that a claim was checked against, and the others of its trace."""

    route: Route
    supported: bool
    families: Mapping[str, str]
    supporters: frozenset[str]
    known: Families
    lead: float

    @property
    def where(self) -> str:
        """The routed source in words."""
        return f"{self.route.tool_name} ({self.known.label(self.route.family)})"

    def holds(self, family: str) -> bool:
        """Whether the trace has a source that may be credited as that family."""
        return any(self.known.compatible(family, other) for other in self.families.values())

    def outranks(self, cited: Collection[str]) -> bool:
        """Whether the routed source is clearly better evidence than every credited one."""
        scores = {one.source_id: one.score for one in self.route.ranking}
        ahead, times = _odds(self.route.score), math.exp(self.lead)
        return bool(cited) and all(ahead >= times * _odds(scores.get(one, 0.0)) for one in cited)

    def wrong(self, family: str, credited: str) -> Attribution:
        """A wrong credit: shown where the routed source supports the claim, else probable."""
        cause = Cause.CREDITED_ELSEWHERE if self.supported else Cause.PROBABLY_ELSEWHERE
        found = self.result(_CONFLATION, family, cause, credited=credited, where=self.where)
        return replace(found, probable=not self.supported)

    def result(
        self, status: AttributionStatus, family: str | None, cause: Cause, **words: str
    ) -> Attribution:
        """What is said of a credit of that family."""
        return Attribution(
            status=status,
            stated_family=family,
            routed_family=self.route.family,
            reason=say(cause, **words),
        )


def _names_whatever(text: str, family: str, families: Mapping[str, str], known: Families) -> bool:
    """Whether the words fit any source ("looking at the data") and no source is of their family."""
    plain = LEAD.sub("", text.casefold()).strip(" ,:")
    return plain in _WHATEVER and not any(
        known.compatible(family, other) for other in families.values()
    )


def _against_source(cited: Sequence[str], seen: _Seen, *, only_named: bool) -> Attribution:
    """One source is meant, or a few that are one work: two calls of one tool are two sources."""
    family, named = seen.families[cited[0]], " and ".join(cited)
    if family != OTHER and list(seen.families.values()).count(family) == len(cited) == 1:
        named = _article(seen.known.label(family))  # the only one of its kind needs no id
    if seen.route.source_id in cited:
        return seen.result(_MATCH, family, Cause.CREDITED_WHERE_CHECKED, credited=named)
    if not seen.supported and not seen.outranks(cited):
        return seen.result(_UNAVAILABLE, family, Cause.CREDIT_NOT_COMPARABLE, credited=named)
    if supporting := [one for one in cited if one in seen.supporters]:
        return seen.result(
            _MATCH, family, Cause.CREDITED_SOURCE_TOO, credited=supporting[0], where=seen.where
        )
    if only_named:
        return seen.result(_UNAVAILABLE, None, Cause.ONLY_NAMED, named=named, where=seen.where)
    return seen.wrong(family, named)


def _is_only_named(claim: Claim, cited: Sequence[str], seen: _Seen) -> bool:
    """Whether the words that describe a source are part of what the claim says.

    "According to the invoice A costs 5" and "(the invoice)" credit wherever they stand; "the six lines
    of the expense claim add up" is about the claim that a tool is called after. Of 14 such statements in
    the labelled answers and the MCP runs that would have been called conflations none was one, of the 14
    whose credit stands apart 11 were. "In the last week", "in the rows" set a scene as often as they
    credit: on 4,470 good claims by other authors such words accused 4, and no bad one. A tool's own
    name is a credit wherever it stands.
    """
    stated = claim.stated
    if stated is None or any(one.split("#")[0] in stated.text for one in cited):
        return False
    if _OUTRIGHT.match(stated.text):
        return False
    inside = stated.text.casefold() in claim.text.casefold()
    if _PLACE.match(stated.text) is not None:
        return inside or not seen.outranks(cited)
    if denies(claim.text, _LACKS):  # "Her labs show no recent LDL" rests on several sources
        return inside
    return inside and not (_stands_apart(stated.text, claim.text) and seen.outranks(cited))


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


def _credits_another_kind(
    claim: Claim, family: str, of_supporters: Sequence[str], known: Families
) -> bool:
    """Whether words that stay in the claim credit a kind of source, and no supporter is of that kind.

    "The chart says she takes iron" names a chart, whichever output it describes best; which of two
    charts it is, such words do not say.
    """
    stated = claim.stated
    if stated is None or family == OTHER or any(known.compatible(family, o) for o in of_supporters):
        return False
    named = {mention.family_id for mention in known.mentions(stated.text)}
    return any(known.compatible(family, one) for one in named) and not _is_bare(claim)


def _against_family(
    family: str, meant: Sequence[str], seen: _Seen, *, only_named: bool
) -> Attribution:
    """A family is meant; ``meant`` are sources of another that the same words may mean as well."""
    credited, route = _article(seen.known.label(family)), seen.route
    words = {"credited": credited, "where": seen.where}
    if seen.known.compatible(family, route.family) or route.source_id in meant:
        return seen.result(_MATCH, family, Cause.CREDITED_KIND_CHECKED, **words)
    of_family = [
        one
        for one, other in seen.families.items()
        if one in meant or seen.known.compatible(family, other)
    ]
    if not seen.supported and not seen.outranks(of_family):
        return seen.result(_UNAVAILABLE, family, Cause.CREDIT_NOT_COMPARABLE, credited=credited)
    also = sorted(seen.supporters.intersection(of_family))
    if also:
        return seen.result(_MATCH, family, Cause.CREDITED_KIND_TOO, also=also[0], **words)
    if route.family == OTHER and family not in seen.families.values():
        return seen.result(
            _UNAVAILABLE, family, Cause.KIND_NOT_KNOWN, credited=credited, tool=route.tool_name
        )
    if only_named:
        return seen.result(_UNAVAILABLE, None, Cause.ONLY_NAMED, named=credited, where=seen.where)
    return seen.wrong(family, credited)


def _is_bare(claim: Claim) -> bool:
    """Whether a kind of source only stands in the claim, without a word that credits it: "the day of
    her glucose test". What the claim denies ("the scan showed no lesion") may rest on several sources."""
    stated = claim.stated
    if stated is None or stated.text.casefold() not in claim.text.casefold():
        return False
    if LEAD.match(stated.text):
        return False
    return not _CREDITS.search(stated.text) or denies(claim.text, _LACKS)


def _implied(claim: Claim, seen: _Seen) -> Attribution:
    """Defaults where the answer names no source; they apply only to families that the trace has."""
    family = PATIENT_RECORD if claim.patient_specific else LITERATURE
    words = {"credited": _article(seen.known.label(family)), "where": seen.where}
    about = "about this patient" if claim.patient_specific else "a general statement"
    if not seen.holds(family):
        return seen.result(AttributionStatus.NONE, None, Cause.NO_CREDIT)
    if seen.known.compatible(family, seen.route.family):
        return seen.result(_MATCH, family, Cause.BELONGS_WHERE_FOUND, about=about, **words)
    elsewhere = any(
        seen.known.compatible(family, seen.families.get(one, OTHER)) for one in seen.supporters
    )
    # Unlike the paper, a default alone flags a conflation only for a statement about one patient
    # that rests on a source which cannot know the patient. A general statement without a stated
    # source may come from any source, and an alarm would be false.
    wrong = claim.patient_specific and seen.route.family in _NEVER_A_RECORD and seen.supported
    if wrong and not elsewhere and not denies(claim.text, _LACKS):
        return seen.result(_CONFLATION, family, Cause.BELONGS_ELSEWHERE, **words)
    return seen.result(_UNAVAILABLE, None, Cause.MAY_BELONG_TO_EITHER, about=about, **words)


def _article(label: str) -> str:
    """ "the patient's chart", "published literature", "a clinical guideline" as they read best."""
    if label.endswith(("literature", "results")):
        return label
    return f"the {label}"


def _odds(score: float) -> float:
    """Of a route score, which is rounded to four digits."""
    inside = min(max(score, 0.00005), 0.99995)
    return inside / (1.0 - inside)

"""III.6: does the answer credit the source that supports the claim, and is it a conflation?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.attribution.cue_words import LEAD, VERB
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
# Sources that say nothing about one patient. A tool of an unknown family might well be a chart.
_NEVER_A_RECORD = frozenset({"literature", "guideline", "registry", "formulary", "web"})


def attribute(
    claim: Claim,
    route: Route,
    *,
    families: Mapping[str, str],
    supporters: frozenset[str],
    catalogue: Families | None = None,
) -> Attribution:
    """Compare the source that the answer states or implies with the one that supports the claim (III.6).

    ``families`` maps every source of the trace to its family; ``supporters`` are the sources that
    say the claim by their own calibrated support, the routed one among them or not. A conflation
    needs positive support, and there is none when the stated source, or one of the stated family,
    supports the claim as well.
    """
    known = catalogue or load_families()
    supported = route.source_id in supporters
    stated = claim.stated
    if stated is None:
        return _implied(claim, route, supported, families, supporters, known)
    if stated.source_id is not None and stated.source_id in families:
        cited = tuple(one for one in (stated.source_id, *stated.also) if one in families)
        only_named = _is_only_named(claim, cited) and not _credits_another_kind(
            claim, families[cited[0]], [families[one] for one in supporters], known
        )
        return _against_source(
            cited, route, supported, families, supporters, known, only_named=only_named
        )
    if stated.family is None or _names_whatever(stated.text, stated.family, families, known):
        reason = say(Cause.CREDIT_OF_NO_KIND, text=stated.text)
        return _result(AttributionStatus.UNAVAILABLE, None, route, reason)
    return _against_family(
        stated.family,
        stated.also,
        route,
        supported,
        families,
        supporters,
        known,
        only_named=_is_bare(claim),
    )


def _names_whatever(text: str, family: str, families: Mapping[str, str], known: Families) -> bool:
    """Whether the words fit any source ("looking at the data") and no source is of their family."""
    plain = LEAD.sub("", text.casefold()).strip(" ,:")
    return plain in _WHATEVER and not any(
        known.compatible(family, other) for other in families.values()
    )


def _against_source(
    cited: Sequence[str],
    route: Route,
    supported: bool,
    families: Mapping[str, str],
    supporters: frozenset[str],
    known: Families,
    *,
    only_named: bool,
) -> Attribution:
    """One source is meant, or a few that are one work: two calls of one tool are two sources."""
    family, named = families[cited[0]], " and ".join(cited)
    if family != OTHER and list(families.values()).count(family) == len(cited) == 1:
        named = _article(known.label(family))  # the only one of its kind needs no id
    where = _where(route, known)
    if route.source_id in cited:
        reason = say(Cause.CREDITED_WHERE_CHECKED, credited=named)
        return _result(AttributionStatus.MATCH, family, route, reason)
    if not supported:
        reason = say(Cause.CREDIT_NOT_COMPARABLE, credited=named)
        return _result(AttributionStatus.UNAVAILABLE, family, route, reason)
    if supporting := [one for one in cited if one in supporters]:
        reason = say(Cause.CREDITED_SOURCE_TOO, credited=supporting[0], where=where)
        return _result(AttributionStatus.MATCH, family, route, reason)
    if only_named:
        reason = say(Cause.ONLY_NAMED, named=named, where=where)
        return _result(AttributionStatus.UNAVAILABLE, None, route, reason)
    reason = say(Cause.CREDITED_ELSEWHERE, credited=named, where=where)
    return _result(AttributionStatus.CONFLATION, family, route, reason)


def _is_only_named(claim: Claim, cited: Sequence[str]) -> bool:
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
    return _PLACE.match(stated.text) is not None or stated.text.casefold() in claim.text.casefold()


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
    family: str,
    meant: Sequence[str],
    route: Route,
    supported: bool,
    families: Mapping[str, str],
    supporters: frozenset[str],
    known: Families,
    *,
    only_named: bool,
) -> Attribution:
    """A family is meant; ``meant`` are sources of another that the same words may mean as well."""
    credited, where = _article(known.label(family)), _where(route, known)
    if known.compatible(family, route.family) or route.source_id in meant:
        reason = say(Cause.CREDITED_KIND_CHECKED, credited=credited, where=where)
        return _result(AttributionStatus.MATCH, family, route, reason)
    if not supported:
        reason = say(Cause.CREDIT_NOT_COMPARABLE, credited=credited)
        return _result(AttributionStatus.UNAVAILABLE, family, route, reason)
    also = sorted(
        one
        for one in supporters
        if one in meant or known.compatible(family, families.get(one, OTHER))
    )
    if also:
        reason = say(Cause.CREDITED_KIND_TOO, credited=credited, also=also[0], where=where)
        return _result(AttributionStatus.MATCH, family, route, reason)
    in_trace = any(known.compatible(family, other) for other in families.values())
    if route.family == OTHER and not in_trace:
        reason = say(Cause.KIND_NOT_KNOWN, credited=credited, tool=route.tool_name)
        return _result(AttributionStatus.UNAVAILABLE, family, route, reason)
    if only_named:
        reason = say(Cause.ONLY_NAMED, named=credited, where=where)
        return _result(AttributionStatus.UNAVAILABLE, None, route, reason)
    reason = say(Cause.CREDITED_ELSEWHERE, credited=credited, where=where)
    return _result(AttributionStatus.CONFLATION, family, route, reason)


def _is_bare(claim: Claim) -> bool:
    """Whether a kind of source only stands in the claim, without a word that credits it: "the day of
    her glucose test". What the claim denies ("the scan showed no lesion") may rest on several sources."""
    stated = claim.stated
    if stated is None or stated.text.casefold() not in claim.text.casefold():
        return False
    if LEAD.match(stated.text):
        return False
    return not _CREDITS.search(stated.text) or denies(claim.text, _LACKS)


def _implied(
    claim: Claim,
    route: Route,
    supported: bool,
    families: Mapping[str, str],
    supporters: frozenset[str],
    known: Families,
) -> Attribution:
    """Defaults where the answer names no source; they apply only to families that the trace has."""
    family = PATIENT_RECORD if claim.patient_specific else LITERATURE
    label, where = _article(known.label(family)), _where(route, known)
    about = "about this patient" if claim.patient_specific else "a general statement"
    if not any(known.compatible(family, other) for other in families.values()):
        reason = say(Cause.NO_CREDIT)
        return _result(AttributionStatus.NONE, None, route, reason)
    if known.compatible(family, route.family):
        reason = say(Cause.BELONGS_WHERE_FOUND, about=about, credited=label, where=where)
        return _result(AttributionStatus.MATCH, family, route, reason)
    elsewhere = any(known.compatible(family, families.get(one, OTHER)) for one in supporters)
    # Unlike the paper, a default alone flags a conflation only for a statement about one patient
    # that rests on a source which cannot know the patient. A general statement without a stated
    # source may come from any source, and an alarm would be false.
    wrong = claim.patient_specific and route.family in _NEVER_A_RECORD and supported
    if wrong and not elsewhere and not denies(claim.text, _LACKS):
        reason = say(Cause.BELONGS_ELSEWHERE, credited=label, where=where)
        return _result(AttributionStatus.CONFLATION, family, route, reason)
    reason = say(Cause.MAY_BELONG_TO_EITHER, about=about, credited=label, where=where)
    return _result(AttributionStatus.UNAVAILABLE, None, route, reason)


def _where(route: Route, known: Families) -> str:
    return f"{route.tool_name} ({known.label(route.family)})"


def _article(label: str) -> str:
    """ "the patient's chart", "published literature", "a clinical guideline" as they read best."""
    if label.endswith(("literature", "results")):
        return label
    return f"the {label}"


def _result(
    status: AttributionStatus, stated_family: str | None, route: Route, reason: str
) -> Attribution:
    return Attribution(
        status=status, stated_family=stated_family, routed_family=route.family, reason=reason
    )

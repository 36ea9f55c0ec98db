"""Conflation probes (IV.7): facts credited to the wrong kind of source, and to the right one.

The paper's fifty probes hold one explicit swap each, and nothing that is credited correctly, so a
detector that flags everything would find them all. Here every wrong credit has a twin with the right
one, credits are explicit, paraphrased or implied, and some probes hold a wrong value besides.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.errors import InputError
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.evaluation.tables import Probes
from core.records import AttributionStatus, Relation, Source, VerdictLabel

CHART, LITERATURE = "patient_record", "literature"
PROBE, TWIN = "probe", "twin"


class Credit(StrEnum):
    """How a probe's answer credits its source."""

    EXPLICIT = "explicit"
    PARAPHRASED = "paraphrased"
    IMPLIED = "implied"
    MULTI_ERROR = "multi-error"


# How people credit each family; none of these is an alias alone, since answers are sentences.
WORDINGS: Mapping[Credit, Mapping[str, tuple[str, ...]]] = {
    Credit.EXPLICIT: {
        CHART: (
            "According to the patient's chart", "Per the medical record", "As noted in the EHR",
            "Based on the patient history", "The chart review shows that",
        ),
        LITERATURE: (
            "According to PubMed", "Based on the published literature",
            "Per the literature search", "As reported in a journal article",
            "The PubMed abstract states that",
        ),
        "lab": (
            "According to the lab results", "Per the laboratory report",
            "Based on the latest labs",
        ),
        "formulary": (
            "According to the formulary", "Per the drug label", "As stated in the package insert",
        ),
        "guideline": (
            "According to the clinical guideline", "Per the practice guideline",
        ),
        "registry": (
            "According to ClinicalTrials.gov", "Per the trial registry",
        ),
        "web": ("According to the web search", "Per the website"),
    },
    Credit.PARAPHRASED: {
        CHART: (
            "His problem list shows that", "Her medication list includes the fact that",
            "As charted in her record",
        ),
        LITERATURE: (
            "A 2019 trial found that", "Recent studies have shown that", "The authors reported that",
            "One randomised study concluded that",
        ),
        "lab": ("Her recent blood work shows that", "His latest labs show that"),
        "formulary": ("The label warns that", "The drug labelling states that"),
        "guideline": ("Current guidelines recommend noting that",),
        "registry": ("The registry entry lists that",),
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A claim that one source supports, as found in captured evidence."""

    text: str
    source: Source
    family: str
    patient_specific: bool


def make_probes(
    facts: Sequence[Fact],
    compatible: Mapping[str, frozenset[str]],
    *,
    count: int = 50,
    seed: int = 20260607,
) -> list[PacketRow]:
    """``count`` probes with a wrong credit, and a correctly credited twin of each.

    Each row holds the fact's source and one of another family, from the same captured evidence.
    ``compatible`` maps a family to those that may stand for it. Raises InputError when the facts
    are of one family, since nothing could then be confused.
    """
    rng = random.Random(seed)
    usable = [fact for fact in facts if fact.family in WORDINGS[Credit.EXPLICIT]]
    pairs = [
        (fact, other)
        for fact in usable
        for other in usable
        if not _stand_for_each_other(fact.family, other.family, compatible)
    ]
    if not pairs:
        raise InputError(
            "probes need supported claims from two kinds of source, such as a chart and literature"
        )
    kinds = [Credit.EXPLICIT, Credit.PARAPHRASED, Credit.IMPLIED, Credit.MULTI_ERROR]
    rows: list[PacketRow] = []
    number = 0
    for attempt in range(count * 40):
        if number == count:
            break
        fact, other = pairs[rng.randrange(len(pairs))]
        twins = _twins(fact, other, kinds[attempt % len(kinds)], number, rng)
        if twins is not None:
            rows += twins
            number += 1
    if number < count:
        raise InputError(f"only {number} of {count} probes could be made from this evidence")
    return rows


def probe_outcomes(rows: Sequence[PacketRow], predictions: Sequence[Prediction]) -> Probes:
    """What the verifier made of each probe, for Table 20.

    A probe with a wrong value besides has no source that says it, so that nothing can be called
    credited wrongly: it is found when it is blocked, whatever the reason.
    """
    return Probes(
        outcomes=[_outcome(row, found) for row, found in zip(rows, predictions, strict=True)],
        kinds=[row.slices[0] for row in rows],
    )


def _outcome(row: PacketRow, found: Prediction) -> tuple[bool, bool, bool]:
    """(is a probe rather than a twin, was found out, was blocked)."""
    probe = row.slices[1] == PROBE
    flagged = found.attribution is AttributionStatus.CONFLATION
    if probe and row.slices[0] == Credit.MULTI_ERROR.value:
        flagged = found.blocked
    return probe, flagged, found.blocked


def _twins(
    fact: Fact, other: Fact, kind: Credit, number: int, rng: random.Random
) -> tuple[PacketRow, PacketRow] | None:
    """The probe and its twin; None where this kind cannot be made of these two sources."""
    if kind is Credit.IMPLIED:
        # Implied credit exists only for what is about one patient: it belongs to the record.
        if not fact.patient_specific or other.family != LITERATURE or fact.family != CHART:
            return None
        return _implied_twins(fact, other, number)
    wording = Credit.EXPLICIT if kind is Credit.MULTI_ERROR else kind
    wrong = WORDINGS[wording].get(other.family)
    right = WORDINGS[wording].get(fact.family)
    if not wrong or not right:
        return None
    sources = _sources(fact, other, rng)
    probe = _row(fact, sources, rng.choice(wrong), kind, number, swapped=True)
    twin = _row(fact, sources, rng.choice(right), kind, number, swapped=False)
    if kind is Credit.MULTI_ERROR:
        changed = other_value(fact.text)
        if changed is None:
            return None
        # Wrong source and wrong value at once: it must block, and no source supports it.
        probe = replace(
            probe,
            claim=changed,
            label=VerdictLabel.CONTRADICTED,
            relation=Relation.CONTRADICTION,
            gold_source_ids=(),
            gold_attribution=None,
        )
    return probe, twin


def _implied_twins(fact: Fact, other: Fact, number: int) -> tuple[PacketRow, PacketRow]:
    """A fact about the patient that only literature holds, and the same in the record."""
    misplaced = replace(
        fact.source, source_id=other.source.source_id, tool_name=other.source.tool_name
    )
    silent = replace(other.source, source_id=fact.source.source_id, tool_name=fact.source.tool_name)
    moved = replace(fact, source=misplaced)
    probe = _row(moved, (silent, misplaced), None, Credit.IMPLIED, number, swapped=True)
    twin = _row(fact, (fact.source, other.source), None, Credit.IMPLIED, number, swapped=False)
    return probe, twin


def _row(
    fact: Fact,
    sources: tuple[Source, ...],
    credit: str | None,
    kind: Credit,
    number: int,
    *,
    swapped: bool,
) -> PacketRow:
    side = PROBE if swapped else TWIN
    return PacketRow(
        claim_id=f"probe-{number:04d}-{side}",
        trace_id=f"probe-{number:04d}",
        claim=fact.text,
        sources=sources,
        label=VerdictLabel.SUPPORTED,
        relation=Relation.ENTAILMENT,
        gold_source_ids=(fact.source.source_id,),
        gold_attribution=AttributionStatus.CONFLATION if swapped else AttributionStatus.MATCH,
        stated_attribution=credit,
        slices=(kind.value, side),
    )


def _sources(fact: Fact, other: Fact, rng: random.Random) -> tuple[Source, ...]:
    first, second = fact.source, other.source
    if first.source_id == second.source_id:
        digest = hashlib.sha256(second.text.encode()).hexdigest()[:8]
        second = replace(second, source_id=f"{second.source_id}#{digest}")
    both = [first, second]
    rng.shuffle(both)
    return tuple(both)


def _stand_for_each_other(one: str, other: str, compatible: Mapping[str, frozenset[str]]) -> bool:
    return (
        one == other
        or other in compatible.get(one, frozenset())
        or one in compatible.get(other, frozenset())
    )


# ---------------------------------------------------------------- another value

# A number that stands alone: no part of an identifier, a date or a code.
_NUMBER = re.compile(r"(?<![\w.,/:#-])(\d{1,4}(?:\.\d{1,2})?)(?![\w/:#]|[.,-]\d)")
# The level of an interval, and what numbers something: changed, it would read as a slip.
_LEVEL = re.compile(
    r"\s*(?:%|per cent|percent)[\s-]*(?:CI\b|confidence|credible|interval)", re.IGNORECASE
)
_NUMBERING = re.compile(
    r"(?:PMID|NCT|DOI|ID|MRN|no\.|number|stage|class|type|grade|phase|table|figure|step|version)"
    r"[\s:]*$",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"\s*(?:%|per cent|percent)", re.IGNORECASE)


def other_value(text: str) -> str | None:
    """The text with its first number that says something changed; None where it has none."""
    for found in _NUMBER.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _LEVEL.match(after) or _NUMBERING.search(before):
            continue
        other = _another(found[1], percent=_PERCENT.match(after) is not None)
        return f"{before}{other}{after}"
    return None


def _another(number: str, *, percent: bool) -> str:
    """A number of as many decimals, of the same size, and in the range that its unit has."""
    decimals = len(number.partition(".")[2])
    value = float(number)
    if not decimals and 1900 <= value <= 2100:
        return str(int(value) - 2)  # a year stays one that has been
    smallest = 10.0**-decimals
    step = max(smallest, round(value * 0.3, decimals))
    higher = value + step
    if percent and higher > 100:
        higher = value - step
    return f"{higher:.{decimals}f}"

"""The front door of the evidence: what a trace's sources state, and what that says of a claim.

``read_trace_facts`` reads every source once for all claims of its answer; ``check_claim`` compares
one claim with it and gives checks that support, contradict or are silent (evidence.md, section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.evidence.absence import check_absence
from core.evidence.accounting import MOST_LEFT, left_of
from core.evidence.chart.checks import ChartFacts, chart_checks, read_chart_facts
from core.evidence.fact_index import FactIndex, index_trace
from core.evidence.own_words import OwnWords, check_own_words, read_own_words
from core.evidence.stated_whole import stated_whole
from core.evidence.value_checks import check_values
from core.evidence.words import stems
from core.evidence.written import (
    Item,
    Writing,
    check_outline,
    check_saved,
    check_written,
    read_outlines,
    read_writings,
)
from core.records import Check, Claim, Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFacts:
    """The facts of one trace, read once; ``trace`` is what they were read from."""

    trace: Trace
    values: FactIndex
    charts: ChartFacts
    own: OwnWords
    written: tuple[Item, ...]
    saved: tuple[Writing, ...]


def read_trace_facts(trace: Trace) -> TraceFacts:
    """The typed facts of every source of the trace that can be evidence, and of its calls."""
    return TraceFacts(
        trace=trace,
        values=index_trace(trace),
        charts=read_chart_facts(trace),
        own=read_own_words(trace),
        written=read_outlines(trace.sources),
        saved=read_writings(trace.sources),
    )


def check_claim(claim: Claim, facts: TraceFacts) -> tuple[Check, ...]:
    """What the facts say of one claim, in a fixed order; empty when no check applies."""
    values = facts.values
    found = (
        *check_values(claim, values),
        *check_absence(claim, values),
        *check_written(claim, values),
        *chart_checks(claim, facts.charts),
    )
    whole = (
        stated_whole(claim, found, values),
        check_outline(claim, facts.written),
        check_saved(claim, facts.saved),
    )
    return (
        *_of_this_claim(claim, found, facts),
        *check_own_words(claim, facts.own),
        *(check for check in whole if check is not None),
    )


def _of_this_claim(claim: Claim, found: Sequence[Check], facts: TraceFacts) -> list[Check]:
    """The checks, those that veto only where what they are about is all that the claim says.

    "He has had no fit since the tablets were stopped" names the tablets, and says something else: on
    labelled answers by other authors a check told against such a claim no more often when it was wrong.
    """
    if not any(check.veto for check in found):
        return list(found)
    people = facts.values.people.union(
        *(stems(name) for chart in facts.charts.charts for name in chart.patients)
    )
    return [
        check
        for check in found
        if not check.veto or len(left_of(claim, check, found, facts.trace, people)) <= MOST_LEFT
    ]

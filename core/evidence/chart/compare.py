"""Whether an entry of a chart speaks against what a claim says, and in which words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from core.evidence.chart.claims import Assertion
from core.evidence.chart.entries import Chart
from core.evidence.chart.names import drug_spans
from core.evidence.chart.quantities import STRENGTHS, find_doses, same_date
from core.evidence.chart.records import ChartEntry, Dose, EntryKind, Frequency, Status, Subject
from core.records import Span

_ENDED = frozenset({Status.PAST, Status.ON_HOLD, Status.CANCELLED})
_NEVER = frozenset(
    {Status.ERROR, Status.ABSENT, Status.HYPOTHETICAL, Status.UNCERTAIN, Status.PLANNED}
)
_NOT_YET = frozenset({Status.HYPOTHETICAL, Status.PLANNED, Status.UNCERTAIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A value of the claim that the chart states otherwise."""

    reason: str
    span: Span


def differs(said: Assertion, entry: ChartEntry) -> str | None:
    """Why the entry's status or subject speaks against the claim; None when it does not."""
    name, status = entry.name.strip(), entry.status
    told = f" ({entry.status_text})" if entry.status_text else ""
    if entry.subject is not said.subject:
        if said.subject is Subject.PATIENT and said.status not in (Status.ABSENT, Status.ERROR):
            return f"The chart has {name} for a {entry.subject.value}{told}, not for the patient."
        return None
    if said.status is Status.ABSENT:
        # "X would not raise her simvastatin" denies an effect, not the drug.
        spoken = status is Status.ACTIVE and said.asserted
        return f"The chart has {name} as active{told}." if spoken else None
    if said.status in _ENDED or said.status is Status.ERROR:
        spoken = status is Status.ACTIVE and said.status is not Status.ON_HOLD
        return f"The chart has {name} as active{told}." if spoken else None
    if said.status in _NOT_YET:
        return None
    if status in _NEVER or status is Status.CANCELLED:
        if status is Status.CANCELLED and not said.current and entry.kind is EntryKind.MEDICATION:
            return None
        return f"The chart has {name} as {status.value}{told}."
    if said.current and status in _ENDED:
        return f"The chart has {name} as {status.value}{told}, not as current."
    return None


# ---------------------------------------------------------------- doses


def dose_differs(
    said: Assertion, entries: Sequence[ChartEntry], charts: Sequence[Chart]
) -> Difference | None:
    """The claim's dose, where the chart gives the name's entries others or gives it to another drug."""
    wanted = [dose for dose in said.doses if dose.unit in STRENGTHS]
    counted = [dose for dose in said.doses if dose.unit not in STRENGTHS]
    # A dose that would be, is planned or is worked out need not stand in the chart.
    if said.kind is not EntryKind.MEDICATION or said.status in _NOT_YET:
        return None
    held = [dose for entry in entries for dose in entry.doses]
    for dose in wanted or counted:
        comparable = [other for other in held if other.unit == dose.unit]
        if any(same_dose(dose, entry, said) for entry in entries):
            continue
        if not comparable and dose.unit not in STRENGTHS:
            continue
        if not comparable and any(_bare(dose, entry) for entry in entries):
            continue
        other = _dose_elsewhere(dose, said, charts)
        stated = ", ".join(dict.fromkeys(other.text for other in comparable))
        if stated:
            reason = f"{said.written} is {stated} in the chart, not {dose.text}."
        else:
            reason = f"The source gives no dose of {dose.text} to {said.written}."
        if other:
            reason = f"The source gives {dose.text} to {other}; {reason}"
        return Difference(reason=reason, span=dose.span)
    return None


def _bare(dose: Dose, entry: ChartEntry) -> bool:
    """Whether the dose's number stands behind the entry's name without a unit ("sumatriptan 50 prn")."""
    number = re.match(r"[\d.,]+", dose.text)
    if number is None:
        return False
    behind = rf"{re.escape(entry.name)}\s+{re.escape(number.group())}(?![\d.,]\d)"
    return re.search(behind, entry.around) is not None


def same_dose(dose: Dose, entry: ChartEntry, said: Assertion) -> bool:
    """Whether the entry has the dose: as a strength, of a day, or of several tablets."""
    amounts = {other.amount for other in entry.doses if other.unit == dose.unit}
    if dose.amount in amounts:
        return True
    counts = {other.amount for other in entry.doses if other.unit in ("tablet", "puff", "patch")}
    rates = {frequency.per_day for frequency in entry.frequencies if frequency.per_day}
    made = {amount * count for amount in amounts for count in counts} | amounts
    # "1 g a day" is 500 mg twice daily.
    daily = {
        amount * Decimal(rate.numerator) / Decimal(rate.denominator)
        for amount in made
        for rate in rates
    }
    daily_said = (
        said.whole_day or dose.per_day or any(f.per_day == Fraction(1) for f in said.frequencies)
    )
    return (
        dose.amount in made
        or (dose.amount in daily and daily_said)
        or (len(amounts) > 1 and dose.amount == sum(amounts))
    )


def _dose_elsewhere(dose: Dose, said: Assertion, charts: Sequence[Chart]) -> str | None:
    for chart in charts:
        for row in chart.rows:
            text = row.text
            for span in drug_spans(text):
                written = text[span.start : span.end]
                if written.casefold() == said.written.casefold():
                    continue
                if any(
                    d.amount == dose.amount and d.unit == dose.unit
                    for d in find_doses(text[span.end :])
                ):
                    return written
    return None


# ---------------------------------------------------------------- schedules and starts


def frequency_differs(
    said: Assertion, entries: Sequence[ChartEntry], charts: Sequence[Chart]
) -> Difference | None:
    """The claim's schedule, where every schedule that the chart gives the name is another."""
    if said.kind is not EntryKind.MEDICATION:
        return None
    held = [frequency for entry in entries for frequency in entry.frequencies]
    for wanted in said.frequencies:
        if not held or any(same_frequency(wanted, other) for other in held):
            continue
        if (
            wanted.per_day == 1
            and any(dose.per_day or dose.text for dose in said.doses)
            and _is_total(said, entries)
        ):
            continue
        stated = ", ".join(dict.fromkeys(other.text for other in held))
        return Difference(
            reason=f"{said.written} is taken {stated} in the chart, not {wanted.text}.",
            span=wanted.span,
        )
    return None


def _is_total(said: Assertion, entries: Sequence[ChartEntry]) -> bool:
    """Whether "1000 mg daily" is the day's total of what the chart gives in parts."""
    return any(
        dose.amount not in {other.amount for other in entry.doses} and same_dose(dose, entry, said)
        for dose in said.doses
        for entry in entries
    )


def same_frequency(wanted: Frequency, stated: Frequency) -> bool:
    """Whether two schedules are one: as often a day, at no other times of it."""
    if wanted.per_day is None:
        return stated.as_needed or not wanted.as_needed
    if stated.per_day is None:
        return False
    if wanted.per_day != stated.per_day:
        return False
    apart = wanted.moments and stated.moments and not wanted.moments & stated.moments
    return not apart or wanted.moments | stated.moments == {"evening", "night"}


def start_differs(said: Assertion, entries: Sequence[ChartEntry]) -> Difference | None:
    """The claim's start, where every start that the chart gives the name is another date."""
    if said.status not in (Status.ACTIVE, Status.UNSTATED, Status.HISTORY):
        return None
    held = [start for entry in entries for start in entry.starts]
    for wanted in said.starts:
        if held and not any(same_date(wanted, other) for other in held):
            stated = ", ".join(dict.fromkeys(other.text for other in held))
            return Difference(
                reason=f"The chart dates {said.written} to {stated}, not to {wanted.text}.",
                span=wanted.span,
            )
    return None

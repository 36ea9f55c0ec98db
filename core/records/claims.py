"""Claims and what they say of themselves (III.2)."""

from __future__ import annotations

from dataclasses import dataclass

from core.records.basics import ClaimType, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedValue:
    """A literal that can change a claim's meaning; ``span`` is in the claim's text (III.2, III.4).

    ``kind`` is one of number, percent, dose, date, time, currency, identifier, quoted, name.
    ``normalised`` is what is compared. ``identity`` is True for values that name a person or a
    record (patient name, MRN, NCT number, PMID …): the routed source must be about them.
    """

    text: str
    span: Span
    kind: str
    normalised: str
    identity: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAttribution:
    """The stretch of the answer that credits a source; ``span`` is in the answer.

    ``family`` is a family id of families.toml, None when the words name no known family;
    ``source_id`` is set when one source of the trace is meant (a citation, a tool's own name), and
    ``also`` names others that the same words mean: records of the same publication, a second mark.
    """

    text: str
    span: Span
    family: str | None
    source_id: str | None = None
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One checkable proposition of the answer.

    ``said == answer[span.start:span.end]`` is the smallest place that says it; ``text`` may add
    a carried-over subject or a label. ``context`` is what the answer says before it, outermost first:
    whoever judges the claim alone reads it behind this. ``subject`` is the person or record the
    claim is about, in its own words, when one is known from the claim or carried over. ``reason``
    says why a non-factual stretch was set aside, or why a factual one will not be judged
    (``beyond_limit``).
    """

    claim_id: str
    text: str
    span: Span
    said: str
    context: tuple[str, ...] = ()
    claim_type: ClaimType = ClaimType.FACTUAL
    stated: StatedAttribution | None = None
    protected_values: tuple[ProtectedValue, ...] = ()
    patient_specific: bool = False
    subject: str | None = None
    reason: str | None = None
    beyond_limit: bool = False

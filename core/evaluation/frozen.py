"""A packet row as the pipeline takes it: a trace whose answer says one claim, and that claim."""

from __future__ import annotations

from dataclasses import replace

from core.attribution.described_source import DescribedSources
from core.attribution.families import Families
from core.capture.readable.structured import unfold_output
from core.decomposition.claims import decompose
from core.evaluation.packets import PacketRow
from core.evidence.values import protected_values
from core.records import (
    Claim,
    ClaimType,
    Source,
    SourceStatus,
    Span,
    StatedAttribution,
    Trace,
)
from core.site_config import site_config


def freeze(row: PacketRow, families: Families) -> tuple[Trace, Claim]:
    """The row's trace and its one claim, never split and always judged (IV.2).

    The decomposer reads the answer only for what a packet does not hold: whom the claim is about
    and which words credit a source. ``stated_attribution`` stands before the claim in the answer.
    """
    credit = _credit_words(row.stated_attribution)
    answer = answer_of(row)
    start = len(answer) - len(row.claim)
    trace = Trace(
        trace_id=row.trace_id,
        question="",
        answer=answer,
        sources=tuple(readable(source) for source in row.sources),
        category=row.category,
    )
    read = decompose(trace, site_config(), families)
    found = [claim.stated for claim in read if claim.stated is not None]
    if credit:
        # What the claim itself names is no credit where the packet says which words are.
        found = [stated for stated in found if stated.span.start < len(credit)]
        found = found or [_credited(credit, trace, families)]
    stated = next(iter(found), None)
    text = row.claim
    # A credit inside the claim is no part of what the source must say.
    if not credit and stated and len(read) == 1 and read[0].claim_type is ClaimType.FACTUAL:
        text = read[0].text
    claim = Claim(
        claim_id=row.claim_id,
        text=text,
        span=Span(start=start, end=len(answer)),
        said=row.claim,
        stated=stated,
        protected_values=protected_values(text),
        patient_specific=any(claim.patient_specific for claim in read),
        subject=next((claim.subject for claim in read if claim.subject is not None), None),
    )
    return trace, claim


def answer_of(row: PacketRow) -> str:
    """The row's claim as an answer says it, behind the words that credit its source."""
    credit = _credit_words(row.stated_attribution)
    return f"{credit}{_joint(credit)}{row.claim}" if credit else row.claim


def readable(source: Source) -> Source:
    """A packet's source as the importers would have made it: JSON and FHIR become evidence lines."""
    unfolded = unfold_output(source.text)
    if not unfolded.changed:
        return source
    first = unfolded.parts[0] if len(unfolded.parts) == 1 else None
    status = SourceStatus.ERROR if unfolded.error else source.status
    return replace(
        source,
        # A packet has one id a source, so the resources inside one output stay together.
        text="\n\n".join(part.text for part in unfolded.parts),
        status=status if unfolded.parts else SourceStatus.EMPTY,
        structured=any(part.structured for part in unfolded.parts),
        raw=source.text,
        raw_map=first.raw_map if first else (),
    )


def _credit_words(stated: str | None) -> str:
    return stated.strip().rstrip(".,:;").rstrip() if stated else ""


def _joint(credit: str) -> str:
    """ "The chart shows that" runs on into the claim; "According to the chart" does not."""
    return " " if credit.lower().endswith(" that") else ", "


def _credited(credit: str, trace: Trace, families: Families) -> StatedAttribution:
    """A credit whose words the decomposer does not know as one, by the families they mention and
    the source that they describe."""
    named = list(dict.fromkeys(mention.family_id for mention in families.mentions(credit)))
    kinds = families.families_of(trace.sources)
    meant = DescribedSources(trace.sources, kinds, families).meant(credit)
    family = named[0] if len(named) == 1 else None
    return StatedAttribution(
        text=credit,
        span=Span(start=0, end=len(credit)),
        family=kinds[meant] if meant else family,
        source_id=meant,
    )

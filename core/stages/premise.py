"""III.3: narrow a source to the evidence that a claim is about, within a fixed length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.config import Config
from core.errors import PremiseError
from core.records import Claim, Premise, Source, Span
from core.text.chunks import Unit
from core.text.tokens import content_terms, weighted_overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Units of a source that are taken together, their terms, and the unit that heads their block."""

    units: tuple[int, ...]
    terms: frozenset[str]
    heading: int


def select_premise(
    claim: Claim,
    source: Source,
    parts: tuple[Unit, ...],
    grouped: tuple[Group, ...],
    closeness: Sequence[float],
    rare: Mapping[str, float],
    config: Config,
) -> Premise:
    """The evidence of ``source`` that says most about ``claim``, in source order, as one premise.

    ``parts`` are the source's units and ``grouped`` what of them is taken together; ``closeness``
    has the cosine of the claim with the chunk each group stands in; ``rare`` weighs terms by how few
    groups of this source hold them. The premise text is the selected spans joined by newlines and
    holds at most ``config.premise_characters`` characters. Raises PremiseError when the source
    holds no text.
    """
    if not parts:
        raise PremiseError(f"{source.source_id}: the tool output holds no text to check against")
    terms = content_terms(claim.text)
    worth = [
        round(weighted_overlap(terms, group.terms, rare) + 0.5 * max(close, 0.0), 6)
        for group, close in zip(grouped, closeness, strict=True)
    ]
    chosen = _choose(parts, grouped, worth, config)
    spans = _joined(source.text, parts, sorted(chosen))
    return Premise(
        source_id=source.source_id,
        text="\n".join(span.cut(source.text) for span in spans),
        spans=spans,
        truncated=len(chosen) < len(parts),
    )


def _choose(
    parts: tuple[Unit, ...], grouped: Sequence[Group], worth: Sequence[float], config: Config
) -> set[int]:
    """Take the worthiest groups that fit, each with the heading of its block."""
    best = max(worth)
    chosen: set[int] = set()
    left = config.premise_characters
    for rank in sorted(range(len(grouped)), key=lambda g: (-worth[g], g)):
        if chosen and worth[rank] < config.distracting_below * best:
            break
        group = set(grouped[rank].units)
        wanted = (group | {grouped[rank].heading}) - chosen
        cost = sum(_length(parts[i]) + 1 for i in wanted)
        if cost > left:
            wanted = group - chosen
            cost = sum(_length(parts[i]) + 1 for i in wanted)
        if cost <= left:
            chosen |= wanted
            left -= cost
    # One unit is always taken: it is at most as long as the smallest budget that config allows.
    return chosen or {grouped[max(range(len(worth)), key=lambda g: worth[g])].units[0]}


def _joined(text: str, parts: tuple[Unit, ...], chosen: list[int]) -> tuple[Span, ...]:
    """The chosen units' spans, neighbours that only white space divides made one."""
    spans: list[Span] = []
    for index in chosen:
        span = parts[index].span
        if spans and text[spans[-1].end : span.start] == " ":
            spans[-1] = Span(start=spans[-1].start, end=span.end)
        else:
            spans.append(span)
    return tuple(spans)


def _length(unit: Unit) -> int:
    return unit.span.end - unit.span.start

"""III.3: narrow a source to the evidence that a claim is about, within a fixed length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.config import Config
from core.errors import PremiseError
from core.records import Claim, Premise, Source, Span
from core.text.chunks import Unit
from core.text.tokens import content_terms, weighted_overlap

SHORT_BLOCK = 400  # characters; longer paragraphs are taken sentence by sentence
DISTRACTING = 0.35  # of the best group's worth


def select_premise(
    claim: Claim,
    source: Source,
    parts: tuple[Unit, ...],
    closeness: Mapping[int, float],
    rare: Mapping[str, float],
    config: Config,
) -> Premise:
    """The units of ``source`` that say most about ``claim``, in source order, as one premise.

    ``parts`` are the source's units; ``closeness`` maps a unit's index to the cosine of the claim
    with the chunk it stands in; ``rare`` weighs terms. The premise text is the selected spans joined
    by newlines and holds at most ``config.premise_characters`` characters. Raises PremiseError when
    the source holds no text.
    """
    if not parts:
        raise PremiseError(f"{source.source_id}: the tool output holds no text to check against")
    terms = content_terms(claim.text)
    groups = _groups(parts)
    worth = []
    for group in groups:
        text = " ".join(parts[index].span.cut(source.text) for index in group)
        close = max((closeness.get(index, 0.0) for index in group), default=0.0)
        shared = weighted_overlap(terms, content_terms(text), rare)
        worth.append(round(shared + 0.5 * close, 6))
    chosen = _choose(parts, groups, worth, config.premise_characters)
    spans = _joined(source.text, parts, sorted(chosen))
    return Premise(
        source_id=source.source_id,
        text="\n".join(span.cut(source.text) for span in spans),
        spans=spans,
        truncated=len(chosen) < len(parts),
    )


def _groups(parts: tuple[Unit, ...]) -> list[tuple[int, ...]]:
    """What is taken together: a short block (a record, a paragraph) whole, a long one unit by unit."""
    blocks: dict[int, list[int]] = {}
    for index, unit in enumerate(parts):
        blocks.setdefault(unit.block, []).append(index)
    groups: list[tuple[int, ...]] = []
    for indices in blocks.values():
        length = parts[indices[-1]].span.end - parts[indices[0]].span.start
        if length <= SHORT_BLOCK:
            groups.append(tuple(indices))
        else:
            groups.extend((index,) for index in indices)
    return groups


def _choose(
    parts: tuple[Unit, ...], groups: Sequence[tuple[int, ...]], worth: Sequence[float], budget: int
) -> set[int]:
    """Take the worthiest groups that fit, a lone unit with the heading of its block."""
    headings = {unit.block: index for index, unit in enumerate(parts) if unit.heading}
    best = max(worth)
    chosen: set[int] = set()
    left = budget
    for rank in sorted(range(len(groups)), key=lambda g: (-worth[g], g)):
        # What shares next to nothing with the claim would only distract the reader.
        if chosen and worth[rank] < DISTRACTING * best:
            break
        group = set(groups[rank])
        wanted = (group | {headings[parts[groups[rank][0]].block]}) - chosen
        cost = sum(_length(parts[i]) + 1 for i in wanted)
        if cost > left:
            wanted = group - chosen
            cost = sum(_length(parts[i]) + 1 for i in wanted)
        if cost <= left:
            chosen |= wanted
            left -= cost
    return chosen or {0}


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

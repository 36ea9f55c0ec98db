"""III.3: narrow a source to the evidence that a claim is about, within a fixed length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.config import Config
from core.errors import PremiseError
from core.records import Claim, Premise, Source, Span
from core.text.chunks import Unit
from core.text.tokens import content_terms, weighted_overlap

HEAD_CHARACTERS = 160  # of the line that says whose record it is; longer ones say more than that
FRONT_UNITS = 6
HEAD_WEIGHT = 0.3  # of a claim's term that heads the source, beside one that does not


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
    head: int | None = None,
) -> Premise:
    """The evidence of ``source`` that says most about ``claim``, in source order, as one premise.

    ``parts`` are the source's units and ``grouped`` what of them is taken together; ``closeness``
    has the cosine of the claim with the chunk each group stands in; ``rare`` weighs terms by how few
    groups of this source hold them; ``head`` is the unit that says whose record it is, which goes
    with whatever is taken (``head_of``). The premise text is the selected spans joined by newlines and
    holds at most ``config.premise_characters`` characters. Raises PremiseError when the source
    holds no text.
    """
    if not parts:
        raise PremiseError(f"{source.source_id}: the tool output holds no text to check against")
    chosen = _choose(parts, grouped, _worth(claim, grouped, closeness, rare), config, head)
    return _premise_of(source, parts, chosen)


def _worth(
    claim: Claim,
    grouped: Sequence[Group],
    closeness: Sequence[float],
    rare: Mapping[str, float],
) -> list[float]:
    """What each group tells of the claim: shared terms, rare ones first, and half the cosine.

    What heads a source (its title, whose record it is) says what all of it is about: alone it is no
    evidence, however rare its words are, so that terms that stand there count less.
    """
    terms = content_terms(claim.text)
    heads = terms & (grouped[0].terms | content_terms(claim.subject or ""))
    telling = terms - heads
    share = len(telling) / (len(telling) + HEAD_WEIGHT * len(heads)) if terms else 0.0
    return [
        round(
            share * weighted_overlap(telling, group.terms, rare)
            + (1 - share) * weighted_overlap(heads, group.terms, rare)
            + 0.5 * max(close, 0.0),
            6,
        )
        for group, close in zip(grouped, closeness, strict=True)
    ]


def head_of(
    claim: Claim, source: Source, parts: tuple[Unit, ...], grouped: Sequence[Group]
) -> int | None:
    """The unit at a source's front that names what the claim is about: a patient, a title.

    A line of a record says nothing of "Elena Marchetti" by itself; with the line that says whose
    record it is, it does. None where the front names nothing of the claim, or is too long.
    """
    terms = content_terms(f"{claim.text} {claim.subject or ''}")
    front: list[int] = [*range(min(FRONT_UNITS, len(parts)))]
    if grouped:
        front = [*grouped[0].units, *front]
    for index in front:
        if _length(parts[index]) > HEAD_CHARACTERS:
            continue
        if terms & content_terms(parts[index].span.cut(source.text)):
            return index
    return None


def _choose(
    parts: tuple[Unit, ...],
    grouped: Sequence[Group],
    worth: Sequence[float],
    config: Config,
    head: int | None,
) -> set[int]:
    """Take the worthiest groups that fit, each with the heading of its block."""
    best = max(worth)
    chosen: set[int] = set() if head is None else {head}
    left = config.premise_characters - sum(_length(parts[i]) + 1 for i in chosen)
    for rank in sorted(range(len(grouped)), key=lambda g: (-worth[g], g)):
        if chosen - {head} and worth[rank] < config.distracting_below * best:
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
    return (
        chosen
        if chosen - {head}
        else {grouped[max(range(len(worth)), key=lambda g: worth[g])].units[0]}
    )


def _premise_of(source: Source, parts: tuple[Unit, ...], chosen: set[int]) -> Premise:
    """The chosen units in source order, as spans of the source and their text."""
    spans = _joined(source.text, parts, sorted(chosen))
    return Premise(
        source_id=source.source_id,
        text="\n".join(span.cut(source.text) for span in spans),
        spans=spans,
        truncated=len(chosen) < len(parts),
    )


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


def nearest_window(
    claim: Claim,
    source: Source,
    parts: tuple[Unit, ...],
    grouped: tuple[Group, ...],
    closeness: Sequence[float],
    rare: Mapping[str, float],
    config: Config,
    head: int | None = None,
) -> Premise:
    """One to three neighbouring groups around the best one: short enough for a small reader.

    Arguments are those of ``select_premise``. Unlike the paper, which reads one long window, the
    long and the short one are read apart: what a long premise adds is often only distraction.
    """
    worth = _worth(claim, grouped, closeness, rare)
    best = max(range(len(grouped)), key=lambda g: (worth[g], -g))
    chosen = set(grouped[best].units)
    left = config.window_characters - sum(_length(parts[i]) + 1 for i in chosen)
    beside = sorted(
        (g for g in (best - 1, best + 1) if 0 <= g < len(grouped)), key=lambda g: -worth[g]
    )
    front = () if head is None else ((head,),)
    for wanted in [*front, (grouped[best].heading,), *(grouped[g].units for g in beside)]:
        cost = sum(_length(parts[i]) + 1 for i in wanted if i not in chosen)
        if cost <= left:
            chosen.update(wanted)
            left -= cost
    return _premise_of(source, parts, chosen)


def shown_window(
    source: Source,
    parts: tuple[Unit, ...],
    grouped: tuple[Group, ...],
    facts: Sequence[Span],
    config: Config,
    head: int | None = None,
) -> Premise | None:
    """Where the checks found what the claim states: each fact's group with its heading.

    "HDL was 75" shares no word with the lines of a "High Density Lipoprotein Cholesterol" of 75.29,
    and words alone never bring a reader there. ``facts`` are spans of the source's text, the most
    telling first; None when none of them stands in a unit.
    """
    starts = [unit.span.start for unit in parts]
    group_of = {unit: index for index, group in enumerate(grouped) for unit in group.units}
    chosen: set[int] = set()
    left = config.premise_characters
    for fact in facts:
        at = bisect_right(starts, fact.start) - 1
        if at not in group_of:
            continue
        group = grouped[group_of[at]]
        for wanted in (set(group.units) - chosen, {group.heading} - chosen):
            cost = sum(_length(parts[i]) + 1 for i in wanted)
            if cost <= left:
                chosen |= wanted
                left -= cost
    if not chosen:
        return None
    if head is not None and head not in chosen and _length(parts[head]) + 1 <= left:
        chosen.add(head)
    return _premise_of(source, parts, chosen)


def call_window(
    claim: Claim,
    source_id: str,
    call: str,
    parts: tuple[Unit, ...],
    grouped: tuple[Group, ...],
    config: Config,
) -> Premise:
    """What was asked: the call's first two lines (tool, how it ended) and its best arguments."""
    terms = content_terms(claim.text)
    head = [part.span.cut(call) for part in parts[:2]]
    left = config.window_characters - sum(len(line) + 1 for line in head)
    chosen: set[int] = set()
    shared = [(-len(terms & group.terms), g) for g, group in enumerate(grouped)]
    for _, g in sorted(shared):
        wanted = [i for i in grouped[g].units if i > 1]
        cost = sum(_length(parts[i]) + 1 for i in wanted)
        if cost <= left:
            chosen.update(wanted)
            left -= cost
    text = "\n".join([*head, *(parts[i].span.cut(call) for i in sorted(chosen))])
    return Premise(
        source_id=source_id, text=text, spans=(), truncated=len(chosen) + 2 < len(parts), call=text
    )

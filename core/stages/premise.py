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
TOLD_ALREADY = 0.3  # of a claim's term that stands in what is taken, beside one that does not
HALVED_BY = 400.0  # characters: a group as long as this must tell twice as much as a mere word
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


def call_windows(
    claim: Claim,
    source_id: str,
    call: str,
    parts: tuple[Unit, ...],
    grouped: tuple[Group, ...],
    rare: Mapping[str, float],
    config: Config,
) -> tuple[Premise, ...]:
    """What was asked: the call's first two lines (tool, how it ended) and its best arguments.

    An argument may be a document that the agent wrote. So a long call is read twice, as an output
    is: what tells most wherever it stands, and the best line with what stands around it.
    """
    begun = {*range(min(2, len(parts)))}
    asked = [(g, group) for g, group in enumerate(grouped) if not begun >= {*group.units}]
    rest = [group for _, group in asked]
    heaviest = max(rare.values(), default=1.0) or 1.0
    weights = {term: rare.get(term, heaviest) for term in content_terms(claim.text)}
    covering = _cover(parts, rest, weights, begun, config.premise_characters - _cost(parts, begun))
    chosen = [covering]
    if rest and len(call) > config.window_characters:
        best = max(range(len(rest)), key=lambda g: (_worth_of(rest[g], weights, {}), -g))
        near = _around(parts, rest, best, begun, config.window_characters)
        if not near <= covering:
            chosen.append(near)
    return tuple(_of_call(source_id, call, parts, units) for units in chosen)


def _of_call(source_id: str, call: str, parts: tuple[Unit, ...], units: set[int]) -> Premise:
    text = "\n".join(parts[index].span.cut(call) for index in sorted(units))
    return Premise(
        source_id=source_id, text=text, spans=(), truncated=len(units) < len(parts), call=text
    )


def _around(
    parts: tuple[Unit, ...], grouped: Sequence[Group], best: int, begun: set[int], most: int
) -> set[int]:
    """The best group with those after and before it that fit in ``most`` characters."""
    chosen = begun | {*grouped[best].units}
    left = most - _cost(parts, chosen)
    for side in (range(best + 1, len(grouped)), range(best - 1, -1, -1)):
        for g in side:
            cost = _cost(parts, {*grouped[g].units} - chosen)
            if cost > left:
                break
            chosen |= {*grouped[g].units}
            left -= cost
    return chosen


def _cover(
    parts: tuple[Unit, ...],
    grouped: Sequence[Group],
    weights: Mapping[str, float],
    begun: set[int],
    left: int,
) -> set[int]:
    """Add to the units ``begun`` groups that tell most within ``left`` characters, with headings.

    Each next group is the one that adds most: of a term that stands in what is taken already a third
    counts, and of two that add alike the shorter is taken. ``weights`` are those of the claim's terms.
    """
    chosen, told = set(begun), dict[str, float]()
    waiting = {g for g, group in enumerate(grouped) if group.terms & weights.keys()}
    while waiting:
        gains = []
        for g in waiting:
            cost = _cost(parts, set(grouped[g].units) - chosen)
            if cost <= left:
                gain = _worth_of(grouped[g], weights, told)
                gains.append((gain / (1.0 + cost / HALVED_BY), -g))
        if not gains:
            break
        g = -max(gains)[1]
        waiting.remove(g)
        for wanted in ({*grouped[g].units} - chosen, {grouped[g].heading} - chosen):
            if (cost := _cost(parts, wanted)) <= left:
                chosen |= wanted
                left -= cost
        told.update((term, TOLD_ALREADY) for term in grouped[g].terms & weights.keys())
    return chosen


def _worth_of(group: Group, weights: Mapping[str, float], told: Mapping[str, float]) -> float:
    # Summed in sorted order: a set's own order changes between runs, and with it the last bit.
    shared = sorted(group.terms & weights.keys())
    return round(sum(weights[term] * told.get(term, 1.0) for term in shared), 6)


def _cost(parts: tuple[Unit, ...], units: set[int]) -> int:
    return sum(_length(parts[index]) + 1 for index in units)

"""A trace's sources, cut, embedded and indexed once, for all claims that are checked against them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.config import Config
from core.evidence.names import recorded_names
from core.records import Claim, Source, Span, Trace
from core.stages.premise import Group
from core.text.chunks import Unit, chunks, groups, units
from core.text.tokens import content_terms, overlap, rarity

Vectors = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedSource:
    """One source that can be evidence, with its units, chunks and terms.

    ``embedded`` are the chunks that the router compares with claims: all of them, except in traces
    with more than ``config.max_chunks_embedded``.
    """

    source: Source
    units: tuple[Unit, ...]
    groups: tuple[Group, ...]
    group_chunks: tuple[int, ...]
    group_rarity: Mapping[str, float]
    chunks: tuple[Span, ...]
    embedded: tuple[int, ...]
    terms: frozenset[str]
    people: tuple[str, ...]

    def chunk_text(self, index: int) -> str:
        """The text of one chunk."""
        return self.chunks[index].cut(self.source.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence set E of a trace (III.1): never collapsed, each source on its own."""

    sources: tuple[IndexedSource, ...]
    terms: frozenset[str]
    text: str
    rare: Mapping[str, float]


def index_evidence(trace: Trace, claims: Sequence[Claim], config: Config) -> Evidence:
    """Cut and index the sources of a trace that can be evidence."""
    wanted = frozenset().union(*(content_terms(claim.text) for claim in claims))
    cut = []
    for source in trace.sources:
        if source.is_evidence:
            parts = units(source.text)
            cut.append((source, parts, chunks(source.text, parts, config.chunk_characters)))
    embedded = _embedded([(s, c) for s, _, c in cut], wanted, config.max_chunks_embedded)
    sources = tuple(
        _indexed(source, parts, spans, embedded[source.source_id]) for source, parts, spans in cut
    )
    return Evidence(
        sources=sources,
        terms=frozenset().union(*(indexed.terms for indexed in sources)),
        text="\n\n".join(indexed.source.text for indexed in sources),
        rare=rarity(indexed.terms for indexed in sources),
    )


def _indexed(
    source: Source, parts: tuple[Unit, ...], spans: tuple[Span, ...], embedded: tuple[int, ...]
) -> IndexedSource:
    headings = {unit.block: index for index, unit in enumerate(parts) if unit.heading}
    grouped = tuple(
        Group(
            units=indices,
            terms=frozenset().union(
                *(content_terms(parts[index].span.cut(source.text)) for index in indices)
            ),
            heading=headings[parts[indices[0]].block],
        )
        for indices in groups(source.text, parts)
    )
    starts = [span.start for span in spans]
    return IndexedSource(
        source=source,
        units=parts,
        groups=grouped,
        group_chunks=tuple(
            bisect_right(starts, parts[group.units[0]].span.start) - 1 for group in grouped
        ),
        group_rarity=rarity(group.terms for group in grouped),
        chunks=spans,
        embedded=embedded,
        terms=frozenset().union(*(group.terms for group in grouped)),
        people=recorded_names(source.text),
    )


def _embedded(
    cut: Sequence[tuple[Source, tuple[Span, ...]]], wanted: frozenset[str], most: int
) -> dict[str, tuple[int, ...]]:
    """Which chunks of each source to embed: all, or in huge traces those that share most words."""
    total = sum(len(spans) for _, spans in cut)
    if total <= most:
        return {source.source_id: tuple(range(len(spans))) for source, spans in cut}
    scored = [
        (-overlap(wanted, content_terms(span.cut(source.text))), position, index)
        for position, (source, spans) in enumerate(cut)
        for index, span in enumerate(spans)
    ]
    kept: dict[str, list[int]] = {source.source_id: [] for source, _ in cut}
    for _, position, index in sorted(scored)[:most]:
        kept[cut[position][0].source_id].append(index)
    return {source_id: tuple(sorted(indices)) for source_id, indices in kept.items()}

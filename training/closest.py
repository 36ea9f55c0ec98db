"""The labelled claims of a packet, ranked and narrowed as the product does it, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.config import Config
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow
from core.judging.cases import Case, rank_claim
from core.judging.opening import Models, OpenTrace, embed_window, open_trace


def cases(rows: Iterable[PacketRow], models: Models, config: Config) -> Iterator[Case]:
    """Yield one case a row; rows with the same sources share what was read from them."""
    for _, case in opened_cases(rows, models, config):
        yield case


def opened_cases(
    rows: Iterable[PacketRow], models: Models, config: Config
) -> Iterator[tuple[OpenTrace, Case]]:
    """The same with the trace that each claim stands in."""
    before: OpenTrace | None = None
    for row in rows:
        trace, claim = freeze(row, models.families)
        same = before if before is not None and before.trace.sources == trace.sources else None
        one = before = open_trace(trace, (claim,), models, config, same)
        yield one, rank_claim(claim, one, embed_window([one], models.embedder), config)

"""The labelled claims of a packet, opened and ranked as the product does it, before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.config import Config
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow
from core.judging.cases import Case, rank_claim
from core.judging.opening import Models, OpenTrace, embed_window, open_trace
from core.records import Claim


def opened_claims(
    rows: Iterable[PacketRow], models: Models, config: Config
) -> Iterator[tuple[OpenTrace, Claim]]:
    """Yield each row's claim and trace; rows with the same sources share what was read from them."""
    before: OpenTrace | None = None
    for row in rows:
        trace, claim = freeze(row, models.families)
        same = before if before is not None and before.trace.sources == trace.sources else None
        before = open_trace(trace, (claim,), models, config, same)
        yield before, claim


def opened_cases(
    rows: Iterable[PacketRow], models: Models, config: Config
) -> Iterator[tuple[OpenTrace, Case]]:
    """The same with each claim ranked and narrowed to what is read for it."""
    for one, claim in opened_claims(rows, models, config):
        yield one, rank_claim(claim, one, embed_window([one], models.embedder), config)

"""What tables are made from, and a table as it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.bootstrap import RESAMPLES, SEED
from core.evaluation.columns import pair_columns
from core.evaluation.decomposition import DecompositionAgreement
from core.evaluation.metrics import Metric, measure
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction

Cell = str | int | float | None
# Our rows of a table, without the column "Measured", and what has to be said of them.
Ours = tuple[list[tuple[Cell, ...]], list[str]]

OURS, PAPER = "here", "paper"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it is printed: ``header`` names the columns of every row of ``rows``."""

    number: int
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system's predictions for the packet; of None ``reason`` says why it is unavailable."""

    name: str
    note: str
    predictions: Sequence[Prediction] | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRun:
    """What repairing answers gave, counted; ``packet`` names where the answers came from."""

    packet: str
    answers: int
    allowed_before: int
    blocked_before: int
    resolved: int
    terminal_fallbacks: int
    allowed_after: int
    latency_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Everything that tables are made from; what is absent makes its table say so."""

    rows: Sequence[PacketRow]
    predictions: Sequence[Prediction]
    split: str = "packet"
    latency_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    variants: Sequence[System] = ()
    routers: Sequence[System] = ()
    baselines: Sequence[System] = ()
    card: Mapping[str, object] | None = None  # of the calibrator that decided
    decomposition: DecompositionAgreement | None = None
    repair: RepairRun | None = None  # of answers rebuilt from the packet's rows
    captured: RepairRun | None = None  # of captured answers
    resamples: int = RESAMPLES
    seed: int = SEED

    def measured(self, predictions: Sequence[Prediction] | None = None) -> dict[str, Metric]:
        """All metrics of these predictions, or of the packet's own."""
        columns = pair_columns(self.rows, predictions or self.predictions)
        return measure(columns, resamples=self.resamples, seed=self.seed)


def cell_text(cell: Cell) -> str:
    """A cell as Markdown; text from packets is escaped."""
    if cell is None:
        return "n/a"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return str(cell).replace("|", "\\|").replace("\n", " ")

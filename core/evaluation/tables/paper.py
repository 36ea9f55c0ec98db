"""The paper's tables as one list: ``paper.json`` has its own rows, and ``OURS`` what fills ours (V)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.evaluation.tables import ours
from core.evaluation.tables.records import Cell, Material, Ours

OURS: Mapping[int, Callable[[Material], Ours]] = {
    1: ours.training,
    3: ours.splits,
    4: ours.multi_source,
    5: ours.stress_counts,
    6: ours.stress_results,
    7: ours.packet_latency,
    8: ours.decomposition,
    9: ours.repair_rebuilt,
    10: ours.repair_latency,
    11: ours.router_ablation,
    12: ours.ablations,
    13: ours.joint_systems,
    14: lambda _: ([("NLI model with 2,048 tokens", None, None, "unavailable")], []),
    15: ours.route_cutoffs,
    16: ours.blocked_taxonomy,
    17: ours.baselines,
    18: ours.uncertainty,
    19: ours.repair_full,
    20: ours.conflation_probes,
    21: ours.adjudication,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One table: ``paper`` and what ``ours`` gives are rows without the column "Measured".

    A row may be shorter than the header: what is not there was not measured.
    """

    title: str
    header: tuple[str, ...]
    ours: Callable[[Material], Ours]
    paper: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def _sheets() -> dict[int, Sheet]:
    told = json.loads(Path(__file__).with_name("paper.json").read_text(encoding="utf-8"))
    return {
        number: Sheet(
            title=told[str(number)]["title"],
            header=tuple(told[str(number)]["header"]),
            ours=fills,
            paper=tuple(map(tuple, told[str(number)].get("paper", ()))),
            notes=tuple(told[str(number)].get("notes", ())),
        )
        for number, fills in OURS.items()
    }


SHEETS: Mapping[int, Sheet] = _sheets()

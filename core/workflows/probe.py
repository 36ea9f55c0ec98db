"""probe: captured traces to conflation probes, and what the verifier makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from core.config import Config
from core.errors import InputError
from core.evaluation.packets import PacketRow, row_to_json
from core.evaluation.predictions import Prediction
from core.evaluation.probes import Fact, make_probes, probe_outcomes
from core.evaluation.scoring import score_rows
from core.evaluation.tables import Probes
from core.pipeline import Models, verify_all
from core.ports import Progress
from core.records import Decision, Judged, Trace

MAX_FACT_WORDS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRun:
    """The probes, each claim's prediction, and the outcomes that Table 20 counts."""

    rows: tuple[PacketRow, ...]
    predictions: tuple[Prediction, ...]
    outcomes: Probes


def probe_traces(
    traces: Iterable[Trace | InputError],
    models: Models,
    config: Config,
    *,
    count: int = 50,
    seed: int = 20260607,
    progress: Progress | None = None,
    skipped: Callable[[InputError], None] = lambda error: None,
) -> ProbeRun:
    """Make probes from what the verifier allows in captured traces, and verify them.

    Records that could not be read are handed to ``skipped``. Raises InputError when the traces do not hold
    supported claims from two kinds of source.
    """
    facts = gather_facts(_readable(traces, skipped), models, config)
    compatible = {family.family_id: family.compatible for family in models.families.items}
    rows = make_probes(facts, compatible, count=count, seed=seed)
    predictions = score_rows(rows, models, config, progress=progress).predictions
    return ProbeRun(
        rows=tuple(rows), predictions=predictions, outcomes=probe_outcomes(rows, predictions)
    )


def _readable(
    traces: Iterable[Trace | InputError], skipped: Callable[[InputError], None]
) -> Iterator[Trace]:
    for one in traces:
        if isinstance(one, Trace):
            yield one
        else:
            skipped(one)


def gather_facts(traces: Iterable[Trace], models: Models, config: Config) -> list[Fact]:
    """Every allowed claim of the traces with the source that supports it, each text once."""
    found: dict[str, Fact] = {}
    for verification in verify_all(traces, models, config):
        for verdict in verification.claims:
            outcome = verdict.outcome
            if verdict.decision is not Decision.ALLOW or not isinstance(outcome, Judged):
                continue
            text = verdict.claim.text.strip()
            if len(text.split()) <= MAX_FACT_WORDS:
                source = verification.trace.source(outcome.route.source_id)
                found.setdefault(
                    text,
                    Fact(
                        text=text,
                        source=source,
                        family=outcome.route.family,
                        patient_specific=verdict.claim.patient_specific,
                    ),
                )
    return list(found.values())


def write_packet(path: Path, rows: Iterable[PacketRow]) -> None:
    """Write rows as a claim packet that ``evaluate`` reads."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row_to_json(row), ensure_ascii=False) + "\n")

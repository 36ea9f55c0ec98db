"""What fills our rows of the paper's tables: one function a table, rows and then notes (V)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from core.bootstrap import Interval, PairedDifference, paired_difference
from core.evaluation.ablations import PLAIN, apply_plain, route_scores
from core.evaluation.columns import pair_columns
from core.evaluation.metrics import Metric, block_f1, sum_by_trace
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from core.evaluation.tables.records import (
    Cell,
    Material,
    Ours,
    RepairRun,
    System,
    cell_text,
)
from core.statistics import mcnemar

THIS = "this verifier"
TAXA = (
    "NLI / not enough evidence", "Wrong route", "Contradiction", "No source", "Missing value",
    "Wrong record", "Conflation", "Too few tokens", "Other",
)  # fmt: skip
_TAXON_OF: Mapping[Cause, str] = {
    Cause.IDENTITY: "Wrong record",
    Cause.CONTRADICTION: "Contradiction",
    Cause.CONFLATION: "Conflation",
    Cause.VALUE: "Missing value",
    Cause.TOKENS: "Too few tokens",
}
CUTOFFS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
# Table 18's figures of this verifier, as it names them.
_UNCERTAIN = {
    "block F1": "block_f1",
    "source accuracy": "source_accuracy",
    "source and relation": "source_relation_accuracy",
    "false-block rate": "false_block_rate",
    "false-pass rate": "false_pass_rate",
    "answer false-block rate": "answer_false_block_rate",
    "answer false-pass rate": "answer_false_pass_rate",
}


def compare_block_f1(
    material: Material, predictions: Sequence[Prediction]
) -> PairedDifference | None:
    """This verifier's block F1 minus another system's, on the same resamples of traces."""
    first = sum_by_trace(pair_columns(material.rows, material.predictions))
    second = sum_by_trace(pair_columns(material.rows, predictions))
    return paired_difference(
        first.per_trace,
        second.per_trace,
        lambda sums: block_f1(first.names, sums),
        resamples=max(1, material.resamples),
        seed=material.seed,
    )


# ---------------------------------------------------------------- tables 1 to 8


def training(material: Material) -> Ours:
    """What the calibrator says of how it was fitted, and this packet's results by it."""
    card = material.card
    if card is None:
        return [("",)], ["Not told here: the claims were decided by another calibrator."]
    settings, data, measures = (_part(card, name) for name in ("settings", "data", "metrics"))
    train, validation = _part(data, "train"), _part(data, "validation")
    held_out, found = material.measured(), _part(measures, "validation_at_threshold")
    shown = {name: cell_text(metric.value) for name, metric in held_out.items()}
    numbers = card["numeric"]
    assert isinstance(numbers, list)
    bad = sum(row.should_block for row in material.rows if row.scored)
    return [
        ("Training target", "binary: the claim is supported by the routed source"),
        ("Rows", f"{train['rows']} training, {validation['rows']} validation "
         f"({data.get('validation_is', 'other traces')}), {_claims(material)} {material.split}"),
        ("Class balance", "; ".join(
            f"{name}: {part['supported_by_route']} supported by the routed source, "
            f"{part['should_block']} to block"
            for name, part in (("training", train), ("validation", validation)))
         + f"; {material.split}: {_claims(material) - bad} good, {bad} to block"),
        ("Preprocessing", f"{len(numbers)} standardised numbers, "
         f"{len(_part(card, 'categorical'))} one-hot categories"),
        ("Random forest", ", ".join(f"{name} {settings[name]}" for name in (
            "trees", "max_depth", "min_samples_leaf", "class_weight", "criterion", "seed"))),
        ("Threshold selection", f"{card['threshold']}: {card['threshold_rule']}; "
         f"by block F1, as the paper chooses, {card['paper_threshold']}"),
        ("Validation result", ", ".join(
            f"{name.replace('_', ' ')} {found[name]:.3f}"
            for name in ("block_f1", "block_precision", "block_recall", "block_accuracy"))),
        (f"Result on {material.split}", ", ".join(
            f"{name.replace('_', ' ')} {shown[name]}"
            for name in ("block_f1", "block_precision", "block_recall", "block_accuracy"))
         + f"; block F1 95% CI {_ends(held_out['block_f1'].interval)}"),
    ], []  # fmt: skip


def _part(card: Mapping[str, object], name: str) -> Mapping[str, object]:
    """A part of a card by its name."""
    found = card[name]
    assert isinstance(found, Mapping)
    return found


def splits(material: Material) -> Ours:
    """Claim-level results of the packet."""
    metrics = material.measured()
    names = (
        "verdict_accuracy", "verdict_macro_f1_of_four", "block_precision", "block_recall", "block_f1",
        "source_accuracy", "source_relation_accuracy",
    )  # fmt: skip
    shown = {name: cell_text(metric.value) for name, metric in metrics.items()}
    return [(material.split, _claims(material), *_values(metrics, *names))], [
        "Other traces than the paper's: the unit is the same, the difficulty is not.",
        f"Blocking everything would score block F1 {shown['block_all_f1']} here; false blocks "
        f"{shown['false_block_rate']}, false passes {shown['false_pass_rate']}.",
        *(f"{name}: {metrics[name].reason}." for name in names if metrics[name].reason),
    ]


def multi_source(material: Material) -> Ours:
    """Claims with more than one candidate source."""
    several = _subset(material, lambda row: len(row.sources) > 1)
    metrics = several.measured() if several.rows else {}
    traces = len({row.trace_id for row in several.rows})
    pairs = sum(len(row.sources) for row in several.rows)
    values = _values(metrics, "block_f1", "source_accuracy", "source_relation_accuracy")
    return [(material.split, traces, _claims(several), pairs, *values)], []


def stress_counts(material: Material) -> Ours:
    """How many claims each stress slice holds; slices overlap."""
    several = [row for row in material.rows if len(row.sources) > 1]
    tools = [row for row in material.rows if len({s.tool_name for s in row.sources}) > 1]
    one_best = sum(len(row.gold_source_ids) == 1 for row in several)
    named = Counter(name for row in material.rows for name in row.slices)
    return [
        ("all claims", len(material.rows)),
        ("several tool outputs present", len(several)),
        ("several tools present", len(tools)),
        ("exactly one right source among several", one_best),
        *sorted(named.items()),
    ], []


def stress_results(material: Material) -> Ours:
    """Results by slice, with both error rates and intervals."""
    rows: list[tuple[Cell, ...]] = []
    for name in sorted({name for row in material.rows for name in row.slices}):
        inside = _subset(material, lambda row, name=name: name in row.slices)  # type: ignore[misc]
        metrics = inside.measured()
        f1 = metrics["block_f1"]
        rates = _values(
            metrics, "false_block_rate", "false_pass_rate", "source_accuracy",
            "source_relation_accuracy",
        )  # fmt: skip
        rows.append((name, _claims(inside), f1.value, _ends(f1.interval), *rates))
    return rows, []


def packet_latency(material: Material) -> Ours:
    """Seconds a stage call took on packet claims, which are not decomposed."""
    return _latency(material.latency_seconds)


def decomposition(material: Material) -> Ours:
    """Agreement of the rule-based decomposer with a reference set."""
    found = material.decomposition
    if found is None:
        return [("rule-based",)], ["Not measured here: it needs the captured answers (--answers)."]
    rates = (found.precision, found.recall, found.f1, found.value_exact)
    rounded = (None if rate is None else round(rate, 6) for rate in rates)
    return [("rule-based", found.answers, found.predicted, found.reference, *rounded)], []


# ---------------------------------------------------------------- tables 11 to 16


def router_ablation(material: Material) -> Ours:
    """Routing alone, NLI alone, and both under the calibrator."""
    metrics = material.measured()
    plain = material.measured(apply_plain("nli-only", material.predictions))
    most = max((len(row.sources) for row in material.rows), default=0)
    return [
        ("router only: this run's", "top-1 source accuracy", metrics["source_accuracy"].value),
        *(
            (
                f"router only: {system.name}",
                "top-1 source accuracy",
                material.measured(system.predictions)["source_accuracy"].value,
            )
            for system in material.routers
            if system.predictions is not None
        ),
        *(
            ("router only: this run's", f"recall@{k}", metrics[f"recall_at_{k}"].value)
            for k in (3, 5)
        ),
        ("NLI only", "block F1", plain["block_f1"].value),
        ("NLI only", "block recall", plain["block_recall"].value),
        ("calibrated, source-aware", "block F1", metrics["block_f1"].value),
        ("calibrated, source-aware", "block recall", metrics["block_recall"].value),
    ], [
        f"Claims here have up to {most} candidate sources; recall@k says something only where "
        "there are more than k."
    ]


def ablations(material: Material) -> Ours:
    """Development variants, with McNemar's test of block decisions against the product."""
    names = (
        "verdict_accuracy", "block_recall", "block_f1", "source_accuracy",
        "source_relation_accuracy", "false_block_rate", "false_pass_rate",
    )  # fmt: skip
    plain = (
        System(name=name, note=note, predictions=apply_plain(name, material.predictions))
        for name, (note, _) in PLAIN.items()
    )
    return _systems(
        (*plain, *material.variants, _own(material)),
        lambda predictions: (
            *_values(material.measured(predictions), *names),
            _mcnemar(material, predictions),
        ),
    )


def joint_systems(material: Material) -> Ours:
    """Ways to choose the source, each with the decision that follows."""
    names = (
        "relation_accuracy", "source_accuracy", "source_relation_accuracy", "block_f1",
        "verdict_accuracy",
    )  # fmt: skip
    return _systems(
        (_own(material), *material.routers),
        lambda predictions: _values(material.measured(predictions), *names),
    )


def route_cutoffs(material: Material) -> Ours:
    """What a hard cutoff on the route score would keep."""
    scores = route_scores(material.rows, material.predictions)
    rows: list[tuple[Cell, ...]] = []
    for cutoff in CUTOFFS:
        kept = [(eligible, right) for score, eligible, right in scores if score >= cutoff]
        eligible = [right for is_eligible, right in kept if is_eligible]
        accuracy = round(sum(eligible) / len(eligible), 6) if eligible else None
        rows.append((cutoff, len(kept), _claims(material) - len(kept), accuracy))
    return rows, []


def blocked_taxonomy(material: Material) -> Ours:
    """Why claims were blocked, one cause a claim, most serious first."""
    causes = Counter(
        _taxon(row, found)
        for row, found in zip(material.rows, material.predictions, strict=True)
        if row.scored and found.blocked
    )
    return [(material.split, causes.total(), *(causes[name] for name in TAXA))], []


def _taxon(row: PacketRow, found: Prediction) -> str:
    if found.cause in _TAXON_OF:
        return _TAXON_OF[found.cause]
    if found.routed_source_id is None:
        return "No source"
    if row.source_eligible and found.routed_source_id not in row.gold_source_ids:
        return "Wrong route"
    return "NLI / not enough evidence" if found.cause is Cause.SUPPORT else "Other"


# ---------------------------------------------------------------- tables 17 and 18


def baselines(material: Material) -> Ours:
    """Source-blind support baselines on the same claims, compared on blocking alone."""
    names = (
        "block_precision", "block_recall", "block_f1", "verdict_accuracy", "verdict_macro_f1_of_four",
        "false_block_rate", "false_pass_rate",
    )  # fmt: skip
    block_all = System(
        name="block everything",
        note="",
        predictions=apply_plain("block-all", material.predictions),
    )
    return _systems(
        (_own(material), block_all, *material.baselines),
        lambda predictions: (
            _claims(material),
            *_values(material.measured(predictions), *names),
        ),
        named=lambda system: (
            f"{system.name} (unavailable)" if system.predictions is None else _labelled(system)
        ),
    )


def uncertainty(material: Material) -> Ours:
    """Intervals, and paired differences in block F1 between this verifier and others."""
    own = material.measured()
    rows: list[tuple[Cell, ...]] = [
        (f"{THIS}: {label}", own[name].value, _ends(own[name].interval))
        for label, name in _UNCERTAIN.items()
    ]
    for system in material.baselines:
        if system.predictions is None:
            continue
        theirs = material.measured(system.predictions)["block_f1"]
        compared = compare_block_f1(material, system.predictions)
        lead: tuple[Cell, ...] = ()
        if compared is not None:
            lead = f"{compared.value:+.3f} {_ends(compared.interval)}", compared.p_two_sided
        rows.append((f"{_labelled(system)}: block F1", theirs.value, _ends(theirs.interval), *lead))
    return rows, [
        f"{material.resamples} trace-level bootstrap resamples, seed {material.seed}; p is two-sided, "
        "paired."
    ]


# ---------------------------------------------------------------- tables 9, 10 and 19 to 21


def repair_rebuilt(material: Material) -> Ours:
    """Repair of answers rebuilt from the packet's rows."""
    found = material.repair
    if found is None:
        return [(material.split,)], ["No repair run was given."]
    counts = found.answers, found.blocked_before, found.resolved, found.allowed_after
    return [(found.packet, *counts, found.terminal_fallbacks)], []


def repair_latency(material: Material) -> Ours:
    """Seconds a stage call took when answers were repaired."""
    return _latency(material.repair.latency_seconds if material.repair else {})


def repair_full(material: Material) -> Ours:
    """Repair of whole captured traces."""
    found: RepairRun | None = material.captured
    if found is None:
        return [()], ["Give the figures of a repair run: `provenanceguard repair … --json`."]
    before = found.answers, found.allowed_before, found.blocked_before
    return [(*before, found.resolved, found.terminal_fallbacks, found.allowed_after)], []


def conflation_probes(_: Material) -> Ours:
    """None on a packet: they are planted in captured answers."""
    return [], [
        "`probe` plants wrong credits in captured answers, each with a right twin, and `probe --repair` "
        "counts what repair makes of them. The paper has no twins: a detector that flags everything "
        "would also find 50 of 50."
    ]


def adjudication(material: Material) -> Ours:
    """How the packet's labels came about."""
    found = (row.extra.get("adjudication") for row in material.rows)
    statuses = Counter(
        str(status)
        for entry in found
        if isinstance(entry, Mapping) and (status := entry.get("status", ""))
    )
    return [
        ("claims in the packet", len(material.rows)),
        ("labelled claims", _claims(material)),
        *((f"adjudication: {name}", count) for name, count in sorted(statuses.items())),
    ], [] if statuses else ["The packet says nothing of who labelled it."]


# ---------------------------------------------------------------- rows and cells


def _systems(
    systems: Iterable[System],
    cells: Callable[[Sequence[Prediction]], tuple[Cell, ...]],
    named: Callable[[System], str] = lambda system: system.name,
) -> Ours:
    """A row a system; one without predictions has no cells, and a note why."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for system in systems:
        if system.predictions is None:
            rows.append((named(system),))
            notes.append(f"{system.name}: unavailable, {system.reason}.")
        else:
            rows.append((named(system), *cells(system.predictions)))
    return rows, notes


def _own(material: Material) -> System:
    return System(name=THIS, note="", predictions=material.predictions)


def _labelled(system: System) -> str:
    return f"{system.name} ({system.note})" if system.note else system.name


def _subset(material: Material, wanted: Callable[[PacketRow], bool]) -> Material:
    """The same material for the rows that are wanted, with their predictions."""
    pairs = [
        (row, found)
        for row, found in zip(material.rows, material.predictions, strict=True)
        if wanted(row)
    ]
    return Material(
        rows=[row for row, _ in pairs],
        predictions=[found for _, found in pairs],
        split=material.split,
        resamples=material.resamples,
        seed=material.seed,
    )


def _claims(material: Material) -> int:
    """How many of the rows have a label."""
    return sum(row.scored for row in material.rows)


def _values(metrics: Mapping[str, Metric], *names: str) -> tuple[Cell, ...]:
    return tuple(metrics[name].value if name in metrics else None for name in names)


def _ends(interval: Interval | None) -> Cell:
    return None if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _mcnemar(material: Material, predictions: Sequence[Prediction]) -> Cell:
    """McNemar's p-value of the decisions against this verifier's."""
    if predictions is material.predictions:
        return None
    rows = [row for row in material.rows if row.scored]
    right = []
    for system in (material.predictions, predictions):
        blocked = {found.claim_id: found.blocked for found in system}
        right.append([blocked[row.claim_id] == row.should_block for row in rows])
    return round(mcnemar(*right), 6)


def _latency(seconds: Mapping[str, Sequence[float]]) -> Ours:
    """Mean, P50, P95 and maximum of each stage's calls."""
    rows: list[tuple[Cell, ...]] = []
    for stage in sorted(seconds):
        spent = np.array(seconds[stage])
        if len(spent):
            figures = (spent.mean(), *np.quantile(spent, [0.5, 0.95]), spent.max())
            rows.append((stage, len(spent), *(round(float(figure), 6) for figure in figures)))
    notes = [
        "The paper prints <0.001 where 0.001 stands here. A batched call is shared among its "
        "claims by their part of the batch."
    ]
    if not rows:
        notes.append("No stage was timed: the predictions were read, not computed.")
    return rows, notes

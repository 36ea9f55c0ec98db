"""Other systems on the same packet: ablations, baselines, repairs, and the tables made of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.bootstrap import RESAMPLES
from core.calibration.threshold import by_block_f1, sweep
from core.calibration.verdict_head import Variant, fit_variants
from core.capture.reading import read_traces
from core.config import Config
from core.decomposition.claims import decompose
from core.errors import BadRecord, ComponentUnavailable, ConfigError, InputError
from core.evaluation.ablations import PLAIN, apply_plain
from core.evaluation.baselines import Baseline
from core.evaluation.baselines.checkpoints import load_published
from core.evaluation.baselines.pooled import AlignScoreStyle, MiniCheckStyle, RagasStyle
from core.evaluation.baselines.summac import SummacZS
from core.evaluation.blind import blind_predictions, blind_scores
from core.evaluation.columns import pair_columns
from core.evaluation.decomposition import DecompositionAgreement, measure_decomposition
from core.evaluation.frozen import answer_of, readable
from core.evaluation.kept import read_predictions
from core.evaluation.metrics import measure
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction, at_threshold
from core.evaluation.report import Report, metric_entry
from core.evaluation.scoring import PredictionFile, score_rows
from core.evaluation.tables import TABLES, Material, RepairRun, System, Table, make_table
from core.models.forest import Forest
from core.pipeline import Models
from core.ports import NliModel, Progress
from core.records import ClaimType, JsonObject, Source, Trace, VerdictLabel
from core.workflows.evaluate import Evaluated, evaluate, score_packet
from core.workflows.recalibrate import refuse_held_out, training_rows
from core.workflows.repair import RepairReport, outcome_of, repair_all
from core.workflows.verify import silent

if TYPE_CHECKING:
    from core.workflows.judged_packet import JudgedPacket

# Variants that read anew: what they change in the configuration.
READ_ANEW: Mapping[str, tuple[str, dict[str, object]]] = {
    "centroid-router": ("The paper's: the source with the nearest centroid.", {"router": "centroid"}),
    "evidence-router": ("Words, vectors and NLI scores choose the source.", {"router": "evidence"}),
    "claim-relevant-windows": ("Premises of at most 500 characters.", {"premise_characters": 500}),
    "read-one": ("Only the first candidate is read.", {"read_sources": 1}),
    "read-two": ("The first two candidates are read.", {"read_sources": 2}),
}  # fmt: skip
FITTED = (
    "raw verdict head",
    "raw head + validation threshold",
    "raw head + high-recall threshold",
    "evidence-calibrated blend",
    "calibrated-score ensemble",
)


def ablation_names() -> tuple[str, ...]:
    """Every name that ``ablate`` takes."""
    return (*PLAIN, *READ_ANEW, *FITTED)


def ablate(
    name: str,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    *,
    development: Development | None = None,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Evaluated:
    """The same packet under one variant; ConfigError for a name that is not known.

    A fitted variant needs ``development``; ComponentUnavailable says so without it.
    """
    if name in PLAIN:
        return replace(evaluated, predictions=tuple(apply_plain(name, evaluated.predictions)))
    if name in READ_ANEW:
        changed = replace(config, **READ_ANEW[name][1])  # type: ignore[arg-type]
        file = PredictionFile(kept, models, changed) if kept else None
        scored = score_rows(evaluated.rows, models, changed, kept=file, progress=progress)
        return replace(
            evaluated, predictions=scored.predictions, latency_seconds=scored.latency_seconds
        )
    if name not in FITTED:
        raise ConfigError(
            f"ablation: expected one of {', '.join(ablation_names())}, found {name!r}"
        )
    if development is None:
        raise ComponentUnavailable(
            f"{name}: is fitted, and needs a training and a validation packet"
        )
    (variant,) = [one for one in fitted_variants(development) if one.name == name]
    return replace(evaluated, predictions=tuple(apply_variant(variant, evaluated.predictions)))


def fitted_variants(development: Development) -> tuple[Variant, ...]:
    """Table 12's fitted rows, from the development splits alone; held-out rows are refused."""
    train, validation = development.train, development.validation
    refuse_held_out((*train.rows, *validation.rows))
    return fit_variants(
        training_rows(train.rows, train.predictions),
        training_rows(validation.rows, validation.predictions),
    )


def apply_variant(variant: Variant, predictions: Sequence[Prediction]) -> list[Prediction]:
    """Each claim decided by the variant's score; ungated variants drop the other checks."""
    features = [found.features for found in predictions if found.features is not None]
    scores = iter(variant.scores(features))
    decided = []
    for found in predictions:
        if found.features is None:
            decided.append(found)
            continue
        if not variant.gated:
            found = replace(found, forced=False, if_supported=VerdictLabel.SUPPORTED)
        decided.append(at_threshold(found, round(float(next(scores)), 4), variant.threshold))
    return decided


def variant_systems(evaluated: Evaluated, development: Development | None) -> tuple[System, ...]:
    """The variants as systems of the tables; unavailable ones say why."""
    if development is None:
        reason = "it is fitted, and no training and validation packets were given"
        return tuple(System(name=n, note="", predictions=None, reason=reason) for n in FITTED)
    return tuple(
        System(
            name=variant.name,
            note=variant.objective,
            predictions=apply_variant(variant, evaluated.predictions),
        )
        for variant in fitted_variants(development)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """Development splits with their predictions, for variants and thresholds that are fitted."""

    train: Evaluated
    validation: Evaluated


OUR_NLI_MODEL = ("SummaC-ZS", "SummaC-Conv", "MiniCheck-style", "RAGAS-style", "AlignScore-style")
PUBLISHED = ("MiniCheck", "RAGAS Faithfulness", "AlignScore", "SummaC-ZS")


def baseline_report(system: System, evaluated: Evaluated, *, resamples: int) -> Report:
    """The metrics of one baseline, or why it is unavailable."""
    if system.predictions is None:
        return {"baseline": system.name, "available": False, "reason": system.reason}
    columns = pair_columns(evaluated.rows, system.predictions)
    metrics = measure(columns, resamples=resamples)
    entries: Report = {"baseline": system.name, "available": True, "how": system.note}
    for name in (
        "block_precision",
        "block_recall",
        "block_f1",
        "false_block_rate",
        "false_pass_rate",
        "verdict_accuracy",
        "verdict_macro_f1",
    ):
        entries.update(metric_entry(metrics, name))
    return entries


def baseline_names() -> tuple[str, ...]:
    """Every name that ``load_baseline`` takes."""
    return (*OUR_NLI_MODEL, *(f"published:{name}" for name in PUBLISHED))


def load_baseline(name: str, nli: NliModel, where: str | None = None) -> Baseline:
    """A baseline by name: ``published:NAME`` for published weights, else on our NLI model.

    ComponentUnavailable says why one cannot be had; nothing is imitated.
    """
    if name.startswith("published:"):
        return load_published(name.removeprefix("published:"), where)
    if name == "SummaC-ZS":
        return SummacZS(nli)
    if name == "SummaC-Conv":
        raise ComponentUnavailable("SummaC-Conv: its layer was fitted for an earlier NLI model")
    styles: Mapping[str, type[MiniCheckStyle] | type[RagasStyle] | type[AlignScoreStyle]] = {
        "MiniCheck-style": MiniCheckStyle,
        "RAGAS-style": RagasStyle,
        "AlignScore-style": AlignScoreStyle,
    }
    if name not in styles:
        raise ConfigError(
            f"baseline: expected one of {', '.join(baseline_names())}, found {name!r}"
        )
    return styles[name](nli)


def run_baseline(
    name: str,
    evaluated: Evaluated,
    nli: NliModel,
    *,
    validation: Sequence[PacketRow] = (),
    where: str | None = None,
    progress: Progress | None = None,
) -> System:
    """A baseline's predictions for the packet, or the reason why it is unavailable.

    Its threshold is its published one, or is chosen by block F1 on ``validation`` when given.
    """
    try:
        baseline = load_baseline(name, nli, where)
    except ComponentUnavailable as error:
        return System(name=name, note="", predictions=None, reason=str(error))
    threshold, origin = baseline.natural_threshold, baseline.origin
    note = f"{origin}, threshold {threshold:g}"
    if validation:
        threshold = _chosen_threshold(validation, baseline)
        note = f"{origin}, threshold {threshold:g} from validation"
    scores = blind_scores(evaluated.rows, baseline, progress=progress)
    return System(
        name=baseline.name,
        note=note,
        predictions=blind_predictions(evaluated.rows, scores, threshold),
    )


def _chosen_threshold(rows: Sequence[PacketRow], baseline: Baseline) -> float:
    labelled = [row for row in rows if row.scored]
    if not labelled:
        raise InputError("the validation packet has no labelled claim to choose a threshold on")
    scores = np.nan_to_num(blind_scores(labelled, baseline), nan=-2.0)
    bad = np.array([row.should_block for row in labelled])
    low = -0.99 if scores.min() < 0 else 0.01
    grid = [round(float(step), 2) for step in np.arange(low, 1.0, 0.01)]
    return by_block_f1(sweep(scores, bad, np.zeros(len(bad), dtype=bool), grid)).point.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What ``evaluate`` was asked for besides the packet itself."""

    ablation: str | None = None
    baselines: tuple[str, ...] = ()
    baseline_weights: str | None = None
    tables: tuple[int, ...] = ()
    train: Path | None = None
    validation: Path | None = None
    beside: tuple[Path, ...] = ()  # other systems' predictions for the packet, rows of Table 13
    answers: Path | None = None  # the captured answers of the packet's claims, for Table 8
    repairs: Path | None = None  # figures of a repair run on captured answers, for Table 19
    resamples: int = RESAMPLES
    judged: Callable[[Sequence[PacketRow]], JudgedPacket] | None = None  # who is asked beside it


def check_options(options: Options) -> None:
    """ConfigError for a table, ablation or baseline that does not exist, before any reading."""
    if options.ablation is not None and options.ablation not in ablation_names():
        known = ", ".join(ablation_names())
        raise ConfigError(f"ablation: expected one of {known}, found {options.ablation!r}")
    for name in options.baselines:
        if name not in baseline_names():
            known = ", ".join(baseline_names())
            raise ConfigError(f"baseline: expected one of {known}, found {name!r}")
    for number in options.tables:
        if number not in TABLES:
            known = ", ".join(str(one) for one in sorted(TABLES))
            raise ConfigError(f"table: expected one of {known}, found {number}")
    if (options.train is None) != (options.validation is None):
        raise ConfigError("fitted variants need both a training and a validation packet")
    if options.ablation in FITTED and options.train is None:
        raise ConfigError(f"{options.ablation}: is fitted; give a training and a validation packet")


def rebuilt_answers(rows: Sequence[PacketRow]) -> Iterator[Trace]:
    """One trace for each of the packet's trace ids: its claims, one sentence each, and all sources.

    Rows of one trace that give one source id to different texts keep both.
    """
    by_trace: dict[str, list[PacketRow]] = {}
    for row in rows:
        by_trace.setdefault(row.trace_id, []).append(row)
    for trace_id, own in by_trace.items():
        sources: dict[str, Source] = {}
        for source in (one for row in own for one in row.sources):
            held = sources.get(source.source_id)
            if held is not None and held.text != source.text:
                digest = hashlib.sha256(source.text.encode()).hexdigest()[:8]
                source = replace(source, source_id=f"{source.source_id}#{digest}")
            sources.setdefault(source.source_id, source)
        yield Trace(
            trace_id=trace_id,
            question="",
            answer=" ".join(_sentence(answer_of(row)) for row in own),
            sources=tuple(readable(source) for source in sources.values()),
            category=own[0].category,
        )


def _sentence(text: str) -> str:
    said = text.strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


def repair_rebuilt_answers(
    rows: Sequence[PacketRow],
    models: Models,
    config: Config,
    *,
    packet: str,
    progress: Progress | None = None,
) -> RepairRun:
    """Verify and repair every rebuilt answer; seconds are those of all verifier calls."""
    answers = list(rebuilt_answers(rows))
    report, seconds = RepairReport(), dict[str, list[float]]()
    paper = replace(config, repair_removes_unconfirmed=True)
    made = repair_all(answers, models, paper, None, progress or silent, total=len(answers))
    for before, repair in made:
        report.add(outcome_of(repair))
        for verified in (before, repair.after):
            if verified is not None:
                for stage, spent in verified.latency_seconds.items():
                    seconds.setdefault(stage, []).extend(spent)
    return replace(repair_run(report.document(), packet), latency_seconds=seconds)


def repair_run(figures: JsonObject, packet: str) -> RepairRun:
    """The figures that ``repair`` writes, as the tables take them; BadRecord names what is wrong."""

    def count(name: str) -> int:
        found = figures.get(name)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise BadRecord(f"expected a count, found {found!r:.40}", path=name)
        return found

    resolved = count("repair_resolved")
    return RepairRun(
        packet=packet,
        answers=count("rows"),
        allowed_before=count("pre_allow"),
        blocked_before=count("pre_block"),
        resolved=resolved,
        terminal_fallbacks=count("terminal_fallback"),
        allowed_after=resolved,  # resolved means that the verifier allowed the revision
    )


def router_system(
    name: str,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    *,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> System:
    """One way of choosing the source, as a row of Tables 11 and 13."""
    found = ablate(name, evaluated, models, config, kept=kept, progress=progress)
    return System(name=name, note=READ_ANEW[name][0], predictions=found.predictions)


def other_routers(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    kept: Path | None,
    progress: Progress | None,
) -> tuple[System, ...]:
    """The other router, and systems whose predictions are in files, where a table asks for them."""
    if not {11, 13} & set(options.tables):
        return ()
    other = "evidence-router" if config.router == "centroid" else "centroid-router"
    found = router_system(other, evaluated, models, config, kept=kept, progress=progress)
    return (found, *(_beside(path, evaluated) for path in options.beside))


def _beside(path: Path, evaluated: Evaluated) -> System:
    """A system whose predictions are in a file, as ``evaluate --keep`` writes them."""
    known = {found.claim_id: found for found in read_predictions(path)}
    missing = [row.claim_id for row in evaluated.rows if row.claim_id not in known]
    if missing:
        raise InputError(
            f"{len(missing)} claims of the packet have no prediction, {missing[0]!r} first",
            file=path.name,
        )
    return System(
        name=path.stem,
        note="Predictions from a file.",
        predictions=[known[row.claim_id] for row in evaluated.rows],
    )


def packet_repair(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    packet: str,
    progress: Progress | None,
) -> RepairRun | None:
    """Repairs of answers rebuilt from the packet, where a table asks for them."""
    if not {9, 10} & set(options.tables):
        return None
    return repair_rebuilt_answers(evaluated.rows, models, config, packet=packet, progress=progress)


def captured_repair(path: Path) -> RepairRun:
    """The figures that a repair run wrote; raises InputError naming the file."""
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON: {error}", file=path.name) from error
    if not isinstance(figures, dict):
        raise InputError("expected the figures that `repair --json` writes", file=path.name)
    try:
        return repair_run(figures, path.name)
    except BadRecord as error:
        raise InputError(str(error), file=path.name) from None


def evaluate_with(
    packet_file: Path,
    models: Models,
    config: Config,
    options: Options,
    *,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Report, tuple[Table, ...]]:
    """The evaluation report under the options, and the tables that were asked for.

    With an ablation, the report is the variant's. Baselines stand in the report under
    ``baselines``, with their own metrics or the reason why they are unavailable. Tables 9 and 10
    repair answers rebuilt from the packet; 11 and 13 read it anew with the other router; what needs
    a development packet says so.
    """
    check_options(options)
    development = _development(options, models, config, kept, progress)
    evaluated = score_packet(packet_file, models, config, kept=kept, progress=progress)
    if options.ablation is not None:
        evaluated = ablate(
            options.ablation,
            evaluated,
            models,
            config,
            development=development,
            kept=kept,
            progress=progress,
        )
    report = evaluate(evaluated, resamples=options.resamples)
    if options.judged is not None:
        from core.workflows.judged_packet import judged_packet  # imported only where one is asked

        judged = judged_packet(
            evaluated.rows, evaluated.predictions, options.judged(evaluated.rows), config
        )
        report["judge"] = judged.report
    if options.ablation is not None:
        report["ablation"] = options.ablation
    labelled = development.validation.rows if development else ()
    systems = tuple(
        run_baseline(
            name,
            evaluated,
            models.nli,
            validation=labelled,
            where=options.baseline_weights,
            progress=progress,
        )
        for name in options.baselines
    )
    if systems:
        report["baselines"] = [
            baseline_report(one, evaluated, resamples=options.resamples) for one in systems
        ]
    material = Material(
        rows=evaluated.rows,
        predictions=evaluated.predictions,
        split=packet_file.name,
        latency_seconds=evaluated.latency_seconds,
        card=models.calibrator.card if isinstance(models.calibrator, Forest) else None,
        decomposition=packet_decomposition(options, evaluated.rows, config),
        variants=variant_systems(evaluated, development),
        routers=other_routers(options, evaluated, models, config, kept, progress),
        baselines=systems,
        repair=packet_repair(options, evaluated, models, config, packet_file.name, progress),
        captured=None if options.repairs is None else captured_repair(options.repairs),
        resamples=options.resamples,
    )
    return report, tuple(make_table(number, material) for number in options.tables)


def packet_decomposition(
    options: Options, rows: Sequence[PacketRow], config: Config
) -> DecompositionAgreement | None:
    """Claims of the captured answers against those of the packet; None where no answers are given."""
    if options.answers is None:
        return None
    listed: dict[str, list[str]] = {}
    for row in rows:
        listed.setdefault(row.trace_id, []).append(row.claim)
    return measure_decomposition(
        ([c.text for c in decompose(trace, config) if c.claim_type is ClaimType.FACTUAL],
         listed[trace.trace_id])
        for trace in read_traces([options.answers], "auto", config)
        if isinstance(trace, Trace) and trace.trace_id in listed
    )  # fmt: skip


def _development(
    options: Options,
    models: Models,
    config: Config,
    kept: Path | None,
    progress: Progress | None,
) -> Development | None:
    if options.train is None or options.validation is None:
        return None
    return Development(
        train=score_packet(options.train, models, config, kept=kept, progress=progress),
        validation=score_packet(options.validation, models, config, kept=kept, progress=progress),
    )

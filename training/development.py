"""Fit and measure the support calibrator on development packets, cross-validated by trace.

One command reads the packets, prints how far the figures carry to traces that no fold has seen,
beside what counting shared words alone gives, and with ``--out`` writes the calibrator that ships.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.attribution.families import load_families
from core.calibration.crossed import Array, Fitter, fit_crossed, forest_fitter, out_of_fold
from core.calibration.fit import ForestSettings
from core.calibration.label_card import contradicted_card, labelled
from core.calibration.rows import ROWS_FILE, TrainingRow, write_training_rows
from core.calibration.whole import crossed_whole
from core.config import Config
from core.evaluation.packets import PacketRow, read_packet
from core.evaluation.ranking import ranking_report, ranking_table
from core.evaluation.scoring import Uncalibrated, score_rows
from core.models.forest import DEFAULT_FOLDER
from core.models.loading import load_embedder, load_nli_model
from core.pipeline import Models, versions
from core.ports import Embedder, NliModel, Progress
from core.records import VETOES_FEATURE, VerdictLabel
from core.workflows.cache import KeptEmbedder, KeptNliModel, Shelf
from core.workflows.recalibrate import training_rows

SHARED_WORDS = "evidence_rare_overlap"
NLI_ALONE = "entailment_any"  # the best of all windows that were read of the claim's sources

# What the forest is told, and in which direction more of it may move the support. Of seventy-two measured
# signals most of these carry to other traces best (seventy of them: AUROC lower by 0.02 and 0.05);
# they were chosen on the development packets. Names of tools, the category and sizes of a run tell
# runs apart, and say nothing of a new one. No signal falls as a contradiction grows surer: what an NLI
# score takes from neutral and gives to contradiction would raise the support (docs/decisions).
DIRECTIONS: tuple[tuple[str, int], ...] = (
    ("route_score", 1),
    ("entailment_any", 1),
    ("entailment_outputs", 1),
    ("entailment_calls", 1),
    ("entailment_fit", 1),
    ("entailment_own", 1),
    ("entailment_said", 0),
    ("entailment_max", 1),
    ("evidence_rare_overlap", 1),
    ("terms_nowhere", -1),
    ("values_nowhere", -1),
    ("values_in_calls", 0),
    ("own_work", 0),
    ("checks_supports", 1),
    ("checks_share", 1),
    ("checks_all_support", 1),
    ("checks_derived", 0),
    ("checks_contradicts", -1),
    ("check_value", 1),
    ("check_date", 1),
    ("source_checks_supports", 1),
)


def main() -> None:
    """Read the packets, print the cross-validated tables, and write the calibrator if asked to."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("packets", type=Path, nargs="+", help="packets of real answers")
    parser.add_argument(
        "--more",
        type=Path,
        nargs="*",
        default=[],
        help="packets that only help to grow the trees; read as the others are",
    )
    parser.add_argument("--kept", type=Path, help="a folder where NLI scores are kept between runs")
    parser.add_argument(
        "--nli-model", help="as --nli-model of the commands; without it the bundled one"
    )
    parser.add_argument("--risk", type=float, default=0.05, help="bad-pass rate of the threshold")
    parser.add_argument("--out", type=Path, help=f"where to write it; shipped: {DEFAULT_FOLDER}")
    parser.add_argument("--json", type=Path, help="the tables as JSON")
    options = parser.parse_args()
    config = Config()
    models = measured_models(config, options.kept, options.nli_model)
    packets = {packet_name(path): usable(path, models, config) for path in options.packets}
    more = [row for path in options.more for row in usable(path, models, config)[1]]
    publish(packets, more, options, made_with=versions(models, config).fitted_with())


def publish(
    packets: Mapping[str, tuple[Sequence[PacketRow], Sequence[TrainingRow]]],
    more: Sequence[TrainingRow],
    options: argparse.Namespace,
    made_with: Mapping[str, str],
) -> None:
    """Print the cross-validated tables, and write what the options ask for.

    ``options`` has ``risk``, ``json`` and ``out`` as the command's own, and ``more`` as paths.
    """
    settings = ForestSettings(directions=DIRECTIONS)
    tables = cross_validated(packets, more, settings)
    for name, table in tables.items():
        print("\n".join(ranking_table(name, table)))
        print(contradictions(*packets[name]))
    rows = [row for _, of_packet in packets.values() for row in of_packet]
    scores = labelled(rows, out_of_fold(rows, _with(more, forest_fitter(settings))))
    print("\n".join(contradicted_lines(rows, scores.probability)))
    whole = crossed_whole(scores)
    print(
        f"\nAnswers that pass as a whole (8 or more claims, points chosen on other answers): "
        f"{whole.good_passed} of {whole.good} right ones, {whole.bad_passed} of {whole.bad} others"
    )
    if options.json:
        options.json.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
    if not options.out:
        return
    names = [*packets, *(path.name for path in options.more)]
    fitted = fit_crossed(
        [*rows, *more],
        [True] * len(rows) + [False] * len(more),
        settings=settings,
        risk=options.risk,
        made_with={**made_with, "packets": ", ".join(names)},
    )
    name = fitted.save(options.out)
    apart = apart_traces([row.trace_id for row in rows])
    write_training_rows(
        [row for row in (*rows, *more) if row.trace_id not in apart],
        options.out / ROWS_FILE,
        validation=[row for row in rows if row.trace_id in apart],
    )
    point = fitted.choice.point
    print(
        f"{name}: threshold {point.threshold:g} ({fitted.choice.rule}"
        f"{'' if fitted.choice.met else ', not met'}), needs a person from "
        f"{fitted.card['review_from']}; good blocked {point.false_block_rate:.3f}, "
        f"bad passed {point.false_pass_rate:.3f}"
    )


def apart_traces(trace_ids: Iterable[str]) -> set[str]:
    """The tenth of the traces that stands in for validation where a site adds its labels."""
    return set(sorted(set(trace_ids))[::10])


def contradictions(gold: Sequence[PacketRow], rows: Sequence[TrainingRow]) -> str:
    """How often a claim is labelled contradicted where a check shows it, and where the NLI model
    says so."""
    labelled = np.array([row.label is VerdictLabel.CONTRADICTED for row in gold])

    def told(name: str, at_least: float) -> NDArray[np.bool_]:
        return np.array([row.features.numeric[name] >= at_least for row in rows])

    shown = told("checks_vetoes", 1.0)
    read = told("contradiction", 1.0) & told("pred_score", Config().contradiction_block_probability)
    return (
        f"\nContradicted: {labelled.sum()} claims. Shown by a check: {(shown & labelled).sum()} of "
        f"{shown.sum()} right; taken so by the reader: {(read & labelled).sum()} of {read.sum()} right."
    )


def contradicted_lines(rows: Sequence[TrainingRow], probability: NDArray[np.float64]) -> list[str]:
    """How often claims were contradicted by what speaks against them; what a
    check shows and the NLI scores dispute does not count, as in the card."""
    lines = ["", "Contradicted, by what speaks against a claim:"]
    for cause, told in contradicted_card(rows, probability).items():
        lines.append(
            f"- {cause}: {told['contradicted']} of {told['claims']} claims of {told['answers']} answers "
            f"(95 % interval {told['low']} to {told['high']})"
        )
    return lines


def cross_validated(
    packets: Mapping[str, tuple[Sequence[PacketRow], Sequence[TrainingRow]]],
    more: Sequence[TrainingRow],
    settings: ForestSettings,
) -> dict[str, dict[str, object]]:
    """Every system on the same folds, grouped by trace: a table for each packet."""
    rows = [row for _, of_packet in packets.values() for row in of_packet]
    gold = [row for of_packet, _ in packets.values() for row in of_packet]
    where = np.repeat(list(packets), [len(rows) for _, rows in packets.values()])
    systems = {
        "forest": forest_fitter(settings),
        "forest, any direction": forest_fitter(
            ForestSettings(directions=tuple((name, 0) for name, _ in settings.directions))
        ),
    }
    scores: dict[str, Array] = {
        name: out_of_fold(rows, _with(more, fit)) for name, fit in systems.items()
    }
    scores["NLI model alone"] = np.array([row.features.numeric[NLI_ALONE] for row in rows])
    scores["shared words alone"] = np.array([row.features.numeric[SHARED_WORDS] for row in rows])
    scores["block everything"] = np.zeros(len(rows))
    # What a check vetoes is held down by its probability already.
    forced = np.array([row.forced and not row.features.numeric[VETOES_FEATURE] for row in rows])
    scores["forest with vetoes"] = np.where(forced, -1.0, scores["forest"])
    return {
        name: ranking_report(
            [row for row, place in zip(gold, where, strict=True) if place == name],
            {system: score[where == name] for system, score in scores.items()},
        )
        for name in packets
    }


def _with(more: Sequence[TrainingRow], fit: Fitter) -> Fitter:
    """The same, with rows that are in every training fold and in no test."""
    return lambda rows: fit([*rows, *more])


def packet_name(path: Path) -> str:
    """What a packet is called; splits of one set are called after the set as well."""
    name = path.name.split(".")[0]
    return f"{path.parent.name}_{name}" if name in ("train", "validation") else name


def usable(
    path: Path, models: Models, config: Config
) -> tuple[tuple[PacketRow, ...], tuple[TrainingRow, ...]]:
    """The labelled rows of a packet that could be judged, with their features."""
    rows = trainable(path)
    scored = score_rows(rows, models, config, progress=_progress(path.name)).predictions
    judged = [(row, one) for row, one in zip(rows, scored, strict=True) if one.features is not None]
    kept = tuple(row for row, _ in judged)
    return kept, tuple(training_rows(kept, [one for _, one in judged]))


def trainable(path: Path) -> list[PacketRow]:
    """Return the labelled rows of a packet; held-out ones are never among them."""
    return [row for row in read_packet(path).rows if row.scored and not row.held_out]


def _progress(name: str) -> Progress:
    def tell(done: int, total: int | None, what: str) -> None:
        print(f"{name}: {done} of {total} {what}", file=sys.stderr)

    return tell


def measured_models(config: Config, kept: Path | None, chosen: str | None) -> Models:
    """The models that features are gathered with: no calibrator yet, NLI scores kept where asked for."""
    embedder: Embedder = load_embedder()
    nli: NliModel = load_nli_model(chosen, max_tokens=config.nli_max_tokens)
    if kept:
        embedder = KeptEmbedder(embedder, Shelf(kept / "embed.db"))
        nli = KeptNliModel(nli, Shelf(kept / "read.db"))
    return Models(embedder=embedder, nli=nli, calibrator=Uncalibrated(), families=load_families())


if __name__ == "__main__":
    main()

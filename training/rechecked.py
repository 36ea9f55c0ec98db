"""Fit and measure calibrators anew after a change of the checks, without reading a claim again.

    python -m training.rechecked PACKETS --more answers.jsonl charts.jsonl --calibrator \\
        core/models/weights/calibrator --risk 0.15 --json figures.json --out calibrator

Beside every calibrator stand the rows that it was fitted on, and in them what NLI models of folds said of
each claim (`training.development`). That does not change with a check; what the checks say is gathered
anew from the packets, which must be the same, in the same order. Packets of ``--new`` are not among them
yet: they are read now, by an NLI model that was not taught with them. With ``--close`` so is what
is closest to each claim, by what an NLI model learned of reading close, which must not be of these
packets: the part that ships keeps a rest of what the weights beside it learned, so that the NLI
model is named of which it was made.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.calibration.rows import ROWS_FILE, TrainingRow, read_training_rows
from core.config import Config
from core.distortions.checks import check_distortions
from core.errors import InputError
from core.evaluation.packets import PacketRow
from core.evidence.checks import check_claim
from core.models.forest import CARD_FILE, DEFAULT_FOLDER
from core.records import CLOSE_FEATURE, CLOSE_READ_FEATURE, VETOES_FEATURE, VerdictLabel
from core.text.tokens import content_terms, overlap
from core.verification.candidates import shown_sources
from core.verification.features import (
    claim_signals,
    close_signals,
    nli_signals,
    source_check_signals,
)
from core.verification.prepare import Models, OpenTrace
from core.verification.reading import score_focused_premises
from training.claim_windows import opened_cases, opened_claims
from training.development import (
    apart_traces,
    measured_models,
    packet_name,
    publish,
    trainable,
    usable,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the cross-validated tables with the checks as they are now, and write the calibrator."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "packets", type=Path, nargs="+", help="those of the calibrator, in its order"
    )
    parser.add_argument(
        "--more", type=Path, nargs="*", default=[], help="what only helped to grow its trees"
    )
    parser.add_argument(
        "--new",
        type=Path,
        nargs="*",
        default=[],
        help="what is to help from now on, read by --nli-model",
    )
    parser.add_argument(
        "--close",
        type=Path,
        nargs="*",
        default=[],
        help="read each claim's focused premise anew, by what the NLI model learned",
    )
    parser.add_argument("--close-nli-model", help="by whom; a folder with close.safetensors")
    parser.add_argument("--nli-model", help="whose calibrator it is; without it the bundled one")
    parser.add_argument(
        "--calibrator", type=Path, default=DEFAULT_FOLDER, help="whose rows to take"
    )
    parser.add_argument("--risk", type=float, default=0.05, help="bad-pass rate of the threshold")
    parser.add_argument("--out", type=Path, help="where to write the calibrator")
    parser.add_argument("--json", type=Path, help="the tables as JSON")
    options = parser.parse_args(arguments)
    by_packet = {packet_name(path): trainable(path) for path in options.packets}
    more = [row for path in options.more for row in trainable(path)]
    gold = [row for rows in by_packet.values() for row in rows]
    kept = kept_rows(options.calibrator, gold, more)
    models = measured_models(Config(), None, options.nli_model)
    closely = models
    if options.close_nli_model:
        closely = measured_models(Config(), None, options.close_nli_model)
    read = read_close(options.close, closely)
    kept = list(with_close(kept, read))
    anew = {
        row.claim_id: one
        for row, one in zip([*gold, *more], rechecked([*gold, *more], kept, models), strict=True)
    }
    grown = [anew[row.claim_id] for row in more]
    for path in options.new:
        grown += usable(path, [models], Config())[1]
    options.more = [*options.more, *options.new]
    made = json.loads((options.calibrator / CARD_FILE).read_text(encoding="utf-8"))["made_by"]
    made["pair_reader"] = models.nli.name
    publish(
        {name: (rows, [anew[r.claim_id] for r in rows]) for name, rows in by_packet.items()},
        grown,
        options,
        made_with={name: value for name, value in made.items() if name != "packets"},
    )


def kept_rows(
    folder: Path, gold: Sequence[PacketRow], more: Sequence[PacketRow]
) -> list[TrainingRow]:
    """The kept rows in the packets' order; raises InputError where they are not of these packets."""
    found = read_training_rows(folder / ROWS_FILE)
    apart = apart_traces(row.trace_id for row in gold)
    train, validation = iter(found.train), iter(found.validation)
    rows = []
    for row in (*gold, *more):
        side = validation if row.trace_id in apart else train
        kept = next(side, None)
        if kept is None or kept.should_block is not row.should_block:
            raise InputError(
                f"{folder / ROWS_FILE}: not the rows of these packets, at {row.claim_id!r}"
            )
        rows.append(replace(kept, claim_id=row.claim_id, trace_id=row.trace_id))
    if next(train, None) or next(validation, None):
        raise InputError(f"{folder / ROWS_FILE}: holds more rows than these packets")
    return rows


def read_close(packets: Sequence[Path], models: Models) -> dict[str, dict[str, float]]:
    """What these models read close says of each labelled claim; signals by claim."""
    found: dict[str, dict[str, float]] = {}
    for rows in map(trainable, packets):
        for row, (one, case) in zip(rows, opened_cases(rows, models, Config()), strict=True):
            own_work = claim_signals(case.claim, case.checks, one).shared["own_work"]
            close = score_focused_premises([case], models.nli)
            found[row.claim_id] = close_signals(case, case.windows, close, own_work)
    return found


def with_close(
    kept: Sequence[TrainingRow], read: Mapping[str, Mapping[str, float]]
) -> Iterator[TrainingRow]:
    """Yield each row with what was now read close; where nothing was, as it is."""
    for row in kept:
        numeric = {**row.features.numeric, **read.get(row.claim_id, {})}
        yield replace(row, features=replace(row.features, numeric=numeric))


def rechecked(
    gold: Sequence[PacketRow], kept: Sequence[TrainingRow], models: Models
) -> Iterator[TrainingRow]:
    """Yield each row with what checks, words and values say now, and what NLI models said then."""
    opened = opened_claims(gold, models, Config())
    for row, old, (one, claim) in zip(gold, kept, opened, strict=True):
        checks = (*check_claim(claim, one.facts), *check_distortions(claim, one.prose))
        # Rows of NLI models that were not taught to read close.
        numeric = {
            CLOSE_FEATURE: old.features.numeric["entailment_outputs"],
            CLOSE_READ_FEATURE: 0.0,
        }
        numeric |= old.features.numeric
        numeric |= claim_signals(claim, checks, one).shared
        shown = shown_sources(checks) & {each.source.source_id for each in one.evidence.sources}
        numeric |= source_check_signals(checks, min(shown, default=_routed(old, one)))
        numeric |= nli_signals(
            numeric["entailment_outputs"], numeric["entailment_calls"], numeric["own_work"]
        )
        supported = old.supported_by_route
        if shown:  # that source is the one it rests on now
            right = not row.source_eligible or bool(shown & set(row.gold_source_ids))
            supported = row.label is VerdictLabel.SUPPORTED and right
        vetoed = numeric[VETOES_FEATURE] > 0
        otherwise = old.forced and not old.features.numeric[VETOES_FEATURE]
        yield replace(
            old,
            features=replace(
                old.features, numeric={name: round(float(n), 4) for name, n in numeric.items()}
            ),
            supported_by_route=supported,
            forced=vetoed or otherwise,
            contradicted=row.label is VerdictLabel.CONTRADICTED,
        )


def _routed(old: TrainingRow, one: OpenTrace) -> str:
    """The source that was routed to: the rows name its tool, and how many of the claim's words it holds."""
    features, (claim,) = old.features, one.claims
    terms = content_terms(claim.text)

    def fit(place: int) -> tuple[bool, bool, float, int]:
        indexed = one.evidence.sources[place]
        own = abs(round(overlap(terms, indexed.terms), 4) - features.numeric["source_overlap"])
        return (
            indexed.source.tool_name != features.categorical["pred_tool"],
            len(indexed.chunks) != features.numeric["evidence_chunks_n"],
            own,
            place,
        )

    return one.evidence.sources[min(range(len(one.evidence.sources)), key=fit)].source.source_id


if __name__ == "__main__":
    main()

"""How well a claim's risk ranks read claims, beside its support probability and shared words.

``python bench/risk_bench.py PACKET --kept FOLDER`` verifies the packet's claims with the bundled
reader. The support is that of a forest fitted without the claim's trace (five folds by trace); the
risk is fitted to nothing but the two cut-offs of grounding, whose error is printed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from core.attribution.families import load_families  # noqa: E402
from core.calibration.crossed import forest_fitter, out_of_fold  # noqa: E402
from core.calibration.fit import ForestSettings  # noqa: E402
from core.config import Config  # noqa: E402
from core.evaluation.frozen import freeze  # noqa: E402
from core.evaluation.packets import read_packet  # noqa: E402
from core.evaluation.ranking_scores import auroc, bad_passed_at  # noqa: E402
from core.evaluation.scoring import Uncalibrated, score_rows  # noqa: E402
from core.models.loading import load_embedder, load_pair_reader  # noqa: E402
from core.pipeline import Models, verify_claims  # noqa: E402
from core.provenance.fabrication import everything_captured, fabricated_values  # noqa: E402
from core.provenance.risk import (  # noqa: E402
    GROUNDED_FROM,
    PARAMETRIC_BELOW,
    grounding_score,
    risk_of,
)
from core.records import Judged  # noqa: E402
from core.workflows.kept_readings import FileShelf, KeptEmbedder, KeptReader  # noqa: E402
from core.workflows.recalibrate import training_rows  # noqa: E402
from training.development import DIRECTIONS, SHARED_WORDS  # noqa: E402


def main() -> None:
    """Print AUROC and the bad claims passed at fixed shares of good ones blocked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packets", nargs="+", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    options = parser.parse_args()
    config = Config()
    models = Models(
        embedder=KeptEmbedder(load_embedder(), FileShelf(options.kept / "embed.db")),
        reader=KeptReader(
            load_pair_reader(max_tokens=config.nli_max_tokens), FileShelf(options.kept / "read.db")
        ),
        calibrator=Uncalibrated(),
        families=load_families(),
    )
    for path in options.packets:
        _packet(path, models, config)


def _packet(path: Path, models: Models, config: Config) -> None:
    rows = [row for row in read_packet(path).rows if row.scored and not row.held_out]
    rows.sort(key=lambda row: (row.trace_id, row.claim_id))
    fitted = training_rows(rows, score_rows(rows, models, config).predictions)
    support = out_of_fold(fitted, forest_fitter(ForestSettings(directions=DIRECTIONS)))
    frozen = []
    for row in rows:
        trace, claim = freeze(row, models.families)
        frozen.append((trace, (claim,)))
    parts, likeness = [], []
    for verified in verify_claims(frozen, models, config):
        (verdict,) = verified.claims
        if not isinstance(verdict.outcome, Judged):
            continue
        made_up = fabricated_values(verdict, everything_captured(verified.trace))
        risk = risk_of(verdict.outcome, made_up)
        parts.append(
            (risk.total, risk.attribution, risk.fidelity, risk.entailment, risk.specificity)
        )
        likeness.append(grounding_score(verdict.outcome))
    table, like = np.array(parts), np.array(likeness)
    bad = np.array([row.should_block for row in fitted])
    words = np.array([row.features.numeric[SHARED_WORDS] for row in fitted])
    names = ("risk", "attribution", "fidelity", "entailment", "specificity")
    scores = {name: -table[:, i] for i, name in enumerate(names)}
    scores |= {"support, other folds": support, "shared words": words}
    print(f"{path.name}: {len(bad)} claims, {int(bad.sum())} to block")
    for name, score in scores.items():
        passed = [bad_passed_at(score, bad, rate) for rate in (0.05, 0.1, 0.2)]
        shown = ", ".join(f"{value:.3f}" for value in passed if value is not None)
        print(f"  {name:22} AUROC {auroc(score, bad) or 0:.3f}; bad passed at 5, 10, 20 %: {shown}")
    for name, chosen in (
        ("grounded", like >= GROUNDED_FROM),
        ("mixed", (like >= PARAMETRIC_BELOW) & (like < GROUNDED_FROM)),
        ("parametric", like < PARAMETRIC_BELOW),
    ):
        share = float(bad[chosen].mean()) if chosen.any() else float("nan")
        print(f"  {name:22} {int(chosen.sum()):4} claims, {share:.1%} of them to block")
    cuts = np.quantile(like, (0.05, 0.1, 0.25, 0.5, 0.75))
    print("  likeness at 5, 10, 25, 50, 75 %:", ", ".join(f"{cut:.2f}" for cut in cuts))


if __name__ == "__main__":
    main()

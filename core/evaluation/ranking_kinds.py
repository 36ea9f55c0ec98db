"""The ranking by how a claim is supported and by kind of error, for every system (V.1).

Good claims of one kind are ranked against all bad ones, and bad ones of one kind against all good
ones: whoever ranks quotations well and inference by chance shows it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.evaluation.packets import PacketRow
from core.evaluation.ranking_scores import Array, Flags, auroc, auroc_interval, rounded, share_words

# Where packets name an error more closely than by its label: ours, then the sample generator's.
_FINER = ("kind", "defect", "error")
NOT_SAID = "not said"


def how_supported(row: PacketRow) -> str:
    """How a good claim is supported, as the packet names it."""
    return str(row.extra.get("how") or NOT_SAID)


def error_kind(row: PacketRow) -> str:
    """The label of a bad claim, or that it is supported and credited to the wrong source."""
    if row.label is not None and row.label.value != "supported":
        return row.label.value
    return "conflation" if row.should_block else "none"


def finer_kind(row: PacketRow) -> str:
    """What is wrong with a bad claim as closely as the packet names it; else by its label."""
    return next((str(row.extra[name]) for name in _FINER if row.extra.get(name)), error_kind(row))


def by_kind(
    kinds: Sequence[str],
    bad: Flags,
    trace: Sequence[str],
    scores: Mapping[str, Array],
    wrong: Flags,
    *,
    of_bad: bool,
) -> dict[str, dict[str, object]]:
    """Each kind on one side against all of the other: its claims, its share that went ``wrong``, AUROC.

    ``kinds`` and the arrays have shape (claims,). ``of_bad`` takes kinds of the bad claims, else of
    the good ones; ``wrong`` are those decided wrongly at the operating point that is told.
    """
    side = bad if of_bad else ~bad
    found: dict[str, dict[str, object]] = {}
    for kind in sorted({kind for kind, inside in zip(kinds, side, strict=True) if inside}):
        inside = side & np.array([one == kind for one in kinds])
        kept = inside | ~side
        names = [one for one, keep in zip(trace, kept, strict=True) if keep]
        found[kind] = {
            "claims": int(inside.sum()),
            "share": rounded(float(wrong[inside].mean())),
            "systems": {
                system: {
                    "auroc": rounded(auroc(score[kept], bad[kept])),
                    "auroc_ci95": auroc_interval(score[kept], bad[kept], names),
                }
                for system, score in scores.items()
            },
        }
    return found


def kind_table(title: str, wrong: str, kinds: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The kinds as a Markdown table, the most frequent first."""
    if not kinds:
        return []
    rows = sorted(kinds.items(), key=lambda item: -int(str(item[1]["claims"])))
    systems = list(_systems(rows[0][1]))
    lines = [
        "",
        f"| {title} | claims | {wrong} | {' | '.join(f'AUROC, {name}' for name in systems)} |",
        "|---|---:|---:|" + "---|" * len(systems),
    ]
    for kind, entry in rows:
        cells = [auroc_words(_systems(entry)[name]) for name in systems]
        lines.append(
            f"| {kind} | {entry['claims']} | {share_words(entry['share'])} | {' | '.join(cells)} |"
        )
    return lines


def auroc_words(entry: Mapping[str, object]) -> str:
    """ "0.808 (0.76–0.85)", or a dash where one side has no claim."""
    value, ends = entry["auroc"], entry["auroc_ci95"]
    if not isinstance(value, float):
        return "–"
    return f"{value:.3f}" + (f" ({ends[0]:.2f}–{ends[1]:.2f})" if isinstance(ends, list) else "")


def _systems(entry: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    systems = entry["systems"]
    assert isinstance(systems, Mapping)
    return systems

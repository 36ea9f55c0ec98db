"""Planted probes in figures: the counts of Table 20, and both errors by kind, direction and form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.statistics import exact_binomial_interval
from core.workflows.planted import PlantedOutcome, groups

HEADER = (
    "Probes",
    "Rows",
    "Accused",
    "Blocked",
    "Twins accused",
    "Twins blocked",
    "Blocked as probe alone",
)
NOTES = (
    "Accused: a claim of the planted sentence is told to be credited wrongly (conflation, a citation "
    "that says otherwise, another person's record). Blocked: a claim of it is blocked for whatever "
    "reason, which a twin is as well where its support is too low: what the wrong credit alone did is "
    "the last column. Intervals are Clopper and Pearson's, 95 %; probes of one answer are not "
    "independent, so that they are rather too narrow.",
)
PAPER_ROW = ("paper (Table 20)", 50, 50, 50, 50, 11, 50, 0)
COUNTS_HEADER = (
    "", "Rows", "Pre block", "Explicit confl.", "Repair resolved", "Terminal fallback", "Post allow",
    "Wrong attr. retained",
)  # fmt: skip


def planted_document(outcomes: Sequence[PlantedOutcome]) -> dict[str, object]:
    """All figures as JSON, and each probe by its id."""
    return {
        "table_20": table_20(outcomes),
        "groups": {name: _figures(chosen) for name, chosen in groups(outcomes)},
        "probes": [
            {
                "probe_id": one.planted.probe_id,
                "trace_id": one.planted.trace_id,
                "kind": one.planted.kind,
                "direction": one.planted.direction,
                "form": one.planted.form,
                "credited": one.planted.credited,
                "probe_sentence": one.planted.wrong_sentence.cut(one.planted.wrong_answer),
                "twin_sentence": one.planted.right_sentence.cut(one.planted.right_answer),
                "probe_accused": one.probe.accused,
                "probe_blocked": one.probe.blocked,
                "probe_read": one.probe.read,
                "twin_accused": one.twin.accused,
                "twin_blocked": one.twin.blocked,
            }
            for one in outcomes
        ],
    }


def table_20(outcomes: Sequence[PlantedOutcome]) -> dict[str, int | None]:
    """The paper's counts over the probes; those of whole answers are None where none was repaired."""
    mended = [one.mended for one in outcomes if one.mended is not None]

    def counted(name: str) -> int | None:
        return sum(getattr(one, name) for one in mended) if mended else None

    return {
        "rows": len(outcomes),
        "pre_block": counted("blocked_before"),
        "explicit_conflation": sum(one.probe.conflated for one in outcomes),
        "repair_resolved": counted("resolved"),
        "terminal_fallback": counted("fallback"),
        "post_allow": counted("allowed"),
        "wrong_attribution_retained": counted("retained"),
        "twins_pre_block": counted("twin_blocked"),
    }


def planted_lines(outcomes: Sequence[PlantedOutcome]) -> list[str]:
    """Both tables as Markdown that people read."""
    counts = table_20(outcomes)
    here = ["here", *(_cell(value) for value in list(counts.values())[:7])]
    return [
        "**Table 20. Wrong credits planted in whole answers**",
        "",
        *_table(COUNTS_HEADER, [here, [str(cell) for cell in PAPER_ROW]]),
        "",
        _whole_answers(counts),
        "",
        *_table(HEADER, [_row(name, chosen) for name, chosen in groups(outcomes)]),
        "",
        *NOTES,
    ]


def _whole_answers(counts: Mapping[str, int | None]) -> str:
    if counts["pre_block"] is None:
        return "Whole answers were not judged or repaired: --repair does both."
    return (
        f"Of the twins' answers, which credit rightly, {counts['twins_pre_block']} of "
        f"{counts['rows']} are blocked as well: that an answer is blocked says little."
    )


def _row(name: str, chosen: Sequence[PlantedOutcome]) -> list[str]:
    count = len(chosen)
    return [
        name,
        str(count),
        _share(sum(one.probe.accused for one in chosen), count),
        _share(sum(one.probe.blocked for one in chosen), count),
        _share(sum(one.twin.accused for one in chosen), count),
        _share(sum(one.twin.blocked for one in chosen), count),
        _share(_alone(chosen), count),
    ]


def _figures(chosen: Sequence[PlantedOutcome]) -> dict[str, object]:
    return {
        "rows": len(chosen),
        "probes_accused": _counted(sum(one.probe.accused for one in chosen), len(chosen)),
        "probes_conflated": _counted(sum(one.probe.conflated for one in chosen), len(chosen)),
        "probes_blocked": _counted(sum(one.probe.blocked for one in chosen), len(chosen)),
        "probes_not_read": _counted(sum(not one.probe.read for one in chosen), len(chosen)),
        "twins_accused": _counted(sum(one.twin.accused for one in chosen), len(chosen)),
        "twins_blocked": _counted(sum(one.twin.blocked for one in chosen), len(chosen)),
        "blocked_as_probe_alone": _counted(_alone(chosen), len(chosen)),
    }


def _alone(chosen: Sequence[PlantedOutcome]) -> int:
    return sum(one.probe.blocked and not one.twin.blocked for one in chosen)


def _counted(found: int, among: int) -> dict[str, object]:
    ends = exact_binomial_interval(found, among)
    return {
        "count": found,
        "among": among,
        "ci95": None if ends is None else [round(end, 4) for end in ends],
    }


def _share(found: int, among: int) -> str:
    ends = exact_binomial_interval(found, among)
    if ends is None:
        return "–"
    return f"{found} ({100 * found / among:.0f} %, {100 * ends[0]:.0f}–{100 * ends[1]:.0f})"


def _cell(value: int | None) -> str:
    return "–" if value is None else str(value)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(header)} |",
        f"|{'---|' * len(header)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]

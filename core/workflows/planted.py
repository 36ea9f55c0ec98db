"""What the verifier and repair make of wrong credits planted in whole answers, and of their right twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.citations.claims import citations_by_claim, set_entries_aside
from core.config import Config
from core.evaluation.planting import Planted, with_answer
from core.pipeline import Models, judge_or_block, outcome_of, verify
from core.ports import Progress
from core.records import (
    ClaimVerdict,
    Decision,
    Judged,
    RepairStatus,
    Span,
    Trace,
)
from core.statistics import exact_binomial_interval
from core.verification.candidates import rank_claims
from core.verification.decision import counted_share, decide_claim
from core.verification.prepare import embed_window, open_window
from core.verification.reading import read_window
from core.workflows.cache import remembering
from core.workflows.gate import credited_wrongly
from core.workflows.repair import repair_verified


def verify_place(
    trace: Trace, place: Span, models: Models, config: Config
) -> tuple[ClaimVerdict, ...]:
    """The verdicts on the claims that overlap ``place`` in the answer, in its order."""
    (whole,) = open_window([(trace, None)], models, config)
    claims = set_entries_aside(trace, whole.claims)
    here = tuple(claim for claim in claims if claim.span.overlaps(place))
    one = replace(whole, claims=here)
    vectors = embed_window([one], models.embedder)
    cases = rank_claims(one, vectors, models, config)
    nli_scores = read_window([one], [cases], models.nli)
    judged = {
        case.claim.claim_id: judge_or_block(case, one, nli_scores, models, config) for case in cases
    }
    cited = citations_by_claim(trace, claims)
    found = []
    for claim in here:
        outcome = outcome_of(claim, judged, config)
        share = counted_share(models.calibrator, outcome)
        citations = cited.get(claim.claim_id, ())
        found.append(decide_claim(claim, outcome, config, citations, share))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What was made of the planted sentence: ``accused`` of a wrong credit, in whatever words.

    ``conflated`` is accused by the attribution itself; ``read`` says that a claim of it was checked.
    """

    read: bool
    accused: bool
    conflated: bool
    blocked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """What repair made of the probe's answer; ``retained`` keeps the wrong credit and is allowed.

    ``blocked_before`` and ``twin_blocked`` are the gate's word on both answers as they were.
    """

    blocked_before: bool
    twin_blocked: bool
    resolved: bool
    fallback: bool
    allowed: bool
    retained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedOutcome:
    """A probe, its twin, and what became of both; ``mended`` is None where only the sentence was read."""

    planted: Planted
    probe: Sentence
    twin: Sentence
    mended: Mended | None


def run_planted(
    planted: Sequence[Planted],
    traces: Sequence[Trace],
    models: Models,
    config: Config,
    *,
    repair: bool = False,
    progress: Progress = lambda done, total, what: None,
) -> list[PlantedOutcome]:
    """What the verifier makes of every planted sentence and its twin, in the order given.

    Answers are split whole; with ``repair`` all their claims are judged too, and the probes repaired.
    """
    by_id = {trace.trace_id: trace for trace in traces}
    found: dict[str, PlantedOutcome] = {}
    # Probes of one answer share nearly all that is read.
    for trace_id in dict.fromkeys(one.trace_id for one in planted):
        remembered = remembering(models)
        for one in (one for one in planted if one.trace_id == trace_id):
            found[one.probe_id] = _outcome(one, by_id[trace_id], remembered, config, repair)
            progress(len(found), len(planted), "probes")
    return [found[one.probe_id] for one in planted]


def _outcome(
    one: Planted, trace: Trace, models: Models, config: Config, repair: bool
) -> PlantedOutcome:
    wrong = with_answer(trace, one.wrong_answer, one.probe_id)
    right = with_answer(trace, one.right_answer, f"{one.probe_id}-twin")
    return PlantedOutcome(
        planted=one,
        probe=_sentence(verify_place(wrong, one.wrong_sentence, models, config)),
        twin=_sentence(verify_place(right, one.right_sentence, models, config)),
        mended=_mended(one, wrong, right, models, config) if repair else None,
    )


def _sentence(inside: Sequence[ClaimVerdict]) -> Sentence:
    return Sentence(
        read=any(isinstance(one.outcome, Judged) for one in inside),
        accused=any(_accused(one) for one in inside),
        conflated=any(credited_wrongly(one) for one in inside),
        blocked=any(one.decision is Decision.BLOCK for one in inside),
    )


def _accused(verdict: ClaimVerdict) -> bool:
    """By the attribution, by a citation that says otherwise, or as another person's record."""
    outcome = verdict.outcome
    return (
        credited_wrongly(verdict)
        or any(one.outcome.blocks for one in verdict.citations)
        or (isinstance(outcome, Judged) and bool(outcome.literals.identity_mismatches))
    )


def _mended(one: Planted, wrong: Trace, right: Trace, models: Models, config: Config) -> Mended:
    twin = verify(right, models, config)
    paper = replace(config, repair_removes_unconfirmed=True)
    repair = repair_verified(verify(wrong, models, config), models, paper)
    before = repair.before.answer.decision is Decision.BLOCK
    after = repair.after or repair.before
    revised = repair.revised_answer if repair.revised_answer is not None else one.wrong_answer
    allowed = after.answer.decision is Decision.ALLOW
    unresolved = repair.status in (RepairStatus.UNRESOLVED, RepairStatus.UNAVAILABLE)
    return Mended(
        blocked_before=before,
        twin_blocked=twin.answer.decision is Decision.BLOCK,
        resolved=before and not unresolved,
        fallback=repair.status is RepairStatus.FALLBACK,
        allowed=allowed,
        retained=allowed and _still_credits(one, revised),
    )


def _still_credits(one: Planted, revised: str) -> bool:
    """Whether the wrong credit stands as often as in the probe; by words alone, not by our reading."""
    credited = one.credited.removeprefix("the ").casefold()
    planted = one.wrong_answer.casefold().count(credited)
    return revised.casefold().count(credited) >= planted


def groups(outcomes: Sequence[PlantedOutcome]) -> Iterator[tuple[str, list[PlantedOutcome]]]:
    """All outcomes, then those of each kind, each direction and each form, under a name."""
    yield "all", list(outcomes)
    for name in ("kind", "direction", "form"):
        values = sorted({str(getattr(one.planted, name)) for one in outcomes})
        for value in values:
            yield (
                f"{name}: {value}",
                [one for one in outcomes if getattr(one.planted, name) == value],
            )


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


_MADE_OF: Mapping[str, Callable[[PlantedOutcome], bool]] = {
    "probes_accused": lambda one: one.probe.accused,
    "probes_conflated": lambda one: one.probe.conflated,
    "probes_blocked": lambda one: one.probe.blocked,
    "probes_not_read": lambda one: not one.probe.read,
    "twins_accused": lambda one: one.twin.accused,
    "twins_blocked": lambda one: one.twin.blocked,
    "blocked_as_probe_alone": lambda one: one.probe.blocked and not one.twin.blocked,
}
_IN_THE_TABLE = [name for name in _MADE_OF if name not in ("probes_conflated", "probes_not_read")]


def _row(name: str, chosen: Sequence[PlantedOutcome]) -> list[str]:
    counts = [sum(map(_MADE_OF[each], chosen)) for each in _IN_THE_TABLE]
    return [name, str(len(chosen)), *(_share(count, len(chosen)) for count in counts)]


def _figures(chosen: Sequence[PlantedOutcome]) -> dict[str, object]:
    counts = {name: _counted(sum(map(so, chosen)), len(chosen)) for name, so in _MADE_OF.items()}
    return {"rows": len(chosen), **counts}


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

"""A labelled packet read by a judge: offline, the judge, and both on the same claims, by whole answers."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from core.attribution.families import Families, load_families
from core.capture.reading import read_traces
from core.config import Config
from core.errors import InputError
from core.evaluation.frozen import answer_of, freeze
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction, at_threshold
from core.evaluation.ranking_scores import auroc, auroc_interval, rounded
from core.evaluation.report import Report, state_counts
from core.judge.asking import AT_ONCE, ask, limits_of
from core.judge.request import RequestLimits
from core.ports import Judge
from core.records import (
    AttributionStatus,
    Claim,
    Decision,
    Span,
    StatedAttribution,
    Trace,
    VerdictLabel,
)
from core.records.judge import JudgeFor, JudgeOutcome, JudgeVerdict, Proved, Unproved
from core.review.judge_choice import CurrentJudge
from core.verification.decision import of_proof, prior_worth

JUDGED_FILE = "with-judge.jsonl"  # predictions of a kept run, offline and judge together
SYSTEMS = {
    "offline": "offline",
    "judge": "judge",
    "both": "both",
    "without_proof": "judge, on its word",
}
_COUNTED = (
    ("bad claims passed", "bad_passed", "bad"),
    ("good claims stopped", "good_stopped", "good"),
    ("of these blocked", "good_blocked", "good"),
    ("faithful answers allowed", "faithful_allowed", "faithful_answers"),
    ("answers with an error allowed", "answers_with_an_error_allowed", "answers_with_an_error"),
)
_NOTHING_SAID = 0.5  # where a judge alone proves nothing: between what it supports and contradicts


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPacket:
    """Who is asked about a packet's claims, with the traces that they are from, by id.

    Of an answer without a trace the judge is shown what its rows hold. ``worth`` as in ``Models``.
    """

    judge: Judge
    traces: Mapping[str, Trace] = field(default_factory=dict)
    asked: str = JudgeFor.UNSURE.value
    worth: Mapping[JudgeVerdict, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFigures:
    """The figures of a judge beside the offline ones, and what both together say of every row."""

    report: Report
    both: tuple[Prediction, ...]


def replies_file(folder: Path, judge: CurrentJudge) -> Path:
    """Where what that judge replied to a kept packet's claims is kept: another's counts as another's."""
    named = sha256(f"{judge.model}@{judge.host}".encode()).hexdigest()[:16]
    return folder / f"judge-{named}.jsonl"


def has_replies(folder: Path) -> bool:
    """Whether replies of any judge are kept with a packet."""
    return any(folder.glob("judge-*.jsonl"))


def traces_in(files: Sequence[Path], rows: Sequence[PacketRow]) -> dict[str, Trace]:
    """The traces of the rows by id; raises InputError where one is in none of the files."""
    traces = {one.trace_id: one for one in read_traces(files) if isinstance(one, Trace)}
    if missing := sorted({row.trace_id for row in rows} - traces.keys()):
        raise InputError(f"the traces hold no {missing[0]}, and {len(missing)} are missing")
    return traces


def judged_packet(
    rows: Sequence[PacketRow], offline: Sequence[Prediction], by: JudgedPacket, config: Config
) -> JudgedFigures:
    """What a judge makes of the labelled rows; ``offline`` are the verifier's predictions, in order.

    A good claim is supported and credited rightly; *stopped* is blocked or left to a person. An answer
    is allowed when all of its claims are. ``without_proof`` takes the judge's word for it.
    """
    which = JudgeFor(by.asked)
    pairs = [(row, found) for row, found in zip(rows, offline, strict=True) if row.scored]
    asked = [row for row, found in pairs if _is_asked(found, which)]
    outcomes = outcomes_of(asked, by, load_families(), limits_of(config))
    scored = [row for row, _ in pairs]

    def decided(found: Prediction, **how: bool) -> Prediction:
        return _with_judge(found, outcomes.get(found.claim_id), by, config, **how)

    both = tuple(map(decided, offline))
    systems = {
        "offline": [found for _, found in pairs],
        "judge": [decided(found, alone=True) for _, found in pairs],
        "both": [found for row, found in zip(rows, both, strict=True) if row.scored],
        "without_proof": [decided(found, alone=True, on_its_word=True) for _, found in pairs],
    }
    kinds: Counter[tuple[str, str, str]] = Counter()
    refused = []
    for row in scored:
        outcome, good = outcomes.get(row.claim_id), "bad" if row.should_block else "good"
        kinds[good, _kind(row), "not read" if outcome is None else outcome.word] += 1
        if outcome is not None and isinstance(outcome.proof, Unproved):
            verdict = outcome.proof.verdict.value
            refused.append(
                {"claim_id": row.claim_id, "good": good == "good", "verdict": verdict}
                | {"failed": list(outcome.proof.failed)}
            )
    report: Report = {
        "by": by.judge.name,
        "asked_for": which.value,
        "claims_asked": len(asked),
        "unread": sum(one.notice is not None for one in outcomes.values()),
        "systems": {name: _figures(scored, found) for name, found in systems.items()},
        "by_kind": [
            {"good": good == "good", "kind": kind, "proof": proof, "claims": count}
            for (good, kind, proof), count in sorted(kinds.items())
        ],
        "refused": refused,
    }
    return JudgedFigures(report=report, both=both)


def judged_columns(report: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The figures as a table for people: a head, then a line a figure with a cell a system."""
    systems = [report["systems"][name] for name in SYSTEMS]
    found = [("", *SYSTEMS.values())]
    for words, part, whole in _COUNTED:
        found.append((words, *(_counted(one[part], one[whole]) for one in systems)))
    found.append(("AUROC (95 %)", *(_ranked(one) for one in systems)))
    return found


def _counted(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / whole:.1f} %)" if whole else "none to count"


def _ranked(figures: Mapping[str, Any]) -> str:
    ends = figures["auroc_ci95"]
    if figures["auroc"] is None:
        return "not defined"
    return f"{figures['auroc']:.2f}" + (f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else "")


def outcomes_of(
    rows: Sequence[PacketRow],
    by: JudgedPacket,
    families: Families,
    limits: RequestLimits = RequestLimits(),  # noqa: B008 - frozen
) -> dict[str, JudgeOutcome]:
    """What the judge's replies prove of each row, asked by answer and what it is read from."""
    answers: dict[tuple[object, ...], list[PacketRow]] = {}
    for row in rows:
        key = (row.trace_id, *((one.source_id, one.arguments, one.text) for one in row.sources))
        answers.setdefault(key, []).append(row)
    secret, found = secrets.token_bytes(32), dict[str, JudgeOutcome]()

    def one(of_answer: Sequence[PacketRow]) -> dict[str, JudgeOutcome]:
        whole = by.traces.get(of_answer[0].trace_id) or _trace_of(of_answer)
        trace, claims = _as_asked(whole, of_answer, families)
        return ask(trace, claims, by.judge, secret, limits)

    with ThreadPoolExecutor(max_workers=AT_ONCE) as threads:
        for outcomes in threads.map(one, answers.values()):
            found |= outcomes
    return found


def _trace_of(rows: Sequence[PacketRow]) -> Trace:
    """The answer as far as a packet's rows hold it."""
    question = rows[0].extra.get("question")
    return Trace(
        trace_id=rows[0].trace_id,
        question=question if isinstance(question, str) else "",
        answer="\n".join(map(answer_of, rows)),
        sources=(),
    )


def _as_asked(
    trace: Trace, rows: Sequence[PacketRow], families: Families
) -> tuple[Trace, list[Claim]]:
    """The answer's trace with the packet's sources, and its claims as the packet words them."""
    claims, sources = [], trace.sources
    for row in rows:
        alone, claim = freeze(row, families)
        sources = alone.sources
        span = row.extra.get("span")
        start, end = (int(at) for at in span) if isinstance(span, list) else (0, 0)
        stated = claim.stated
        if stated is None and row.stated_attribution:
            stated = StatedAttribution(
                text=row.stated_attribution, span=Span(start=0, end=0), family=None
            )
        said = (trace.answer or "")[start:end] or row.claim
        place = Span(start=start, end=end)
        claims.append(replace(claim, text=row.claim, said=said, span=place, stated=stated))
    return replace(trace, sources=sources), claims


def _is_asked(found: Prediction, which: JudgeFor) -> bool:
    if found.cause is Cause.UNJUDGED or which is JudgeFor.ALL:
        return found.cause is not Cause.UNJUDGED
    unsure = found.verdict is not VerdictLabel.CONTRADICTED
    return found.blocked and (unsure or which is JudgeFor.BLOCKED)


def _with_judge(
    offline: Prediction,
    outcome: JudgeOutcome | None,
    by: JudgedPacket,
    config: Config,
    *,
    alone: bool = False,
    on_its_word: bool = False,
) -> Prediction:
    """The claim as a judge's proof decides it beside the verifier, or ``alone`` (``decide_with_judge``)."""
    found = _unconfirmed(offline) if alone else offline
    proof = None if outcome is None else outcome.proof
    if not (isinstance(proof, Proved) or (on_its_word and isinstance(proof, Unproved))):
        against = outcome is not None and outcome.unproved_against is not None
        return _unconfirmed(found) if against and not found.blocked else found
    assert outcome is not None
    worth = (by.worth or {}).get(proof.verdict, prior_worth(proof.verdict, config))
    decision, label = of_proof(
        proof.verdict,
        worth=worth,
        shown=found.cause is Cause.IDENTITY or found.if_disputed is not None,
        wrong_credit=found.attribution is AttributionStatus.CONFLATION,
        stated_is_right=outcome.stated_is_right,
    )
    contradicted = label is VerdictLabel.CONTRADICTED
    if decision is Decision.ALLOW:
        # Where a threshold asks more than the judge is worth, the verifier's own support stands.
        own = 0.0 if found.forced or found.probability is None else found.probability
        credit = AttributionStatus.NONE if worth >= found.threshold else found.attribution
        passing = replace(
            found,
            forced=False,
            if_supported=label,
            if_disputed=None,
            attribution=credit,
        )
        return at_threshold(passing, max(worth, own), found.threshold)
    if proof.verdict is JudgeVerdict.SUPPORTED and worth < found.threshold:
        return found
    return replace(
        found,
        decision=decision,
        verdict=label,
        cause=Cause.CONFLATION if label is VerdictLabel.SUPPORTED else Cause.CONTRADICTION,
        forced=True,
        if_supported=label,
        if_unsupported=label,
        if_disputed=label if contradicted else None,
        probability=worth,
    )


def _unconfirmed(found: Prediction) -> Prediction:
    """The claim as if the verifier had said nothing of it."""
    nothing = VerdictLabel.NOT_ENOUGH_EVIDENCE
    return replace(
        found,
        decision=Decision.BLOCK,
        verdict=nothing,
        cause=Cause.SUPPORT,
        forced=False,
        if_supported=VerdictLabel.SUPPORTED,
        if_unsupported=nothing,
        if_disputed=None,
        probability=_NOTHING_SAID,
        attribution=AttributionStatus.NONE,
        probable_credit=False,
    )


def _kind(row: PacketRow) -> str:
    how = row.extra.get("how")
    return how if isinstance(how, str) else ""


def _figures(rows: Sequence[PacketRow], found: Sequence[Prediction]) -> Report:
    counted = state_counts(rows, found)
    claims, answers = counted["claims"], counted["answers"]
    faithful, wrong = answers["faithful"], answers["with_error"]
    score = np.array([one.ranked_by for one in found])
    bad = np.array([row.should_block for row in rows], dtype=np.bool_)
    return {
        "good": sum(claims["good"].values()),
        "good_passed": claims["good"]["allow"],
        "good_stopped": counted["good_stopped"],
        "good_blocked": counted["good_blocked"],
        "bad": sum(claims["bad"].values()),
        "bad_passed": counted["bad_passed"],
        "bad_blocked": claims["bad"]["block"],
        "faithful_answers": sum(faithful.values()),
        "faithful_allowed": faithful["allow"],
        "faithful_blocked": faithful["block"],
        "answers_with_an_error": sum(wrong.values()),
        "answers_with_an_error_allowed": wrong["allow"],
        "auroc": rounded(auroc(score, bad)),
        "auroc_ci95": auroc_interval(score, bad, [row.trace_id for row in rows]),
    }

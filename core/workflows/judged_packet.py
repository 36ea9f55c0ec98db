"""A labelled packet read by a judge: offline, the judge, and both on the same claims, by whole answers."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.attribution.families import Families, load_families
from core.capture.reading import read_traces
from core.errors import InputError
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from core.evaluation.report import Report
from core.judge.asking import ask
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
from core.verification.decision import of_proof

_SHOWN = (Cause.IDENTITY, Cause.CONTRADICTION)
ALLOW, PERSON, BLOCK = "allow", "needs review", "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPacket:
    """Who is asked about a packet's claims, with the traces that they are from."""

    judge: Judge
    traces: tuple[Path, ...]
    asked: str = JudgeFor.UNSURE.value


def judged_report(
    rows: Sequence[PacketRow], offline: Mapping[str, Prediction], by: JudgedPacket
) -> Report:
    """The figures of a judge beside the offline ones, for the labelled rows.

    A good claim is supported and credited rightly; *stopped* is blocked or left to a person. An answer
    is allowed when all of its claims are. ``without_proof`` takes the judge's word for it.
    """
    which = JudgeFor(by.asked)
    asked = [row for row in rows if row.scored and _is_asked(offline.get(row.claim_id), which)]
    outcomes = outcomes_of(asked, by, load_families())
    scored = [row for row in rows if row.scored]
    states = {
        "offline": {row.claim_id: _offline(offline.get(row.claim_id)) for row in scored},
        "judge": {row.claim_id: _alone(outcomes.get(row.claim_id)) for row in scored},
        "without_proof": {
            row.claim_id: _alone(outcomes.get(row.claim_id), on_its_word=True) for row in scored
        },
        "both": {
            row.claim_id: _both(offline.get(row.claim_id), outcomes.get(row.claim_id))
            for row in scored
        },
    }
    if not offline:
        del states["offline"], states["both"]
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
    return {
        "by": by.judge.name,
        "asked_for": which.value,
        "claims_asked": len(asked),
        "unread": sum(one.notice is not None for one in outcomes.values()),
        "systems": {name: _figures(scored, found) for name, found in states.items()},
        "by_kind": [
            {"good": good == "good", "kind": kind, "proof": proof, "claims": count}
            for (good, kind, proof), count in sorted(kinds.items())
        ],
        "refused": refused,
    }


def outcomes_of(
    rows: Sequence[PacketRow], by: JudgedPacket, families: Families
) -> dict[str, JudgeOutcome]:
    """What the judge's replies prove of each row, asked answer by answer; raises InputError."""
    traces = {one.trace_id: one for one in read_traces(by.traces) if isinstance(one, Trace)}
    answers: dict[str, list[PacketRow]] = {}
    for row in rows:
        answers.setdefault(row.trace_id, []).append(row)
    if missing := sorted(answers.keys() - traces.keys()):
        raise InputError(f"the traces hold no {missing[0]}, and {len(missing)} are missing")
    secret, found = secrets.token_bytes(32), dict[str, JudgeOutcome]()
    for trace_id, of_answer in answers.items():
        trace, claims = _as_asked(traces[trace_id], of_answer, families)
        found |= ask(trace, claims, by.judge, secret)
    return found


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


def _is_asked(found: Prediction | None, which: JudgeFor) -> bool:
    if found is None or which is JudgeFor.ALL:
        return True
    unsure = found.verdict is not VerdictLabel.CONTRADICTED
    return found.blocked and (unsure or which is JudgeFor.BLOCKED)


def _offline(found: Prediction | None) -> str:
    return PERSON if found is None else found.state.value.replace("_", " ")


def _alone(outcome: JudgeOutcome | None, *, on_its_word: bool = False) -> str:
    proof = None if outcome is None else outcome.proof
    if isinstance(proof, Proved) or (on_its_word and isinstance(proof, Unproved)):
        assert outcome is not None
        right = outcome.stated_is_right
        return _state(proof.verdict, shown=False, wrong_credit=False, stated_is_right=right)
    return PERSON


def _both(found: Prediction | None, outcome: JudgeOutcome | None) -> str:
    if found is None or outcome is None or not isinstance(outcome.proof, Proved):
        return _offline(found)
    return _state(
        outcome.proof.verdict,
        shown=found.cause in _SHOWN,
        wrong_credit=found.attribution is AttributionStatus.CONFLATION,
        stated_is_right=outcome.stated_is_right,
    )


def _state(
    verdict: JudgeVerdict, *, shown: bool, wrong_credit: bool, stated_is_right: bool | None
) -> str:
    decision, label = of_proof(
        verdict, shown=shown, wrong_credit=wrong_credit, stated_is_right=stated_is_right
    )
    if decision is Decision.ALLOW:
        return ALLOW
    return BLOCK if label is VerdictLabel.CONTRADICTED else PERSON


def _kind(row: PacketRow) -> str:
    how = row.extra.get("how")
    return how if isinstance(how, str) else ""


def _figures(rows: Sequence[PacketRow], states: Mapping[str, str]) -> Report:
    counts = Counter((row.should_block, states[row.claim_id]) for row in rows)
    answers: dict[str, list[PacketRow]] = {}
    for row in rows:
        answers.setdefault(row.trace_id, []).append(row)
    faithful = [of for of in answers.values() if not any(row.should_block for row in of)]
    wrong = [of for of in answers.values() if any(row.should_block for row in of)]
    blocked = {row.trace_id for row in rows if states[row.claim_id] == BLOCK}
    return {
        "good": sum(not row.should_block for row in rows),
        "good_passed": counts[False, ALLOW],
        "good_stopped": counts[False, PERSON] + counts[False, BLOCK],
        "good_blocked": counts[False, BLOCK],
        "bad": sum(row.should_block for row in rows),
        "bad_passed": counts[True, ALLOW],
        "bad_blocked": counts[True, BLOCK],
        "faithful_answers": len(faithful),
        "faithful_allowed": sum(_all_allowed(faithful, states)),
        "faithful_blocked": sum(of[0].trace_id in blocked for of in faithful),
        "answers_with_an_error": len(wrong),
        "answers_with_an_error_allowed": sum(_all_allowed(wrong, states)),
    }


def _all_allowed(
    answers: Sequence[Sequence[PacketRow]], states: Mapping[str, str]
) -> Iterator[bool]:
    for rows in answers:
        yield all(states[row.claim_id] == ALLOW for row in rows)

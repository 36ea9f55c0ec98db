"""What a run of verify comes to, in lines and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output import counted

if TYPE_CHECKING:
    from core.records import State
    from core.workflows.verify import VerifyReport


def one_line(report: VerifyReport, seconds: float) -> str:
    """The counts of a run in one line."""
    skipped = f"; {counted(report.skipped, 'record')} skipped" if report.skipped else ""
    states = _states(report.by_state)
    return f"{counted(report.traces, 'answer')}: {states}{skipped} ({seconds:.1f} s)"


def _states(counts: Mapping[State, int]) -> str:
    from core.records import State

    return ", ".join(f"{counts[state]} {state.value.replace('_', ' ')}" for state in State)


def verify_lines(report: VerifyReport, out: Path | None, seconds: float) -> list[str]:
    """The counts of a run, answers and claims, a line each."""
    verdicts = [
        f"  {label.value.replace('_', ' '):<20} {report.by_verdict[label]:>7}"
        for label in report.by_verdict
    ]
    kept = f"{report.kept} of them from before" if report.kept else ""
    return [
        one_line(report, seconds),
        *([f"  {kept}"] if kept else []),
        f"{counted(sum(report.by_verdict.values()), 'claim')}: {_states(report.by_claim_state)}; "
        f"{report.set_aside} more set aside",
        *verdicts,
        f"  {'credited wrongly':<20} {report.conflations:>7}",
        *([f"written to {out}"] if out is not None else []),
    ]


def verify_json(report: VerifyReport, out: Path | None, seconds: float) -> dict[str, object]:
    """The counts of a run as `verify --json` writes them."""
    from core.records import Decision, State, VerdictLabel

    return {
        "traces": report.traces,
        "verified": report.verified,
        "kept": report.kept,
        "decisions": {decision.value: report.by_decision[decision] for decision in Decision},
        "states": {state.value: report.by_state[state] for state in State},
        "claim_states": {state.value: report.by_claim_state[state] for state in State},
        "claims": {label.value: report.by_verdict[label] for label in VerdictLabel},
        "set_aside": report.set_aside,
        "blocked_claims": report.blocked_claims,
        "conflations": report.conflations,
        "skipped": {"count": report.skipped, "reasons": report.reasons},
        "versions": asdict(report.versions),
        "out": str(out) if out is not None else None,
        "seconds": round(seconds, 3),
    }

"""Probes of repair: right answers with a planted error, and whether repair undoes just that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from core.attribution.families import Families
from core.config import Config
from core.errors import BadRecord
from core.pipeline import Models
from core.ports import Editor, Progress
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Decision,
    JsonObject,
    Judged,
    Repair,
    RepairStatus,
    Trace,
    Verification,
)
from core.text.tokens import content_terms, overlap
from core.workflows.repair import repair_all
from core.workflows.repair_report import SAME_CLAIM, RepairReport
from core.workflows.repair_savings import outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One deliberate attribution swap: ``claim`` is credited to ``wrong_family`` in its trace."""

    trace_id: str
    claim: str
    wrong_family: str


@dataclass(slots=True, kw_only=True)
class ProbeReport:
    """Table 20: what became of the probes; ``retained`` names those that keep the wrong credit."""

    repairs: RepairReport = field(default_factory=RepairReport)
    probes: int = 0
    blocked: int = 0
    explicit_conflations: int = 0
    resolved: int = 0
    fallback: int = 0
    allowed_after: int = 0
    passed_unseen: list[str] = field(default_factory=list)
    retained: list[str] = field(default_factory=list)

    def document(self) -> JsonObject:
        """The row of Table 20, and the figures of the repairs behind it."""
        return {
            "rows": self.probes,
            "pre_block": self.blocked,
            "explicit_conflation": self.explicit_conflations,
            "repair_resolved": self.resolved,
            "terminal_fallback": self.fallback,
            "post_allow": self.allowed_after,
            "wrong_attribution_retained": len(self.retained),
            "retained": list(self.retained),
            "allowed_before_repair": list(self.passed_unseen),
            "repairs": self.repairs.document(),
        }


def probes_of(gold: Iterable[JsonObject]) -> tuple[Probe, ...]:
    """The probes among gold labels: claims with ``gold_attribution`` conflation and their credit."""
    found = []
    for index, row in enumerate(gold):
        if row.get("gold_attribution") != "conflation":
            continue
        values = {key: row.get(key) for key in ("trace_id", "claim", "stated_family")}
        for key, value in values.items():
            if not isinstance(value, str):
                raise BadRecord(f"expected text, found {value!r:.40}", path=f"[{index}].{key}")
        found.append(
            Probe(
                trace_id=str(values["trace_id"]),
                claim=str(values["claim"]),
                wrong_family=str(values["stated_family"]),
            )
        )
    return tuple(found)


def run_probes(
    traces: Iterable[Trace],
    probes: Sequence[Probe],
    models: Models,
    config: Config,
    editor: Editor | None = None,
    progress: Progress = lambda done, total, what: None,
) -> ProbeReport:
    """Verify and repair the probed traces, and look for the wrong credits afterwards."""
    by_trace: dict[str, list[Probe]] = {}
    for probe in probes:
        by_trace.setdefault(probe.trace_id, []).append(probe)
    report = ProbeReport()
    wanted = (trace for trace in traces if trace.trace_id in by_trace)
    paper = replace(config, repair_removes_unconfirmed=True)
    for verification, repair in repair_all(
        wanted, models, paper, editor, progress, total=len(by_trace)
    ):
        report.repairs.add(outcome_of(repair))
        for probe in by_trace[verification.trace.trace_id]:
            _count_probe(report, probe, verification, repair, models.families)
    return report


def _count_probe(
    report: ProbeReport, probe: Probe, before: Verification, repair: Repair, families: Families
) -> None:
    report.probes += 1
    blocked = before.answer.decision is Decision.BLOCK
    report.blocked += blocked
    report.explicit_conflations += any(
        isinstance(one.outcome, Judged)
        and one.outcome.attribution.status is AttributionStatus.CONFLATION
        and _is_about(one, probe)
        for one in before.claims
    )
    report.resolved += blocked and repair.status not in (
        RepairStatus.UNRESOLVED,
        RepairStatus.UNAVAILABLE,
    )
    report.fallback += repair.status is RepairStatus.FALLBACK
    after = repair.after or before
    report.allowed_after += after.answer.decision is Decision.ALLOW
    if not blocked:
        report.passed_unseen.append(probe.trace_id)
    if after.answer.decision is Decision.ALLOW and any(
        _is_about(one, probe) and _credits(one, probe, families) for one in after.claims
    ):
        report.retained.append(probe.trace_id)


def _is_about(verdict: ClaimVerdict, probe: Probe) -> bool:
    return overlap(content_terms(probe.claim), content_terms(verdict.claim.text)) >= SAME_CLAIM


def _credits(verdict: ClaimVerdict, probe: Probe, families: Families) -> bool:
    stated = verdict.claim.stated
    return (
        stated is not None
        and stated.family is not None
        and families.compatible(stated.family, probe.wrong_family)
    )

"""Repair from verdict to figures: what a verdict tells of it, and what repair really saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from core.codec import content_hash
from core.config import Config
from core.identity import rules_digest
from core.pipeline import Models, verify, versions
from core.ports import Editor, Progress
from core.records import Repair, RepairOutcome, Trace, Verification, Versions
from core.repair.loop import repair_answer
from core.workflows.remembering import remembering
from core.workflows.repair_report import RepairReport
from core.workflows.repair_savings import outcome_of
from core.workflows.verify import Judge


def repair_verified(
    verification: Verification, models: Models, config: Config, editor: Editor | None = None
) -> Repair:
    """Repair one verified answer with the verifier that judged it."""
    models = remembering(models)  # a revision shares its sources and most sentences

    def again(trace: Trace) -> Verification:
        return verify(trace, models, config)

    return repair_answer(verification, again, config, models.families, editor)


# ---------------------------------------------------------------- many traces


def repair_all(
    traces: Iterable[Trace],
    models: Models,
    config: Config,
    editor: Editor | None = None,
    progress: Progress = lambda done, total, what: None,
    *,
    total: int | None = None,
) -> Iterator[tuple[Verification, Repair]]:
    """Verify and repair traces in order, telling ``progress`` after each."""
    for done, trace in enumerate(traces, start=1):
        with_memory = remembering(models)  # one trace at a time, so that memory stays bounded
        verification = verify(trace, with_memory, config)
        yield verification, repair_verified(verification, with_memory, config, editor)
        progress(done, total, "answers")


def repair_trace(
    trace: Trace, models: Models, config: Config, editor: Editor | None = None
) -> RepairOutcome:
    """The repair of one trace."""
    ((_, repair),) = repair_all([trace], models, config, editor)
    return outcome_of(repair)


def repair_blocked(
    traces: Iterable[Trace],
    models: Models,
    config: Config,
    editor: Editor | None = None,
    progress: Progress = lambda done, total, what: None,
    *,
    total: int | None = None,
) -> Iterator[tuple[str, RepairOutcome]]:
    """The content hash and the repair of each trace, for a store that keeps them."""
    for verification, repair in repair_all(traces, models, config, editor, progress, total=total):
        yield content_hash(verification.trace), outcome_of(repair)


def repair_versions(models: Models, config: Config, editor: Editor | None) -> Versions:
    """The versions of a run with repair: kept apart from verdicts without it."""
    named = versions(models, config)
    writer = "" if editor is None else f"({editor.name})"
    return replace(named, pipeline=f"{rules_digest(repair=True)}+repair{writer}")


def repairing_judge(
    editor: Editor | None = None, report: RepairReport | None = None
) -> Callable[[Models, Config], Judge]:
    """What ``verify --repair`` gives the verify workflow: verifications with their repair.

    ``report`` counts the repairs as they are made.
    """

    def judged_by(models: Models, config: Config) -> Judge:
        named = repair_versions(models, config, editor)

        def verify_and_repair(traces: Sequence[Trace]) -> Iterator[Verification]:
            for verification, repair in repair_all(traces, models, config, editor):
                outcome = outcome_of(repair)
                if report is not None:
                    report.add(outcome)
                yield replace(verification, repair=outcome, versions=named)

        return Judge(versions=named, verify=verify_and_repair)

    return judged_by

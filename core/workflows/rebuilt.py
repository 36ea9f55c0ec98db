"""Answers rebuilt from a packet's rows, and what repairing them gives (Tables 9 and 10)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.config import Config
from core.errors import BadRecord
from core.evaluation.frozen import answer_of, readable
from core.evaluation.packets import PacketRow
from core.evaluation.tables import RepairRun
from core.pipeline import Models
from core.ports import Progress
from core.records import JsonObject, Source, Trace
from core.workflows.repair import repair_all
from core.workflows.repair_report import RepairReport
from core.workflows.repair_savings import outcome_of
from core.workflows.verify import silent


def rebuilt_answers(rows: Sequence[PacketRow]) -> Iterator[Trace]:
    """One trace for each of the packet's trace ids: its claims, one sentence each, and all sources.

    Rows of one trace that give one source id to different texts keep both.
    """
    by_trace: dict[str, list[PacketRow]] = {}
    for row in rows:
        by_trace.setdefault(row.trace_id, []).append(row)
    for trace_id, own in by_trace.items():
        sources: dict[str, Source] = {}
        for source in (one for row in own for one in row.sources):
            held = sources.get(source.source_id)
            if held is not None and held.text != source.text:
                digest = hashlib.sha256(source.text.encode()).hexdigest()[:8]
                source = replace(source, source_id=f"{source.source_id}#{digest}")
            sources.setdefault(source.source_id, source)
        yield Trace(
            trace_id=trace_id,
            question="",
            answer=" ".join(_sentence(answer_of(row)) for row in own),
            sources=tuple(readable(source) for source in sources.values()),
            category=own[0].category,
        )


def _sentence(text: str) -> str:
    said = text.strip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


def repair_rebuilt_answers(
    rows: Sequence[PacketRow],
    models: Models,
    config: Config,
    *,
    packet: str,
    progress: Progress | None = None,
) -> RepairRun:
    """Verify and repair every rebuilt answer; seconds are those of all verifier calls."""
    answers = list(rebuilt_answers(rows))
    report, seconds = RepairReport(), dict[str, list[float]]()
    paper = replace(config, repair_removes_unconfirmed=True)
    made = repair_all(answers, models, paper, None, progress or silent, total=len(answers))
    for before, repair in made:
        report.add(outcome_of(repair))
        for verified in (before, repair.after):
            if verified is not None:
                for stage, spent in verified.latency_seconds.items():
                    seconds.setdefault(stage, []).extend(spent)
    return replace(repair_run(report.document(), packet), latency_seconds=seconds)


def repair_run(figures: JsonObject, packet: str) -> RepairRun:
    """The figures that ``repair`` writes, as the tables take them; BadRecord names what is wrong."""

    def count(name: str) -> int:
        found = figures.get(name)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise BadRecord(f"expected a count, found {found!r:.40}", path=name)
        return found

    resolved = count("repair_resolved")
    return RepairRun(
        packet=packet,
        answers=count("rows"),
        allowed_before=count("pre_allow"),
        blocked_before=count("pre_block"),
        resolved=resolved,
        terminal_fallbacks=count("terminal_fallback"),
        allowed_after=resolved,  # resolved means that the verifier allowed the revision
    )

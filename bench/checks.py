"""What each kind of check says of good and of bad claims of labelled packets; no model takes part.

python -m bench checks ../shared/data/packets/clinical_dev.jsonl.gz …
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from bench.report import Report
from core.attribution.families import load_families
from core.evaluation.frozen import freeze
from core.evaluation.packets import read_packet
from core.evidence.checks import TraceFacts, check_claim, read_trace_facts


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("packets", nargs="+", type=Path)


def run(options: argparse.Namespace) -> Report:
    """By packet, what is said and by which kind of check: of how many claims, and how often rightly."""
    report, families = Report(), load_families()
    for path in options.packets:
        bad: dict[tuple[str, str], list[bool]] = defaultdict(list)
        kept: tuple[object, TraceFacts] | None = None
        for row in read_packet(path).rows:
            trace, claim = freeze(row, families)
            if kept is None or kept[0] != trace.sources:
                kept = (trace.sources, read_trace_facts(trace))
            checks = check_claim(claim, kept[1])
            for key in {("veto" if c.veto else c.outcome.value, c.check) for c in checks}:
                bad[key].append(row.should_block)
        report.table(path.name, ("says", "check", "good", "bad", "right"), (
            (says, str(check), len(of) - sum(of), sum(of), f"{right / len(of):.0%}")
            for (says, check), of in sorted(bad.items(), key=lambda item: tuple(map(str, item[0])))
            for right in [sum(of) if says in ("veto", "contradicts") else len(of) - sum(of)]
        ))  # fmt: skip
    return report

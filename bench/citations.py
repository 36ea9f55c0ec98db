"""How many wrong citations are found, and how many right ones accused: 30 % of right ones are made wrong.

    python -m bench citations [--data ../shared/data]

Right citations are those whose claims people judged supported: the PMIDs of clinical answers as they are
written, and numbers put behind the claims of MCP runs. Half of the wrong ones are moved to another record
of the run, half are invented.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.report import Report, share
from bench.verdicts import Row, read_lines
from core.capture.reading import read_traces
from core.citations.answer import audit_citations
from core.citations.mentions import mentions_in, reference_list
from core.citations.records_of import RunRecords
from core.records import CitationKind, Span, Trace

RATE, SEEDS = 0.30, 6


@dataclass(frozen=True, slots=True)
class Cited:
    """A right citation: its mark's place, what it names, and what it could wrongly name instead."""

    span: Span
    written: str
    others: tuple[str, ...]
    invented: Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Case:
    """An answer whose citations in ``cited`` are right."""

    trace: Trace
    cited: tuple[Cited, ...]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))


def run(options: argparse.Namespace) -> Report:
    """Wrong ones found and right ones accused, of clinical answers and of MCP runs."""
    rows = []
    for name, packet, marked in (
        ("clinical_native", "clinical_dev", _clinical),
        ("livemcpbench_chat", "livemcp_dev", _live),
    ):
        claims = defaultdict(list)
        for row in read_lines(options.data / "packets" / f"{packet}.jsonl.gz"):
            claims[row["trace_id"]].append(row)
        traces = read_traces([options.data / "traces" / f"{name}.jsonl.gz"])
        cases = [marked(trace, claims) for trace in traces if isinstance(trace, Trace)]
        rows.append((name, *_injected(cases)))
    return Report().table("", ("traces", "moved found", "invented found", "right accused"), rows)


def _clinical(trace: Trace, claims: Mapping[str, list[Row]]) -> Case:
    """The PMIDs of an answer whose sentence has no claim that people judged wrong."""
    answer = trace.answer or ""
    run = RunRecords(trace.sources)
    spans = [
        Span(start=row["span"][0], end=row["span"][1])
        for row in claims[trace.trace_id]
        if row["label"] != "supported" or row.get("gold_attribution") == "conflation"
    ]
    right = []
    findings = {f.span: f for f in audit_citations(trace)}
    for mention in mentions_in(answer, run, reference_list(answer)):
        covers = findings[mention.span].covers
        if mention.kind is CitationKind.PMID and not any(covers.overlaps(s) for s in spans):
            others = tuple(sorted(run.pmids - {mention.key}))
            right.append(Cited(mention.span, mention.key, others, _invented_pmid(run.pmids)))
    return Case(trace, tuple(right))


def _invented_pmid(known: frozenset[str]) -> Callable[[random.Random], str]:
    def invented(chance: random.Random) -> str:
        while (number := str(chance.randrange(10_000_000, 40_000_000))) in known:
            continue
        return number

    return invented


def _live(trace: Trace, claims: Mapping[str, list[Row]]) -> Case:
    """An answer of a real run with a mark behind every supported claim of one output."""
    answer = trace.answer or ""
    usable = [source for source in trace.sources if source.is_evidence]
    place = {s.source_id.rsplit("#", 1)[-1]: n for n, s in enumerate(usable, start=1)}
    marked: list[tuple[int, str, tuple[str, ...]]] = []
    for row in claims[trace.trace_id]:
        gold = [place[g] for g in row["gold_source_ids"] if g in place]
        end = int(row["span"][1])
        if row["label"] != "supported" or len(gold) != 1:
            continue
        if row["how"] not in ("verbatim", "paraphrase", "format", "rounded", "unit_conversion"):
            continue
        # Another output that holds the evidence word for word is no wrong one to cite.
        evidence = " ".join(str(row["evidence"]).split()).casefold()
        others = tuple(
            f"[{n}]"
            for n, source in enumerate(usable, start=1)
            if n not in gold and evidence not in " ".join(source.text.split()).casefold()
        )
        if not any(at == end for at, _, _ in marked):
            marked.append((end, f"[{gold[0]}]", others))
    parts, at, right = [], 0, []
    for end, mark, others in sorted(marked):
        parts.append(answer[at:end] + " ")
        begin = sum(map(len, parts))
        parts.append(mark)
        missing = f"[{len(usable) + 7}]"
        right.append(
            Cited(Span(start=begin, end=begin + len(mark)), mark, others, lambda _, m=missing: m)
        )
        at = end
    parts.append(answer[at:])
    lines = [f"[{n}] {source.source_id}" for n, source in enumerate(usable, start=1)]
    parts.append("\n\nReferences\n" + "\n".join(lines))
    return Case(replace(trace, answer="".join(parts)), tuple(right))


def _injected(cases: Sequence[Case]) -> tuple[str, str, str]:
    """Moved, invented and right ones that are stopped, over the seeds."""
    counts, stopped = Counter[str](), Counter[str]()
    for seed in range(SEEDS):
        chance = random.Random(seed)
        for case in cases:
            for kind, passed in _judged(case, chance):
                counts[kind] += 1
                stopped[kind] += not passed
    moved, invented, right = (share(stopped[k], counts[k]) for k in ("moved", "invented", "right"))
    return moved, invented, right


def _judged(case: Case, chance: random.Random) -> Iterator[tuple[str, bool]]:
    """One pass over an answer: each citation as right, moved or invented, and whether it passed."""
    answer = case.trace.answer or ""
    parts, at, made = [], 0, []
    for one in case.cited:
        kind, text = "right", one.written
        if chance.random() < RATE:
            kind = "moved" if one.others and chance.random() < 0.5 else "invented"
            text = chance.choice(one.others) if kind == "moved" else one.invented(chance)
        parts.append(answer[at : one.span.start])
        begin = sum(map(len, parts))
        parts.append(text)
        made.append((kind, Span(start=begin, end=begin + len(text))))
        at = one.span.end
    parts.append(answer[at:])
    findings = audit_citations(replace(case.trace, answer="".join(parts), citations=()))
    for kind, span in made:
        mine = [f for f in findings if f.span.overlaps(span)]
        yield kind, bool(mine) and not any(f.outcome.blocks for f in mine)

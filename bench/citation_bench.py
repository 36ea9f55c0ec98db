"""How many wrong citations are found, and how many right ones accused: 30 % of right ones are made wrong.

    python bench/citation_bench.py [--data ../shared/data] [--json figures.json]

Right citations are those whose claims people judged supported. Half of the wrong ones are moved to
another record of the run, half are invented. Answers are also rewritten into other styles of citing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.capture.reading import read_traces
from core.citations.answer import audit_citations
from core.citations.lexical import audit_lexically
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


def main() -> None:
    """Print the figures of every style of citing, and write them as JSON when asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--part", choices=("all", "even", "odd"), default="all")
    given = parser.parse_args()
    clinical = _traces(given.data, "clinical_native")
    live = _traces(given.data, "livemcpbench_chat")
    wrong = _claims(given.data, "clinical_dev")
    figures: dict[str, object] = {}
    kept = {"all": (0, 1), "even": (0,), "odd": (1,)}[given.part]
    cases = [_clinical(t, wrong) for i, t in enumerate(clinical) if i % 2 in kept]
    for style in ("as written", "numbers", "superscripts", "footnotes", "links"):
        figures[f"clinical, {style}"] = _injected([_in_style(case, style) for case in cases])
    real = [
        _live(t, _claims(given.data, "livemcp_dev")) for i, t in enumerate(live) if i % 2 in kept
    ]
    figures["livemcp, numbers"] = _injected(real)
    figures["livemcp, what is accused as it stands"] = _accused(live)
    figures["lexical audit"] = _timed([*clinical, *live])
    for name, values in figures.items():
        sys.stdout.write(f"{name}: {json.dumps(values)}\n")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")


def _traces(data: Path, name: str) -> list[Trace]:
    found = read_traces([data / "traces" / f"{name}.jsonl.gz"])
    return [item for item in found if isinstance(item, Trace)]


def _claims(data: Path, name: str) -> Mapping[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = defaultdict(list)
    with gzip.open(data / "packets" / f"{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            found[row["trace_id"]].append(row)
    return found


def _clinical(trace: Trace, claims: Mapping[str, list[dict[str, object]]]) -> Case:
    """The PMIDs of an answer whose sentence has no claim that people judged wrong."""
    answer = trace.answer or ""
    run = RunRecords(trace.sources)
    spans = [
        Span(start=row["span"][0], end=row["span"][1])  # type: ignore[index]
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


def _in_style(case: Case, style: str) -> Case:
    """The same answer citing in another style, with a list of references where that needs one."""
    if style == "as written" or not case.cited:
        return case
    answer = case.trace.answer or ""
    run = RunRecords(case.trace.sources)
    order = sorted(run.pmids)
    marks = {pmid: _mark(style, number, pmid) for number, pmid in enumerate(order, start=1)}
    parts, at, right = [], 0, []
    for one in case.cited:
        start, end = _whole_mark(answer, one.span)
        parts.append(answer[at:start].rstrip(" ") + ("" if style == "superscripts" else " "))
        begin = sum(map(len, parts))
        mark = marks[one.written]
        parts.append(mark)
        missing = _mark(style, len(order) + 7, "")
        others = tuple(marks[pmid] for pmid in one.others)
        invented = one.invented if style == "links" else None
        right.append(
            Cited(
                Span(start=begin, end=begin + len(mark)),
                mark,
                others,
                (lambda chance, make=invented: _mark("links", 0, make(chance)))  # type: ignore[misc]
                if invented
                else (lambda chance, mark=missing: mark),  # type: ignore[misc]
            )
        )
        at = end
    parts.append(answer[at:])
    if style != "links":
        titles = {one: record.title for record in run.records for one in record.ids}
        listed = {"footnotes": "[^{}]: {} PMID: {}.", "superscripts": "{}. {}. PMID {}"}.get(
            style, "[{}] {}. PMID: {}."
        )
        lines = [listed.format(n, titles.get(p, ""), p) for n, p in enumerate(order, start=1)]
        parts.append("\n\nReferences\n" + "\n".join(lines))
    return Case(replace(case.trace, answer="".join(parts)), tuple(right))


def _whole_mark(answer: str, span: Span) -> tuple[int, int]:
    """The range of "(PMID 123)" around its number."""
    before = re.search(r"\(?(?:PMID:? )?\Z", answer[: span.start])
    start = before.start() if before else span.start
    closes = answer[start] == "(" and answer[span.end : span.end + 1] == ")"
    return (start, span.end + 1) if closes else (start + (answer[start] == "("), span.end)


def _mark(style: str, number: int, pmid: str) -> str:
    if style == "links":
        return f"[source](https://pubmed.ncbi.nlm.nih.gov/{pmid}/)"
    if style == "superscripts":
        return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"[^{number}]" if style == "footnotes" else f"[{number}]"


def _live(trace: Trace, claims: Mapping[str, list[dict[str, object]]]) -> Case:
    """An answer of a real run with a mark behind every supported claim of one output."""
    answer = trace.answer or ""
    usable = [source for source in trace.sources if source.is_evidence]
    place = {s.source_id.rsplit("#", 1)[-1]: n for n, s in enumerate(usable, start=1)}
    marked: list[tuple[int, str, tuple[str, ...]]] = []
    for row in claims[trace.trace_id]:
        gold = [place[g] for g in row["gold_source_ids"] if g in place]  # type: ignore[attr-defined]
        end = int(row["span"][1])  # type: ignore[index]
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
        )  # type: ignore[misc]
        at = end
    parts.append(answer[at:])
    lines = [f"[{n}] {source.source_id}" for n, source in enumerate(usable, start=1)]
    parts.append("\n\nReferences\n" + "\n".join(lines))
    return Case(replace(trace, answer="".join(parts)), tuple(right))


def _injected(cases: Sequence[Case]) -> dict[str, object]:
    """Found and falsely accused over the seeds; a wrong citation is found when it does not pass."""
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        chance = random.Random(seed)
        for case in cases:
            for kind, passed in _judged(case, chance):
                counts[kind] += 1
                counts[f"{kind} stopped"] += not passed
    wrong = counts["moved"] + counts["invented"]
    stopped = counts["moved stopped"] + counts["invented stopped"]
    return {
        "right": counts["right"],
        "wrong": wrong,
        "found": _share(stopped, wrong),
        "moved_found": _share(counts["moved stopped"], counts["moved"]),
        "invented_found": _share(counts["invented stopped"], counts["invented"]),
        "falsely_accused": _share(counts["right stopped"], counts["right"]),
    }


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


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _accused(traces: Sequence[Trace]) -> dict[str, object]:
    counts = Counter(f.outcome.value for trace in traces for f in audit_citations(trace))
    return dict(counts)


def _timed(traces: Sequence[Trace]) -> dict[str, object]:
    """Milliseconds of one lexical audit with the normalisation of its evidence, best of five."""
    seconds = []
    for trace in traces:
        evidence = "\n".join(source.text for source in trace.sources)
        best = 1.0
        for _ in range(5):
            start = time.perf_counter()
            audit_lexically(trace.answer or "", evidence)
            best = min(best, time.perf_counter() - start)
        seconds.append(best * 1000)
    return {"median_ms": round(statistics.median(seconds), 3), "max_ms": round(max(seconds), 3)}


if __name__ == "__main__":
    main()

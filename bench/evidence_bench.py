"""What the typed checks find, what dangerous claims pass them, and what they cost.

    python bench/evidence_bench.py values PACKET …   of good and bad claims, whose values are all found
    python bench/evidence_bench.py precision PACKET …  what each kind of check is worth, by label
    python bench/evidence_bench.py dangerous         wrong chart claims that pass, true twins allowed
    python bench/evidence_bench.py cost              processor time a claim on 100 KB, memory on 10 MB

No model takes part: these are the checks alone.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from core.attribution.families import load_families  # noqa: E402
from core.evaluation.frozen import freeze, readable  # noqa: E402
from core.evaluation.packets import read_packet, row_from_json  # noqa: E402
from core.evidence.chart.checks import chart_checks, read_chart_facts  # noqa: E402
from core.evidence.checks import TraceFacts, check_claim, read_trace_facts  # noqa: E402
from core.evidence.value_checks import check_values  # noqa: E402
from core.evidence.values import protected_values  # noqa: E402
from core.records import Check, Claim, Outcome, Source, Span, Trace  # noqa: E402
from training.dangerous import HALVES, packet_row, pairs  # noqa: E402

_TESTS = ("sodium", "potassium", "creatinine", "glucose", "urea", "albumin", "calcium", "ferritin")


def values(packets: list[Path]) -> None:
    """Print, by how a claim is supported, the share of claims whose every value is supported."""
    families = load_families()
    for path in packets:
        found: dict[str, list[bool]] = defaultdict(list)
        kept: tuple[object, object] | None = None
        for row in read_packet(path).rows:
            trace, claim = freeze(row, families)
            if kept is None or kept[0] != trace.sources:
                kept = (trace.sources, read_trace_facts(trace))
            checks = check_values(claim, kept[1].values)  # type: ignore[attr-defined]
            if checks:
                good = row.label == "supported"
                how = next((name for name in row.slices if name.startswith("how_")), "how_none")
                every = all(check.outcome is Outcome.SUPPORTS for check in checks)
                found[f"good, {how[4:]}" if good else "bad"].append(every)
        print(path.name)
        for name, each in sorted(found.items()):
            print(f"  {name:20s} {sum(each):4d} of {len(each):4d}  {sum(each) / len(each):.0%}")


def precision(packets: list[Path]) -> None:
    """Print, for each kind of check and what it says, how many good and bad claims it says it of."""
    families = load_families()
    for path in packets:
        told: dict[str, list[bool]] = defaultdict(list)
        kept: tuple[object, TraceFacts] | None = None
        for row in read_packet(path).rows:
            trace, claim = freeze(row, families)
            if kept is None or kept[0] != trace.sources:
                kept = (trace.sources, read_trace_facts(trace))
            said = {(check.check, _says(check)) for check in check_claim(claim, kept[1])}
            for kind, outcome in said:
                told[f"{outcome:11s} {kind}"].append(row.should_block)
        print(path.name)
        for name, bad in sorted(told.items()):
            right = sum(bad) if name.startswith(("veto", "contradicts")) else len(bad) - sum(bad)
            counts = f"good {len(bad) - sum(bad):4d}  bad {sum(bad):4d}"
            print(f"  {name:24s} {counts}  right {right / len(bad):.0%}")


def _says(check: Check) -> str:
    return "veto" if check.veto else check.outcome.value


def dangerous() -> None:
    """Print what the chart checks let pass of wrong claims, and allow of their true twins."""
    for half in HALVES:
        passed: dict[bool, list[bool]] = {True: [], False: []}
        for pair in pairs(half):
            row = row_from_json(packet_row(0, pair))
            sources = tuple(readable(source) for source in row.sources)
            trace = Trace(trace_id="pair", question="", answer=pair.claim, sources=sources)
            checks = chart_checks(_claim(pair.claim), read_chart_facts(trace))
            shown = any(check.outcome is Outcome.CONTRADICTS for check in checks)
            passed[pair.dangerous].append(not shown)
        wrong, twins = passed[True], passed[False]
        print(
            f"{half:10s} dangerous passed {sum(wrong)} of {len(wrong)} ({sum(wrong) / len(wrong):.1%})  "
            f"twins allowed {sum(twins)} of {len(twins)} ({sum(twins) / len(twins):.1%})"
        )


def cost() -> None:
    """Print the time of the checks on records of 100 KB, and the memory of an output of 10 MB."""
    for name, make in _FORMS.items():
        text = make(random.Random(1), 100_000)
        trace = _trace(text)
        began = time.process_time()
        facts = read_trace_facts(trace)
        reading = time.process_time() - began
        spent = []
        for claim in _claims(random.Random(2), 60):
            began = time.process_time()
            check_claim(claim, facts)
            spent.append(1000 * (time.process_time() - began))
        spent.sort()
        print(
            f"{name:8s} {len(text) / 1000:.0f} KB  read once in {1000 * reading:.0f} ms  "
            f"a claim: median {statistics.median(spent):.1f} ms, 95 % under {spent[56]:.1f} ms",
            flush=True,
        )
    for name in _FORMS:
        child = subprocess.run(
            [sys.executable, __file__, "memory", name], capture_output=True, text=True, check=True
        )
        print(child.stdout, end="", flush=True)


def memory(name: str) -> None:
    """Print the peak memory of this process after an output of 10 MB was read and checked."""
    text = _FORMS[name](random.Random(1), 10_000_000)
    began = time.process_time()
    facts = read_trace_facts(_trace(text))
    for claim in _claims(random.Random(2), 5):
        check_claim(claim, facts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    taken = time.process_time() - began
    print(
        f"{name:8s} {len(text) / 1e6:.0f} MB  peak {peak:.0f} MB, read and checked in {taken:.0f} s"
    )


def _claim(text: str) -> Claim:
    return Claim(
        claim_id="bench::c01",
        text=text,
        span=Span(start=0, end=len(text)),
        said=text,
        protected_values=protected_values(text),
    )


def _claims(draw: random.Random, count: int) -> Iterator[Claim]:
    for _ in range(count):
        test, day = draw.choice(_TESTS), f"2024-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        said = draw.choice(
            (
                f"Ada Lind's {test} was {draw.randint(1, 400) / 10} mmol/L on {day}.",
                f"The highest {test} of Ada Lind was {draw.randint(300, 400) / 10} mmol/L.",
                f"No {test} is on record before {day}.",
                f"Ada Lind takes metformin 500 mg twice daily since {day}.",
            )
        )
        yield _claim(said)


def _trace(text: str) -> Trace:
    source = Source(source_id="chart", tool_name="get_patient_chart", text=text)
    return Trace(trace_id="bench", question="", answer="", sources=(readable(source),))


def _rows(draw: random.Random) -> Iterator[tuple[str, str, float]]:
    while True:
        day = f"{draw.randint(2010, 2024)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        yield draw.choice(_TESTS), day, draw.randint(1, 400) / 10


def _filled(parts: Iterator[str], length: int, joint: str) -> str:
    found, size = [], 0
    for part in parts:
        found.append(part)
        size += len(part) + len(joint)
        if size >= length:
            return joint.join(found)
    return joint.join(found)


def _json(draw: random.Random, length: int) -> str:
    rows = (
        json.dumps({"test": test, "date": day, "value": value, "unit": "mmol/L", "status": "final"})
        for test, day, value in _rows(draw)
    )
    return f'{{"patient": "Ada Lind", "results": [{_filled(rows, length, ", ")}]}}'


def _table(draw: random.Random, length: int) -> str:
    rows = (f"{day},{test},{value},mmol/L" for test, day, value in _rows(draw))
    return "date,test,value,unit\n" + _filled(rows, length, "\n")


def _prose(draw: random.Random, length: int) -> str:
    rows = (f"On {day} her {test} was {value} mmol/L." for test, day, value in _rows(draw))
    return "Letter about Ada Lind. " + _filled(rows, length, " ")


_FORMS: dict[str, Callable[[random.Random, int], str]] = {
    "json": _json,
    "table": _table,
    "prose": _prose,
}


def main() -> None:
    """Print one of the measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("values").add_argument("packets", nargs="+", type=Path)
    commands.add_parser("precision").add_argument("packets", nargs="+", type=Path)
    commands.add_parser("dangerous")
    commands.add_parser("cost")
    commands.add_parser("memory").add_argument("form", choices=tuple(_FORMS))
    given = parser.parse_args()
    if given.command == "precision":
        precision(given.packets)
    elif given.command == "values":
        values(given.packets)
    elif given.command == "dangerous":
        dangerous()
    elif given.command == "cost":
        cost()
    else:
        memory(given.form)


if __name__ == "__main__":
    main()

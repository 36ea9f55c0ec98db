"""Which source a credit means, on credits by an author who had not seen the rules.

``python bench/credit_bench.py`` reads the runs to work with, ``--opened`` the other half, once a release.
A credit is told right when the source named is one that is meant, wrong when another is named; where
none or several are meant, naming one is a false alarm. ``--show`` prints what went wrong.

``--answers`` counts instead, in the shipped labelled answers that may be fitted to, the credits that are
found where they stand, and what they lead to.

The runs are in ``pairs/credits_a.txt`` and ``credits_b.txt``, one after the other::

    T: tool | {"argument": "value"} | how the output begins, line breaks as \\n
    > words of the answer => number of the output that is meant; several with commas; - for none
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from core.attribution.described_source import DescribedSources  # noqa: E402
from core.attribution.families import load_families  # noqa: E402
from core.attribution.named_source import NamedSources  # noqa: E402
from core.capture.reading import read_traces  # noqa: E402
from core.config import Config  # noqa: E402
from core.decomposition.claims import decompose  # noqa: E402
from core.records import Claim, Source  # noqa: E402
from training.texts import text_folder  # noqa: E402

FOLDER = text_folder() / "pairs"


@dataclass(frozen=True, slots=True)
class Run:
    """The tool outputs of one run, and (words, ids that they mean) for each credit."""

    sources: tuple[Source, ...]
    credits: tuple[tuple[str, frozenset[str]], ...]


def runs(path: Path) -> Iterator[Run]:
    """The runs of a file; ValueError naming file and line for one of another form."""
    sources: list[Source] = []
    found: list[tuple[str, frozenset[str]]] = []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), ""], start=1):
        if line.startswith("T: "):
            tool, arguments, text = (line[3:].split(" | ", 2) + ["", ""])[:3]
            place = str(len(sources) + 1)
            text = text.replace("\\n", "\n")
            sources.append(Source(source_id=place, tool_name=tool, arguments=arguments, text=text))
        elif line.startswith("> ") and " => " in line:
            words, _, meant = line[2:].rpartition(" => ")
            found.append((words, frozenset(meant.strip().split(",")) - {"-"}))
        elif line.strip():
            raise ValueError(f"{path.name}:{number}: expected 'T: ' or '> words => number'")
        elif sources:
            yield Run(tuple(sources), tuple(found))
            sources, found = [], []


def in_answers() -> Counter[str]:
    """Of claims whose answer credits a source rightly or wrongly: what the decomposer makes of it."""
    folder = ROOT / "sample_data" / "labelled"
    traces = {one.trace_id: one for one in read_traces([folder / "traces.jsonl"])}
    read: dict[str, tuple[Claim, ...]] = {}
    counts: Counter[str] = Counter()
    for name in ("train", "validation"):
        for row in map(json.loads, (folder / f"{name}.jsonl").read_text("utf-8").splitlines()):
            gold = row["gold_attribution"]
            if not row["stated_attribution"] or gold not in ("match", "conflation"):
                continue
            key, (start, end) = row["trace_id"], row["span"]
            if key not in read:
                read[key] = decompose(traces[key], Config())
            there = [
                claim.stated
                for claim in read[key]
                if claim.stated and claim.span.start < end and start < claim.span.end
            ]
            meant = {i for one in there if one.source_id for i in (one.source_id, *one.also)}
            supports = bool(meant & set(row["gold_source_ids"]))
            outcome = (
                ("leads to a source that supports the claim" if supports else "leads to another")
                if meant
                else "leads to a kind of source or to none"
                if there
                else "not found"
            )
            counts[f"{'rightly' if gold == 'match' else 'wrongly'} credited: {outcome}"] += 1
    return counts


def main() -> None:
    """Print the counts of one half."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--opened", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--answers", action="store_true")
    options = parser.parse_args()
    if options.answers:
        for line, number in sorted(in_answers().items()):
            print(f"{line}: {number}")
        return
    families = load_families()
    counts: Counter[tuple[str, str]] = Counter()
    for run in runs(FOLDER / ("credits_b.txt" if options.opened else "credits_a.txt")):
        kinds = families.families_of(run.sources)
        named = NamedSources(run.sources)
        described = DescribedSources(run.sources, kinds, families)
        for words, meant in run.credits:
            told = named.meant(words)[:1] or (described.meant(words),)
            kind = "one" if len(meant) == 1 else "several" if meant else "none"
            outcome = (
                "nothing named"
                if told == (None,)
                else "right"
                if told[0] in meant
                else "wrong"
                if meant
                else "false alarm"
            )
            counts[kind, outcome] += 1
            if options.show and not options.opened and outcome in ("wrong", "false alarm"):
                print(f"{outcome}: {words} | named {told[0]}, meant {sorted(meant)}")
                print("   ", [f"{s.tool_name} {(s.arguments or '')[:60]}" for s in run.sources])
            if options.show and not options.opened and kind == "one" and told == (None,):
                print(f"not named: {words} | {sorted(meant)}", described.evidence(words))
                print("   ", [f"{s.tool_name} {(s.arguments or '')[:60]}" for s in run.sources])
    for kind in ("one", "several", "none"):
        total = sum(number for (of, _), number in counts.items() if of == kind)
        said = ", ".join(
            f"{outcome} {number} ({number / total:.2f})"
            for (of, outcome), number in sorted(counts.items())
            if of == kind
        )
        print(f"{kind} meant, {total} credits: {said}")


if __name__ == "__main__":
    main()

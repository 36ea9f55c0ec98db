"""False and true short answers: how many of each are allowed, by kind.

    python -m bench pairs pairs_b pairs_c injections credits    # sets of bench/sets
    python -m bench pairs ../shared/data/probes/pairs.jsonl.gz ../shared/data/probes/hidden.jsonl.gz

A record is a trace with ``right`` (allow, block or review), ``kind`` and, for two that differ in a few
words, ``pair``. A pair is told apart when its true answer is allowed and its false one is not. No text of
a record is printed: a set that is looked at row by row is a development set from then on.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.report import Report, share
from bench.verdicts import Row, read_lines, verify

SETS = Path(__file__).parent / "sets"
SHORT = {"needs_review": "review"}  # as the sets name it
RIGHTS = {"block": "false", "allow": "true", "review": "for a person"}
LEAST = 4  # answers of a kind, for a line of its own


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("files", nargs="+", metavar="SET_OR_FILE")
    parser.add_argument("--first", type=int, metavar="N", help="only the first N answers")
    parser.add_argument(
        "--list", action="store_true", help="the id of every answer decided wrongly"
    )


def run(options: argparse.Namespace) -> Report:
    """One table a file."""
    report = Report()
    for name in options.files:
        path = SETS / f"{name}.jsonl.gz" if (SETS / f"{name}.jsonl.gz").exists() else Path(name)
        answers = read_lines(path)[: options.first]
        with tempfile.TemporaryDirectory() as folder:
            traces = Path(folder) / "traces.jsonl"
            traces.write_text("".join(json.dumps(one) + "\n" for one in answers), "utf-8")
            verdicts = verify([traces], Path(folder) / "verdicts.jsonl")
        decisions = {row["trace_id"]: SHORT.get(row["state"], row["state"]) for row in verdicts}
        tabulate(report, path.name, answers, decisions)
        if options.list:
            report.table(f"{path.name}: decided wrongly", ("answer", "kind", "decision", "right"), (
                (str(one["id"]), one["kind"], decision, one["right"])
                for one in answers
                if (decision := decisions.get(str(one["id"]), "unread")) != one["right"]
            ))  # fmt: skip
    return report


def tabulate(
    report: Report, name: str, answers: Iterable[Row], decisions: Mapping[str, str]
) -> None:
    """Add what is allowed and what needs a person, by kind and by what is right, and the pairs told apart.

    An answer without a verdict is "unread", which is not allowed.
    """
    kinds: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    pairs: dict[str, list[bool]] = defaultdict(list)
    answers = list(answers)
    sizes = Counter(one["kind"] for one in answers)
    for one in answers:
        decision = decisions.get(str(one["id"]), "unread")
        kind = one["kind"] if sizes[one["kind"]] >= LEAST else "other kinds"
        for row in (kind, "all"):
            kinds[row][one["right"]][decision] += 1
        if "pair" in one and one["right"] != "review":
            pairs[one["pair"]].append((decision == "allow") == (one["right"] == "allow"))
    rights = [right for right in RIGHTS if right in kinds["all"]]
    columns = [f"{RIGHTS[r]}: {what}" for r in rights for what in ("allowed", "needs a person")]
    report.table(name, ("kind", *columns), (
        (kind, *(cell for right in rights for cell in _cells(kinds[kind][right])))
        for kind in sorted(kinds, key=lambda kind: (kind == "all", kind))
    ))  # fmt: skip
    whole = [all(both) for both in pairs.values() if len(both) > 1]
    if whole:
        report.notes.append(f"{name}: {sum(whole)} of {len(whole)} pairs told apart")


def _cells(decisions: Counter[str]) -> tuple[str, int]:
    return share(decisions["allow"], decisions.total()), decisions["review"]

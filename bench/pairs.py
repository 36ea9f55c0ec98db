"""False and true short answers: how many of each are allowed, by kind.

    python -m bench pairs ../shared/data/probes/pairs.jsonl.gz ../shared/data/probes/hidden.jsonl.gz

A record is a trace with ``right`` (allow, block or review), ``kind`` and, for two that differ in a few
words, ``pair``. A pair is told apart when its true answer is allowed and its false one is not.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from bench.verdicts import Row, read_lines, verify

# As the sets name it.
SHORT = {"needs_review": "review"}
RIGHTS = {"block": "false", "allow": "true", "review": "for a person"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, help="also write the counts here")
    parser.add_argument("--list", action="store_true", help="name every answer decided wrongly")


def run(options: argparse.Namespace) -> int:
    """Print one table a file."""
    report = {}
    for path in options.files:
        answers = read_lines(path)
        with tempfile.TemporaryDirectory() as folder:
            verdicts = verify([path.resolve()], Path(folder) / "verdicts.jsonl")
        decisions = {row["trace_id"]: SHORT.get(row["state"], row["state"]) for row in verdicts}
        report[path.name] = count(answers, decisions)
        print("\n".join(table(path.name, report[path.name])))
        if options.list:
            print("\n".join(wrong(answers, decisions)))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    return 0


def count(answers: Iterable[Row], decisions: dict[str, str]) -> Row:
    """States by kind and by what is right, and how many pairs are told apart.

    An answer without a verdict counts as unread.
    """
    kinds: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    pairs: dict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        decision = decisions.get(str(answer["id"]), "unread")
        kinds[answer["kind"]][answer["right"]][decision] += 1
        if "pair" in answer and answer["right"] != "review":
            pairs[answer["pair"]].append((decision == "allow") == (answer["right"] == "allow"))
    return {
        "kinds": {
            kind: {right: dict(n) for right, n in found.items()} for kind, found in kinds.items()
        },
        "pairs": sum(len(both) > 1 for both in pairs.values()),
        "told_apart": sum(len(both) > 1 and all(both) for both in pairs.values()),
    }


def table(name: str, counted: Row) -> Iterable[str]:
    """Yield the lines of a Markdown table: allowed of all, and of these how many a person must read."""
    kinds = counted["kinds"]
    rights = [right for right in RIGHTS if any(right in found for found in kinds.values())]
    yield (
        f"| {name} | " + " | ".join(f"{RIGHTS[r]}: allowed | needs a person" for r in rights) + " |"
    )
    yield "|---|" + "---:|---:|" * len(rights)
    whole: dict[str, Counter[str]] = {right: Counter() for right in rights}
    for kind in sorted(kinds):
        yield (
            f"| {kind} | "
            + " | ".join(_cells(kinds[kind].get(right, {})) for right in rights)
            + " |"
        )
        for right, decisions in kinds[kind].items():
            whole[right].update(decisions)
    yield "| **all** | " + " | ".join(_cells(whole[right], share=True) for right in rights) + " |"
    if counted["pairs"]:
        yield ""
        yield f"{counted['told_apart']} of {counted['pairs']} pairs told apart"


def wrong(answers: Iterable[Row], decisions: dict[str, str]) -> Iterable[str]:
    """Yield a line for every answer whose decision is not the right one."""
    for answer in answers:
        decision = decisions.get(str(answer["id"]), "unread")
        if decision != answer["right"]:
            said = f"{decision}, right: {answer['right']}: {answer['answer']!r}"
            yield f"{answer['id']} [{answer['kind']}] {said}"


def _cells(decisions: dict[str, int], *, share: bool = False) -> str:
    total, allowed = sum(decisions.values()), decisions.get("allow", 0)
    if not total:
        return "– | –"
    percent = f" ({allowed / total:.0%})" if share else ""
    return f"{allowed} of {total}{percent} | {decisions.get('review', 0)}"

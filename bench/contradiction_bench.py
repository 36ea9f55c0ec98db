"""The contradictions that are found between the turns of conversations, against those that people read.

``python bench/contradiction_bench.py CONVERSATIONS.jsonl.gz --read LIST.toml`` reads chat messages (every
message of the assistant is one turn) and prints what is found, right or wrong by the list.
``python bench/contradiction_bench.py --pairs`` reads the half to work with of the original conversations in
the training texts; ``--opened`` the other half, once.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from core.attribution.families import load_families  # noqa: E402
from core.config import Config  # noqa: E402
from core.decomposition.claims import decompose  # noqa: E402
from core.provenance.contradictions import find_contradictions  # noqa: E402
from core.provenance.records import Contradiction  # noqa: E402
from core.records import Trace  # noqa: E402
from training.texts import text_folder  # noqa: E402

PAIRS = text_folder() / "pairs" / "contradictions.toml"


def main() -> None:
    """Print each pair with its turns, and how many are right."""
    parser = argparse.ArgumentParser()
    parser.add_argument("conversations", type=Path, nargs="?")
    parser.add_argument("--read", type=Path)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--opened", action="store_true")
    options = parser.parse_args()
    if options.pairs or options.opened:
        _pairs(options.opened)
    if options.conversations is not None:
        _conversations(options.conversations, options.read)


def found_in(said: Sequence[str]) -> tuple[Contradiction, ...]:
    """What one agent contradicts itself in, over its turns."""
    families, config = load_families(), Config()
    return find_contradictions(
        [
            decompose(Trace(trace_id="t", question="", answer=text, sources=()), config, families)
            for text in said
        ]
    )


def pairs(opened: bool) -> Iterator[tuple[bool, list[str]]]:
    """The original conversations of one half: whether they are opposed, and their turns."""
    for name, rows in tomllib.loads(PAIRS.read_text(encoding="utf-8")).items():
        for said in rows:
            if (hashlib.sha256(said[0].encode()).digest()[0] % 2 == 1) == opened:
                yield name == "OPPOSED", said


def _pairs(opened: bool) -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    for opposed, said in pairs(opened):
        found = bool(found_in(said))
        counts[opposed, found] += 1
        if found != opposed and not opened:
            print("missed" if opposed else "wrongly accused", said)
    right, wrong = counts[True, True], counts[False, True]
    print(
        f"{right + counts[True, False]} opposed, {wrong + counts[False, False]} that hold together"
    )
    precision, recall = right / max(1, right + wrong), right / max(1, right + counts[True, False])
    print(f"precision {precision:.3f}, recall {recall:.3f}")


def _conversations(path: Path, read: Path | None) -> None:
    listed = tomllib.loads(read.read_text(encoding="utf-8"))["pair"] if read else []
    known = {(p["conversation"], *p["turns"], *p["said"]): p["found_by"] for p in listed}
    conversations, right, total = 0, Counter[str](), 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            conversations += 1
            for found in found_in(_said(json.loads(line)["messages"])):
                total += 1
                turns = (found.first.turn, found.second.turn)
                key = (number, *turns, found.first_said, found.second_said)
                right[known.get(key, "")] += 1
                mark = "right" if key in known else "not listed"
                print(f"{number}: {found.kind} [{found.first_said} | {found.second_said}] {mark}")
                print(f"   turn {found.first.turn}: {found.first.text}")
                print(f"   turn {found.second.turn}: {found.second.text}")
    print(
        f"{conversations} conversations, {total} contradictions, {total - right['']} of them listed"
    )
    for kind, count in Counter(known.values()).items():
        print(f"  {kind}: {right[kind]} of {count} found")


def _said(messages: Sequence[dict[str, object]]) -> list[str]:
    return [
        message["content"]
        for message in messages
        if message["role"] == "assistant" and isinstance(message.get("content"), str)
    ]  # type: ignore[return-value]


if __name__ == "__main__":
    main()

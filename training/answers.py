"""Whole answers of tool-using agents, written and labelled claim by claim, as claim packets.

    python -m training.answers --out answers.jsonl

Each answer is a TOML file of its own: the task, the raw tool outputs, the answer, and its checkable
claims with label, deciding source and quote. They are read by the same rules as any packet.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.texts import text_folder

FOLDER = text_folder() / "answers"
LABELS = ("supported", "unsupported", "contradicted")
RELATIONS = {"supported": "entailment", "contradicted": "contradiction"}


class Fault(ValueError):
    """What is wrong with an answer's file, by file and claim."""


def answers(folder: Path = FOLDER) -> Iterator[dict[str, Any]]:
    """Yield every answer; raises Fault for a label that its own texts do not bear out."""
    for path in sorted(folder.glob("*/*.toml")):
        answer = tomllib.loads(path.read_text(encoding="utf-8"))
        if faults := list(_faults(answer)):
            raise Fault(f"{path.parent.name}/{path.name}: {faults[0]}")
        yield answer


def _faults(answer: Mapping[str, Any]) -> Iterator[str]:
    texts = {
        source["source_id"]: source["text"] + source.get("arguments", "")
        for source in answer["sources"]
    }
    if len(texts) != len(answer["sources"]):
        yield "two sources have one id"
    for number, claim in enumerate(answer["claims"], 1):
        if claim["label"] not in LABELS:
            yield f"claim {number}: label {claim['label']!r} is none of {', '.join(LABELS)}"
        if unknown := set(claim["gold"]) - set(texts):
            yield f"claim {number}: there is no source {sorted(unknown)}"
        elif (quote := claim.get("evidence", "")) and not any(
            quote in texts[name] for name in claim["gold"] or texts
        ):
            yield f"claim {number}: no source says {quote!r:.80}"


def packet_rows(answer: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the answer's claims as rows of a claim packet (formats.md, section 2)."""
    sources = [
        {name: source.get(name, "") for name in ("source_id", "tool_name", "arguments", "text")}
        for source in answer["sources"]
    ]
    for number, claim in enumerate(answer["claims"], 1):
        yield {
            "claim_id": f"{answer['trace_id']}::{number:02d}",
            "trace_id": answer["trace_id"],
            "claim": claim["claim"],
            "stated_attribution": None,
            "category": answer["domain"],
            "sources": sources,
            "label": claim["label"],
            "relation": RELATIONS.get(claim["label"], "neutral"),
            "gold_source_ids": claim["gold"],
            "gold_attribution": None,
            "slices": [f"how_{claim['how']}"],
            "how": claim["how"],
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the packet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="+", help="of these authors alone, by the ids' first part")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = [
        row
        for answer in answers(given.folder)
        if given.only is None or answer["trace_id"].split("-")[0] in given.only
        for row in packet_rows(answer)
    ]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    given.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

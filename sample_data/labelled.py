"""The labelled answers as claim packets and traces: `python sample_data/labelled.py` writes them.

Every answer is a file of its own under ``labelled/<setting>/``, written one by one. What is written
here follows from those files byte for byte; ``--check`` only compares. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "labelled"
SETTINGS = ("clinical", "business", "developer")
LABELS = ("supported", "unsupported", "contradicted", "not_enough_evidence")
ATTRIBUTIONS = ("match", "conflation", "unavailable")
# Of every ten answers of a setting, in the order of their digests: which split each belongs to.
SPLITS = ("test", "train", "validation", "train", "test", "train", "train", "test", "validation",
          "train")  # fmt: skip
RELATIONS = {"supported": "entailment", "contradicted": "contradiction"}


class Fault(Exception):
    """What is wrong with an answer's file, by file and claim."""


def answers(folder: Path = HERE) -> list[dict[str, Any]]:
    """Every answer with its split; raises Fault for labels that its own texts do not bear out."""
    found: list[dict[str, Any]] = []
    for setting in SETTINGS:
        of_setting = []
        for path in sorted((folder / setting).glob("*.toml")):
            answer = tomllib.loads(path.read_text(encoding="utf-8"))
            faults = list(_faults(answer))
            if faults:
                raise Fault(f"{setting}/{path.name}: {faults[0]}")
            of_setting.append(answer)
        of_setting.sort(key=lambda answer: hashlib.sha256(answer["trace_id"].encode()).hexdigest())
        for place, answer in enumerate(of_setting):
            answer["split"] = SPLITS[place % len(SPLITS)]
        found += sorted(of_setting, key=lambda answer: answer["trace_id"])
    return found


def _faults(answer: Mapping[str, Any]) -> Iterator[str]:
    texts = {
        source["source_id"]: source["text"] + source.get("arguments", "")
        for source in answer["sources"]
    }
    for number, claim in enumerate(answer["claims"], 1):
        where = f"claim {number}"
        if claim["said"] not in answer["answer"]:
            yield f"{where}: these words are not in the answer: {claim['said']!r:.80}"
        if claim["label"] not in LABELS or claim["attribution"] not in ATTRIBUTIONS:
            yield f"{where}: label or attribution is none of the known ones"
        if unknown := set(claim["gold"]) - set(texts):
            yield f"{where}: there is no source {sorted(unknown)}"
        evidence = claim.get("evidence", "")
        if evidence and not any(evidence in texts[name] for name in claim["gold"] or texts):
            yield f"{where}: no source says {evidence!r:.80}"
        if missing := [value for value in claim.get("values", ()) if value not in claim["claim"]]:
            yield f"{where}: values that the claim does not hold: {missing}"
        bad = claim["label"] != "supported" or claim["attribution"] == "conflation"
        if bad != bool(claim.get("kind")):
            yield f"{where}: only what is to be blocked has a kind of error"


def packet_rows(answer: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """The answer's claims as rows of a claim packet (formats.md, section 2)."""
    sources = [
        {
            "source_id": source["source_id"],
            "tool_name": source["tool_name"],
            "arguments": source.get("arguments", ""),
            "text": source["text"],
        }
        for source in answer["sources"]
    ]
    for number, claim in enumerate(answer["claims"], 1):
        start = answer["answer"].index(claim["said"])
        slices = [
            answer["domain"],
            f"how_{claim['how']}",
            *([claim["kind"]] if claim.get("kind") else []),
        ]
        yield {
            "claim_id": f"{answer['trace_id']}::{number:02d}",
            "trace_id": answer["trace_id"],
            "claim": claim["claim"],
            "stated_attribution": claim.get("stated"),
            "category": answer["domain"],
            "sources": sources,
            "label": claim["label"],
            "relation": RELATIONS.get(claim["label"], "neutral"),
            "gold_source_ids": claim["gold"],
            "gold_attribution": claim["attribution"] if claim.get("stated") else None,
            "slices": slices,
            "split": answer["split"],
            "how": claim["how"],
            "error": claim.get("error", ""),
            "kind": claim.get("kind", ""),
            "values": claim.get("values", []),
            "evidence": claim.get("evidence", ""),
            "note": claim.get("note", ""),
            "span": [start, start + len(claim["said"])],
        }


def trace(answer: Mapping[str, Any]) -> dict[str, object]:
    """The answer as a native trace (formats.md, section 1)."""
    return {
        "question_id": answer["trace_id"],
        "user_question": answer["task"],
        "category": answer["domain"],
        "full_tool_outputs": [
            {
                "source_id": source["source_id"],
                "tool_name": source["tool_name"],
                "arguments": source.get("arguments", ""),
                "text": source["text"],
            }
            for source in answer["sources"]
        ],
        "final_reply_to_user": answer["answer"],
    }


def files(found: list[dict[str, Any]]) -> dict[str, str]:
    """Name → text of every file that is written."""
    made = {
        f"{split}.jsonl": "".join(
            _line(row)
            for answer in found
            if answer["split"] == split
            for row in packet_rows(answer)
        )
        for split in ("train", "validation", "test")
    }
    made["traces.jsonl"] = "".join(_line(trace(answer)) for answer in found)
    sealed = hashlib.sha256(made["test.jsonl"].encode()).hexdigest()
    made["SEALED"] = f"{sealed}  test.jsonl\n"
    return made


def _line(record: Mapping[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the packets, or with ``--check`` say which file differs from what would be written."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        made = files(answers())
    except Fault as fault:
        print(fault, file=sys.stderr)
        return 1
    differing = []
    for name, text in made.items():
        path = HERE / name
        if options.check and (not path.exists() or path.read_text(encoding="utf-8") != text):
            differing.append(name)
        elif not options.check:
            path.write_text(text, encoding="utf-8")
    print("\n".join(f"{name} differs" for name in differing) or f"{len(made)} files")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

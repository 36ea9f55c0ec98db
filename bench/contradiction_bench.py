"""The contradictions between the turns of captured conversations, printed to be read by hand.

``python bench/contradiction_bench.py CONVERSATIONS.jsonl.gz`` reads chat messages; every message of
the assistant is one turn.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from core.attribution.families import load_families  # noqa: E402
from core.config import Config  # noqa: E402
from core.decomposition.claims import decompose  # noqa: E402
from core.provenance.contradictions import find_contradictions  # noqa: E402
from core.records import ClaimType, Trace  # noqa: E402


def main() -> None:
    """Print each pair with its conversation and turns, and how many there are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("conversations", type=Path)
    path = parser.parse_args().conversations
    families, config = load_families(), Config()
    conversations = pairs = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            conversations += 1
            said = [
                message["content"]
                for message in json.loads(line)["messages"]
                if message["role"] == "assistant" and isinstance(message.get("content"), str)
            ]
            turns = []
            for text in said:
                trace = Trace(trace_id=str(number), question="", answer=text, sources=())
                claims = decompose(trace, config, families)
                turns.append([c for c in claims if c.claim_type is ClaimType.FACTUAL])
            for found in find_contradictions(turns):
                pairs += 1
                print(f"{number}: {found.kind} [{found.first_said} | {found.second_said}]")
                print(f"   turn {found.first.turn}: {found.first.text}")
                print(f"   turn {found.second.turn}: {found.second.text}")
    print(f"{conversations} conversations, {pairs} contradictions")


if __name__ == "__main__":
    main()

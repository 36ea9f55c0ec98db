"""Twins as pairs to read: a claim, what its own output shows of it, and the author's label of three.

    python -m training.packets sets --only twins_i twins_j --out twins.jsonl
    python -m training.twins twins.jsonl --out pairs.jsonl.gz

An author of twins names the output that a claim is about and quotes what decides. What the product would
read close of that output is taken where it holds the quote, for that is what the NLI model is asked; else
the output's own text around the quote, for a premise without it teaches to guess.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.config import Config
from core.evaluation.packets import PacketRow
from training.claim_windows import opened_cases
from training.development import measured_models, trainable

QUOTE_HELD = 0.8  # of a quote's words that a premise has to hold
ROOM = (200, 350, 500)  # characters of an output's own text
WIDEST_QUOTE = 700
ELLIPSIS = re.compile(r"\s*…\s*")
_WORD = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?")


def words(text: str) -> frozenset[str]:
    """The words and numbers of a text, lowered."""
    return frozenset(_WORD.findall(text.lower()))


def holds(premise: str, quote: str) -> bool:
    """Whether a premise has nearly all words of the quote."""
    wanted = words(quote)
    return bool(wanted) and len(wanted & words(premise)) >= QUOTE_HELD * len(wanted)


def around(text: str, quote: str, room: int) -> str | None:
    """The text about a quote, whose parts are joined by " … ", cut at lines or words to about ``room``
    characters; None where no part stands there, or they stand too far apart."""
    found = [(text.find(part), len(part)) for part in ELLIPSIS.split(quote.strip()) if part]
    spans = [(at, at + length) for at, length in found if at >= 0]
    if not spans or (end := max(to for _, to in spans)) - (start := min(spans)[0]) > WIDEST_QUOTE:
        return None
    beside = max(60, (room - (end - start)) // 2)
    first, last = max(0, start - beside), min(len(text), end + beside)
    if first:
        first = next(
            (
                at + 1
                for at in (text.find("\n", first, start), text.find(" ", first, start))
                if at >= 0
            ),
            first,
        )
    if last < len(text):
        last = next(
            (at for at in (text.rfind("\n", end, last), text.rfind(" ", end, last)) if at >= 0),
            last,
        )
    return text[first:last]


def premise_for(row: PacketRow, read: Sequence[str], rng: random.Random) -> str | None:
    """What of a twin's output is put beside it: of what is ``read`` close what holds the quote, else the
    output around it; None where the quote can not be placed."""
    quote = str(row.extra["quote"])
    close = next((text for text in read if holds(text, quote)), None)
    return close or next(
        (
            around(one.text, quote, rng.choice(ROOM))
            for one in row.sources
            if one.source_id in row.gold_source_ids
        ),
        None,
    )


def twin_pairs(packet: Path, config: Config, seed: int = 20261130) -> Iterator[dict[str, str]]:
    """Yield every twin of a packet as premise, hypothesis and label; those without a premise are left
    out."""
    rng, rows = random.Random(seed), trainable(packet)
    opened = opened_cases(rows, measured_models(config, None, None), config)
    for row, (_, case) in zip(rows, opened, strict=True):
        read = [text for one in case.focused.values() for text in one.texts]
        if row.relation and (premise := premise_for(row, read, rng)):
            yield {"premise": premise, "hypothesis": row.claim, "label": row.relation.value}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs of a packet of twins."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packet", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    pairs = list(twin_pairs(given.packet, Config()))
    with gzip.open(given.out, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    print(len(pairs), dict(Counter(pair["label"] for pair in pairs)), file=sys.stderr)


if __name__ == "__main__":
    main()

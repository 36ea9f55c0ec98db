"""Claims of packets as pairs to read: a claim, what an output shows of it, and the label of three.

    python -m training.packets sets --only twins_i twins_j --out twins.jsonl
    python -m training.claim_pairs twins.jsonl [answers.jsonl written.jsonl] --out pairs.jsonl.gz

Where an author quotes what decides, what the product would read close is taken where it holds the quote,
for that is what the NLI model is asked, and the output's own text around it, wider or narrower; a premise
without the quote teaches to guess. Of a true claim what else would be read of the sources is neutral.
Where nothing is quoted, what is closest to the claim stands beside it. With ``--taught-by accurate`` the
bundled NLI model learns from what the larger one says of these pairs, and of what has no label.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.config import Config
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow
from core.models.loading import load_nli_model
from core.ports import NliModel
from core.records import Relation
from core.verification.candidates import Case, rank_claim
from core.verification.prepare import Models, OpenTrace, embed_window, open_trace
from core.verification.reading import AT_ONCE
from training.batches import LABELS
from training.development import measured_models, trainable

QUOTE_HELD = 0.8  # of a quote's words that a premise has to hold
ROOM = (200, 350, 500, 800, 1200)  # characters of an output's own text
LONGEST = 1500  # characters of a premise
WIDEST_QUOTE = 700
UNLABELLED = 4  # texts of a claim beside its pairs, for a smaller NLI model to be taught with
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


def claim_pairs(
    row: PacketRow, read: Mapping[str, Sequence[str]], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield what is put beside a labelled claim, each with its label; ``read`` is what would be read close
    of each source."""
    assert row.relation is not None
    label, quote = row.relation.value, str(row.extra.get("quote") or "")
    named = set(row.gold_source_ids) or {one.source_id for one in row.sources}
    gold = [one for one in row.sources if one.source_id in named]
    claim, decides = words(row.claim), words(quote)

    def nearest(texts: Iterable[str]) -> list[str]:
        return sorted(texts, key=lambda text: -len(claim & words(text)))

    if not quote:
        for text in nearest(t for of, texts in read.items() if of in named for t in texts)[:1]:
            if len(text) < LONGEST:
                yield text, label
        if len(gold) == 1 and len(gold[0].text) < LONGEST and rng.random() < 0.4:
            yield gold[0].text, label
        return
    every = [text for texts in read.values() for text in texts]
    close = next((t for t in every if len(t) < LONGEST and holds(t, quote)), None)
    if close:
        yield close, label
    if not close or rng.random() < 0.5:
        wide = (around(one.text, quote, rng.choice(ROOM)) for one in gold)
        yield from ((text, label) for text in [next(filter(None, wide), None)] if text)
    if row.relation is Relation.ENTAILMENT and rng.random() < 0.5:
        silent = [t for t in every if 2 * len(decides & words(t)) < len(decides)]
        yield from ((text, Relation.NEUTRAL.value) for text in nearest(silent)[:1])


def opened_cases(rows: Iterable[PacketRow], models: Models, config: Config) -> Iterator[Case]:
    """Yield each row's claim ranked and narrowed to what is read for it; rows with the same sources share
    what was read from them."""
    before: OpenTrace | None = None
    for row in rows:
        trace, claim = freeze(row, models.families)
        same = before if before is not None and before.trace.sources == trace.sources else None
        before = open_trace(trace, (claim,), models, config, same)
        yield rank_claim(claim, before, embed_window([before], models.embedder), config)


def packet_pairs(
    packet: Path, config: Config, seed: int = 20261130, unlabelled: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the pairs of every claim of a packet whose label of three is told, as premise, hypothesis and
    label; and beside each claim, without a label, at most so many of what else would be read for it."""
    rng, rows = random.Random(seed), trainable(packet)
    opened = opened_cases(rows, measured_models(config, None, None), config)
    for row, case in zip(rows, opened, strict=True):
        read = {name: one.texts for name, one in case.focused.items()}
        pairs = list(claim_pairs(row, read, rng)) if row.relation else []
        windows = [window.text for of_source in case.windows.values() for window in of_source]
        labelled = {text for text, _ in pairs}
        others = dict.fromkeys(text for texts in (windows, *read.values()) for text in texts)
        free = [text for text in others if text not in labelled and len(text) < LONGEST]
        pairs += [(text, "") for text in rng.sample(free, min(unlabelled, len(free)))]
        for premise, label in pairs:
            yield {"premise": premise, "hypothesis": row.claim, "label": label}


def taught(pairs: Sequence[dict[str, Any]], nli: NliModel) -> Iterator[dict[str, Any]]:
    """Yield each pair with what an NLI model gives the three labels; what it cannot read, only where it
    has a label."""
    scores = nli.read([(pair["premise"], pair["hypothesis"]) for pair in pairs])
    for pair, score in zip(pairs, scores, strict=True):
        if score is not None:
            given = asdict(score.probabilities)
            yield pair | {"taught": [given[label] for label in LABELS]}
        elif pair["label"]:
            yield pair


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pairs of packets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packets", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--taught-by",
        help="an NLI model: beside every pair what it gives the labels, and what else would be read of "
        "the sources, without a label",
    )
    given = parser.parse_args(arguments)
    beside = UNLABELLED if given.taught_by else 0
    pairs = [
        pair
        for packet in given.packets
        for pair in packet_pairs(packet, Config(), unlabelled=beside)
    ]
    if given.taught_by:
        nli = load_nli_model(given.taught_by)
        # In parts: what is said of every word of thousands of pairs is not held together.
        parts = (pairs[at : at + AT_ONCE] for at in range(0, len(pairs), AT_ONCE))
        pairs = [pair for part in parts for pair in taught(part, nli)]
    with gzip.open(given.out, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    print(len(pairs), dict(Counter(pair["label"] for pair in pairs)), file=sys.stderr)


if __name__ == "__main__":
    main()
